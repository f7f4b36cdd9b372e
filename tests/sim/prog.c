// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What programs in scenarios do. */
#include <sys/mman.h>
#include "prog.h"

/* NICs and memory */

int prog_open(struct prog_nic *n, const char *node, size_t bytes)
{
	long ret;

	memset(n, 0, sizeof(*n));
	n->file = sim_open(node);
	if (IS_ERR(n->file))
		return PTR_ERR(n->file);
	n->file->f_flags = O_NONBLOCK;
	n->hello.abi = VIA_ABI_VERSION;
	ret = sim_ioctl(n->file, VIA_IOC_HELLO, &n->hello);
	if (!ret) {
		n->ctl = sim_mmap(n->file, NULL, VIA_MMAP_CTL, PAGE_SIZE,
				  false);
		if (IS_ERR(n->ctl)) {
			ret = PTR_ERR(n->ctl);
			n->ctl = NULL;
		}
	}
	if (!ret && bytes) {
		n->bytes = PAGE_ALIGN(bytes);
		/* Never given back while it may be pinned: sim_memory(). */
		n->mem = sim_memory(n->bytes);
		ret = prog_register(n, n->mem, n->bytes,
				    VIA_RDMA_WRITE | VIA_RDMA_READ, &n->handle);
	}
	if (ret)
		prog_close(n);
	return ret;
}

void prog_close(struct prog_nic *n)
{
	if (IS_ERR_OR_NULL(n->file))
		return;
	if (n->ctl)
		sim_munmap(n->ctl);
	sim_close(n->file);
	n->ctl = NULL;
	n->file = ERR_PTR(-EBADF);
}

void *prog_buffer(struct prog_nic *n, size_t bytes)
{
	void *p = n->mem + n->used;

	n->used += ALIGN(bytes, 64);
	sim_expect(n->used <= n->bytes, "");
	return p;
}

int prog_register(struct prog_nic *n, void *p, size_t bytes, u32 rights,
		  u32 *handle)
{
	struct via_mem_register a = {
		.addr = (uintptr_t)p, .len = bytes, .rights = rights,
	};
	long ret = sim_ioctl(n->file, VIA_IOC_MEM_REGISTER, &a);

	*handle = a.handle;
	return ret;
}

int prog_deregister(struct prog_nic *n, void *p, u32 handle)
{
	struct via_mem_deregister a = {
		.addr = (uintptr_t)p, .handle = handle,
	};

	return sim_ioctl(n->file, VIA_IOC_MEM_DEREGISTER, &a);
}

/* VIs */

/* The ring where it is in an area that begins with the longest one. */
static void queue_ring(struct prog_vi *v, bool recv, u32 n)
{
	struct prog_queue *q = &v->q[recv];
	char *sh = (char *)v->shared;

	q->slots = (void *)(sh + (recv ? VIA_VI_RECV_SLOTS(VIA_VI_MOST) :
				  VIA_VI_SEND_SLOTS));
	q->comp = (void *)(sh + (recv ? VIA_VI_RECV_COMP(VIA_VI_MOST) :
				 VIA_VI_SEND_COMP(VIA_VI_MOST)));
	q->mask = n - 1;
}

static void queue_init(struct prog_vi *v, bool recv)
{
	struct via_vi_shared *sh = v->shared;
	struct prog_queue *q = &v->q[recv];
	u32 n = sh->entries;

	*q = (struct prog_queue) {
		.prog = recv ? &sh->recv_user : &sh->send_user,
		.kern = recv ? &sh->recv_kern : &sh->send_kern,
	};
	queue_ring(v, recv, n);
	if (n == VIA_VI_MOST)
		return;
	sim_expect(n == VIA_VI_FEW, "%u entries", n);
	q->slots = (void *)((char *)sh + (recv ? VIA_VI_FEW_RECV_SLOTS :
					  VIA_VI_FEW_SEND_SLOTS));
	q->comp = (void *)((char *)sh + (recv ? VIA_VI_FEW_RECV_COMP :
					 VIA_VI_FEW_SEND_COMP));
}

