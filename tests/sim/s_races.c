// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two or three calls at once on a VI whose connection is made, stands, or is
 * looked for, each from a thread of its own.
 *
 * The subject has one VI or two, each on a handle of its own; its partner, in
 * another process, plays the server, the client or the peer.  When all calls
 * are over every end is Connected and a message comes back, or it is not and
 * has been told, within END_PATIENCE.
 */
#include "s_ends.h"

#define RACERS	3

enum call {
	ACCEPT, REQUEST, REQUEST_OWN, PEER_REQUEST, RESULT, RESULT_NOWAIT,
	RESULT_PEER, EXPIRE, DISCONNECT, DESTROY, DEREGISTER, STATS_NIC,
	STATS_VI, QUERY, SET, SEND, RECV, COLLECT, WAIT, NOTIFY, EVENTS,
	SHUTDOWN, CLOSE,
	/* By the kernel's own threads. */
	NIC_DOWN, KILL, SIGNAL, BREAK,
	CALLS
};

static const char *const names[CALLS] = {
	"accept", "request", "request own", "peer request", "result",
	"result nowait", "result peer", "expire", "disconnect", "destroy",
	"deregister", "stats nic", "stats vi", "query", "set", "send", "recv",
	"collect", "wait", "notify", "events", "shutdown", "close", "nic down", "kill", "signal",
	"break",
};

static bool ends_it(enum call c)
{
	return c == DISCONNECT || c == DESTROY || c == DEREGISTER ||
	       c == SHUTDOWN || c == CLOSE || c == NIC_DOWN || c == KILL ||
	       c == BREAK;
}

static struct racer {
	enum call call;
	struct end *end;
	u64 after;			/* ns */
	u32 times;
} racers[RACERS];

static struct {
	u32 racers;
	u32 handles;			/* of the subject */
	enum role role;			/* the partner's */
	bool rude;			/* the partner disconnects, too */
	u32 from;			/* state at the beginning */
	bool wire, lo;
	const char *node[2];
	const u8 *mac[2];
	struct sim_nic *nic[2];
	struct sim_proc *subject;
	struct prog_nic handle[3];	/* the subject's two, the partner's */
	bool begin, partner_ready;
	bool killed, busy;
	u32 running, striking, threads;
} r;

static const u8 lo_mac[] = { 0x02, 0, 0, 0, 0, 0x01 };

/* Calls */

static u32 random_flags(void)
{
	return sim_dice(3) ? 0 : sim_dice(2) ? VIA_CONN_NOWAIT : NO_RESULT;
}

/* Asleep until the queue moves, or what it is of has ended. */
static void nap(struct end *e)
{
	static const u32 ops[] = { VIA_OP_WAIT_SEND, VIA_OP_WAIT_RECV };
	long ret;

	e->naps++;
	do {
		ret = sim_trap(e->nic->file, ops[sim_dice(2)], e->vi.id);
	} while (ret == -EINTR);
	e->naps--;
	sim_expect(!ret || ((e->gone || ends.dead) &&
			    (ret == -ENODEV || ret == -EBADF)), "(%ld)", ret);
}

static void notify(struct end *e)
{
	long ret = sim_trap(e->nic->file, sim_dice(2) ? VIA_OP_NOTIFY_SEND :
			    VIA_OP_NOTIFY_RECV, e->vi.id);

	sim_expect(!ret || ((e->gone || ends.dead) &&
			    (ret == -ENODEV || ret == -EBADF)), "(%ld)", ret);
}

/* About as long as the others take, or as a tick. */
static u64 random_timeout(void)
{
	return sim_dice(2) ? 1 + sim_dice(12) * MS : (1 + sim_dice(60)) * MS;
}

/* Now and then without an end: what ends it must wake those that wait. */
static u64 random_limit(void)
{
	return sim_dice(6) ? random_timeout() : VIA_FOREVER;
}

static void deregister(struct end *e)
{
	u32 handle = e->region;
	int ret = prog_deregister(e->nic, e->nic->mem, handle);

	end_legal(e, "MEM_DEREGISTER", ret, V(SUCCESS) | V(INVALID_PARAMETER));
	e->bare = true;
}

static void handle_ends(struct end *e)
{
	u32 i;

	ends.dead = true;
	for (i = 0; i < ends.n; i++)
		if (ends.end[i].nic == e->nic)
			ends.end[i].gone = ends.end[i].shut = true;
}

