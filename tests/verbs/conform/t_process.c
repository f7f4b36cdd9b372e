// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Processes that end without having ended anything. */
#include "link.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define QPS	1000
#define NOBODY	65534
#define MEETINGS	50

struct count {
	unsigned int pd, cq, qp, cm_id, mr;
};

/* Of the near device. */
static bool counted(struct count *c)
{
	FILE *f = popen("PATH=$PATH:/sbin:/usr/sbin rdma res show 2>/dev/null",
			"r");
	char line[256], name[64];
	bool found = false;
	struct count one;

	memset(c, 0, sizeof(*c));
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*d: %63[^:]: pd %u cq %u qp %u cm_id %u mr %u",
			   name, &one.pd, &one.cq, &one.qp, &one.cm_id,
			   &one.mr) != 6 || strcmp(name, env.limits.device))
			continue;
		found = true;
		*c = one;
	}
	if (f)
		pclose(f);
	return found;
}

/* What ends asynchronously has time to. */
static void back_to(const struct count *before)
{
	struct count now = { 0 };
	unsigned int i;

	for (i = 0; i < LONG_MS / 100; i++) {
		counted(&now);
		if (!memcmp(&now, before, sizeof(now)))
			break;
		usleep(100000);
	}
	CHECK_EQ(now.qp, before->qp);
	CHECK_EQ(now.cm_id, before->cm_id);
	CHECK_EQ(now.cq, before->cq);
	CHECK_EQ(now.mr, before->mr);
	CHECK_EQ(now.pd, before->pd);
}

/* So many links in this process, some with traffic. */
static bool hold_links(unsigned int n)
{
	struct plan p = usual;
	struct link *l = calloc(n, sizeof(*l));
	uint32_t port = 0, i;
	struct work w;

	p.queues.send_wr = p.queues.recv_wr = 4;
	p.queues.cqe = 8;
	p.queues.one_cq = 1;
	if (!l || !link_listen(&l[0], env.far, 64, &port) ||
	    !mem_new(&near, &l[0].near.mem, 65536, ALL_RIGHTS, 0) ||
	    !mem_new(&far, &l[0].far.mem, 65536, ALL_RIGHTS, 0))
		return false;
	for (i = 0; i < n; i++) {
		l[i].listener = l[0].listener;
		if (!link_through(&l[i], &p, port))
			return false;
		if (i % 16)
			continue;
		w = work(1, &l[0].far.mem, 0, 65536);
		post_recv(&l[i].far, &w, 4);
		w = work(1, &l[0].near.mem, 0, 65536);
		post_send(&l[i].near, &w, 3);
	}
	return true;
}

/* One end, to a listener that is there. */
static bool hold_end(uint32_t port)
{
	struct point p = { .side = &near };

	return !link_resolve(&p, env.near, env.far, port) &&
	       point_queues(&p, &usual.queues) &&
	       point_offer(&p, OP_CONNECT, &usual.near) &&
	       point_expect(&p, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

/* Another user asks to connect a QP by its number, and has none of its own. */
static bool hold_foreign(uint32_t qp, uint32_t port)
{
	struct rdma_conn_param param = { .qp_num = qp };
	struct point p = { .side = &near };
	struct rdma_cm_id *id;

	if (setresuid(NOBODY, NOBODY, NOBODY) ||
	    link_resolve(&p, env.near, env.far, port))
		return false;
	id = near.end->conn[p.conn].id;
	if (!rdma_connect(id, &param)) {
		puts("a QP of another user was connected");
		return false;
	}
	if (errno == EPERM)
		return true;
	perror("rdma_connect");
	return false;
}

/* Events of the near device and its port, told as they come. */
static bool hold_device(void)
{
	struct ibv_context *v = near.end->conn[0].id->verbs;
	struct ibv_async_event ev;

	puts("held");
	while (!ibv_get_async_event(v, &ev)) {
		puts(ibv_event_type_str(ev.event_type));
		ibv_ack_async_event(&ev);
		if (ev.event_type == IBV_EVENT_DEVICE_FATAL)
			return true;
	}
	perror("ibv_get_async_event");
	return false;
}

int hold(const char *what)
{
	unsigned int n, qp;
	bool ok;

	if (!sides_open())
		return 1;
	if (!strcmp(what, "device"))
		return !hold_device();
	if (sscanf(what, "links=%u", &n) == 1)
		ok = hold_links(n);
	else if (sscanf(what, "qp%u,port=%u", &qp, &n) == 2)
		ok = hold_foreign(qp, n);
	else
		ok = sscanf(what, "port=%u", &n) == 1 && hold_end(n);
	if (!ok)
		return 1;
	puts("held");
	for (;;)
		pause();
}

/*
 * Objects of verbs belong to the process that opened the device, so a child
 * is a program of its own.  It tells on `out` when it has them.
 */
static pid_t holder(const char *kind, unsigned int n, int *out)
{
	char what[32], addresses[160];
	char *args[] = { "verbsconform", "--hold", what, "--port",
			 (char *)env.port, addresses, NULL, NULL, NULL };
	int tell[2];
	pid_t pid;

	snprintf(what, sizeof(what), "%s=%u", kind, n);
	snprintf(addresses, sizeof(addresses), "%s,%s", env.near, env.far);
	if (env.host) {
		args[6] = "--host";
		args[7] = (char *)env.host;
	}
	if (pipe(tell))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(tell[1], 1);
		close(tell[0]);
		close(tell[1]);
		execv("/proc/self/exe", args);
		_exit(127);
	}
	close(tell[1]);
	*out = tell[0];
	return pid;
}

/* What it says before that is why it does not come to it. */
static bool held(int out)
{
	char line[256];
	FILE *f = fdopen(dup(out), "r");
	bool yes = false;

	while (f && !yes && fgets(line, sizeof(line), f)) {
		yes = !strcmp(line, "held\n");
		if (!yes)
			fputs(line, stdout);
	}
	if (f)
		fclose(f);
	return yes;
}

static void killed_with(unsigned int n)
{
	struct count before, during;
	int out, status;
	pid_t pid;

	if (!counted(&before)) {
		skip("`rdma res show` does not name the device");
		return;
	}
	pid = holder("links", n, &out);
	NEED(pid > 0);
	NEED(held(out));
	CHECK(counted(&during));
	CHECK(during.qp >= before.qp + n);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	back_to(&before);
}

static void killed_one(void)
{
	killed_with(1);
}

static void killed_many(void)
{
	killed_with(far.end ? QPS / 2 : QPS);
}

/* The far end's process lives: it is told. */
static void peer_killed(void)
{
	struct link l = { .far.side = &far };
	struct point listener = { .side = &far };
	uint32_t port = 0;
	struct answer a;
	pid_t pid;
	int out;

	NEED(link_listen(&l, env.far, 4, &port));
	listener.conn = l.listener;
	pid = holder("port", port, &out);
	NEED(pid > 0);
	NEED(point_expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST, &a));
	l.far.conn = a.n;
	NEED(point_queues(&l.far, &usual.queues));
	NEED(mem_new(&far, &l.far.mem, 4096, ALL_RIGHTS, 0));
	NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
	NEED(point_offer(&l.far, OP_ACCEPT, &usual.far));
	NEED(point_expect(&l.far, RDMA_CM_EVENT_ESTABLISHED, NULL));
	NEED(held(out));
	kill(pid, SIGKILL);
	point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
	point_do(&l.far, OP_DISCONNECT);
	DONE(&l.far, RQ, 1, WR_FLUSH_ERR);
	waitpid(pid, NULL, 0);
	link_close(&l);
}

