// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Verbs devices of VI NICs, which via_rdma makes, by the RDMA core's netlink, as
 * rdma(8) does.  Which NIC a device is of, the device's description says.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <glob.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "uapi/via.h"
#include "messages.h"
#include "via.h"

#define DEVICES		"/sys/class/infiniband"
#define DESCRIPTION	"Virtual Interface Architecture, "	/* and the NIC */
#define ROOM		8192

static bool is_of(const char *file, const char *nic)
{
	char line[128] = "";
	FILE *f = fopen(file, "re");

	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		*line = '\0';
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return !strncmp(line, DESCRIPTION, strlen(DESCRIPTION)) &&
	       !strcmp(line + strlen(DESCRIPTION), nic);
}

const char *verbs_of(const struct nic *nic)
{
	static char name[64];
	const char *start;
	glob_t all;

	*name = '\0';
	if (glob(DEVICES "/*/node_desc", 0, NULL, &all))
		return name;
	for (size_t i = 0; i < all.gl_pathc && !*name; i++) {
		if (!is_of(all.gl_pathv[i], nic->name))
			continue;
		start = all.gl_pathv[i] + strlen(DEVICES "/");
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(start, "/"),
			 start);
	}
	globfree(&all);
	return name;
}

/* The interface that via_rdma is to be given: one that has the NIC's address. */
static bool interface_of_nic(const struct nic *nic, char *ifname)
{
	const struct ifaddrs *a;
	struct ifaddrs *all;
	const void *addr;
	bool found = false;

	if (nic->type != VIA_NIC_UDP) {
		strcpy(ifname, nic->ifname);
		return *ifname;
	}
	if (getifaddrs(&all))
		return false;
	for (a = all; a && !found; a = a->ifa_next) {
		if (!a->ifa_addr || a->ifa_addr->sa_family !=
		    (nic->addr.len == 4 ? AF_INET : AF_INET6))
			continue;
		addr = nic->addr.len == 4 ?
		       (void *)&((struct sockaddr_in *)a->ifa_addr)->sin_addr :
		       (void *)&((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr;
		if (memcmp(addr, nic->addr.byte, nic->addr.len))
			continue;
		/* An address of IPv4 may have a label: "eth0:1". */
		snprintf(ifname, IF_NAMESIZE, "%.*s",
			 (int)strcspn(a->ifa_name, ":"), a->ifa_name);
		found = true;
	}
	freeifaddrs(all);
	return found;
}

/* Send it and take the answers: 0 or -errno. */
static int rdma_call(struct nlmsghdr *nlh, mnl_cb_t answer, void *arg)
{
	struct mnl_socket *sock = mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC);
	char in[32 * 1024] __attribute__((__aligned__(8)));
	ssize_t len = -1;
	int ret = 1;

	if (!sock)
		return -errno;
	if (!mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) &&
	    mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) >= 0) {
		do {
			len = mnl_socket_recvfrom(sock, in, sizeof(in));
			if (len < 0)
				break;
			ret = mnl_cb_run(in, len, nlh->nlmsg_seq,
					 mnl_socket_get_portid(sock), answer,
					 arg);
		} while (ret > 0);
	}
	ret = len < 0 || ret < 0 ? -errno : 0;
	mnl_socket_close(sock);
	return ret;
}

static struct nlmsghdr *rdma_message(char *buffer, unsigned int op,
				     uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op);
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = 1;
	return nlh;
}

struct device {
	const char	*name;
	uint32_t	index;
	bool		found;
};

static int take_device(const struct nlmsghdr *nlh, void *arg)
{
	struct device *d = arg;
	const struct nlattr *attr;
	const char *name = NULL;
	uint32_t index = 0;

	mnl_attr_for_each(attr, nlh, 0) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_NAME)
			name = mnl_attr_get_str(attr);
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_INDEX)
			index = mnl_attr_get_u32(attr);
	}
	if (name && !strcmp(name, d->name)) {
		d->index = index;
		d->found = true;
	}
	return MNL_CB_OK;
}

/* 0, -ENODEV: there is none of that name, or another -errno. */
static int device_find(const char *name, struct device *d)
{
	char buffer[ROOM] __attribute__((__aligned__(8)));
	int ret;

	*d = (struct device){ .name = name };
	ret = rdma_call(rdma_message(buffer, RDMA_NLDEV_CMD_GET, NLM_F_DUMP),
			take_device, d);
	return ret ? ret : d->found ? 0 : -ENODEV;
}

static int device_new(const struct nic *nic, const char *ifname)
{
	char buffer[ROOM] __attribute__((__aligned__(8)));
	struct nlmsghdr *nlh = rdma_message(buffer, RDMA_NLDEV_CMD_NEWLINK,
					    NLM_F_ACK);

	mnl_attr_put_strz(nlh, RDMA_NLDEV_ATTR_DEV_NAME, nic->name);
	mnl_attr_put_strz(nlh, RDMA_NLDEV_ATTR_LINK_TYPE,
			  nic->type == VIA_NIC_UDP ? "via_udp" : "via");
	mnl_attr_put_strz(nlh, RDMA_NLDEV_ATTR_NDEV_NAME, ifname);
	return rdma_call(nlh, NULL, NULL);
}

static int cannot_make(const struct nic *nic, int ret)
{
	const char *why = strerror(-ret);

	if (ret == -ENFILE)
		why = MSG_VERBS_NAME;
	if (ret == -ENFILE || ret == -EPERM ||
	    !access("/sys/module/via_rdma", F_OK))
		warn_msg(MSG_VERBS_MAKE, nic->name, why);
	else if (geteuid())
		warn_msg(MSG_VERBS_LOAD, nic->name);
	else
		warn_msg(MSG_VERBS_NO_MODULE, nic->name);
	return ret;
}

int verbs_make(const struct nic *nic)
{
	char ifname[IF_NAMESIZE];
	struct device d;
	int ret;

	if (*verbs_of(nic))
		return 0;
	if (!interface_of_nic(nic, ifname)) {
		warn_msg(MSG_VERBS_INTERFACE, nic->name);
		return -ENODEV;
	}
	if (access("/sys/module/via_rdma", F_OK))
		module_load("via_rdma");
	ret = device_new(nic, ifname);
	if (!ret)
		return 0;
	if (ret != -EEXIST)
		return cannot_make(nic, ret);
	/* Its own, which /sys of another network namespace does not show? */
	if (!device_find(nic->name, &d))
		return 0;
	warn_msg(MSG_VERBS_OTHER, nic->name, ifname);
	return ret;
}

int verbs_remove(const struct nic *nic)
{
	char buffer[ROOM] __attribute__((__aligned__(8)));
	const char *name = verbs_of(nic);
	struct nlmsghdr *nlh;
	struct device d;
	int ret;

	if (!*name)
		return 0;
	ret = device_find(name, &d);
	if (!ret) {
		nlh = rdma_message(buffer, RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
		mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, d.index);
		ret = rdma_call(nlh, NULL, NULL);
	}
	if (ret)
		warn_msg(MSG_VERBS_REMOVE, name, strerror(-ret));
	return ret;
}
