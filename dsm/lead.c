// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See lead.h. */
#include "lead.h"

/* (2) */
static void call_owner(struct lead *l)
{
	atomic_fetch_add(&l->call, 1);
	l->called = true;
}

bool lead_take(struct lead *l, uint64_t now)
{
	if (l->owner == LEAD_THREAD)
		return false;
	l->quick = now - l->left < LEAD_QUICK_NS;
	if (l->owner == LEAD_NOBODY) {
		l->owner = LEAD_THREAD;
		l->beats++;
		return true;
	}
	l->wanted = true;
	call_owner(l);
	return false;
}

bool lead_leave(struct lead *l, bool owned, uint64_t now)
{
	bool ring;

	if (owned) {
		l->owner = LEAD_NOBODY;
		l->left = now;
	}
	ring = l->owner == LEAD_NOBODY && !l->waiters && l->parked; /* (4) */
	if (ring)
		l->parked = false;
	return ring;
}

/* (3) */
bool lead_orphans(const struct lead *l)
{
	return l->owner == LEAD_NOBODY && l->waiters;
}

void lead_hand(struct lead *l, uint64_t now)
{
	if (l->owner != LEAD_SERVER || !l->wanted)
		return;
	l->wanted = false;
	l->owner = LEAD_NOBODY;
	l->left = now;
}

/* A thread owns the NIC. */
static enum lead_act watch(struct lead *l, uint64_t now, uint64_t *rest)
{
	if (l->watched != l->beats)
		l->watched_at = now;
	l->watched = l->beats;
	l->parked = atomic_load(&l->asleep);		/* (5) */
	*rest = l->parked ? LEAD_WATCH_NS : LEAD_QUICK_NS;
	if (now - l->watched_at < LEAD_WATCH_NS)
		return LEAD_REST;
	*rest = LEAD_STAND_IN_NS;			/* (7) */
	return LEAD_STAND_IN;
}

enum lead_act lead_serve(struct lead *l, uint64_t now, uint64_t *rest)
{
	uint64_t free = now - l->left;

	if (l->owner == LEAD_THREAD)
		return watch(l, now, rest);
	l->parked = false;
	if (l->owner == LEAD_NOBODY && (l->quick || l->waiters) &&
	    free < LEAD_QUICK_NS) {
		*rest = LEAD_QUICK_NS - free;
		return LEAD_REST;
	}
	l->owner = LEAD_SERVER;
	return LEAD_NIC;
}

/* (6) */
void lead_event(struct lead *l)
{
	if (l->owner == LEAD_THREAD)
		call_owner(l);
}

bool lead_calls(struct lead *l)
{
	bool called = l->called;

	l->called = false;
	return called;
}

void lead_sleep(struct lead *l)
{
	atomic_store(&l->asleep, true);
}

bool lead_called(const struct lead *l, unsigned int seen)
{
	return atomic_load(&l->call) != seen;
}

void lead_wake(struct lead *l)
{
	atomic_store(&l->asleep, false);
}
