// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The cause of an errno, said to a person: with the limit that is to change. */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define TELL_NS		60000000000u	/* one line of a kind in that time */

static const struct {
	int err, limit;
	const char *text, *name, *option;
} limits[] = {
	{ EMFILE, RLIMIT_NOFILE, "too many open files", "NOFILE", "n" },
	{ EFBIG, RLIMIT_FSIZE, "a file would be too long", "FSIZE", "f" },
	{ ENOMEM, RLIMIT_DATA, "no memory", "DATA", "d" },
	{ ENOMEM, RLIMIT_AS, "no memory", "AS", "v" },
};

void link_why(int err, char *text, size_t size)
{
	struct rlimit r;
	size_t i;

	err = err < 0 ? -err : err;
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (limits[i].err != err || getrlimit(limits[i].limit, &r) ||
		    r.rlim_cur == RLIM_INFINITY)
			continue;
		snprintf(text, size, MSG_LIMIT, limits[i].text, limits[i].name,
			 (unsigned long long)r.rlim_cur, limits[i].option);
		return;
	}
	snprintf(text, size, "%s",
		 err == ENFILE ? MSG_SYSTEM_FILES : strerror(err));
}

int link_may_tell(uint64_t *again)
{
	uint64_t now = sock_now();

	if (now < *again)
		return 0;
	*again = now + TELL_NS;
	return 1;
}

void link_tell(struct link *l, const char *what, int err)
{
	char why[128];

	if (!link_may_tell(&l->why_again))
		return;
	link_why(err, why, sizeof(why));
	l->conf.msg(MSG_LINK_TELL, l->conf.provider, what, why);
}
