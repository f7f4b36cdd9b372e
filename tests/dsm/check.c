// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * dsmcheck: random programs on 2 to 8 nodes of the protocol of dsm/, with one
 * or two threads each, against the model of release consistency; and who owns
 * the NIC of a node (progress.c).
 *
 *	dsmcheck [-n RUNS] [-s FIRST] [-t SECONDS] [-v]
 *
 * -v prints what each thread does. A run depends on its seed alone.
 */
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../dsm/barrier.h"
#include "../../dsm/diff.h"
#include "../../dsm/lock.h"
#include "../../dsm/page.h"
#include "model.h"
#include "progress.h"
#include "sim.h"

#define STEPS_MOST	100000	/* of a run: the longest of 5,000 has 32,781 */

enum act { NOTHING, READ, WRITE, ACQUIRE, RELEASE, BARRIER, END };
/* Any place at any time; places behind locks; places that threads own in turn. */
enum style { RACES, LOCKED, OWNED, STYLES };

struct thread {
	unsigned int number, node;
	enum act act;
	unsigned int place, lock;	/* of the act */
	int step;
	uint64_t seen;			/* events as the act had to wait */
	bool waits;
	unsigned int left;		/* acts of this phase */
	unsigned int phase;
	bool held[MODEL_LOCKS];
};

struct run {
	struct sim *sim;
	struct model *model;
	enum style style;
	unsigned int threads, per_node, phases, acts;
	unsigned int came[64], reads, barriers;
	uint32_t at[MODEL_PLACES];	/* address of a place */
	struct thread thread[MODEL_THREADS];
	bool verbose, trims;
	const char *wrong;
};

static void say(const struct run *r, const struct thread *t, const char *what,
		unsigned int number, unsigned int value)
{
	if (r->verbose)
		printf("node %u thread %u: %s %u: %u\n", t->node, t->number,
		       what, number, value);
}

static int any_held(const struct thread *t)
{
	for (int l = 0; l < MODEL_LOCKS; l++)
		if (t->held[l])
			return l;
	return -1;
}

/* Locks are taken in ascending order. */
static bool may_take(const struct thread *t, unsigned int lock)
{
	for (unsigned int l = lock; l < MODEL_LOCKS; l++)
		if (t->held[l])
			return false;
	return true;
}

static bool may_access(const struct run *r, const struct thread *t,
		       unsigned int place, bool write)
{
	switch (r->style) {
	case LOCKED:
		return t->held[place % MODEL_LOCKS];
	case OWNED:	/* one node writes in even phases, all read in odd ones */
		return t->phase % 2 ? !write :
		       t->number % r->per_node == 0 &&
		       (place + t->phase / 2) % r->sim->size == t->node;
	default:
		return true;
	}
}

/* The first thread of a node comes to barriers, with no lock; the others do
 * what they do in their own time.
 */
static void choose(struct run *r, struct thread *t)
{
	int held = any_held(t);
	unsigned int way = sim_draw(r->sim, 10);

	t->step = 0;
	t->act = NOTHING;
	if (!t->left && held >= 0) {
		t->act = RELEASE;
		t->lock = held;
		return;
	}
	if (!t->left) {
		t->act = ++t->phase > r->phases ? END :
			 t->number % r->per_node ? NOTHING : BARRIER;
		t->left = r->acts;
		return;
	}
	t->left--;
	t->place = sim_draw(r->sim, MODEL_PLACES);
	t->lock = sim_draw(r->sim, MODEL_LOCKS);
	if (way < 2 && may_take(t, t->lock))
		t->act = ACQUIRE;
	else if (way == 2 && t->held[t->lock])
		t->act = RELEASE;
	else if (may_access(r, t, t->place, way < 6))
		t->act = way < 6 ? WRITE : READ;
}

static bool reach(struct run *r, struct thread *t, bool write)
{
	struct sim_node *n = r->sim->at[t->node];
	uint32_t page = r->at[t->place] / SIM_PAGE;
	enum page_view need = write ? VIEW_WRITE : VIEW_READ;

	if (n->view[page] >= need)
		return true;
	return page_fault(&n->node, page, write) && n->view[page] >= need;
}

static bool access_place(struct run *r, struct thread *t)
{
	uint8_t *byte = r->sim->at[t->node]->mem + r->at[t->place];
	uint8_t value;

	if (!reach(r, t, t->act == WRITE))
		return false;
	if (t->act == READ) {
		say(r, t, "reads", t->place, *byte);
		r->reads++;
		if (!model_may_read(r->model, t->number, t->place, *byte))
			r->wrong = "a read returned what it may not";
		return true;
	}
	value = model_write(r->model, t->number, t->place);
	if (value)
		*byte = value;
	say(r, t, "writes", t->place, value);
	return true;
}

