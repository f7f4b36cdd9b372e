/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Groups of the conformance suite and the checks they are made of.
 *
 * A group is one rule of the API with all its cases. It runs in a worker, a
 * process that this one watches with a deadline, so that a crash or a hang is
 * a failure that names the group. A worker runs group after group as long as
 * each succeeds and can be cleaned up after without a trace (ledger.h);
 * otherwise the next group gets a new one. The checks are recorded in memory
 * shared with the parent, which hands them to CUnit.
 */
#ifndef CONFORMANCE_HARNESS_H
#define CONFORMANCE_HARNESS_H

#include "ledger.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What a group needs before it starts. */
#define G_PEER		0x1	/* a session with the peer */
#define G_LEVELS	0x2	/* runs once for every level under test */
#define G_BARE		0x4	/* no NIC opened for it; implies G_OWN */
/*
 * A process and a peer session of its own: for what forks, changes limits,
 * credentials or open files, ends the peer, or has to be left to exit().
 */
#define G_OWN		0x8
/* The level of the suite it belongs to; Functional when none is named. */
#define G_EARLY		0x10
#define G_FULL		0x20
/* All goes well in it: no failure, no limit, no race. */
#define G_SUNNY		0x40

struct group {
	const char *name;	/* noun.what */
	const char *section;	/* of the contract */
	void (*run)(void);
	unsigned int flags;	/* G_* */
	unsigned int deadline;	/* seconds, 0: the default */
};

/* One table of groups a file; main.c lists the tables. */
struct noun {
	const char *name;
	const struct group *groups;
	unsigned int count;
};

#define NOUN(noun_, groups_) \
	const struct noun noun_##_noun = { \
		#noun_, groups_, ARRAY_SIZE(groups_) }

/*
 * Static variables of a test keep their value from group to group: a file
 * that has any names a function that sets them back, called before each.
 */
#define BEFORE_EACH(fn_) \
	static void __attribute__((constructor)) fn_##_hook(void) \
	{ \
		harness_before_each(fn_); \
	}

void harness_before_each(void (*fn)(void));

/* Records a verdict; returns it. */
bool check_(bool ok, const char *text, const char *file, int line);
bool check_rc_(VIP_RETURN rc, VIP_RETURN want, const char *text,
	       const char *file, int line);
/* @wanted ends with -1. */
bool check_rc_any_(VIP_RETURN rc, const int *wanted, const char *text,
		   const char *file, int line);
bool check_eq_(unsigned long long got, unsigned long long want,
	       const char *text, const char *file, int line);
/* Ends the group at once. */
void give_up(void) __attribute__((noreturn));
/* What the checks that follow are about, printed with a failure. */
void about(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(e)	check_(!!(e), #e, __FILE__, __LINE__)
#define CHECK_RC(e, w)	check_rc_((e), (w), #e, __FILE__, __LINE__)
#define CHECK_INVALID(e) check_rc_((e), VIP_INVALID_PARAMETER, #e, \
				   __FILE__, __LINE__)
/* Any of the codes that follow. */
#define CHECK_RC_ANY(e, ...) check_rc_any_((e), (int []){ __VA_ARGS__, -1 }, \
				  #e, __FILE__, __LINE__)
#define CHECK_EQ(e, w)	check_eq_((unsigned long long)(e), \
				  (unsigned long long)(w), #e " == " #w, \
				  __FILE__, __LINE__)
/* The same, for what the rest of the group cannot do without. */
#define REQUIRE(e)	do { \
		if (!check_(!!(e), #e, __FILE__, __LINE__)) \
			give_up(); \
	} while (0)
#define REQUIRE_RC(e, w) do { \
		if (!check_rc_((e), (w), #e, __FILE__, __LINE__)) \
			give_up(); \
	} while (0)

const char *rc_name(VIP_RETURN rc);
const char *level_name(VIP_RELIABILITY_LEVEL level);

/* Milliseconds on a monotonic clock. */
uint64_t now_ms(void);
void pause_ms(unsigned int ms);

/* What a worker does around each group. */
struct harness_ops {
	void (*start)(const struct group *g, VIP_RELIABILITY_LEVEL level);
	/* False when this worker should run no other group. */
	bool (*finish)(const struct group *g);
};

/* Before the first harness_run(). */
void harness_init(const struct harness_ops *ops);

/*
 * harness_run() - run one group in a worker, report its checks to CUnit
 *
 * Called from a CUnit test. Returns whether it passed.
 */
bool harness_run(const struct group *g, VIP_RELIABILITY_LEVEL level,
		 unsigned int deadline_s);

/* After the last: ends the worker. */
void harness_end(void);

#endif
