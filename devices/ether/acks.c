// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Acknowledgements of many connections in one frame.
 *
 * What is owed to a peer after a batch of frames that came, or when the alarm
 * goes off, leaves together: an ACK where one connection owes, ACKS where
 * several do.  A connection that has more to say than an entry of ACKS holds (a
 * frame came twice (DSACK), or the network has marked one) has an ACK of its own.
 */

#include <linux/timex.h>
#include "acks.h"
#include "owed.h"
#include "param.h"
#include "run.h"
#include "stats.h"
#include "timer.h"
#include "vi.h"
#include "xmit.h"

#define FULL_NS		NSEC_PER_MSEC	/* between acknowledgements not taken */

/* Entries without ranges that ACKS has room for. */
#define ENTRIES_MAX \
	((VIA_WIRE_BODY_MAX - VIA_WIRE_ACKS_LEN) / \
	 sizeof(struct via_wire_acks_entry))

/* A frame of ACKS that is being filled, and what its entries have changed. */
struct batch {
	struct via_peer *peer;
	struct via_acks_frame f;
	struct {
		struct via_ether_vi *ev;
		u32 before, ack;
	} entry[ENTRIES_MAX];
};

static u64 ack_delay_ns(const struct via_ether_vi *ev)
{
	return via_delack_ns(via_ether_rtt_net(ev), via_ether_ack_delay(),
			     ev->conn.reliable);
}

static struct via_delack_now now_of(const struct via_ether_vi *ev, u64 ns)
{
	return (struct via_delack_now) {
		.acked = READ_ONCE(ev->snd.acked),
		.next = ev->rcv.win.next,
		.ns = ns,
		.cycles = get_cycles(),
		.delay = ack_delay_ns(ev),
	};
}

void via_ether_watch_rx(struct via_ether_vi *ev)
{
	struct via_delack_now now = now_of(ev, ktime_get_ns());

	lockdep_assert_held(&ev->vi->rq.lock);
	via_delack_watch(&ev->delack, &now);
	via_ether_visit_at(ev, VIA_ETHER_RX, ev->delack.due, now.ns);
}

static void ack_again(struct via_ether_vi *ev)
{
	struct via_delack_now now;

	lockdep_assert_held(&ev->vi->rq.lock);
	if (ev->delack.interval)
		return;
	now = now_of(ev, ktime_get_ns());
	via_delack_again(&ev->delack, &now, FULL_NS);
	via_ether_visit_at(ev, VIA_ETHER_RX, ev->delack.due, now.ns);
}

/* A frame of @type on the connection.  A queue lock held. */
static struct via_xmit on_conn(const struct via_ether_vi *ev, u8 type, u32 size)
{
	return (struct via_xmit) {
		.peer = ev->peer,
		.host = ev->conn.remote.addr,
		.cookie = ev->conn.remote_cookie,
		.dst = ev->conn.remote_id,
		.vi = via_ether_id(ev->vi),
		.flow = ev->vi->index,
		.size = size,
		.type = type,
		.plain = !ev->conn.seal,
	};
}

/* The receiver's half, as far as it has come.  rq.lock held. */
static bool send_ack(struct via_ether_vi *ev, u8 flags, u32 delay)
{
	struct {
		struct via_wire_ack a;
		struct via_wire_range range[VIA_WIRE_RANGES_MAX];
	} __packed f __uninitialized;
	struct via_xmit c = on_conn(ev, VIA_WIRE_ACK, sizeof(f.a));
	struct via_range range[VIA_WIN_RANGES] __uninitialized;
	u32 ack = ev->rcv.win.next;

	lockdep_assert_held(&ev->vi->rq.lock);
	if (ev->rcv.dsack_due)
		flags |= VIA_WIRE_DSACK;
	if (unlikely(ev->rcv.ce_echo))
		c.marks = VIA_WIRE_CE;
	c.flags = flags;
	f.a.ack = cpu_to_be32(ack);
	f.a.dsack = flags & VIA_WIRE_DSACK ? cpu_to_be32(ev->rcv.dsack) : 0;
	f.a.n = via_win_ranges(&ev->rcv.win, range);
	via_wire_put_ranges(f.range, f.a.n, range);
	f.a.delay = min(delay, VIA_WIRE_DELAY_MAX);
	f.a.share = cpu_to_be16(READ_ONCE(ev->nic->incast.share));
	f.a.zero = 0;
	c.size += f.a.n * sizeof(f.range[0]);
	if (!via_ether_xmit(ev->nic, &c, &f)) {
		/* It is owed, also if all had been told before. */
		if (ev->snd.acked == ack)
			WRITE_ONCE(ev->snd.acked, ack - 1);
		ack_again(ev);
		return false;
	}
	WRITE_ONCE(ev->snd.acked, ack);
	ev->rcv.dsack_due = false;
	ev->rcv.untold = false;
	if (c.marks)
		via_ether_count(ev->nic, MARKS_OUT);
	ev->rcv.ce_echo = false;
	return true;
}

