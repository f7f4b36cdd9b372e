// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fork(), vfork() and exec() with registered memory and a connection: what a
 * child does is no matter of the parent's, and what a process leaves behind
 * by exec() or exit() ends, whichever process has inherited the file.
 */
#include "scale.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct nic nic;		/* of the parent, which does nothing else */
static struct end ctl;
static uint32_t last_id;
static double slowest;		/* ms until the server knew */

/* A child's: opened and connected, its order given. */
static void begin(struct nic *n, struct end *e, enum order_type type,
		  uint32_t count)
{
	struct order o = { .type = type, .id = last_id, .n = count };

	nic_open(n, args.device);
	if (order_begin(e, n, false, args.limit, &o))
		die("a child cannot connect");
}

/* Until the server has so many connections of the last id. */
static void until(uint32_t want, const char *what)
{
	uint64_t start = now_ns();

	while (order_ask(&ctl, last_id).alive != want) {
		if (ms_since(start) > args.limit)
			die("%s: after %u ms the server has not %s", what,
			    args.limit, want ? "the connection" : "lost it");
		sleep_ms(1);
	}
	if (!want && ms_since(start) > slowest)
		slowest = ms_since(start);
}

static void until_unpinned(long before, const char *what)
{
	if (pinned_after(before, args.limit) > before)
		die("%s: pages stay pinned", what);
}

static void reap(pid_t pid, const char *what)
{
	int status = child_wait(pid);

	if (status)
		die("%s: a child ended with status 0x%x", what, status);
}

/* With an id of its own. */
static pid_t start(int (*f)(void *arg), void *arg)
{
	last_id++;
	return child_start(f, arg);
}

static void *pushing(void *arg)
{
	stream_push(arg, last_id, ~0u);
	return arg;
}

/* The parent has seen it as it is. */
static int exec_sleep(const int *pipe)
{
	char c;

	if (read(pipe[0], &c, 1) != 1)
		die("the parent is gone");
	execl("/bin/sleep", "sleep", "1000", NULL);
	return 9;
}

/* exec() under way, by one thread while another one sends. */
static int exec_sender(void *pipe)
{
	struct nic n;
	struct end e;

	begin(&n, &e, ORDER_PUSH, ~0u);
	thread_start(pushing, &e);
	return exec_sleep(pipe);
}

static int exec_idle(void *pipe)
{
	struct nic n;
	struct end e;

	begin(&n, &e, ORDER_IDLE, 0);
	return exec_sleep(pipe);
}

static void ended_by_exec(int (*f)(void *pipe))
{
	long before = pinned();
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		die("pipe fails");
	pid = start(f, fds);
	until(1, "exec");
	if (write(fds[1], "", 1) != 1)
		die("exec: no child");
	until(0, "exec");
	close(fds[0]);
	close(fds[1]);
	until_unpinned(before, "exec");
	if (waitpid(pid, NULL, WNOHANG))
		die("exec: the new program does not run");
	child_kill(pid);
}

/* The parent goes at once; its child has the file, and stays. */
static int leave_child(void *pipe)
{
	struct nic n;
	struct end e;
	pid_t pid;

	begin(&n, &e, ORDER_IDLE, 0);
	sleep_ms(50);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	return write(((int *)pipe)[1], &pid, sizeof(pid)) != sizeof(pid);
}

static void outlived(void)
{
	long before = pinned();
	pid_t pid, child;
	int fds[2];

	if (pipe(fds))
		die("pipe fails");
	pid = start(leave_child, fds);
	if (read(fds[0], &child, sizeof(child)) != sizeof(child))
		die("outlived: no child");
	reap(pid, "outlived");
	until(0, "outlived");
	until_unpinned(before, "outlived");
	if (kill(child, 0))
		die("outlived: the child is gone");
	kill(child, SIGKILL);
	close(fds[0]);
	close(fds[1]);
}

static int vforker(void *arg)
{
	struct nic n;
	struct end e;
	pid_t pid;
	int i;

	(void)arg;
	begin(&n, &e, ORDER_PUSH, 40);
	for (i = 0; i < 8; i++) {
		pid = vfork();
		if (pid == 0) {
			execl("/bin/true", "true", NULL);
			_exit(9);
		}
		reap(pid, "vfork");
	}
	if (stream_push(&e, last_id, 40) != ST_DONE)
		die("vfork: the parent's connection does not live");
	end_finish(&e);
	nic_close(&n);
	return 0;
}

struct scribble {
	struct end *e;
	int stop;
	uint32_t forks;
};

static int scribble(void *e)
{
	memset(((struct end *)e)->mem, 0xee, END_LEN);
	return 0;
}

/* Children that write to all that the parent has registered. */
static void *scribbling(void *arg)
{
	struct scribble *s = arg;

	while (!load_acquire(&s->stop)) {
		reap(child_start(scribble, s->e), "scribble");
		s->forks++;
	}
	return NULL;
}

/* Beside messages to the server, or (NULL) from it. */
static int scribbled_on(void *push)
{
	struct scribble s = { 0 };
	enum stream_result r;
	pthread_t t;
	struct nic n;
	struct end e;

	begin(&n, &e, push ? ORDER_PUSH : ORDER_PULL, 400);
	s.e = &e;
	t = thread_start(scribbling, &s);
	r = push ? stream_push(&e, last_id, 400) :
		   stream_pull(&e, last_id, 400);
	store_release(&s.stop, 1);
	pthread_join(t, NULL);
	if (r != ST_DONE || !s.forks)
		die("scribble: result %d with %u forks", r, s.forks);
	end_finish(&e);
	nic_close(&n);
	return 0;
}

int run_process(void)
{
	uint32_t i;

	nic_open(&nic, args.device);
	order_ask_open(&ctl, &nic);
	for (i = 0; i < args.count; i++) {
		ended_by_exec(exec_idle);
		ended_by_exec(exec_sender);
		outlived();
		reap(start(vforker, NULL), "vfork");
		until(0, "vfork");
		reap(start(scribbled_on, NULL), "scribble");
		reap(start(scribbled_on, &ctl), "scribble");
		until(0, "scribble");
	}
	printf("rounds %u processes %u told_ms %.1f\n", i, last_id, slowest);
	return 0;
}
