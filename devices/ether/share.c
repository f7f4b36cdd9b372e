// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The window that all VIs to one peer share, and its credit: credit.[ch] and
 * congestion.[ch] under a lock of the peer.
 *
 * peer->pool_lock is taken where a VI has no room, where credit is wanted and
 * something was acknowledged, where frames were lost, and by the timer.  It is
 * inside the queue locks, and nic->lock inside of it.  A VI's own part
 * (ev->snd.credit) is changed with its sq.lock held as well, but for what it is
 * given while it waits, its turn and its places on the pool's lists; so its
 * credit (ev->snd.win.credit) is read under sq.lock alone.  peer->pool.want is
 * read without the lock, see docs/explain/ordering.md.
 *
 * A VI that was given credit by another context is run by the NIC's tasklet
 * (run.c), which also visits the VIs that hold credit when it is wanted: a VI's
 * locks are never taken under another one's.
 */

#include "run.h"
#include "share.h"
#include "timer.h"
#include "trace.h"
#include "vi.h"

#define VISITS		16u		/* VIs of a peer, in one run */
#define SERVED		32u		/* VIs given credit under one lock */

static struct via_ether_vi *vi_of(struct via_credit *c)
{
	return container_of(c, struct via_ether_vi, snd.credit);
}

static u32 now_ms(void)
{
	return jiffies_to_msecs(jiffies);
}

static struct via_cong_now now_us(const struct via_ether_vi *ev)
{
	return (struct via_cong_now) {
		.us = ktime_get_ns() / NSEC_PER_USEC,
		.rtt = via_ether_srtt(ev),
	};
}

static void visit_soon(struct via_peer *peer)
{
	struct via_ether_nic *nic = peer->nic;

	spin_lock(&nic->lock);
	if (list_empty(&peer->visit_link) && peer->users && !nic->stopping) {
		list_add_tail(&peer->visit_link, &nic->visits);
		via_ether_run_soon(nic);
	}
	spin_unlock(&nic->lock);
}

static struct via_pool *lock_pool(struct via_ether_vi *ev)
	__acquires(&ev->peer->pool_lock)
{
	lockdep_assert_held(&ev->vi->sq.lock);
	spin_lock(&ev->peer->pool_lock);
	return &ev->peer->pool;
}

/*
 * A VI of another CPU with frames in the network sees its new credit there, when
 * these are acknowledged.  Run on this CPU it would send from here, and its memory
 * would move to this CPU and back.  The last of the frames may be acknowledged just
 * now: una is written before pool_lock is taken there, so either una is seen here,
 * or the VI takes pool_lock after this and sees the credit, or it needs none.
 * pool_lock held, but not its sq.lock.
 */
static bool sees_itself(const struct via_ether_vi *ev)
{
	const struct via_win_tx *tx = &ev->snd.win;

	return READ_ONCE(ev->snd.cpu) != smp_processor_id() &&
	       ev->conn.reliable && !READ_ONCE(tx->lost) &&
	       !READ_ONCE(tx->sacked) &&
	       READ_ONCE(tx->nxt) != READ_ONCE(tx->una);
}

/*
 * What is free goes to those that wait.  They are as many as programs have VIs, so
 * what is left then is the tasklet's.  @own: needs no turn, or NULL.  pool_lock
 * held.
 */
static void serve_pool(struct via_peer *peer, const struct via_credit *own,
		       struct via_work *work)
{
	struct via_credit *c;

	while ((c = via_pool_serve(&peer->pool, work)))
		if (c != own && !sees_itself(vi_of(c)))
			via_ether_run(vi_of(c));
	if (unlikely(via_work_over(work)) && via_pool_is_owed(&peer->pool))
		visit_soon(peer);
}

