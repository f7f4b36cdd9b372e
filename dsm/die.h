/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DSM_DIE_H
#define DSM_DIE_H

/* Says which node ends, why, and what to do, and ends the process at once.
 * Both end in a full stop or none; remedy may be NULL. May be called by a
 * handler of a fault.
 */
void die(const char *remedy, const char *fault, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

void die_node(int node);	/* the number that messages begin with */

#endif
