/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DSM_SEND_H
#define DSM_SEND_H

#include "node.h"

/* Begins a message in n->out. */
struct dsm_msg *send_begin(struct node *n, enum msg_type type, uint32_t what);

/* m->len bytes of data follow the header. */
void send_msg(struct node *n, unsigned int to, struct dsm_msg *m);

#endif
