// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <string.h>

#include "connect.h"
#include "msg.h"

struct vipl_conn *vipl_conn_get(VIP_CONN_HANDLE h)
{
	struct vipl_conn *conn = vipl_get(h, VIPL_CONN);

	if (conn && !vipl_is_live(conn, h)) {
		vipl_conn_put(conn);
		return NULL;
	}
	return conn;
}

void vipl_conn_put(struct vipl_conn *conn)
{
	struct vipl_nic *nic;

	if (!vipl_unref(&conn->obj))
		return;
	/* Not before: a stale handle may have found it half made. */
	nic = conn->obj.pub.nic;
	vipl_obj_free(&conn->obj, VIPL_CONN);
	vipl_nic_put(nic);
}

/* nic->lock held. */
void vipl_conn_kill(struct vipl_conn *conn)
{
	vipl_retract(&conn->obj);
	vipl_nic_disown(&conn->obj);
	vipl_conn_put(conn);
}

/* The request is answered: its handle ends, unless another thread was first. */
static void conn_end(struct vipl_conn *conn, VIP_CONN_HANDLE h)
{
	struct vipl_nic *nic = conn->obj.pub.nic;

	if (vipl_nic_lock(nic))
		return;
	if (vipl_is_live(conn, h))
		vipl_conn_kill(conn);
	vipl_nic_unlock(nic);
}

/*
 * Programs that know hardware addresses only have 6 bytes for each host: on a
 * NIC of IPv4 that is an address with two zeros behind it.
 */
static int is_padded(const struct vipl_nic *nic, uint32_t len,
		     const VIP_UINT8 *host)
{
	return nic->id.addr_len == 4 && len == 6 && !host[4] && !host[5];
}

int vipl_addr_in(const struct vipl_nic *nic, const VIP_NET_ADDRESS *a,
		 uint32_t min_len, struct vipl_addr *out)
{
	const VIP_UINT8 *bytes;
	uint32_t len;

	if (!a || a->HostAddressLen < min_len ||
	    a->DiscriminatorLen > nic->id.disc_len ||
	    a->DiscriminatorLen > VIPL_DISC_MAX)
		return -1;
	bytes = (const VIP_UINT8 *)a + offsetof(VIP_NET_ADDRESS, HostAddress);
	len = a->HostAddressLen;
	memset(out, 0, sizeof(*out));
	out->host_len = is_padded(nic, len, bytes) ? nic->id.addr_len : len;
	if (out->host_len && out->host_len != nic->id.addr_len)
		return -1;
	out->disc_len = a->DiscriminatorLen;
	memcpy(out->host, bytes, out->host_len);
	memcpy(out->disc, bytes + len, out->disc_len);
	return 0;
}

/* Exactly the lengths and the bytes, not one more: the buffer may end there. */
static void addr_out(const struct vipl_addr *a, VIP_NET_ADDRESS *out)
{
	VIP_UINT8 *bytes = (VIP_UINT8 *)out +
			   offsetof(VIP_NET_ADDRESS, HostAddress);

	out->HostAddressLen = a->host_len;
	out->DiscriminatorLen = a->disc_len;
	memcpy(bytes, a->host, a->host_len);
	memcpy(bytes + a->host_len, a->disc, a->disc_len);
}

static VIP_RETURN add_conn(struct vipl_nic *nic,
			   const struct vipl_request *req, VIP_CONN_HANDLE *out)
{
	struct vipl_conn *conn;

	if (vipl_nic_lock(nic))
		return VIP_INVALID_PARAMETER;
	conn = vipl_nic_new(nic, VIPL_CONN);
	if (!conn) {
		vipl_nic_unlock(nic);
		vipl_ops(&nic->obj)->conn_reject(nic, req->id, NULL);
		return VIP_ERROR_RESOURCE;
	}
	conn->id = req->id;
	memcpy(conn->client, req->remote.host, sizeof(conn->client));
	vipl_publish(&conn->obj, VIPL_CONN);
	*out = (VIP_CONN_HANDLE)vipl_obj_handle(&conn->obj, VIPL_CONN);
	vipl_nic_unlock(nic);
	return VIP_SUCCESS;
}

VIP_RETURN vipl_conn_wait(struct vipl_nic *nic, const VIP_NET_ADDRESS *local,
			  VIP_ULONG timeout, VIP_NET_ADDRESS *remote,
			  VIP_VI_ATTRIBUTES *attrs, struct vipl_private *priv,
			  VIP_CONN_HANDLE *out)
{
	struct vipl_request req;
	struct vipl_addr addr;
	VIP_RETURN r;

	if (!remote || !attrs || !out || vipl_addr_in(nic, local, 0, &addr))
		return VIP_INVALID_PARAMETER;
	memset(&req, 0, sizeof(req));
	r = vipl_ops(&nic->obj)->conn_wait(nic, &addr, timeout, &req);
	if (r == VIP_SUCCESS && !vipl_request_fits(nic, &req)) {
		vipl_ops(&nic->obj)->conn_reject(nic, req.id, NULL);
		r = VIP_ERROR_RESOURCE;
	}
	if (r == VIP_SUCCESS)
		r = add_conn(nic, &req, out);
	if (r != VIP_SUCCESS)
		return r;
	addr_out(&req.remote, remote);
	*attrs = req.attrs;
	if (priv)
		*priv = req.priv;
	return r;
}

