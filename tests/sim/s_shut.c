// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A handle is shut down beside calls of other threads: those that sleep come
 * back, read() with nothing, and what is asked later gets ESHUTDOWN and makes
 * nothing (include/uapi/via.h).
 */
#include "prog.h"

#define CALLERS	3
#define BACK_NS	(5 * SEC)

enum call { READ, NOTIFY, WAIT_TRAP, WAIT_CQ, CONN_WAIT, RESULT, PEER_RESULT,
	    VI, CQ, TAG, MEMORY, NCALLS };

static struct {
	struct prog_nic n;
	struct prog_vi v;
	struct prog_cq cq;
	enum call call[CALLERS];
	u32 callers, threads;
	bool begin, over;
	u64 at;
} w;

static const u8 silent[] = { 0x52, 0x54, 0, 0, 1, 9 };

/* Asleep until the end. */
static void sleeps(enum call c)
{
	struct via_wait wait = { .kind = VIA_WAIT_CQ, .id = w.cq.id,
				 .timeout = VIA_FOREVER };
	struct via_event ev;
	long ret = 0;
	u32 conn;

	switch (c) {
	case NOTIFY:
		sim_trap(w.n.file, VIA_OP_NOTIFY_RECV, w.v.id);
		/* fallthrough */
	case READ:
		sim_ok(sim_read(w.n.file, &ev, sizeof(ev)));
		break;
	case WAIT_TRAP:
		ret = sim_trap(w.n.file, VIA_OP_WAIT_RECV, w.v.id);
		break;
	case WAIT_CQ:
		ret = sim_ioctl(w.n.file, VIA_IOC_WAIT, &wait);
		break;
	case CONN_WAIT:
		ret = prog_conn_wait(&w.n, "shut", VIA_FOREVER, &conn);
		sim_expect(ret, "a request that was not made");
		break;
	case RESULT:
	case PEER_RESULT:
		ret = prog_request_start(&w.v, silent, "shut", VIA_FOREVER,
					 c == PEER_RESULT);
		if (!ret)
			ret = prog_result(&w.v, c == PEER_RESULT ?
					  VIA_CONN_PEER : 0);
		sim_expect(ret, "connected to nothing");
		break;
	default:
		break;
	}
	sim_log("call %u: %ld", c, ret);
}

/* Makes a thing, which ends at once or with the handle. */
static long makes(enum call c)
{
	struct via_ptag_arg tag = {};
	struct prog_cq cq;
	struct prog_vi v;
	u32 handle;
	long ret;

	switch (c) {
	case VI:
		ret = prog_vi(&v, &w.n, VIA_RELIABLE_DELIVERY, 0, 0);
		if (!ret && sim_dice(2))
			prog_vi_destroy(&v);
		return ret;
	case CQ:
		ret = prog_cq(&cq, &w.n, 4);
		if (!ret && sim_dice(2))
			prog_cq_destroy(&cq);
		return ret;
	case TAG:
		return sim_ioctl(w.n.file, VIA_IOC_PTAG_CREATE, &tag);
	default:
		ret = prog_register(&w.n, w.n.mem, 64, 0, &handle);
		if (!ret && sim_dice(2))
			prog_deregister(&w.n, w.n.mem, handle);
		return ret;
	}
}

static void caller(void *arg)
{
	enum call c = (uintptr_t)arg;
	bool late = false;
	long ret;
	u32 i;

	sim_await(READ_ONCE(w.begin), 1000);
	if (c < VI)
		sleeps(c);
	for (i = 0; c >= VI && i < 10 && !late; i++) {
		late = READ_ONCE(w.over);
		ret = makes(c);
		sim_expect(!late || ret == -ESHUTDOWN, "(call %u, %ld)", c,
			   ret);
		if (!sim_dice(3))
			sim_sleep(sim_dice(4000));
	}
	w.threads--;
}

static void process(void *arg)
{
	bool unmaps = sim_dice(2);
	u32 i;

	prog_open_vi(&w.n, &w.v, host_node(0), 4096, VIA_RELIABLE_DELIVERY);
	w.n.file->f_flags = 0;
	sim_ok(prog_cq(&w.cq, &w.n, 4));
	for (i = 0; i < w.callers; i++) {
		w.threads++;
		sim_thread(current->proc, "caller", caller,
			   (void *)(uintptr_t)w.call[i]);
	}
	WRITE_ONCE(w.begin, true);
	if (sim_dice(3))
		sim_sleep(sim_dice(20000));
	if (unmaps)
		sim_munmap(w.n.ctl);
	else
		sim_ioctl(w.n.file, VIA_IOC_SHUTDOWN, NULL);
	/* When its control page goes, a work ends it some time later. */
	if (!unmaps)
		WRITE_ONCE(w.over, true);
	w.at = sim_now();
	while (w.threads) {
		sim_expect(sim_now() < w.at + BACK_NS,
			   "a call does not come back");
		sim_sleep(MS);
	}
	if (sim_dice(2))
		sim_close(w.n.file);
}

static void shut(void)
{
	u32 i;

	w.callers = 1 + sim_dice(CALLERS);
	for (i = 0; i < w.callers; i++)
		w.call[i] = sim_dice(NCALLS);
	hosts_up(sim_dice(2));
	host_run(0, "shut", process, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "shut", .run = shut, .runs = 200, .max_vi = 16,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a handle is shut down beside each kind of call")
