/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_COUNTERS_H
#define TOOLS_COUNTERS_H

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define COUNTERS_MAX	256
#define OF_NIC		UINT32_MAX	/* in place of a VI */

struct counter {
	char		name[33];
	uint64_t	value;
};

/* All counters of a NIC, by name, or of a VI, and when they were read. */
struct reading {
	char		nic[NAME_MAX + 1];
	char		ifname[IF_NAMESIZE];	/* "" if there is none */
	uint32_t	vi;			/* or OF_NIC */
	double		at;			/* seconds, monotonic */
	unsigned int	n;
	struct counter	counter[COUNTERS_MAX];
};

struct readings {
	unsigned int	n;
	struct reading	**of;
};

/*
 * Reads those of the VI NIC @what, or its interface, or of all (NULL); with @vis of
 * each VI, too.  The program ends where they cannot be read.
 */
void counters_read(const char *what, bool vis, struct readings *all);
void counters_forget(struct readings *all);

/* Of the same in an older reading; NULL: it is a new NIC or VI. */
const struct reading *counters_before(const struct readings *old,
				      const struct reading *r);
/* 0: there is none of that name. */
uint64_t counter_value(const struct reading *r, const char *name);
/* Of a second. */
double counter_rate(const struct reading *r, const struct reading *old,
		    const char *name);

#endif
