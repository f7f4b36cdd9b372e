// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The calls: any, with arguments that are right, nearly right, of another
 * object, of another process, of the past or random.  What a call does hangs
 * on its random numbers and on what the calls before it have left.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "calls.h"
#include "common/abi.h"

struct self self;
static __thread uint32_t favourite;	/* of self.fd[] */

uint64_t interesting(struct rng *r)
{
	static const uint64_t v[] = {
		0, 1, 2, 3, 7, 8, 63, 64, 255, 256, 1023, 1024, 4095, 4096,
		4097, 32767, 32768, 65535, 65536, 0x7fffffff, 0x80000000,
		0xfffffffe, 0xffffffff, 0x100000000, 0x7ffffffff000,
		0x7fffffffffff, 0x800000000000, 0xffff800000000000,
		0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffff000,
		0xffffffffffffffff,
	};
	uint64_t x = v[rng_below(r, sizeof(v) / sizeof(v[0]))];

	if (rng_one_in(r, 4))
		x += (int)rng_below(r, 17) - 8;
	return rng_one_in(r, 8) ? rng_next(r) : x;
}

static uint32_t known(struct rng *r, enum pool p)
{
	uint32_t x = self.pool[favourite][p][rng_below(r, POOL)];

	switch (rng_below(r, 32)) {
	case 0:
		return interesting(r);
	case 3:		/* of another process, perhaps one that has died */
	case 4:
		return self.score->pool[p][rng_below(r, POOL)];
	case 1:
		return x + (int)rng_below(r, 5) - 2;
	case 2:		/* another generation */
		return x ^ 1u << rng_below(r, 32);
	default:
		return x;
	}
}

static void learn(struct rng *r, enum pool p, uint32_t x)
{
	uint32_t i = rng_below(r, POOL);

	self.pool[favourite][p][i] = x;
	if (rng_one_in(r, 4))
		self.score->pool[p][i] = x;
}

int file(struct rng *r)
{
	return self.fd[rng_one_in(r, 16) ? rng_below(r, FILES) : favourite];
}

/* A time-out that mostly is none to wait for. */
static uint64_t patience(struct rng *r)
{
	if (rng_one_in(r, 16))
		return interesting(r);
	return rng_below(r, PATIENCE_NS);
}

static uint64_t address(struct rng *r)
{
	if (rng_one_in(r, 8))
		return interesting(r);
	return (uintptr_t)self.space + rng_below(r, SPACE);
}

/* A stranger to the handle is told EPERM, whatever it asks for. */
static void refused(long ret, const char *what)
{
	if (!self.stranger || (ret < 0 && errno == EPERM))
		return;
	fprintf(stderr, "viatest fuzz: a process that did not open the handle: %s: %ld, errno %d\n",
		what, ret, errno);
	score_wrong(self.score);
}

/* Whether it was taken. */
static int call_on(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	if (request != VIA_IOC_STATS)
		refused(ret, "ioctl");
	score_call(self.score, ret);
	return !ret;
}

static int call(struct rng *r, unsigned long request, void *arg)
{
	return call_on(file(r), request, arg);
}

struct choice {
	unsigned long request;
	void *arg;
};

/* One of them: which. */
static uint32_t any_of(struct rng *r, const struct choice *c, uint32_t n)
{
	uint32_t i = rng_below(r, n);

	call(r, c[i].request, c[i].arg);
	return i;
}

/* Any size, direction and number, with an argument of random bytes. */
static void any_ioctl(struct rng *r)
{
	uint64_t arg[64];
	unsigned int i;

	for (i = 0; i < 64; i++)
		arg[i] = rng_one_in(r, 2) ? interesting(r) :
					    known(r, rng_below(r, POOLS));
	if (rng_one_in(r, 3))
		ioctl(file(r), rng_next(r), arg);
	else
		ioctl(file(r), _IOC(rng_below(r, 4), VIA_IOC_MAGIC,
				    rng_below(r, 0x60), rng_below(r, 256)),
		      rng_one_in(r, 8) ? (void *)(uintptr_t)interesting(r) :
					 arg);
}

