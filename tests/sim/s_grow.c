// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Rings that become longer while descriptors are in flight in both queues: no slot and
 * no completion is lost or comes out of order, also where growing fails.  And a program
 * that writes anything into the area meanwhile.
 */
#include "prog.h"

#define BYTES	64
#define TURNS	40

static struct {
	struct prog_nic nic[2];
	struct prog_cq cq[2];
	struct prog_vi vi[2];		/* one sends, the other receives */
	bool busy[2];			/* a thread has that queue */
	u32 total, posted[2], taken[2];
	bool quota, end;
	bool gone[2];			/* destroyed: no page comes any more */
	u32 threads;
	char *data[2];
} w;

static struct prog_queue *queue_of(u32 k)
{
	return &w.vi[k].q[k];
}

static void take_queue(u32 k)
{
	while (w.busy[k])
		sim_sleep(500 + sim_dice(1000));
	w.busy[k] = true;
}

static u32 room(u32 k)
{
	struct prog_queue *q = queue_of(k);

	return q->mask + 1 - (q->tail - q->collected);
}

static void grow(u32 k, u32 entries)
{
	u32 old = queue_of(k)->mask;
	long ret = prog_grow(&w.vi[k], k, entries);

	sim_expect(!ret || (ret == VIA_R_ERROR_RESOURCE &&
			    (w.quota || sim_config.fail_alloc)), "(%ld)", ret);
	sim_expect(!ret || queue_of(k)->mask == old, "");
}

/* Some of them at once, and the ring grows before the kernel is told. */
static void post(u32 k, u32 n)
{
	struct prog_vi *v = &w.vi[k];

	v->hold = true;
	while (n--) {
		v->immediate = w.posted[k] + 1;
		prog_post(v, k, k ? 0 : VIA_CTL_IMMEDIATE, w.data[k], BYTES,
			  w.nic[k].handle, 0, 0);
		w.posted[k]++;
		if (!sim_dice(30))
			grow(k, 1 + sim_dice(sim_dice(2) ? 100 : 1024));
	}
	v->hold = false;
	prog_ring(v, k);
}

static void poster(void *arg)
{
	u32 k = (uintptr_t)arg, most;

	while (w.posted[k] < w.total && !w.end) {
		take_queue(k);
		most = w.total - w.posted[k];
		/* As many as the other end has room for. */
		if (!k)
			most = min(most, w.posted[1] - w.posted[0]);
		if (most && !room(k))
			grow(k, queue_of(k)->mask + 2);
		most = min(most, room(k));
		if (most)
			post(k, 1 + sim_dice(most));
		w.busy[k] = false;
		sim_sleep(sim_dice(30000));
	}
	w.threads--;
}

/* The next completion of a queue is that of its next descriptor. */
static bool collect(u32 k)
{
	struct prog_vi *v = &w.vi[k];
	struct prog_done d;
	char *desc;

	take_queue(k);
	desc = w.nic[k].mem + (queue_of(k)->collected % PROG_DESCS) * 64;
	if (!prog_done(v, k, &d)) {
		w.busy[k] = false;
		return false;
	}
	w.busy[k] = false;
	sim_expect(!(d.status & VIA_ST_ERROR_MASK), "status %#x", d.status);
	sim_expect(d.desc == desc, "queue %u: another descriptor", k);
	w.taken[k]++;
	sim_expect(d.length == BYTES, "%u bytes", d.length);
	sim_expect(!k || d.immediate == w.taken[1], "message %u is %u",
		   w.taken[1], d.immediate);
	return true;
}

static void collector(void *arg)
{
	bool recv, got;
	u32 id, k;

	while (w.taken[0] < w.total || w.taken[1] < w.total) {
		k = sim_dice(2);
		if (w.cq[k].id) {
			got = prog_cq_done(&w.cq[k], &id, &recv);
			sim_expect(!got || (recv == k && collect(k)),
				   "a notice comes before its completion");
		} else {
			got = collect(k);
		}
		if (!got)
			sim_sleep(1000 + sim_dice(20000));
	}
	w.threads--;
}

static void start(const char *name, void (*fn)(void *arg), u32 arg)
{
	w.threads++;
	sim_thread(current->proc, name, fn, (void *)(uintptr_t)arg);
}

