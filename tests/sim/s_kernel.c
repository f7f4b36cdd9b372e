// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Consumers in the kernel (kernel/via_kapi.h) of two hosts: a listener, answers with a
 * reply, messages whose answers are posted where queue locks have just been dropped, RDMA into memory that is
 * turned on and off, and ends of all kinds under load.
 */
#include "consumer.h"

#define MESSAGES	200
#define DEPTH		8
#define BYTES		3000
#define PAGES		4
#define RING		64
#define REFUSALS	3
#define PORT		"\1port-20049"

struct entry {
	u16 control;
	u32 immediate;
	struct via_seg seg;
	u64 raddr;
	u32 rhandle;
};

struct ring {
	struct entry entry[RING];
	u32 posted, done;
	enum via_status bad;		/* all that was wrong with any */
	enum via_status last;
	enum via_status first;		/* of the first one that was wrong */
};

struct side {
	u32 host;
	bool server;
	struct via_file *f;
	struct via_vi *vi;
	struct consumer_port port;
	struct ring q[2];		/* of sends, of receives */
	struct via_kernel_mem *mem;
	struct page *pages[PAGES];
	u8 *in[DEPTH], *out[DEPTH];
	u32 ptag;
	u32 got;			/* messages that have come, in order */
	u32 handle;
	u32 moves;
	atomic_t calls;			/* of settle(), not served */
	enum via_verdict verdict;
	u8 reply[VIA_KERNEL_REPLY];	/* that came with it */
	u32 reply_len;
	enum via_kernel_fault fault;	/* as the connection ended */
	bool dry;			/* receives are not posted again */
	bool ending;			/* nothing is posted by settle() any more */
	bool destroyed;			/* @vi, a grace period ago */
	bool gone, ready, over;
};

static struct side side[2];		/* the server, the client */
static u32 running;			/* threads of the scenario */
static bool crowded;			/* more than one message under way */
static u32 refusals;			/* of the first requests */
static u32 reply_bytes[REFUSALS + 1];	/* of each answer */

static u32 bytes_of(u32 i)
{
	return i * 977 % BYTES;
}

/* The consumer's own lock is the queue's: all its calls are of hooks or before. */
static void post(struct side *s, bool recv, const struct entry *e)
{
	struct ring *r = &s->q[recv];

	sim_expect(r->posted - r->done < RING, "");
	r->entry[r->posted % RING] = *e;
	r->posted++;
	via_kernel_post(s->vi, recv, 1);
}

static void post_recv(struct side *s, u8 *p)
{
	struct entry e = {
		.seg = { .addr = (uintptr_t)p, .len = BYTES },
	};

	post(s, true, &e);
}

/* Every kind of SEND by turns. */
static u16 control_of(u32 i)
{
	return (i & 2 ? VIA_CTL_KERNEL_INVALIDATE : VIA_CTL_IMMEDIATE) |
	       (i & 1 ? VIA_CTL_KERNEL_SOLICITED : 0);
}

static void post_send(struct side *s, u32 i)
{
	struct entry e = { .control = control_of(i), .immediate = 3 * i };
	u8 *p = s->out[i % DEPTH];

	e.seg.addr = (uintptr_t)p;
	e.seg.len = bytes_of(i);
	prog_fill(p, e.seg.len, s->server, i);
	post(s, false, &e);
}

static void load(struct via_vi *vi, bool recv, u32 index, struct via_desc *d)
{
	struct side *s = via_kernel_vi_priv(vi);
	const struct entry *e = &s->q[recv].entry[index % RING];

	sim_expect(index - s->q[recv].done < RING, "");
	d->control = e->control;
	d->immediate = e->immediate;
	d->seg[0] = e->seg;
	d->nsegs = !!e->seg.len;
	d->length = e->seg.len;
	d->raddr = e->raddr;
	d->rhandle = e->rhandle;
}

