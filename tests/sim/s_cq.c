// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Completion queues that are too small for their VIs, resized while they are
 * in use, waited for by several threads and by notices: each completion is
 * announced once, those of a queue in their order, and nothing sleeps on.
 *
 * All VIs are pairs of one process, joined on its own NIC.
 */
#include "prog.h"

#define PAIRS_MAX	3
#define ROUNDS_MAX	12
#define BYTES		64

static struct {
	struct prog_nic nic;
	struct prog_cq cq;
	struct prog_vi vi[2 * PAIRS_MAX];
	u32 pairs, rounds;
	bool taking;			/* a thread takes off the ring */
	bool resizing, stop;
	u32 taken[2 * PAIRS_MAX][2];	/* notices, of each queue */
	u32 total, most;
	char *out, *in;
} w;

static u32 vi_at(u32 id)
{
	u32 i;

	for (i = 0; i < 2 * w.pairs; i++)
		if (w.vi[i].id == id)
			return i;
	sim_expect(false, "a notice of VI %#x", id);
	return 0;
}

/* As libvipl does: one at a time takes a notice and its completion. */
static bool take(void)
{
	struct prog_done d;
	bool recv, got;
	u32 id, i;

	while (w.taking || w.resizing)
		sim_sleep(1000 + sim_dice(4000));
	w.taking = true;
	got = prog_cq_done(&w.cq, &id, &recv);
	if (got) {
		i = vi_at(id);
		sim_expect(prog_done(&w.vi[i], recv, &d),
			   "a notice of VI %u, %s, comes before its completion",
			   i, recv ? "receive" : "send");
		sim_expect(!(d.status & VIA_ST_ERROR_MASK), "status %#x",
			   d.status);
		if (recv)
			sim_expect(prog_filled(w.in + i * BYTES, BYTES, i ^ 1,
					       w.taken[i][1]) ||
				   w.rounds > 1, "");
		w.taken[i][recv]++;
		w.total++;
	}
	w.taking = false;
	return got;
}

static void taker(void *arg)
{
	u32 how = (uintptr_t)arg;
	struct via_wait wait;
	struct via_event ev;
	long ret;

	while (w.total < w.most) {
		if (take())
			continue;
		if (w.total == w.most)
			break;
		switch (how) {
		case 0:
			ret = sim_trap(w.nic.file, VIA_OP_WAIT_CQ, w.cq.id);
			break;
		case 1:
			wait = (struct via_wait){
				.kind = VIA_WAIT_CQ, .id = w.cq.id,
				.seen = w.cq.head, .timeout = VIA_FOREVER,
			};
			ret = sim_ioctl(w.nic.file, VIA_IOC_WAIT, &wait);
			break;
		case 2:
			wait = (struct via_wait){
				.kind = VIA_WAIT_CQ, .id = w.cq.id,
				.seen = w.cq.head,
				.timeout = sim_dice(3 * MS),
			};
			ret = sim_ioctl(w.nic.file, VIA_IOC_WAIT, &wait);
			break;
		default:
			ret = sim_trap(w.nic.file, VIA_OP_NOTIFY_CQ, w.cq.id);
			if (ret)
				break;
			w.nic.file->f_flags = 0;
			ret = sim_read(w.nic.file, &ev, sizeof(ev));
			ret = ret == sizeof(ev) || !ret ? 0 : ret;
			break;
		}
		sim_expect(!ret || ret == -EINTR || ret == -ENODEV ||
			   ret == VIA_R_TIMEOUT, "(%ld)", ret);
		if (ret == -ENODEV)
			break;
	}
	/* The last one: those that sleep have nothing to come. */
	if (!w.stop) {
		w.stop = true;
		sim_ioctl(w.nic.file, VIA_IOC_SHUTDOWN, NULL);
	}
}

static void poster(void *arg)
{
	struct prog_vi *v = arg;
	u32 i = v - w.vi, n;

	for (n = 0; n < w.rounds; n++) {
		/* Its peer has room for all: none is lost. */
		prog_fill(w.out + i * BYTES, BYTES, i, 0);
		prog_post_send(v, w.out + i * BYTES, BYTES);
		if (!sim_dice(4))
			sim_sleep(sim_dice(20000));
	}
}