static bool ready_end(u32 k)
{
	struct prog_nic *n = &w.nic[k];

	if (prog_open(n, host_node(k), 64 << 10))
		return false;
	prog_buffer(n, PROG_DESCS * 64);
	w.data[k] = prog_buffer(n, BYTES);
	if (sim_dice(2) && prog_cq(&w.cq[k], n, 1u << sim_dice(5)))
		return false;
	return !prog_vi_few(&w.vi[k], n, VIA_RELIABLE_DELIVERY, w.cq[k].id,
			    w.cq[k].id);
}

static bool ready(void)
{
	return ready_end(0) && ready_end(1) &&
	       !prog_meet(&w.vi[0], &w.vi[1], "grow");
}

static void close_ends(void)
{
	u32 k;

	for (k = 0; k < 2; k++)
		if (w.nic[k].file)
			prog_close(&w.nic[k]);
}

static void process(void *arg)
{
	if (!ready()) {
		sim_expect(sim_config.fail_alloc, "not connected");
		goto out;
	}
	start("sends", poster, 0);
	start("receives", poster, 1);
	start("collector", collector, 0);
	sim_await(!w.threads, MS);
out:
	close_ends();
}

static void run(void (*fn)(void *arg))
{
	if (!hosts_up(sim_dice(2) ? 2 : 0))
		goto out;
	w.total = 1 + sim_dice(200);
	w.quota = !sim_dice(3);
	if (w.quota)
		sim_limit("vi_pages", 1 + sim_dice(8));
	host_run(0, "grow", fn, NULL);
out:
	hosts_down();
}

static void grows(void)
{
	run(process);
}

/* A hostile program */

static void scribble(struct prog_vi *v, bool recv)
{
	struct prog_queue *q = &v->q[recv];
	u32 i = sim_dice(q->mask + 1);

	switch (sim_dice(w.gone[v - w.vi] ? 4 : 7)) {
	case 0:
		WRITE_ONCE(q->prog->tail, q->kern->done + sim_dice(2000));
		break;
	case 1:
		WRITE_ONCE(q->prog->tail, sim_dice(~0u));
		break;
	case 2:
		WRITE_ONCE(q->prog->collected, sim_dice(~0u));
		break;
	case 3:
		WRITE_ONCE(v->shared->entries, sim_dice(~0u));
		WRITE_ONCE(q->kern->done, sim_dice(~0u));
		break;
	case 4:
		WRITE_ONCE(q->comp[i].cq_seq, sim_dice(~0u));
		break;
	case 5:
		WRITE_ONCE(q->slots[i].control, sim_dice(0x10000));
		WRITE_ONCE(q->slots[i].seg_count, sim_dice(4));
		break;
	default:
		sim_trap(v->nic->file, recv ? VIA_OP_RECV : VIA_OP_SEND,
			 v->id);
	}
}

static void map_again(struct prog_vi *v)
{
	void *p = sim_mmap(v->nic->file, NULL, v->map_at, v->map_size, true);

	if (!IS_ERR(p) && sim_dice(2))
		sim_munmap(p);
}

static void hostile(void *arg)
{
	u32 i, turn;

	for (turn = 0; turn < TURNS && !w.end; turn++) {
		i = sim_dice(2);
		switch (sim_dice(12)) {
		case 0:
			prog_grow(&w.vi[i], sim_dice(2), sim_dice(1025));
			break;
		case 1:
			map_again(&w.vi[i]);
			break;
		case 2:
			if (w.cq[i].id)
				sim_trap(w.nic[i].file, VIA_OP_CQ, w.cq[i].id);
			break;
		case 3:
			if (sim_dice(10))
				break;
			w.gone[i] = true;
			sim_ioctl(w.nic[i].file, VIA_IOC_VI_DESTROY,
				  &(struct via_vi_arg){ .vi = w.vi[i].id });
			break;
		case 4:
			if (!sim_dice(10))
				prog_disconnect(&w.vi[i]);
			break;
		default:
			scribble(&w.vi[i], sim_dice(2));
		}
	}
	w.threads--;
}

static void hostile_process(void *arg)
{
	u32 i;

	if (ready())
		for (i = 0; i < 3; i++)
			start("hostile", hostile, 0);
	while (w.threads) {
		sim_sleep(MS);
		w.end |= !sim_dice(20);
	}
	close_ends();
}

static void scribbles(void)
{
	run(hostile_process);
}

SIM_SCENARIO(.name = "grow", .run = grows, .runs = 200, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "rings that become longer with descriptors in flight")
SIM_SCENARIO(.name = "grow-hostile", .run = scribbles, .runs = 200, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a program writes anything while its rings become longer")
