/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects of programs, as they are dumped: VIA_NL_CMD_RES_*. */
#ifndef _VIA_NETLINK_RES_H
#define _VIA_NETLINK_RES_H

struct netlink_callback;
struct sk_buff;

int via_nl_res_start(struct netlink_callback *cb);
int via_nl_res_dump(struct sk_buff *skb, struct netlink_callback *cb);
int via_nl_res_done(struct netlink_callback *cb);

#endif
