// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Links that find each other and shake hands, in this process and in others,
 * over UNIX sockets and TCP: pairs, handshakes from both sides, the death of
 * processes, names that others have taken, strangers.
 */
#include "node.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_alarm(int sig)
{
	(void)sig;
}

/* Signals come while the answer is awaited, which takes its time. */
static void host_name(struct node *n)
{
	const struct itimerval often = { { 0, 5000 }, { 0, 5000 } };
	const struct sigaction seen = { .sa_handler = on_alarm };
	struct link_conf c = conf_of(&n[0]);
	char name[VIPL_NAME_MAX + 1];
	int status;
	pid_t child = fork();

	if (!child) {
		struct sockaddr_in a = here();
		int err = -errno;

		if (!sigaction(SIGALRM, &seen, NULL) &&
		    !setitimer(ITIMER_REAL, &often, NULL))
			err = link_name(&c, (struct sockaddr *)&a, sizeof(a),
					10000, name);
		_exit(err || strcmp(name, "host") ? 1 : 0);
	}
	usleep(50000);
	run(n, 2, 200);
	CU_ASSERT(waitpid(child, &status, 0) == child && !status);
}

static void handshakes(enum link_family f)
{
	static struct node n[2];
	struct pair *p, *q;

	two_nodes(n, f);
	wait_at(&n[0], "one", 1);
	p = node_handshake(&n[1], "one");
	CU_ASSERT_FATAL(until(n, 2, &p->up, 10000));
	q = &n[0].pair[0];
	CU_ASSERT(q->up == 1 && n[0].pairs == 1);
	CU_ASSERT(p->lp->id == link_id(n[0].l));
	link_wake_peer(p->lp);
	CU_ASSERT(until(n, 2, &q->woken, 10000));
	link_wake_peer(q->lp);
	CU_ASSERT(until(n, 2, &p->woken, 10000));

	/* Again: it is the same peer, from either side. */
	p = node_handshake(&n[1], "one");
	run(n, 2, 50);
	CU_ASSERT(p->same == &n[1].pair[0] && !p->up && !p->down);
	wait_at(&n[1], "two", 1);
	p = node_handshake(&n[0], "two");
	run(n, 2, 50);
	CU_ASSERT(p->same == q);

	/* Nothing waits; its name may stay for a moment. */
	wait_at(&n[0], "one", 0);
	p = node_handshake(&n[1], "one");
	CU_ASSERT(until(n, 2, &p->down, 1000) && p->err == -ENOENT);
	finds_none(&n[1], "one");

	if (f == LINK_TCP)
		host_name(n);
	link_close(n[1].l);
	n[1].l = NULL;
	CU_ASSERT(until(n, 1, &q->down, 10000) && q->err == -ESHUTDOWN);
	link_close(n[0].l);
}

static void handshake_unix(void)
{
	handshakes(LINK_UNIX);
}

static void handshake_tcp(void)
{
	handshakes(LINK_TCP);
}

static void itself(enum link_family f)
{
	static struct node n;
	struct pair *p;

	begin(f);
	node_open(&n);
	wait_at(&n, "me", 1);
	p = node_handshake(&n, "me");
	CU_ASSERT_FATAL(until(&n, 1, &p->up, 10000));
	CU_ASSERT(n.pairs == 2 && n.pair[1].up == 1);
	p = node_handshake(&n, "me");
	run(&n, 1, 50);
	CU_ASSERT(p->same == &n.pair[0]);
	link_close(n.l);
}

static void itself_both(void)
{
	itself(LINK_UNIX);
	itself(LINK_TCP);
}

