// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Links that find each other and shake hands, in this process and in others,
 * over UNIX sockets and TCP: pairs, handshakes from both sides, the death of
 * processes, names that others have taken, strangers.
 */
#include "private.h"
#include "unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES	8

/* A node's other ends; the callbacks write down what they are told. */
struct pair {
	struct link_peer *lp;
	struct pair *same;
	int up, down, err, woken, began, file_ok;
};

struct node {
	struct link *l;
	struct pair pair[64];
	unsigned int pairs;
	int refuse;
};

static enum link_family family;
static char space[32];
static uint16_t port;

static void on_hello(void *nic, void *peer, struct eng_hello *mine)
{
	struct node *n = nic;
	uint64_t id = link_id(n->l);

	(void)peer;
	mine->len = 512;
	memset(mine->data, 7, 512);
	memcpy(mine->data, &id, sizeof(id));
	if (family == LINK_TCP)
		return;
	/* Files are left open: a test is short. */
	mine->file[0] = memfd_create("hello", MFD_CLOEXEC);
	mine->files = 1;
	CU_ASSERT(write(mine->file[0], &id, sizeof(id)) == sizeof(id));
}

static void check_hello(struct pair *p, const struct eng_hello *h)
{
	uint64_t id, inside = 0;

	CU_ASSERT(h->len == 512 && h->data[511] == 7);
	memcpy(&id, h->data, sizeof(id));
	if (family == LINK_TCP)
		return;
	CU_ASSERT_FATAL(h->files == 1);
	CU_ASSERT(pread(h->file[0], &inside, sizeof(inside), 0) ==
		  sizeof(inside));
	CU_ASSERT(id == inside);
	p->file_ok = id == inside;
	link_file_close(h->file[0]);
}

static void *on_came(void *nic, void *peer, struct link_peer *lp,
		     const struct eng_hello *theirs, struct eng_hello *mine)
{
	struct node *n = nic;
	struct pair *p = peer;

	if (n->refuse) {
		link_file_close(theirs->file[0]);
		return NULL;
	}
	if (!p)
		p = &n->pair[n->pairs++ % 64];
	p->lp = lp;
	p->up++;
	check_hello(p, theirs);
	on_hello(nic, p, mine);
	if (family == LINK_UNIX)
		CU_ASSERT(link_peer_pid(lp) > 0);
	return p;
}

static int on_answered(void *nic, void *peer, const struct eng_hello *theirs)
{
	struct pair *p = peer;

	(void)nic;
	p->up++;
	check_hello(p, theirs);
	return 0;
}

static void on_same(void *nic, void *peer, void *as)
{
	(void)nic;
	((struct pair *)peer)->same = as;
}

static void on_down(void *nic, void *peer, int err)
{
	struct pair *p = peer;

	(void)nic;
	p->down++;
	p->err = err;
	p->lp = NULL;
}

static void on_woken(void *nic, void *peer)
{
	(void)nic;
	((struct pair *)peer)->woken++;
}

static const struct link_ops ops = {
	on_hello, on_came, on_answered, on_same, on_down, on_woken,
};

static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static struct sockaddr_in here(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = port,
	};

	return a;
}

static struct link_conf conf_of(struct node *n)
{
	struct link_conf c = {
		.family = family, .provider = "test", .space = space,
		.name = "host", .version = 5, .ops = &ops, .nic = n,
		.msg = say,
	};
	struct sockaddr_in a = here();

	if (family == LINK_TCP) {
		memcpy(&c.addr, &a, sizeof(a));
		c.addr_len = sizeof(a);
	}
	return c;
}

/* A port that nothing has, for now. */
static uint16_t free_port(void)
{
	struct sock_addr a = { .len = sizeof(struct sockaddr_in) };
	struct sockaddr_in *in = (struct sockaddr_in *)&a.any;
	int fd = sock_open(AF_INET, SOCK_STREAM);

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CU_ASSERT(!sock_bind_listen(fd, &a));
	a.len = sizeof(a.any);
	CU_ASSERT(!getsockname(fd, &a.sa, &a.len));
	sock_close(fd);
	return in->sin_port;
}

static void begin(enum link_family f)
{
	static int count;

	family = f;
	port = free_port();
	snprintf(space, sizeof(space), "t%d.%d", getpid(), ++count);
}

static void node_open(struct node *n)
{
	struct link_conf c = conf_of(n);
	int err;

	memset(n, 0, sizeof(*n));
	n->l = link_open(&c, &err);
	CU_ASSERT_FATAL(n->l != NULL);
}

static struct pair *node_handshake_maybe(struct node *n, const char *disc)
{
	struct pair *p = &n->pair[n->pairs++ % 64];
	struct sockaddr_in a = here();
	int err;

	memset(p, 0, sizeof(*p));
	p->began = 1;
	p->lp = link_handshake(n->l, (struct sockaddr *)&a, sizeof(a),
			       (const uint8_t *)disc, (uint32_t)strlen(disc), p,
			       &err);
	return p;
}