static void call(struct racer *a)
{
	struct end *e = a->end;
	const u8 *peer;
	u64 wait;

	switch (a->call) {
	case ACCEPT:
		end_accept(e, "server", random_timeout(), random_flags());
		break;
	case REQUEST:
		end_request(e, "server", random_limit(), random_flags());
		break;
	case REQUEST_OWN:
		peer = e->peer;
		e->peer = r.mac[0];
		end_request(e, "server", random_limit(), random_flags());
		e->peer = peer;
		break;
	case PEER_REQUEST:
		end_p2p(e, random_limit(), random_flags());
		break;
	case RESULT:
		end_result(e, 0);
		break;
	case RESULT_NOWAIT:
		end_result(e, VIA_CONN_NOWAIT |
			   (sim_dice(2) ? VIA_CONN_PEER : 0));
		break;
	case RESULT_PEER:
		end_result(e, VIA_CONN_PEER);
		break;
	case EXPIRE:
		wait = e->deadline > sim_now() ? e->deadline - sim_now() : 0;
		sim_sleep(wait + sim_dice(9 * MS));
		if (sim_dice(2))
			end_state(e);
		break;
	case DISCONNECT:
		end_disconnect(e);
		break;
	case DESTROY:
		end_destroy(e);
		break;
	case DEREGISTER:
		deregister(e);
		break;
	case STATS_NIC:
		end_stats(e, VIA_STATS_NIC);
		break;
	case STATS_VI:
		end_stats(e, VIA_STATS_VI);
		break;
	case QUERY:
		end_state(e);
		break;
	case SET:
		end_set(e, sim_dice(4) ? ends.level : VIA_UNRELIABLE);
		break;
	case SEND:
		end_send(e, 0);
		break;
	case RECV:
		end_recv(e);
		break;
	case COLLECT:
		end_collect(e);
		end_sleep(e, sim_dice(2), random_timeout());
		break;
	case WAIT:
		nap(e);
		break;
	case NOTIFY:
		notify(e);
		break;
	case EVENTS:
		end_events(e);
		break;
	case SHUTDOWN:
		handle_ends(e);
		sim_ioctl(e->nic->file, VIA_IOC_SHUTDOWN, NULL);
		break;
	case CLOSE:
		handle_ends(e);
		sim_munmap(e->nic->ctl);
		sim_close(e->nic->file);
		break;
	default:
		break;
	}
}

/* Of a thread of the kernel; one at a time, as under RTNL. */
static void strike(struct racer *a)
{
	struct sim_nic *nic;
	u32 i;

	sim_await(!r.busy, MS);
	r.busy = true;
	switch (a->call) {
	case NIC_DOWN:
		ends.dead = true;
		nic = r.nic[0];
		r.nic[0] = NULL;
		if (nic)
			sim_nic_down(nic);
		break;
	case KILL:
		ends.dead = true;
		r.killed = true;
		for (i = 0; i < ends.n; i++)
			if (ends.end[i].proc == r.subject)
				ends.end[i].gone = ends.end[i].shut = true;
		sim_kill(r.subject);
		break;
	case SIGNAL:
		sim_signal(r.subject);
		break;
	case BREAK:
		if (r.nic[0])
			sim_nic_break(r.nic[0]);
		break;
	default:
		break;
	}
	r.busy = false;
}

static void race(void *arg)
{
	struct racer *a = arg;
	u32 i;

	if (a->after)
		sim_sleep(a->after);
	for (i = 0; i < a->times; i++) {
		/* The attempt before may be over by then, by itself. */
		if (i && sim_dice(2))
			sim_sleep(sim_dice(20 * MS));
		if (a->call >= NIC_DOWN)
			strike(a);
		else
			call(a);
	}
	if (a->call >= NIC_DOWN)
		r.striking--;
	else
		r.running--;
}

/* Processes */

static void settle(void *arg)
{
	end_settle(arg);
	r.threads--;
}

/* As one of the VIs stands at the beginning. */
static void prepare(struct end *e)
{
	switch (r.from) {
	case VIA_STATE_CONNECTED:
		if (!end_meet(e, r.role) && !sim_config.fail_alloc &&
		    !sim_wire.loss)
			sim_expect(r.rude, "the two do not meet");
		break;
	case VIA_STATE_PENDING:
		if (r.role == PEER)
			end_p2p(e, 20 * MS, NO_RESULT);
		else if (sim_dice(2))
			end_request(e, "server", 20 * MS, NO_RESULT);
		else
			end_accept(e, "server", 20 * MS, NO_RESULT);
		break;
	}
}

static void subject(void *arg)
{
	u32 i, n = 0, waits = 0;

	for (i = 0; i < r.handles; i++) {
		if (prog_open(&r.handle[i], r.node[0], 16 << 10))
			goto out;
		ends.end[i].proc = r.subject;
		if (!end_open(&ends.end[i], &r.handle[i], r.mac[1]))
			goto out;
		while (end_recv(&ends.end[i]) && n++ < 4)
			;
	}
	sim_await(r.partner_ready, 100000);
	prepare(&ends.end[0]);
	for (i = 0; i < r.racers; i++)
		if (racers[i].call < NIC_DOWN) {
			r.running++;
			sim_thread(r.subject, names[racers[i].call], race,
				   &racers[i]);
		}
out:
	r.begin = true;
	while (!ends.over) {
		sim_sleep(500000);
		/* What has no end gets one; what is over must be known. */
		for (i = 0; i < r.handles && waits++ > 400; i++)
			if (!ends.end[i].gone &&
			    (ends.end[i].naps ||
			     (ends.end[i].forever &&
			      end_state(&ends.end[i]) == VIA_STATE_PENDING)))
				end_disconnect(&ends.end[i]);
	}
	r.threads = 1;
	if (r.handles > 1) {
		r.threads++;
		sim_thread(r.subject, "settle", settle, &ends.end[1]);
	}
	settle(&ends.end[0]);
	sim_await(!r.threads, 500000);
	if (sim_dice(2))
		for (i = 0; i < r.handles; i++)
			end_close(&ends.end[i]);
	if (sim_dice(2))
		for (i = 0; i < r.handles; i++)
			prog_close(&r.handle[i]);
}

