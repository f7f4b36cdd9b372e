// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Ends of connections: calls, messages, and how they come to rest. */
#include "s_ends.h"

struct ends ends;

enum { DATA, PROBE, ECHO };

struct note {
	u32 kind;
	u32 from;
	u64 number;
	u64 answers;			/* ECHO: number of the probe */
	u8 body[END_BYTES - 24];
};

void ends_begin(u32 level)
{
	u32 i;

	memset(&ends, 0, sizeof(ends));
	ends.level = level;
	for (i = 0; i < ENDS_MAX; i++)
		ends.end[i].n = i;
}

bool end_open(struct end *e, struct prog_nic *nic, const u8 *peer)
{
	int ret = prog_vi(&e->vi, nic, ends.level, 0, 0);

	e->nic = nic;
	e->peer = peer;
	ends.n = max(ends.n, e->n + 1);
	if (ret) {
		sim_expect(sim_config.fail_alloc || ends.dead, "(%d)", ret);
		e->gone = true;
		return false;
	}
	e->buf[0] = prog_buffer(nic, END_BUFS * END_BYTES);
	e->buf[1] = prog_buffer(nic, END_BUFS * END_BYTES);
	e->region = nic->handle;
	e->open = true;
	return true;
}

void end_legal(const struct end *e, const char *call, int ret, u32 verdicts)
{
	if (ret >= 0 && ret < 32 && verdicts & 1u << ret)
		return;
	/* The VI was destroyed. */
	if (ret == VIA_R_INVALID_PARAMETER && (e->gone || ends.dead))
		return;
	if (ends.dead && (ret == -ESHUTDOWN || ret == -EBADF ||
			  ret == -ENODEV || ret == VIA_R_ERROR_RESOURCE ||
			  ret == VIA_R_NOT_REACHABLE))
		return;
	if (sim_config.fail_alloc &&
	    (ret == -ENOMEM || ret == VIA_R_ERROR_RESOURCE))
		return;
	sim_expect(false, "end %u: %s says %d", e->n, call, ret);
}

/* Attempts */

#define VERDICTS (V(SUCCESS) | V(TIMEOUT) | V(REJECT) | V(NO_MATCH) | \
		  V(INVALID_STATE) | V(INVALID_RELIABILITY_LEVEL))



int end_result(struct end *e, u32 flags)
{
	u64 from = sim_now();
	int ret;

	if (flags & NO_RESULT)
		return VIA_R_NOT_DONE;
	ret = prog_result(&e->vi, flags);
	end_legal(e, "CONN_RESULT", ret, VERDICTS |
		  (flags & VIA_CONN_NOWAIT ? V(NOT_DONE) : 0));
	/* Not long after the deadline of the attempt, whichever it was. */
	sim_expect(e->forever || sim_now() < max(from, e->deadline) + SEC,
		   "end %u: the verdict %d comes late", e->n, ret);
	return ret;
}

int end_accept(struct end *e, const char *disc, u64 wait, u32 flags)
{
	u32 conn;
	int ret = prog_conn_wait(e->nic, disc, wait, &conn);

	end_legal(e, "CONN_WAIT", ret, V(SUCCESS) | V(TIMEOUT));
	if (ret)
		return ret;
	if (!sim_dice(12)) {
		ret = prog_reject(e->nic, conn);
		/* The client may have gone, or another thread has it. */
		end_legal(e, "CONN_REJECT", ret, V(SUCCESS) |
			  V(INVALID_PARAMETER));
		return VIA_R_REJECT;
	}
	ret = prog_accept_start(&e->vi, conn);
	end_legal(e, "CONN_ACCEPT", ret, V(SUCCESS) | V(INVALID_PARAMETER) |
		  V(INVALID_STATE) | V(TIMEOUT) |
		  V(INVALID_RELIABILITY_LEVEL));
	return ret ? ret : end_result(e, flags);
}

#define START	(V(SUCCESS) | V(INVALID_STATE))

static void limit(struct end *e, u64 timeout)
{
	if (timeout == VIA_FOREVER)
		e->forever = true;
	else
		e->deadline = max(e->deadline, sim_now() + timeout);
}

