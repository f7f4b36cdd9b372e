/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_CONNECT_H
#define VIPL_CONNECT_H

#include "object.h"

/*
 * Take a program's address apart. Its discriminator follows the host address
 * at once, whatever the alignment. Returns 0, or -1 for lengths out of range.
 * min_len is 0 where the host is known anyway, as it is for a local address.
 */
int vipl_addr_in(const struct vipl_nic *nic, const VIP_NET_ADDRESS *a,
		 uint32_t min_len, struct vipl_addr *out);

/* VipConnectWait with private data, which may be NULL. */
VIP_RETURN vipl_conn_wait(struct vipl_nic *nic, const VIP_NET_ADDRESS *local,
			  VIP_ULONG timeout, VIP_NET_ADDRESS *remote,
			  VIP_VI_ATTRIBUTES *attrs, struct vipl_private *priv,
			  VIP_CONN_HANDLE *out);

/* The operation that accepts: conn_accept or conn_accept_start. */
typedef VIP_RETURN vipl_accept(struct vipl_nic *nic, uint32_t conn,
			       struct vipl_vi *vi,
			       const struct vipl_private *priv, int *gone);

/* A connection request by its handle, referenced, or NULL. */
struct vipl_conn *vipl_conn_get(VIP_CONN_HANDLE h);

VIP_RETURN vipl_conn_accept(struct vipl_conn *conn, VIP_CONN_HANDLE h,
			    VIP_VI_HANDLE vi, vipl_accept *accept,
			    const struct vipl_private *priv);
VIP_RETURN vipl_conn_reject(struct vipl_conn *conn, VIP_CONN_HANDLE h,
			    const struct vipl_private *priv);

/*
 * The peer of a VI is noted before an attempt, as the connection may be lost
 * before the call is back; an attempt that fails leaves what was noted before.
 */
void vipl_note_peer(struct vipl_vi *vi, const uint8_t *host,
		    uint8_t old[VIPL_ADDR_MAX]);
VIP_RETURN vipl_noted(struct vipl_vi *vi, const uint8_t old[VIPL_ADDR_MAX],
		      VIP_RETURN r);

/* The reason of a verdict on a connection with that peer, if it has one. */
void vipl_conn_reason(struct vipl_vi *vi, VIP_RETURN r);

#endif /* VIPL_CONNECT_H */
