// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Configuration by an administrator: the generic netlink family "via", its
 * NICs, attaching and limits.  netlink_peer.c has the hosts, netlink_res.c the
 * objects of programs.
 *
 * Locking: commands run in parallel, under the read side of genetlink's cb_lock.
 * A writer of that (any family that comes or goes) waits for them, and all
 * netlink families wait for it: so no command waits for what another
 * administrator's command holds (nic->admin_mutex is only tried), for a
 * program, or for the wire.  Attaching waits for RTNL, as other families do.
 */

#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "netlink_peer.h"
#include "netlink_res.h"
#include "nic.h"
#include "quota.h"

static DEFINE_MUTEX(via_attach_mutex);	/* guards the list */
static LIST_HEAD(via_attachers);

void via_attach_register(struct via_attach_ops *ops)
{
	mutex_lock(&via_attach_mutex);
	list_add_tail(&ops->link, &via_attachers);
	mutex_unlock(&via_attach_mutex);
}
EXPORT_SYMBOL_GPL(via_attach_register);

/* No call is under way: each holds a reference to the module. */
void via_attach_unregister(struct via_attach_ops *ops)
{
	mutex_lock(&via_attach_mutex);
	list_del(&ops->link);
	mutex_unlock(&via_attach_mutex);
}
EXPORT_SYMBOL_GPL(via_attach_unregister);

/*
 * Of that name, or (NULL) the first one that takes addresses, or interfaces,
 * with a reference to it; or NULL.
 */
static const struct via_attach_ops *via_attach_get(const char *name,
						   bool addresses)
{
	const struct via_attach_ops *found = NULL;
	struct via_attach_ops *ops;

	mutex_lock(&via_attach_mutex);
	list_for_each_entry(ops, &via_attachers, link) {
		if ((name ? strcmp(module_name(ops->owner), name) :
			    ops->addresses != addresses) ||
		    !try_module_get(ops->owner))
			continue;
		found = ops;
		break;
	}
	mutex_unlock(&via_attach_mutex);
	return found;
}

/* What its device knows.  The NIC may have gone: then nothing. */
static int put_device_part(struct sk_buff *skb, struct via_nic *nic)
{
	struct via_peers_state of = {};
	int ret = 0, idx;

	if (!via_nic_enter(nic, &idx))
		return 0;
	if (nic->ops->peers_read)
		nic->ops->peers_read(nic, 0, NULL, 0, &of);
	if (nla_put_string(skb, VIA_NL_A_DRIVER,
			   module_name(nic->ops->owner)) ||
	    (of.listed && nla_put_u32(skb, VIA_NL_A_LISTED, of.n)))
		ret = -EMSGSIZE;
	via_nic_leave(nic, idx);
	return ret;
}

