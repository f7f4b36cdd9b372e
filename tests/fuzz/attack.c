// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A member of group via that means harm: threads of one process that make any
 * call on the device node, with arguments that are right, nearly right, of
 * another object, of the past or random, and one that scribbles over what it
 * shares with the kernel while the kernel reads it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uapi/via.h>
#include "abi.h"

#define FILES		3u
#define POOL		64u	/* values of a kind that were seen once */
#define MAPS		32u
#define NUDGE_MS	4	/* a signal so often: nothing sleeps for ever */
#define SPACE		(1u << 20)

enum pool { P_PTAG, P_MEM, P_VI, P_CQ, P_CONN, P_WAITER, POOLS };

/* No lock on purpose: what races here is the kernel's to survive. */
static struct {
	const char *device;
	int fd[FILES];
	uint32_t pool[POOLS][POOL];
	uint8_t *map[MAPS];		/* what is shared with the kernel */
	size_t map_size[MAPS];
	uint8_t *space;			/* registered in pieces */
	uint64_t ops_left;
	struct score *score;
} self;

struct thread {
	pthread_t id;
	struct rng r;
	uint64_t seed;
};

static uint64_t interesting(struct rng *r)
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
	uint32_t x = self.pool[p][rng_below(r, POOL)];

	switch (rng_below(r, 16)) {
	case 0:
		return interesting(r);
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
	self.pool[p][rng_below(r, POOL)] = x;
}

static int file(struct rng *r)
{
	return self.fd[rng_below(r, FILES)];
}

/* A time-out that mostly is none to wait for. */
static uint64_t patience(struct rng *r)
{
	if (rng_one_in(r, 16))
		return interesting(r);
	return rng_below(r, 2000000);
}

static uint64_t address(struct rng *r)
{
	if (rng_one_in(r, 8))
		return interesting(r);
	return (uintptr_t)self.space + rng_below(r, SPACE);
}