static VIP_RETURN connect_wait(VIP_NIC_HANDLE NicHandle,
			       VIP_NET_ADDRESS *LocalAddr, VIP_ULONG Timeout,
			       VIP_NET_ADDRESS *RemoteAddr,
			       VIP_VI_ATTRIBUTES *RemoteViAttribs,
			       VIP_CONN_HANDLE *ConnHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r;

	if (!nic)
		return VIP_INVALID_PARAMETER;
	r = vipl_conn_wait(nic, LocalAddr, Timeout, RemoteAddr,
			   RemoteViAttribs, NULL, ConnHandle);
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS *LocalAddr,
			  VIP_ULONG Timeout, VIP_NET_ADDRESS *RemoteAddr,
			  VIP_VI_ATTRIBUTES *RemoteViAttribs,
			  VIP_CONN_HANDLE *ConnHandle)
{
	return VIPL_CALL(connect_wait(NicHandle, LocalAddr, Timeout, RemoteAddr,
				      RemoteViAttribs, ConnHandle));
}

void vipl_note_peer(struct vipl_vi *vi, const uint8_t *host,
		    uint8_t old[VIPL_ADDR_MAX])
{
	vipl_vi_get_peer(vi, old);
	vipl_vi_set_peer(vi, host);
}

VIP_RETURN vipl_noted(struct vipl_vi *vi, const uint8_t old[VIPL_ADDR_MAX],
		      VIP_RETURN r)
{
	if (r != VIP_SUCCESS)
		vipl_vi_set_peer(vi, old);
	return r;
}

void vipl_conn_reason(struct vipl_vi *vi, VIP_RETURN r)
{
	uint8_t peer[VIPL_ADDR_MAX];
	char text[VIPL_ADDR_TEXT];

	if (r == VIP_SUCCESS)
		return;
	vipl_vi_get_peer(vi, peer);
	vipl_addr_format(vi->obj.pub.nic, peer, text, sizeof(text));
	switch (r) {
	case VIP_TIMEOUT:
	case VIP_NOT_REACHABLE:
		vipl_reason(MSG_NO_ANSWER, text, VipExtReturnText(r));
		break;
	case VIP_NO_MATCH:
		vipl_reason(MSG_NO_SERVER, text);
		break;
	case VIP_REJECT:
		vipl_reason(MSG_REJECTED, text);
		break;
	case VIP_INVALID_MTU:
		vipl_reason(MSG_MTU_DIFFERS);
		break;
	case VIP_INVALID_RELIABILITY_LEVEL:
		vipl_reason(MSG_LEVEL_DIFFERS);
		break;
	default:
		break;
	}
}

/* An attempt of one VI, or its end. */
static void log_conn(struct vipl_vi *vi, const char *what, const uint8_t *host,
		     VIP_RETURN r)
{
	struct vipl_nic *nic = vi->obj.pub.nic;
	char text[VIPL_ADDR_TEXT] = "";

	if (!vipl_logs(VIPL_DEBUG))
		return;
	if (host)
		vipl_addr_format(nic, host, text, sizeof(text));
	vipl_log(VIPL_DEBUG, "%s: VI %p: %s%s: %s", nic->id.name,
		 (void *)vipl_obj_handle(&vi->obj, VIPL_VI), what, text,
		 VipExtReturnText(r));
}