/* ACK to the peer of a connection, with all we know of what has arrived. */
bool via_ether_send_ack(struct via_ether_vi *ev, u32 delay)
{
	bool ok = send_ack(ev, 0, delay);

	if (ok)
		via_ether_count(ev->nic, ACKS_OUT);
	return ok;
}

/* The same, and the peer is to answer with its own. */
bool via_ether_send_ack_request(struct via_ether_vi *ev)
{
	return send_ack(ev, VIA_WIRE_ACK_NOW, VIA_WIRE_DELAY_MAX);
}

/* It was not sent: the alarm tries again, for each of them. */
static void owe_unsent_acks(struct batch *b)
{
	struct via_ether_vi *ev;
	u32 i, ack, before;

	for (i = 0; i < b->f.count; i++) {
		ev = b->entry[i].ev;
		ack = b->entry[i].ack;
		before = b->entry[i].before;
		spin_lock(&ev->vi->rq.lock);
		/* If it is still the same connection, and owes as much. */
		if (ev->conn.phase == VIA_PHASE_CONNECTED &&
		    ev->peer == b->peer && READ_ONCE(ev->snd.acked) == ack) {
			/* It is owed, also if all had been told before. */
			WRITE_ONCE(ev->snd.acked,
				   before == ack ? ack - 1 : before);
			ack_again(ev);
		}
		spin_unlock(&ev->vi->rq.lock);
	}
}

/* No queue lock held. */
static void flush_acks(struct batch *b)
{
	if (!b->f.count)
		return;
	if (!via_ether_send_acks(b->peer, &b->f))
		owe_unsent_acks(b);
	b->f.count = 0;
	b->f.bytes = 0;
}

/* How long the newest frame has waited, as in the field delay.  rq.lock held. */
static u32 ack_delay_of(const struct via_ether_vi *ev)
{
	return via_delack_waited(&ev->delack, ev->rcv.win.next);
}

/* It is begun, and not full. */
static bool has_room(const struct batch *b)
{
	return b->f.count && b->f.bytes + sizeof(struct via_wire_acks_entry) <=
			     sizeof(b->f.entries);
}

/* One more entry; false: it does not fit, or is another peer's.  rq.lock held. */
static bool add_ack(struct batch *b, struct via_ether_vi *ev)
{
	struct via_range range[VIA_WIN_RANGES] __uninitialized;
	struct via_wire_acks_entry *e;
	u32 n, size, ack = ev->rcv.win.next;

	lockdep_assert_held(&ev->vi->rq.lock);
	n = via_win_ranges(&ev->rcv.win, range);
	size = sizeof(*e) + n * sizeof(struct via_wire_range);
	if (size > sizeof(b->f.entries) - b->f.bytes)
		return false;
	if (b->f.count && b->peer != ev->peer)
		return false;
	b->peer = ev->peer;
	e = (void *)(b->f.entries + b->f.bytes);
	*e = (struct via_wire_acks_entry) {
		.dst = cpu_to_be32(ev->conn.remote_id),
		.ack = cpu_to_be32(ack),
		.cookie = cpu_to_be64(ev->conn.remote_cookie),
		.n = n,
		.delay = ack_delay_of(ev),
	};
	via_wire_put_ranges((struct via_wire_range *)(e + 1), n, range);
	b->entry[b->f.count].ev = ev;
	b->entry[b->f.count].before = READ_ONCE(ev->snd.acked);
	b->entry[b->f.count].ack = ack;
	b->f.count++;
	b->f.bytes += size;
	WRITE_ONCE(ev->snd.acked, ack);
	ev->rcv.untold = false;
	return true;
}

/* Data of another VI has left in time: the program runs, and waits for more. */
static void redeem_delack(struct via_ether_vi *ev)
{
	/* How long it has waited is not known. */
	if (via_delack_redeem(&ev->delack))
		via_delack_late(&ev->delack, ev->rcv.win.next,
				VIA_WIRE_DELAY_MAX);
}

/* Does it owe an acknowledgement?  rq.lock held. */
static bool owes_ack(const struct via_ether_vi *ev)
{
	return ev->conn.phase == VIA_PHASE_CONNECTED &&
	       (ev->rcv.win.next != READ_ONCE(ev->snd.acked) ||
		ev->rcv.untold || ev->rcv.ce_echo);
}

