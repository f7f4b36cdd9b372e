// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A VI ends, alone or with its handle, beside one or two calls on it: nothing
 * of it is used any more, a sleeper is told that it is gone, and its events
 * have gone with it.  Nothing is posted but what the end itself flushes.
 */
#include "prog.h"

#define CALLERS	2
#define CALLS	40

enum call { MMAP, SEND, RECV, WAIT_SEND, WAIT_RECV, SLEEP_SEND, SLEEP_RECV,
	    NOTIFY_SEND, NOTIFY_RECV, STATS, NCALLS };

enum end { DESTROY, SHUTDOWN, CLOSE, KILL, NENDS };

static struct {
	struct prog_nic n;
	struct prog_vi v;
	bool posted;			/* a receive, which the end flushes */
	bool ready;
	bool ending;			/* the end has begun */
} w;

static long sleep_on(u32 kind)
{
	struct via_wait a = {
		.kind = kind, .id = w.v.id,
		.timeout = sim_dice(3) ? VIA_FOREVER : 1 + sim_dice(30000),
	};

	return sim_ioctl(w.n.file, VIA_IOC_WAIT, &a);
}

/* What has not moved is not said to have. */
static void sleeps(u32 kind)
{
	long ret = sleep_on(kind);

	sim_expect(ret || (kind == VIA_WAIT_RECV && w.posted),
		   "a queue that is empty has moved");
	sim_expect(ret <= 0 || ret == VIA_R_TIMEOUT, "(%ld)", ret);
}

static void maps(void)
{
	void *p = sim_mmap(w.n.file, NULL, w.v.map_at, w.v.map_size,
			   true);

	if (!IS_ERR(p))
		sim_munmap(p);
	else
		sim_expect(READ_ONCE(w.ending), "(%ld)", PTR_ERR(p));
}

static void traps(u32 op)
{
	long ret = sim_trap(w.n.file, op, w.v.id);

	sim_expect(!ret || READ_ONCE(w.ending), "trap %u says %ld", op, ret);
}

static void call(enum call c)
{
	switch (c) {
	case MMAP:
		maps();
		break;
	case SEND:
	case RECV:
		traps(c == SEND ? VIA_OP_SEND : VIA_OP_RECV);
		break;
	case WAIT_SEND:
		traps(VIA_OP_WAIT_SEND);
		break;
	case WAIT_RECV:
		traps(VIA_OP_WAIT_RECV);
		break;
	case SLEEP_SEND:
	case SLEEP_RECV:
		sleeps(c == SLEEP_SEND ? VIA_WAIT_SEND : VIA_WAIT_RECV);
		break;
	case NOTIFY_SEND:
	case NOTIFY_RECV:
		traps(c == NOTIFY_SEND ? VIA_OP_NOTIFY_SEND :
					 VIA_OP_NOTIFY_RECV);
		break;
	case STATS:
		prog_stats(&w.n, VIA_STATS_VI);
		break;
	case NCALLS:
		break;
	}
}

static void caller(void *arg)
{
	enum call c = (uintptr_t)arg;
	u32 i = 0;

	do {
		call(c);
	} while (++i < CALLS && !READ_ONCE(w.ending));
}

/* The events that are left are of no queue. */
static void read_events(void)
{
	struct via_event ev;

	while (!prog_event(&w.n, &ev))
		sim_expect(ev.code != VIA_EVENT_SEND &&
			   ev.code != VIA_EVENT_RECV,
			   "an event of a VI that is gone");
}

static void end(enum end how)
{
	struct via_vi_arg a = { .vi = w.v.id };

	if (sim_dice(2))
		sim_sleep(sim_dice(10000));
	WRITE_ONCE(w.ending, true);
	if (w.posted)
		prog_disconnect(&w.v);
	switch (how) {
	case DESTROY:
		sim_ok(sim_ioctl(w.n.file, VIA_IOC_VI_DESTROY, &a));
		read_events();
		break;
	case SHUTDOWN:
		sim_ioctl(w.n.file, VIA_IOC_SHUTDOWN, NULL);
		break;
	case CLOSE:
		prog_close(&w.n);
		break;
	case KILL:
		sim_kill(current->proc);
		break;
	case NENDS:
		break;
	}
}

static void process(void *arg)
{
	static const char *const names[CALLERS] = { "first", "second" };
	u32 i, n = 1 + sim_dice(CALLERS);

	if (prog_open(&w.n, host_node(0), 4096))
		return;
	if (prog_vi(&w.v, &w.n, VIA_RELIABLE_DELIVERY, 0, 0))
		goto out;
	w.posted = sim_dice(2);
	if (w.posted)
		prog_post_recv(&w.v, w.n.mem, 64);
	for (i = 0; i < n; i++) {
		sim_thread(current->proc, names[i], caller,
			   (void *)(uintptr_t)sim_dice(NCALLS));
	}
	end(sim_dice(NENDS));
	sim_threads_wait(1000);
out:
	prog_close(&w.n);
}

static void dying(void)
{
	hosts_up(sim_dice(4) ? 0 : 1);
	host_run(0, "user", process, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "dying", .run = dying, .runs = 2000, .max_vi = 4,
	     .seconds = 20, SIM_STATE(w),
	     .what = "a VI ends beside each kind of call on it")