static void complete(struct via_vi *vi, bool recv,
		     const struct via_kernel_done *done)
{
	struct side *s = via_kernel_vi_priv(vi);
	struct ring *r = &s->q[recv];

	sim_expect(done->index == r->done, "%u instead of %u", done->index,
		   r->done);
	r->last = done->status;
	/* The simulator's plain loads pass by stores that wait: bytes of this context. */
	smp_mb();
	if (!r->bad)
		r->first = done->status & VIA_ST_ERROR_MASK;
	r->bad |= done->status & VIA_ST_ERROR_MASK;
	if (recv && !(done->status & VIA_ST_ERROR_MASK)) {
		u16 control = control_of(done->index);

		sim_expect(done->immediate == 3 * done->index &&
			   !!(done->status & VIA_ST_IMMEDIATE) ==
			   !!(control & VIA_CTL_IMMEDIATE) &&
			   done->solicited ==
			   !!(control & VIA_CTL_KERNEL_SOLICITED) &&
			   done->invalidate ==
			   !!(control & VIA_CTL_KERNEL_INVALIDATE),
			   "host %u: message %u: status %#x, %u, %d, %d", s->host,
			   done->index, done->status, done->immediate,
			   done->solicited, done->invalidate);
		sim_expect(done->length == bytes_of(done->index) &&
			   prog_filled(s->in[done->index % DEPTH], done->length,
				       !s->server, done->index),
			   "host %u: message %u: status %#x, %u bytes, %d",
			   s->host, done->index, done->status, done->length,
			   *(int *)(s->in[done->index % DEPTH] + 4));
	}
	r->done++;
}

/* A receive goes back; the server answers each message by one of the same size. */
static void answer(struct via_vi *vi, struct side *s)
{
	struct ring *r = &s->q[1];

	for (; s->got != READ_ONCE(r->done); s->got++) {
		if (r->bad || READ_ONCE(s->ending))
			continue;
		if (!s->dry)
			post_recv(s, s->in[s->got % DEPTH]);
		if (!s->server)
			continue;
		post_send(s, s->got);
		via_kernel_ring(vi, false);
	}
}

/* One context at a time; the others, and calls within this one, leave it to that one. */
static void settle(struct via_vi *vi)
{
	struct side *s = via_kernel_vi_priv(vi);
	int n;

	sim_expect(rcu_read_lock_held(), "");
	sim_expect(!READ_ONCE(s->destroyed), "called for a VI that has ended");
	if (atomic_inc_return(&s->calls) > 1)
		return;
	do {
		n = atomic_read(&s->calls);
		answer(vi, s);
	} while (atomic_add_return(-n, &s->calls));
}

static void moved(struct via_vi *vi, u32 from)
{
	struct side *s = via_kernel_vi_priv(vi);
	const u8 *reply;

	if (from == VIA_STATE_PENDING) {
		s->verdict = vi->verdict;
		sim_expect(vi->state == VIA_STATE_ERROR ||
			   !via_kernel_fault_of(vi), "that of the last one");
		s->reply_len = via_kernel_answer(vi, &reply);
		if (s->reply_len)
			memcpy(s->reply, reply, s->reply_len);
	}
	if (from == VIA_STATE_CONNECTED) {
		s->fault = via_kernel_fault_of(vi);
		WRITE_ONCE(s->over, true);
	}
	/* Pairs with connect(): what came with the verdict is there. */
	smp_store_release(&s->moves, s->moves + 1);
}

static void gone(struct via_file *f)
{
	struct side *s = via_kernel_priv(f);

	sim_expect(!s->gone, "");
	WRITE_ONCE(s->gone, true);
}

static const struct via_kernel_ops hooks = {
	.load = load,
	.complete = complete,
	.settle = settle,
	.moved = moved,
	.gone = gone,
};

static const struct via_kernel_limits limits = { .vis = 2, .pages = 2 * PAGES };