static bool acquire(struct run *r, struct thread *t)
{
	struct node *n = &r->sim->at[t->node]->node;

	if (!t->step) {
		lock_want(n, t->lock);
		t->step = 1;
	}
	if (!lock_try(n, t->lock))
		return false;
	say(r, t, "has lock", t->lock, 0);
	if (!model_acquire(r->model, t->number, t->lock))
		r->wrong = "two threads hold a lock";
	t->held[t->lock] = true;
	return true;
}

/* The model releases first: the next holder may come before this call ends. */
static bool release(struct run *r, struct thread *t)
{
	struct node *n = &r->sim->at[t->node]->node;

	if (t->held[t->lock]) {
		say(r, t, "releases", t->lock, 0);
		model_release(r->model, t->number, t->lock);
		t->held[t->lock] = false;
	}
	return lock_release(n, t->lock, &t->step);
}

static bool barrier(struct run *r, struct thread *t)
{
	unsigned int number = t->phase;

	if (!t->waits) {
		say(r, t, "comes to barrier", number, 0);
		model_come(r->model, t->number, number);
		r->came[number]++;
	}
	if (!barrier_try(&r->sim->at[t->node]->node, &t->step))
		return false;
	say(r, t, "leaves barrier", number, 0);
	if (r->came[number] != r->sim->size)
		r->wrong = "a barrier was left before all had come";
	model_leave(r->model, t->number, number);
	r->barriers++;
	return true;
}

static bool act(struct run *r, struct thread *t)
{
	switch (t->act) {
	case READ:
	case WRITE:
		return access_place(r, t);
	case ACQUIRE:
		return acquire(r, t);
	case RELEASE:
		return release(r, t);
	case BARRIER:
		return barrier(r, t);
	default:
		return true;
	}
}

/* False: the thread waits, or has ended. */
static bool step(struct run *r, struct thread *t)
{
	struct node *n = &r->sim->at[t->node]->node;

	if (t->act == END || (t->waits && t->seen == n->events))
		return false;
	if (!t->waits)
		choose(r, t);
	if (r->trims)
		n->trim_at = n->tell_at = 0;
	t->seen = n->events;
	t->waits = !act(r, t);
	return true;
}

static bool step_any(struct run *r)
{
	unsigned int from = sim_draw(r->sim, r->threads);

	for (unsigned int i = 0; i < r->threads; i++)
		if (step(r, &r->thread[(from + i) % r->threads]))
			return true;
	return false;
}

static void begin(struct run *r, uint64_t seed)
{
	struct sim *first = sim_new(seed, 2, false), *s;

	r->sim = s = sim_new(seed, 2 + sim_draw(first, 7), sim_draw(first, 2));
	sim_free(first);
	r->model = calloc(1, sizeof(*r->model));
	r->style = sim_draw(s, STYLES);
	r->per_node = 1 + sim_draw(s, 2);
	r->threads = r->per_node * s->size;
	r->phases = 2 + sim_draw(s, 8);
	r->acts = 5 + sim_draw(s, 40);
	r->trims = sim_draw(s, 2);
	for (int i = 0; i < MODEL_PLACES; i++)
		r->at[i] = i * (SIM_PAGES * SIM_PAGE / MODEL_PLACES) +
			   sim_draw(s, SIM_PAGES * SIM_PAGE / MODEL_PLACES);
	for (unsigned int i = 0; i < r->threads; i++) {
		r->thread[i].number = i;
		r->thread[i].node = i / r->per_node;
		r->thread[i].left = r->acts;
	}
}

/* Messages are slow in some runs, and quick in others. */
static const char *run(struct run *r, uint64_t seed)
{
	unsigned int quick, steps = 0;
	bool moved;

	begin(r, seed);
	quick = 1 + sim_draw(r->sim, 9);
	do {
		if (sim_draw(r->sim, 10) < quick)
			moved = sim_deliver(r->sim) || step_any(r);
		else
			moved = step_any(r) || sim_deliver(r->sim);
		if (!r->wrong)
			r->wrong = r->sim->wrong;
		if (!r->wrong && !sim_views_fit(r->sim))
			r->wrong = "a page's view is not that of its state";
		if (++steps == STEPS_MOST && !r->wrong)
			r->wrong = "a run does not end";
	} while (moved && !r->wrong);
	for (unsigned int i = 0; i < r->threads && !r->wrong; i++)
		if (r->thread[i].act != END)
			r->wrong = "a thread waits for ever";
	sim_free(r->sim);
	free(r->model);
	return r->wrong;
}

