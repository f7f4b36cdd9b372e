// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Portions of a peer's window, and the flows that wait for one. */

#include "credit.h"

#define TOLD_MS		1000u	/* a share holds */
#define STARVED_MS	1000u	/* idle flows keep nothing */

void via_pool_init(struct via_pool *p, u32 now_ms)
{
	memset(p, 0, sizeof(*p));
	via_cong_init(&p->cong, now_ms);
	p->bound = VIA_WIN_MAX;
	INIT_LIST_HEAD(&p->waiters);
	INIT_LIST_HEAD(&p->holders);
}

void via_credit_init(struct via_credit *c)
{
	memset(c, 0, sizeof(*c));
	INIT_LIST_HEAD(&c->wait);
	INIT_LIST_HEAD(&c->hold);
}

static u32 held_credit(const struct via_credit *c)
{
	return c->mine + c->given;
}

/* All that is held is held by a flow that waits. */
static bool is_holder_alone(const struct via_pool *p)
{
	return p->nholders == 1 &&
	       via_credit_waits(list_first_entry(&p->holders,
						 struct via_credit, hold));
}

/* Others held all, lately, and the next flow may find as little. */
static bool is_spare_used(const struct via_pool *p)
{
	return p->starved &&
	       via_pool_free(p) < min(VIA_CREDIT_SPARE, via_pool_size(p) / 4);
}

/*
 * What others want is seen again, and if it is more than before, flows that do
 * nothing are to be asked.
 */
static void update_want(struct via_pool *p)
{
	u8 now = VIA_WANT_NONE;

	/* A flow with one frame in the network finds no loss but by time. */
	p->cong.least = max(min(2 * p->nholders, VIA_CONG_MIN_MANY),
			    VIA_CONG_MIN);
	if (p->starving)
		now = VIA_WANT_SOME;
	else if (!list_empty(&p->waiters) || via_pool_over(p))
		now = VIA_WANT_MORE;
	else if (is_spare_used(p))
		now = VIA_WANT_IDLE;
	if (now > p->want && now != VIA_WANT_IDLE)
		p->to_visit = is_holder_alone(p) ? 0 : p->nholders;
	if (now < VIA_WANT_MORE)
		p->to_visit = 0;
	if (now != p->want)
		WRITE_ONCE(p->want, now);
}

static void hold_credit(struct via_pool *p, struct via_credit *c, u32 n)
{
	if (!held_credit(c)) {
		list_add_tail(&c->hold, &p->holders);
		p->nholders++;
		p->starving -= via_credit_waits(c);
	}
	c->given += n;
	p->granted += n;
}

static void drop_credit(struct via_pool *p, struct via_credit *c, u32 n)
{
	if (!n)
		return;
	c->mine -= n;
	p->granted -= n;
	if (held_credit(c))
		return;
	list_del_init(&c->hold);
	p->nholders--;
	p->starving += via_credit_waits(c);
}

static void queue_flow(struct via_pool *p, struct via_credit *c, bool hurry)
{
	if (via_credit_waits(c))
		return;
	c->turn = VIA_CREDIT_TURN;
	if (hurry)
		list_add(&c->wait, &p->waiters);
	else
		list_add_tail(&c->wait, &p->waiters);
	p->starving += !held_credit(c);
}

static void leave_queue(struct via_pool *p, struct via_credit *c)
{
	if (!via_credit_waits(c))
		return;
	list_del_init(&c->wait);
	p->starving -= !held_credit(c);
}

/* Others wait. */
static bool is_pool_contended(const struct via_pool *p,
			      const struct via_credit *c)
{
	return !list_empty(&p->waiters) &&
	       !(via_credit_waits(c) && list_is_singular(&p->waiters));
}

void via_credit_see(struct via_credit *c)
{
	c->mine += c->given;
	c->given = 0;
}

bool via_credit_take(struct via_pool *p, struct via_credit *c, u32 most,
		     bool hurry, u32 now_ms)
{
	u32 n = c->given;

	c->most = most;
	via_cong_rest(&p->cong, now_ms);
	/* A crowd does not last. */
	if (p->share && now_ms - p->told_at >= TOLD_MS)
		via_pool_told(p, 0, now_ms);
	if (p->starved && now_ms - p->starved_at >= STARVED_MS)
		p->starved = false;
	via_credit_see(c);
	if (n) {
		/* Of its turn, which goes on. */
	} else if (c->mine >= most) {
		leave_queue(p, c);
	} else {
		if (!is_pool_contended(p, c)) {
			n = c->mine ? VIA_CREDIT_MORE : VIA_CREDIT_FIRST;
			n = min(min(n, most - c->mine), via_pool_free(p));
		}
		if (n) {
			leave_queue(p, c);
			hold_credit(p, c, n);
			via_credit_see(c);
		} else {
			queue_flow(p, c, hurry);
		}
	}
	/* One alone may have to wait for what the peer tells. */
	if (p->starving && p->nholders) {
		p->starved = true;
		p->starved_at = now_ms;
	}
	if (p->granted >= p->cong.cwnd / 2)
		p->cong.used_at = now_ms;
	update_want(p);
	return n;
}

