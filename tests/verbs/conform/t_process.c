// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Processes that end without having ended anything. */
#include "link.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QPS	1000

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

/* A child opens so many links, with traffic, and waits for its death. */
static void hold(unsigned int n, int out)
{
	struct plan p = usual;
	struct link *l = calloc(n, sizeof(*l));
	uint32_t port = 0, i;
	struct work w;

	p.queues.send_wr = p.queues.recv_wr = 4;
	p.queues.cqe = 8;
	p.queues.one_cq = 1;
	if (!sides_again() || !link_listen(&l[0], env.far, 64, &port))
		_exit(1);
	for (i = 0; i < n; i++) {
		if (!link_through(&l[i], &p, port))
			_exit(1);
		if (i % 16)
			continue;
		if (!l[0].near.mem.n &&
		    (!mem_new(&near, &l[0].near.mem, 65536, ALL_RIGHTS, 0) ||
		     !mem_new(&far, &l[0].far.mem, 65536, ALL_RIGHTS, 0)))
			_exit(1);
		w = work(1, &l[0].far.mem, 0, 65536);
		post_recv(&l[i].far, &w, 4);
		w = work(1, &l[0].near.mem, 0, 65536);
		post_send(&l[i].near, &w, 3);
	}
	i = 1;
	if (write(out, &i, sizeof(i)) != sizeof(i))
		_exit(1);
	for (;;)
		pause();
}

static void killed_with(unsigned int n)
{
	struct count before, during;
	int out[2], status, go = 0;
	pid_t pid;

	if (!counted(&before)) {
		skip("`rdma res show` does not name the device");
		return;
	}
	NEED(!pipe(out));
	fflush(stdout);
	pid = fork();
	NEED(pid >= 0);
	if (!pid) {
		close(out[0]);
		hold(n, out[1]);
	}
	close(out[1]);
	CHECK_EQ(read(out[0], &go, sizeof(go)), sizeof(go));
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
	struct link l = { 0 };
	struct point listener = { .side = &far };
	uint32_t port = 0;
	struct answer a;
	int out[2], go = 0;
	pid_t pid;

	NEED(link_listen(&l, env.far, 4, &port));
	listener.conn = l.listener;
	NEED(!pipe(out));
	fflush(stdout);
	pid = fork();
	NEED(pid >= 0);
	if (!pid) {
		struct link mine = { .near.side = &near };

		/* Objects of verbs belong to the process that made them. */
		memset(&near, 0, sizeof(near));
		near.end = calloc(1, sizeof(*near.end));
		if (link_resolve(&mine.near, env.near, env.far, port) ||
		    !point_queues(&mine.near, &(struct queues){ .send_wr = 4,
				  .recv_wr = 4, .sge = 1, .cqe = 16 }) ||
		    !point_offer(&mine.near, OP_CONNECT, &usual.near) ||
		    !point_expect(&mine.near, RDMA_CM_EVENT_ESTABLISHED, NULL))
			_exit(1);
		go = 1;
		if (write(out[1], &go, sizeof(go)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(out[1]);
	l.far.side = &far;
	NEED(point_expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST, &a));
	l.far.conn = a.n;
	NEED(point_queues(&l.far, &usual.queues));
	NEED(mem_new(&far, &l.far.mem, 4096, ALL_RIGHTS, 0));
	NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
	NEED(point_offer(&l.far, OP_ACCEPT, &usual.far));
	NEED(point_expect(&l.far, RDMA_CM_EVENT_ESTABLISHED, NULL));
	NEED_EQ(read(out[0], &go, sizeof(go)), sizeof(go));
	kill(pid, SIGKILL);
	point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
	point_do(&l.far, OP_DISCONNECT);
	DONE(&l.far, RQ, 1, WR_FLUSH_ERR);
	waitpid(pid, NULL, 0);
	link_close(&l);
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
	{ "process.killed_many", killed_many, "killed with 1,000 QPs", 300 },
};

const struct file file_process = { groups, ARRAY_SIZE(groups) };