long prog_grow(struct prog_vi *v, bool recv, u32 entries)
{
	struct via_vi_grow a = { .vi = v->id, .recv = recv,
				 .entries = entries };
	u32 old = v->q[recv].mask + 1;
	long ret = sim_ioctl(v->nic->file, VIA_IOC_VI_GROW, &a);

	if (ret)
		return ret;
	sim_expect(a.entries >= entries && a.entries >= old &&
		   a.entries <= VIA_VI_MOST && is_power_of_2(a.entries),
		   "%u slots", a.entries);
	if (a.entries != old)
		queue_ring(v, recv, a.entries);
	return 0;
}

u32 prog_level(void)
{
	return sim_dice(3) ? prog_reliable() : VIA_UNRELIABLE;
}

u32 prog_reliable(void)
{
	return sim_dice(2) ? VIA_RELIABLE_DELIVERY : VIA_RELIABLE_RECEPTION;
}

u32 prog_max_transfer = 32768;

static int make_vi(struct prog_vi *v, struct prog_nic *n, u32 level,
		   u32 send_cq, u32 recv_cq, u32 rights, u32 entries)
{
	struct via_vi_create a = {
		.attrs = { .reliability = level,
			   .max_transfer = prog_max_transfer,
			   .rights = rights },
		.send_cq = send_cq, .recv_cq = recv_cq,
		.entries = entries,
	};
	long ret = sim_ioctl(n->file, VIA_IOC_VI_CREATE, &a);
	struct via_vi_arg undo;
	void *p;

	memset(v, 0, sizeof(*v));
	v->nic = n;
	if (ret)
		return ret;
	v->id = a.vi;
	v->map_at = a.mmap_offset;
	v->map_size = a.mmap_size;
	p = sim_mmap(n->file, NULL, a.mmap_offset, a.mmap_size, true);
	if (IS_ERR(p)) {
		undo = (struct via_vi_arg){ .vi = a.vi };
		sim_ioctl(n->file, VIA_IOC_VI_DESTROY, &undo);
		return PTR_ERR(p);
	}
	v->shared = p;
	queue_init(v, false);
	queue_init(v, true);
	return 0;
}

int prog_vi_rights(struct prog_vi *v, struct prog_nic *n, u32 level,
		   u32 send_cq, u32 recv_cq, u32 rights)
{
	return make_vi(v, n, level, send_cq, recv_cq, rights, 0);
}

int prog_vi_few(struct prog_vi *v, struct prog_nic *n, u32 level, u32 send_cq,
		u32 recv_cq)
{
	return make_vi(v, n, level, send_cq, recv_cq, VIA_RDMA_WRITE,
		       VIA_VI_FEW);
}

int prog_vi(struct prog_vi *v, struct prog_nic *n, u32 level, u32 send_cq,
	    u32 recv_cq)
{
	return prog_vi_rights(v, n, level, send_cq, recv_cq,
			      level == VIA_UNRELIABLE ? VIA_RDMA_WRITE :
			      VIA_RDMA_WRITE | VIA_RDMA_READ);
}

int prog_vi_destroy(struct prog_vi *v)
{
	struct via_vi_arg a = { .vi = v->id };
	int ret = sim_ioctl(v->nic->file, VIA_IOC_VI_DESTROY, &a);

	if (!ret && v->shared) {
		sim_munmap(v->shared);
		v->shared = NULL;
	}
	return ret;
}

void prog_vis(struct prog_vi *v, u32 count, struct prog_nic *n, u32 level)
{
	int ret;

	for (; count--; v++) {
		ret = prog_vi(v, n, level, 0, 0);
		sim_expect(!ret, "no VI: %d", ret);
	}
}

void prog_open_vi(struct prog_nic *n, struct prog_vi *v, const char *node,
		  size_t bytes, u32 level)
{
	int ret = prog_open(n, node, bytes);

	sim_expect(!ret, "no NIC %s: %d", node, ret);
	prog_vis(v, 1, n, level);
}

