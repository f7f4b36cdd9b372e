// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Processes that go on while others are killed.
 *
 *	survive DEVICE WHOM [ROUNDS]
 *
 * Two servers and two clients exchange messages, short ones and long ones,
 * without end. In each round one of them is killed -9 at a random point and
 * another one takes its place: a server or a client (WHOM), which all have the
 * port that look-ups come to. Both pairs go on within PATIENCE_S, messages come in
 * their order and whole, and those that live do not run out of files.
 */
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

#define WORKERS		4		/* 2 * pair + 1 for a client */
#define RECVS		16
#define LONG		65536u
#define GOES_ON		20		/* messages that show it */
#define FILES_MORE	8
#define SETTLED		4		/* rounds after which files count */

struct worker {
	pid_t pid;
	int files;			/* at SETTLED; 0: it is younger */
	unsigned long before;		/* messages, when the round began */
};

static struct worker worker[WORKERS];
static _Atomic unsigned long *received;	/* by worker, of all its lives */
static struct end own;
static char *room;			/* RECVS + 1 buffers of LONG */
static VIP_MEM_HANDLE room_h;

static void descend(VIP_DESCRIPTOR *d, unsigned int buffer, uint32_t len)
{
	memset(d, 0, 64);
	d->CS.SegCount = 1;
	d->CS.Length = len;
	d->DS[0].Local.Data.Address = room + buffer * LONG;
	d->DS[0].Local.Handle = room_h;
	d->DS[0].Local.Length = len;
}

static int post(int i)
{
	VIP_DESCRIPTOR *d = descriptor(&own, i);

	descend(d, (unsigned int)i, LONG);
	return VipPostRecv(own.vi, d, own.mem_h) != VIP_SUCCESS;
}

/* The number of a message is at both of its ends. */
static void stamp(char *at, uint32_t len, uint32_t n)
{
	memcpy(at, &n, sizeof(n));
	memcpy(at + len - sizeof(n), &n, sizeof(n));
}

static void check(const VIP_DESCRIPTOR *d, uint32_t n)
{
	const char *at = d->DS[0].Local.Data.Address;
	uint32_t first, last;

	memcpy(&first, at, sizeof(first));
	memcpy(&last, at + d->CS.Length - sizeof(last), sizeof(last));
	if (first != n)
		fail("a message is not the next one", (long)first - (long)n);
	if (last != n)
		fail("a message is not whole", n);
}

/* Until the connection breaks. */
static void exchange(int me)
{
	uint32_t sent = 0, got = 0, len;
	VIP_DESCRIPTOR *d;

	for (;;) {
		while (VipRecvDone(own.vi, &d) == VIP_SUCCESS) {
			check(d, got++);
			atomic_fetch_add(&received[me], 1);
			if (post((int)(((char *)d - own.mem) / 64)))
				return;
		}
		len = sent % 5 ? 8 + sent % 500 : LONG - sent % 1000;
		d = descriptor(&own, RECVS);
		descend(d, RECVS, len);
		stamp(room + RECVS * LONG, len, sent);
		if (VipPostSend(own.vi, d, own.mem_h) ||
		    VipSendWait(own.vi, PATIENCE_S * 1000, &d))
			return;
		sent++;
	}
}

static VIP_RETURN meet(int me)
{
	char disc[32], host[2][128] = { 0 };
	VIP_NET_ADDRESS *local = (void *)host[0], *remote = (void *)host[1];
	uint16_t len = own.attr.NicAddressLen;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE c;
	VIP_RETURN r;

	snprintf(disc, sizeof(disc), "survive %d", me / 2);
	local->HostAddressLen = remote->HostAddressLen = len;
	memcpy(local->HostAddress, own.attr.LocalNicAddress, len);
	memcpy(remote->HostAddress, own.attr.LocalNicAddress, len);
	if (me & 1) {
		remote->DiscriminatorLen = strlen(disc);
		memcpy(remote->HostAddress + len, disc, strlen(disc));
		return VipConnectRequest(own.vi, local, remote, 5000, &theirs);
	}
	local->DiscriminatorLen = strlen(disc);
	memcpy(local->HostAddress + len, disc, strlen(disc));
	r = VipConnectWait(own.nic, local, VIP_INFINITE, remote, &theirs, &c);
	return r == VIP_SUCCESS ? VipConnectAccept(c, own.vi) : r;
}

