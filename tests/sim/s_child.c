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
	const char *node[2];
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

	for (i = 0; i < 8; i++) {
		k = sim_dice(CALLS);
		ret = call(k);
		sim_expect(ret == -EPERM, "(call %u, %ld)", k, ret);
	}
	sim_expect(prog_state(&w.v) == VIA_STATE_CONNECTED,
		   "what a child does ends a connection");
	WRITE_ONCE(w.tried, true);
	/* It keeps the file. */
	while (!READ_ONCE(w.told))
		sim_sleep(MS);
	if (sim_dice(2))
		sim_close(w.n.file);
}

static void owner(void *arg)
{
	u32 i;

	sim_expect(!prog_open(&w.n, w.node[0], 16 << 10), "no NIC");
	sim_expect(!prog_vi(&w.v, &w.n, VIA_RELIABLE_DELIVERY, 0, 0), "no VI");
	/* The other end may not wait yet. */
	for (i = 0; prog_request(&w.v, arg, "child", 5 * SEC); i++) {
		sim_expect(i < 1000, "not connected");
		sim_sleep(MS);
	}
	sim_pass_file(w.child, w.n.file);
	WRITE_ONCE(w.ready, true);
	while (!READ_ONCE(w.tried))
		sim_sleep(MS);
	if (w.how == 1)
		prog_close(&w.n);
	if (w.how == 2)
		sim_munmap(w.n.ctl);
	while (w.how && !READ_ONCE(w.told))
		sim_sleep(MS);
}

static void peer(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u64 until;
	int ret;

	sim_expect(!prog_open(&n, w.node[1], 16 << 10), "no NIC");
	sim_expect(!prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0), "no VI");
	ret = prog_accept(&v, "child", 60 * SEC);
	sim_expect(!ret, "(%d)", ret);
	while (!READ_ONCE(w.tried))
		sim_sleep(MS);
	until = sim_now() + TOLD_NS;
	while (prog_state(&v) == VIA_STATE_CONNECTED) {
		sim_expect(sim_now() < until,
			   "a child keeps the connection of its parent");
		sim_sleep(MS);
	}
	WRITE_ONCE(w.told, true);
	prog_close(&n);
}

static void begins(void *arg)
{
	while (!READ_ONCE(w.ready))
		sim_sleep(MS);
	child(NULL);
}

static void children(void)
{
	static u8 macs[2][6] = { { 0x02, 0, 0, 0, 0, 0x01 },
				 { 0x52, 0x54, 0, 0, 1, 2 } };
	struct sim_nic *nic[2] = {};
	struct sim_proc *p;
	u32 wire = sim_dice(2), i;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 200 * SEC;
	w.how = sim_dice(3);
	w.node[0] = wire ? "via_a" : "via_lo";
	w.node[1] = wire ? "via_b" : "via_lo";
	for (i = 0; wire && i < 2; i++)
		nic[i] = sim_nic_up(i ? "b" : "a", 1 + i);
	w.child = sim_proc_new("child", 1000);
	w.owner = sim_proc_new("owner", 1000);
	p = sim_proc_new("peer", 1001);
	sim_thread(w.child, "child", begins, NULL);
	sim_thread(w.owner, "owner", owner, macs[wire]);
	sim_thread(p, "peer", peer, NULL);
	if (!w.how && sim_dice(2)) {
		while (!READ_ONCE(w.tried))
			sim_pause(MS);
		sim_kill(w.owner);
	}
	sim_proc_wait(w.owner);
	sim_proc_wait(p);
	sim_proc_wait(w.child);
	for (i = 0; wire && i < 2; i++)
		sim_nic_down(nic[i]);
}

SIM_SCENARIO(.name = "child", .run = children, .runs = 100,
	     .what = "a handle in another process, and the end of its owner")
