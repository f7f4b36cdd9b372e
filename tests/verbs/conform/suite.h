/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tests, their checks, and the two ends that they drive. */
#ifndef VERBS_SUITE_H
#define VERBS_SUITE_H

#include "end.h"
#include <stddef.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))

/* For what has to come, and for what must not. */
#define LONG_MS		(10000 * env.scale)
#define SHORT_MS	200

struct side {
	struct end *end;	/* of this process, or */
	int sock;		/* an end that reads its orders here */
};

struct env {
	const char *near, *far;		/* addresses */
	const char *near6, *far6;	/* of IPv6, or NULL */
	const char *host, *port;	/* of the far end's machine, or NULL */
	unsigned int scale;
	bool verbose;
	bool number;			/* no addresses, but devices */
	bool codes;			/* as RoCE has them, on iWARP too */
	struct limits limits;		/* of the near device */
};

extern struct env env;

/* Has the device all that verbs say?  The interface of siw has fewer codes and flags. */
static inline bool has_all(void)
{
	return !env.limits.iwarp && !env.number;
}
extern struct side near, far;

struct group {
	const char *name;
	void (*run)(void);
	const char *what;
	unsigned int deadline_s;	/* 0: the usual one */
};

struct file {
	const struct group *groups;
	size_t count;
};

extern const struct file file_connect, file_refuse, file_data, file_queue,
	file_number, file_error, file_access, file_cq, file_srq, file_event, file_process;

/* Checks. A failure is printed at once and the test goes on. */
bool check(bool ok, const char *file, int line, const char *text);
bool check_eq(int64_t got, int64_t want, const char *file, int line,
	      const char *text);
void skip(const char *why);

#define CHECK(c)	check(c, __FILE__, __LINE__, #c)
#define CHECK_EQ(a, b)	check_eq(a, b, __FILE__, __LINE__, #a " == " #b)
/* The rest of the test has no sense without. */
#define NEED(c)		do { if (!CHECK(c)) return; } while (0)
#define NEED_EQ(a, b)	do { if (!CHECK_EQ(a, b)) return; } while (0)

/* The answer's rc. */
int ask(struct side *s, struct order *o, struct answer *a);
/* Connects both ends to what runs them; false: there is none. */
bool sides_open(void);
/* What a child of a test is, which is to be killed. */
int hold(const char *what);

#endif