/* @ev sees what it has. */
static void unlock_served(struct via_ether_vi *ev)
	__releases(&ev->peer->pool_lock)
{
	struct via_peer *peer = ev->peer;

	via_credit_see(&ev->snd.credit);
	ev->snd.win.credit = ev->snd.credit.mine;
	if (via_credit_waits(&ev->snd.credit))
		ev->snd.odd |= VIA_ODD_WAITS;
	else
		ev->snd.odd &= ~VIA_ODD_WAITS;
	if (peer->pool.to_visit)
		visit_soon(peer);
	spin_unlock(&peer->pool_lock);
}

/*
 * What is free goes to those that wait.  Unless the caller sends with it (@sends),
 * @ev has a turn like others.
 */
static void unlock_pool(struct via_ether_vi *ev, bool sends)
	__releases(&ev->peer->pool_lock)
{
	struct via_work work = VIA_WORK(SERVED);

	serve_pool(ev->peer, sends ? &ev->snd.credit : NULL, &work);
	unlock_served(ev);
}

/* The same where the window is as it was: none may wait. */
static void unlock_same(struct via_ether_vi *ev, bool sends)
	__releases(&ev->peer->pool_lock)
{
	if (list_empty(&ev->peer->pool.waiters))
		unlock_served(ev);
	else
		unlock_pool(ev, sends);
}

void via_ether_share_begin(struct via_ether_vi *ev)
{
	struct via_pool *p = lock_pool(ev);

	via_cong_bound(&p->cong, ev->snd.win.most);
	via_cong_begin(&p->cong, &ev->snd.credit.flow, ev->conn.first_seq);
	unlock_pool(ev, false);
}

void via_ether_share_end(struct via_ether_vi *ev)
{
	struct via_pool *p;

	if (!ev->peer)
		return;
	p = lock_pool(ev);
	via_credit_end(p, &ev->snd.credit);
	unlock_pool(ev, false);
}

bool via_ether_share_take(struct via_ether_vi *ev)
{
	struct via_win_tx *tx = &ev->snd.win;
	struct via_pool *p = lock_pool(ev);
	u32 had = tx->credit, cwnd = p->cong.cwnd;

	WRITE_ONCE(ev->snd.cpu, smp_processor_id());
	via_credit_take(p, &ev->snd.credit, tx->limit, tx->lost, now_ms());
	via_trace_window(ev->peer, cwnd, VIA_TRACE_RESTED);
	unlock_same(ev, true);
	return tx->credit > had;
}

/* Nothing is sent to the peer until then; false: it cannot be told. */
bool via_ether_open_at(struct via_peer *peer, u64 when)
{
	struct via_ether_nic *nic = peer->nic;
	bool ok;

	spin_lock(&nic->lock);
	ok = peer->users && !nic->stopping;
	if (ok)
		via_alarm_set(nic, &peer->opening, when, 0);
	spin_unlock(&nic->lock);
	return ok;
}

/* So many parts of a round trip. */
static void pause_pool(struct via_ether_vi *ev, u32 parts)
{
	u64 ns = (u64)via_ether_srtt(ev) * NSEC_PER_USEC * parts;

	lockdep_assert_held(&ev->peer->pool_lock);
	if (parts)
		ev->peer->pool.shut = via_ether_open_at(ev->peer,
							ktime_get_ns() + ns / VIA_CONG_PARTS);
}

/* What it held while it sent is free for those that begin. */
static void give_idle(struct via_ether_vi *ev)
{
	struct via_pool *p;

	if (via_win_flight(&ev->snd.win) || ev->snd.busy)
		return;
	p = lock_pool(ev);
	via_credit_idle(p, &ev->snd.credit);
	unlock_same(ev, false);
}

/*
 * @acked frames were, and credit is wanted.  The window grows where it is what
 * VIs wait for.
 */
