// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Very many registered regions, in one process or in several: made, looked up
 * by calls and by messages, and unmade, all in random order.
 */
#include "scale.h"
#include "common/pair.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES	1024u
#define BYTES	(PAGES * 4096u)
#define MSG	64u

struct region_of {
	uint8_t *at;
	VIP_MEM_HANDLE h;
	uint32_t len;
};

static struct {
	struct pair pair;
	uint8_t *mem;
	struct region_of *r;
	uint64_t *times;
	uint64_t dice;
	uint32_t n;
} all;

static void make(uint32_t i)
{
	struct region_of *r = &all.r[i];
	uint64_t start;
	VIP_RETURN rc;

	r->at = all.mem + dice_roll(&all.dice) % (BYTES - 8192);
	r->len = MSG + dice_roll(&all.dice) % 6000;
	start = now_ns();
	rc = VipRegisterMem(all.pair.nic[0].h, r->at, r->len, NULL, &r->h);
	all.times[i] = now_ns() - start;
	if (rc != VIP_SUCCESS)
		die("region %u: %s", i, vip_str(rc));
}

static void unmake(uint32_t i, uint32_t slot)
{
	struct region_of *r = &all.r[i];
	uint64_t start = now_ns();

	if (VipDeregisterMem(all.pair.nic[0].h, r->at, r->h))
		die("region %u does not go", i);
	all.times[slot] = now_ns() - start;
}

/* A message of the region's own bytes: the kernel looks the handle up. */
static void send_from(uint32_t i)
{
	struct chan *a = &all.pair.ch[0], *b = &all.pair.ch[1];
	VIP_DESCRIPTOR *d = chan_next_send(a), *got;
	struct region_of *r = &all.r[i];

	desc_data(d, r->at, MSG, r->h);
	chan_post_send(a);
	got = chan_recv_wait(b, args.limit);
	if (!got || got->CS.Length != MSG ||
	    memcmp(chan_recv_buf(b, got), r->at, MSG))
		die("region %u: its bytes did not arrive", i);
	chan_reap_wait(a);
	chan_post_recv(b);
}

static void look(uint32_t i)
{
	VIP_MEM_ATTRIBUTES a;

	if (VipQueryMem(all.pair.nic[0].h, all.r[i].at, all.r[i].h, &a))
		die("region %u is not found", i);
}

static void shuffle(uint32_t *order)
{
	uint32_t i, j, t;

	for (i = 0; i < all.n; i++)
		order[i] = i;
	for (i = all.n; i > 1; i--) {
		j = dice_roll(&all.dice) % i;
		t = order[i - 1];
		order[i - 1] = order[j];
		order[j] = t;
	}
}

static void exchange(const uint32_t *order)
{
	VIP_MEM_ATTRIBUTES a;
	uint32_t i, n;

	for (i = 0; i < all.n / 2; i++) {
		struct region_of old;

		n = order[i];
		old = all.r[n];
		unmake(n, i);
		if (VipQueryMem(all.pair.nic[0].h, old.at, old.h, &a) !=
		    VIP_INVALID_PARAMETER)
			die("region %u is found though it is gone", n);
		make(n);
		if (all.r[n].h == old.h)
			die("region %u has the handle of a dead one", n);
		look(dice_roll(&all.dice) % all.n);
		if (i % 8 == 0)
			send_from(dice_roll(&all.dice) % all.n);
	}
}

static void standby(void)
{
	VIP_VI_HANDLE vi;
	uint32_t i;

	for (i = 0; i < scale_args.vis; i++)
		if (vi_make(&all.pair.nic[0], 4096, NULL, &vi))
			die("cannot create VI %u", i);
}

struct part {
	uint32_t n;			/* regions */
	uint64_t seed;
	int up;				/* -1: none */
};

/* A byte goes up when the next process may begin. */
static int one_process(void *arg)
{
	struct part *p = arg;
	uint32_t n = p->n, *order = xcalloc(n, sizeof(*order)), i;
	uint32_t hand = n - n / 8;
	struct opts o = { .dev = args.device };
	struct chan_config c = {
		.level = VIP_SERVICE_RELIABLE_DELIVERY, .max_transfer = 4096,
		.tx = 4, .rx = 4, .buf_len = 4096,
	};
	uint64_t start;

	all.n = n;
	all.dice = p->seed;
	all.r = xcalloc(n, sizeof(*all.r));
	all.times = xcalloc(n, sizeof(*all.times));
	all.mem = memory(BYTES);
	for (i = 0; i < BYTES; i++)
		all.mem[i] = i * 7 + (i >> 8);
	pair_init(&all.pair, &o, &c);
	if (p->up >= 0 && write(p->up, "", 1) != 1)
		die("the parent is gone");
	standby();
	for (i = 0; i < n; i++)
		make(i);
	report_times("register", all.times, n, FEW_FIRST);
	shuffle(order);
	exchange(order);
	printf("exchanged %u\n", n / 2);
	shuffle(order);
	/* Most by hand, the others by the end of the handle. */
	for (i = 0; i < hand; i++)
		unmake(order[i], i);
	report_times("deregister", all.times, hand, MANY_FIRST);
	start = now_ns();
	nic_close(&all.pair.nic[0]);
	printf("close_ms %.0f with %u regions\n", ms_since(start), n - hand);
	nic_close(&all.pair.nic[1]);
	return last_word(0);
}

int run_regions(void)
{
	struct part p = { args.count / args.threads, .up = -1 };
	int status, bad = 0, up[2];
	uint32_t i;
	char c;

	p.seed = dice_seed(args.seed, 0);
	if (args.threads == 1)
		return one_process(&p);
	if (pipe(up))
		die("pipe fails");
	p.up = up[1];
	for (i = 0; i < args.threads; i++) {
		p.seed = dice_seed(args.seed, i);
		child_start(one_process, &p);
		/* Both ends are here: it must not meet the next one's. */
		if (read(up[0], &c, 1) != 1)
			die("a process does not begin");
	}
	for (i = 0; i < args.threads; i++) {
		status = child_wait(-1);
		if (!WIFEXITED(status) || WEXITSTATUS(status) & ~GROWS)
			bad = 1;
		else if (!bad)
			bad = WEXITSTATUS(status);
	}
	return bad;
}