static struct pair *node_handshake(struct node *n, const char *disc)
{
	struct pair *p = node_handshake_maybe(n, disc);

	CU_ASSERT(p->lp != NULL);
	return p;
}

static int try_wait_at(struct node *n, const char *disc, int now)
{
	return link_waiting(n->l, (const uint8_t *)disc,
			    (uint32_t)strlen(disc), now);
}

static void wait_at(struct node *n, const char *disc, int now)
{
	CU_ASSERT(!try_wait_at(n, disc, now));
}

/* All nodes make progress until *p is not 0, or for ms. */
static int until(struct node *n, unsigned int count, const int *p,
		 unsigned int ms)
{
	uint64_t end = sock_now() + ms * (uint64_t)MS;
	unsigned int i;

	while (!*p && sock_now() < end) {
		for (i = 0; i < count; i++)
			if (n[i].l)
				link_progress(n[i].l);
		usleep(200);
	}
	return *p;
}

static void run(struct node *n, unsigned int count, unsigned int ms)
{
	int never = 0;

	until(n, count, &never, ms);
}

/* UNIX: it is said at once. */
static void finds_none(struct node *n, const char *disc)
{
	struct sockaddr_in a = here();
	struct pair p = { .up = 0 };
	int err;

	p.lp = link_handshake(n->l, (struct sockaddr *)&a, sizeof(a),
			      (const uint8_t *)disc, (uint32_t)strlen(disc),
			      &p, &err);
	if (family == LINK_UNIX)
		CU_ASSERT(!p.lp && err == -ENOENT);
	if (p.lp)
		CU_ASSERT(until(n, 1, &p.down, 10000) && p.err == -ENOENT);
}

static void host_name(struct node *n)
{
	struct link_conf c = conf_of(&n[0]);
	char name[VIPL_NAME_MAX + 1];
	int status;
	pid_t child = fork();

	if (!child) {
		struct sockaddr_in a = here();
		int err = link_name(&c, (struct sockaddr *)&a, sizeof(a), 1000,
				    name);

		_exit(err || strcmp(name, "host") ? 1 : 0);
	}
	run(n, 2, 200);
	CU_ASSERT(waitpid(child, &status, 0) == child && !status);
}

static void handshakes(enum link_family f)
{
	static struct node n[2];
	struct pair *p, *q;

	begin(f);
	node_open(&n[0]);
	node_open(&n[1]);
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

	begin(LINK_UNIX);
	node_open(&n[0]);
	node_open(&n[1]);
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

static void kill_it(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
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

static void stranger_speaks(int fd, unsigned int seed)
{
	struct frame f = { .magic = FRAME_MAGIC };
	uint8_t buf[2048];
	unsigned int i, len;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(seed = seed * 1103515245u + 12345u) >> 3;
	f.type = (uint16_t)(seed >> 8) % (FRAME_TYPES + 1);
	f.len = (uint16_t)(seed >> 16) % 800;
	len = seed % sizeof(buf);
	if (seed & 64)
		memcpy(buf, &f, 8);
	if (seed & 128)
		len = (unsigned int)FRAME_HEAD + f.len;
	send(fd, buf, len < sizeof(buf) ? len : 9, MSG_NOSIGNAL);
}

/* The name that the node waits at. */
static void name_of(struct node *n, struct sock_addr *a)
{
	a->len = sizeof(a->any);
	CU_ASSERT(!getsockname(n->l->waits->listener->fd, &a->sa, &a->len));
}

static void strangers(void)
{
	static struct node n[2];
	struct sock_addr a;
	struct pair *p;
	unsigned int i;
	int fd[300];

	begin(LINK_UNIX);
	node_open(&n[0]);
	node_open(&n[1]);
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
		sock_close(fd[i]);
	run(n, 2, 20);
	CU_ASSERT(!p->down);
	link_close(n[0].l);
	link_close(n[1].l);
}

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
	begin(LINK_UNIX);
	node_open(&n[0]);
	node_open(&n[1]);
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

static void squatters(void)
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
static void foreign_flood(void)
{
	static struct node n[2];
	struct sock_addr a;
	struct pair *p;
	pid_t pid;
	int fd;

	if (geteuid())
		return;
	begin(LINK_UNIX);
	node_open(&n[0]);
	node_open(&n[1]);
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
					sock_close(fd);
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
static void many_wait(void)
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
static void silent_one(void)
{
	static struct node n[3];
	struct pair *p;

	begin(LINK_UNIX);
	node_open(&n[0]);
	node_open(&n[1]);
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
static void without_files(void)
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
	sock_close(extra);
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
	sock_close(fd[0]);
	run(n, 2, 20);
	p = node_handshake(&n[1], "x");
	CU_ASSERT(until(n, 2, &p->up, 10000));
	for (i = 1; i < 64; i++)
		sock_close(fd[i]);
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
		sock_close(fd[i]);
	sock_close(slow);
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
