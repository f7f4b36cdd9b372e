// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program registers memory whose pages never come.  It waits for them, and
 * nothing else does: not another thread with the same handle, no other
 * program, not the end of the NIC; and SIGKILL ends it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/abi.h"
#include "common/fuse.h"
#include "common/memory.h"
#include "common/netdev.h"
#include "common/proc.h"
#include "fuzz.h"

#define PATIENCE_MS	60000u		/* of what is not to wait */
#define ROUNDS		5u		/* of calls, that show it does not */

static struct shared {
	uint32_t rounds;		/* of calls by the other thread */
	uint32_t over;			/* the registration has ended */
} *shared;

static const char *device;
static unsigned int bad;
static int let_go;			/* the server is dead */

static void fault(const char *what)
{
	printf("viatest fuzz: pages that never come: %s\n", what);
	fflush(stdout);
	bad++;
}

/* Each takes what a handle has locks for; 0 where all are granted. */
static int calls(int fd, void *memory)
{
	uint32_t vi, handle;
	int ret;

	ret = abi_vi_create(fd, VIA_UNRELIABLE, 4096, &vi);
	ret = ret ?: abi_id(fd, VIA_IOC_VI_DESTROY, vi);
	ret = ret ?: abi_register(fd, memory, 4096, &handle);
	return ret ?: abi_deregister(fd, memory, handle);
}

struct request {
	struct abi a;
	void *memory;
};

static void *waits(void *arg)
{
	const struct request *q = arg;
	uint32_t handle;

	abi_register(q->a.fd, q->memory, FUSE_BYTES, &handle);
	__atomic_store_n(&shared->over, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* One thread waits for its pages, the other has work. */
static pid_t program(void)
{
	int file = fuse_file(NEVER, true);
	struct request q;
	pthread_t other;
	void *mine;
	pid_t pid;

	if (file < 0)
		return -1;
	memset(shared, 0, sizeof(*shared));
	let_go = 0;
	pid = proc_fork();
	if (pid) {
		close(file);
		return pid;
	}
	mine = memory_new(4096);
	q.memory = mmap(NULL, FUSE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			file, 0);
	if (abi_open(&q.a, device) || q.memory == MAP_FAILED ||
	    pthread_create(&other, NULL, waits, &q))
		_exit(2);
	while (!fuse_asked())
		usleep(1000);
	for (;;) {
		if (!calls(q.a.fd, mine))
			__atomic_add_fetch(&shared->rounds, 1,
					   __ATOMIC_RELEASE);
		usleep(10000);
	}
}

static int in_time(int (*done)(pid_t pid), pid_t pid)
{
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS; ms += 10) {
		if (done(pid))
			return 1;
		usleep(10000);
	}
	return 0;
}

static int is_asked(pid_t pid)
{
	(void)pid;
	return fuse_asked();
}

static int has_worked(pid_t pid)
{
	(void)pid;
	return __atomic_load_n(&shared->rounds, __ATOMIC_ACQUIRE) >= ROUNDS;
}

static int has_ended(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == pid;
}

/* What another program does, with a handle of its own. */
static void neighbour(const char *unused)
{
	struct abi a;
	unsigned int i;

	(void)unused;
	if (abi_open(&a, device))
		return;
	for (i = 0; i < ROUNDS && !calls(a.fd, memory_new(4096)); i++)
		;
}

/* Detaches the interface, and attaches it again. */
static void renewal(const char *name)
{
	if (!netdev_attach(name, false))
		netdev_attach(name, true);
}

/* What the program is to be killed in, or has to bear; then it is killed. */
static void end_of(pid_t pid)
{
	if (shared->over && !let_go)
		fault("the registration has ended by itself");
	kill(pid, SIGKILL);
	if (!in_time(has_ended, pid)) {
		fault("SIGKILL does not end the program");
		fuse_end();
		waitpid(pid, NULL, 0);
	}
	fuse_end();
}

/* A process ends in time beside it. */
static void beside(const char *what, void (*other)(const char *name),
		   const char *name)
{
	pid_t pid = proc_fork();

	if (!pid) {
		other(name);
		_exit(0);
	}
	if (in_time(has_ended, pid))
		return;
	fault(what);
	/* Then it goes on, and the next can be looked at. */
	let_go = 1;
	fuse_end();
	waitpid(pid, NULL, 0);
}

/* The interface of the NIC where that can be detached, or NULL. */
static const char *interface(void)
{
	const char *name = strrchr(device, '/') + 1;

	if (strncmp(name, "via_", 4) || !netdev_detachable(name + 4))
		return NULL;
	return name + 4;
}

unsigned int blocked_memory(const char *which, struct ledger *before)
{
	const char *name, *left;
	pid_t pid;

	device = which;
	shared = memory_shared(sizeof(*shared));
	pid = program();
	if (pid < 0) {
		printf("viatest fuzz: pages that never come     not here\n");
		return 0;
	}
	if (!in_time(is_asked, pid))
		fault("no page was asked for");
	if (!in_time(has_worked, pid))
		fault("another thread's calls wait, too");
	beside("another program's calls wait, too", neighbour, NULL);
	end_of(pid);

	name = interface();
	if (name) {
		pid = program();
		if (!in_time(is_asked, pid))
			fault("no page was asked for");
		beside("the interface cannot be detached", renewal, name);
		end_of(pid);
	}
	left = ledger_left(before, 20);
	if (left) {
		fault("it leaves behind:");
		printf("  %s\n", left);
	}
	printf("viatest fuzz: pages that never come     %s%s\n",
	       name ? "also when the NIC goes: " : "",
	       bad ? "WRONG" : "nothing else waits");
	return bad;
}
