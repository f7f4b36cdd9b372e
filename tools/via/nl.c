// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The family "via" of generic netlink, through libmnl. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/agent.h"
#include "common/msg.h"
#include "messages.h"
#include "nl.h"

#define ROOM		(64 * 1024)	/* of a message that is sent */
#define GROUPS		4

static struct mnl_socket *sock;
static unsigned int seq;
static uint16_t family;
static char reason[256];
static char buffer[ROOM + 1024] __attribute__((__aligned__(8)));
static struct group {
	char		name[GENL_NAMSIZ];
	uint32_t	id;
} groups[GROUPS];

struct attrs {
	struct nlattr	**attr;
	uint16_t	max;
};

static int take(const struct nlattr *attr, void *arg)
{
	struct attrs *a = arg;
	uint16_t type = mnl_attr_get_type(attr);

	if (type <= a->max)
		a->attr[type] = (struct nlattr *)attr;
	return MNL_CB_OK;
}

void nl_nest(const struct nlattr *nest, struct nlattr **attrs, uint16_t max)
{
	struct attrs a = { attrs, max };

	memset(attrs, 0, (max + 1) * sizeof(*attrs));
	mnl_attr_parse_nested(nest, take, &a);
}

static void parse(const struct nlmsghdr *nlh, struct nlattr **attrs,
		  uint16_t max)
{
	struct attrs a = { attrs, max };

	memset(attrs, 0, (max + 1) * sizeof(*attrs));
	mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take, &a);
}

static void connect_kernel(void)
{
	int one = 1;

	if (sock)
		return;
	sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0)
		die(MSG_VIA_NETLINK, strerror(errno));
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &one, sizeof(one));
}

void nl_close(void)
{
	if (sock)
		mnl_socket_close(sock);
	sock = NULL;
	family = 0;
}

static struct nlmsghdr *message(uint16_t type, uint8_t cmd, uint8_t version,
				uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	if (!(flags & NLM_F_DUMP))
		nlh->nlmsg_flags |= NLM_F_ACK;
	nlh->nlmsg_seq = ++seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

struct nlmsghdr *nl_message(uint8_t cmd, uint16_t flags)
{
	return message(family, cmd, VIA_NL_VERSION, flags);
}

size_t nl_room(const struct nlmsghdr *nlh)
{
	return ROOM - nlh->nlmsg_len;
}

static int take_reason(const struct nlattr *attr, void *arg)
{
	(void)arg;
	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
		snprintf(reason, sizeof(reason), "%.*s",
			 (int)mnl_attr_get_payload_len(attr),
			 mnl_attr_get_str(attr));
	return MNL_CB_OK;
}

/* What an acknowledgement says: 0 or -errno. */
static int acknowledged(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(nlh);
	unsigned int at = sizeof(*e);

	if (nlh->nlmsg_len < mnl_nlmsg_size(sizeof(*e)))
		return -EBADMSG;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		at += mnl_nlmsg_get_payload_len(&e->msg);
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(nlh, at, take_reason, NULL);
	return e->error;
}

/* The end of a dump has a result, and may have a reason. */
static int dumped(const struct nlmsghdr *nlh)
{
	const int *error = mnl_nlmsg_get_payload(nlh);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*error))
		return 0;
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(nlh, sizeof(*error), take_reason, NULL);
	return *error;
}

/* One message; true: the call is over, *ret is its result. */
static bool one(const struct nlmsghdr *nlh, nl_answer *answer, void *arg,
		int *ret)
{
	struct nlattr *attrs[VIA_NL_A_MAX + 1];
	const struct genlmsghdr *genl;

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		*ret = -EINTR;
	if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
		int err = nlh->nlmsg_type == NLMSG_ERROR ?
			  acknowledged(nlh) : dumped(nlh);

		*ret = err ? err : *ret;
		return true;
	}
	if (nlh->nlmsg_type < NLMSG_MIN_TYPE || !answer)
		return false;
	genl = mnl_nlmsg_get_payload(nlh);
	parse(nlh, attrs, VIA_NL_A_MAX);
	answer(genl->cmd, attrs, arg);
	return false;
}