/* Everything posted comes back. */
static void clean_up(void)
{
	VIP_DESCRIPTOR *d;

	VipDisconnect(own.vi);
	while (VipRecvDone(own.vi, &d) != VIP_NOT_DONE && d)
		;
	while (VipSendDone(own.vi, &d) != VIP_NOT_DONE && d)
		;
	OK(VipDestroyVi(own.vi));
	new_vi(&own);
}

static void work(int me)
{
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	own.transfer = LONG;
	open_end(&own);
	room = aligned_alloc(4096, (RECVS + 1) * LONG);
	if (!room)
		fail("no memory", 0);
	memset(room, 0, (RECVS + 1) * LONG);
	OK(VipRegisterMem(own.nic, room, (RECVS + 1) * LONG, NULL, &room_h));
	for (;;) {
		for (i = 0; i < RECVS; i++)
			post(i);
		if (meet(me) == VIP_SUCCESS)
			exchange(me);
		else
			usleep(1000);
		clean_up();
	}
}

static void start(int me)
{
	struct worker *w = &worker[me];

	w->files = 0;
	w->pid = fork();
	if (w->pid < 0)
		fail("no process", me);
	if (!w->pid)
		work(me);
}

static int files(pid_t pid)
{
	char path[64];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		n++;
	if (d)
		closedir(d);
	return n;
}

static int choose(const char *whom)
{
	return rand() % 2 * 2 + (*whom == 'c');
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* All of them receive; ms that it took. */
static uint64_t all_go_on(int round)
{
	uint64_t since = now_ms();
	int i, status;

	for (i = 0; i < WORKERS; i++)
		worker[i].before = atomic_load(&received[i]);
	for (i = 0; i < WORKERS; i++) {
		while (atomic_load(&received[i]) < worker[i].before + GOES_ON) {
			if (waitpid(-1, &status, WNOHANG) > 0)
				fail("a process ended by itself, round", round);
			if (now_ms() - since > PATIENCE_S * 1000) {
				fprintf(stderr, "process %d of %d: ", i, WORKERS);
				fail("it does not go on, round", round);
			}
			usleep(1000);
		}
	}
	return now_ms() - since;
}

static void look_at_files(int round)
{
	int i, n;

	for (i = 0; i < WORKERS; i++) {
		n = files(worker[i].pid);
		if (!worker[i].files && round >= SETTLED)
			worker[i].files = n;
		else if (worker[i].files && n > worker[i].files + FILES_MORE)
			fail("files are left", n - worker[i].files);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[3]) : 20, i, victim;
	uint64_t took, most = 0;

	if (argc < 3 || !strchr("sc", *argv[2])) {
		fprintf(stderr,
			"usage: survive DEVICE server|client [ROUNDS]\n");
		return 2;
	}
	device = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	received = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (received == MAP_FAILED)
		fail("no memory", 0);
	for (i = 0; i < WORKERS; i++)
		start(i);
	all_go_on(-1);
	for (i = 0; i < rounds; i++) {
		usleep((unsigned int)rand() % 20000);
		victim = choose(argv[2]);
		kill(worker[victim].pid, SIGKILL);
		waitpid(worker[victim].pid, NULL, 0);
		start(victim);
		took = all_go_on(i);
		if (took > most)
			most = took;
		look_at_files(i);
	}
	for (i = 0; i < WORKERS; i++)
		kill(worker[i].pid, SIGKILL);
	while (wait(NULL) > 0)
		;
	printf("survive: %d times the %s; on they go within %lu ms\n", rounds,
	       argv[2], (unsigned long)most);
	return 0;
}