void via_ether_share_acked(struct via_ether_vi *ev, u32 acked, bool sends)
{
	struct via_win_tx *tx = &ev->snd.win;
	struct via_pool *p;
	u32 cwnd;

	if (READ_ONCE(ev->peer->pool.want) == VIA_WANT_IDLE) {
		give_idle(ev);
		return;
	}
	p = lock_pool(ev);
	cwnd = p->cong.cwnd;
	if (unlikely(ev->snd.credit.flow.cuts != p->cong.cuts))
		via_cong_hear(&p->cong, &ev->snd.credit.flow, tx->nxt,
			      now_us(ev));
	if (acked && !list_empty(&p->waiters) && !via_win_recovers(tx) &&
	    p->cong.cwnd <= p->bound)
		via_cong_grow(&p->cong, acked, now_ms());
	via_trace_window(ev->peer, cwnd, VIA_TRACE_GREW);
	if (acked && !p->shut)
		pause_pool(ev, via_pool_pause(p));
	via_credit_give(p, &ev->snd.credit, via_win_pipe(tx));
	unlock_pool(ev, sends);
}

void via_ether_share_told(struct via_ether_vi *ev, u32 share)
{
	struct via_pool *p = lock_pool(ev);

	via_pool_told(p, share, now_ms());
	via_credit_give(p, &ev->snd.credit, via_win_pipe(&ev->snd.win));
	unlock_pool(ev, false);
}

/* Its pause is over; VIs that are given credit are charged. */
static void end_pause(struct via_alarm *a, u64 now, struct via_work *work)
{
	struct via_peer *peer = container_of(a, struct via_peer, opening);
	struct via_work own = VIA_WORK(SERVED);

	spin_lock(&peer->pool_lock);
	peer->pool.shut = false;
	serve_pool(peer, NULL, &own);
	spin_unlock(&peer->pool_lock);
	via_work_charge(work, SERVED - own.left);
}

void via_ether_share_peer(struct via_peer *peer)
{
	via_alarm_init(&peer->opening, true, end_pause, NULL);
}

void via_ether_share_sated(struct via_ether_vi *ev)
{
	struct via_pool *p = lock_pool(ev);

	via_credit_sated(p, &ev->snd.credit);
	via_credit_give(p, &ev->snd.credit, via_win_pipe(&ev->snd.win));
	unlock_pool(ev, true);
}

void via_ether_share_trim(struct via_ether_vi *ev, u32 keep)
{
	struct via_pool *p;

	if (ev->snd.win.credit <= keep && !(ev->snd.odd & VIA_ODD_WAITS))
		return;
	p = lock_pool(ev);
	via_credit_trim(p, &ev->snd.credit, via_win_pipe(&ev->snd.win), keep);
	unlock_same(ev, false);
}

void via_ether_share_cwr(struct via_ether_vi *ev)
{
	struct via_win_tx *tx = &ev->snd.win;
	struct via_pool *p = lock_pool(ev);
	u32 cwnd = p->cong.cwnd;

	tx->cwr = false;
	via_cong_loss(&p->cong, &ev->snd.credit.flow, tx->una, tx->nxt,
		      now_us(ev));
	via_trace_window(ev->peer, cwnd, VIA_TRACE_LOSS);
	via_credit_give(p, &ev->snd.credit, via_win_pipe(tx));
	unlock_pool(ev, true);
}

void via_ether_share_undo(struct via_ether_vi *ev)
{
	struct via_pool *p = lock_pool(ev);
	u32 cwnd = p->cong.cwnd;

	ev->snd.win.undo = false;
	via_cong_undo(&p->cong, &ev->snd.credit.flow);
	via_trace_window(ev->peer, cwnd, VIA_TRACE_UNDO);
	unlock_pool(ev, false);
}

void via_ether_share_marked(struct via_ether_vi *ev)
{
	struct via_win_tx *tx = &ev->snd.win;
	struct via_pool *p = lock_pool(ev);
	u32 cwnd = p->cong.cwnd;

	via_cong_mark(&p->cong, &ev->snd.credit.flow, tx->una, tx->nxt,
		      now_us(ev));
	via_trace_window(ev->peer, cwnd, VIA_TRACE_MARK);
	via_credit_give(p, &ev->snd.credit, via_win_pipe(tx));
	unlock_pool(ev, false);
}

