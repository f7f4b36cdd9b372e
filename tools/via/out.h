/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_VIA_OUT_H
#define TOOLS_VIA_OUT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Objects as JSON (RFC 8259): one array of them, or (out_lines) one in a line.
 * Without -j nothing is written here.
 */
extern bool out_json, out_pretty;

void out_begin(void);
void out_lines(void);
void out_end(void);
void out_object(void);
void out_object_end(void);
void out_str(const char *name, const char *value);
void out_num(const char *name, uint64_t value);
void out_real(const char *name, double value);
void out_bool(const char *name, bool value);

#endif
