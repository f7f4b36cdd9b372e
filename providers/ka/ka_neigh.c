// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The kernel's neighbour table, over rtnetlink. We join the group of its
 * changes before we look, so that an answer to the provoked request is an
 * event to wait for and cannot slip by between the look and the wait.
 */
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>

#include "../../vipl/sys.h"
#include "../../vipl/timeout.h"
#include "ka_neigh.h"

#define PROVOKE_NS	250000000u	/* between two datagrams */
#define PROVOKE_TIMES	4
#define DISCARD_PORT	9

struct neigh_query {
	unsigned int ifindex;
	const void *ip;			/* wanted, or NULL */
	size_t ip_len;
	uint8_t *mac;			/* out, or wanted when ip is NULL */
	struct sockaddr_storage *found;	/* out when ip is NULL */
	socklen_t *found_len;
};

static int nl_open(void)
{
	struct sockaddr_nl nl = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_NEIGH,
	};
	int fd = sys_socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			    NETLINK_ROUTE);

	if (fd >= 0 && sys_bind(fd, &nl, sizeof(nl))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int nl_dump(int fd)
{
	struct {
		struct nlmsghdr h;
		struct ndmsg nd;
	} req = {
		.h.nlmsg_len = sizeof(req),
		.h.nlmsg_type = RTM_GETNEIGH,
		.h.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};

	return sys_send(fd, &req, sizeof(req), 0, NULL, 0) == sizeof(req) ?
		0 : -1;
}

static void give_ip(const struct neigh_query *q, int family, const void *ip)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)q->found;
	struct sockaddr_in *sin = (struct sockaddr_in *)q->found;

	memset(q->found, 0, sizeof(*q->found));
	q->found->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		memcpy(&sin->sin_addr, ip, 4);
		*q->found_len = sizeof(*sin);
	} else {
		memcpy(&sin6->sin6_addr, ip, 16);
		sin6->sin6_scope_id = q->ifindex;
		*q->found_len = sizeof(*sin6);
	}
}

/* Nonzero when this neighbour answers the query. */
static int neigh_matches(const struct neigh_query *q, struct nlmsghdr *h)
{
	const void *dst = NULL, *lladdr = NULL;
	size_t dst_len = 0, lladdr_len = 0;
	struct ndmsg *nd = NLMSG_DATA(h);
	struct rtattr *a;
	int len = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof(*nd)));

	if (h->nlmsg_type != RTM_NEWNEIGH || len < 0 ||
	    nd->ndm_ifindex != (int)q->ifindex ||
	    (nd->ndm_family != AF_INET && nd->ndm_family != AF_INET6) ||
	    (nd->ndm_state & (NUD_INCOMPLETE | NUD_FAILED | NUD_NOARP)))
		return 0;
	for (a = (struct rtattr *)((char *)nd + NLMSG_ALIGN(sizeof(*nd)));
	     RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == NDA_DST) {
			dst = RTA_DATA(a);
			dst_len = RTA_PAYLOAD(a);
		} else if (a->rta_type == NDA_LLADDR) {
			lladdr = RTA_DATA(a);
			lladdr_len = RTA_PAYLOAD(a);
		}
	}
	if (!dst || lladdr_len != KA_MAC_LEN ||
	    dst_len != (nd->ndm_family == AF_INET ? 4 : 16))
		return 0;
	if (q->ip) {
		if (dst_len != q->ip_len || memcmp(dst, q->ip, dst_len))
			return 0;
		memcpy(q->mac, lladdr, KA_MAC_LEN);
		return 1;
	}
	if (memcmp(lladdr, q->mac, KA_MAC_LEN))
		return 0;
	give_ip(q, nd->ndm_family, dst);
	return 1;
}

/* Read one datagram: 1 found, 0 not in it, 2 end of the dump, -1 trouble. */
static int nl_read(int fd, const struct neigh_query *q)
{
	char buf[16384] __attribute__((aligned(NLMSG_ALIGNTO)));
	ssize_t n = sys_recv(fd, buf, sizeof(buf));
	struct nlmsghdr *h = (struct nlmsghdr *)buf;
	int r = 0;

	if (n < 0)
		return -1;
	for (; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
		if (h->nlmsg_type == NLMSG_DONE)
			r = 2;
		else if (h->nlmsg_type == NLMSG_ERROR)
			return -1;
		else if (neigh_matches(q, h))
			return 1;
	}
	return r;
}

static int dump_neighs(int fd, const struct neigh_query *q)
{
	int r;

	if (nl_dump(fd))
		return -1;
	do {
		r = nl_read(fd, q);
	} while (!r);
	return r == 1 ? 0 : -1;
}

static int await_neigh(int fd, const struct neigh_query *q, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t left;

	while ((left = vipl_left(deadline))) {
		if (sys_poll(&p, 1, (int)(left / 1000000u) + 1) <= 0)
			continue;
		if (nl_read(fd, q) == 1)
			return 0;
	}
	return -1;
}

/*
 * Any datagram makes the kernel resolve the neighbour.  By the NIC's own
 * interface: the route of its subnet may name another one.
 */
static void provoke_resolution(int ifindex, const struct sockaddr *ip,
			       socklen_t len)
{
	struct sockaddr_storage to = { 0 };
	int fd;

	memcpy(&to, ip, len);
	if (ip->sa_family == AF_INET)
		((struct sockaddr_in *)&to)->sin_port = htons(DISCARD_PORT);
	else
		((struct sockaddr_in6 *)&to)->sin6_port = htons(DISCARD_PORT);
	fd = sys_socket(ip->sa_family,
			SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (sys_setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &ifindex,
			   sizeof(ifindex))) {
		/* A route by this interface serves without it. */
	}
	/* Without a route await_neigh() will find nothing, which is right. */
	(void)sys_send(fd, "", 0, MSG_NOSIGNAL, &to, len);
	close(fd);
}

int ka_neigh_find(unsigned int ifindex, const struct sockaddr *ip,
		  socklen_t len, uint8_t mac[KA_MAC_LEN])
{
	struct neigh_query q = { .ifindex = ifindex, .mac = mac };
	int fd, i, r;

	if (ip->sa_family == AF_INET) {
		q.ip = &((const struct sockaddr_in *)ip)->sin_addr;
		q.ip_len = 4;
	} else if (ip->sa_family == AF_INET6) {
		q.ip = &((const struct sockaddr_in6 *)ip)->sin6_addr;
		q.ip_len = 16;
	} else {
		return -1;
	}
	fd = nl_open();
	if (fd < 0)
		return -1;
	r = dump_neighs(fd, &q);
	for (i = 0; r && i < PROVOKE_TIMES; i++) {
		provoke_resolution((int)ifindex, ip, len);
		r = await_neigh(fd, &q, vipl_now() + PROVOKE_NS);
	}
	close(fd);
	return r;
}

int ka_neigh_reverse(unsigned int ifindex, const uint8_t mac[KA_MAC_LEN],
		     struct sockaddr_storage *ip, socklen_t *len)
{
	uint8_t want[KA_MAC_LEN];
	struct neigh_query q = {
		.ifindex = ifindex,
		.mac = want,
		.found = ip,
		.found_len = len,
	};
	int fd = nl_open();
	int r;

	if (fd < 0)
		return -1;
	memcpy(want, mac, KA_MAC_LEN);
	r = dump_neighs(fd, &q);
	close(fd);
	return r;
}