u32 prog_state(struct prog_vi *v)
{
	return READ_ONCE(v->shared->state);
}

/* Posting */

void prog_put(struct prog_vi *v, bool recv, u16 control, const void *p, u32 n,
	      u32 handle, u64 raddr, u32 rhandle)
{
	struct prog_queue *q = &v->q[recv];
	struct via_slot *s = &q->slots[q->tail & q->mask];
	bool remote = (control & VIA_CTL_OP_MASK) != VIA_CTL_OP_SENDRECV;
	u32 i = remote;

	memset(s, 0, sizeof(*s));
	/* The descriptor's own memory: any that is registered and aligned. */
	s->desc = (uintptr_t)v->nic->mem + (q->tail % PROG_DESCS) * 64;
	s->desc_handle = v->nic->handle;
	s->control = control;
	s->seg_count = i + (n != 0);
	s->length = n;
	s->immediate = v->immediate ? v->immediate : q->tail;
	v->immediate = 0;
	if (remote) {
		s->seg[0].addr = raddr;
		s->seg[0].handle = rhandle;
	}
	if (n) {
		s->seg[i].addr = (uintptr_t)p;
		s->seg[i].handle = handle;
		s->seg[i].len = n;
	}
	if (v->halves && !recv && !remote && n > 1) {
		s->seg_count = 2;
		s->seg[1] = s->seg[0];
		s->seg[0].len = n / 2;
		s->seg[1].addr += n / 2;
		s->seg[1].len = n - n / 2;
	}
	q->tail++;
	smp_store_release(&q->prog->tail, q->tail);
}

void prog_ring(struct prog_vi *v, bool recv)
{
	struct prog_queue *q = &v->q[recv];
	u32 state;

	if (v->hold)
		return;
	smp_mb();
	state = READ_ONCE(v->shared->state);
	if (recv ? state != VIA_STATE_ERROR :
		 state == VIA_STATE_CONNECTED &&
		 READ_ONCE(q->kern->flags) & VIA_Q_BUSY)
		return;
	while (sim_trap(v->nic->file, recv ? VIA_OP_RECV : VIA_OP_SEND,
			v->id) == VIA_TRAP_MORE)
		;
}

void prog_post(struct prog_vi *v, bool recv, u16 control, const void *p, u32 n,
	       u32 handle, u64 raddr, u32 rhandle)
{
	prog_put(v, recv, control, p, n, handle, raddr, rhandle);
	prog_ring(v, recv);
}

void prog_post_send(struct prog_vi *v, const void *p, u32 n)
{
	prog_post(v, false, VIA_CTL_OP_SENDRECV, p, n, v->nic->handle, 0, 0);
}

void prog_post_write(struct prog_vi *v, const void *p, u32 n, u64 raddr,
		     u32 rhandle)
{
	prog_post(v, false, VIA_CTL_OP_RDMAWRITE, p, n, v->nic->handle, raddr,
		  rhandle);
}

void prog_post_read(struct prog_vi *v, void *p, u32 n, u64 raddr, u32 rhandle)
{
	prog_post(v, false, VIA_CTL_OP_RDMAREAD, p, n, v->nic->handle, raddr,
		  rhandle);
}

void prog_post_recv(struct prog_vi *v, void *p, u32 n)
{
	prog_post(v, true, VIA_CTL_OP_SENDRECV, p, n, v->nic->handle, 0, 0);
}

/* Completions */

int prog_done(struct prog_vi *v, bool recv, struct prog_done *d)
{
	struct prog_queue *q = &v->q[recv];
	u32 i = q->collected & q->mask;
	u32 done = smp_load_acquire(&q->kern->done);

	/* collected <= done <= tail, whatever happens. */
	sim_expect(done - q->collected <= q->tail - q->collected, "");
	if (done == q->collected)
		return 0;
	d->status = READ_ONCE(q->comp[i].status);
	d->length = READ_ONCE(q->comp[i].length);
	d->immediate = READ_ONCE(q->comp[i].immediate);
	d->desc = (void *)(uintptr_t)q->slots[i].desc;
	sim_expect(d->status & VIA_ST_DONE, "");
	q->collected++;
	smp_store_release(&q->prog->collected, q->collected);
	return 1;
}

