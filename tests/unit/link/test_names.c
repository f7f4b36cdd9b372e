// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Names that others have: another user, many links, one that is silent. */
#include "node.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Names from..to - 1 of the one in a; listen: 0 they are bound alone. */
static int take_names(struct sock_addr a, unsigned int from, unsigned int to,
		      int backlog)
{
	char *end = strrchr(a.un.sun_path + 1, '.') + 1;
	int fd;

	for (; from < to; from++) {
		a.len = (socklen_t)(end - (char *)&a) +
			(socklen_t)sprintf(end, "%u", from);
		fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		if (bind(fd, &a.sa, a.len) || (backlog && listen(fd, backlog)))
			return -1;
	}
	return 0;
}

/* The same as another user; ends when it is killed. */
static pid_t squat(const struct sock_addr *a, unsigned int from,
		   unsigned int to, int backlog)
{
	int ready[2];
	char c = 0;
	pid_t pid;

	CU_ASSERT_FATAL(!pipe(ready));
	pid = fork();
	if (pid) {
		close(ready[1]);
		CU_ASSERT_FATAL(read(ready[0], &c, 1) == 1);
		close(ready[0]);
		return pid;
	}
	if (setgid(65534) || setuid(65534))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	((char *)a)[a->len] = 0;
	if (take_names(*a, from, to, backlog) || write(ready[1], &c, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

#define NAMES	16u		/* as of name.c */

/* The names of "x", of which n[0] had the first until now. */
static void names_of_x(struct node *n, struct sock_addr *a)
{
	two_nodes(n, LINK_UNIX);
	wait_at(&n[0], "x", 1);
	name_of(&n[0], a);
	wait_at(&n[0], "x", 0);
	run(n, 2, 50);
	CU_ASSERT(!n[0].l->waits);
}

static void some_squatted(unsigned int from, int backlog)
{
	static struct node n[2];
	struct sock_addr a;
	struct pair *p;
	pid_t pid;

	names_of_x(n, &a);
	pid = squat(&a, from, NAMES - 1 + from, backlog);
	wait_at(&n[0], "x", 1);
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->up, 10000));
	kill_it(pid);
	link_close(n[0].l);
	link_close(n[1].l);
}

static void all_squatted(int backlog)
{
	static struct node n[2];
	struct sock_addr a;
	struct pair *p;
	uint64_t start;
	pid_t pid;
	int i;

	names_of_x(n, &a);
	pid = squat(&a, 0, NAMES, backlog);
	start = sock_now();
	CU_ASSERT_EQUAL(try_wait_at(&n[0], "x", 1), -EADDRINUSE);
	finds_none(&n[1], "x");
	CU_ASSERT(sock_now() - start < 500 * (uint64_t)MS);
	/* Queues that are full do not say whose they are. */
	for (i = 0; backlog && i <= backlog; i++) {
		p = node_handshake_maybe(&n[1], "x");
		if (p->lp)
			CU_ASSERT(until(n, 2, &p->down, 5000) &&
				  p->err == -ENOENT);
	}
	/* And what they do not have is as ever. */
	wait_at(&n[0], "y", 1);
	p = node_handshake(&n[1], "y");
	CU_ASSERT(until(n, 2, &p->up, 10000));
	kill_it(pid);
	wait_at(&n[0], "x", 1);
	p = node_handshake(&n[1], "x");
	run(n, 2, 50);
	CU_ASSERT(p->same != NULL);
	link_close(n[0].l);
	link_close(n[1].l);
}

void squatters(void)
{
	if (geteuid()) {
		printf("(only root can be another user) ");
		return;
	}
	some_squatted(0, 5);
	some_squatted(1, 5);
	some_squatted(0, 0);
	all_squatted(5);
	all_squatted(0);
}

/* Another user connects as fast as it can, and says nothing. */
void foreign_flood(void)
{
	static struct node n[2];
	struct sock_addr a;
	struct pair *p;
	pid_t pid;
	int fd;

	if (geteuid())
		return;
	two_nodes(n, LINK_UNIX);
	wait_at(&n[0], "x", 1);
	name_of(&n[0], &a);
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			fd = sock_open(AF_UNIX, SOCK_SEQPACKET);
			if (fd < 0 || sock_connect(fd, &a))
				usleep(10);
			else if (fd % 2)
				stranger_speaks(fd, (unsigned int)fd * 77);
			if (fd > 900)
				for (; fd > 100; fd--)
					link_file_close(fd);
		}
	}
	run(n, 2, 100);
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->up, 5000));
	CU_ASSERT_EQUAL(n[0].l->strangers, 0);
	kill_it(pid);
	link_close(n[0].l);
	link_close(n[1].l);
}

/* As many links wait for one discriminator as there are names. */
void many_wait(void)
{
	static struct node n[NAMES + 2];
	struct node *last = &n[NAMES + 1];
	struct pair *p;
	unsigned int i;

	begin(LINK_UNIX);
	for (i = 0; i < NAMES + 2; i++)
		node_open(&n[i]);
	for (i = 0; i < NAMES; i++)
		wait_at(&n[i], "x", 1);
	CU_ASSERT_EQUAL(try_wait_at(&n[NAMES], "x", 1), -EADDRINUSE);
	/* One after the other goes, and each is found in its turn. */
	for (i = 0; i < NAMES; i++) {
		p = node_handshake(last, "x");
		CU_ASSERT(until(n, NAMES + 2, &p->up, 10000));
		CU_ASSERT(p->lp && p->lp->id == link_id(n[i].l));
		if (i & 1) {
			wait_at(&n[i], "x", 0);
			continue;
		}
		link_close(n[i].l);
		n[i].l = NULL;
	}
	run(n, NAMES + 2, 50);
	finds_none(last, "x");
	for (i = 0; i < NAMES + 2; i++)
		if (n[i].l)
			link_close(n[i].l);
}

/* One that waits and does not answer is passed by, for one that does. */
void silent_one(void)
{
	static struct node n[3];
	struct pair *p;

	two_nodes(n, LINK_UNIX);
	node_open(&n[2]);
	wait_at(&n[2], "x", 1);
	wait_at(&n[0], "x", 1);
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->up, 1000));
	wait_at(&n[0], "x", 0);
	run(n, 2, 50);
	/* Alone it is waited for. */
	p = node_handshake(&n[1], "x");
	run(n, 2, 300);
	CU_ASSERT(!p->down && !p->up && !p->same);
	CU_ASSERT(until(n, 3, &p->up, 5000));
	link_close(n[0].l);
	link_close(n[1].l);
	link_close(n[2].l);
}

/* A name takes a file; where there is none, that is said. */
void without_files(void)
{
	struct rlimit had, few;
	static struct node n;

	begin(LINK_UNIX);
	node_open(&n);
	getrlimit(RLIMIT_NOFILE, &had);
	few = had;
	few.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &few);
	CU_ASSERT_EQUAL(try_wait_at(&n, "x", 1), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &had);
	wait_at(&n, "x", 1);
	link_close(n.l);
}
