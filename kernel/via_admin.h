/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a VI device module sees of an administrator's commands.  Part of via_ka.h,
 * which has "Locking", "Calls into the device" and what functions return.
 */
#ifndef _VIA_ADMIN_H
#define _VIA_ADMIN_H

#include <linux/list.h>
#include <linux/types.h>
#include "../include/uapi/via.h"
#include "../include/uapi/via_netlink.h"

struct module;
struct net;
struct via_nic;

/**
 * enum via_refusal - why an administrator's call was refused
 *
 * The agent has the words: those of a module may go before they are read.
 */
enum via_refusal {
	VIA_REFUSE_NONE,
	VIA_REFUSE_NO_INTERFACE,	/* none with that index */
	VIA_REFUSE_KIND,		/* cannot be a VI NIC */
	VIA_REFUSE_ATTACHED,		/* is one already */
	VIA_REFUSE_OWN_DRIVER,		/* is one by its own driver */
	VIA_REFUSE_ADDR,		/* not the address of one host */
	VIA_REFUSE_TWICE,		/* the same address twice */
	VIA_REFUSE_MANY,		/* more hosts than a list has */
	VIA_REFUSE_NO_LIST,		/* all hosts may talk to the NIC */
	VIA_REFUSE_NOT_LISTED,		/* the host is not on the list */
	VIA_REFUSE_PREFIX,		/* no such prefix on this network */
	VIA_REFUSE_PREFIX_KEY,		/* a key is of one host */
	VIA_REFUSE_NEEDS_ADDR,		/* an address of IPv4 or IPv6 */
	VIA_REFUSE_NOT_OURS,		/* no address of this host */
	VIA_REFUSE_PORT,		/* the port is in use */
	VIA_REFUSE_SHAPE,		/* of IPv4 only */
	VIA_REFUSE_LISTS,		/* the namespace has too many lists */
	VIA_REFUSALS
};

enum via_peer_key_is {
	VIA_PEER_KEY_KEEP,		/* as it is; a new host has none */
	VIA_PEER_KEY_SET,
	VIA_PEER_KEY_NONE
};

/**
 * struct via_peer_rule - a host that may talk to a NIC
 * @addr:	nic->addr_len bytes
 * @prefix:	it is for all hosts whose addresses begin as @addr does
 * @bits:	with @prefix: so many are alike
 * @key_is:	in what peers_read() tells: VIA_PEER_KEY_SET or _NONE
 * @key:	with VIA_PEER_KEY_SET; told to the agent only
 */
struct via_peer_rule {
	u8 addr[VIA_ADDR_MAX];
	bool prefix;
	u8 bits;
	enum via_peer_key_is key_is;
	u8 key[VIA_NL_KEY_LEN];
};

/**
 * struct via_peers_edit - a change of the list of hosts of a NIC
 * @how:	ADD to the list, which begins with them; DEL from it; ONLY these
 *		are the list; ANY: no list, all hosts may talk to the NIC
 * @n:		hosts
 * @rule:	the hosts
 */
struct via_peers_edit {
	enum {
		VIA_PEERS_ADD,
		VIA_PEERS_DEL,
		VIA_PEERS_ONLY,
		VIA_PEERS_ANY
	} how;
	u32 n;
	const struct via_peer_rule *rule;
};

/**
 * struct via_peers_state - a list of hosts
 * @listed:	there is one; else all hosts may talk to the NIC
 * @n:		hosts on it
 * @seq:	another one after each change
 * @keys:	the caller's: keys are told, too
 */
struct via_peers_state {
	bool keys;
	bool listed;
	u32 n;
	u32 seq;
};

/*
 * Told to an administrator that listens: something has happened with a host of
 * nic->addr_len bytes.  Any context, while the device may not be gone.
 */
void via_nic_peer_event(struct via_nic *nic, const u8 *addr,
			enum via_nl_peer_event event);

/**
 * struct via_attach_to - what is to become a VI NIC
 * @ifindex:	an interface; 0: none is named
 * @addr_len:	bytes of @addr; 0: no address is named
 * @addr:	of this host
 * @port:	with an address; 0: the usual one
 * @shape:	likewise: VIA_NL_SHAPE_*
 */
struct via_attach_to {
	u32 ifindex;
	u32 addr_len;
	u8 addr[VIA_ADDR_MAX];
	u16 port;
	u32 shape;
};

/**
 * struct via_attach_ops - makes interfaces VI NICs, on an administrator's word
 * @owner:	the module; its name is that of the driver
 * @addresses:	it takes addresses, and an interface besides; else interfaces
 * @attach:	the interface or the address, in that network namespace, becomes
 *		a VI NIC; may sleep, and takes RTNL.  0, or -errno with @why
 * @detach:	undo it, likewise; -ENODEV: it is none of this module's.  @nic
 *		may be gone: only what is constant in it is looked at
 * @link:	the agent's
 */
struct via_attach_ops {
	struct module *owner;
	bool addresses;
	int (*attach)(struct net *net, const struct via_attach_to *to,
		      enum via_refusal *why);
	int (*detach)(struct net *net, const struct via_nic *nic,
		      enum via_refusal *why);
	struct list_head link;
};

/*
 * From the end of module init to the beginning of module exit: a reference to
 * the module is held while an operation runs.
 */
void via_attach_register(struct via_attach_ops *ops);
void via_attach_unregister(struct via_attach_ops *ops);

#endif /* _VIA_ADMIN_H */