int prog_look(struct prog_vi *v, bool recv, u32 i, struct prog_done *d)
{
	if (prog_done(v, recv, d))
		return 1;
	if (READ_ONCE(v->nic->ctl->poll) || i % 8 == 7)
		sim_trap(v->nic->file, VIA_OP_POLL, 0);
	return 0;
}

int prog_wait(struct prog_vi *v, bool recv, u64 ns, struct prog_done *d)
{
	struct prog_queue *q = &v->q[recv];
	u64 until = ns == VIA_FOREVER ? VIA_FOREVER : sim_now() + ns;
	long ret = 0;

	while (!prog_done(v, recv, d)) {
		struct via_wait w = {
			.kind = recv ? VIA_WAIT_RECV : VIA_WAIT_SEND,
			.id = v->id,
			.seen = q->collected,
			.timeout = until == VIA_FOREVER ? VIA_FOREVER :
				   until > sim_now() ? until - sim_now() : 0,
		};

		if (ret)
			return ret;
		/* As libvipl: the trap where there is no limit. */
		if (until == VIA_FOREVER)
			ret = sim_trap(v->nic->file,
				       recv ? VIA_OP_WAIT_RECV :
				       VIA_OP_WAIT_SEND, v->id);
		else
			ret = sim_ioctl(v->nic->file, VIA_IOC_WAIT, &w);
		if (ret == -EINTR)
			ret = 0;
	}
	return 0;
}

struct prog_done prog_good(struct prog_vi *v, bool recv, u64 ns)
{
	struct prog_done d = {};
	int ret = prog_wait(v, recv, ns, &d);

	sim_expect(!ret && !(d.status & VIA_ST_ERROR_MASK),
		   "%s %u: %d, status %#x", recv ? "receive" : "send",
		   v->q[recv].collected, ret, d.status);
	return d;
}

void prog_fill(void *p, u32 n, u64 stream, u64 number)
{
	u64 x = stream << 32 ^ number * 0x9e3779b97f4a7c15ull;
	u8 *b = p;
	u32 i;

	for (i = 0; i < n; i++) {
		if (!(i & 7))
			x = x * 6364136223846793005ull + 1442695040888963407ull;
		b[i] = x >> (8 * (i & 7));
	}
}

bool prog_filled(const void *p, u32 n, u64 stream, u64 number)
{
	u64 x = stream << 32 ^ number * 0x9e3779b97f4a7c15ull;
	const u8 *b = p;
	u32 i;

	for (i = 0; i < n; i++) {
		if (!(i & 7))
			x = x * 6364136223846793005ull + 1442695040888963407ull;
		if (b[i] != (u8)(x >> (8 * (i & 7))))
			return false;
	}
	return true;
}

/* Completion queues */

int prog_cq(struct prog_cq *c, struct prog_nic *n, u32 entries)
{
	struct via_cq_create a = { .entries = entries };
	struct via_cq_arg undo;
	long ret = sim_ioctl(n->file, VIA_IOC_CQ_CREATE, &a);
	void *p;

	memset(c, 0, sizeof(*c));
	c->nic = n;
	if (ret)
		return ret;
	p = sim_mmap(n->file, NULL, a.mmap_offset, a.mmap_size, true);
	if (IS_ERR(p)) {
		undo = (struct via_cq_arg){ .cq = a.cq };
		sim_ioctl(n->file, VIA_IOC_CQ_DESTROY, &undo);
		return PTR_ERR(p);
	}
	c->id = a.cq;
	c->entries = a.entries;
	c->shared = p;
	c->slots = (void *)((char *)p + VIA_CQ_HDR_SIZE);
	return 0;
}