void via_credit_force(struct via_pool *p, struct via_credit *c, u32 n)
{
	hold_credit(p, c, n);
	via_credit_see(c);
	update_want(p);
}

void via_credit_sated(struct via_pool *p, struct via_credit *c)
{
	leave_queue(p, c);
	update_want(p);
}

/*
 * Credit of a flow that waits beyond an equal part of the window for all that hold
 * some or wait for their first: it goes to the others.  All of it does where parts
 * are no longer than a turn.
 */
static u32 beyond_part(const struct via_pool *p, const struct via_credit *c)
{
	u32 part = via_pool_size(p) / max(p->nholders + p->starving, 1u);

	if (part <= VIA_CREDIT_TURN)
		part = 0;
	return c->mine > part ? c->mine - part : 0;
}

void via_credit_give(struct via_pool *p, struct via_credit *c, u32 pipe)
{
	u32 over = via_pool_over(p), room, keep = 0;

	via_credit_see(c);
	room = c->mine > pipe ? c->mine - pipe : 0;
	if (p->shut)
		keep = 0;
	else if (!is_pool_contended(p, c))
		room = min(room, over);
	else if (!via_credit_waits(c) && !over && !p->starving)
		keep = VIA_CREDIT_KEPT;
	else if (via_credit_waits(c) && !over)
		room = min(room, beyond_part(p, c));
	if (room > keep)
		drop_credit(p, c, room - keep);
	update_want(p);
}

void via_credit_trim(struct via_pool *p, struct via_credit *c, u32 pipe,
		     u32 keep)
{
	via_credit_see(c);
	if (c->mine > pipe + keep)
		drop_credit(p, c, c->mine - pipe - keep);
	update_want(p);
}

void via_credit_idle(struct via_pool *p, struct via_credit *c)
{
	via_credit_see(c);
	/* One that has more is at work, and would take it in portions again. */
	if (p->want == VIA_WANT_IDLE && c->mine <= VIA_CREDIT_FIRST)
		drop_credit(p, c, c->mine);
	update_want(p);
}

void via_credit_end(struct via_pool *p, struct via_credit *c)
{
	leave_queue(p, c);
	via_credit_see(c);
	drop_credit(p, c, c->mine);
	if (!p->nholders && list_empty(&p->waiters))
		p->shut = false;
	update_want(p);
}

void via_pool_told(struct via_pool *p, u32 share, u32 now_ms)
{
	if (share != p->share)
		WRITE_ONCE(p->share, share);
	p->told_at = now_ms;
	if (!share) {
		p->bound = VIA_WIN_MAX;
		p->part = 0;
	} else {
		p->part += share;
		p->bound = max(p->part / VIA_CONG_PARTS, 1u);
		p->part %= VIA_CONG_PARTS;
	}
	update_want(p);
}

u32 via_pool_pause(const struct via_pool *p)
{
	if (!p->share || p->share >= VIA_CONG_PARTS)
		return 0;
	return VIA_CONG_PARTS * VIA_CONG_PARTS / p->share - VIA_CONG_PARTS;
}

/* The flow that is first; NULL: there is none, or it is enough for now. */
static struct via_credit *first_waiter(const struct via_pool *p,
				       struct via_work *work)
{
	if (list_empty(&p->waiters) || !via_work_visit(work))
		return NULL;
	return list_first_entry(&p->waiters, struct via_credit, wait);
}

struct via_credit *via_pool_serve(struct via_pool *p, struct via_work *work)
{
	struct via_credit *c;
	u32 n = 0;

	/* One that has its most is not given more, and leaves. */
	while ((c = first_waiter(p, work)) && held_credit(c) >= c->most)
		leave_queue(p, c);
	if (c)
		n = via_pool_free(p);
	if (!n) {
		update_want(p);
		return NULL;
	}
	n = min(min(n, c->turn), c->most - held_credit(c));
	hold_credit(p, c, n);
	c->turn -= n;
	if (!c->turn) {
		c->turn = VIA_CREDIT_TURN;
		list_move_tail(&c->wait, &p->waiters);
	}
	update_want(p);
	return c;
}

struct via_credit *via_pool_visit(struct via_pool *p)
{
	struct via_credit *c;

	if (!p->to_visit || list_empty(&p->holders))
		return NULL;
	p->to_visit--;
	c = list_first_entry(&p->holders, struct via_credit, hold);
	list_move_tail(&c->hold, &p->holders);
	return c;
}