static int receive(nl_answer *answer, void *arg, unsigned int want)
{
	char in[32 * 1024] __attribute__((__aligned__(8)));
	const struct nlmsghdr *nlh;
	int ret = 0, n;
	ssize_t len;

	for (;;) {
		len = mnl_socket_recvfrom(sock, in, sizeof(in));
		if (len < 0)
			return -errno;
		n = len;
		for (nlh = (void *)in; mnl_nlmsg_ok(nlh, n);
		     nlh = mnl_nlmsg_next(nlh, &n))
			if ((!want || nlh->nlmsg_seq == want) &&
			    one(nlh, answer, arg, &ret) && want)
				return ret;
	}
}

static int call(struct nlmsghdr *nlh, nl_answer *answer, void *arg)
{
	reason[0] = '\0';
	if (mnl_socket_sendto(sock, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	return receive(answer, arg, nlh->nlmsg_seq);
}

#define TRIES	100
#define PAUSE	100000000u

int nl_call(struct nlmsghdr *nlh, nl_answer *answer, void *arg)
{
	int ret, tries = 0;

	/* Another administrator's change is over soon. */
	while ((ret = call(nlh, answer, arg)) == -EBUSY &&
	       strstr(reason, "under way") && ++tries < TRIES)
		sleep_ns(PAUSE);
	/* There may be keys in it. */
	explicit_bzero(buffer, sizeof(buffer));
	return ret;
}

const char *nl_error(int err)
{
	static char denied[64];

	if (*reason || err != -EPERM)
		return *reason ? reason : strerror(-err);
	snprintf(denied, sizeof(denied), MSG_VIA_DENIED, strerror(-err));
	return denied;
}

static void take_groups(const struct nlattr *nest)
{
	struct nlattr *attrs[CTRL_ATTR_MCAST_GRP_MAX + 1];
	const struct nlattr *g;
	int n = 0;

	mnl_attr_for_each_nested(g, nest) {
		nl_nest(g, attrs, CTRL_ATTR_MCAST_GRP_MAX);
		if (n == GROUPS || !attrs[CTRL_ATTR_MCAST_GRP_NAME] ||
		    !attrs[CTRL_ATTR_MCAST_GRP_ID])
			continue;
		snprintf(groups[n].name, sizeof(groups[n].name), "%s",
			 mnl_attr_get_str(attrs[CTRL_ATTR_MCAST_GRP_NAME]));
		groups[n++].id =
			mnl_attr_get_u32(attrs[CTRL_ATTR_MCAST_GRP_ID]);
	}
}

/* CTRL_ATTR_* are below VIA_NL_A_MAX: see the assertion. */
static void take_family(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	_Static_assert(CTRL_ATTR_MCAST_GROUPS <= VIA_NL_A_MAX, "room");
	(void)cmd;
	(void)arg;
	if (attrs[CTRL_ATTR_FAMILY_ID])
		family = mnl_attr_get_u16(attrs[CTRL_ATTR_FAMILY_ID]);
	if (attrs[CTRL_ATTR_MCAST_GROUPS])
		take_groups(attrs[CTRL_ATTR_MCAST_GROUPS]);
}

bool nl_open(void)
{
	struct nlmsghdr *nlh;
	int ret;

	if (family)
		return true;
	connect_kernel();
	nlh = message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, VIA_NL_NAME);
	ret = nl_call(nlh, take_family, NULL);
	if (ret && ret != -ENOENT)
		die(MSG_VIA_FAMILY, nl_error(ret));
	/* The module itself: a folder may stand in place of its class. */
	if (!family && !access("/sys/module/via_ka", F_OK))
		die(MSG_VIA_OLD_AGENT);
	return family;
}

void nl_need(void)
{
	if (!nl_open())
		agent_need();
}

int nl_join(const char *group)
{
	for (int i = 0; i < GROUPS; i++) {
		int id = groups[i].id;

		if (strcmp(groups[i].name, group))
			continue;
		return mnl_socket_setsockopt(sock, NETLINK_ADD_MEMBERSHIP, &id,
					     sizeof(id)) ? -errno : 0;
	}
	return -ENOENT;
}

int nl_events(nl_answer *answer, void (*lost)(void), void *arg)
{
	int ret;

	while ((ret = receive(answer, arg, 0)) == -ENOBUFS)
		lost();
	return ret;
}
