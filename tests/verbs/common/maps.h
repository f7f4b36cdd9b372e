/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What this process has mapped of RDMA devices. */
#ifndef VERBS_MAPS_H
#define VERBS_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct map {
	uint8_t *bytes;
	size_t len;
};

/* At most so many, in the order of their addresses: how many there are. */
unsigned int device_maps(struct map *m, unsigned int most);

#endif
