// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * kill -9 of the other end, under load.
 *
 *	kill DEVICE [ROUNDS]
 *
 * A process keeps its NIC handle open; one after the other connects to it or
 * is connected to, floods or is flooded, and is killed at some point. Each
 * time the VI ends in Error, every posted descriptor completes, and the next
 * connection can be made. Files and memory do not grow.
 */
#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

#define RECVS		30
#define FILES_MORE	4		/* than after the first rounds */
/*
 * The heap is what shows a leak. Memory that is resident grows without one:
 * much of it is libfabric's from the beginning, and touched bit by bit. The
 * heap has buffers for as many peers as there were at once, 580 KiB for each.
 */
#define HEAP_KIB_MORE	2048
#define KIB_MORE	16384
#define SETTLED		6		/* rounds after which it is counted */

static struct end own;

static int files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static long kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		fail("no /proc/self/statm", 0);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Sanitizers have a heap of their own, and keep what is freed for a while. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static int sanitized(void)
{
	return __sanitizer_get_current_allocated_bytes != NULL;
}

static long heap_kib(void)
{
	struct mallinfo2 m = mallinfo2();

	if (sanitized())
		return (long)(__sanitizer_get_current_allocated_bytes() / 1024);
	return (long)((m.uordblks + m.hblkhd) / 1024);
}

static void post_all(struct end *e)
{
	int i;

	for (i = 2; i < 2 + RECVS; i++)
		OK(VipPostRecv(e->vi, descriptor(e, i), e->mem_h));
}

/* Post, send and collect, until the connection breaks. */
static int exchange(struct end *e)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;
	int sent = 0;

	for (;;) {
		while (VipRecvDone(e->vi, &d) == VIP_SUCCESS) {
			d = descriptor(e, (int)(((char *)d - e->mem) / 64));
			if (VipPostRecv(e->vi, d, e->mem_h))
				return sent;
		}
		if (VipPostSend(e->vi, descriptor(e, 1), e->mem_h))
			return sent;
		r = VipSendWait(e->vi, 10000, &d);
		if (r == VIP_TIMEOUT)
			fail("a send does not end", sent);
		if (r != VIP_SUCCESS)
			return sent;
		sent++;
	}
}

static void victim(int round)
{
	static struct end e;
	char disc[16];

	open_end(&e);
	post_all(&e);
	snprintf(disc, sizeof(disc), "kill %d", round);
	if (round & 1)
		serve(&e, disc);
	else
		request(&e, disc);
	/* A victim that does nothing dies with the sender's messages in it. */
	if (round % 3)
		exchange(&e);
	for (;;)
		pause();
}

/* Everything posted comes back, and the VI can be used again. */
static void clean_up(int round)
{
	VIP_VI_ATTRIBUTES a;
	VIP_BOOLEAN s, r;
	VIP_VI_STATE state;
	VIP_DESCRIPTOR *d;
	int waited;

	for (waited = 0; ; waited++) {
		OK(VipQueryVi(own.vi, &state, &a, &s, &r));
		if (state == VIP_STATE_ERROR)
			break;
		if (waited == PATIENCE_S * 100)
			fail("the connection is not lost, round", round);
		usleep(10000);
	}
	OK(VipDisconnect(own.vi));
	while (VipRecvDone(own.vi, &d) != VIP_NOT_DONE && d)
		;
	while (VipSendDone(own.vi, &d) != VIP_NOT_DONE && d)
		;
	OK(VipDestroyVi(own.vi));
	new_vi(&own);
}

static void killer(pid_t pid, int round)
{
	usleep(500u + 1700u * (unsigned int)(round % 13));
	kill(pid, SIGKILL);
}

static int one_round(int round)
{
	pid_t pid, killing;
	char disc[16];
	int sent;

	post_all(&own);
	pid = fork();
	if (!pid)
		victim(round);
	snprintf(disc, sizeof(disc), "kill %d", round);
	if (round & 1)
		request(&own, disc);
	else
		serve(&own, disc);
	killing = fork();
	if (!killing) {
		killer(pid, round);
		_exit(0);
	}
	sent = exchange(&own);
	if (wait_for_child(pid) != 128 + SIGKILL)
		fail("the victim ended by itself, round", round);
	wait_for_child(killing);
	clean_up(round);
	return sent;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 20, i, sent = 0, had = 0;
	long used = 0, heap = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: kill DEVICE [ROUNDS]\n");
		return 2;
	}
	device = argv[1];
	alarm(PATIENCE_S * (unsigned int)rounds);
	open_end(&own);
	for (i = 0; i < rounds; i++) {
		sent += one_round(i);
		if (i != SETTLED)
			continue;
		had = files();
		used = kib();
		heap = heap_kib();
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("kill: %d rounds, %d messages; files %+d, heap %+ld KiB, memory %+ld KiB\n",
	       rounds, sent, files() - had, heap_kib() - heap, kib() - used);
	if (rounds > SETTLED && files() > had + FILES_MORE)
		fail("files are left", files() - had);
	if (rounds > SETTLED && !sanitized() && kib() > used + KIB_MORE)
		fail("KiB more than before", kib() - used);
	if (rounds > SETTLED && heap_kib() > heap + HEAP_KIB_MORE)
		fail("KiB more allocated than before", heap_kib() - heap);
	OK(VipDestroyVi(own.vi));
	OK(VipDeregisterMem(own.nic, own.mem, own.mem_h));
	OK(VipCloseNic(own.nic));
	return 0;
}
