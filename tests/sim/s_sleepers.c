// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Threads asleep on a queue, which a message, their time limit and a signal
 * wake at one moment.  None sleeps on, and each is told what is true.  A thread
 * that is told ends at once.  Or many threads, and one message wakes them all, but
 * not all of them under the queue's lock (SIM_WAKES).
 */
#include "prog.h"

#define ROUNDS	10
#define THREADS	2
#define MANY	100
#define BYTES	16

static struct {
	struct sim_proc *proc;
	struct prog_nic n;
	struct prog_vi v[2];
	u64 about;			/* ns into a round: when it happens */
	u32 seen;			/* of the receive queue */
	u32 asleep;
	bool over, signals, many;
	u32 signalled;
} w;

static bool moved(void)
{
	return smp_load_acquire(&w.v[1].q[1].kern->done) != w.seen;
}

static void sleeper(void *arg)
{
	bool limit = arg, before = false;
	u64 ns = w.about ? w.about + sim_dice(2000) - min(w.about, 1000ull) :
			   1 + sim_dice(2000), from = sim_now();
	struct via_wait a = {
		.kind = VIA_WAIT_RECV, .id = w.v[1].id, .seen = w.seen,
		.timeout = limit ? ns : VIA_FOREVER,
	};
	long ret;

	do {
		/* What has moved before a call is nothing to wait for. */
		before = moved();
		ret = sim_ioctl(w.n.file, VIA_IOC_WAIT, &a);
		sim_expect(ret != -EINTR || READ_ONCE(w.signalled), "");
	} while (ret == -EINTR && !limit);
	sim_expect(ret || moved(), "a queue that is empty has moved");
	sim_expect(!ret || (limit && (ret == VIA_R_TIMEOUT || ret == -EINTR)),
		   "(%ld)", ret);
	sim_expect(ret != VIA_R_TIMEOUT || sim_now() >= from + ns,
		   "the limit of %llu ns is over before it is",
		   (unsigned long long)ns);
	sim_expect(!before || !ret, "(%ld)", ret);
	w.asleep--;
}

static void signals(void *arg)
{
	u32 was;

	while (!READ_ONCE(w.over)) {
		was = w.v[0].sent;
		sim_await(READ_ONCE(w.v[0].sent) != was || READ_ONCE(w.over),
			  500);
		sim_pause(1 + w.about);
		if (READ_ONCE(w.over))
			break;
		w.signalled = true;
		smp_mb();
		sim_signal(w.proc);
	}
	WRITE_ONCE(w.signals, false);
}

static void round_of(u32 threads)
{
	struct prog_done d;
	u32 i;

	w.seen = w.v[1].q[1].collected;
	w.about = sim_dice(2) ? sim_dice(3000) : 0;
	prog_post_recv(&w.v[1], w.n.mem, BYTES);
	for (i = 0; i < threads; i++) {
		w.asleep++;
		sim_thread(w.proc, "sleeper", sleeper,
			   (void *)(uintptr_t)(!w.many && sim_dice(2)));
	}
	w.v[0].sent++;
	/* All of them are asleep, or some of them. */
	if (w.many)
		sim_sleep(sim_dice(MS));
	else if (w.about)
		sim_sleep(w.about);
	prog_post_send(&w.v[0], w.n.mem + 64, BYTES);
	sim_await(!READ_ONCE(w.asleep), 1000);
	sim_ok(prog_wait(&w.v[0], false, SEC, &d));
	sim_ok(prog_wait(&w.v[1], true, SEC, &d));
}

static void process(void *arg)
{
	u32 i;

	if (prog_open(&w.n, arg, 8192))
		goto out;
	for (i = 0; i < 2; i++)
		if (prog_vi(&w.v[i], &w.n, VIA_RELIABLE_DELIVERY, 0, 0))
			goto close;
	if (prog_request_start(&w.v[0], w.n.hello.addr, "sleep", SEC, true) ||
	    prog_p2p(&w.v[1], w.n.hello.addr, "sleep", SEC) ||
	    prog_result(&w.v[0], VIA_CONN_PEER))
		goto close;
	for (i = 0; i < ROUNDS && !w.many; i++)
		round_of(1 + sim_dice(THREADS));
	if (w.many)
		round_of(MANY);
close:
	prog_close(&w.n);
out:
	WRITE_ONCE(w.over, true);
	/* A signal finds the process. */
	sim_await(!READ_ONCE(w.signals), 1000);
}

static void sleepers(void)
{
	w.many = !sim_dice(10);
	w.signals = !w.many && sim_dice(2);
	w.proc = host_run(0, "sleepers", process, "via_lo");
	if (w.signals)
		sim_kthread("signals", signals, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "sleepers", .run = sleepers, .runs = 300, .max_vi = 4,
	     .seconds = 20, SIM_STATE(w),
	     .what = "messages, limits and signals wake threads at one moment")
