// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A process is killed at any moment of a connection's life, or closes its
 * handle, or its host falls silent.  The partner is told, with ORDERLY where
 * that is known, and connects again to the next one.
 */
#include "s_ends.h"

#define LIVES	3

enum end_by { KILLED, CLOSED, SILENT, SHUT };

static struct {
	bool server;			/* the one that dies is the server */
	struct sim_proc *proc;		/* the one that dies */
	enum end_by by;
	u32 life;
	bool connected;			/* of this life, seen at the partner */
	bool done, over, gone;
	u32 talked;			/* messages both ways in this life */
} d;

static void one_life(void *arg)
{
	struct end *e = &ends.end[0];
	struct prog_nic n;
	int ret = prog_open(&n, host_node(0), 16 << 10);

	if (ret) {
		sim_expect(sim_config.fail_alloc, "(%d)", ret);
		d.gone = true;
		return;
	}
	memset(e->seen, 0, sizeof(e->seen));
	e->gone = e->open = e->closing = false;
	/* The one before may have been killed in its queues. */
	e->busy[0] = e->busy[1] = false;
	e->owed = 0;
	e->proc = d.proc;
	if (!end_open(e, &n, host_mac(1)))
		goto out;
	while (e->vi.q[1].tail < 4)
		end_recv(e);
	while (!end_meet(e, d.server ? CLIENT : SERVER))
		if (sim_config.fail_alloc)
			goto out;
	while (end_state(e) == VIA_STATE_CONNECTED) {
		end_collect(e);
		end_recv(e);
		end_send(e, 1);
		if (d.by == CLOSED && !sim_dice(20))
			break;
		if (d.by == SHUT && !sim_dice(20)) {
			sim_ioctl(n.file, VIA_IOC_SHUTDOWN, NULL);
			break;
		}
		sim_sleep(200000);
	}
out:
	prog_close(&n);
	d.gone = true;
}

/* Lives on; it connects to each of the others in turn. */
static void partner(void *arg)
{
	struct end *e = &ends.end[1];
	struct prog_nic n;
	struct via_event ev;
	bool orderly;
	u32 lost = 0, made = 0;
	u64 until;

	if (prog_open(&n, host_node(1), 16 << 10) ||
	    !end_open(e, &n, host_mac(0))) {
		e->gone = true;
		d.over = true;
		return;
	}
	while (e->vi.q[1].tail < 4)
		end_recv(e);
	while (!d.over) {
		if (end_state(e) != VIA_STATE_CONNECTED) {
			if (end_state(e) == VIA_STATE_ERROR)
				end_disconnect(e);
			if (d.server)
				end_request(e, "server", 20 * MS, 0);
			else
				end_accept(e, "server", 20 * MS, 0);
			if (end_state(e) == VIA_STATE_IDLE)
				sim_sleep(MS / 2 + sim_dice(MS));
			continue;
		}
		d.connected = true;
		until = 0;
		while (end_state(e) == VIA_STATE_CONNECTED) {
			end_collect(e);
			while (e->vi.q[1].tail - e->vi.q[1].collected < 4)
				end_recv(e);
			end_sleep(e, true, 5 * MS);
			if ((d.done || d.gone) && !until)
				until = sim_now() + 12 * SEC;
			sim_expect(!until || sim_now() < until,
				   "the partner is not told");
		}
		end_collect(e);
		/* The state is seen before the event that tells of it. */
		orderly = false;
		sim_sleep(10 * MS);
		while (!prog_event(&n, &ev))
			if (ev.code == VIA_ERR_CONN_LOST) {
				lost++;
				orderly = ev.flags & VIA_EVENT_F_ORDERLY;
			}
		/* One for each connection, however short. */
		made++;
		sim_expect(lost >= made, "%u CONN_LOST events of %u", lost,
			   made);
		made = lost;
		/* A goodbye came, unless it was lost or an error came first. */
		if (d.by == SILENT && d.done)
			sim_expect(!orderly, "a silent host is orderly");
		d.connected = false;
	}
	end_close(e);
	prog_close(&n);
}

static void life(bool lo)
{
	u64 begin = sim_now(), until;

	d.done = d.gone = false;
	d.by = sim_dice(5) ? KILLED : 1 + sim_dice(3);
	if (lo && d.by == SILENT)
		d.by = KILLED;
	ends.end[0].echoed = 0;
	d.proc = host_run(0, "mortal", one_life, NULL);
	/* From the first call on, most of all while it connects. */
	until = begin + (sim_dice(2) ? sim_dice(600000) : sim_dice(30 * MS));
	while (sim_now() < until && !d.gone)
		schedule_hrtimeout_range(&(ktime_t){ sim_dice(20000) }, 0,
					 HRTIMER_MODE_REL);
	if (d.by == SILENT)
		sim_nic_cut(host_nic(0), true);
	if (d.by == KILLED || d.by == SILENT) {
		d.done = true;
		sim_kill(d.proc);
	}
	program_wait(d.proc);
	d.done = true;
	/* The partner reads its events before the next one comes. */
	msleep(40);
	if (d.by == SILENT) {
		msleep(12000);
		sim_nic_cut(host_nic(0), false);
	}
}

static void death(void)
{
	u32 wire = sim_dice(3), i;

	ends_begin(prog_level());
	d.server = sim_dice(2);
	if (wire && !hosts_up(2))
		goto down;
	host_run(1, "partner", partner, NULL);
	for (i = 0; i < LIVES; i++)
		life(!wire);
	/* The last one is let live until it has connected. */
	d.done = d.gone = false;
	d.by = CLOSED;
	d.proc = host_run(0, "last", one_life, NULL);
	for (i = 0; i < 5000 && !d.connected && !d.gone && !d.over; i++)
		msleep(2);
	sim_expect(d.connected || d.gone || sim_config.fail_alloc,
		   "the partner does not connect again");
	d.over = true;
	sim_kill(d.proc);
	d.done = true;
down:
	hosts_down();
}

SIM_SCENARIO(.name = "death", .run = death, .runs = 300, .max_vi = 8,
	     .seconds = 300, SIM_STATE(d),
	     .what = "one end dies at any moment, the other is told and goes on")