static void call(struct rng *r, unsigned long request, void *arg)
{
	int ret = ioctl(file(r), request, arg);

	if (!ret)
		__atomic_add_fetch(&self.score->good, 1, __ATOMIC_RELAXED);
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

static void keep_map(struct rng *r, uint8_t *p, size_t size)
{
	uint32_t i = rng_below(r, MAPS);
	uint8_t *old = self.map[i];

	if (p == MAP_FAILED)
		return;
	/* Some stay mapped until the process ends, known to nobody. */
	if (old && rng_one_in(r, 2)) {
		self.map[i] = NULL;
		/* The scribbler may be at it: leave something there. */
		mmap(old, self.map_size[i], PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	self.map_size[i] = size;
	self.map[i] = p;
}

static void map(struct rng *r, int fd, uint64_t offset, uint64_t size)
{
	if (rng_one_in(r, 8))
		offset = interesting(r) & ~4095ull;
	if (rng_one_in(r, 8))
		size = interesting(r) & 0xffffff;
	keep_map(r, mmap(NULL, size,
			 rng_one_in(r, 8) ? (int)rng_below(r, 8) :
					    PROT_READ | PROT_WRITE,
			 rng_one_in(r, 8) ? MAP_PRIVATE : MAP_SHARED, fd,
			 offset), size);
}

static void vi_create(struct rng *r)
{
	struct via_vi_create v = { .attrs = vi_attrs(r) };
	int fd = file(r);

	if (rng_one_in(r, 2))
		v.send_cq = known(r, P_CQ);
	if (rng_one_in(r, 2))
		v.recv_cq = known(r, P_CQ);
	if (ioctl(fd, VIA_IOC_VI_CREATE, &v))
		return;
	__atomic_add_fetch(&self.score->good, 1, __ATOMIC_RELAXED);
	learn(r, P_VI, v.vi);
	map(r, fd, v.mmap_offset, v.mmap_size);
}

static void vi_other(struct rng *r)
{
	struct via_vi_query q = { .vi = known(r, P_VI) };
	struct via_vi_set s = { .vi = q.vi, .attrs = vi_attrs(r) };
	struct via_vi_arg a = { .vi = q.vi };
	struct via_overrun o = { .vi = q.vi, .recv = rng_below(r, 3),
				 .desc = address(r) };

	switch (rng_below(r, 6)) {
	case 0:
		call(r, VIA_IOC_VI_QUERY, &q);
		break;
	case 1:
		call(r, VIA_IOC_VI_SET, &s);
		break;
	case 2:
		call(r, VIA_IOC_VI_OVERRUN, &o);
		break;
	case 3:
		call(r, VIA_IOC_VI_DESTROY, &a);
		break;
	default:
		call(r, VIA_IOC_DISCONNECT, &a);
	}
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
		if (ioctl(fd, VIA_IOC_CQ_CREATE, &c))
			return;
		__atomic_add_fetch(&self.score->good, 1, __ATOMIC_RELAXED);
		learn(r, P_CQ, c.cq);
		map(r, fd, c.mmap_offset, c.mmap_size);
		break;
	case 1:
		call(r, VIA_IOC_CQ_DESTROY, &a);
		break;
	default:
		if (!ioctl(fd, VIA_IOC_CQ_RESIZE, &s) &&
		    s.step == VIA_CQ_PREPARE)
			map(r, fd, s.mmap_offset, s.mmap_size);
	}
}

/* Our own address and one of a few discriminators: so they meet. */
static void net_addr(struct rng *r, struct via_net_addr *a)
{
	struct via_hello h = { .abi = VIA_ABI_VERSION };

	memset(a, 0, sizeof(*a));
	ioctl(self.fd[0], VIA_IOC_HELLO, &h);
	a->host_len = h.addr_len;
	memcpy(a->host, h.addr, sizeof(a->host));
	a->disc_len = 4;
	memcpy(a->disc, "fuzz", 4);
	a->disc[3] += rng_below(r, 4);
	if (rng_one_in(r, 16))
		a->disc_len = interesting(r);
	if (rng_one_in(r, 16))
		a->host_len = interesting(r);
	/* Somebody on the wire, perhaps. */
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

	net_addr(r, &q.local);
	net_addr(r, &q.remote);
	w.local = q.local;
	if (rng_one_in(r, 4))
		w.waiter = known(r, P_WAITER);
	switch (rng_below(r, 8)) {
	case 0:
	case 1:
		call(r, VIA_IOC_CONN_WAIT, &w);
		learn(r, P_WAITER, w.waiter);
		learn(r, P_CONN, w.conn);
		break;
	case 2:
		call(r, VIA_IOC_CONN_ACCEPT, &a);
		break;
	case 3:
		call(r, VIA_IOC_CONN_REJECT, &j);
		break;
	case 4:
		call(r, VIA_IOC_CONN_REQUEST, &q);
		break;
	case 5:
	case 6:
		call(r, VIA_IOC_PEER_REQUEST, &q);
		break;
	default:
		call(r, VIA_IOC_CONN_RESULT, &s);
	}
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
	else
		lseek(file(r), t.arg, rng_one_in(r, 32) ?
		      (int)rng_below(r, 8) : VIA_TRAP_WHENCE);
}

static struct via_seg segment(struct rng *r)
{
	struct via_seg s = { address(r), known(r, P_MEM), rng_below(r, 5000) };

	if (rng_one_in(r, 16))
		s.len = interesting(r);
	return s;
}

/* A descriptor into a queue that is mapped, nearly as the library would. */
static void post(struct rng *r)
{
	uint32_t m = rng_below(r, MAPS), n = 1024, at;
	struct via_vi_shared *v = (void *)self.map[m];
	struct via_queue_user *u;
	struct via_slot s = {
		.desc = address(r) & ~63ull, .desc_handle = known(r, P_MEM),
		.seg_count = rng_below(r, 3), .control = rng_below(r, 16),
	};
	int recv = rng_below(r, 2);

	if (!v || self.map_size[m] < VIA_VI_SIZE(n))
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
	memcpy((uint8_t *)v + (recv ? VIA_VI_RECV_SLOTS(n) :
			       VIA_VI_SEND_SLOTS) + at % n * sizeof(s), &s,
	       sizeof(s));
	__atomic_store_n(&u->tail, at + 1, __ATOMIC_RELEASE);
	u->collected = rng_one_in(r, 64) ? interesting(r) :
		       (recv ? v->recv_kern : v->send_kern).done;
	lseek(file(r), via_trap_arg(recv ? VIA_OP_RECV : VIA_OP_SEND,
				    known(r, P_VI)), VIA_TRAP_WHENCE);
}

static int open_one(void)
{
	int fd = open(self.device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	uint8_t *p;

	if (fd < 0)
		return fd;
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, VIA_MMAP_CTL);
	(void)p;
	return fd;
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
		if (write(fd, buf, sizeof(buf)) < 0)
			break;
		break;
	case 4:
		fcntl(fd, F_SETFL, O_NONBLOCK);
		break;
	case 5:
	case 6:
		map(r, fd, interesting(r) & ~4095ull, rng_below(r, 300000));
		break;
	default:
		if (read(fd, buf, rng_below(r, sizeof(buf) + 1)) < 0)
			break;
	}
}

/* Memory of other kinds at places of the space. */
static void remap(struct rng *r)
{
	static const char *const paths[] = { "/proc/self/exe", "/dev/zero",
					     "/dev/null", "/etc/passwd" };
	size_t len = 4096u << rng_below(r, 5);
	uint8_t *at = self.space + (rng_below(r, SPACE - 65536) & ~4095u);
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	int prot = PROT_READ | PROT_WRITE;

	switch (rng_below(r, 8)) {
	case 0:
		prot = PROT_READ;
		break;
	case 1:
		prot = PROT_NONE;
		break;
	case 2:
		flags = MAP_SHARED | MAP_ANONYMOUS;
		break;
	case 3:
		fd = open(paths[rng_below(r, 4)], O_RDONLY);
		flags = MAP_PRIVATE;
		break;
	case 4:
		fd = file(r);
		flags = MAP_SHARED;
		break;
	case 5:
		munmap(at, len);
		return;
	case 6:
		madvise(at, len, rng_below(r, 26));
		return;
	}
	mmap(at, len, prot, flags | MAP_FIXED, fd, 0);
	if (fd >= 0 && flags == MAP_PRIVATE)
		close(fd);
}

static void one(struct rng *r)
{
	static void (*const ops[])(struct rng *) = {
		any_ioctl, hello, stats, wait, ptag, mem_register,
		mem_register, mem_other, vi_create, vi_other, cq, connect_op,
		connect_op, name, trap, trap, trap, post, post, post, post,
		files, remap,
	};

	ops[rng_below(r, sizeof(ops) / sizeof(ops[0]))](r);
}

static void nudge(int sig)
{
	(void)sig;
}

static void arm(timer_t *t)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID,
			      .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, NUDGE_MS * 1000000 },
				    { 0, NUDGE_MS * 1000000 } };

	e._sigev_un._tid = syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &e, t);
	timer_settime(*t, 0, &every, NULL);
}