static void begin(struct side *s)
{
	static const struct via_vi_attrs attrs = {
		.reliability = VIA_RELIABLE_DELIVERY,
		.max_transfer = 64 << 10,
		.rights = VIA_RDMA_WRITE | VIA_RDMA_READ,
	};
	struct via_vi_attrs a = attrs;
	struct via_vi *more;
	u32 i;

	s->f = via_kernel_open(&init_net, host_node(s->host), 0, &hooks, &limits,
			       s);
	sim_expect(!IS_ERR(s->f), "(%ld)", PTR_ERR(s->f));
	sim_ok(via_kernel_ptag_make(s->f, &s->ptag));
	s->mem = via_kernel_mem_make(s->f, s->ptag, PAGES);
	sim_expect(!IS_ERR(s->mem), "");
	sim_expect(IS_ERR(via_kernel_mem_make(s->f, s->ptag, PAGES + 1)),
		   "more pages than the limit");
	a.ptag = s->ptag;
	s->vi = via_kernel_vi_make(s->f, &a, s);
	sim_expect(!IS_ERR(s->vi), "(%ld)", PTR_ERR(s->vi));
	sim_expect(via_kernel_ptag_unmake(s->f, s->ptag) == -EBUSY, "");
	more = via_kernel_vi_make(s->f, &attrs, s);
	sim_expect(!IS_ERR(more), "");
	sim_expect(IS_ERR(via_kernel_vi_make(s->f, &attrs, s)),
		   "more VIs than the limit");
	via_kernel_vi_destroy(more);
	for (i = 0; i < DEPTH; i++) {
		s->in[i] = kmalloc(BYTES, GFP_KERNEL);
		s->out[i] = kmalloc(BYTES, GFP_KERNEL);
		sim_expect(s->in[i] && s->out[i], "");
	}
	for (i = 0; i < PAGES; i++) {
		s->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		sim_expect(s->pages[i], "");
	}
	for (i = 0; i < DEPTH; i++)
		post_recv(s, s->in[i]);
}

/* No call of settle() posts from now on. */
static void stop_posting(struct side *s)
{
	WRITE_ONCE(s->ending, true);
	/* Pairs with the atomic of settle(). */
	smp_mb();
	sim_await(!atomic_read(&s->calls), 10000);
}

/* What settle() posts beside the end or behind it may stay posted. */
static void end(struct side *s)
{
	u32 i;

	if (sim_dice(2))
		stop_posting(s);
	via_kernel_vi_destroy(s->vi);
	if (sim_dice(2)) {
		synchronize_rcu();
		WRITE_ONCE(s->destroyed, true);
	}
	sim_expect(!s->ending || (s->q[0].done == s->q[0].posted &&
				  s->q[1].done == s->q[1].posted),
		   "not all was flushed");
	if (s->mem)
		via_kernel_mem_free(s->mem);
	sim_ok(via_kernel_ptag_unmake(s->f, s->ptag));
	if (s->server)
		via_kernel_unlisten(&s->port.listener);
	via_kernel_close(s->f);
	if (s->port.asked)
		via_conn_put(s->port.asked);
	for (i = 0; i < DEPTH; i++) {
		kfree(s->in[i]);
		kfree(s->out[i]);
	}
	for (i = 0; i < PAGES; i++)
		__free_page(s->pages[i]);
}

static struct via_kernel_span span_of(struct side *s, u8 key)
{
	struct via_kernel_span span = {
		.handle = (via_kernel_mem_handle(s->mem) & ~0xffu) | key,
		.rights = VIA_RDMA_WRITE | VIA_RDMA_READ,
		.start = 0x10000 + 100,
		.len = BYTES,
		.pages = s->pages,
		.npages = 1 + (100 + BYTES - 1) / PAGE_SIZE,
	};

	return span;
}

static bool is_up(struct side *s)
{
	u32 state = READ_ONCE(s->vi->state);

	return state == VIA_STATE_CONNECTED || state == VIA_STATE_PENDING;
}

static bool awaits(struct side *s)
{
	sim_await(READ_ONCE(s->port.asked) || READ_ONCE(s->gone) ||
		  READ_ONCE(side[1].over), 100000);
	return s->port.asked && !s->gone;
}

/* The first requests are refused; each answer has a reply of its own. */
static void answers(struct side *s)
{
	u8 reply[VIA_KERNEL_REPLY + 1];
	struct via_conn *conn;
	u32 n;

	for (n = 0; n <= refusals && awaits(s); n++) {
		conn = s->port.asked;
		prog_fill(reply, reply_bytes[n], 5, n);
		if (n == refusals) {
			sim_expect(via_kernel_accept(s->vi, conn, reply,
						     sizeof(reply)) ==
				   VIA_R_INVALID_PARAMETER, "");
			via_kernel_accept(s->vi, conn, reply, reply_bytes[n]);
			return;
		}
		WRITE_ONCE(s->port.asked, NULL);
		via_kernel_reject(s->f, conn, reply, reply_bytes[n]);
		via_conn_put(conn);
	}
}