/*
 * What the VI owes, in @b, or alone if no other one owes anything; @behind
 * data of another one, which shows that the program runs.  Data for
 * the peer's reads carries the acknowledgement: a read that is taken after we
 * looked, under this lock, finds us off the list and puts us there again.
 */
static void pay_ack(struct batch *b, struct via_ether_vi *ev, bool behind,
		    bool alone, struct via_work *work)
{
	struct via_vi *vi = ev->vi;
	bool full = false;

	spin_lock(&vi->rq.lock);
	if (unlikely(ev->answers.tail != READ_ONCE(ev->answers.next))) {
		spin_unlock(&vi->rq.lock);
		via_ether_run_now(ev, work);
		spin_lock(&vi->rq.lock);
	}
	if (owes_ack(ev)) {
		if (behind)
			redeem_delack(ev);
		if (alone || ev->rcv.dsack_due || ev->rcv.ce_echo)
			via_ether_send_ack(ev, ack_delay_of(ev));
		else
			full = !add_ack(b, ev);
	}
	spin_unlock(&vi->rq.lock);
	if (!full)
		return;
	flush_acks(b);
	spin_lock(&vi->rq.lock);
	if (owes_ack(ev))
		add_ack(b, ev);
	spin_unlock(&vi->rq.lock);
}

/* A frame that is begun is filled first: no acknowledgement goes in one more. */
static void pay_list(struct via_owed *o, u32 n, struct via_work *work)
{
	struct via_work fill = VIA_WORK(ENTRIES_MAX);
	struct batch b __uninitialized;
	struct via_ether_vi *ev;
	bool behind, last;

	b.peer = NULL;
	b.f.count = 0;
	b.f.bytes = 0;
	do {
		ev = via_owed_next(o, n, &behind, &last, via_work_over(work) &&
				   has_room(&b) ? &fill : work);
		if (ev)
			pay_ack(&b, ev, behind, last && !b.f.count, work);
	} while (ev && !last);
	flush_acks(&b);
}

/* What is too much now is the tasklet's. */
static void pay_some(struct via_owed *o, struct via_work *work)
{
	u32 n;

	while ((n = via_owed_turn(o)) < VIA_OWED_LISTS) {
		if (via_work_over(work)) {
			tasklet_schedule(&o->pay);
			return;
		}
		pay_list(o, n, work);
	}
}

void via_ether_pay(struct via_ether_nic *nic, struct via_work *work)
{
	pay_some(via_owed_here(nic), work);
}

static void pay_owed(struct tasklet_struct *t)
{
	struct via_owed *o = from_tasklet(o, t, pay);
	struct via_work work = VIA_WORK(VIA_ETHER_VISITS / 2);

	rcu_read_lock();
	pay_some(o, &work);
	rcu_read_unlock();
}

void via_ether_ack_soon(struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->vi->rq.lock);
	if (READ_ONCE(ev->on.owed))
		return;
	/* Runs after the receive softirq that we are in. */
	if (via_owed_add(ev, false))
		tasklet_schedule(&via_owed_here(ev->nic)->pay);
}

void via_ether_echo_soon(struct via_ether_vi *ev)
{
	ev->rcv.ce_echo = true;
	via_ether_ack_soon(ev);
}

void via_ether_ack_behind(struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->vi->sq.lock);
	/* Before frames are received: both may be in one batch of the peer's. */
	if (via_owed_behind(ev))
		tasklet_hi_schedule(&via_owed_here(ev->nic)->pay);
}

void via_ether_answered(struct via_ether_vi *ev)
{
	via_delack_answered(&ev->delack);
	if (via_owed_is_delayed(ev))
		via_ether_ack_behind(ev);
}

void via_ether_sample_rx(struct via_ether_vi *ev)
{
	/* In the middle of a message: nothing completes by it yet. */
	if (!ev->rcv.open || ev->delack.interval)
		via_ether_watch_rx(ev);
}

/* nic->lock held. */
static void forget_ack_deadline(struct via_ether_nic *nic)
{
	WRITE_ONCE(nic->ack_deadline.asker, NULL);
	via_alarm_set(nic, &nic->ack_deadline.due, U64_MAX, 0);
}

void via_ether_ack_deadline_over(struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->nic->lock);
	if (ev->nic->ack_deadline.asker == ev)
		forget_ack_deadline(ev->nic);
}

/*
 * No frame waits for its ACK deadline: it was acknowledged, or there is none.  A
 * hint, as its sq.lock is not held.  nic->lock held; without it, seldom wrong.  RCU
 * read side.
 */
