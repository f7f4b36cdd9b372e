/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the checks of a group have found. */
#ifndef CONFORMANCE_CHECKS_H
#define CONFORMANCE_CHECKS_H

#include "harness.h"

#define MAX_FAILURES	24
#define TEXT_LEN	320

struct failure {
	int line;
	char file[64];
	char text[TEXT_LEN];
};

/* Written by the group's process and its threads, read by the parent. */
struct verdicts {
	unsigned int passed;
	unsigned int failed;
	unsigned int finished;
	unsigned int step;		/* line of the last check, for a hang */
	char step_file[64];
	struct failure failures[MAX_FAILURES];
};

/* Set before the first check; may be memory that processes share. */
extern struct verdicts *verdicts;

/* Before a group: statics of tests as they were, nothing that checks are about. */
void checks_begin(void);
void checks_about_nothing(void);

#endif
