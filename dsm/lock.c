// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See lock.h. */
#include <string.h>

#include "interval.h"
#include "lock.h"
#include "notes.h"
#include "send.h"

void lock_init(struct node *n)
{
	struct lock_state *l;

	for (uint32_t i = 0; i < DSM_LOCK_COUNT; i++) {
		l = &n->lock[i];
		l->tail = i % n->size;
		l->next = DSM_NODES;
		l->token = l->tail == n->me;
	}
}

static void grant(struct node *n, uint32_t lock, unsigned int to,
		  const uint32_t *vc)
{
	struct dsm_msg last = { .type = MSG_GRANT, .what = lock };
	uint32_t v[DSM_NODES];

	memcpy(v, vc, sizeof(v));
	clock_join(v, n->known[to]);
	n->lock[lock].token = false;
	notes_send(n, to, v, &last, NULL);
}

/* (8) */
static bool pass_on(struct node *n, uint32_t lock, unsigned int who,
		    const uint32_t *vc)
{
	struct lock_state *l = &n->lock[lock];

	if (l->next != DSM_NODES)
		return false;
	if (l->token && !l->held && !l->wanted) {
		grant(n, lock, who, vc);
		return true;
	}
	l->next = who;
	memcpy(l->next_vc, vc, sizeof(l->next_vc));
	return true;
}

/* At the manager. */
static bool ask(struct node *n, uint32_t lock, unsigned int who,
		const uint32_t *vc)
{
	struct lock_state *l = &n->lock[lock];
	unsigned int tail = l->tail;
	struct dsm_msg *m;

	l->tail = who;
	if (tail == n->me)
		return pass_on(n, lock, who, vc);
	m = send_begin(n, MSG_FORWARD, lock);
	m->who = who;
	m->len = sizeof(m->vc);
	memcpy(m->data, vc, sizeof(m->vc));
	send_msg(n, tail, m);
	return true;
}

void lock_want(struct node *n, uint32_t lock)
{
	n->lock[lock].wanted++;
	n->counts.acquires++;
}

bool lock_try(struct node *n, uint32_t lock)
{
	struct lock_state *l = &n->lock[lock];
	struct dsm_msg *m;

	if (l->held)
		return false;
	if (l->token) {
		l->held = true;
		l->wanted--;
		return true;
	}
	if (l->asked)
		return false;
	l->asked = true;
	n->counts.asked++;
	if (lock % n->size == n->me) {
		ask(n, lock, n->me, n->vc);
		return false;
	}
	m = send_begin(n, MSG_ACQUIRE, lock);
	m->len = sizeof(m->vc);
	memcpy(m->data, n->vc, sizeof(m->vc));
	send_msg(n, lock % n->size, m);
	return false;
}

bool lock_release(struct node *n, uint32_t lock, int *step)
{
	struct lock_state *l = &n->lock[lock];
	unsigned int next;

	if (!interval_close(n, step))
		return false;
	l->held = false;
	next = l->next;
	l->next = DSM_NODES;
	if (next != DSM_NODES)
		grant(n, lock, next, l->next_vc);
	return true;
}

static bool is_sound(const struct node *n, const struct dsm_msg *m)
{
	return m->what < DSM_LOCK_COUNT && m->len == sizeof(m->vc) &&
	       m->who < n->size;
}

bool lock_asked(struct node *n, const struct dsm_msg *m)
{
	uint32_t vc[DSM_NODES];

	if (!is_sound(n, m) || m->what % n->size != n->me)
		return false;
	memcpy(vc, m->data, sizeof(vc));
	return ask(n, m->what, m->from, vc);
}

bool lock_forwarded(struct node *n, const struct dsm_msg *m)
{
	uint32_t vc[DSM_NODES];

	if (!is_sound(n, m))
		return false;
	memcpy(vc, m->data, sizeof(vc));
	return pass_on(n, m->what, m->who, vc);
}

bool lock_granted(struct node *n, const struct dsm_msg *m)
{
	struct lock_state *l;

	if (m->what >= DSM_LOCK_COUNT || !n->lock[m->what].asked ||
	    !notes_heard(n, m))
		return false;
	l = &n->lock[m->what];
	l->token = true;
	l->asked = false;
	n->events++;
	return true;
}
