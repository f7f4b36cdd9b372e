// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the commands of the netlink family have in common: the family, without
 * its commands (netlink.c), the NIC that a message names, reasons for a refusal.
 */

#include <linux/module.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include "netlink_peer.h"
#include "nic.h"

static const struct genl_multicast_group groups[] = {
	[VIA_NL_GROUP_OF_NICS] = { .name = VIA_NL_GROUP_NIC },
	[VIA_NL_GROUP_OF_PEERS] = { .name = VIA_NL_GROUP_PEER,
				    .flags = GENL_MCAST_CAP_NET_ADMIN },
};

struct genl_family via_nl_family __ro_after_init = {
	.name	      = VIA_NL_NAME,
	.version      = VIA_NL_VERSION,
	.netnsok      = true,
	.parallel_ops = true,
	.module	      = THIS_MODULE,
	.mcgrps	      = groups,
	.n_mcgrps     = ARRAY_SIZE(groups),
	/* Only operations below it may validate less: peer_set does. */
	.resv_start_op = VIA_NL_CMD_PEER_SET + 1,
};

int via_nl_refuse(struct netlink_ext_ack *extack, enum via_refusal why,
		  int err)
{
	static const char * const words[VIA_REFUSALS] = {
		[VIA_REFUSE_NO_INTERFACE] =
			"no such interface in this network namespace",
		[VIA_REFUSE_KIND] =
			"cannot be a VI NIC: no Ethernet address",
		[VIA_REFUSE_ATTACHED] = "the interface is a VI NIC already",
		[VIA_REFUSE_OWN_DRIVER] =
			"the interface is a VI NIC by its own driver",
		[VIA_REFUSE_ADDR] = "not the address of one host",
		[VIA_REFUSE_TWICE] = "the same address twice",
		[VIA_REFUSE_MANY] = "more hosts than a list may have",
		[VIA_REFUSE_NO_LIST] =
			"no list of hosts: all hosts may use it",
		[VIA_REFUSE_NOT_LISTED] = "a host that is not on the list",
		[VIA_REFUSE_PREFIX] =
			"no prefix of addresses of this NIC's network",
		[VIA_REFUSE_PREFIX_KEY] =
			"a key is of one host, not of a prefix",
		[VIA_REFUSE_NEEDS_ADDR] =
			"an address of IPv4 or IPv6 is to be named",
		[VIA_REFUSE_NOT_OURS] =
			"no address of this host in this namespace",
		[VIA_REFUSE_PORT] =
			"the port of this address is in use",
		[VIA_REFUSE_SHAPE] =
			"TCP's shape is of IPv4",
		[VIA_REFUSE_LISTS] =
			"too many lists in this network namespace",
	};

	if (err && why != VIA_REFUSE_NONE && extack)
		extack->_msg = words[why];
	return err;
}

struct via_nic *via_nl_nic(const struct net *net, struct nlattr **attrs,
			   struct netlink_ext_ack *extack)
{
	const struct nlattr *name = attrs[VIA_NL_A_NIC];
	const struct nlattr *index = attrs[VIA_NL_A_IFINDEX];
	struct via_nic *nic;

	if (!name == !index) {
		NL_SET_ERR_MSG(extack,
			       "give the VI NIC's name, or its interface");
		return ERR_PTR(-EINVAL);
	}
	nic = via_nic_find(net, name ? nla_data(name) : NULL,
			   index ? nla_get_u32(index) : 0);
	if (nic)
		return nic;
	NL_SET_ERR_MSG_ATTR(extack, name ?: index,
			    "no such VI NIC in this network namespace");
	return ERR_PTR(-ENODEV);
}

int via_nl_put_nic(struct sk_buff *skb, const struct via_nic *nic)
{
	if (nla_put_string(skb, VIA_NL_A_NIC, nic->name) ||
	    (nic->ifindex &&
	     nla_put_u32(skb, VIA_NL_A_IFINDEX, nic->ifindex)))
		return -EMSGSIZE;
	return 0;
}

void via_nl_tell(const struct via_nic *nic, struct sk_buff *skb,
		 enum via_nl_group group)
{
	/* There as long as the device says so: its interface is in it. */
	struct net *net = (struct net *)nic->netns;

	if (net)
		genlmsg_multicast_netns(&via_nl_family, net, skb, 0, group,
					GFP_ATOMIC);
	else
		genlmsg_multicast_allns(&via_nl_family, skb, 0, group);
}