static int over(void)
{
	return __atomic_load_n(&self.score->stop, __ATOMIC_RELAXED) ||
	       (int64_t)__atomic_load_n(&self.ops_left,
					__ATOMIC_RELAXED) <= 0;
}

static void *caller(void *arg)
{
	struct thread *t = arg;
	unsigned int n = 0;
	timer_t timer;

	arm(&timer);
	while (!over()) {
		one(&t->r);
		__atomic_sub_fetch(&self.ops_left, 1, __ATOMIC_RELAXED);
		if (++n % 64 == 0)
			__atomic_add_fetch(&self.score->ops, 64,
					   __ATOMIC_RELAXED);
	}
	timer_delete(timer);
	return NULL;
}

/* While the kernel reads: indexes most of all, slots, completions, CQs. */
static void *scribbler(void *arg)
{
	struct thread *t = arg;
	struct rng *r = &t->r;

	while (!over()) {
		uint32_t i = rng_below(r, MAPS);
		uint8_t *p = self.map[i];
		size_t size = self.map_size[i];

		if (p && size >= 4096) {
			uint32_t at = rng_one_in(r, 2) ?
				rng_below(r, 320) : rng_below(r, size - 8);

			/* It may be read-only, or gone: that is a signal. */
			*(volatile uint32_t *)(p + (at & ~3u)) =
				interesting(r);
		}
		if (rng_one_in(r, 32))
			sched_yield();
	}
	return NULL;
}

/* Where the scribbler hit nothing: there is memory now. */
static void hit(int sig, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~4095ul;

	(void)context;
	if (page < 4096 ||
	    mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(sig);
}

void attack(const char *device, uint64_t seed, unsigned int threads,
	    uint64_t ops, struct score *score)
{
	struct sigaction fault = { .sa_sigaction = hit,
				   .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct sigaction wake = { .sa_handler = nudge };
	struct thread t[16];
	unsigned int i;

	self.device = device;
	self.score = score;
	self.ops_left = ops;
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	sigaction(SIGUSR1, &wake, NULL);
	self.space = mmap(NULL, SPACE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < FILES; i++) {
		self.fd[i] = open_one();
		if (self.fd[i] < 0) {
			perror(device);
			_exit(2);
		}
	}
	for (i = 0; i <= threads; i++) {
		t[i].r.s = seed * 131 + i;
		if (pthread_create(&t[i].id, NULL,
				   i < threads ? caller : scribbler, &t[i]))
			_exit(2);
	}
	for (i = 0; i <= threads; i++)
		pthread_join(t[i].id, NULL);
	_exit(0);
}