VIP_RETURN vipl_conn_accept(struct vipl_conn *conn, VIP_CONN_HANDLE h,
			    VIP_VI_HANDLE vi_handle, vipl_accept *accept,
			    const struct vipl_private *priv)
{
	struct vipl_vi *vi = vipl_vi_get(vi_handle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint8_t old[VIPL_ADDR_MAX];
	int gone = 0;

	if (vi && vi->obj.pub.nic == conn->obj.pub.nic) {
		vipl_note_peer(vi, conn->client, old);
		r = accept(vi->obj.pub.nic, conn->id, vi, priv, &gone);
		vipl_noted(vi, old, r);
		log_conn(vi, "accepts ", conn->client, r);
	}
	if (gone)
		conn_end(conn, h);
	if (vi)
		vipl_vi_put(vi);
	return r;
}

static VIP_RETURN connect_accept(VIP_CONN_HANDLE ConnHandle,
				 VIP_VI_HANDLE ViHandle)
{
	struct vipl_conn *conn = vipl_conn_get(ConnHandle);
	VIP_RETURN r;

	if (!conn)
		return VIP_INVALID_PARAMETER;
	r = vipl_conn_accept(conn, ConnHandle, ViHandle,
			     vipl_ops(&conn->obj)->conn_accept, NULL);
	vipl_conn_put(conn);
	return r;
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle)
{
	return VIPL_CALL(connect_accept(ConnHandle, ViHandle));
}

VIP_RETURN vipl_conn_reject(struct vipl_conn *conn, VIP_CONN_HANDLE h,
			    const struct vipl_private *priv)
{
	VIP_RETURN r;

	r = vipl_ops(&conn->obj)->conn_reject(conn->obj.pub.nic, conn->id,
					      priv);
	conn_end(conn, h);
	return r;
}

static VIP_RETURN connect_reject(VIP_CONN_HANDLE ConnHandle)
{
	struct vipl_conn *conn = vipl_conn_get(ConnHandle);
	VIP_RETURN r;

	if (!conn)
		return VIP_INVALID_PARAMETER;
	r = vipl_conn_reject(conn, ConnHandle, NULL);
	vipl_conn_put(conn);
	return r;
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle)
{
	return VIPL_CALL(connect_reject(ConnHandle));
}

/* Both ends of an attempt. */
static int addrs_in(struct vipl_vi *vi, const VIP_NET_ADDRESS *l,
		    const VIP_NET_ADDRESS *r, struct vipl_addr *local,
		    struct vipl_addr *remote)
{
	const struct vipl_nic *nic = vi->obj.pub.nic;

	return vipl_addr_in(nic, l, 0, local) ||
	       vipl_addr_in(nic, r, nic->id.addr_len, remote) ? -1 : 0;
}

static VIP_RETURN connect_request(VIP_VI_HANDLE ViHandle,
				  VIP_NET_ADDRESS *LocalAddr,
				  VIP_NET_ADDRESS *RemoteAddr,
				  VIP_ULONG Timeout,
				  VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_addr local, remote;
	uint8_t old[VIPL_ADDR_MAX];
	VIP_VI_ATTRIBUTES attrs;

	if (!vi)
		return r;
	if (!Timeout || !RemoteViAttribs ||
	    addrs_in(vi, LocalAddr, RemoteAddr, &local, &remote))
		goto out;
	vipl_note_peer(vi, remote.host, old);
	r = vipl_ops(&vi->obj)->conn_request(vi, &local, &remote, Timeout,
					     &attrs);
	vipl_conn_reason(vi, r);
	vipl_noted(vi, old, r);
	log_conn(vi, "connects to ", remote.host, r);
	if (r == VIP_SUCCESS)
		*RemoteViAttribs = attrs;
out:
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle,
			     VIP_NET_ADDRESS *LocalAddr,
			     VIP_NET_ADDRESS *RemoteAddr, VIP_ULONG Timeout,
			     VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	return VIPL_CALL(connect_request(ViHandle, LocalAddr, RemoteAddr,
					 Timeout, RemoteViAttribs));
}

static VIP_RETURN disconnect_vi(VIP_VI_HANDLE ViHandle)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r;

	if (!vi)
		return VIP_INVALID_PARAMETER;
	r = vipl_ops(&vi->obj)->disconnect(vi);
	log_conn(vi, "disconnects", NULL, r);
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle)
{
	return VIPL_CALL(disconnect_vi(ViHandle));
}

static VIP_RETURN connect_peer_request(VIP_VI_HANDLE ViHandle,
				       VIP_NET_ADDRESS *LocalAddr,
				       VIP_NET_ADDRESS *RemoteAddr,
				       VIP_ULONG Timeout)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_addr local, remote;
	uint8_t old[VIPL_ADDR_MAX];

	if (!vi)
		return r;
	if (Timeout && !addrs_in(vi, LocalAddr, RemoteAddr, &local, &remote)) {
		vipl_note_peer(vi, remote.host, old);
		r = vipl_ops(&vi->obj)->peer_request(vi, &local, &remote,
						     Timeout);
		vipl_noted(vi, old, r);
	}
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle,
				 VIP_NET_ADDRESS *LocalAddr,
				 VIP_NET_ADDRESS *RemoteAddr,
				 VIP_ULONG Timeout)
{
	return VIPL_CALL(connect_peer_request(ViHandle, LocalAddr, RemoteAddr,
					      Timeout));
}

/* The verdict of the peer request; with wait not before there is one. */
static VIP_RETURN peer_result(VIP_VI_HANDLE h, VIP_VI_ATTRIBUTES *out,
			      int wait)
{
	struct vipl_vi *vi = vipl_vi_get(h);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	VIP_VI_ATTRIBUTES attrs;

	if (!vi)
		return r;
	if (out) {
		r = vipl_ops(&vi->obj)->peer_result(vi, wait, &attrs);
		vipl_conn_reason(vi, r);
	}
	/* Nothing else writes to it: programs reuse the buffer. */
	if (r == VIP_SUCCESS)
		*out = attrs;
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	return VIPL_CALL(peer_result(ViHandle, RemoteViAttribs, 0));
}

VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	return VIPL_CALL(peer_result(ViHandle, RemoteViAttribs, 1));
}
