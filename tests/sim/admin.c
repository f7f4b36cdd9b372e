// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The administrator: in the place of kernel/netlink.c and netlink_peer.c, whose
 * calls of the agent and of devices it makes, without messages.
 */
#include <stdio.h>
#include "../../devices/ether/vi.h"
#include "../../kernel/netlink.h"
#include "../../kernel/nic.h"
#include "../../kernel/policy.h"
#include "../../kernel/quota.h"
#include "host.h"

#define HOSTS_MAX 64

void sim_limit(const char *name, u64 most)
{
	enum via_quota_kind i;

	for (i = 0; i < VIA_QUOTAS; i++) {
		if (strcmp(via_quota_name(i), name))
			continue;
		via_quota_set_most(i, most);
		/* The command has returned before others hear of it. */
		smp_mb();
		return;
	}
	sim_fail("no limit %s", name);
}

int via_netlink_init(void)
{
	return 0;
}

void via_netlink_exit(void)
{
}

void via_netlink_nic(struct via_nic *nic, enum via_nl_cmd cmd)
{
}

/* Nothing listens; the event must be one of a host, though. */
void via_nic_peer_event(struct via_nic *nic, const u8 *addr,
			enum via_nl_peer_event event)
{
	if (!is_valid_ether_addr(addr))
		sim_fail("an event of no host");
}

void via_attach_register(struct via_attach_ops *ops)
{
}

void via_attach_unregister(struct via_attach_ops *ops)
{
}

/* "MAC", "MAC key=DIGITS" or "MAC key=none", each followed by white space. */
static u32 parse(const char *text, struct via_peer_rule *rule)
{
	char word[80];
	u32 n = 0;
	int len;

	for (; sscanf(text, "%79s%n", word, &len) == 1; text += len) {
		if (strncmp(word, "key=", 4)) {
			memset(&rule[n], 0, sizeof(rule[n]));
			if (n == HOSTS_MAX || !mac_pton(word, rule[n].addr))
				sim_fail("no address: %s", word);
			n++;
		} else if (!strcmp(word, "key=none")) {
			rule[n - 1].key_is = VIA_PEER_KEY_NONE;
		} else {
			rule[n - 1].key_is = VIA_PEER_KEY_SET;
			if (hex2bin(rule[n - 1].key, word + 4, VIA_NL_KEY_LEN))
				sim_fail("no key: %s", word);
		}
	}
	explicit_bzero(word, sizeof(word));
	return n;
}

int sim_peers(const char *name, int how, const char *text)
{
	struct via_peer_rule rule[HOSTS_MAX];
	struct via_peers_edit edit = { .how = how, .rule = rule };
	enum via_refusal why = VIA_REFUSE_NONE;
	struct via_nic *nic = via_nic_find(sim_net, name, 0);
	int ret = -ENODEV, idx;

	if (!nic)
		return ret;
	edit.n = parse(text, rule);
	if (!mutex_trylock(&nic->admin_mutex)) {
		ret = -EBUSY;
	} else {
		if (via_nic_enter(nic, &idx)) {
			ret = via_policy_edit(nic, &edit, &why);
			via_nic_leave(nic, idx);
		}
		mutex_unlock(&nic->admin_mutex);
	}
	if (ret == -EINVAL && why == VIA_REFUSE_NONE)
		sim_fail("refused without a reason");
	explicit_bzero(rule, sizeof(rule));
	via_nic_put(nic);
	return ret;
}

int sim_peers_read(const char *name, char *buf)
{
	struct via_nic *nic = via_nic_find(sim_net, name, 0);
	struct via_peer_rule rule[2];
	struct via_peers_state of = {};
	u32 from = 0, i, n;
	int idx;

	*buf = '\0';
	if (!nic || !via_nic_enter(nic, &idx))
		return -ENODEV;
	do {
		n = nic->ops->peers_read(nic, from, rule, 2, &of);
		for (i = 0; i < n; i++)
			buf += sprintf(buf, "%02x:%02x:%02x:%02x:%02x:%02x%s\n",
				       rule[i].addr[0], rule[i].addr[1],
				       rule[i].addr[2], rule[i].addr[3],
				       rule[i].addr[4], rule[i].addr[5],
				       rule[i].key_is == VIA_PEER_KEY_SET ?
				       " key=set" : "");
		from += n;
	} while (n);
	via_nic_leave(nic, idx);
	via_nic_put(nic);
	if (from != of.n)
		sim_fail("%u hosts are told, %u counted", from, of.n);
	return of.listed;
}
