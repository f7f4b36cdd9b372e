/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Credit of the window that all VIs to a peer share (share.c).  sq.lock held, BH
 * off; a VI that has a peer.
 */
#ifndef _VIA_ETHER_SHARE_H
#define _VIA_ETHER_SHARE_H

#include <linux/types.h>

struct via_ether_nic;
struct via_ether_vi;
struct via_peer;
struct via_work;

/* The connection's numbers are known; it is over (with a peer, or none). */
void via_ether_share_begin(struct via_ether_vi *ev);
void via_ether_share_end(struct via_ether_vi *ev);
/* There is no room: true: there is some. */
bool via_ether_share_take(struct via_ether_vi *ev);
/* @acked frames were, while credit is wanted; the caller sends with it, or not. */
void via_ether_share_acked(struct via_ether_vi *ev, u32 acked, bool sends);
/* It needs no more than it has. */
void via_ether_share_sated(struct via_ether_vi *ev);
/* What is more than @keep frames beyond those in the network goes back. */
void via_ether_share_trim(struct via_ether_vi *ev, u32 keep);
/* Losses: tx.cwr; tx.undo; a mark of the network; a timeout; its probe. */
void via_ether_share_cwr(struct via_ether_vi *ev);
void via_ether_share_undo(struct via_ether_vi *ev);
void via_ether_share_marked(struct via_ether_vi *ev);
void via_ether_share_timeout(struct via_ether_vi *ev, bool again);
void via_ether_share_probe(struct via_ether_vi *ev);
/* The share that the peer tells. */
void via_ether_share_told(struct via_ether_vi *ev, u32 share);
/* When the peer is made. */
void via_ether_share_peer(struct via_peer *peer);
/* Nothing is sent to the peer until then; false: it cannot be told. */
bool via_ether_open_at(struct via_peer *peer, u64 when);
/*
 * The other way: the peer fills a small window; a frame of it was lost.  rq.lock
 * held.
 */
void via_ether_incast_asked(struct via_ether_vi *ev);
void via_ether_incast_lost(struct via_ether_vi *ev);
/* A job of the tasklet: credit that VIs hold and do not use, for those that wait. */
void via_ether_share_visits(struct via_ether_nic *nic, struct via_work *work);
void via_ether_share_init(struct via_ether_nic *nic);

#endif /* _VIA_ETHER_SHARE_H */
