// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The server of server.c in one thread with a main loop: epoll waits for
 * completions, connections and signals at once, by vipl_ext.h.
 *
 *	epoll DEVICE [COUNT]	until COUNT clients have left, or a signal
 *
 * The rule for both descriptors: take readability back first (VipExtCQArm,
 * VipExtNicClear), then look until there is nothing.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "echo.h"

#define CQ_ENTRIES	256
#define BACKLOG		16	/* requests that wait while we do other work */

static struct node node;
static VIP_CQ_HANDLE cq;
static struct client *pending;	/* accepted, the verdict is to come */
static unsigned long left;

static void open_all(const char *device, union address *local)
{
	const VIP_UINT64 need = VIP_FEATURE_CQ_FD | VIP_FEATURE_NIC_FD |
				VIP_FEATURE_NONBLOCKING | VIP_FEATURE_LISTEN;
	VIP_UINT64 have;

	open_node(&node, device);
	must(VipExtQueryFeatures(node.nic, &have));
	if ((have & need) != need)
		errx(1, "%s: no backlog of requests; see server.c", device);
	must(VipCreateCQ(node.nic, CQ_ENTRIES, &cq));
	own_address(&node, local, ECHO_DISC);
	must(VipExtConnectListen(node.nic, &local->a, BACKLOG));
}

/* Requests that wait: each gets a VI, the verdict comes later. */
static void accept_waiting(union address *local)
{
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE request;
	union address remote;
	struct client *c;
	VIP_RETURN r;

	for (;;) {
		r = VipExtConnectWait(node.nic, &local->a, 0, &remote.a,
				      &theirs, NULL, NULL, &request);
		if (r == VIP_TIMEOUT)
			return;
		check(r, "VipExtConnectWait");
		c = new_client(&node, cq);
		r = VipExtConnectAccept(request, c->vi, NULL, 0);
		if (r == VIP_SUCCESS) {
			c->next = pending;
			pending = c;
			continue;
		}
		warnx("a client: %s", VipExtReturnText(r));
		VipConnectReject(request);
		end_client(c);
	}
}

/* A VI whose verdict was not fetched cannot send: start_client() answers what
 * has come before it.
 */
static void fetch_verdicts(void)
{
	struct client **p = &pending, *c;
	VIP_RETURN r;

	while ((c = *p)) {
		r = VipExtConnectDone(c->vi, NULL, NULL, NULL);
		if (r == VIP_NOT_DONE) {
			p = &c->next;
			continue;
		}
		*p = c->next;
		if (r == VIP_SUCCESS) {
			start_client(c);
			continue;
		}
		warnx("a client: %s", VipExtReturnText(r));
		end_client(c);
	}
}

static void collect(void)
{
	VIP_BOOLEAN recv_queue;
	VIP_VI_HANDLE vi;
	struct client *c;

	while (VipCQDone(cq, &vi, &recv_queue) == VIP_SUCCESS) {
		c = serve(vi, recv_queue);
		if (!c)
			continue;
		printf("a client has left after %u answers\n", c->answers);
		end_client(c);
		left++;
	}
}

static void watch(int epoll, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e))
		err(1, "epoll_ctl");
}

int main(int argc, char **argv)
{
	int epoll, cq_fd, nic_fd, signals;
	struct epoll_event e;
	union address local;
	unsigned long most;
	sigset_t ends;

	if (argc < 2 || argc > 3)
		errx(2, "usage: epoll DEVICE [COUNT]");
	most = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	open_all(argv[1], &local);
	must(VipExtCQGetFd(cq, &cq_fd));
	must(VipExtNicGetFd(node.nic, &nic_fd));
	must(VipExtCQArm(cq));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	signals = signalfd(-1, &ends, SFD_CLOEXEC);
	if (epoll < 0 || signals < 0)
		err(1, "epoll, signalfd");
	watch(epoll, cq_fd);
	watch(epoll, nic_fd);
	watch(epoll, signals);
	while (!most || left < most) {
		if (epoll_wait(epoll, &e, 1, -1) != 1)
			continue;	/* a signal that is not ours */
		if (e.data.fd == signals) {
			break;
		} else if (e.data.fd == nic_fd) {
			must(VipExtNicClear(node.nic));
			accept_waiting(&local);
			fetch_verdicts();
		} else {
			must(VipExtCQArm(cq));
			collect();
		}
	}
	must(VipCloseNic(node.nic));
	return 0;
}
