// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * One end of a connection leaves, or an error ends it, while the other sends:
 * the other is told once, and of an orderly end where its peer has left by
 * itself (include/uapi/via.h, "Events").
 */
#include "../../kernel/via_ka.h"
#include "prog.h"

#define DEPTH	24			/* receives, more than are ever sent */
#define BYTES	64

enum way {
	/* By itself. */
	DISCONNECT, DESTROY, SHUTDOWN, EXIT, KILL,
	/* By an error. */
	BAD_SEND, BAD_RECV, OVERRUN, TOO_LONG,
	/* By an error, on a wire only. */
	STRANGER, LINK,
	WAYS
};

static struct {
	enum way way;
	u32 level;
	u64 after;			/* ns from connected to the end */
	u32 connected;
	bool told;
} w;

static bool by_itself(void)
{
	return w.way < BAD_SEND;
}

static void begin(u32 me, struct prog_nic *n, struct prog_vi *v, char **buf)
{
	u32 i;

	prog_open_vi(n, v, host_node(me), 16 << 10, w.level);
	prog_buffer(n, 4096);
	*buf = prog_buffer(n, 2 * BYTES);
	for (i = 0; i < DEPTH; i++)
		prog_post_recv(v, *buf, BYTES);
	sim_ok(prog_p2p(v, host_mac(!me), "told", 5 * SEC));
	w.connected++;
}

static void end_it(struct prog_nic *n, struct prog_vi *v, char *buf)
{
	struct via_overrun o = { .vi = v->id };
	struct via_vi_arg a = { .vi = v->id };
	u32 handle;

	switch (w.way) {
	case DISCONNECT:
		prog_disconnect(v);
		break;
	case DESTROY:
		prog_disconnect(v);
		sim_ioctl(n->file, VIA_IOC_VI_DESTROY, &a);
		break;
	case SHUTDOWN:
		sim_ioctl(n->file, VIA_IOC_SHUTDOWN, NULL);
		break;
	case BAD_SEND:
		prog_post(v, false, VIA_CTL_OP_SENDRECV, buf, BYTES, 0xbad, 0,
			  0);
		break;
	case BAD_RECV:
		/* A descriptor in memory that is not registered. */
		handle = n->handle;
		n->handle = 0xbad;
		prog_post_recv(v, buf, BYTES);
		n->handle = handle;
		sim_trap(n->file, VIA_OP_RECV, v->id);
		break;
	case OVERRUN:
		sim_ioctl(n->file, VIA_IOC_VI_OVERRUN, &o);
		break;
	case TOO_LONG:
		prog_post_send(v, buf, 2 * BYTES);
		break;
	default:
		break;
	}
}

static void check_told(struct prog_nic *n, struct prog_vi *v)
{
	struct via_event ev;
	u32 lost = 0;

	sim_sleep(20 * MS);
	while (!prog_event(n, &ev)) {
		if (ev.code != VIA_ERR_CONN_LOST || ev.vi != v->id)
			continue;
		lost++;
		sim_expect(!(ev.flags & VIA_EVENT_F_ORDERLY) == !by_itself(),
			   "way %u: flags %#x", w.way, ev.flags);
	}
	sim_expect(lost == 1, "way %u: told %u times", w.way, lost);
}

/* The one that ends; what ends it from outside is in told(). */
static void ender(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	char *buf;

	begin(0, &n, &v, &buf);
	sim_await(w.connected >= 2, 10000);
	sim_sleep(w.after);
	end_it(&n, &v, buf);
	sim_await(w.way == EXIT || w.told, MS);
	if (!by_itself())
		check_told(&n, &v);
	prog_close(&n);
}

static void partner(void *arg)
{
	u64 until;
	struct prog_nic n;
	struct prog_vi v;
	u32 sent = 0;
	char *buf;

	begin(1, &n, &v, &buf);
	until = sim_now() + 30 * SEC;
	while (prog_state(&v) == VIA_STATE_CONNECTED) {
		sim_expect(sim_now() < until, "way %u: not told", w.way);
		if (sent < DEPTH) {
			prog_post_send(&v, buf, BYTES);
			sent++;
		} else {
			sim_sleep(MS);
		}
		if (!sim_dice(3))
			sim_sleep(sim_dice(4000));
	}
	check_told(&n, &v);
	w.told = true;
	prog_close(&n);
}

static void draw(void)
{
	w.way = sim_dice(WAYS);
	w.level = prog_level();
	/* An unreliable connection stands in spite of those. */
	if (w.level == VIA_UNRELIABLE && !by_itself() && w.way < STRANGER)
		w.way = sim_dice(BAD_SEND);
	w.after = sim_dice(2) ? sim_dice(20000) : sim_dice(300000);
	hosts_up(w.way < STRANGER && sim_dice(2) ? 0 : 2);
}

static void told(void)
{
	struct sim_proc *p;

	draw();
	p = host_run(0, "ender", ender, NULL);
	host_run(1, "partner", partner, NULL);
	if (w.way == KILL || w.way >= STRANGER) {
		sim_await(w.connected >= 2, 10000);
		sim_pause(1 + w.after);
	}
	if (w.way == KILL)
		sim_kill(p);
	if (w.way == STRANGER)
		sim_peers("via_a", VIA_PEERS_ONLY, "52:54:00:00:01:09");
	if (w.way == LINK)
		sim_nic_break(host_nic(0));
	hosts_down();
}

SIM_SCENARIO(.name = "told", .run = told, .runs = 500, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "how a connection has ended is told to the other end")
