// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "link.h"
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

struct message {
	struct nlmsghdr head;
	struct ifinfomsg info;
	uint8_t attrs[256];
};

static struct rtattr *put(struct message *m, int type, const void *data,
			  size_t len)
{
	struct rtattr *a = (void *)((uint8_t *)m +
				    NLMSG_ALIGN(m->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) +
			    RTA_ALIGN(a->rta_len);
	return a;
}

static void put_name(struct message *m, const char *name)
{
	put(m, IFLA_IFNAME, name, strlen(name) + 1);
}

/* What was put since @a is inside of it. */
static void inside(struct message *m, struct rtattr *a)
{
	a->rta_len = (uint8_t *)m + m->head.nlmsg_len - (uint8_t *)a;
}

static struct message message(int type, int flags)
{
	return (struct message){
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			  .nlmsg_type = type,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags },
	};
}

static int tell(int sock, struct message *m)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		uint8_t rest[512];
	} answer;

	if (send(sock, m, m->head.nlmsg_len, 0) < 0 ||
	    recv(sock, &answer, sizeof(answer), 0) < 0)
		return -errno;
	return answer.error.error;
}

int link_socket(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

int link_up(int sock, const char *name, int up)
{
	struct message m = message(RTM_NEWLINK, 0);

	m.info.ifi_flags = up ? IFF_UP : 0;
	m.info.ifi_change = IFF_UP;
	put_name(&m, name);
	return tell(sock, &m);
}

/* By its index, since the name is the new one. */
int link_rename(int sock, const char *name, const char *other)
{
	struct message m = message(RTM_NEWLINK, 0);

	m.info.ifi_index = if_nametoindex(name);
	put_name(&m, other);
	return tell(sock, &m);
}

static int change(int sock, const char *name, int type, const void *data,
		  size_t len)
{
	struct message m = message(RTM_NEWLINK, 0);

	put_name(&m, name);
	put(&m, type, data, len);
	return tell(sock, &m);
}

int link_address(int sock, const char *name, const uint8_t *mac)
{
	return change(sock, name, IFLA_ADDRESS, mac, 6);
}

int link_move(int sock, const char *name, int netns)
{
	return change(sock, name, IFLA_NET_NS_FD, &netns, sizeof(netns));
}

int link_delete(int sock, const char *name)
{
	struct message m = message(RTM_DELLINK, 0);

	put_name(&m, name);
	return tell(sock, &m);
}

int link_veth(int sock, const char *name, const char *peer)
{
	struct message m = message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct ifinfomsg none = { 0 };
	struct rtattr *about, *data, *other;

	put_name(&m, name);
	about = put(&m, IFLA_LINKINFO, NULL, 0);
	put(&m, IFLA_INFO_KIND, "veth", 4);
	data = put(&m, IFLA_INFO_DATA, NULL, 0);
	other = put(&m, VETH_INFO_PEER, &none, sizeof(none));
	put_name(&m, peer);
	inside(&m, other);
	inside(&m, data);
	inside(&m, about);
	return tell(sock, &m);
}