int end_request(struct end *e, const char *disc, u64 timeout, u32 flags)
{
	int ret;

	limit(e, timeout);
	ret = prog_request_start(&e->vi, e->peer, disc, timeout, false);
	end_legal(e, "CONN_REQUEST", ret, START);
	return ret ? ret : end_result(e, flags);
}

int end_p2p(struct end *e, u64 timeout, u32 flags)
{
	int ret;

	limit(e, timeout);
	ret = prog_request_start(&e->vi, e->peer, "peers", timeout, true);
	end_legal(e, "PEER_REQUEST", ret, START);
	return ret ? ret : end_result(e, flags | VIA_CONN_PEER);
}

u32 end_state(struct end *e)
{
	struct via_vi_query q = { .vi = e->vi.id };
	int ret = sim_ioctl(e->nic->file, VIA_IOC_VI_QUERY, &q);

	end_legal(e, "VI_QUERY", ret, V(SUCCESS));
	return ret ? VIA_STATE_IDLE : q.state;
}

void end_disconnect(struct end *e)
{
	end_legal(e, "DISCONNECT", prog_disconnect(&e->vi), V(SUCCESS));
}

/* The mapping stays: other threads may be in the queues. */
void end_destroy(struct end *e)
{
	struct via_vi_arg a = { .vi = e->vi.id };
	int ret;

	/* Other threads may find it gone from here on. */
	e->gone = true;
	ret = sim_ioctl(e->nic->file, VIA_IOC_VI_DESTROY, &a);
	end_legal(e, "VI_DESTROY", ret, V(SUCCESS) | V(INVALID_STATE) |
		  V(ERROR_RESOURCE));
	if (ret == VIA_R_INVALID_STATE || ret == VIA_R_ERROR_RESOURCE)
		e->gone = e->shut;
}

void end_set(struct end *e, u32 level)
{
	struct via_vi_set a = {
		.vi = e->vi.id,
		.attrs = { .reliability = level, .max_transfer = 32768,
			   .rights = VIA_RDMA_WRITE },
	};

	end_legal(e, "VI_SET", sim_ioctl(e->nic->file, VIA_IOC_VI_SET, &a),
		  V(SUCCESS) | V(INVALID_STATE));
}

void end_stats(struct end *e, u32 kind)
{
	struct via_stat stat[64];
	struct via_stats a = {
		.kind = kind, .count = ARRAY_SIZE(stat),
		.stats = (uintptr_t)stat,
	};
	int ret;

	do {
		a.count = ARRAY_SIZE(stat);
		ret = sim_ioctl(e->nic->file, VIA_IOC_STATS, &a);
		end_legal(e, "STATS", ret, V(SUCCESS) |
			  (kind == VIA_STATS_VI ? V(NO_MATCH) : 0));
		a.id++;
	} while (!ret && kind == VIA_STATS_VI);
}

/* Messages */

static void lock(struct end *e, bool recv)
{
	sim_await(!e->busy[recv], 2000);
	e->busy[recv] = true;
}

static void unlock(struct end *e, bool recv)
{
	e->busy[recv] = false;
}

static void post(struct end *e, bool recv)
{
	struct prog_queue *q = &e->vi.q[recv];

	prog_post(&e->vi, recv, VIA_CTL_OP_SENDRECV,
		  e->buf[recv] + q->tail % END_BUFS * END_BYTES, END_BYTES,
		  e->region, 0, 0);
}

static bool room(struct end *e, bool recv)
{
	struct prog_queue *q = &e->vi.q[recv];

	return q->tail - q->collected < END_BUFS;
}

static void collect_sends(struct end *e)
{
	struct prog_done d;

	while (prog_done(&e->vi, false, &d))
		;
}

static bool send(struct end *e, u32 kind, u64 answers)
{
	struct prog_queue *q = &e->vi.q[0];
	struct note *m;
	bool ok;

	lock(e, false);
	collect_sends(e);
	ok = room(e, false);
	if (ok) {
		m = (void *)(e->buf[0] + q->tail % END_BUFS * END_BYTES);
		m->kind = kind;
		m->from = e->n;
		m->number = ++e->number;
		m->answers = answers;
		prog_fill(m->body, sizeof(m->body), e->n, m->number);
		post(e, false);
	}
	unlock(e, false);
	return ok;
}

