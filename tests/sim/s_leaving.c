// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A NIC goes beside threads that are in it over and over, until it is gone.
 * Its VIs are in Error then, wherever in the table they stand, and what waits
 * for requests is told.  Another NIC takes its interface, but not before.
 */
#include "prog.h"

#define VIS	4
#define THREADS	3
#define CALLS	25
#define TRAPS	400

enum call { POLL, SEND, STATS_NIC, STATS_VI, CREATE, REQUEST, WAIT, REGISTER,
	    NCALLS };

static struct {
	struct prog_nic n;
	struct prog_vi v[VIS];
	bool ready, gone, polls;
	u32 threads;
} w;

static void create(void)
{
	struct via_vi_create a = {
		.attrs = { VIA_RELIABLE_DELIVERY, 0, 100, 0 },
	};
	struct via_vi_arg d = { };
	long ret;

	if (sim_ioctl(w.n.file, VIA_IOC_VI_CREATE, &a))
		return;
	d.vi = a.vi;
	ret = sim_ioctl(w.n.file, VIA_IOC_VI_DESTROY, &d);
	/* It went to Error with its NIC. */
	sim_expect(!ret || ret == VIA_R_INVALID_STATE, "(%ld)", ret);
}

static void request(void)
{
	static const u8 host[] = { 0x52, 0x54, 0, 0, 1, 9 };

	if (!prog_request_start(&w.v[0], host, "leaving", SEC, false))
		prog_disconnect(&w.v[0]);
}

/* False: once is enough. */
static bool call(enum call c)
{
	u32 conn, handle;
	int ret;

	switch (c) {
	case POLL:
		sim_trap(w.n.file, VIA_OP_POLL, 0);
		return true;
	case SEND:
		sim_trap(w.n.file, VIA_OP_SEND, w.v[VIS - 1].id);
		return true;
	case STATS_NIC:
		prog_stats(&w.n, VIA_STATS_NIC);
		return true;
	case STATS_VI:
		prog_stats(&w.n, VIA_STATS_VI);
		return true;
	case CREATE:
		create();
		return true;
	case REQUEST:
		request();
		return true;
	case REGISTER:
		if (!prog_register(&w.n, w.n.mem, 64, 0, &handle))
			prog_deregister(&w.n, w.n.mem, handle);
		return true;
	case WAIT:
		ret = prog_conn_wait(&w.n, "leaving", VIA_FOREVER, &conn);
		sim_expect(ret == -ESHUTDOWN, "(%d)", ret);
		return false;
	case NCALLS:
		break;
	}
	return false;
}

static void caller(void *arg)
{
	enum call c = (uintptr_t)arg;
	u32 n = c == POLL || c == SEND ? TRAPS : CALLS;

	while (n-- && call(c) && !READ_ONCE(w.gone))
		;
	w.threads--;
}

/* Some of them connected, on this host; holes before them. */
static void open_vis(void)
{
	u32 i, holes = sim_dice(VIS - 1);

	prog_vis(w.v, VIS, &w.n, VIA_RELIABLE_DELIVERY);
	if (sim_dice(2))
		sim_ok(prog_meet(&w.v[VIS - 2], &w.v[VIS - 1], "pair"));
	for (i = 1; i < holes; i++)
		sim_ok(prog_vi_destroy(&w.v[i]));
}

static void process(void *arg)
{
	static const char *const names[THREADS] = { "one", "two", "three" };
	enum call c;
	u32 i, n = 1 + sim_dice(THREADS);

	sim_ok(prog_open(&w.n, "via_a", 4096));
	open_vis();
	c = w.polls ? POLL : sim_dice(NCALLS);
	w.threads = n;
	for (i = 0; i < n; i++)
		sim_thread(current->proc, names[i], caller,
			   (void *)(uintptr_t)(sim_dice(4) ? c :
					       sim_dice(NCALLS)));
	w.ready = true;
	smp_mb();
	sim_await(!READ_ONCE(w.threads) && READ_ONCE(w.gone), 10000);
	for (i = VIS - 2; i < VIS; i++)
		sim_expect(prog_state(&w.v[i]) == VIA_STATE_ERROR,
			   "VI %u is in state %u and has no NIC", i,
			   prog_state(&w.v[i]));
	prog_close(&w.n);
}

static void leaving(void)
{
	bool again = !sim_dice(8);

	w.polls = sim_dice(2);
	if (w.polls)
		sim_nics_polled();
	hosts_up(1);
	host_run(0, "user", process, NULL);
	sim_await(READ_ONCE(w.ready), 5000);
	if (again)
		sim_expect(!sim_nic_up_at("b", 2, host_nic(0)),
			   "two NICs have one interface");
	host_down(0);
	w.gone = true;
	smp_mb();
	if (again) {
		sim_expect(host_up(1), "");
		host_down(1);
	}
	hosts_down();
}

SIM_SCENARIO(.name = "leaving", .run = leaving, .runs = 1000, .max_vi = 8,
	     .seconds = 20, SIM_STATE(w),
	     .what = "a NIC goes beside threads that do not stop calling it")
