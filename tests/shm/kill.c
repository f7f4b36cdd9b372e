// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Kill a process at some moment under load: either end of a connection, or one
 * that waits for what nobody asks for. The other end learns of it, connections of
 * others go on, and the process that takes its place is found.
 */
#include "tests.h"
#include "end.h"
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_NS	5000000000u

/* What a role has done; written by its process, read by the parent. */
struct role {
	volatile uint64_t messages;
	volatile uint64_t connections;
	volatile uint64_t losses;
	volatile uint64_t lost_at;	/* ns */
	volatile uint64_t bad;
};

enum { BYSTANDER, SERVER, CLIENT, ROLES };

static struct role *role;
static const uint32_t sizes[] = { 4, 60000, 100, 8192, 5000, 65536, 20000 };

static uint32_t size_of(uint32_t seq)
{
	return sizes[seq % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* The next completion of the queue, or its error; polls, or sleeps. */
static VIP_RETURN next(struct end *e, int queue, int poll)
{
	uint64_t end = now_ns() + PATIENCE_NS;
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	if (!poll)
		return queue ? VipSendWait(e->vi, 5000, &d) :
			       VipRecvWait(e->vi, 5000, &d);
	do {
		r = queue ? VipSendDone(e->vi, &d) : VipRecvDone(e->vi, &d);
	} while (r == VIP_NOT_DONE && now_ns() < end);
	return r;
}

static VIP_RETURN get(struct end *e, struct role *me, uint32_t seq, int poll)
{
	VIP_RETURN r = next(e, 0, poll);
	uint32_t len;

	if (r != VIP_SUCCESS)
		return r;
	len = desc_of(e, 0, seq)->Control.Length;
	if (len != size_of(seq) || pattern_bad(data_of(e, 0, seq), len, seq))
		me->bad++;
	return post_recv(e, seq);
}

static VIP_RETURN put(struct end *e, uint32_t seq, int poll)
{
	VIP_RETURN r;

	pattern(data_of(e, 1, seq), size_of(seq), seq);
	r = post_send(e, seq, size_of(seq));
	return r == VIP_SUCCESS ? next(e, 1, poll) : r;
}

/* Messages to and fro until the connection is lost. */
static void talk(struct end *e, struct role *me, int client, int poll)
{
	VIP_RETURN r = VIP_SUCCESS;
	uint32_t seq;

	for (seq = 0; r == VIP_SUCCESS; seq++) {
		if (client)
			r = put(e, seq, poll);
		if (r == VIP_SUCCESS)
			r = get(e, me, seq, poll);
		if (r == VIP_SUCCESS && !client)
			r = put(e, seq, poll);
		me->messages++;
	}
	if (r == VIP_TIMEOUT || r == VIP_NOT_DONE)
		fail("the end of a connection is not seen", r);
	me->lost_at = now_ns();
	me->losses++;
}

static void collect(struct end *e)
{
	VIP_DESCRIPTOR *d;

	VipDisconnect(e->vi);
	while (VipRecvDone(e->vi, &d) != VIP_NOT_DONE && d)
		d = NULL;
	while (VipSendDone(e->vi, &d) != VIP_NOT_DONE && d)
		d = NULL;
	OK(VipDestroyVi(e->vi));
}

/* A server or a client for ever: a connection after the other. */
static void play(unsigned int which, int poll)
{
	struct role *me = &role[which];
	struct end e;
	VIP_RETURN r;
	unsigned int i;

	end_open(&e);
	for (;;) {
		end_vi(&e);
		for (i = 0; i < SLOTS; i++)
			OK(post_recv(&e, i));
		r = which == SERVER ?
		    accept_on(&e, e.vi, "kill", VIP_INFINITE) :
		    connect_to(&e, e.vi, "kill", 5000);
		if (r == VIP_SUCCESS) {
			me->connections++;
			talk(&e, me, which == CLIENT, poll);
		} else if (which == CLIENT && r != VIP_NO_MATCH &&
			   r != VIP_NOT_REACHABLE && r != VIP_REJECT) {
			fail("VipConnectRequest", r);
		}
		collect(&e);
	}
}

static pid_t spawn(unsigned int which, int poll)
{
	pid_t pid = fork();
	struct end e;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (which != BYSTANDER)
		play(which, poll);
	end_open(&e);
	end_vi(&e);
	accept_on(&e, e.vi, "bystander", VIP_INFINITE);
	_exit(1);
}

/* Until *p is at least that; the ns it took, or the program fails. */
static uint64_t until(const volatile uint64_t *p, uint64_t least,
		      const char *what)
{
	uint64_t start = now_ns();

	while (*p < least) {
		if (now_ns() - start > PATIENCE_NS)
			fail(what, (long)*p);
		usleep(50);
	}
	return now_ns() - start;
}

/*
 * Shared memory of other programs comes and goes meanwhile, that of MPI among it:
 * with privileges this process and its children have a /dev/shm of their own,
 * without them only names with "via" or "vipl" count.
 */
static bool has_own_shm(void)
{
	return !unshare(CLONE_NEWNS) &&
	       !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", "/dev/shm", "tmpfs", 0, NULL);
}

static unsigned int names(bool all)
{
	DIR *d = opendir("/dev/shm");
	const struct dirent *e;
	unsigned int n = 0;

	while (d && (e = readdir(d)))
		n += all || strstr(e->d_name, "via") || strstr(e->d_name, "vipl");
	if (d)
		closedir(d);
	return n;
}

/* One death; ns until the other end knew, or a new pair was there. */
static uint64_t one(pid_t *pid, unsigned int victim, unsigned int seed)
{
	uint64_t lost[ROLES] = { 0, role[SERVER].losses, role[CLIENT].losses };
	unsigned int other = victim == SERVER ? CLIENT : SERVER;
	uint64_t at, count;

	count = role[CLIENT].messages;
	until(&role[CLIENT].messages, count + 1, "no messages");
	usleep(seed % 3000);
	at = now_ns();
	kill(pid[victim], SIGKILL);
	waitpid(pid[victim], NULL, 0);
	if (victim == BYSTANDER) {
		count = role[CLIENT].messages;
		until(&role[CLIENT].messages, count + 20, "messages stop");
		if (role[SERVER].losses != lost[SERVER] ||
		    role[CLIENT].losses != lost[CLIENT])
			fail("a connection is lost with another process", 0);
		pid[victim] = spawn(victim, 0);
		return 0;
	}
	until(&role[other].losses, lost[other] + 1, "the end is not seen");
	at = role[other].lost_at > at ? role[other].lost_at - at : 0;
	count = role[CLIENT].connections;
	pid[victim] = spawn(victim, seed & 1);
	until(&role[CLIENT].connections, count + 1, "no new connection");
	return at;
}

int test_kill(int rounds)
{
	bool own = has_own_shm();
	unsigned int shm = names(own), seed = (unsigned int)getpid();
	uint64_t worst = 0, ns;
	pid_t pid[ROLES];
	int i;

	role = mmap(NULL, ROLES * sizeof(*role), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < ROLES; i++) {
		pid[i] = spawn((unsigned int)i, i & 1);
		usleep(10000);
	}
	until(&role[CLIENT].connections, 1, "no connection");
	for (i = 0; i < rounds; i++) {
		seed = seed * 1103515245u + 12345u;
		ns = one(pid, seed >> 16 & 3 ? 1 + (seed >> 18 & 1) :
					       BYSTANDER, seed >> 8);
		worst = ns > worst ? ns : worst;
	}
	for (i = 0; i < ROLES; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		if (role[i].bad)
			fail("messages with other bytes", (long)role[i].bad);
	}
	if (names(own) != shm)
		fail("something is left in /dev/shm", names(own));
	printf("%d deaths, %llu messages; an end was seen within %llu us\n",
	       rounds, (unsigned long long)role[CLIENT].messages,
	       (unsigned long long)worst / 1000);
	return 0;
}