static void serve(void *arg)
{
	struct side *s = arg;
	struct via_kernel_span span;

	begin(s);
	consumer_listen(&s->port, s->f, PORT);
	{
		struct via_listener other = s->port.listener;

		sim_expect(via_kernel_listen(s->f, &other) == -EADDRINUSE, "");
	}
	span = span_of(s, 7);
	span.npages--;
	span.len += 3 * PAGE_SIZE;
	sim_expect(via_kernel_mem_on(s->mem, &span) == -EINVAL, "");
	span = span_of(s, 7);
	sim_ok(via_kernel_mem_on(s->mem, &span));
	sim_expect(via_kernel_mem_on(s->mem, &span) == -EBUSY, "");
	s->handle = span.handle;
	WRITE_ONCE(s->ready, true);
	answers(s);
	sim_expect(!s->reply_len, "the server has a reply");
	sim_await(READ_ONCE(side[1].over) && !is_up(s), 100000);
	end(s);
	running--;
}

static bool connect(struct side *s)
{
	struct via_net_addr local = { .disc_len = 3, .disc = "me" };
	struct via_net_addr remote;
	u32 moves;

	prog_addr(&remote, host_mac(side[0].host), PORT);
	remote.disc_len = sizeof(PORT);
	sim_await(READ_ONCE(side[0].ready), 100000);
	moves = s->moves;
	if (via_kernel_connect(s->vi, &local, &remote, 5 * SEC))
		return false;
	/* To Pending, and from there. */
	sim_await(smp_load_acquire(&s->moves) >= moves + 2, 100000);
	return !s->verdict;
}

/* Until it is accepted; what each answer brings is what the server has sent. */
static void connects(struct side *s)
{
	bool stands;
	u32 n;

	for (n = 0; n <= refusals; n++) {
		stands = connect(s);
		sim_expect(stands ? n == refusals :
			   s->verdict == VIA_R_REJECT && n < refusals,
			   "(verdict %d, request %u of %u)", s->verdict, n,
			   refusals);
		sim_expect(s->reply_len == reply_bytes[n] &&
			   prog_filled(s->reply, s->reply_len, 5, n),
			   "request %u: a reply of %u bytes, not %u", n,
			   s->reply_len, reply_bytes[n]);
	}
}

/* One RDMA, and how it has ended. */
static enum via_status rdma(struct side *s, u16 op, void *p, u32 handle)
{
	struct entry e = {
		.control = op,
		.seg = { .addr = (uintptr_t)p, .len = BYTES },
		.raddr = 0x10000 + 100,
		.rhandle = handle,
	};
	u32 n = s->q[0].posted;

	post(s, false, &e);
	via_kernel_ring(s->vi, false);
	sim_await(READ_ONCE(s->q[0].done) != n, 10000);
	return s->q[0].last & VIA_ST_ERROR_MASK;
}

/* Messages up to that number, and their answers. */
static void talk(struct side *s, u32 until)
{
	u32 i, ahead = crowded ? DEPTH - 1 : 1;

	for (i = s->got; i < until; i++) {
		sim_await(i - READ_ONCE(s->got) < ahead || READ_ONCE(s->over),
			  10000);
		if (READ_ONCE(s->over))
			return;
		post_send(s, i);
		via_kernel_ring(s->vi, false);
	}
	sim_await(READ_ONCE(s->got) >= until || READ_ONCE(s->over), 10000);
}

static void client(void *arg)
{
	struct side *s = arg;
	u8 *out, *in;

	begin(s);
	connects(s);
	talk(s, MESSAGES);
	sim_expect(!s->over && !s->q[0].bad, "");
	out = kmalloc(BYTES, GFP_KERNEL);
	in = kzalloc(BYTES, GFP_KERNEL);
	prog_fill(out, BYTES, 3, 4);
	sim_expect(!rdma(s, VIA_CTL_OP_RDMAWRITE, out, side[0].handle), "");
	sim_expect(!rdma(s, VIA_CTL_OP_RDMAREAD, in, side[0].handle), "");
	sim_expect(prog_filled(in, BYTES, 3, 4), "");
	/*
	 * Off and on again with another key: the old handle is no good.  The target
	 * need not have heard that the bytes have come.
	 */
	if (sim_dice(2))
		talk(s, MESSAGES + 1);
	{
		struct via_kernel_span span = span_of(&side[0], 8);

		sim_expect(!via_kernel_mem_off(side[0].mem, span.handle) &&
			   via_kernel_mem_off(side[0].mem, side[0].handle), "");
		sim_ok(via_kernel_mem_on(side[0].mem, &span));
		sim_expect(!rdma(s, VIA_CTL_OP_RDMAREAD, in, span.handle), "");
	}
	if (sim_dice(2))
		sim_expect(rdma(s, VIA_CTL_OP_RDMAREAD, in, side[0].handle), "");
	else
		via_kernel_disconnect(s->vi);
	sim_await(READ_ONCE(s->over), 100000);
	end(s);
	kfree(out);
	kfree(in);
	running--;
}

