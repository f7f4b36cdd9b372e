// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What opening a NIC of libfabric does to the process around it.
 *
 *	process DEVICE		all of it, a child process each
 *
 * Signal handlers and the environment are as before; no socket takes the
 * place of a closed standard file; a child of fork() may exit and the parent goes on;
 * exit() ends the process whatever its threads are at.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

#define EXITS		20

extern char **environ;

static struct end server, client;

static void *server_main(void *arg)
{
	serve(&server, "process");
	return arg;
}

static void connect_ends(void)
{
	pthread_t thread;

	open_end(&server);
	open_end(&client);
	if (pthread_create(&thread, NULL, server_main, NULL))
		fail("no thread", 0);
	request(&client, "process");
	pthread_join(thread, NULL);
}

/* A message each way. */
static void talk(void)
{
	struct end *to = &server, *from = &client, *swap;
	VIP_DESCRIPTOR *d;
	int i;

	for (i = 0; i < 2; i++) {
		OK(VipPostRecv(to->vi, descriptor(to, 0), to->mem_h));
		OK(VipPostSend(from->vi, descriptor(from, 1), from->mem_h));
		OK(VipRecvWait(to->vi, 5000, &d));
		OK(VipSendWait(from->vi, 5000, &d));
		swap = to;
		to = from;
		from = swap;
	}
}

static void a_handler(int sig)
{
	(void)sig;
}

/*
 * In place of the C library's for all of this process: as libfabric is loaded
 * the program sets a handler.
 */
void *dlopen(const char *file, int flags)
{
	void *(*real)(const char *file, int flags);
	struct sigaction mine = { .sa_handler = a_handler };

	*(void **)&real = dlsym(RTLD_NEXT, "dlopen");
	if (file && !strcmp(file, "libfabric.so.1"))
		sigaction(SIGHUP, &mine, NULL);
	return real(file, flags);
}

static int signals(void)
{
	struct sigaction mine = { .sa_handler = a_handler };
	struct sigaction before[NSIG], after;
	char **env = environ;
	int i, n = 0, m = 0;

	memset(before, 0, sizeof(before));
	sigaction(SIGTERM, &mine, NULL);
	sigaction(SIGUSR1, &mine, NULL);
	for (i = 1; i < NSIG; i++)
		sigaction(i, NULL, &before[i]);
	while (env[n])
		n++;
	before[SIGHUP] = before[SIGTERM];
	connect_ends();
	talk();
	for (i = 1; i < NSIG; i++) {
		if (sigaction(i, NULL, &after) || i == SIGKILL || i == SIGSTOP)
			continue;
		if (after.sa_handler != before[i].sa_handler ||
		    after.sa_flags != before[i].sa_flags)
			fail("the handler is another one of signal", i);
	}
	for (env = environ; env[m]; m++)
		;
	if (n != m || getenv("IPATH_NO_BACKTRACE"))
		fail("the environment has other variables", m - n);
	return 0;
}

/* What is printed to them goes nowhere. */
static int leads_nowhere(int fd)
{
	char path[64], to[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, to, sizeof(to) - 1) < 0 ||
	       !strcmp(to, "/dev/null");
}

static int files(void)
{
	int i;

	/* 2 is needed for what fails. */
	close(0);
	close(1);
	connect_ends();
	talk();
	for (i = 0; i < 2; i++)
		if (!leads_nowhere(i))
			fail("there is a file now with number", i);
	return 0;
}

/* Handles are stale in the child, which may exit as it likes. */
static int forks(void)
{
	VIP_NIC_ATTRIBUTES attr;
	VIP_DESCRIPTOR *d;
	int i, rc;
	pid_t pid;

	connect_ends();
	for (i = 0; i < 5; i++) {
		talk();
		pid = fork();
		if (!pid) {
			must("VipQueryNic in a child",
			     VipQueryNic(client.nic, &attr),
			     VIP_INVALID_PARAMETER);
			must("VipSendDone in a child",
			     VipSendDone(client.vi, &d),
			     VIP_INVALID_PARAMETER);
			if (i & 1)
				connect_ends();
			exit(i);
		}
		rc = wait_for_child(pid);
		if (rc != i)
			fail("a child of fork() ended with status", rc);
	}
	talk();
	return 0;
}

static void *flood(void *arg)
{
	struct end *e = arg;
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	for (;;) {
		r = VipPostSend(e->vi, descriptor(e, 1), e->mem_h);
		if (r == VIP_SUCCESS)
			VipSendWait(e->vi, VIP_INFINITE, &d);
	}
	return NULL;
}

static void *drain(void *arg)
{
	struct end *e = arg;
	VIP_DESCRIPTOR *d;
	int i;

	for (i = 2; i < 32; i++)
		VipPostRecv(e->vi, descriptor(e, i), e->mem_h);
	for (;;)
		if (VipRecvWait(e->vi, VIP_INFINITE, &d) == VIP_SUCCESS)
			VipPostRecv(e->vi, d, e->mem_h);
	return NULL;
}

static void at_exit(void)
{
	usleep(2000);
}

/* As many threads as there are kinds of calls, and exit() in their midst. */
static void leave(int round)
{
	pthread_t thread;

	atexit(at_exit);
	connect_ends();
	pthread_create(&thread, NULL, drain, &server);
	pthread_create(&thread, NULL, flood, &client);
	pthread_create(&thread, NULL, drain, &client);
	usleep(1000 * (round % 7));
	exit(7);
}

static int exits(void)
{
	int i, rc;
	pid_t pid;

	for (i = 0; i < EXITS; i++) {
		pid = fork();
		if (!pid)
			leave(i);
		rc = wait_for_child(pid);
		if (rc != 7)
			fail("exit(7) became", rc);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
	int rounds;
} tests[] = {
	{ "signal handlers and the environment", signals, 1 },
	{ "files", files, 1 },
	{ "fork() while it is open", forks, 5 },
	{ "exit() while threads run", exits, EXITS },
};

int main(int argc, char **argv)
{
	unsigned int i;
	int rc, bad = 0;
	pid_t pid;

	if (argc != 2) {
		fprintf(stderr, "usage: process DEVICE\n");
		return 2;
	}
	device = argv[1];
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		fflush(NULL);
		pid = fork();
		if (!pid) {
			alarm(PATIENCE_S * (unsigned int)tests[i].rounds);
			_exit(tests[i].run());
		}
		waitpid(pid, &rc, 0);
		printf("%s: %s\n", tests[i].name,
		       rc ? "FAILED" : "as it should be");
		bad |= rc;
	}
	return bad ? 1 : 0;
}
