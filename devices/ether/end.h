/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ends of connections (end.c). */
#ifndef _VIA_ETHER_END_H
#define _VIA_ETHER_END_H

#include <linux/types.h>
#include "proto/host.h"

struct via_ether_nic;
struct via_ether_vi;
struct via_vi;
struct via_work;

/* What DISCONNECT says, and to whom: as it is at the end of a connection. */
struct via_end_frame {
	struct via_host host;
	bool plain;		/* of a connection without checksums */
	u32 dst;
	u64 cookie;
	u32 seq;
	u32 ack;
	u32 reason;
	u32 src;
};

/* By which rule a connection ends, where it is not told by the peer. */
enum via_ether_why {
	VIA_END_OURS,		/* this end's reason, which the peer is told */
	VIA_END_RESET,		/* RESET */
	VIA_END_LIST,		/* LIST lacks it, and it does not answer */
	VIA_END_RESTARTED,	/* the peer's host was started again */
	VIA_END_SILENT,		/* the peer's host says nothing */
	VIA_END_UNACKED,	/* a frame is not acknowledged */
};

/*
 * The connection ends, by @why; @reason is this end's, VIA_WIRE_R_*.  It is
 * counted and logged, once.  A queue lock held; the caller settles.
 */
void via_ether_end(struct via_ether_vi *ev, enum via_ether_why why, u32 reason);
/* The same, and what is in flight will not arrive.  sq.lock held. */
void via_ether_give_up(struct via_ether_vi *ev, enum via_ether_why why,
		       u32 reason);
/* The peer says that it has ended, with that reason.  Both queue locks. */
void via_ether_end_told(struct via_ether_vi *ev, u32 reason);
/* via_vi_settle(), charged for what it flushes.  BH off, no queue lock held. */
void via_ether_settle(struct via_vi *vi, struct via_work *work);
/*
 * The VI at an index of the NIC, or the next one; @index is then behind it.  NULL:
 * there is none.  By index, since a list on which VIs come and go is no way to
 * meet each of them: a VI keeps its index for life.  Process context, BH off and
 * RCU read side, which both end for a moment each time that @work is used up; other
 * threads have their turn then if the caller may sleep (@sleeps).
 */
struct via_vi *via_ether_next_vi(struct via_ether_nic *nic, u32 *index,
				 struct via_work *work, bool sleeps);
/*
 * All connections of the NIC that fit, NULL: all.  @fits is called with sq.lock
 * held.  Process context, no lock held; @sleeps as above.
 */
void via_ether_end_some(struct via_ether_nic *nic,
			bool (*fits)(const struct via_ether_vi *ev), u32 reason,
			bool sleeps);

#endif /* _VIA_ETHER_END_H */