static bool no_deadline(const struct via_ether_nic *nic)
{
	const struct via_ether_vi *asker = READ_ONCE(nic->ack_deadline.asker);

	return !asker || via_seq_before(READ_ONCE(nic->ack_deadline.seq),
					READ_ONCE(asker->snd.win.una));
}

u8 via_ether_ack_deadline(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;
	u64 now;
	bool ok;

	lockdep_assert_held(&ev->vi->sq.lock);
	/* While another VI has it, CPUs do not meet at the lock. */
	if (!ev->conn.reliable || !READ_ONCE(nic->ack_deadline.kept) ||
	    !no_deadline(nic))
		return 0;
	now = ktime_get_ns();
	spin_lock(&nic->lock);
	/* An older one is not put off: it may be that none ever came due. */
	ok = nic->ack_deadline.kept && no_deadline(nic);
	if (ok) {
		WRITE_ONCE(nic->ack_deadline.asker, ev);
		WRITE_ONCE(nic->ack_deadline.seq, ev->snd.win.nxt);
		via_alarm_set(nic, &nic->ack_deadline.due,
			      now + ack_delay_ns(ev), now);
	}
	spin_unlock(&nic->lock);
	return ok ? VIA_WIRE_PROBE : 0;
}

void via_ether_ack_deadlines(struct via_ether_nic *nic, bool polled)
{
	spin_lock_bh(&nic->lock);
	WRITE_ONCE(nic->ack_deadline.kept, polled && !nic->ops->busy_poll);
	if (no_deadline(nic))
		forget_ack_deadline(nic);
	spin_unlock_bh(&nic->lock);
}

/* The ACK deadline has passed, unless the acknowledgement has come meanwhile. */
static void ack_deadline(struct via_alarm *a, u64 now, struct via_work *work)
{
	struct via_ether_nic *nic =
		container_of(a, struct via_ether_nic, ack_deadline.due);
	struct via_ether_vi *ev;
	struct via_vi *vi;
	u32 seq;

	spin_lock(&nic->lock);
	ev = nic->ack_deadline.asker;
	seq = nic->ack_deadline.seq;
	WRITE_ONCE(nic->ack_deadline.asker, NULL);
	spin_unlock(&nic->lock);
	if (!ev)
		return;
	vi = ev->vi;
	via_ether_lock(vi);
	/* It may be another connection by now: then the request does no harm. */
	if (ev->conn.phase == VIA_PHASE_CONNECTED && !via_vi_is_broken(vi) &&
	    seq - ev->snd.win.una < via_win_flight(&ev->snd.win))
		via_ether_send_ack_request(ev);
	via_ether_unlock(vi);
	via_vi_settle(vi);
}

int via_ether_acks_init(struct via_ether_nic *nic)
{
	via_alarm_init(&nic->ack_deadline.due, false, ack_deadline, NULL);
	return via_owed_init(nic, pay_owed);
}

static u32 delay_of(u64 ns)
{
	return min_t(u64, div_u64(ns, VIA_WIRE_DELAY_US * NSEC_PER_USEC),
		     VIA_WIRE_DELAY_MAX);
}

void via_ether_check_rx(struct via_ether_vi *ev, u64 ns)
{
	struct via_delack_now now;
	u64 age;

	lockdep_assert_held(&ev->vi->rq.lock);
	if (!ev->delack.interval)
		return;
	now = now_of(ev, ns);
	if (!via_delack_expired(&ev->delack, &now, &age))
		return;
	/* With what others owe at this alarm. */
	via_delack_late(&ev->delack, ev->rcv.win.next, delay_of(age));
	via_owed_add(ev, false);
}

void via_ether_owes_no_more(struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->nic->lock);
	via_owed_del(ev);
}

void via_ether_ack_now(struct via_vi *vi, u64 cookie)
{
	struct via_ether_vi *ev = vi->priv;

	spin_lock(&vi->rq.lock);
	if (likely(ev->conn.cookie == cookie &&
		   ev->conn.phase == VIA_PHASE_CONNECTED))
		via_ether_send_ack(ev, 0);
	spin_unlock(&vi->rq.lock);
}

void via_ether_rx_ack_request(struct via_vi *vi, u64 cookie)
{
	struct via_ether_vi *ev = vi->priv;

	spin_lock(&vi->rq.lock);
	if (likely(ev->conn.cookie == cookie &&
		   ev->conn.phase == VIA_PHASE_CONNECTED)) {
		via_delack_asked(&ev->delack, ev->rcv.win.next, ktime_get_ns());
		via_ether_send_ack(ev, VIA_WIRE_DELAY_MAX);
	}
	spin_unlock(&vi->rq.lock);
}
