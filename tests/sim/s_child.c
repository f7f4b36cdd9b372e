// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A handle belongs to the address space that opened it: in a child, or where a
 * socket has brought it, each call fails with EPERM and changes nothing, and
 * it does not keep alive what its owner has made (docs/explain/security.md,
 * docs/explain/architecture.md).
 */
#include "prog.h"

#define TOLD_NS		(30 * SEC)

static struct {
	struct prog_nic n;		/* the owner's */
	struct prog_vi v;
	struct sim_proc *owner, *child;
	bool ready, tried, told;
	u32 how;			/* the owner ends */
} w;

/* Whatever is asked, of what the owner has: the arguments fit all of them. */
static long call(u32 i)
{
	static const unsigned int calls[] = {
		VIA_IOC_HELLO, VIA_IOC_SHUTDOWN, VIA_IOC_WAIT,
		VIA_IOC_PTAG_CREATE, VIA_IOC_VI_CREATE, VIA_IOC_VI_DESTROY,
		VIA_IOC_VI_QUERY, VIA_IOC_CQ_CREATE, VIA_IOC_CQ_DESTROY,
		VIA_IOC_CONN_REQUEST, VIA_IOC_DISCONNECT, VIA_IOC_MEM_REGISTER,
		VIA_IOC_MEM_DEREGISTER,
	};
	static const u32 traps[] = {
		VIA_OP_SEND, VIA_OP_RECV, VIA_OP_CQ, VIA_OP_NOTIFY_SEND,
		VIA_OP_NOTIFY_RECV, VIA_OP_NOTIFY_CQ, VIA_OP_NOP, VIA_OP_POLL,
	};
	char arg[256] = {};
	void *p;

	memcpy(arg, &w.v.id, sizeof(w.v.id));
	if (i < ARRAY_SIZE(calls))
		return sim_ioctl(w.n.file, calls[i], arg);
	i -= ARRAY_SIZE(calls);
	if (i < ARRAY_SIZE(traps))
		return sim_trap(w.n.file, traps[i], w.v.id);
	if (i == ARRAY_SIZE(traps))
		return sim_read(w.n.file, arg, sizeof(struct via_event));
	p = sim_mmap(w.n.file, NULL, VIA_MMAP_CTL, PAGE_SIZE, false);
	return IS_ERR(p) ? PTR_ERR(p) : 0;
}

#define CALLS	23

static void child(void *arg)
{
	u32 i, k;
	long ret;

	sim_await(READ_ONCE(w.ready), MS);
	for (i = 0; i < 8; i++) {
		k = sim_dice(CALLS);
		ret = call(k);
		sim_expect(ret == -EPERM, "(call %u, %ld)", k, ret);
	}
	sim_expect(prog_state(&w.v) == VIA_STATE_CONNECTED,
		   "what a child does ends a connection");
	WRITE_ONCE(w.tried, true);
	/* It keeps the file. */
	sim_await(READ_ONCE(w.told), MS);
	if (sim_dice(2))
		sim_close(w.n.file);
}

static void owner(void *arg)
{
	prog_open_vi(&w.n, &w.v, host_node(0), 16 << 10, VIA_RELIABLE_DELIVERY);
	prog_connect(&w.v, host_mac(1), "child", 5 * SEC);
	sim_pass_file(w.child, w.n.file);
	WRITE_ONCE(w.ready, true);
	sim_await(READ_ONCE(w.tried), MS);
	if (w.how == 1)
		prog_close(&w.n);
	if (w.how == 2)
		sim_munmap(w.n.ctl);
	sim_await(!w.how || READ_ONCE(w.told), MS);
}

static void peer(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u64 until;

	prog_open_vi(&n, &v, host_node(1), 16 << 10, VIA_RELIABLE_DELIVERY);
	prog_connect(&v, NULL, "child", 60 * SEC);
	sim_await(READ_ONCE(w.tried), MS);
	until = sim_now() + TOLD_NS;
	while (prog_state(&v) == VIA_STATE_CONNECTED) {
		sim_expect(sim_now() < until,
			   "a child keeps the connection of its parent");
		sim_sleep(MS);
	}
	WRITE_ONCE(w.told, true);
	prog_close(&n);
}

static void children(void)
{
	w.how = sim_dice(3);
	hosts_up(sim_dice(2) ? 2 : 0);
	w.child = host_run(0, "child", child, NULL);
	w.owner = host_run(0, "owner", owner, NULL);
	host_run(1, "peer", peer, NULL);
	if (!w.how && sim_dice(2)) {
		sim_await(READ_ONCE(w.tried), MS);
		sim_kill(w.owner);
	}
	hosts_down();
}

SIM_SCENARIO(.name = "child", .run = children, .runs = 100, .seconds = 200,
	     SIM_STATE(w),
	     .what = "a handle in another process, and the end of its owner")