static int put_nic(struct sk_buff *skb, struct via_nic *nic, u32 portid,
		   u32 seq, int flags, enum via_nl_cmd cmd)
{
	void *hdr = genlmsg_put(skb, portid, seq, &via_nl_family, flags, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (via_nl_put_nic(skb, nic) ||
	    nla_put_u32(skb, VIA_NL_A_TYPE, nic->type) ||
	    (nic->addr_len &&
	     nla_put(skb, VIA_NL_A_ADDR, nic->addr_len, nic->addr)) ||
	    nla_put_u32(skb, VIA_NL_A_MTU,
			READ_ONCE(nic->limits.native_mtu)) ||
	    nla_put_u32(skb, VIA_NL_A_VIS, READ_ONCE(nic->vi_count)) ||
	    (nic->port && nla_put_u16(skb, VIA_NL_A_PORT, nic->port)) ||
	    (nic->bound && nla_put_u32(skb, VIA_NL_A_BOUND, nic->bound)) ||
	    (nic->shape && nla_put_u32(skb, VIA_NL_A_SHAPE, nic->shape)) ||
	    (cmd == VIA_NL_CMD_NIC_NEW && put_device_part(skb, nic))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

void via_netlink_nic(struct via_nic *nic, enum via_nl_cmd cmd)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return;
	if (put_nic(skb, nic, 0, 0, 0, cmd))
		nlmsg_free(skb);
	else
		via_nl_tell(nic, skb, VIA_NL_GROUP_OF_NICS);
}

static int nic_get(struct sk_buff *skb, struct genl_info *info)
{
	struct via_nic *nic = via_nl_nic(genl_info_net(info), info->attrs,
					 info->extack);
	struct sk_buff *answer;
	int ret = -ENOMEM;

	if (IS_ERR(nic))
		return PTR_ERR(nic);
	answer = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (answer)
		ret = put_nic(answer, nic, info->snd_portid, info->snd_seq, 0,
			      VIA_NL_CMD_NIC_NEW);
	via_nic_put(nic);
	if (!ret)
		return genlmsg_reply(answer, info);
	nlmsg_free(answer);
	return ret;
}

/* cb->args[0]: the minor number to go on with. */
static int nic_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	int minor = cb->args[0], ret = 0;
	struct via_nic *nic;

	while (!ret) {
		nic = via_nic_from(sock_net(cb->skb->sk), &minor);
		if (!nic)
			break;
		ret = put_nic(skb, nic, NETLINK_CB(cb->skb).portid,
			      cb->nlh->nlmsg_seq, NLM_F_MULTI,
			      VIA_NL_CMD_NIC_NEW);
		via_nic_put(nic);
		if (!ret)
			cb->args[0] = ++minor;
	}
	return skb->len ?: ret;
}

static int attach_device(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *index = info->attrs[VIA_NL_A_IFINDEX];
	const struct nlattr *driver = info->attrs[VIA_NL_A_DRIVER];
	const struct nlattr *addr = info->attrs[VIA_NL_A_ADDR];
	const struct nlattr *port = info->attrs[VIA_NL_A_PORT];
	const struct nlattr *shape = info->attrs[VIA_NL_A_SHAPE];
	enum via_refusal why = VIA_REFUSE_NONE;
	const struct via_attach_ops *ops;
	struct via_attach_to to = {};
	int ret;

	if (!index && !addr) {
		NL_SET_ERR_MSG(info->extack,
			       "the interface or the address is missing");
		return -EINVAL;
	}
	if (index)
		to.ifindex = nla_get_u32(index);
	if (addr) {
		to.addr_len = nla_len(addr);
		memcpy(to.addr, nla_data(addr), to.addr_len);
	}
	if (port)
		to.port = nla_get_u16(port);
	if (shape)
		to.shape = nla_get_u32(shape);
	ops = via_attach_get(driver ? nla_data(driver) : NULL, addr);
	if (!ops) {
		if (driver)
			NL_SET_ERR_MSG(info->extack,
				       "no such module of VI NICs is loaded");
		else if (addr)
			NL_SET_ERR_MSG(info->extack,
				       "no module loaded: modprobe via_udp");
		else
			NL_SET_ERR_MSG(info->extack,
				       "no module loaded: modprobe via_netdev");
		return -EPROTONOSUPPORT;
	}
	if (addr && !ops->addresses) {
		NL_SET_ERR_MSG(info->extack,
			       "this module is for interfaces, not addresses");
		ret = -EINVAL;
	} else {
		ret = ops->attach(genl_info_net(info), &to, &why);
	}
	module_put(ops->owner);
	return via_nl_refuse(info->extack, why, ret);
}

/* The name of the module that has it, of MODULE_NAME_LEN bytes. */
static bool driver_of(struct via_nic *nic, char *name)
{
	int idx;

	if (!via_nic_enter(nic, &idx))
		return false;
	strscpy(name, module_name(nic->ops->owner), MODULE_NAME_LEN);
	via_nic_leave(nic, idx);
	return true;
}

static int detach_device(struct sk_buff *skb, struct genl_info *info)
{
	struct via_nic *nic = via_nl_nic(genl_info_net(info), info->attrs,
					 info->extack);
	const struct via_attach_ops *ops = NULL;
	enum via_refusal why = VIA_REFUSE_NONE;
	char name[MODULE_NAME_LEN];
	int ret;

	if (IS_ERR(nic))
		return PTR_ERR(nic);
	if (driver_of(nic, name))
		ops = via_attach_get(name, false);
	if (!ops) {
		via_nic_put(nic);
		NL_SET_ERR_MSG(info->extack,
			       "the VI NIC is its driver's: unload that");
		return -EOPNOTSUPP;
	}
	ret = ops->detach(genl_info_net(info), nic, &why);
	module_put(ops->owner);
	via_nic_put(nic);
	return via_nl_refuse(info->extack, why, ret);
}

/* cb->args[0]: the limit to go on with. */
static int limit_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	void *hdr;

	for (; cb->args[0] < VIA_QUOTAS; cb->args[0]++) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &via_nl_family,
				  NLM_F_MULTI, VIA_NL_CMD_LIMIT_SET);
		if (!hdr)
			break;
		if (nla_put_string(skb, VIA_NL_A_LIMIT_NAME,
				   via_quota_name(cb->args[0])) ||
		    nla_put_u64_64bit(skb, VIA_NL_A_LIMIT_VALUE,
				      via_quota_most(cb->args[0]),
				      VIA_NL_A_PAD)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	return skb->len;
}

static int limit_set(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *name = info->attrs[VIA_NL_A_LIMIT_NAME];
	const struct nlattr *value = info->attrs[VIA_NL_A_LIMIT_VALUE];
	enum via_quota_kind i;

	if (!name || !value) {
		NL_SET_ERR_MSG(info->extack,
			       "the limit's name or value is missing");
		return -EINVAL;
	}
	/* It is what lets a process pass the limits. */
	if (!netlink_capable(skb, CAP_SYS_RESOURCE)) {
		NL_SET_ERR_MSG(info->extack,
			       "needs CAP_SYS_RESOURCE of the host");
		return -EPERM;
	}
	for (i = 0; i < VIA_QUOTAS; i++) {
		if (strcmp(via_quota_name(i), nla_data(name)))
			continue;
		via_quota_set_most(i, nla_get_u64(value));
		return 0;
	}
	NL_SET_ERR_MSG_ATTR(info->extack, name, "no such limit");
	return -ENOENT;
}

