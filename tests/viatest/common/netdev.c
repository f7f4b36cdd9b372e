// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "netdev.h"
#include "common/msg.h"
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../../../include/uapi/via_netlink.h"

const char *netdev_of(const char *device)
{
	if (strncmp(device, "via_", 4) || !strcmp(device, "via_lo"))
		die("%s is on no interface", device);
	return device + 4;
}

int netdev_up(const char *name, bool up)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
	struct ifreq r = { 0 };

	snprintf(r.ifr_name, IFNAMSIZ, "%s", name);
	rc = ioctl(fd, SIOCGIFFLAGS, &r);
	if (!rc) {
		r.ifr_flags = up ? r.ifr_flags | IFF_UP :
				   r.ifr_flags & ~IFF_UP;
		rc = ioctl(fd, SIOCSIFFLAGS, &r);
	}
	close(fd);
	return rc;
}

/* A message for the family, or for the one that knows its number. */
static struct nlmsghdr *message(char *buffer, uint16_t type, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	return nlh;
}

/*
 * By a socket of its own, so from any thread.  0 or -errno; -ENOBUFS may also
 * be an answer for which the kernel had no memory.
 */
static int ask(const struct nlmsghdr *nlh, mnl_cb_t answer, void *arg)
{
	char in[8192] __attribute__((__aligned__(8)));
	struct mnl_socket *s = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	int ret = s ? MNL_CB_OK : MNL_CB_ERROR;
	ssize_t n;

	if (s && (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) ||
		  mnl_socket_sendto(s, nlh, nlh->nlmsg_len) < 0))
		ret = MNL_CB_ERROR;
	while (ret == MNL_CB_OK) {
		n = mnl_socket_recvfrom(s, in, sizeof(in));
		ret = n < 0 ? MNL_CB_ERROR :
			      mnl_cb_run(in, n, 0, 0, answer, arg);
	}
	ret = ret == MNL_CB_ERROR ? -errno : 0;
	if (s)
		mnl_socket_close(s);
	return ret;
}

static int take_family(const struct nlmsghdr *nlh, void *family)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)family = mnl_attr_get_u16(a);
	return MNL_CB_OK;
}

/* The family is asked for each time: via_ka that is loaded anew has another. */
static int command(uint8_t cmd, const char *name, mnl_cb_t answer, void *arg)
{
	char buffer[256] __attribute__((__aligned__(8)));
	uint16_t family = 0;
	struct nlmsghdr *nlh = message(buffer, GENL_ID_CTRL,
				       CTRL_CMD_GETFAMILY);
	int ret;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, VIA_NL_NAME);
	ret = ask(nlh, take_family, &family);
	if (ret)
		return ret;
	nlh = message(buffer, family, cmd);
	mnl_attr_put_u32(nlh, VIA_NL_A_IFINDEX, if_nametoindex(name));
	return ask(nlh, answer, arg);
}

int netdev_attach(const char *name, bool on)
{
	return command(on ? VIA_NL_CMD_ATTACH : VIA_NL_CMD_DETACH, name, NULL,
		       NULL);
}

static int take_driver(const struct nlmsghdr *nlh, void *ours)
{
	const struct nlattr *a;

	mnl_attr_for_each(a, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(a) == VIA_NL_A_DRIVER &&
		    !strcmp(mnl_attr_get_str(a), "via_netdev"))
			*(bool *)ours = true;
	return MNL_CB_OK;
}

bool netdev_detachable(const char *name)
{
	bool ours = false;

	return !command(VIA_NL_CMD_NIC_GET, name, take_driver, &ours) && ours;
}
