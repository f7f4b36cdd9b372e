/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A model of one wire that is the bottleneck: flows of ours, driven by the
 * real window.c, congestion.c and credit.c, and flows of TCP (CUBIC, in outline) share a way out of a
 * switch with a queue that drops what does not fit.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#include "credit.h"
#include "window.h"

#define MODEL_FLOWS	16

/* What is to be modelled; times in microseconds. */
struct model {
	uint32_t via;		/* flows of ours */
	uint32_t tcp;
	uint32_t hosts;		/* of ours: flows i % hosts share a host */
	uint32_t window;	/* of ours, frames; 0: 64 */
	uint32_t queue;		/* frames that wait at the way out */
	uint32_t frame_us;	/* one frame on the wire: 300 is 40 Mb/s */
	uint32_t delay_us;	/* there, and back */
	uint32_t loss;		/* frames of a million that get lost */
	uint32_t reorder;	/* of a million that are overtaken ... */
	uint32_t gap;		/* ... by 1 to so many */
	uint32_t seconds;
	/* what came of it, after a second to settle */
	double goodput[MODEL_FLOWS];	/* ours first; share of the wire */
	double via_sum, tcp_sum;
	uint32_t timeouts;
	uint32_t resent;
	uint32_t drops;
};

void model_run(struct model *m);

#endif
