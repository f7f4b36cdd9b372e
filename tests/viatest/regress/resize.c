// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A completion queue gets a smaller ring while other threads move its head and
 * ask for more notices: the call ends, whatever they do, and so does the
 * process when it is killed.
 */
#include "regress.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
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
	uint32_t n = load_acquire(&shared->entries);
	uint32_t tail = load_acquire(&shared->tail);

	store_release(&shared->head, tail - n + dice(64));
}

/* All the time, on the other CPU. */
static void *changing(void *arg)
{
	thread_pin(1);
	for (;;)
		far_back();
	return arg;
}

/* Again and again in the middle of the call, on its own CPU. */
static void *interrupting(void *arg)
{
	thread_pin(0);
	thread_realtime();
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
	store_release(&told->began, now_ns());
	if (ioctl(h.fd, VIA_IOC_CQ_RESIZE, &r))
		die("the other ring is not taken");
	store_release(&told->began, 0);
	fetch_add(&told->resizes, 1);
}

static int resizing(void *arg)
{
	uint32_t refillers = *(uint32_t *)arg;
	struct via_vi_shared *s;
	struct via_vi_create c;
	uint32_t i;

	handle_open(&h, args.device);
	cq.entries = RING;
	shared = cq_new(&h, &cq, VIA_CQ_HDR_SIZE);
	for (i = 0; i < VIS; i++) {
		c = vi_new(&h, MOST_BYTES, cq.cq);
		s = vi_map(&h, &c);
		s->send_user.tail = ENTRIES;
		s->recv_user.tail = ENTRIES;
		if (vi_do(&h, VIA_IOC_DISCONNECT, c.vi))
			die("a VI cannot be left");
	}
	for (i = 0; i < refillers; i++)
		thread_start(refilling, NULL);
	if (!refillers) {
		thread_start(changing, NULL);
		thread_start(interrupting, NULL);
	}
	thread_pin(0);
	for (i = 0;; i++)
		resize(i & 1 ? RING : 1);
}

/* The call under way, in ms. */
static uint64_t taken(void)
{
	uint64_t began = load_acquire(&told->began);
	uint64_t now = now_ns();

	return began && now > began ? (now - began) / 1000000 : 0;
}

/* How long the process is there after SIGKILL. */
static uint32_t ended(pid_t pid)
{
	uint64_t begin = now_ns();

	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) != pid) {
		if (ms_since(begin) > args.limit) {
			warn_msg("the process is alive %u ms after SIGKILL",
				 args.limit);
			return 1;
		}
		sleep_ms(1);
	}
	printf("killed_ms %.1f\n", ms_since(begin));
	return 0;
}

static uint32_t beside(uint32_t refillers)
{
	uint64_t end = now_ns() + args.seconds * 1000 * MS, ms, most = 0;
	uint32_t wrong = 0;
	pid_t pid;

	memset(told, 0, sizeof(*told));
	pid = child_start(resizing, &refillers);
	while (load_acquire(&told->resizes) < args.count &&
	       (now_ns() < end || !told->resizes)) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			die("the process has ended");
		ms = taken();
		most = ms > most ? ms : most;
		if (ms > args.limit) {
			warn_msg("another ring takes over %u ms", args.limit);
			wrong++;
			break;
		}
		sleep_ms(1);
	}
	printf("refillers %u resizes %u most_ms %llu\n", refillers,
	       told->resizes, (unsigned long long)most);
	return wrong + ended(pid);
}

int run_resize(void)
{
	uint32_t wrong;

	told = memory_shared(sizeof(*told));
	wrong = beside(REFILLERS);
	wrong += beside(0);
	return wrong != 0;
}
