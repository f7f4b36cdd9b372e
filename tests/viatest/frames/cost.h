/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef FRAMES_COST_H
#define FRAMES_COST_H

#include <stdint.h>

/**
 * struct cost - what --cost is told
 * @set:	of the kinds: "open", "list" or "key", as the target's peers are
 * @device:	the target's VI NIC
 * @peer:	that of the interface that throws
 * @netns:	where that one is, or NULL
 * @count:	file that counts the frames that the target's driver takes
 * @vis:	connected between the two
 */
struct cost {
	const char *set, *device, *peer, *netns, *count;
	uint32_t vis;
};

/* One line of JSON for each kind; not 0: a kind was not measured. */
int cost_main(const struct cost *c, int fd);

#endif /* FRAMES_COST_H */
