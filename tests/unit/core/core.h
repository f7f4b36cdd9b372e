/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef UNIT_CORE_H
#define UNIT_CORE_H

/* test_desc.c */
void descriptors(void);
void every_control(void);
void plain_is_plain(void);

/* test_conn.c */
void attributes(void);
void who_asks(void);

#endif