/* Both begin, each at a moment of its own: one pair, or the same. */
static void at_once(enum link_family f)
{
	static struct node n[2];
	struct pair *p[2];
	unsigned int round, i, k;

	for (round = 0; round < 40; round++) {
		begin(f);
		node_open(&n[0]);
		node_open(&n[1]);
		wait_at(&n[0], "zero", 1);
		wait_at(&n[1], "one", 1);
		p[0] = node_handshake(&n[0], "one");
		for (i = 0; i < round / 4; i++) {
			link_progress(n[0].l);
			link_progress(n[round & 1].l);
		}
		p[1] = node_handshake(&n[1], "zero");
		for (i = 0; i < 2; i++)
			if (!until(n, 2, p[i]->same ? &p[i]->same->up :
				   &p[i]->up, 20))
				run(n, 2, 100);
		run(n, 2, 10);
		for (i = 0; i < 2; i++) {
			unsigned int ups = 0;

			for (k = 0; k < n[i].pairs; k++) {
				ups += (unsigned int)n[i].pair[k].up;
				CU_ASSERT(!n[i].pair[k].down);
			}
			CU_ASSERT(ups == 1);
		}
		link_close(n[0].l);
		link_close(n[1].l);
	}
}

static void at_once_both(void)
{
	at_once(LINK_UNIX);
	at_once(LINK_TCP);
}

static void refused(void)
{
	static struct node n[2];
	struct pair *p;

	two_nodes(n, LINK_UNIX);
	n[0].refuse = 1;
	wait_at(&n[0], "x", 1);
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->down, 10000) && p->err == -ECONNREFUSED);
	n[0].refuse = 0;
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->up, 10000));
	link_close(n[0].l);
	link_close(n[1].l);
}

/* The time of two handshakes is over; when one is told, it drops the other. */
static void drops_another(void)
{
	static struct node n[2];
	struct pair *p, *q;

	two_nodes(n, LINK_UNIX);
	wait_at(&n[0], "x", 1);
	p = node_handshake(&n[1], "x");
	q = node_handshake(&n[1], "x");
	p->lp->deadline = 0;
	q->lp->deadline = 0;
	p->drops = q;
	q->drops = p;
	run(&n[1], 1, 20);
	CU_ASSERT(p->down + q->down == 1);
	CU_ASSERT((p->down ? p : q)->err == -ETIMEDOUT);
	CU_ASSERT(!p->lp && !q->lp);
	link_close(n[0].l);
	link_close(n[1].l);
}