bool end_send(struct end *e, u32 kind)
{
	return send(e, kind, 0);
}

bool end_recv(struct end *e)
{
	bool ok;

	lock(e, true);
	ok = room(e, true);
	if (ok)
		post(e, true);
	unlock(e, true);
	return ok;
}

static void check(struct end *e, const struct note *m, const struct prog_done *d)
{
	sim_expect(d->length == END_BYTES, "end %u: %u bytes", e->n, d->length);
	sim_expect(m->from < ENDS_MAX && m->kind <= ECHO,
		   "end %u: from %u, kind %u", e->n, m->from, m->kind);
	sim_expect(prog_filled(m->body, sizeof(m->body), m->from, m->number),
		   "end %u: message %llu of end %u", e->n,
		   (unsigned long long)m->number, m->from);
	sim_expect(m->number > e->seen[m->from] &&
		   m->number <= ends.end[m->from].number,
		   "end %u: message %llu of end %u after %llu", e->n,
		   (unsigned long long)m->number, m->from,
		   (unsigned long long)e->seen[m->from]);
	e->seen[m->from] = m->number;
}

void end_collect(struct end *e)
{
	struct prog_done d;
	u32 at, n;
	struct note *m;

	lock(e, true);
	for (n = 0; n < END_BUFS; n++) {
		at = e->vi.q[1].collected % END_BUFS;
		if (!prog_done(&e->vi, true, &d))
			break;
		m = (void *)(e->buf[1] + at * END_BYTES);
		sim_log("end %u: receive %#x, %u bytes", e->n, d.status, d.length);
		if (d.status & VIA_ST_ERROR_MASK)
			continue;
		check(e, m, &d);
		if (m->kind == ECHO)
			e->echoed = max(e->echoed, m->answers);
		if (m->kind == PROBE)
			e->owed = m->number;
	}
	unlock(e, true);
	lock(e, false);
	collect_sends(e);
	unlock(e, false);
	/* One answer is for all before it; there may be no room for it now. */
	if (e->owed && !e->closing) {
		end_recv(e);
		if (send(e, ECHO, e->owed))
			e->owed = 0;
	}
}

void end_sleep(struct end *e, bool recv, u64 ns)
{
	struct via_wait w = {
		.kind = recv ? VIA_WAIT_RECV : VIA_WAIT_SEND,
		.id = e->vi.id,
		.seen = e->vi.q[recv].collected,
		.timeout = ns,
	};
	int ret = sim_ioctl(e->nic->file, VIA_IOC_WAIT, &w);

	if (ret == -EINTR || ret == -ENODEV)
		return;
	end_legal(e, "WAIT", ret, V(SUCCESS) | V(TIMEOUT));
}

void end_events(struct end *e)
{
	struct via_event ev;
	u32 i;

	while (!prog_event(e->nic, &ev))
		for (i = 0; i < ends.n; i++) {
			if (ends.end[i].nic != e->nic)
				continue;
			if (ev.code == VIA_ERR_CONN_LOST &&
			    ev.vi == ends.end[i].vi.id)
				ends.end[i].lost++;
			if (ev.code == VIA_ERR_CATASTROPHIC)
				ends.end[i].broken++;
		}
}

/* Parts */

static int attempt(struct end *e, enum role role, u64 timeout)
{
	switch (role) {
	case SERVER:
		return end_accept(e, "server", timeout, 0);
	case CLIENT:
		return end_request(e, "server", timeout, 0);
	case PEER:
		return end_p2p(e, timeout, 0);
	}
	return 0;
}

