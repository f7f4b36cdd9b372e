/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* VIs of net.h: creation, connection, descriptors. */
#ifndef DSM_LINK_H
#define DSM_LINK_H

#include "net.h"

void link_post_send(struct net *n, struct net_link *l, struct net_slot *s);
void link_post_recv(struct net *n, struct net_link *l, struct net_slot *s);
void link_post_read(struct net *n, struct net_link *l, struct net_read *f);

/* A VI whose receive is flushed to make a completion: VipDisconnect() does that
 * where there is no connection. The completion was taken: there can be another.
 */
void link_post_rouser(struct net *n);
void link_flush_rouser(struct net *n);

/* A VI with its receives; then it is connected with another node. */
void link_make(struct net *n, struct net_link *l);
void link_connect(struct net *n, const struct net_place *place,
		  unsigned int other);

/* MSG_HELLO: where this node's memory is, or the other one's. */
void link_greet(struct net *n, struct dsm_parcel *to);
void link_greeted(struct net *n, struct net_link *l, const struct dsm_msg *m);

#endif
