/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What message number n is: both ends compute it from the seed, so that the
 * receiver knows every byte in advance.
 */
#ifndef STRESS_PLAN_H
#define STRESS_PLAN_H

#include <stdint.h>

#include "common/content.h"

enum kind {
	K_SEND,		/* reliable levels only: it does not name itself */
	K_SEND_IMM,	/* immediate data is n */
	K_WRITE_IMM,	/* RDMA Write, immediate data is n */
	K_WRITE_SEND,	/* RDMA Write, then an empty send with n */
	K_KINDS,
};

struct plan {
	enum kind kind;
	uint32_t len;
	uint64_t key;		/* of the content */
};

/* @lossy: only kinds that stand in one message and name themselves. */
struct plan plan_of(uint64_t seed, uint32_t n, uint32_t max, int lossy);

#endif