/* The program keeps its threads from the ring at COMMIT. */
static bool resize(u32 entries)
{
	struct via_cq_resize a = { .cq = w.cq.id, .step = VIA_CQ_PREPARE,
				   .entries = entries };
	long ret = sim_ioctl(w.nic.file, VIA_IOC_CQ_RESIZE, &a);
	void *p;

	if (ret)
		goto out;
	p = sim_mmap(w.nic.file, NULL, a.mmap_offset, a.mmap_size, true);
	sim_expect(!IS_ERR(p) || w.stop || sim_config.fail_alloc, "%ld",
		   PTR_ERR(p));
	a.step = IS_ERR(p) || !sim_dice(5) ? VIA_CQ_ABANDON : VIA_CQ_COMMIT;
	sim_await(!w.taking, 1000);
	w.resizing = true;
	ret = sim_ioctl(w.nic.file, VIA_IOC_CQ_RESIZE, &a);
	if (!ret && a.step == VIA_CQ_COMMIT) {
		w.cq.slots = p;
		w.cq.entries = a.entries;
	}
	w.resizing = false;
out:
	sim_expect(!ret || w.stop || sim_config.fail_alloc, "(%ld)", ret);
	return !ret;
}

static void resizer(void *arg)
{
	u32 n;

	for (n = 1 + sim_dice(4); n-- && !w.stop;) {
		sim_sleep(sim_dice(60000));
		resize(1u << sim_dice(6));
	}
}

static void process(void *arg)
{
	static const char *const names[] = { "cq0", "cq1", "cq2" };
	u32 i, k, n;

	if (prog_open(&w.nic, "via_lo", 64 << 10))
		return;
	prog_buffer(&w.nic, 4096);
	w.out = prog_buffer(&w.nic, 2 * PAIRS_MAX * BYTES);
	w.in = prog_buffer(&w.nic, 2 * PAIRS_MAX * BYTES);
	if (prog_cq(&w.cq, &w.nic, 1u << sim_dice(5)))
		goto out;
	for (i = 0; i < 2 * w.pairs; i++)
		if (prog_vi(&w.vi[i], &w.nic, VIA_RELIABLE_DELIVERY, w.cq.id,
			    w.cq.id))
			goto out;
	for (i = 0; i < 2 * w.pairs; i++)
		for (k = 0; k < w.rounds; k++)
			prog_post_recv(&w.vi[i], w.in + i * BYTES, BYTES);
	for (i = 0; i < 2 * w.pairs; i += 2)
		if (prog_meet(&w.vi[i], &w.vi[i + 1], names[i / 2])) {
			sim_expect(sim_config.fail_alloc, "not connected");
			goto out;
		}
	for (n = 1 + sim_dice(3), i = 0; i < n; i++)
		sim_thread(current->proc, "taker", taker,
			   (void *)(uintptr_t)sim_dice(4));
	for (i = 0; i < 2 * w.pairs; i++)
		sim_thread(current->proc, "poster", poster, &w.vi[i]);
	if (sim_dice(3))
		sim_thread(current->proc, "resizer", resizer, NULL);
	sim_threads_wait(MS);
	/* None is there twice. */
	if (!sim_config.fail_alloc)
		for (i = 0; i < 2 * w.pairs; i++)
			sim_expect(w.taken[i][0] == w.rounds &&
				   w.taken[i][1] == w.rounds,
				   "VI %u: %u and %u notices of %u", i,
				   w.taken[i][0], w.taken[i][1], w.rounds);
out:
	prog_close(&w.nic);
}

static void cq(void)
{
	w.pairs = 1 + sim_dice(PAIRS_MAX);
	w.rounds = 1 + sim_dice(ROUNDS_MAX);
	w.most = 4 * w.pairs * w.rounds;
	host_run(0, "queues", process, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "cq", .run = cq, .runs = 500, .max_vi = 8, .seconds = 60,
	     SIM_STATE(w),
	     .what = "small completion queues, resized, waited for by several")