/* A process with a link that waits for `disc`, until it is killed. */
static pid_t spawn(const char *disc)
{
	static struct node n;
	int ready[2];
	pid_t pid;
	char c = 0;

	CU_ASSERT_FATAL(!pipe(ready));
	pid = fork();
	if (pid) {
		close(ready[1]);
		CU_ASSERT(read(ready[0], &c, 1) == 1);
		close(ready[0]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	node_open(&n);
	wait_at(&n, disc, 1);
	if (write(ready[1], &c, 1) != 1)
		_exit(1);
	close(ready[0]);
	close(ready[1]);
	for (;;) {
		link_progress(n.l);
		link_wait(n.l, UINT64_MAX);
	}
}

#define DEATHS	12

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Kill the oldest process of four, over and over: what is left is found, and
 * the ends of peers are seen. On a busy machine any one round may take longer,
 * half of them do not.
 */
static void processes_die(enum link_family f)
{
	static struct node n;
	pid_t pid[4];
	char disc[8];
	struct pair *p, *q;
	uint64_t start, ns[DEATHS];
	unsigned int round, i;

	begin(f);
	for (i = 0; i < 4; i++) {
		snprintf(disc, sizeof(disc), "p%u", i);
		pid[i] = spawn(disc);
	}
	node_open(&n);
	for (round = 0; round < DEATHS; round++) {
		i = round % 4;
		snprintf(disc, sizeof(disc), "p%u", i);
		p = node_handshake(&n, disc);
		until(&n, 1, &p->up, 10000);
		CU_ASSERT_FATAL(p->up == 1);
		start = sock_now();
		kill(pid[i], SIGKILL);
		/* It had the port, with the others. */
		snprintf(disc, sizeof(disc), "p%u", (i + 2) % 4);
		q = node_handshake(&n, disc);
		until(&n, 1, q->same ? &q->same->up : &q->up, 10000);
		CU_ASSERT(q->up || q->same);
		ns[round] = sock_now() - start;
		CU_ASSERT(until(&n, 1, &p->down, 10000));
		CU_ASSERT(p->err == -ECONNRESET);
		if (q->up)
			link_drop(q->lp);
		waitpid(pid[i], NULL, 0);
		snprintf(disc, sizeof(disc), "p%u", i);
		pid[i] = spawn(disc);
	}
	qsort(ns, DEATHS, sizeof(*ns), by_time);
	CU_ASSERT(ns[DEATHS / 2] < 400000000);
	printf("(found within %llu us, the median) ",
	       (unsigned long long)ns[DEATHS / 2] / 1000);
	for (i = 0; i < 4; i++)
		kill_it(pid[i]);
	link_close(n.l);
}

static void processes_die_unix(void)
{
	processes_die(LINK_UNIX);
}

static void processes_die_tcp(void)
{
	processes_die(LINK_TCP);
}

static void strangers(void)
{
	static struct node n[2];
	struct sock_addr a;
	struct pair *p;
	unsigned int i;
	int fd[300];

	two_nodes(n, LINK_UNIX);
	wait_at(&n[0], "x", 1);
	name_of(&n[0], &a);
	for (i = 0; i < 300; i++) {
		fd[i] = sock_open(AF_UNIX, SOCK_SEQPACKET);
		CU_ASSERT(!sock_connect(fd[i], &a));
		/* A third says nothing at all. */
		if (i % 3 != 2)
			stranger_speaks(fd[i], i * 77);
		link_progress(n[0].l);
		link_progress(n[1].l);
	}
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->up, 10000));
	for (i = 0; i < 300; i++)
		link_file_close(fd[i]);
	run(n, 2, 20);
	CU_ASSERT(!p->down);
	link_close(n[0].l);
	link_close(n[1].l);
}

/* A connection from 127.0.0.host to the link's listener. */
static int come_from(struct node *n, uint8_t host)
{
	struct sock_addr from = { .len = sizeof(struct sockaddr_in) };
	struct sockaddr_in *in = (struct sockaddr_in *)&from.any;
	int fd = sock_open(AF_INET, SOCK_STREAM), err;
	struct sock_addr to;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(0x7f000000u + host);
	CU_ASSERT(!bind(fd, &from.sa, from.len));
	memcpy(&to.any, &n->l->conf.addr, sizeof(to.any));
	to.len = n->l->conf.addr_len;
	err = sock_connect(fd, &to);
	CU_ASSERT(!err || err == -EINPROGRESS);
	return fd;
}

/*
 * Say hello as a link that is unknown: HELLO_ACK or REFUSE, or 0 for no answer.
 */
static int greet(struct node *n, int fd, int *code)
{
	struct conn c = { .fd = fd, .stream = 1 };
	struct frame f = { .type = FRAME_HELLO };
	int i;

	f.len = sizeof(f.data);
	memset(f.data, 7, sizeof(f.data));
	f.id = sock_random();
	memcpy(f.data, &f.id, sizeof(f.id));
	f.other = link_id(n->l);
	f.version = 5;
	CU_ASSERT(!conn_send(&c, &f, NULL, 0));
	for (i = 0; i < 1000; i++) {
		link_progress(n->l);
		if (conn_next(&c) == 1) {
			*code = c.in.code;
			return c.in.type;
		}
		usleep(100);
	}
	return 0;
}

#define FILES	256		/* 64 peers, 32 of a host */

