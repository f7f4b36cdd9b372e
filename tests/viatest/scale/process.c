// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fork(), vfork() and exec() with registered memory and a connection: what a
 * child does is no matter of the parent's, and what a process leaves behind
 * by exec() or exit() ends, whichever process has inherited the file.
 */
#include "scale.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct nic nic;		/* of the parent, which does nothing else */
static struct end ctl;
static uint32_t last_id;
static double slowest;		/* ms until the server knew */

/* A child's: opened and connected, its order given. */
static void begin(struct nic *n, struct end *e, enum order_type type,
		  uint32_t id, uint32_t count)
{
	struct order o = { .type = type, .id = id, .n = count };

	nic_open(n, scale_opt.device);
	if (end_open(e, n, false) || connect_to(e, DISC, scale_opt.limit) ||
	    order(e, &o))
		die("a child cannot connect");
}

static uint32_t alive(uint32_t id)
{
	struct order o = { .type = ORDER_ASK, .id = id };
	uint32_t len;
	VIP_RETURN rc;
	uint8_t *p;

	if (order(&ctl, &o))
		die("the server cannot be asked");
	p = end_recv(&ctl, scale_opt.limit, &len, &rc);
	if (!p)
		die("the server does not answer: %s", vip_str(rc));
	memcpy(&o, p, sizeof(o));
	end_repost(&ctl);
	return o.alive;
}

/* Until the server has so many connections of the id. */
static void until(uint32_t id, uint32_t want, const char *what)
{
	uint64_t start = now_ns(), ms;

	while (alive(id) != want) {
		ms = (now_ns() - start) / 1000000;
		if (ms > scale_opt.limit)
			die("%s: after %u ms the server has not %s", what,
			    scale_opt.limit, want ? "the connection" : "lost it");
		sleep_ns(1000000);
	}
	if (!want && (now_ns() - start) / 1e6 > slowest)
		slowest = (now_ns() - start) / 1e6;
}

static void until_unpinned(long before, const char *what)
{
	uint64_t end = now_ns() + scale_opt.limit * 1000000ull;

	while (before >= 0 && pinned() > before) {
		if (now_ns() > end)
			die("%s: pages stay pinned", what);
		sleep_ns(1000000);
	}
}

static void reap(pid_t pid, const char *what)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		die("%s: a child ended with status 0x%x", what, status);
}

static pid_t start(void (*f)(uint32_t id, int fd), uint32_t id, int fd)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork fails");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		f(id, fd);
		_exit(0);
	}
	return pid;
}

static void *pushing(void *arg)
{
	stream_push(arg, last_id, ~0u);
	return arg;
}

/* The parent has seen it as it is. */
static void may_go(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		die("the parent is gone");
}

/* exec() under way, by one thread while another one sends. */
static void exec_sender(uint32_t id, int fd)
{
	pthread_t t;
	struct nic n;
	struct end e;

	last_id = id;
	begin(&n, &e, ORDER_PUSH, id, ~0u);
	pthread_create(&t, NULL, pushing, &e);
	may_go(fd);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(9);
}

static void exec_idle(uint32_t id, int fd)
{
	struct nic n;
	struct end e;

	begin(&n, &e, ORDER_IDLE, id, 0);
	may_go(fd);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(9);
}

static void ended_by_exec(void (*f)(uint32_t id, int fd))
{
	long before = pinned();
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		die("pipe fails");
	pid = start(f, ++last_id, fds[0]);
	until(last_id, 1, "exec");
	if (write(fds[1], "", 1) != 1)
		die("exec: no child");
	until(last_id, 0, "exec");
	close(fds[0]);
	close(fds[1]);
	until_unpinned(before, "exec");
	if (waitpid(pid, NULL, WNOHANG))
		die("exec: the new program does not run");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The parent goes at once; its child has the file, and stays. */
static void leave_child(uint32_t id, int fd)
{
	struct nic n;
	struct end e;
	pid_t pid;

	begin(&n, &e, ORDER_IDLE, id, 0);
	sleep_ns(50000000);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (write(fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(8);
}

static void outlived(void)
{
	long before = pinned();
	pid_t pid, child;
	int fds[2];

	if (pipe(fds))
		die("pipe fails");
	pid = start(leave_child, ++last_id, fds[1]);
	if (read(fds[0], &child, sizeof(child)) != sizeof(child))
		die("outlived: no child");
	reap(pid, "outlived");
	until(last_id, 0, "outlived");
	until_unpinned(before, "outlived");
	if (kill(child, 0))
		die("outlived: the child is gone");
	kill(child, SIGKILL);
	close(fds[0]);
	close(fds[1]);
}

static void vforker(uint32_t id, int fd)
{
	struct nic n;
	struct end e;
	pid_t pid;
	int i;

	(void)fd;
	begin(&n, &e, ORDER_PUSH, id, 40);
	for (i = 0; i < 8; i++) {
		pid = vfork();
		if (pid == 0) {
			execl("/bin/true", "true", NULL);
			_exit(9);
		}
		reap(pid, "vfork");
	}
	if (stream_push(&e, id, 40) != ST_DONE)
		die("vfork: the parent's connection does not live");
	if (end_close(&e))
		die("vfork: the parent's things do not go");
	nic_close(&n);
}

struct scribble {
	struct end *e;
	int stop;
	uint32_t forks;
};

/* Children that write to all that the parent has registered. */
static void *scribbling(void *arg)
{
	struct scribble *s = arg;
	pid_t pid;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		pid = fork();
		if (pid == 0) {
			memset(s->e->mem, 0xee,
			       4096 + (END_RX + END_TX) * END_BYTES);
			_exit(0);
		}
		if (pid < 0)
			die("fork fails");
		reap(pid, "scribble");
		s->forks++;
	}
	return NULL;
}

static void scribbled_on(uint32_t id, int fd)
{
	struct scribble s = { 0 };
	enum stream_result r;
	pthread_t t;
	struct nic n;
	struct end e;

	begin(&n, &e, fd & 1 ? ORDER_PUSH : ORDER_PULL, id, 400);
	s.e = &e;
	pthread_create(&t, NULL, scribbling, &s);
	r = fd & 1 ? stream_push(&e, id, 400) : stream_pull(&e, id, 400);
	__atomic_store_n(&s.stop, 1, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	if (r != ST_DONE || !s.forks)
		die("scribble: result %d with %u forks", r, s.forks);
	if (end_close(&e))
		die("scribble: the parent's things do not go");
	nic_close(&n);
}

int run_process(void)
{
	uint32_t i, rounds = 0;

	nic_open(&nic, scale_opt.device);
	if (end_open(&ctl, &nic, false) || connect_to(&ctl, DISC, scale_opt.limit))
		die("no server");
	for (i = 0; i < scale_opt.count; i++) {
		ended_by_exec(exec_idle);
		ended_by_exec(exec_sender);
		outlived();
		reap(start(vforker, ++last_id, -1), "vfork");
		until(last_id, 0, "vfork");
		reap(start(scribbled_on, ++last_id, 0), "scribble");
		reap(start(scribbled_on, ++last_id, 1), "scribble");
		until(last_id, 0, "scribble");
		rounds++;
	}
	printf("rounds %u processes %u told_ms %.1f\n", rounds, last_id,
	       slowest);
	return 0;
}
