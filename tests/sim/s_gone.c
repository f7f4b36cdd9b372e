// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A NIC goes beside one kind of call into it, again and again. */
#include "prog.h"

#define CALLS	4			/* in a row */

enum call { NIC_STATS, VI_STATS, REQUEST, PEER, ACCEPT, REJECT, CREATE,
	    REGISTER, NAMES, NCALLS };

static struct {
	enum call call;
	struct sim_nic *nic;
	bool ready, down;
	u32 conn;
} w;

static void stats(struct prog_nic *n, u32 kind)
{
	struct via_stat some[64];
	struct via_stats a = {
		.kind = kind, .count = ARRAY_SIZE(some),
		.stats = (uintptr_t)some,
	};

	sim_ioctl(n->file, VIA_IOC_STATS, &a);
}

static void names(struct prog_nic *n)
{
	struct via_name_answer some[4];
	struct via_name_query a = {
		.count = ARRAY_SIZE(some), .answers = (uintptr_t)some,
	};

	sim_ioctl(n->file, VIA_IOC_NAME_QUERY, &a);
}

static void call(struct prog_nic *n, struct prog_vi *v, u32 i)
{
	static const u8 host[] = { 0x52, 0x54, 0, 0, 1, 2 };
	struct prog_vi other;
	u32 handle;

	switch (w.call) {
	case NIC_STATS:
		stats(n, VIA_STATS_NIC);
		break;
	case VI_STATS:
		stats(n, VIA_STATS_VI);
		break;
	case REQUEST:
	case PEER:
		prog_request_start(v, host, "gone", 10 * SEC, w.call == PEER);
		prog_disconnect(v);
		break;
	case ACCEPT:
		if (!i)
			prog_accept_start(v, w.conn);
		break;
	case REJECT:
		if (!i)
			prog_reject(n, w.conn);
		break;
	case CREATE:
		if (!prog_vi(&other, n, VIA_RELIABLE_DELIVERY, 0, 0))
			prog_vi_destroy(&other);
		break;
	case REGISTER:
		if (!prog_register(n, n->mem, 64, 0, &handle))
			prog_deregister(n, n->mem, handle);
		break;
	case NAMES:
		names(n);
		break;
	case NCALLS:
		break;
	}
}

static void calls(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u32 i;

	if (prog_open(&n, "via_a", 16 << 10))
		return;
	if (prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0))
		goto out;
	if ((w.call == ACCEPT || w.call == REJECT) &&
	    prog_conn_wait(&n, "gone", 5 * SEC, &w.conn))
		goto out;
	WRITE_ONCE(w.ready, true);
	for (i = 0; i < CALLS; i++)
		call(&n, &v, i);
	/* And once more, when it is gone. */
	if (sim_dice(2)) {
		while (!w.down)
			sim_sleep(10000);
		call(&n, &v, i);
	}
out:
	WRITE_ONCE(w.ready, true);
	prog_close(&n);
}

/* The other host asks, so that there is what can be accepted. */
static void asks(void *arg)
{
	static const u8 host[] = { 0x52, 0x54, 0, 0, 1, 1 };
	struct prog_nic n;
	struct prog_vi v;

	if (prog_open(&n, "via_b", 16 << 10))
		return;
	if (!prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0))
		prog_request(&v, host, "gone", 3 * SEC);
	prog_close(&n);
}

static void gone(void)
{
	struct sim_proc *p, *q = NULL;
	struct sim_nic *b;

	memset(&w, 0, sizeof(w));
	w.call = sim_dice(NCALLS);
	if (w.call == REGISTER)
		sim_nics_dma();
	w.nic = sim_nic_up("a", 1);
	b = sim_nic_up("b", 2);
	p = sim_proc_new("calls", 0);
	sim_thread(p, "calls", calls, NULL);
	if (w.call == ACCEPT || w.call == REJECT) {
		q = sim_proc_new("asks", 0);
		sim_thread(q, "asks", asks, NULL);
	}
	while (!READ_ONCE(w.ready))
		sim_pause(10000);
	sim_nic_down(w.nic);
	w.down = true;
	sim_proc_wait(p);
	if (q)
		sim_proc_wait(q);
	sim_nic_down(b);
}

SIM_SCENARIO(.name = "gone", .run = gone, .runs = 3000,
	     .what = "a NIC goes beside each kind of call into it")
