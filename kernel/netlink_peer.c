// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The hosts that may talk to a NIC, and their keys, as an administrator sets
 * them.  Keys are wiped here on every way out: in the message, too, whatever is
 * wrong with it.  So genetlink lets any message pass, and it is parsed here.
 */

#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/sock.h>
#include "netlink_peer.h"
#include "nic.h"
#include "policy.h"

#define VIA_DENIED_EVERY	max(HZ / 10, 1)	/* jiffies between two events */
#define VIA_DUMP_AT_ONCE	8

static const struct nla_policy peer_policy[VIA_NL_PEER_A_MAX + 1] = {
	[VIA_NL_PEER_A_UNSPEC] = {
		.strict_start_type = VIA_NL_PEER_A_UNSPEC + 1,
	},
	[VIA_NL_PEER_A_ADDR] = NLA_POLICY_RANGE(NLA_BINARY, 1, VIA_ADDR_MAX),
	[VIA_NL_PEER_A_KEY] = NLA_POLICY_EXACT_LEN(VIA_NL_KEY_LEN),
	[VIA_NL_PEER_A_NO_KEY] = { .type = NLA_FLAG },
	[VIA_NL_PEER_A_PREFIX] = NLA_POLICY_MAX(NLA_U8, 8 * VIA_ADDR_MAX),
};

const struct nla_policy via_nl_any_policy[VIA_NL_A_MAX + 1];

