// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every limit that a NIC tells is reached, one after the other: not before it
 * is, with a clear verdict, and what one program has used up another does not
 * miss.  Then all is given back, and can be had again.
 *
 * Wants a module loaded with small limits: some cost memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uapi/via.h>
#include "abi.h"

#define MOST		100000u		/* of anything: else there is no limit */
#define WAITERS		4096u		/* of a NIC, at most */
#define VICTIMS_VIS	2u

struct limit {
	const char *name;
	int (*make)(uint32_t i);	/* a verdict */
	int (*undo)(uint32_t i);
	uint64_t want;			/* 0: some number below MOST */
};

static struct {
	const char *device;
	int fd;
	struct via_hello h;
	uint32_t id[MOST];
	uint8_t *block;
	timer_t timer;			/* that wakes a waiting thread */
	struct score *score;
} t;

static int call(unsigned long request, void *arg)
{
	int ret = ioctl(t.fd, request, arg);

	return ret < 0 ? -errno : ret;
}

static int vi_make(uint32_t i)
{
	struct via_vi_create v = { .attrs = { VIA_UNRELIABLE, 0, 4096, 0 } };
	int ret = call(VIA_IOC_VI_CREATE, &v);

	t.id[i] = v.vi;
	return ret;
}

static int vi_undo(uint32_t i)
{
	struct via_vi_arg a = { .vi = t.id[i] };

	return call(VIA_IOC_VI_DESTROY, &a);
}

static int cq_make(uint32_t i)
{
	struct via_cq_create c = { .entries = 1 };
	int ret = call(VIA_IOC_CQ_CREATE, &c);

	t.id[i] = c.cq;
	return ret;
}

static int cq_undo(uint32_t i)
{
	struct via_cq_arg a = { .cq = t.id[i] };

	return call(VIA_IOC_CQ_DESTROY, &a);
}

/* The entries of one CQ, by doubling; then one more than there may be. */
static int entries_make(uint32_t i)
{
	struct via_cq_create c = { .entries = (i + 1) * t.h.max_cq_entries };
	int ret = call(VIA_IOC_CQ_CREATE, &c);

	t.id[i] = c.cq;
	return ret;
}

static int ptag_make(uint32_t i)
{
	struct via_ptag_arg a = { 0 };
	int ret = call(VIA_IOC_PTAG_CREATE, &a);

	t.id[i] = a.ptag;
	return ret;
}

static int ptag_undo(uint32_t i)
{
	struct via_ptag_arg a = { .ptag = t.id[i] };

	return call(VIA_IOC_PTAG_DESTROY, &a);
}

static int region(uint32_t i, uint64_t len)
{
	struct via_mem_register m = { .addr = (uintptr_t)t.block, .len = len };
	int ret = call(VIA_IOC_MEM_REGISTER, &m);

	t.id[i] = m.handle;
	return ret;
}

static int region_make(uint32_t i)
{
	return region(i, 1);
}

static int bytes_make(uint32_t i)
{
	return region(i, t.h.max_block_bytes);
}

static int region_undo(uint32_t i)
{
	struct via_mem_deregister d = { .addr = (uintptr_t)t.block,
					.handle = t.id[i] };

	return call(VIA_IOC_MEM_DEREGISTER, &d);
}

static void signals(long ns)
{
	struct itimerspec every = { { 0, ns }, { 0, ns } };

	timer_settime(t.timer, 0, &every, NULL);
}

/* A signal leaves the waiter behind, to be waited on again. */
static int waiter_make(uint32_t i)
{
	struct via_conn_wait w = { .timeout = VIA_FOREVER };
	int ret;

	signals(500000);

	w.local.disc_len = 5;
	memcpy(w.local.disc, "limit", 5);
	ret = call(VIA_IOC_CONN_WAIT, &w);
	t.id[i] = w.waiter;
	return ret == -EINTR && w.waiter ? 0 : ret;
}

static int waiter_undo(uint32_t i)
{
	struct via_conn_wait w = { .waiter = t.id[i] };
	int ret;

	signals(0);
	do {
		ret = call(VIA_IOC_CONN_WAIT, &w);
	} while (ret == -EINTR);
	return ret == VIA_R_TIMEOUT ? 0 : ret;
}

static int file_make(uint32_t i)
{
	int fd = open(t.device, O_RDWR | O_CLOEXEC);

	t.id[i] = fd;
	return fd < 0 ? (errno == EMFILE ? VIA_R_ERROR_RESOURCE : -errno) : 0;
}

static int file_undo(uint32_t i)
{
	return close(t.id[i]) ? -errno : 0;
}