static void peers_bounded(void)
{
	struct rlimit had, few;
	static struct node n[2];
	struct pair *p;
	int fd[70], extra, code, i;

	getrlimit(RLIMIT_NOFILE, &had);
	few = had;
	few.rlim_cur = FILES;
	setrlimit(RLIMIT_NOFILE, &few);
	begin(LINK_TCP);
	node_open(&n[0]);
	/* Both ends are in this process: it needs more itself. */
	setrlimit(RLIMIT_NOFILE, &had);
	wait_at(&n[0], "x", 1);
	for (i = 0; i < 32; i++) {
		fd[i] = come_from(&n[0], 2);
		CU_ASSERT_EQUAL(greet(&n[0], fd[i], &code), FRAME_HELLO_ACK);
	}
	extra = come_from(&n[0], 2);
	CU_ASSERT_EQUAL(greet(&n[0], extra, &code), FRAME_REFUSE);
	CU_ASSERT_EQUAL(code, -ENOBUFS);
	link_file_close(extra);
	/* That host has no place; another one has. */
	node_open(&n[1]);
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->up, 10000));
	link_close(n[1].l);
	n[1].l = NULL;
	run(n, 1, 20);
	for (; i < 64; i++) {
		fd[i] = come_from(&n[0], 3);
		CU_ASSERT_EQUAL(greet(&n[0], fd[i], &code), FRAME_HELLO_ACK);
	}
	node_open(&n[1]);
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->down, 10000) && p->err == -ECONNREFUSED);
	/* One goes, and there is a place. */
	link_file_close(fd[0]);
	run(n, 2, 20);
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->up, 10000));
	for (i = 1; i < 64; i++)
		link_file_close(fd[i]);
	link_close(n[0].l);
	link_close(n[1].l);
}

/* A host that floods the listener takes its own places, not another's. */
static void floods(void)
{
	static struct node n;
	int fd[STRANGERS_MAX * 2], slow, code, i;

	begin(LINK_TCP);
	node_open(&n);
	slow = come_from(&n, 3);
	run(&n, 1, 5);
	for (i = 0; i < STRANGERS_MAX * 2; i++)
		fd[i] = come_from(&n, 2);
	run(&n, 1, STRANGER_MIN_MS * 4);
	CU_ASSERT(n.l->strangers <= STRANGERS_MAX);
	CU_ASSERT_EQUAL(greet(&n, slow, &code), FRAME_HELLO_ACK);
	/* And none stays for good. */
	run(&n, 1, STRANGER_MS + 400);
	CU_ASSERT_EQUAL(n.l->strangers, 0);
	for (i = 0; i < STRANGERS_MAX * 2; i++)
		link_file_close(fd[i]);
	link_file_close(slow);
	link_close(n.l);
}

static int files_open(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A child has none of the files; a plain link leaves nothing behind. */
static void forks(void)
{
	static struct node n;
	int before = files_open(), status;
	pid_t pid;

	begin(LINK_TCP);
	node_open(&n);
	CU_ASSERT(files_open() > before);
	pid = fork();
	if (!pid) {
		link_fork_child();
		_exit(files_open() != before);
	}
	CU_ASSERT(waitpid(pid, &status, 0) == pid && !status);
	link_close(n.l);
	CU_ASSERT(files_open() == before);
}

UNIT_MAIN("link",
	{ "two links shake hands, UNIX", handshake_unix },
	{ "two links shake hands, TCP", handshake_tcp },
	{ "a link shakes hands with itself", itself_both },
	{ "both begin at once", at_once_both },
	{ "a refusal", refused },
	{ "one that is down drops another", drops_another },
	{ "processes die, UNIX", processes_die_unix },
	{ "processes die, TCP", processes_die_tcp },
	{ "as many peers as there are files for", peers_bounded },
	{ "a flood from one host", floods },
	{ "names that another user has", squatters },
	{ "another user connects all the time", foreign_flood },
	{ "as many that wait as there are names", many_wait },
	{ "one that waits does not answer", silent_one },
	{ "no file to wait with", without_files },
	{ "strangers", strangers },
	{ "forks", forks },
);