static const struct nla_policy set_policy[VIA_NL_A_MAX + 1] = {
	[VIA_NL_A_UNSPEC] = { .strict_start_type = VIA_NL_A_UNSPEC + 1 },
	[VIA_NL_A_NIC] = { .type = NLA_NUL_STRING, .len = VIA_NL_NIC_MAX },
	[VIA_NL_A_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[VIA_NL_A_PEERS] = NLA_POLICY_NESTED_ARRAY(peer_policy),
	[VIA_NL_A_ONLY] = { .type = NLA_FLAG },
};

const struct nla_policy via_nl_peers_del_policy[VIA_NL_A_MAX + 1] = {
	[VIA_NL_A_UNSPEC] = { .strict_start_type = VIA_NL_A_UNSPEC + 1 },
	[VIA_NL_A_NIC] = { .type = NLA_NUL_STRING, .len = VIA_NL_NIC_MAX },
	[VIA_NL_A_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[VIA_NL_A_PEERS] = NLA_POLICY_NESTED_ARRAY(peer_policy),
};

const struct nla_policy via_nl_peers_get_policy[VIA_NL_A_MAX + 1] = {
	[VIA_NL_A_UNSPEC] = { .strict_start_type = VIA_NL_A_UNSPEC + 1 },
	[VIA_NL_A_NIC] = { .type = NLA_NUL_STRING, .len = VIA_NL_NIC_MAX },
	[VIA_NL_A_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* One host. */
static int parse_peer(const struct nlattr *nest, const struct via_nic *nic,
		      struct via_peer_rule *rule,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[VIA_NL_PEER_A_MAX + 1], *addr, *key;
	int ret;

	ret = nla_parse_nested(tb, VIA_NL_PEER_A_MAX, nest, peer_policy,
			       extack);
	if (ret)
		return ret;
	addr = tb[VIA_NL_PEER_A_ADDR];
	key = tb[VIA_NL_PEER_A_KEY];
	if (key) {
		memcpy(rule->key, nla_data(key), VIA_NL_KEY_LEN);
		rule->key_is = VIA_PEER_KEY_SET;
	} else if (tb[VIA_NL_PEER_A_NO_KEY]) {
		rule->key_is = VIA_PEER_KEY_NONE;
	}
	if (key && tb[VIA_NL_PEER_A_NO_KEY]) {
		NL_SET_ERR_MSG_ATTR(extack, key,
				    "a host has a key or has none, not both");
		return -EINVAL;
	}
	if (!addr) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a host without an address");
		return -EINVAL;
	}
	if (nla_len(addr) != nic->addr_len) {
		NL_SET_ERR_MSG_ATTR(extack, addr,
				    "the address is not as long as the NIC's");
		return -EINVAL;
	}
	memcpy(rule->addr, nla_data(addr), nla_len(addr));
	if (tb[VIA_NL_PEER_A_PREFIX]) {
		rule->prefix = true;
		rule->bits = nla_get_u8(tb[VIA_NL_PEER_A_PREFIX]);
	}
	return 0;
}

/* All hosts of a message: how many, or -errno. */
static int parse_peers(const struct nlattr *peers, const struct via_nic *nic,
		       struct via_peer_rule *rule,
		       struct netlink_ext_ack *extack)
{
	const struct nlattr *nest;
	int rem, ret, n = 0;

	nla_for_each_nested(nest, peers, rem) {
		ret = parse_peer(nest, nic, &rule[n++], extack);
		if (ret)
			return ret;
	}
	return n;
}

static u32 count_peers(const struct nlattr *peers)
{
	const struct nlattr *nest;
	u32 n = 0;
	int rem;

	nla_for_each_nested(nest, peers, rem)
		n++;
	return n;
}

/*
 * One change of a NIC at a time; others are told to come again, since they would
 * wait in front of all netlink families (netlink.c).  The device waits for
 * readers of its list: a NIC that is being unregistered waits for one change at
 * most, under RTNL, because the mutex is taken before the read side begins.
 */
static int edit_peers(struct via_nic *nic, const struct via_peers_edit *e,
		      struct netlink_ext_ack *extack)
{
	enum via_refusal why = VIA_REFUSE_NONE;
	int ret, idx;

	if (!mutex_trylock(&nic->admin_mutex)) {
		NL_SET_ERR_MSG(extack,
			       "another change of this list is under way");
		return -EBUSY;
	}
	ret = -ENODEV;
	if (via_nic_enter(nic, &idx)) {
		ret = -EOPNOTSUPP;
		if (nic->ops->peers_edit)
			ret = via_policy_edit(nic, e, &why);
		else
			NL_SET_ERR_MSG(extack,
				       "this VI NIC reaches no other host");
		via_nic_leave(nic, idx);
	} else {
		NL_SET_ERR_MSG(extack, "the VI NIC has gone");
	}
	mutex_unlock(&nic->admin_mutex);
	return via_nl_refuse(extack, why, ret);
}

static int change_peers(struct genl_info *info, struct via_peers_edit *e)
{
	const struct nlattr *peers = info->attrs[VIA_NL_A_PEERS];
	u32 room = peers ? count_peers(peers) : 0;
	struct via_peer_rule *rule = NULL;
	struct via_nic *nic;
	int ret = 0;

	nic = via_nl_nic(genl_info_net(info), info->attrs, info->extack);
	if (IS_ERR(nic))
		return PTR_ERR(nic);
	if (room) {
		rule = kvcalloc(room, sizeof(*rule), GFP_KERNEL);
		ret = rule ? parse_peers(peers, nic, rule, info->extack) :
			     -ENOMEM;
	}
	if (ret >= 0) {
		e->n = ret;
		e->rule = rule;
		ret = edit_peers(nic, e, info->extack);
	}
	if (rule)
		memzero_explicit(rule, room * sizeof(*rule));
	kvfree(rule);
	via_nic_put(nic);
	return ret;
}

static int set_peers(struct genl_info *info)
{
	struct via_peers_edit e = {
		.how = info->attrs[VIA_NL_A_ONLY] ? VIA_PEERS_ONLY :
						    VIA_PEERS_ADD,
	};

	if (e.how == VIA_PEERS_ADD && !info->attrs[VIA_NL_A_PEERS]) {
		NL_SET_ERR_MSG(info->extack, "the hosts to add are missing");
		return -EINVAL;
	}
	return change_peers(info, &e);
}

int via_nl_peer_set(struct sk_buff *skb, struct genl_info *info)
{
	int ret = genlmsg_parse(info->nlhdr, &via_nl_family, info->attrs,
				VIA_NL_A_MAX, set_policy, info->extack);

	if (!ret)
		ret = set_peers(info);
	/* An answer with an error has the message in it. */
	memzero_explicit(genlmsg_data(info->genlhdr),
			 genlmsg_len(info->genlhdr));
	return ret;
}

int via_nl_peer_del(struct sk_buff *skb, struct genl_info *info)
{
	struct via_peers_edit e = {
		.how = info->attrs[VIA_NL_A_PEERS] ? VIA_PEERS_DEL :
						     VIA_PEERS_ANY,
	};

	return change_peers(info, &e);
}

/* cb->args: [0] the NIC, a reference is held; [1] hosts told so far. */

int via_nl_peer_dump_start(struct netlink_callback *cb)
{
	struct via_nic *nic = via_nl_nic(sock_net(cb->skb->sk),
					 genl_info_dump(cb)->attrs, cb->extack);

	if (IS_ERR(nic))
		return PTR_ERR(nic);
	cb->args[0] = (long)nic;
	cb->args[1] = 0;
	return 0;
}

int via_nl_peer_dump_done(struct netlink_callback *cb)
{
	via_nic_put((struct via_nic *)cb->args[0]);
	return 0;
}

static int put_peer(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct via_nic *nic,
		    const struct via_peer_rule *rule)
{
	struct nlattr *nest;
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &via_nl_family, NLM_F_MULTI, VIA_NL_CMD_PEER_SET);
	if (!hdr)
		return -EMSGSIZE;
	nl_dump_check_consistent(cb, genlmsg_nlhdr(hdr));
	if (via_nl_put_nic(skb, nic))
		goto full;
	nest = nla_nest_start(skb, VIA_NL_A_PEER);
	if (!nest ||
	    nla_put(skb, VIA_NL_PEER_A_ADDR, nic->addr_len, rule->addr) ||
	    (rule->prefix &&
	     nla_put_u8(skb, VIA_NL_PEER_A_PREFIX, rule->bits)) ||
	    (rule->key_is == VIA_PEER_KEY_SET &&
	     nla_put_flag(skb, VIA_NL_PEER_A_KEYED)))
		goto full;
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;
full:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

/* The next ones of the list: how many, 0 if there are none. */
static u32 read_peers(struct via_nic *nic, struct netlink_callback *cb,
		      struct via_peer_rule *rule)
{
	struct via_peers_state of = {};
	u32 n = 0;
	int idx;

	if (!via_nic_enter(nic, &idx))
		return 0;
	if (nic->ops->peers_read)
		n = nic->ops->peers_read(nic, cb->args[1], rule,
					 VIA_DUMP_AT_ONCE, &of);
	via_nic_leave(nic, idx);
	/* 0 is none. */
	cb->seq = of.seq + 1;
	return n;
}

int via_nl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct via_peer_rule rule[VIA_DUMP_AT_ONCE];
	struct via_nic *nic = (struct via_nic *)cb->args[0];
	u32 i, n;

	do {
		n = read_peers(nic, cb, rule);
		for (i = 0; i < n; i++, cb->args[1]++)
			if (put_peer(skb, cb, nic, &rule[i]))
				return skb->len ?: -EMSGSIZE;
	} while (n);
	return skb->len;
}

/* Whether it is time for such an event: a wire makes as many as it likes. */
static bool may_deny(struct via_nic *nic)
{
	unsigned long now = jiffies, last = READ_ONCE(nic->denied_at);

	return time_after_eq(now, last + VIA_DENIED_EVERY) &&
	       cmpxchg(&nic->denied_at, last, now) == last;
}

void via_nic_peer_event(struct via_nic *nic, const u8 *addr,
			enum via_nl_peer_event event)
{
	struct sk_buff *skb;
	void *hdr;

	if (likely(!genl_has_listeners(&via_nl_family,
				       (struct net *)nic->netns,
				       VIA_NL_GROUP_OF_PEERS)))
		return;
	if (event == VIA_NL_PEER_DENIED && !may_deny(nic))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &via_nl_family, 0,
			  VIA_NL_CMD_PEER_EVENT);
	if (hdr && !via_nl_put_nic(skb, nic) &&
	    !nla_put_u32(skb, VIA_NL_A_EVENT, event) &&
	    !nla_put(skb, VIA_NL_A_ADDR, nic->addr_len, addr)) {
		genlmsg_end(skb, hdr);
		via_nl_tell(nic, skb, VIA_NL_GROUP_OF_PEERS);
	} else {
		nlmsg_free(skb);
	}
}
EXPORT_SYMBOL_GPL(via_nic_peer_event);
