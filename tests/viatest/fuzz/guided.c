// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Guided by coverage (KCOV, the debug kernel): a program is a short list of
 * calls, each the number of its kind and the seed of its arguments.  Those
 * that went where none had been before are kept, for all processes, and
 * changed a little for the next.
 */
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "calls.h"
#include "common/memory.h"

#define LENGTH		12u		/* calls of a program, at most */
#define KEPT		4096u
#define BITS		(1u << 18)	/* of each map */
#define TRACE		(64u << 10)	/* words */

struct program {
	uint32_t length;
	uint32_t kind[LENGTH];
	uint64_t seed[LENGTH];
};

/* Shared; a race on the maps or on a kept program costs a little guidance. */
struct coverage {
	uint32_t kept;			/* runs freely */
	uint32_t pcs, edges;
	uint64_t programs;
	uint8_t pc[BITS / 8], edge[BITS / 8];
	struct program corpus[KEPT];
};

struct coverage *coverage_new(void)
{
	return memory_shared(sizeof(struct coverage));
}

void coverage_print(const struct coverage *c)
{
	printf("viatest fuzz: %llu programs, %u kept, %u places and %u edges of the modules reached\n",
	       (unsigned long long)c->programs, c->kept, c->pcs, c->edges);
}

static int mark(uint8_t *map, uint64_t key)
{
	uint32_t bit = (key * 0x9e3779b97f4a7c15ull) >> 46;

	if (map[bit / 8] & 1u << bit % 8)
		return 0;
	__atomic_fetch_or(&map[bit / 8], 1u << bit % 8, __ATOMIC_RELAXED);
	return 1;
}

/* How many edges of this trace are new. */
static uint32_t novel(struct coverage *c, const uint64_t *trace)
{
	uint64_t n = __atomic_load_n(&trace[0], __ATOMIC_RELAXED), last = 0, i;
	uint32_t edges = 0, pcs = 0;

	for (i = 1; i <= n && i < TRACE; i++) {
		pcs += mark(c->pc, trace[i]);
		edges += mark(c->edge, trace[i] ^ last << 21);
		last = trace[i];
	}
	if (edges) {
		__atomic_add_fetch(&c->pcs, pcs, __ATOMIC_RELAXED);
		__atomic_add_fetch(&c->edges, edges, __ATOMIC_RELAXED);
	}
	return edges;
}

static void random_call(struct rng *r, struct program *p, uint32_t i)
{
	p->kind[i] = rng_below(r, call_kinds());
	p->seed[i] = rng_next(r);
}

static void mutate(struct rng *r, const struct coverage *c, struct program *p)
{
	const struct program *other;
	uint32_t i, n = c->kept < KEPT ? c->kept : KEPT;

	if (!n || rng_one_in(r, 8)) {
		p->length = 1 + rng_below(r, LENGTH);
		for (i = 0; i < p->length; i++)
			random_call(r, p, i);
		return;
	}
	*p = c->corpus[rng_below(r, n)];
	/* Another process may be writing it. */
	p->length = 1 + (p->length - 1) % LENGTH;
	for (i = 0; i < p->length; i++)
		p->kind[i] %= call_kinds();
	do {
		i = rng_below(r, p->length);
		switch (rng_below(r, 4)) {
		case 0:
			p->seed[i] = rng_next(r);
			break;
		case 1:
			random_call(r, p, i);
			break;
		case 2:
			if (p->length < LENGTH)
				random_call(r, p, p->length++);
			break;
		default:
			other = &c->corpus[rng_below(r, n)];
			p->kind[i] = other->kind[0] % call_kinds();
			p->seed[i] = other->seed[0];
		}
	} while (!rng_one_in(r, 3));
}

static uint64_t *kcov_open(int *fd)
{
	uint64_t *trace;

	*fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (*fd < 0 || ioctl(*fd, KCOV_INIT_TRACE, TRACE)) {
		perror("viatest fuzz: /sys/kernel/debug/kcov");
		_exit(2);
	}
	trace = mmap(NULL, TRACE * sizeof(*trace), PROT_READ | PROT_WRITE,
		     MAP_SHARED, *fd, 0);
	if (trace == MAP_FAILED || ioctl(*fd, KCOV_ENABLE, KCOV_TRACE_PC)) {
		perror("viatest fuzz: KCOV");
		_exit(2);
	}
	return trace;
}

void guided_thread(struct rng *r, int (*over)(void))
{
	struct coverage *c = self.score->coverage;
	struct program p = { 0 };
	struct rng call;
	uint64_t *trace;
	uint32_t i;
	int fd;

	trace = kcov_open(&fd);
	while (!over()) {
		mutate(r, c, &p);
		__atomic_store_n(&trace[0], 0, __ATOMIC_RELAXED);
		call_file(p.seed[0]);
		for (i = 0; i < p.length; i++) {
			call.s = p.seed[i];
			call_kind(p.kind[i], &call);
		}
		if (novel(c, trace)) {
			i = __atomic_fetch_add(&c->kept, 1, __ATOMIC_RELAXED);
			c->corpus[i % KEPT] = p;
		}
		__atomic_add_fetch(&c->programs, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&self.score->ops, p.length,
				   __ATOMIC_RELAXED);
		__atomic_sub_fetch(&self.ops_left, p.length, __ATOMIC_RELAXED);
	}
	ioctl(fd, KCOV_DISABLE, 0);
	close(fd);
}