static void hello(struct rng *r)
{
	struct via_hello h = { .abi = VIA_ABI_VERSION };

	if (rng_one_in(r, 4))
		h.abi = interesting(r);
	if (rng_one_in(r, 8))
		h.flags = interesting(r);
	call(r, VIA_IOC_HELLO, &h);
}

static void stats(struct rng *r)
{
	struct via_stat out[64];
	struct via_stats s = {
		.kind = rng_below(r, 3), .id = known(r, P_VI),
		.count = rng_one_in(r, 4) ? interesting(r) : 64,
		.stats = rng_one_in(r, 8) ? address(r) : (uintptr_t)out,
	};

	/* More than there is room for is ours to survive. */
	if (s.stats == (uintptr_t)out && s.count > 64)
		s.count = 64;
	call(r, VIA_IOC_STATS, &s);
}

static void wait(struct rng *r)
{
	struct via_wait w = { .kind = rng_below(r, 4), .id = known(r, P_VI),
			      .seen = interesting(r),
			      .timeout = patience(r) };

	if (w.kind == VIA_WAIT_CQ)
		w.id = known(r, P_CQ);
	call(r, VIA_IOC_WAIT, &w);
}

static void ptag(struct rng *r)
{
	struct via_ptag_arg a = { 0 };

	if (rng_one_in(r, 2)) {
		a.ptag = known(r, P_PTAG);
		call(r, VIA_IOC_PTAG_DESTROY, &a);
	} else {
		call(r, VIA_IOC_PTAG_CREATE, &a);
		learn(r, P_PTAG, a.ptag);
	}
}

static void mem_register(struct rng *r)
{
	struct via_mem_register m = {
		.addr = address(r), .len = rng_below(r, 3 * 4096),
		.ptag = known(r, P_PTAG), .rights = rng_below(r, 4),
	};

	if (rng_one_in(r, 8))
		m.len = interesting(r);
	if (rng_one_in(r, 8))
		m.rights = interesting(r);
	/* What is shared with the kernel, and our own text. */
	if (rng_one_in(r, 16))
		m.addr = (uintptr_t)self.map[rng_below(r, MAPS)];
	if (rng_one_in(r, 32))
		m.addr = (uintptr_t)mem_register;
	if (rng_one_in(r, 32))
		m.addr = (uintptr_t)&m;
	call(r, VIA_IOC_MEM_REGISTER, &m);
	learn(r, P_MEM, m.handle);
}

static void mem_other(struct rng *r)
{
	struct via_mem_deregister d = { .addr = address(r) & ~4095ull,
					.handle = known(r, P_MEM) };
	struct via_mem_attrs a = { .addr = d.addr, .handle = d.handle,
				   .ptag = known(r, P_PTAG),
				   .rights = rng_below(r, 5) };

	switch (rng_below(r, 4)) {
	case 0:
		call(r, VIA_IOC_MEM_QUERY, &a);
		/* Now we know where it begins. */
		d.addr = a.addr;
		break;
	case 1:
		call(r, VIA_IOC_MEM_SET, &a);
		return;
	}
	call(r, VIA_IOC_MEM_DEREGISTER, &d);
}

static struct via_vi_attrs vi_attrs(struct rng *r)
{
	struct via_vi_attrs a = {
		.reliability = 1u << rng_below(r, 3),
		.max_transfer = 32768, .rights = rng_below(r, 4),
	};

	if (rng_one_in(r, 2))
		a.ptag = known(r, P_PTAG);
	if (rng_one_in(r, 16))
		a.reliability = interesting(r);
	if (rng_one_in(r, 16))
		a.max_transfer = interesting(r);
	return a;
}