static void fresh(void)
{
	memset(side, 0, sizeof(side));
	running = 0;
}

static void start(const char *name, void (*fn)(void *arg), void *arg)
{
	running++;
	sim_kthread(name, fn, arg);
}

/* On these hosts. */
static void both(void (*other)(void *), u32 server, u32 asker)
{
	u32 i;

	side[0].server = true;
	side[0].host = server;
	side[1].host = asker;
	refusals = other == client ? sim_dice(REFUSALS + 1) : 0;
	for (i = 0; i <= REFUSALS; i++)
		reply_bytes[i] = sim_dice(3) ? sim_dice(VIA_KERNEL_REPLY + 1) :
				 sim_dice(2) * VIA_KERNEL_REPLY;
	crowded = sim_dice(2);
	start("server", serve, &side[0]);
	start("client", other, &side[1]);
	sim_await(!READ_ONCE(running), MS);
}

static void pair(void)
{
	static const u32 losses[] = { 0, 0, 100, 500 };

	hosts_up(2);
	fresh();
	sim_wire.loss = losses[sim_dice(4)];
	both(client, 0, 1);
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-pair", .run = pair, .runs = 40, .max_vi = 16,
	     .seconds = 200,
	     .what = "two consumers in the kernel: listener, messages, RDMA, memory on and off")

/* On the loopback, or on a NIC that could reach others. */
static void within(void (*other)(void *))
{
	hosts_up(sim_dice(2));
	both(other, 0, 0);
	hosts_down();
}

static void loopback(void)
{
	fresh();
	within(client);
}

SIM_SCENARIO(.name = "kernel-loop", .run = loopback, .runs = 20, .max_vi = 16,
	     .seconds = 200,
	     .what = "two consumers in the kernel of one host")

/* Until the connection ends, whatever ends it. */
static void client_for_ever(void *arg)
{
	struct side *s = arg;

	begin(s);
	WRITE_ONCE(s->ready, true);
	if (connect(s))
		while (!READ_ONCE(s->over))
			talk(s, MESSAGES), s->over |= s->got >= MESSAGES;
	end(s);
	WRITE_ONCE(side[1].over, true);
	running--;
}

/* How a connection may end, and what both ends hear of it. */
enum end {
	LEAVE, WRITE_HANDLE, WRITE_RANGE, READ_HANDLE, TOO_LONG, NO_RECEIVE, OWN_ERROR,
	PULLED, ENDS
};

static const struct {
	enum via_kernel_fault server, client;
	enum via_status status;		/* of the client's first bad send */
} faults[ENDS] = {
	[LEAVE] = { VIA_KERNEL_FAULT_PEER_LEFT, VIA_KERNEL_FAULT_NONE, 0 },
	[WRITE_HANDLE] = { VIA_KERNEL_FAULT_LOCAL_ACCESS,
			   VIA_KERNEL_FAULT_PEER_ACCESS, VIA_ST_RDMA_PROT_ERROR },
	[WRITE_RANGE] = { VIA_KERNEL_FAULT_LOCAL_ACCESS,
			  VIA_KERNEL_FAULT_PEER_ACCESS, VIA_ST_RDMA_PROT_ERROR },
	[READ_HANDLE] = { VIA_KERNEL_FAULT_LOCAL_ACCESS,
			  VIA_KERNEL_FAULT_PEER_READ, VIA_ST_RDMA_PROT_ERROR },
	[TOO_LONG] = { VIA_KERNEL_FAULT_LOCAL_RECEIVE,
		       VIA_KERNEL_FAULT_PEER_RECEIVE,
		       VIA_ST_REMOTE_DESC_ERROR },
	[NO_RECEIVE] = { VIA_KERNEL_FAULT_LOCAL_RECEIVE,
			 VIA_KERNEL_FAULT_PEER_RECEIVE,
			 VIA_ST_REMOTE_DESC_ERROR },
	[OWN_ERROR] = { VIA_KERNEL_FAULT_LOST, VIA_KERNEL_FAULT_LOST,
			VIA_ST_PROTECTION_ERROR },
	[PULLED] = { VIA_KERNEL_FAULT_LOST, VIA_KERNEL_FAULT_LOST, 0 },
};