/* False: a call waits, and nothing is on the way. */
static bool turn(struct sim *s, unsigned int who)
{
	struct node *n = &s->at[who]->node;
	int step = 0;

	lock_want(n, 0);
	while (!lock_try(n, 0))
		if (!sim_deliver(s))
			return false;
	for (uint32_t page = 0; page < SIM_PAGES; page++) {
		while (!page_fault(n, page, true))
			if (!sim_deliver(s))
				return false;
		s->at[who]->mem[page * SIM_PAGE]++;
	}
	while (!lock_release(n, 0, &step))
		if (!sim_deliver(s))
			return false;
	while (sim_deliver(s))
		;
	return true;
}

/* Two nodes take turns beside one that never synchronises: logs stay short. */
static const char *beside_idle(void)
{
	enum { TURNS = 4000, LIMIT = 500 };
	struct sim *s = sim_new(1, 3, false);
	size_t most = 0, words;
	bool goes = true;

	for (int i = 0; i < TURNS && goes && !s->wrong; i++) {
		for (int k = 0; k < 3; k++) {
			s->at[k]->node.tell_at = LIMIT;
			if (s->at[k]->node.trim_at > LIMIT)
				s->at[k]->node.trim_at = LIMIT;
			words = 0;
			for (int j = 0; j < 3; j++)
				words += s->at[k]->node.log[j].len;
			if (words > most)
				most = words;
		}
		goes = turn(s, i % 2);
	}
	sim_free(s);
	if (!goes)
		return "a thread waits for ever beside an idle node";
	return most > 4 * LIMIT ? "a log grows beside an idle node" : NULL;
}

/* Differences of a page of real size: runs of all lengths, far and near. */
static const char *differences(uint64_t seed)
{
	static uint8_t mem[DSM_PAGE], twin[DSM_PAGE], copy[DSM_PAGE];
	static uint8_t runs[2 * DSM_PAGE];
	struct sim s = { .random = seed * 0x9E3779B97F4A7C15 + 1 };
	uint32_t near = 1 + sim_draw(&s, 600), most = 1 + sim_draw(&s, 600);
	uint64_t changed = 0, differ = 0;
	size_t at, len;

	for (at = 0; at < DSM_PAGE; at++)
		twin[at] = mem[at] = copy[at] = sim_draw(&s, 256);
	for (at = sim_draw(&s, near); at < DSM_PAGE; at += sim_draw(&s, near))
		for (len = 1 + sim_draw(&s, most); len && at < DSM_PAGE; len--)
			mem[at++] = sim_draw(&s, 256);
	for (at = 0; at < DSM_PAGE; at++)
		differ += mem[at] != twin[at];
	len = diff_make(mem, twin, DSM_PAGE, runs, &changed);
	if (len > diff_most(DSM_PAGE) || changed != differ)
		return "differences are too long, or not counted";
	if (!diff_apply(copy, DSM_PAGE, runs, len) ||
	    memcmp(copy, mem, DSM_PAGE))
		return "differences do not make the page";
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long runs = 3000, first = 1, i, reads = 0, barriers = 0;
	time_t end = 0;
	struct run r;
	bool verbose = false;
	const char *idle;
	int c;

	while ((c = getopt(argc, argv, "n:s:t:v")) != -1) {
		switch (c) {
		case 'n': runs = strtoul(optarg, NULL, 0); break;
		case 's': first = strtoul(optarg, NULL, 0); break;
		case 't': end = time(NULL) + atoi(optarg); break;
		case 'v': verbose = true; break;
		default: return 2;
		}
	}
	/* Nodes come and go: their memory stays, else half of a run is the kernel's. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	for (i = first; i < first + runs && (!end || time(NULL) < end); i++) {
		memset(&r, 0, sizeof(r));
		r.verbose = verbose;
		if (run(&r, i)) {
			printf("seed %lu: %s\nagain: dsmcheck -n 1 -v -s %lu\n",
			       i, r.wrong, i);
			return 1;
		}
		idle = progress(i);
		if (!idle)
			idle = differences(i);
		if (idle) {
			printf("seed %lu: %s\n", i, idle);
			return 1;
		}
		reads += r.reads;
		barriers += r.barriers;
	}
	idle = beside_idle();
	if (idle) {
		printf("seed 0: %s\n", idle);
		return 1;
	}
	printf("%lu runs from seed %lu: %lu reads, %lu barriers passed: as the model says\n",
	       i - first, first, reads, barriers);
	return 0;
}