static const struct nla_policy none_policy[VIA_NL_A_MAX + 1] = {
	[VIA_NL_A_UNSPEC] = { .strict_start_type = VIA_NL_A_UNSPEC + 1 },
};

static const struct nla_policy nic_policy[VIA_NL_A_MAX + 1] = {
	[VIA_NL_A_UNSPEC] = { .strict_start_type = VIA_NL_A_UNSPEC + 1 },
	[VIA_NL_A_NIC] = { .type = NLA_NUL_STRING, .len = VIA_NL_NIC_MAX },
	[VIA_NL_A_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy attach_policy[VIA_NL_A_MAX + 1] = {
	[VIA_NL_A_UNSPEC] = { .strict_start_type = VIA_NL_A_UNSPEC + 1 },
	[VIA_NL_A_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
	[VIA_NL_A_DRIVER] = { .type = NLA_NUL_STRING,
			      .len = VIA_NL_DRIVER_MAX },
	[VIA_NL_A_ADDR] = NLA_POLICY_RANGE(NLA_BINARY, 1, VIA_ADDR_MAX),
	[VIA_NL_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[VIA_NL_A_SHAPE] = NLA_POLICY_MAX(NLA_U32, VIA_NL_SHAPE_TCP),
};

static const struct nla_policy limit_policy[VIA_NL_A_MAX + 1] = {
	[VIA_NL_A_UNSPEC] = { .strict_start_type = VIA_NL_A_UNSPEC + 1 },
	[VIA_NL_A_LIMIT_NAME] = { .type = NLA_NUL_STRING,
				  .len = VIA_NL_LIMIT_MAX },
	[VIA_NL_A_LIMIT_VALUE] = { .type = NLA_U64 },
};

/* Who may see which is netlink_res.c's to say. */
#define VIA_NL_RES(command) {			\
		.cmd	 = command,		\
		.policy	 = nic_policy,		\
		.maxattr = VIA_NL_A_MAX,	\
		.start	 = via_nl_res_start,	\
		.dumpit	 = via_nl_res_dump,	\
		.done	 = via_nl_res_done,	\
	}

static const struct genl_ops ops[] = {
	{
		.cmd	 = VIA_NL_CMD_NIC_GET,
		.policy	 = nic_policy,
		.maxattr = VIA_NL_A_MAX,
		.doit	 = nic_get,
		.dumpit	 = nic_dump,
	}, {
		/* The first to come has a name, and minors are few: host only. */
		.cmd	 = VIA_NL_CMD_ATTACH,
		.flags	 = GENL_ADMIN_PERM,
		.policy	 = attach_policy,
		.maxattr = VIA_NL_A_MAX,
		.doit	 = attach_device,
	}, {
		.cmd	 = VIA_NL_CMD_DETACH,
		.flags	 = GENL_UNS_ADMIN_PERM,
		.policy	 = nic_policy,
		.maxattr = VIA_NL_A_MAX,
		.doit	 = detach_device,
	}, {
		.cmd	 = VIA_NL_CMD_PEER_GET,
		.flags	 = GENL_UNS_ADMIN_PERM,
		.policy	 = via_nl_peers_get_policy,
		.maxattr = VIA_NL_A_MAX,
		.start	 = via_nl_peer_dump_start,
		.dumpit	 = via_nl_peer_dump,
		.done	 = via_nl_peer_dump_done,
	}, {
		.cmd	 = VIA_NL_CMD_PEER_SET,
		.flags	 = GENL_UNS_ADMIN_PERM,
		.policy	 = via_nl_any_policy,
		.validate = GENL_DONT_VALIDATE_STRICT,
		.maxattr = VIA_NL_A_MAX,
		.doit	 = via_nl_peer_set,
	}, {
		.cmd	 = VIA_NL_CMD_PEER_DEL,
		.flags	 = GENL_UNS_ADMIN_PERM,
		.policy	 = via_nl_peers_del_policy,
		.maxattr = VIA_NL_A_MAX,
		.doit	 = via_nl_peer_del,
	}, {
		.cmd	 = VIA_NL_CMD_LIMIT_GET,
		.policy	 = none_policy,
		.maxattr = VIA_NL_A_MAX,
		.dumpit	 = limit_dump,
	}, {
		.cmd	 = VIA_NL_CMD_LIMIT_SET,
		.flags	 = GENL_ADMIN_PERM,
		.policy	 = limit_policy,
		.maxattr = VIA_NL_A_MAX,
		.doit	 = limit_set,
	},
	VIA_NL_RES(VIA_NL_CMD_RES_VI),
	VIA_NL_RES(VIA_NL_CMD_RES_MR),
	VIA_NL_RES(VIA_NL_CMD_RES_CQ),
	VIA_NL_RES(VIA_NL_CMD_RES_CONN),
};

int __init via_netlink_init(void)
{
	via_nl_family.ops = ops;
	via_nl_family.n_ops = ARRAY_SIZE(ops);
	return genl_register_family(&via_nl_family);
}

void via_netlink_exit(void)
{
	genl_unregister_family(&via_nl_family);
}