static void nap(unsigned int ms)
{
	struct timespec n = { 0, ms * 1000000 };

	nanosleep(&n, NULL);
}

/* It goes on with its messages, whatever we hold. */
static int undisturbed(const char *what)
{
	uint64_t before = __atomic_load_n(&t.score->messages, __ATOMIC_RELAXED);
	unsigned int i;

	for (i = 0; i < 1000 && !t.score->wrong; i++) {
		if (__atomic_load_n(&t.score->messages, __ATOMIC_RELAXED) >=
		    before + 2)
			return 1;
		nap(20);
	}
	printf("viatest fuzz: %s: the victim is disturbed\n", what);
	return 0;
}

static unsigned int exhaust(const struct limit *l)
{
	uint32_t n, i;
	int ret = 0;

	for (n = 0; n < MOST && !ret; n++)
		ret = l->make(n);
	n -= !!ret;
	__atomic_add_fetch(&t.score->ops, n, __ATOMIC_RELAXED);
	if (ret != VIA_R_ERROR_RESOURCE || (l->want && n != l->want)) {
		printf("viatest fuzz: %s: after %u verdict %d, it was to be %llu\n",
		       l->name, n, ret, (unsigned long long)l->want);
		return 1;
	}
	if (!undisturbed(l->name))
		return 1;
	/* One back, one again, and no more than that. */
	ret = l->undo(n / 2);
	if (!ret)
		ret = l->make(n / 2);
	if (!ret && l->make(n) != VIA_R_ERROR_RESOURCE)
		ret = -ERANGE;
	for (i = 0; i < n && !ret; i++)
		ret = l->undo(i);
	if (!ret)
		ret = l->make(0);
	if (!ret)
		ret = l->undo(0);
	if (ret) {
		printf("viatest fuzz: %s: not usable afterwards, %d\n", l->name,
		       ret);
		return 1;
	}
	printf("viatest fuzz: %-24s %u, then ERROR_RESOURCE, and usable again\n",
	       l->name, n);
	return 0;
}

static void nudge(int sig)
{
	(void)sig;
}

/* Signals while this one runs, so that no wait is long. */
static unsigned int waits(const struct limit *l)
{
	struct sigaction wake = { .sa_handler = nudge };
	struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID,
			      .sigev_signo = SIGUSR1 };
	unsigned int bad;

	sigaction(SIGUSR1, &wake, NULL);
	e._sigev_un._tid = syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &e, &t.timer);
	bad = exhaust(l);
	timer_delete(t.timer);
	return bad;
}

static unsigned int all_limits(void)
{
	const struct limit limits[] = {
		{ "VIs", vi_make, vi_undo, t.h.max_vi - VICTIMS_VIS },
		{ "CQs", cq_make, cq_undo, t.h.max_cq },
		{ "full CQs", entries_make, cq_undo, 1 },
		{ "tags", ptag_make, ptag_undo, t.h.max_ptags },
		{ "regions", region_make, region_undo, t.h.max_regions },
		{ "bytes registered", bytes_make, region_undo,
		  t.h.max_register_bytes / t.h.max_block_bytes },
		{ "open files", file_make, file_undo, 0 },
	};
	const struct limit wait = { "waits for a connection", waiter_make,
				    waiter_undo, WAITERS / 4 };
	unsigned int i, bad = 0;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		bad += exhaust(&limits[i]);
	return bad + waits(&wait);
}

unsigned int limits(const char *device, struct score *score)
{
	struct rlimit many = { 1000, 1000 };
	unsigned int bad = 1, i;
	int status = 0;
	pid_t pid;

	setrlimit(RLIMIT_NOFILE, &many);
	t.device = device;
	t.score = score;
	pid = fork();
	if (!pid)
		victim(device, score);
	for (i = 0; i < 3000 && !score->messages && !score->wrong; i++)
		nap(10);
	t.fd = open(device, O_RDWR | O_CLOEXEC);
	t.h.abi = VIA_ABI_VERSION;
	if (t.fd < 0 || call(VIA_IOC_HELLO, &t.h) ||
	    mmap(NULL, 4096, PROT_READ, MAP_SHARED, t.fd, VIA_MMAP_CTL) ==
	    MAP_FAILED) {
		perror(device);
		goto out;
	}
	t.block = mmap(NULL, t.h.max_block_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t.h.max_vi > 256 || t.h.max_register_bytes > 64u << 20)
		fprintf(stderr, "viatest fuzz: load via_ka with smaller limits\n");
	else
		bad = all_limits();
out:
	__atomic_store_n(&score->stop, 1, __ATOMIC_RELEASE);
	waitpid(pid, &status, 0);
	return bad + !!status;
}