/* While the connection stands, or until the storm is over. */
static void talk(struct end *e, bool rude)
{
	u32 turns = 0;

	while (!ends.over && end_state(e) == VIA_STATE_CONNECTED) {
		end_collect(e);
		while (room(e, true) && end_recv(e))
			;
		if (!sim_dice(4))
			end_send(e, DATA);
		if (rude && turns++ > sim_dice(4)) {
			end_disconnect(e);
			return;
		}
		end_sleep(e, true, MS << min(turns, 6u));
	}
}

void end_play(struct end *e, enum role role, bool rude)
{
	u32 tries = 0, state;

	while (!ends.over && !e->gone) {
		state = end_state(e);
		if (state == VIA_STATE_ERROR)
			end_disconnect(e);
		if (state != VIA_STATE_CONNECTED)
			attempt(e, role, MS + sim_dice(20) * MS);
		end_collect(e);
		if (end_state(e) == VIA_STATE_CONNECTED) {
			tries = 0;
			talk(e, rude);
		} else {
			sim_sleep((100000ull + sim_dice(100000)) <<
				  min(tries++, 6u));
		}
	}
}

bool end_meet(struct end *e, enum role role)
{
	u32 tries;

	for (tries = 0; tries < 100; tries++) {
		attempt(e, role == SERVER ? CLIENT :
			   role == CLIENT ? SERVER : PEER, 50 * MS);
		if (end_state(e) == VIA_STATE_CONNECTED)
			return true;
		if (end_state(e) == VIA_STATE_ERROR)
			end_disconnect(e);
		sim_sleep(200000);
	}
	return false;
}

/* Coming to rest */

static bool all_settled(void)
{
	u32 i;

	for (i = 0; i < ends.n; i++)
		if (ends.end[i].open && !ends.end[i].gone &&
		    !ends.end[i].settled)
			return false;
	return true;
}

void end_settle(struct end *e)
{
	u64 until = sim_now() + END_PATIENCE, probe = 0;
	u32 state = VIA_STATE_IDLE;

	if (e->bare && !e->gone) {
		end_legal(e, "MEM_REGISTER",
			  prog_register(e->nic, e->nic->mem, e->nic->bytes, 0,
					&e->region), V(SUCCESS));
		e->nic->handle = e->region;
	}
	while (e->open && !e->gone && !all_settled()) {
		state = end_state(e);
		sim_expect(sim_now() < until, "end %u is in state %u for ever",
			   e->n, state);
		if (state == VIA_STATE_PENDING && e->forever) {
			end_disconnect(e);
			continue;
		}
		if (state == VIA_STATE_PENDING) {
			/* Bounded by its deadline: end_result() checks it. */
			if (end_result(e, 0) == VIA_R_INVALID_STATE)
				end_result(e, VIA_CONN_PEER);
			continue;
		}
		if (state != VIA_STATE_CONNECTED)
			break;
		end_collect(e);
		while (room(e, true) && end_recv(e))
			;
		if (!probe && end_send(e, PROBE))
			probe = e->number;
		if (probe && e->echoed >= probe)
			e->settled = true;
		/* Unreliable ones may be lost. */
		else if (ends.level == VIA_UNRELIABLE && probe && !sim_dice(4))
			probe = 0;
		end_sleep(e, true, 5 * MS);
	}
	e->settled = true;
	if (!e->open || e->gone)
		return;
	/* The state is seen before the event that tells of it. */
	end_events(e);
	if (state == VIA_STATE_ERROR && !e->lost && !e->broken) {
		sim_sleep(10 * MS);
		end_events(e);
	}
	sim_expect(state != VIA_STATE_ERROR || e->lost || e->broken,
		   "end %u is in Error and was not told", e->n);
}

void end_close(struct end *e)
{
	if (!e->open || e->gone)
		return;
	e->closing = true;
	end_collect(e);
	end_disconnect(e);
	end_collect(e);
	if (!ends.dead && !sim_config.fail_alloc)
		sim_expect(end_state(e) == VIA_STATE_IDLE &&
			   e->vi.q[0].collected == e->vi.q[0].tail &&
			   e->vi.q[1].collected == e->vi.q[1].tail,
			   "end %u has descriptors left", e->n);
	sim_expect(!prog_vi_destroy(&e->vi), "end %u", e->n);
	e->gone = true;
}
