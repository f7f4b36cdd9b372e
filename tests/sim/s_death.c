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
	const char *node[2];
	const u8 *mac[2];
	struct sim_nic *nic[2];
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
	int ret = prog_open(&n, d.node[0], 16 << 10);

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
	if (!end_open(e, &n, d.mac[1]))
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

	if (prog_open(&n, d.node[1], 16 << 10) ||
	    !end_open(e, &n, d.mac[0])) {
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
	d.proc = sim_proc_new("mortal", 1000);
	sim_thread(d.proc, "mortal", one_life, NULL);
	/* From the first call on, most of all while it connects. */
	until = begin + (sim_dice(2) ? sim_dice(600000) : sim_dice(30 * MS));
	while (sim_now() < until && !d.gone)
		schedule_hrtimeout_range(&(ktime_t){ sim_dice(20000) }, 0,
					 HRTIMER_MODE_REL);
	if (d.by == SILENT && d.nic[0])
		sim_nic_cut(d.nic[0], true);
	if (d.by == KILLED || d.by == SILENT) {
		d.done = true;
		sim_kill(d.proc);
	}
	sim_proc_wait(d.proc);
	d.done = true;
	/* The partner reads its events before the next one comes. */
	msleep(40);
	if (d.nic[0] && d.by == SILENT) {
		msleep(12000);
		sim_nic_cut(d.nic[0], false);
	}
}

static void death(void)
{
	static const u32 levels[] = { VIA_RELIABLE_DELIVERY,
				      VIA_RELIABLE_RECEPTION, VIA_UNRELIABLE };
	static const u8 lo_mac[] = { 0x02, 0, 0, 0, 0, 0x01 };
	struct sim_proc *p;
	u32 where = sim_dice(3), i;

	memset(&d, 0, sizeof(d));
	ends_begin(levels[sim_dice(3)]);
	sim_config.max_time = sim_clock + 300 * SEC;
	d.server = sim_dice(2);
	for (i = 0; i < 2; i++) {
		d.node[i] = "via_lo";
		d.mac[i] = lo_mac;
		if (where == 0)
			continue;
		d.nic[i] = sim_nic_up(i ? "b" : "a", 1 + i);
		if (!d.nic[i])
			goto down;
		d.node[i] = i ? "via_b" : "via_a";
		d.mac[i] = sim_nic_mac(d.nic[i]);
	}
	p = sim_proc_new("partner", 1001);
	sim_thread(p, "partner", partner, NULL);
	for (i = 0; i < LIVES; i++)
		life(!where);
	/* The last one is let live until it has connected. */
	d.done = d.gone = false;
	d.by = CLOSED;
	d.proc = sim_proc_new("last", 1000);
	sim_thread(d.proc, "last", one_life, NULL);
	for (i = 0; i < 5000 && !d.connected && !d.gone && !d.over; i++)
		msleep(2);
	sim_expect(d.connected || d.gone || sim_config.fail_alloc,
		   "the partner does not connect again");
	d.over = true;
	sim_kill(d.proc);
	d.done = true;
	sim_proc_wait(d.proc);
	sim_proc_wait(p);
down:
	for (i = 0; i < 2; i++)
		if (d.nic[i])
			sim_nic_down(d.nic[i]);
}

SIM_SCENARIO(.name = "death", .run = death, .runs = 300, .max_vi = 8,
	     .what = "one end dies at any moment, the other is told and goes on")