/* A QP that waits for its connection, and a program that names it as its own. */
static void foreign(void)
{
	struct link l = { .near.side = &near, .far.side = &far };
	char kind[24];
	uint32_t port = 0;
	long long before;
	pid_t pid;
	int out;

	if (!env.limits.iwarp) {
		skip("programs connect RoCE's queue pairs by themselves");
		return;
	}
	if (geteuid()) {
		skip("only root becomes another user");
		return;
	}
	NEED(link_listen(&l, env.far, 4, &port));
	NEED(CHECK_EQ(link_resolve(&l.near, env.near, env.far, port), 0));
	NEED(point_queues(&l.near, &usual.queues));
	before = near_counter("foreign_queue_pairs");
	snprintf(kind, sizeof(kind), "qp%u,port", l.near.qp);
	pid = holder(kind, port, &out);
	NEED(pid > 0);
	CHECK(held(out));
	if (env.codes)
		CHECK_EQ(near_counter("foreign_queue_pairs"), before + 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* It is still free for its owner. */
	point_drop(&l.near);
	NEED(link_through(&l, &usual, port));
	link_close(&l);
}

struct caller {
	struct rdma_cm_id *id;
	uint32_t qp;
};

static void *call(void *arg)
{
	struct caller *c = arg;
	struct rdma_conn_param param = { .qp_num = c->qp };

	/* Either is right. */
	rdma_connect(c->id, &param);
	return NULL;
}

/* A QP goes while a connection is asked for by its number, with none of its own. */
static void meet(void)
{
	struct point with = { .side = &near }, without = { .side = &near },
		     listener = { .side = &far };
	struct link l = { 0 };
	struct caller caller;
	uint32_t port = 0;
	pthread_t thread;
	int i;

	if (!env.limits.iwarp) {
		skip("programs connect RoCE's queue pairs by themselves");
		return;
	}
	NEED(link_listen(&l, env.far, 64, &port));
	listener.conn = l.listener;
	for (i = 0; i < MEETINGS; i++) {
		NEED(!link_resolve(&with, env.near, env.far, port));
		NEED(point_queues(&with, &usual.queues));
		NEED(!link_resolve(&without, env.near, env.far, port));
		caller.id = near.end->conn[without.conn].id;
		caller.qp = with.qp;
		NEED(!pthread_create(&thread, NULL, call, &caller));
		point_drop(&with);
		pthread_join(thread, NULL);
		point_drop(&without);
	}
	point_drop(&listener);
}

/* After all these nothing is left, also where everything was ended. */
static void nothing_left(void)
{
	struct count before;
	struct link l;
	unsigned int i;

	if (!counted(&before)) {
		skip("`rdma res show` does not name the device");
		return;
	}
	for (i = 0; i < 5; i++) {
		NEED(link_open(&l, &usual));
		NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
		NEED_EQ(send_one(&l.near, 1, 0, 64), 0);
		DONE(&l.near, SQ, 1, SUCCESS);
		link_close(&l);
	}
	back_to(&before);
}

static const struct group groups[] = {
	{ "process.nothing_left", nothing_left, "five connections, closed",
	  0 },
	{ "process.killed", killed_one, "killed with one connection", 0 },
	{ "process.peer", peer_killed, "the peer's process is killed", 0 },
	{ "process.foreign", foreign, "another user names a QP", 0 },
	{ "process.meet", meet, "a QP goes while it is connected by number",
	  120 },
	{ "process.killed_many", killed_many, "killed with 1,000 QPs", 300 },
};

const struct file file_process = { groups, ARRAY_SIZE(groups) };
