// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A node of libviadsm that runs a random program, each read of which is held
 * against the model of release consistency in tests/dsm. The library is as it
 * is, but for what guards memory: an access looks at its page's view, and calls
 * what the handler of a fault calls. An access and its line of the model are one
 * step, in which no other context runs.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <viadsm.h>

#include "../../../dsm/boot.h"
#include "../../../dsm/fault.h"
#include "../../../dsm/page.h"
#include "../../dsm/model.h"
#include "programs.h"

#define ONE_STEP	__attribute__((__no_sanitize__("coverage"), __noinline__))
#define THREADS_MOST	2

void sim_fail(const char *fmt, ...)
	__attribute__((__noreturn__, __format__(printf, 1, 2)));

struct thread {
	unsigned int number;
	uint64_t random;
	bool held[MODEL_LOCKS];
};

static const struct shared *mine;
static uint8_t view[SHARED_PAGES];
static uint8_t *place[MODEL_PLACES];

/* In the stead of boot.c, view.c and fault.c. */

void boot_read(struct run_config *c)
{
	memset(c, 0, sizeof(*c));
	c->size = SHARED_NODES;
	c->here = SHARED_NODES;
	c->me = mine->rank;
	c->memory = SHARED_PAGES * DSM_PAGE;
	c->by_read = mine->by_read;
	c->spin = mine->spin;
	c->stats_fd = -1;
	c->place.device = mine->device;
	strcpy(c->place.job, "shared");
	memcpy(c->place.host, mine->host, sizeof(mine->host));
}

void view_open(struct view *v, size_t bytes, enum view_method method)
{
	v->bytes = bytes;
	v->all = bytes + DSM_PAGE;
	v->method = method;
	v->memory = mmap(NULL, v->all, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	v->program = v->memory;
}

void view_close(struct view *v)
{
	munmap(v->memory, v->all);
}

ONE_STEP void view_protect(const struct view *v, uint32_t first, uint32_t count,
			   enum page_view to)
{
	(void)v;
	memset(view + first, to, count);
}

void fault_install(void)
{
}

void fault_remove(void)
{
}

static bool try_page(struct node *n, void *argument)
{
	return page_open_for(n, argument);
}

void fault_page(uint32_t page, bool write, bool may_serve)
{
	struct page_access a = { .page = page, .write = write };

	run_until(try_page, &a, may_serve);
}

/* The program */

static unsigned int draw(struct thread *t, unsigned int below)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (t->random >> 16) % below;
}

/* False: the view refuses the access. */
ONE_STEP static bool try_access(struct thread *t, unsigned int at, bool write)
{
	uint8_t *byte = place[at], value;

	if (view[view_page(&this_node.view, byte)] <
	    (write ? VIEW_WRITE : VIEW_READ))
		return false;
	if (write) {
		value = model_write(mine->model, t->number, at);
		if (value)
			*byte = value;
		return true;
	}
	++*mine->reads;
	if (!model_may_read(mine->model, t->number, at, *byte))
		sim_fail("node %u thread %u reads %u at %u, what it may not",
			 mine->rank, t->number, *byte, at);
	return true;
}

static void access_place(struct thread *t, unsigned int at, bool write)
{
	while (!try_access(t, at, write))
		fault_page(view_page(&this_node.view, place[at]), write, true);
}

/* The model releases first: the next holder may come before the call ends. */
ONE_STEP static void note_release(struct thread *t, unsigned int lock)
{
	model_release(mine->model, t->number, lock);
	t->held[lock] = false;
}

static void release(struct thread *t, unsigned int lock)
{
	note_release(t, lock);
	dsm_release(lock);
}

ONE_STEP static void note_acquire(struct thread *t, unsigned int lock)
{
	if (!model_acquire(mine->model, t->number, lock))
		sim_fail("two threads hold lock %u", lock);
	t->held[lock] = true;
}

/* Locks are taken in ascending order. */
static void acquire(struct thread *t, unsigned int lock)
{
	for (unsigned int l = lock; l < MODEL_LOCKS; l++)
		if (t->held[l])
			return;
	dsm_acquire(lock);
	note_acquire(t, lock);
}

ONE_STEP static void note_time(uint64_t start)
{
	uint64_t took = run_now() - start;

	if (*mine->longest < took)
		*mine->longest = took;
}

static void act(struct thread *t)
{
	uint64_t start = run_now();
	unsigned int at = draw(t, MODEL_PLACES), lock = draw(t, MODEL_LOCKS);
	unsigned int way = draw(t, 10);

	if (way < 2)
		acquire(t, lock);
	else if (way == 2 && t->held[lock])
		release(t, lock);
	else if (!mine->locked || t->held[at % MODEL_LOCKS])
		access_place(t, at, way < 6);
	note_time(start);
}

ONE_STEP static void note_barrier(struct thread *t, unsigned int number, bool left)
{
	if (!left) {
		model_come(mine->model, t->number, number);
		++*mine->came;
		return;
	}
	if (*mine->came < (number + 1) * SHARED_NODES)
		sim_fail("barrier %u was left before all had come", number);
	model_leave(mine->model, t->number, number);
}

/* The first thread of a node comes to barriers. */
static void *thread_main(void *arg)
{
	struct thread *t = arg;

	for (unsigned int phase = 0; phase < mine->phases; phase++) {
		for (unsigned int i = 0; i < mine->acts; i++)
			act(t);
		for (unsigned int l = 0; l < MODEL_LOCKS; l++)
			if (t->held[l])
				release(t, l);
		if (t->number % mine->threads)
			continue;
		note_barrier(t, phase, false);
		dsm_barrier();
		note_barrier(t, phase, true);
	}
	return NULL;
}

ONE_STEP static void count(unsigned int *nodes)
{
	++*nodes;
}

void *shared_main(void *shared)
{
	struct thread thread[THREADS_MOST] = { 0 };
	pthread_t other[THREADS_MOST];
	uint8_t *memory;

	mine = shared;
	dsm_init();
	count(mine->begun);
	memory = dsm_malloc(SHARED_PAGES * DSM_PAGE);
	for (unsigned int i = 0; i < MODEL_PLACES; i++)
		place[i] = memory + mine->place[i];
	dsm_barrier();
	for (unsigned int i = 0; i < mine->threads; i++) {
		thread[i].number = mine->rank * mine->threads + i;
		thread[i].random = mine->random[i];
		if (i && pthread_create(&other[i], NULL, thread_main, &thread[i]))
			sim_fail("no thread of the program");
	}
	thread_main(&thread[0]);
	for (unsigned int i = 1; i < mine->threads; i++)
		pthread_join(other[i], NULL);
	dsm_exit();
	count(mine->ended);
	return NULL;
}
