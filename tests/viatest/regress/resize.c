// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A completion queue gets a smaller ring while other threads move its head and
 * ask for more notices: the call ends, whatever they do, and so does the
 * process when it is killed.
 */
#include "regress.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING		65536u
#define VIS		40u		/* with more notices than the ring holds */
#define ENTRIES		1024u
#define REFILLERS	3u

static struct handle h;
static struct via_cq_create cq;
static struct via_cq_shared *shared;
static struct {
	uint64_t began;			/* atomic: the call under way, or 0 */
	uint32_t resizes;		/* atomic */
} *told;

/* The head as far back as it may be: all in the ring is to be moved. */
static void far_back(void)
{
	uint32_t n = __atomic_load_n(&shared->entries, __ATOMIC_RELAXED);
	uint32_t tail = __atomic_load_n(&shared->tail, __ATOMIC_ACQUIRE);

	__atomic_store_n(&shared->head, tail - n + dice(64), __ATOMIC_RELEASE);
}

/* All the time, on the other CPU. */
static void *changing(void *arg)
{
	pin(1);
	for (;;)
		far_back();
	return arg;
}

/* Again and again in the middle of the call, on its own CPU. */
static void *interrupting(void *arg)
{
	struct sched_param rt = { .sched_priority = 10 };

	pin(0);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &rt))
		die("no real-time priority");
	for (;;) {
		far_back();
		sleep_ns(100000);
	}
	return arg;
}

static void *refilling(void *arg)
{
	for (;;) {
		far_back();
		lseek(h.fd, via_trap_arg(VIA_OP_CQ, cq.cq), VIA_TRAP_WHENCE);
	}
	return arg;
}

static void resize(uint32_t entries)
{
	struct via_cq_resize r = {
		.cq = cq.cq,
		.step = VIA_CQ_PREPARE,
		.entries = entries,
	};

	if (ioctl(h.fd, VIA_IOC_CQ_RESIZE, &r))
		die("no other ring");
	r = (struct via_cq_resize){ .cq = cq.cq, .step = VIA_CQ_COMMIT };
	__atomic_store_n(&told->began, now_ns(), __ATOMIC_RELEASE);
	if (ioctl(h.fd, VIA_IOC_CQ_RESIZE, &r))
		die("the other ring is not taken");
	__atomic_store_n(&told->began, 0, __ATOMIC_RELEASE);
	__atomic_add_fetch(&told->resizes, 1, __ATOMIC_RELEASE);
}

static void resizing(uint32_t refillers)
{
	struct via_vi_shared *s;
	struct via_vi_create c;
	uint32_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	handle_open(&h, regress_opt.device);
	cq.entries = RING;
	if (ioctl(h.fd, VIA_IOC_CQ_CREATE, &cq))
		die("no completion queue");
	shared = mmap(NULL, VIA_CQ_HDR_SIZE, PROT_READ | PROT_WRITE,
		      MAP_SHARED, h.fd, cq.mmap_offset);
	if (shared == MAP_FAILED)
		shared = mmap(NULL, cq.mmap_size, PROT_READ | PROT_WRITE,
			      MAP_SHARED, h.fd, cq.mmap_offset);
	if (shared == MAP_FAILED)
		die("the completion queue cannot be mapped");
	for (i = 0; i < VIS; i++) {
		c = vi_new(&h, MOST_BYTES, cq.cq);
		s = vi_map(&h, &c);
		s->send_user.tail = ENTRIES;
		s->recv_user.tail = ENTRIES;
		if (vi_do(&h, VIA_IOC_DISCONNECT, c.vi))
			die("a VI cannot be left");
	}
	for (i = 0; i < refillers; i++)
		start(refilling, NULL);
	if (!refillers) {
		start(changing, NULL);
		start(interrupting, NULL);
	}
	pin(0);
	for (i = 0;; i++)
		resize(i & 1 ? RING : 1);
}

/* The call under way, in ms. */
static uint64_t taken(void)
{
	uint64_t began = __atomic_load_n(&told->began, __ATOMIC_ACQUIRE);
	uint64_t now = now_ns();

	return began && now > began ? (now - began) / 1000000 : 0;
}

/* How long the process is there after SIGKILL. */
static uint32_t ended(pid_t pid)
{
	uint64_t begin = now_ns();

	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) != pid) {
		if ((now_ns() - begin) / 1000000 > regress_opt.limit) {
			fprintf(stderr, "viatest regress: the process is alive %u ms after SIGKILL\n",
				regress_opt.limit);
			return 1;
		}
		sleep_ns(1000000);
	}
	printf("killed_ms %.1f\n", (now_ns() - begin) / 1e6);
	return 0;
}

static uint32_t beside(uint32_t refillers)
{
	uint32_t rounds = regress_opt.count ? regress_opt.count : 20, wrong = 0;
	uint64_t end = now_ns() + regress_opt.seconds * 1000000000ull, ms, most = 0;
	pid_t pid;

	memset(told, 0, sizeof(*told));
	pid = fork();
	if (!pid)
		resizing(refillers);
	while (__atomic_load_n(&told->resizes, __ATOMIC_ACQUIRE) < rounds &&
	       (now_ns() < end || !told->resizes)) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			die("the process has ended");
		ms = taken();
		most = ms > most ? ms : most;
		if (ms > regress_opt.limit) {
			fprintf(stderr, "viatest regress: another ring takes over %u ms\n",
				regress_opt.limit);
			wrong++;
			break;
		}
		sleep_ns(1000000);
	}
	printf("refillers %u resizes %u most_ms %llu\n", refillers,
	       told->resizes, (unsigned long long)most);
	fflush(stdout);
	return wrong + ended(pid);
}

int run_resize(void)
{
	uint32_t wrong;

	told = shared_memory(sizeof(*told));
	wrong = beside(REFILLERS);
	wrong += beside(0);
	return wrong != 0;
}