static enum end how;

/* A message that is good, what ends the connection, and one behind it. */
static void offend(struct side *s, u8 *buf)
{
	struct entry e = {
		.control = how == READ_HANDLE ? VIA_CTL_OP_RDMAREAD :
			   how < READ_HANDLE ? VIA_CTL_OP_RDMAWRITE : 0,
		.seg = { .addr = (uintptr_t)buf, .len = BYTES },
		.raddr = 0x10000 + 100,
		.rhandle = side[0].handle,
	};

	if (how == WRITE_RANGE)
		e.raddr++;
	else if (how == WRITE_HANDLE || how == READ_HANDLE)
		e.rhandle ^= sim_dice(2) ? 0x1 : 0x100;
	else if (how == TOO_LONG)
		e.seg.len = 2 * BYTES;
	else if (how == OWN_ERROR)
		e.seg.handle = 0x100 * sim_dice(1000) + 0x100;
	post_send(s, s->got);
	post(s, false, &e);
	post_send(s, s->got + 1);
	via_kernel_ring(s->vi, false);
}

static void client_at_fault(void *arg)
{
	struct side *s = arg;
	u8 *buf = kzalloc(2 * BYTES, GFP_KERNEL);

	sim_expect(buf, "");
	begin(s);
	connects(s);
	talk(s, how == NO_RECEIVE ? DEPTH : 1 + sim_dice(3));
	sim_expect(!s->over, "");
	if (how == LEAVE)
		via_kernel_disconnect(s->vi);
	else if (how == NO_RECEIVE)
		talk(s, DEPTH + 2);
	else if (how == PULLED)
		host_down(0);
	else
		offend(s, buf);
	sim_await(READ_ONCE(s->over) && READ_ONCE(side[0].over), 100000);
	/* A RESET does not say why: DISCONNECT was lost, and a frame came after it. */
	if (!sim_wire.loss || side[0].fault != VIA_KERNEL_FAULT_LOST)
		sim_expect(side[0].fault == faults[how].server,
			   "%u: server: %u", how, side[0].fault);
	if (!sim_wire.loss || s->fault != VIA_KERNEL_FAULT_LOST) {
		sim_expect(s->fault == faults[how].client, "%u: client: %u",
			   how, s->fault);
		if (faults[how].status)
			sim_expect(s->q[0].first == faults[how].status,
				   "%u: status %#x", how, s->q[0].first);
	}
	sim_expect(via_kernel_fault_of(s->vi) == s->fault, "");
	end(s);
	kfree(buf);
	running--;
}

static void faults_pair(void)
{
	fresh();
	how = sim_dice(ENDS);
	side[0].dry = how == NO_RECEIVE;
	hosts_up(2);
	sim_wire.loss = sim_dice(2) * 300;
	both(client_at_fault, 0, 1);
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-faults", .run = faults_pair, .runs = 80,
	     .max_vi = 16, .seconds = 200,
	     .what = "why connections of consumers in the kernel have ended")

static void faults_loop(void)
{
	fresh();
	how = sim_dice(PULLED);
	side[0].dry = how == NO_RECEIVE;
	within(client_at_fault);
}

SIM_SCENARIO(.name = "kernel-faults-loop", .run = faults_loop, .runs = 200,
	     .max_vi = 16, .seconds = 200,
	     .what = "the same within one host")

static void pull(void *arg)
{
	sim_await(READ_ONCE(side[0].ready) && READ_ONCE(side[1].ready), 100000);
	sim_pause(sim_dice(20) * (sim_dice(2) ? MS : 10000));
	host_down(0);
	running--;
}

static void pulled(void)
{
	fresh();
	hosts_up(2);
	start("pull", pull, NULL);
	both(client_for_ever, 1, 0);
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-gone", .run = pulled, .runs = 40, .max_vi = 16,
	     .seconds = 200,
	     .what = "the NIC of a consumer in the kernel goes under load")
