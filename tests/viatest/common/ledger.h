/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the agent has made and not ended, by kind. */
#ifndef TESTS_LEDGER_H
#define TESTS_LEDGER_H

#define LEDGER_KINDS	16

struct ledger {
	int kinds;
	char name[LEDGER_KINDS][16];
	long alive[LEDGER_KINDS];
};

struct ledger ledger_read(void);
/* -1: it does not tell of them. */
long ledger_alive(const char *name);
/*
 * NULL when there is as much of each kind again as there was, in so many
 * seconds: the last file's end is a work item, and a peer's request has its
 * time.  Else what is left, in words; @before knows of it then.
 */
const char *ledger_left(struct ledger *before, unsigned int seconds);

#endif
