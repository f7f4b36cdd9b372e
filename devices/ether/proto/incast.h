/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many frames each of many hosts may have on the way to one NIC (incast).
 * Arithmetic without locks or clocks: the caller serialises the calls for one
 * NIC and tells the time.
 *
 * A sender's own window ends at VIA_CONG_MIN frames, since with fewer it finds
 * a loss by time only.  Where so many hosts send to one port that even this
 * is more than its queue takes, hosts whose frames find room keep the queue full,
 * and those whose frames do not wait for timeouts.  The receiver sees them all:
 * it counts the hosts that fill a small window, keeps one window for all of
 * them (@total), reduced where several hosts lose frames in a round, and tells
 * each the same share of it, in parts of a frame.  A share of VIA_CONG_MIN
 * frames or more is not told: senders find such windows themselves.
 *
 * A round is @total frames that came.
 */
#ifndef _VIA_INCAST_H
#define _VIA_INCAST_H

#include "congestion.h"

#define VIA_INCAST_MIN		16u	/* frames of all hosts, at least */
#define VIA_INCAST_PERIOD_MS	16u	/* hosts are counted */
#define VIA_INCAST_DEAF		4u	/* rounds after a reduction */
#define VIA_INCAST_SAMPLE	8u	/* of so many frames that ask, one counts */

/**
 * struct via_incast - of a NIC that receives
 * @period:	the number of the period, from 1 on; also read without the lock
 * @began:	ms of the caller's clock: when it did; likewise
 * @hosts:	that filled their windows in it
 * @before:	the same, of the last one
 * @asked:	frames that asked for an acknowledgement in it
 * @came:	frames that they acknowledge
 * @total:	frames that all of them may have in the network; 0: no bound;
 *		also read without the lock
 * @frames:	that came in this round
 * @round:	the number of the round, from 1 on
 * @lossy:	hosts that lost a frame in it
 * @deaf:	rounds until losses count: those of now were sent before
 * @share:	what is told, VIA_CONG_PARTS; 0: no bound; also read without the
 *		lock
 */
struct via_incast {
	u32 period;
	u32 began;
	u32 hosts;
	u32 before;
	u32 asked;
	u32 came;
	u32 total;
	u32 frames;
	u32 round;
	u32 lossy;
	u32 deaf;
	u16 share;
};

/**
 * struct via_incast_host - what it knows of each host
 * @period:	the last one that it was counted in; 0: none; also read without
 *		the lock
 * @round:	the last one in which it lost a frame; 0: none
 */
struct via_incast_host {
	u32 period;
	u32 round;
};

void via_incast_init(struct via_incast *c, u32 now_ms);
/*
 * A frame of the host asks for an acknowledgement since its window is small and
 * half or all used; @frames came since the last one.
 */
void via_incast_asked(struct via_incast *c, struct via_incast_host *h, u32 frames,
		      u32 now_ms);
/*
 * Without the lock: the host is counted already, and there is no bound.  Then a call
 * of via_incast_asked() tells no more than how large the windows are, of which one
 * frame in VIA_INCAST_SAMPLE is enough.
 */
bool via_incast_is_counted(const struct via_incast *c,
			   const struct via_incast_host *h, u32 now_ms);
/* A frame of the host was lost. */
void via_incast_lost(struct via_incast *c, struct via_incast_host *h);

#endif /* _VIA_INCAST_H */