static void keep_map(struct rng *r, int fd, uint32_t vi, uint8_t *p,
		     size_t size)
{
	uint32_t i = rng_below(r, MAPS);
	uint8_t *old = self.map[i];

	if (p == MAP_FAILED)
		return;
	/* Some stay mapped until the process ends, and are not kept. */
	if (old && rng_one_in(r, 2)) {
		self.map[i] = NULL;
		/* The scribbler may be at it: leave something there. */
		mmap(old, self.map_size[i], PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	self.map_size[i] = size;
	self.map_vi[i] = vi;
	self.map_fd[i] = fd;
	self.map[i] = p;
}

static void map(struct rng *r, int fd, uint32_t vi, uint64_t offset,
		uint64_t size)
{
	if (rng_one_in(r, 8))
		offset = interesting(r) & ~4095ull;
	if (rng_one_in(r, 8))
		size = interesting(r) & 0xffffff;
	keep_map(r, fd, vi,
		 mmap(NULL, size,
		      rng_one_in(r, 8) ? (int)rng_below(r, 8) :
					 PROT_READ | PROT_WRITE,
		      rng_one_in(r, 8) ? MAP_PRIVATE : MAP_SHARED, fd,
		      offset), size);
}

static void vi_create(struct rng *r)
{
	struct via_vi_create v = { .attrs = vi_attrs(r),
				   .entries = rng_below(r, 2) * VIA_VI_FEW };
	int fd = file(r);

	if (rng_one_in(r, 2))
		v.send_cq = known(r, P_CQ);
	if (rng_one_in(r, 2))
		v.recv_cq = known(r, P_CQ);
	if (!call_on(fd, VIA_IOC_VI_CREATE, &v))
		return;
	learn(r, P_VI, v.vi);
	map(r, fd, v.vi, v.mmap_offset, v.mmap_size);
}

static void vi_other(struct rng *r)
{
	struct via_vi_query q = { .vi = known(r, P_VI) };
	struct via_vi_set s = { .vi = q.vi, .attrs = vi_attrs(r) };
	struct via_vi_arg a = { .vi = q.vi };
	struct via_overrun o = { .vi = q.vi, .recv = rng_below(r, 3),
				 .desc = address(r) };
	struct via_vi_grow g = { .vi = q.vi, .recv = rng_below(r, 3),
				 .entries = rng_below(r, 1100) };
	const struct choice choices[8] = {
		{ VIA_IOC_VI_QUERY, &q }, { VIA_IOC_VI_SET, &s },
		{ VIA_IOC_VI_OVERRUN, &o }, { VIA_IOC_VI_DESTROY, &a },
		{ VIA_IOC_DISCONNECT, &a }, { VIA_IOC_DISCONNECT, &a },
		{ VIA_IOC_VI_GROW, &g }, { VIA_IOC_VI_GROW, &g },
	};

	if (rng_one_in(r, 16))
		g.entries = interesting(r);
	any_of(r, choices, 8);
}

static void cq(struct rng *r)
{
	struct via_cq_resize s = { .cq = known(r, P_CQ),
				   .step = rng_below(r, 4),
				   .entries = rng_below(r, 300) };
	struct via_cq_create c = { .entries = 1 + rng_below(r, 200) };
	struct via_cq_arg a = { .cq = s.cq };
	int fd = file(r);

	if (rng_one_in(r, 16))
		c.entries = s.entries = interesting(r);
	switch (rng_below(r, 4)) {
	case 0:
		if (!call_on(fd, VIA_IOC_CQ_CREATE, &c))
			return;
		learn(r, P_CQ, c.cq);
		map(r, fd, 0, c.mmap_offset, c.mmap_size);
		break;
	case 1:
		call(r, VIA_IOC_CQ_DESTROY, &a);
		break;
	default:
		if (call_on(fd, VIA_IOC_CQ_RESIZE, &s) &&
		    s.step == VIA_CQ_PREPARE)
			map(r, fd, 0, s.mmap_offset, s.mmap_size);
	}
}

/* Our own address and one of a few discriminators: so they meet. */
static void net_addr(struct rng *r, struct via_net_addr *a)
{
	struct via_hello h = { .abi = VIA_ABI_VERSION };

	ioctl(self.fd[0], VIA_IOC_HELLO, &h);
	abi_address(a, &h, h.addr, "fuzz");
	a->disc[3] += rng_below(r, 4);
	if (rng_one_in(r, 16))
		a->disc_len = interesting(r);
	if (rng_one_in(r, 16))
		a->host_len = interesting(r);
	/* A host on the wire, perhaps. */
	if (rng_one_in(r, 32))
		a->host[5] ^= 3;
}

static void connect_op(struct rng *r)
{
	struct via_conn_request q = { .vi = known(r, P_VI),
				      .timeout = patience(r) };
	struct via_conn_result s = { .vi = q.vi, .flags = rng_below(r, 5) };
	struct via_conn_accept a = { .conn = known(r, P_CONN), .vi = q.vi };
	struct via_conn_reject j = { .conn = a.conn };
	struct via_conn_wait w = { .timeout = patience(r) };
	struct via_conn_listen l = { .backlog = rng_below(r, 4) };
	const struct choice choices[9] = {
		{ VIA_IOC_CONN_WAIT, &w }, { VIA_IOC_CONN_WAIT, &w },
		{ VIA_IOC_CONN_ACCEPT, &a }, { VIA_IOC_CONN_REJECT, &j },
		{ VIA_IOC_CONN_REQUEST, &q }, { VIA_IOC_PEER_REQUEST, &q },
		{ VIA_IOC_PEER_REQUEST, &q }, { VIA_IOC_CONN_RESULT, &s },
		{ VIA_IOC_CONN_LISTEN, &l },
	};

	net_addr(r, &q.local);
	net_addr(r, &q.remote);
	w.local = q.local;
	l.local = q.local;
	if (rng_one_in(r, 16))
		l.backlog = interesting(r);
	if (rng_one_in(r, 4))
		w.waiter = known(r, P_WAITER);
	if (any_of(r, choices, 9) < 2) {
		learn(r, P_WAITER, w.waiter);
		learn(r, P_CONN, w.conn);
	}
}

static uint32_t mapped_vi(struct rng *r, int fd, uint32_t level)
{
	struct via_vi_create v = { .attrs = { level, 0, 32768, 3 },
				   .entries = rng_below(r, 2) * VIA_VI_FEW };

	if (level == VIA_UNRELIABLE)
		v.attrs.rights = VIA_RDMA_WRITE;
	if (rng_one_in(r, 4))
		v.recv_cq = v.send_cq = known(r, P_CQ);
	if (!call_on(fd, VIA_IOC_VI_CREATE, &v))
		return 0;
	learn(r, P_VI, v.vi);
	keep_map(r, fd, v.vi, abi_map(fd, v.mmap_size, v.mmap_offset),
		 v.mmap_size);
	return v.vi;
}

/* Two VIs that are really connected, and memory: what is worth attacking. */
static void couple(struct rng *r)
{
	struct via_mem_register m = { .addr = (uintptr_t)self.space,
				      .len = SPACE / 4, .rights = 3 };
	uint32_t level = 1u << rng_below(r, 3);
	struct via_conn_request q = { .timeout = 1000000000 };
	struct via_net_addr other;
	int fd = file(r);

	if (!rng_one_in(r, 4))
		return;
	m.addr += rng_below(r, 4) * (SPACE / 4);
	if (call_on(fd, VIA_IOC_MEM_REGISTER, &m)) {
		learn(r, P_MEM, m.handle);
		learn(r, P_MEM, m.handle);
		learn(r, P_MEM, m.handle);
	}
	net_addr(r, &q.local);
	net_addr(r, &other);
	q.local.disc[0] = rng_next(r);
	q.remote = other;
	q.vi = mapped_vi(r, fd, level);
	call_on(fd, VIA_IOC_PEER_REQUEST, &q);
	other = q.local;
	q.local = q.remote;
	q.remote = other;
	q.vi = mapped_vi(r, fd, level);
	call_on(fd, VIA_IOC_PEER_REQUEST, &q);
}

static void name(struct rng *r)
{
	struct via_name_answer out[8];
	struct via_name_query q = { .count = 8,
				    .answers = (uintptr_t)out };
	unsigned int i;

	/* They take long: seldom. */
	if (!rng_one_in(r, 64))
		return;
	for (i = 0; i < sizeof(q.name); i++)
		q.name[i] = rng_one_in(r, 8) ? (int)rng_next(r) : 'a';
	if (rng_one_in(r, 2))
		q.name[rng_below(r, sizeof(q.name))] = 0;
	if (rng_one_in(r, 4))
		q.addr_len = interesting(r);
	call(r, VIA_IOC_NAME_QUERY, &q);
}

static void trap(struct rng *r)
{
	uint32_t op = rng_below(r, 12);
	uint32_t id = known(r, op == VIA_OP_CQ || op == VIA_OP_WAIT_CQ ||
			    op == VIA_OP_NOTIFY_CQ ? P_CQ : P_VI);
	struct via_trap t = { via_trap_arg(op, id) };

	if (rng_one_in(r, 32))
		t.arg = interesting(r);
	if (rng_one_in(r, 8))
		call(r, VIA_IOC_TRAP, &t);
	else if (rng_one_in(r, 32))
		lseek(file(r), t.arg, (int)rng_below(r, 8));
	else if (t.arg)
		refused(lseek(file(r), t.arg, VIA_TRAP_WHENCE), "trap");
}

static struct via_seg segment(struct rng *r)
{
	struct via_seg s = { address(r), known(r, P_MEM), rng_below(r, 5000) };

	if (rng_one_in(r, 16))
		s.len = interesting(r);
	return s;
}

/* Where a slot may be: a page that is not there is a signal, no more. */
static uint8_t *slot_at(struct rng *r, struct via_vi_shared *v, int recv,
			uint32_t at)
{
	uint32_t slots = recv ? VIA_VI_RECV_SLOTS(VIA_VI_MOST) :
				VIA_VI_SEND_SLOTS;
	uint32_t n = VIA_VI_MOST;

	if (__atomic_load_n(&v->entries, __ATOMIC_RELAXED) == VIA_VI_FEW) {
		n = VIA_VI_FEW << rng_below(r, 7);
		if (n == VIA_VI_FEW)
			slots = recv ? VIA_VI_FEW_RECV_SLOTS :
				       VIA_VI_FEW_SEND_SLOTS;
	}
	return (uint8_t *)v + slots + at % n * sizeof(struct via_slot);
}

/* A descriptor into a queue that is mapped, nearly as the library would. */
static void post(struct rng *r)
{
	uint32_t m = rng_below(r, MAPS), at;
	struct via_vi_shared *v = (void *)self.map[m];
	struct via_queue_user *u;
	struct via_slot s = {
		.desc = address(r) & ~63ull, .desc_handle = known(r, P_MEM),
		.seg_count = rng_below(r, 3), .control = rng_below(r, 16),
	};
	int recv = rng_below(r, 2);

	if (!v || self.map_size[m] < VIA_VI_SIZE(VIA_VI_MOST))
		return;
	s.seg[0] = segment(r);
	s.seg[1] = segment(r);
	s.length = s.seg[0].len + (s.seg_count > 1 ? s.seg[1].len : 0);
	if (rng_one_in(r, 16))
		s.seg_count = interesting(r);
	if (rng_one_in(r, 16))
		s.length = interesting(r);
	if (rng_one_in(r, 16))
		s.control = interesting(r);
	u = recv ? &v->recv_user : &v->send_user;
	at = __atomic_load_n(&u->tail, __ATOMIC_RELAXED);
	memcpy(slot_at(r, v, recv, at), &s, sizeof(s));
	__atomic_store_n(&u->tail, at + 1, __ATOMIC_RELEASE);
	u->collected = rng_one_in(r, 64) ? interesting(r) :
		       (recv ? v->recv_kern : v->send_kern).done;
	score_call(self.score,
		   lseek(rng_one_in(r, 8) ? file(r) : self.map_fd[m],
			 via_trap_arg(recv ? VIA_OP_RECV : VIA_OP_SEND,
				      rng_one_in(r, 8) ? known(r, P_VI) :
							 self.map_vi[m]),
			 VIA_TRAP_WHENCE) < 0);
}

int open_one(void)
{
	int fd = open(self.device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	uint8_t *p;

	if (fd < 0)
		return fd;
	p = abi_ctl(fd);
	if (p != MAP_FAILED)
		self.ctl[fd % CTLS] = p;
	return fd;
}

/* Into a socket that all processes of the run have; or out of it. */
static void pass(int fd, int send)
{
	union {
		struct cmsghdr head;
		uint8_t space[CMSG_SPACE(sizeof(int))];
	} c = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
			  .cmsg_level = SOL_SOCKET,
			  .cmsg_type = SCM_RIGHTS } };
	uint8_t byte = 0;
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = &c, .msg_controllen = sizeof(c) };

	memcpy(CMSG_DATA(&c.head), &fd, sizeof(fd));
	if (send) {
		sendmsg(self.score->post[0], &m, MSG_DONTWAIT);
		return;
	}
	if (recvmsg(self.score->post[1], &m, MSG_DONTWAIT) != 1 ||
	    m.msg_controllen < CMSG_LEN(sizeof(int)) ||
	    c.head.cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&fd, CMSG_DATA(&c.head), sizeof(fd));
	/* Its owner may be gone, or close it at this moment. */
	abi_ctl(fd);
	ioctl(fd, VIA_IOC_PTAG_CREATE, &v);
	lseek(fd, via_trap_arg(VIA_OP_POLL, 0), VIA_TRAP_WHENCE);
	ioctl(fd, VIA_IOC_SHUTDOWN, NULL);
	close(fd);
}