void via_ether_share_timeout(struct via_ether_vi *ev, bool again)
{
	struct via_win_tx *tx = &ev->snd.win;
	struct via_pool *p = lock_pool(ev);
	struct via_cong_now now = now_us(ev);
	u32 cwnd = p->cong.cwnd;

	tx->cwr = false;
	now.rtt = max(now.rtt, via_peer_rto(ev->peer));
	via_credit_see(&ev->snd.credit);
	via_cong_timeout(&p->cong, &ev->snd.credit.flow, tx->nxt,
			 p->granted - ev->snd.credit.mine, again, now);
	via_trace_window(ev->peer, cwnd, VIA_TRACE_SILENCE);
	via_credit_give(p, &ev->snd.credit, via_win_pipe(tx));
	unlock_pool(ev, true);
}

void via_ether_share_probe(struct via_ether_vi *ev)
{
	struct via_pool *p;

	if (via_win_room(&ev->snd.win))
		return;
	p = lock_pool(ev);
	via_credit_force(p, &ev->snd.credit, 1);
	unlock_pool(ev, true);
}

void via_ether_incast_asked(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;
	u32 now = now_ms();

	lockdep_assert_held(&ev->vi->rq.lock);
	if (via_incast_is_counted(&nic->incast, &ev->peer->incast, now) &&
	    ++ev->rcv.asked % VIA_INCAST_SAMPLE)
		return;
	spin_lock(&nic->lock);
	via_incast_asked(&nic->incast, &ev->peer->incast,
			 ev->rcv.win.next - READ_ONCE(ev->snd.acked), now);
	spin_unlock(&nic->lock);
}

void via_ether_incast_lost(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	lockdep_assert_held(&ev->vi->rq.lock);
	spin_lock(&nic->lock);
	via_incast_lost(&nic->incast, &ev->peer->incast);
	spin_unlock(&nic->lock);
}

static struct via_peer *next_visit(struct via_ether_nic *nic)
{
	struct via_peer *peer;

	spin_lock(&nic->lock);
	peer = list_first_entry_or_null(&nic->visits, struct via_peer,
					visit_link);
	if (peer)
		list_del_init(&peer->visit_link);
	spin_unlock(&nic->lock);
	return peer;
}

/*
 * Credit that a VI holds and does not use, for those that wait.  A blocked VI
 * keeps its credit: those that wait would be blocked as well, and each visit would
 * take from one what the next one takes back, until the NIC has room.
 */
static void visit_holder(struct via_peer *peer, struct via_ether_vi *ev)
{
	spin_lock(&ev->vi->sq.lock);
	/* It may have another peer by now. */
	if (ev->peer == peer && !via_ether_is_tx_blocked(ev))
		via_ether_share_acked(ev, 0, false);
	spin_unlock(&ev->vi->sq.lock);
}

static void visit_some(struct via_peer *peer)
{
	struct via_work work = VIA_WORK(VISITS);
	struct via_work served = VIA_WORK(SERVED);
	struct via_credit *c;

	spin_lock(&peer->pool_lock);
	serve_pool(peer, NULL, &served);
	spin_unlock(&peer->pool_lock);
	while (via_work_visit(&work)) {
		spin_lock(&peer->pool_lock);
		c = via_pool_visit(&peer->pool);
		spin_unlock(&peer->pool_lock);
		if (!c)
			return;
		visit_holder(peer, vi_of(c));
	}
	visit_soon(peer);
}

/* One peer, and the others in later runs of the tasklet. */
void via_ether_share_visits(struct via_ether_nic *nic, struct via_work *work)
{
	struct via_peer *peer;

	peer = next_visit(nic);
	if (peer)
		visit_some(peer);
	via_work_charge(work, VISITS);
	spin_lock(&nic->lock);
	if (!list_empty(&nic->visits))
		via_ether_run_soon(nic);
	spin_unlock(&nic->lock);
}

void via_ether_share_init(struct via_ether_nic *nic)
{
	INIT_LIST_HEAD(&nic->visits);
	via_incast_init(&nic->incast, now_ms());
}
