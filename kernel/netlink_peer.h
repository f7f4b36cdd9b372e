/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the sources of the netlink family know of each other.  What
 * functions return: see via_ka.h.
 */
#ifndef _VIA_NETLINK_PEER_H
#define _VIA_NETLINK_PEER_H

#include <net/genetlink.h>
#include <net/netlink.h>
#include "netlink.h"

/* The place of each in groups[]. */
enum via_nl_group {
	VIA_NL_GROUP_OF_NICS,
	VIA_NL_GROUP_OF_PEERS
};

/* netlink_msg.c, for those that have commands. */

extern struct genl_family via_nl_family;

/*
 * The NIC that the attributes name in the namespace, with a reference; or
 * ERR_PTR().  May sleep.
 */
struct via_nic *via_nl_nic(const struct net *net, struct nlattr **attrs,
			   struct netlink_ext_ack *extack);
/* Put its name and index; -EMSGSIZE. */
int via_nl_put_nic(struct sk_buff *skb, const struct via_nic *nic);
/* Say why; returns @err. */
int via_nl_refuse(struct netlink_ext_ack *extack, enum via_refusal why,
		  int err);
/*
 * Send to those who listen in the NIC's namespace.  Consumes the message.  Any
 * context.
 */
void via_nl_tell(const struct via_nic *nic, struct sk_buff *skb,
		 enum via_nl_group group);

/* For netlink.c: what is said about hosts. */

/* All that there may be in a message: peer_set parses it. */
extern const struct nla_policy via_nl_any_policy[VIA_NL_A_MAX + 1];
extern const struct nla_policy via_nl_peers_del_policy[VIA_NL_A_MAX + 1];
extern const struct nla_policy via_nl_peers_get_policy[VIA_NL_A_MAX + 1];

int via_nl_peer_set(struct sk_buff *skb, struct genl_info *info);
int via_nl_peer_del(struct sk_buff *skb, struct genl_info *info);
int via_nl_peer_dump_start(struct netlink_callback *cb);
int via_nl_peer_dump(struct sk_buff *skb, struct netlink_callback *cb);
int via_nl_peer_dump_done(struct netlink_callback *cb);

#endif