int prog_cq_destroy(struct prog_cq *c)
{
	struct via_cq_arg a = { .cq = c->id };
	int ret = sim_ioctl(c->nic->file, VIA_IOC_CQ_DESTROY, &a);

	if (!ret)
		sim_munmap(c->shared);
	return ret;
}

int prog_cq_done(struct prog_cq *c, u32 *vi, bool *recv)
{
	struct via_cq_entry *e = &c->slots[c->head & (c->entries - 1)];

	if (smp_load_acquire(&c->shared->tail) == c->head) {
		if (!(READ_ONCE(c->shared->flags) & VIA_CQ_OVERFLOW))
			return 0;
		while (sim_trap(c->nic->file, VIA_OP_CQ, c->id) ==
		       VIA_TRAP_MORE)
			;
		if (smp_load_acquire(&c->shared->tail) == c->head)
			return 0;
	}
	*vi = READ_ONCE(e->vi);
	*recv = READ_ONCE(e->recv);
	c->head++;
	smp_store_release(&c->shared->head, c->head);
	return 1;
}

int prog_cq_wait(struct prog_cq *c, u64 ns, u32 *vi, bool *recv)
{
	u64 until = ns == VIA_FOREVER ? VIA_FOREVER : sim_now() + ns;
	long ret = 0;

	while (!prog_cq_done(c, vi, recv)) {
		struct via_wait w = {
			.kind = VIA_WAIT_CQ,
			.id = c->id,
			.seen = c->head,
			.timeout = until == VIA_FOREVER ? VIA_FOREVER :
				   until > sim_now() ? until - sim_now() : 0,
		};

		if (ret)
			return ret;
		ret = sim_ioctl(c->nic->file, VIA_IOC_WAIT, &w);
		if (ret == -EINTR)
			ret = 0;
	}
	return 0;
}

/* Connections */

void prog_addr(struct via_net_addr *a, const void *host, const char *disc)
{
	memset(a, 0, sizeof(*a));
	if (host) {
		a->host_len = ETH_ALEN;
		memcpy(a->host, host, ETH_ALEN);
	}
	a->disc_len = strlen(disc);
	memcpy(a->disc, disc, a->disc_len);
}

int prog_request_start(struct prog_vi *v, const void *host, const char *disc,
		       u64 ns, bool peer)
{
	struct via_conn_request a = { .vi = v->id, .timeout = ns };

	prog_addr(&a.local, v->nic->hello.addr, peer ? disc : "client");
	prog_addr(&a.remote, host, disc);
	return sim_ioctl(v->nic->file, peer ? VIA_IOC_PEER_REQUEST :
			 VIA_IOC_CONN_REQUEST, &a);
}

int prog_result(struct prog_vi *v, u32 flags)
{
	struct via_conn_result a = { .vi = v->id, .flags = flags };
	int ret;

	do {
		ret = sim_ioctl(v->nic->file, VIA_IOC_CONN_RESULT, &a);
	} while (ret == -EINTR);
	return ret;
}

int prog_request(struct prog_vi *v, const void *host, const char *disc, u64 ns)
{
	int ret = prog_request_start(v, host, disc, ns, false);

	return ret ? ret : prog_result(v, 0);
}

int prog_p2p(struct prog_vi *v, const void *host, const char *disc, u64 ns)
{
	int ret = prog_request_start(v, host, disc, ns, true);

	return ret ? ret : prog_result(v, VIA_CONN_PEER);
}

int prog_listen(struct prog_nic *n, const char *disc, u32 backlog)
{
	struct via_conn_listen a = { .backlog = backlog };

	prog_addr(&a.local, NULL, disc);
	return sim_ioctl(n->file, VIA_IOC_CONN_LISTEN, &a);
}

int prog_conn_wait(struct prog_nic *n, const char *disc, u64 ns, u32 *conn)
{
	struct via_conn_wait a = { .timeout = ns };
	int ret;

	prog_addr(&a.local, NULL, disc);
	do {
		ret = sim_ioctl(n->file, VIA_IOC_CONN_WAIT, &a);
	} while (ret == -EINTR);
	*conn = a.conn;
	return ret;
}

