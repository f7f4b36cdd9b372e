// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ext.h"

#define ERRORS_MAX	4096	/* of one NIC that no thread has taken */

struct vipl_told {
	struct vipl_told *next;
	struct vipl_event ev;
};

void vipl_events_init(struct vipl_events *e)
{
	atomic_store(&e->errors, 0);
	e->first = NULL;
	e->last = NULL;
	vipl_list_init(&e->sources);
}

void vipl_events_free(struct vipl_events *e)
{
	struct vipl_told *t;

	while ((t = e->first)) {
		e->first = t->next;
		free(t);
	}
}

void vipl_events_forget(struct vipl_events *e, struct vipl_source *s)
{
	vipl_lock(&e->lock);
	if (s->link.next)
		vipl_list_del(&s->link);
	s->link.next = NULL;
	s->flags = 0;
	vipl_unlock(&e->lock);
}

/* events.lock held. */
static void add_source(struct vipl_nic *nic, struct vipl_obj *o,
		       struct vipl_source *s, enum vipl_event_kind kind)
{
	s->flags |= 1u << kind;
	s->obj = o;
	if (!s->link.next)
		vipl_list_add(&s->link, nic->events.sources.prev);
}

/* events.lock held. */
static void add_error(struct vipl_events *e, struct vipl_told *t)
{
	if (e->last)
		e->last->next = t;
	else
		e->first = t;
	e->last = t;
	atomic_fetch_add_explicit(&e->errors, 1, memory_order_relaxed);
}

static struct vipl_told *new_error(struct vipl_events *e,
				   const struct vipl_event *ev)
{
	struct vipl_told *t = NULL;

	/* A look without the lock: the bound need not be exact. */
	if (atomic_load_explicit(&e->errors, memory_order_relaxed) < ERRORS_MAX)
		t = malloc(sizeof(*t));
	if (!t)
		return NULL;
	t->next = NULL;
	t->ev = *ev;
	return t;
}

void vipl_event_wake(struct vipl_nic *nic)
{
	struct vipl_events *e = &nic->events;

	atomic_fetch_add_explicit(&e->word, 1, memory_order_release);
	syscall(SYS_futex, &e->word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL,
		0);
}

void vipl_event_add(struct vipl_nic *nic, const struct vipl_event *ev)
{
	struct vipl_events *e = &nic->events;
	struct vipl_told *error = NULL;
	struct vipl_vi *vi;
	struct vipl_cq *cq;
	int wake = 0;

	if (ev->kind == VIPL_EVENT_ERROR) {
		error = new_error(e, ev);
		if (!error)
			return;
	}
	/* An object that is live under the lock stays until it is unlocked. */
	vipl_lock(&e->lock);
	switch (ev->kind) {
	case VIPL_EVENT_ERROR:
		add_error(e, error);
		wake = 1;
		break;
	case VIPL_EVENT_SEND:
	case VIPL_EVENT_RECV:
		vi = vipl_vi_lookup(ev->vi);
		if (!vi || vi->obj.pub.nic != nic)
			break;
		add_source(nic, &vi->obj, &vi->source, ev->kind);
		wake = 1;
		break;
	case VIPL_EVENT_CQ:
		cq = vipl_cq_lookup(ev->cq);
		if (!cq || cq->obj.pub.nic != nic)
			break;
		vipl_cq_tell(cq);
		if (!atomic_load(&cq->notify.armed))
			break;
		add_source(nic, &cq->obj, &cq->source, ev->kind);
		wake = 1;
		break;
	case VIPL_EVENT_CONN:
		vipl_fd_tell(&nic->fd);
		break;
	}
	vipl_unlock(&e->lock);
	if (wake)
		vipl_event_wake(nic);
}

/* The next kind that a source has a flag of; events.lock held. */
static void take_flag(struct vipl_events *e, struct vipl_event *ev)
{
	struct vipl_source *s = vipl_container(e->sources.next,
					       struct vipl_source, link);
	uintptr_t h = atomic_load(&s->obj->pub.handle);

	ev->kind = (enum vipl_event_kind)__builtin_ctz(s->flags);
	if (ev->kind == VIPL_EVENT_CQ)
		ev->cq = (VIP_CQ_HANDLE)h;
	else
		ev->vi = (VIP_VI_HANDLE)h;
	s->flags &= s->flags - 1;
	vipl_list_del(&s->link);
	/* Its other events come after those of the others. */
	if (s->flags)
		vipl_list_add(&s->link, e->sources.prev);
	else
		s->link.next = NULL;
}

static int take_event(struct vipl_events *e, struct vipl_event *ev)
{
	struct vipl_told *t = NULL;
	int got = 1;

	*ev = (struct vipl_event){ .kind = VIPL_EVENT_ERROR };
	vipl_lock(&e->lock);
	if (e->first) {
		t = e->first;
		e->first = t->next;
		if (!e->first)
			e->last = NULL;
		atomic_fetch_sub_explicit(&e->errors, 1,
					  memory_order_relaxed);
	} else if (e->sources.next != &e->sources) {
		take_flag(e, ev);
	} else {
		got = 0;
	}
	vipl_unlock(&e->lock);
	if (t)
		*ev = t->ev;
	free(t);
	return got;
}

int vipl_event_wait(struct vipl_nic *nic, struct vipl_event *ev)
{
	struct vipl_events *e = &nic->events;
	uint32_t seen;

	seen = atomic_load_explicit(&e->word, memory_order_acquire);
	if (take_event(e, ev))
		return 1;
	/* Events from here on change the word. */
	if (!atomic_load(&nic->service.stop))
		syscall(SYS_futex, &e->word, FUTEX_WAIT_PRIVATE, seen, NULL,
			NULL, 0);
	return 0;
}