static void files(struct rng *r)
{
	uint8_t buf[sizeof(struct via_event) * 4] = { 0 };
	int fd = file(r), other;

	switch (rng_below(r, 24)) {
	case 0:
		other = open_one();
		if (other >= 0) {
			dup2(other, fd);
			close(other);
		}
		break;
	case 1:
		other = dup(fd);
		close(other);
		break;
	case 2:
		call(r, VIA_IOC_SHUTDOWN, NULL);
		break;
	case 3:
		other = write(fd, buf, sizeof(buf));
		break;
	case 4:
		fcntl(fd, F_SETFL, O_NONBLOCK);
		break;
	case 5:
	case 6:
		map(r, fd, known(r, P_VI), interesting(r) & ~4095ull,
		    rng_below(r, 300000));
		break;
	case 7:
	case 8:
	case 9:
	case 10:
		pass(fd, rng_below(r, 2));
		break;
	case 11:	/* a name for it less; the handle goes with the last */
		other = dup(fd);
		dup2(file(r), fd);
		close(other);
		break;
	default:
		other = read(fd, buf, rng_below(r, sizeof(buf) + 1));
		refused(other, "read");
	}
}

static void (*const ops[])(struct rng *) = {
	any_ioctl, hello, stats, wait, ptag, mem_register, mem_register,
	mem_other, vi_create, vi_other, cq, cq, connect_op, couple, name,
	trap, trap, trap, trap, post, post, post, post, post, files, remap,
	pages, forked,
};

uint32_t call_kinds(void)
{
	return sizeof(ops) / sizeof(ops[0]);
}

void call_file(uint32_t i)
{
	favourite = i % FILES;
}

void call_kind(uint32_t kind, struct rng *r)
{
	ops[kind](r);
}

/* By a child that has inherited the open files: nothing is for it. */
void call_strange(struct rng *r)
{
	static const uint8_t kinds[] = { 1, 3, 4, 5, 7, 9, 15 };

	if (rng_one_in(r, 16))
		refused(abi_ctl(file(r)) == MAP_FAILED ? -1 : 0, "mmap");
	ops[kinds[rng_below(r, sizeof(kinds))]](r);
}
