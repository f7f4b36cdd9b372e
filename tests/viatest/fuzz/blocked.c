// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program registers memory whose pages never come.  It waits for them, and
 * nothing else does: not another thread with the same handle, no other
 * program, not the end of the NIC; and SIGKILL ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uapi/via.h>
#include "abi.h"
#include "common/fuse.h"
#include "ledger.h"

#define PATIENCE_MS	60000u		/* of what is not to wait */
#define ROUNDS		5u		/* of calls, that show it does not */
#define PARAMETERS	"/sys/module/via_netdev/parameters/"

static struct shared {
	uint32_t rounds;		/* of calls by the other thread */
	uint32_t verdict;		/* of the registration, and one more */
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

static int handle(void)
{
	int fd = open(device, O_RDWR | O_CLOEXEC);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd,
			   VIA_MMAP_CTL) == MAP_FAILED)
		return -1;
	return fd;
}

/* Each takes what a handle has locks for; 0 where all are granted. */
static int calls(int fd, void *memory)
{
	struct via_mem_register m = { .addr = (uintptr_t)memory, .len = 4096 };
	struct via_mem_deregister d = { .addr = m.addr };
	struct via_vi_create v = { .attrs = { VIA_UNRELIABLE, 0, 4096, 0 } };
	struct via_vi_arg a = { 0 };
	int ret;

	ret = ioctl(fd, VIA_IOC_VI_CREATE, &v);
	a.vi = v.vi;
	ret = ret ?: ioctl(fd, VIA_IOC_VI_DESTROY, &a);
	ret = ret ?: ioctl(fd, VIA_IOC_MEM_REGISTER, &m);
	d.handle = m.handle;
	return ret ?: ioctl(fd, VIA_IOC_MEM_DEREGISTER, &d);
}

static void *page(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

struct request {
	int fd;
	void *memory;
};

static void *waits(void *arg)
{
	const struct request *q = arg;
	struct via_mem_register m = { .addr = (uintptr_t)q->memory,
				      .len = FUSE_BYTES };
	int ret = ioctl(q->fd, VIA_IOC_MEM_REGISTER, &m);

	__atomic_store_n(&shared->verdict, 1 + (ret < 0 ? errno + 1000 : ret),
			 __ATOMIC_RELEASE);
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
	pid = fork();
	if (pid) {
		close(file);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	mine = page();
	q.fd = handle();
	q.memory = mmap(NULL, FUSE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			file, 0);
	if (q.fd < 0 || q.memory == MAP_FAILED ||
	    pthread_create(&other, NULL, waits, &q))
		_exit(2);
	while (!fuse_asked())
		usleep(1000);
	for (;;) {
		if (!calls(q.fd, mine))
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

/* Another program, with a handle of its own. */
static pid_t neighbour(void)
{
	unsigned int i;
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = handle();
	for (i = 0; i < ROUNDS; i++)
		if (fd < 0 || calls(fd, page()))
			_exit(1);
	_exit(0);
}

static void set(const char *parameter, const char *name)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), PARAMETERS "%s", parameter);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, name, strlen(name)) < 0)
		_exit(1);
	close(fd);
}

/* Detaches the interface, and attaches it again. */
static pid_t renewal(const char *name)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	set("detach", name);
	set("attach", name);
	_exit(0);
}

/* What the program is to be killed in, or has to bear; then it is killed. */
static void end_of(pid_t pid)
{
	if (shared->verdict && !let_go)
		fault("the registration has ended by itself");
	kill(pid, SIGKILL);
	if (!in_time(has_ended, pid)) {
		fault("SIGKILL does not end the program");
		fuse_end();
		waitpid(pid, NULL, 0);
	}
	fuse_end();
}

static void beside(const char *what, pid_t other)
{
	if (in_time(has_ended, other))
		return;
	fault(what);
	/* Then it goes on, and the next can be looked at. */
	let_go = 1;
	fuse_end();
	waitpid(other, NULL, 0);
}

/* The interface of the NIC where that can be detached, or NULL. */
static const char *interface(void)
{
	const char *name = strrchr(device, '/') + 1;
	FILE *f = fopen(PARAMETERS "attach", "re");
	static char line[4096];
	char *one, *rest = line;

	if (!f || strncmp(name, "via_", 4))
		return NULL;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	while ((one = strsep(&rest, ",\n")))
		if (!strcmp(one, name + 4))
			return one;
	return NULL;
}

unsigned int blocked_memory(const char *which, struct ledger *before)
{
	const char *name, *left;
	pid_t pid;

	device = which;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = program();
	if (pid < 0) {
		printf("viatest fuzz: pages that never come     not here\n");
		return 0;
	}
	if (!in_time(is_asked, pid))
		fault("no page was asked for");
	if (!in_time(has_worked, pid))
		fault("another thread's calls wait, too");
	beside("another program's calls wait, too", neighbour());
	end_of(pid);

	name = interface();
	if (name) {
		pid = program();
		if (!in_time(is_asked, pid))
			fault("no page was asked for");
		beside("the interface cannot be detached", renewal(name));
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