u32 prog_leave_waiter(struct prog_nic *n, const char *disc)
{
	struct via_conn_wait a = { .timeout = 100 * SEC };
	int ret;

	prog_addr(&a.local, NULL, disc);
	current->pending = true;
	ret = sim_ioctl(n->file, VIA_IOC_CONN_WAIT, &a);
	sim_expect(ret == -EINTR && a.waiter, "(%d)", ret);
	current->pending = false;
	return a.waiter;
}

int prog_accept_start(struct prog_vi *v, u32 conn)
{
	struct via_conn_accept a = { .conn = conn, .vi = v->id };

	return sim_ioctl(v->nic->file, VIA_IOC_CONN_ACCEPT, &a);
}

int prog_reject(struct prog_nic *n, u32 conn)
{
	struct via_conn_reject a = { .conn = conn };

	return sim_ioctl(n->file, VIA_IOC_CONN_REJECT, &a);
}

int prog_accept(struct prog_vi *v, const char *disc, u64 ns)
{
	u32 conn;
	int ret = prog_conn_wait(v->nic, disc, ns, &conn);

	if (!ret)
		ret = prog_accept_start(v, conn);
	return ret ? ret : prog_result(v, 0);
}

int prog_request_served(struct prog_vi *v, const void *host, const char *disc,
			u64 ns)
{
	int ret;

	while ((ret = prog_request(v, host, disc, ns)) == VIA_R_NO_MATCH)
		sim_sleep(100000);
	return ret;
}

void prog_connect(struct prog_vi *v, const void *host, const char *disc, u64 ns)
{
	int ret = host ? prog_request_served(v, host, disc, ns) :
			 prog_accept(v, disc, ns);

	sim_expect(!ret, "%s is not connected: %d",
		   host ? "a client" : "a server", ret);
}

int prog_meet(struct prog_vi *a, struct prog_vi *b, const char *disc)
{
	int ret = prog_request_start(a, b->nic->hello.addr, disc, SEC, true);

	if (!ret)
		ret = prog_p2p(b, a->nic->hello.addr, disc, SEC);
	return ret ? ret : prog_result(a, VIA_CONN_PEER);
}

int prog_disconnect(struct prog_vi *v)
{
	struct via_vi_arg a = { .vi = v->id };

	return sim_ioctl(v->nic->file, VIA_IOC_DISCONNECT, &a);
}

int prog_event(struct prog_nic *n, struct via_event *ev)
{
	ssize_t ret = sim_read(n->file, ev, sizeof(*ev));

	return ret == sizeof(*ev) ? 0 : ret ? (int)ret : -EPIPE;
}

void prog_stats(struct prog_nic *n, u32 kind)
{
	struct via_stat s[64];
	struct via_stats a = {
		.kind = kind, .count = ARRAY_SIZE(s), .stats = (uintptr_t)s,
	};

	sim_ioctl(n->file, VIA_IOC_STATS, &a);
}

void prog_names(struct prog_nic *n)
{
	struct via_name_answer some[4];
	struct via_name_query q = {
		.count = ARRAY_SIZE(some), .answers = (uintptr_t)some,
	};

	sim_ioctl(n->file, VIA_IOC_NAME_QUERY, &q);
}

u64 prog_counter(struct prog_nic *n, const char *name)
{
	struct via_stat s[128];
	struct via_stats a = {
		.kind = VIA_STATS_NIC,
		.count = ARRAY_SIZE(s),
		.stats = (uintptr_t)s,
	};
	u32 i;

	sim_expect(!sim_ioctl(n->file, VIA_IOC_STATS, &a), "");
	for (i = 0; i < a.count; i++)
		if (!strncmp(s[i].name, name, sizeof(s[i].name)))
			return s[i].value;
	sim_fail("no counter %s", name);
}
