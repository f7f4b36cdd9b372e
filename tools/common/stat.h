/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_STAT_H
#define TOOLS_STAT_H

#include "json.h"

/*
 * Prints counters as the words behind @name say, "via stat" or "viastat";
 * argv[0] is not read.  A wrong word ends the program.
 */
void stat_run(const char *name, int argc, char **argv, struct json *json);

/* A NIC or VI and its counters are one line of text. */
extern bool stat_oneline;

/* The number behind @option, from 1 to 86400; any other ends the program. */
uint64_t stat_number(const char *option, const char *text);

#endif
