// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via(8) with a kernel agent and counters of its own, for tests/via/show. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/counters.h"
#include "via/via.h"
#include "uapi/via.h"

bool __wrap_nl_open(void);
void __wrap_nl_need(void);
void __wrap_agent_need(void);
int __wrap_nl_call(struct nlmsghdr *nlh, nl_answer *answer, void *arg);
void __wrap_counters_read(const char *what, bool vis, struct readings *all);

bool __wrap_nl_open(void)
{
	return true;
}

void __wrap_nl_need(void)
{
}

void __wrap_agent_need(void)
{
}

static char buffer[4096] __attribute__((__aligned__(8)));
static struct nlmsghdr *msg;

static void begin(const char *nic)
{
	msg = mnl_nlmsg_put_header(buffer);
	mnl_nlmsg_put_extra_header(msg, sizeof(struct genlmsghdr));
	mnl_attr_put_strz(msg, VIA_NL_A_NIC, nic);
}

static void end(uint8_t cmd, nl_answer *answer, void *arg)
{
	struct nlattr *attrs[VIA_NL_A_MAX + 1] = { 0 }, *a;

	mnl_attr_for_each(a, msg, sizeof(struct genlmsghdr))
		attrs[mnl_attr_get_type(a)] = a;
	answer(cmd, attrs, arg);
}

static void nic(const char *name, uint32_t type, const void *addr, size_t len,
		nl_answer *answer, void *arg)
{
	begin(name);
	mnl_attr_put_u32(msg, VIA_NL_A_TYPE, type);
	mnl_attr_put(msg, VIA_NL_A_ADDR, len, addr);
	mnl_attr_put_strz(msg, VIA_NL_A_DRIVER,
			  type == VIA_NIC_UDP ? "via_udp" : "via_netdev");
	mnl_attr_put_u32(msg, VIA_NL_A_MTU, 1408);
	mnl_attr_put_u32(msg, VIA_NL_A_VIS, 2);
	end(VIA_NL_CMD_NIC_NEW, answer, arg);
}

static void vi(uint32_t id, uint32_t state, nl_answer *answer, void *arg)
{
	static const uint8_t far[] = { 2, 0, 0, 0, 0, 9 };

	begin("via_eth0");
	mnl_attr_put_u32(msg, VIA_NL_A_VI, id);
	mnl_attr_put_u32(msg, VIA_NL_A_STATE, state);
	mnl_attr_put(msg, VIA_NL_A_REMOTE, sizeof(far), far);
	end(VIA_NL_CMD_RES_VI, answer, arg);
}

int __wrap_nl_call(struct nlmsghdr *nlh, nl_answer *answer, void *arg)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	static const uint8_t mac[] = { 2, 0, 0, 0, 0, 7 };
	struct in_addr ip4 = { htonl(0xc0000201) };
	struct in6_addr ip6;

	inet_pton(AF_INET6, "2001:db8::1", &ip6);
	switch (genl->cmd) {
	case VIA_NL_CMD_NIC_GET:
		nic("via_eth0", VIA_NIC_ETHERNET, mac, sizeof(mac), answer,
		    arg);
		nic("via_udp0", VIA_NIC_UDP, &ip4, sizeof(ip4), answer, arg);
		nic("via_udp1", VIA_NIC_UDP, &ip6, sizeof(ip6), answer, arg);
		break;
	case VIA_NL_CMD_RES_VI:
		vi(1, VIA_STATE_CONNECTED, answer, arg);
		vi(2, VIA_STATE_ERROR, answer, arg);
		break;
	}
	return 0;
}

static void add(struct readings *all, uint32_t vi, const char *prefix)
{
	struct reading *r = calloc(1, sizeof(*r));

	strcpy(r->nic, "via_eth0");
	r->vi = vi;
	/* The last one is 0, and more than a line has room for are not. */
	for (r->n = 0; r->n < 8; r->n++) {
		snprintf(r->counter[r->n].name, sizeof(r->counter[r->n].name),
			 "%s_counter_%u", prefix, r->n);
		r->counter[r->n].value = 7 - r->n;
	}
	all->of = realloc(all->of, (all->n + 1) * sizeof(*all->of));
	all->of[all->n++] = r;
}

void __wrap_counters_read(const char *what, bool vis, struct readings *all)
{
	(void)what;
	add(all, OF_NIC, "nic");
	if (vis)
		add(all, 2, "vi");
}