static void partner(void *arg)
{
	struct end *e = &ends.end[2];
	u32 n = 0;

	e->proc = current->proc;
	if (prog_open(&r.handle[2], r.node[1], 16 << 10) ||
	    !end_open(e, &r.handle[2], r.mac[0])) {
		r.partner_ready = true;
		e->gone = true;
		return;
	}
	while (end_recv(e) && n++ < 4)
		;
	r.partner_ready = true;
	end_play(e, r.role, r.rude);
	end_settle(e);
	end_close(e);
	prog_close(&r.handle[2]);
}

/* The run */

static bool place(void)
{
	static const u8 macs[2][6] = { { 0x52, 0x54, 0, 0, 1, 1 },
				       { 0x52, 0x54, 0, 0, 1, 2 } };
	u32 where = sim_dice(5);

	r.lo = where == 0;
	r.wire = where >= 2;
	r.node[0] = r.node[1] = "via_lo";
	r.mac[0] = r.mac[1] = lo_mac;
	if (r.lo)
		return true;
	r.nic[0] = sim_nic_up("a", 1);
	r.node[0] = r.node[1] = "via_a";
	r.mac[0] = r.mac[1] = macs[0];
	if (r.wire) {
		/* Which of two peers asks depends on the addresses. */
		if (sim_dice(2)) {
			r.nic[1] = sim_nic_up("b", 2);
			r.mac[1] = macs[1];
		} else {
			static const u8 low[] = { 0x52, 0x54, 0, 0, 1, 0 };

			r.nic[1] = sim_nic_up("b", 0);
			r.mac[1] = low;
		}
		r.node[1] = "via_b";
		if (!sim_dice(8))
			sim_wire.loss = 500 << sim_dice(3);
		if (!sim_dice(8))
			sim_wire.dup = 2000;
	}
	return r.nic[0] && (r.nic[1] || !r.wire);
}

static void draw(u32 n)
{
	static const u32 states[] = { VIA_STATE_IDLE, VIA_STATE_PENDING,
				      VIA_STATE_CONNECTED };
	u32 i;

	r.racers = n;
	r.handles = 1 + !sim_dice(3);
	r.role = sim_dice(3);
	r.rude = !sim_dice(4);
	r.from = states[sim_dice(3)];
	for (i = 0; i < n; i++) {
		racers[i] = (struct racer){
			.call = sim_dice(CALLS),
			.end = &ends.end[sim_dice(r.handles)],
			.after = sim_dice(2) ? 0 : sim_dice(2) ?
				 sim_dice(100000) : sim_dice(5 * MS),
			.times = 1 + !sim_dice(4),
		};
		ends.endings |= ends_it(racers[i].call);
		sim_log("%u: %s on end %u after %llu us, %u times", i,
			names[racers[i].call], racers[i].end->n,
			(unsigned long long)racers[i].after / 1000,
			racers[i].times);
	}
	sim_log("%u handles, partner %u%s, from state %u", r.handles, r.role,
		r.rude ? ", rude" : "", r.from);
}

static void storm(u32 n)
{
	u32 i;

	ends_begin(prog_level());
	draw(n);
	if (!place())
		goto down;
	host_run(1, "partner", partner, NULL);
	r.subject = host_run(0, "subject", subject, NULL);
	sim_await(r.begin, MS);
	for (i = 0; i < n; i++)
		if (racers[i].call >= NIC_DOWN) {
			r.striking++;
			sim_kthread(names[racers[i].call], race, &racers[i]);
		}
	/* The threads of one that is killed do not count down. */
	sim_await(!r.striking && (!r.running || (r.killed &&
						 sim_proc_ended(r.subject))),
		  MS);
	ends.over = true;
	programs_wait();
down:
	for (i = 0; i < 2; i++)
		if (r.nic[i])
			sim_nic_down(r.nic[i]);
}

SIM_SCENARIO(.name = "races-pairs", .run_as = storm, .as = 2, .runs = 1000,
	     .max_vi = 8, .seconds = 200, SIM_STATE(r),
	     .what = "two calls at once on a VI, each with each")
SIM_SCENARIO(.name = "races-triples", .run_as = storm, .as = 3, .runs = 1000,
	     .max_vi = 8, .seconds = 200, SIM_STATE(r),
	     .what = "three calls at once on a VI")
