// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <string.h>

#include "provider.h"

static struct vipl_conn *conn_get(VIP_CONN_HANDLE h)
{
	struct vipl_conn *conn = vipl_get(h, VIPL_CONN);

	if (conn && !vipl_is(&conn->obj, h)) {
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
	nic = conn->obj.nic;
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
	struct vipl_nic *nic = conn->obj.nic;

	if (vipl_nic_lock(nic))
		return;
	if (vipl_is(&conn->obj, h))
		vipl_conn_kill(conn);
	vipl_nic_unlock(nic);
}

/*
 * Take a program's address apart. Its discriminator follows the host address
 * at once, whatever the alignment. Returns 0, or -1 for lengths out of range.
 * min_len is 0 where the host is known anyway, as it is for a local address.
 */
static int addr_in(const struct vipl_nic *nic, const VIP_NET_ADDRESS *a,
		   uint32_t min_len, struct vipl_addr *out)
{
	const VIP_UINT8 *bytes;

	if (!a || a->HostAddressLen < min_len ||
	    (a->HostAddressLen && a->HostAddressLen != nic->addr_len) ||
	    a->DiscriminatorLen > nic->limits.disc_len ||
	    a->DiscriminatorLen > VIPL_DISC_MAX)
		return -1;
	bytes = (const VIP_UINT8 *)a + offsetof(VIP_NET_ADDRESS, HostAddress);
	memset(out, 0, sizeof(*out));
	out->host_len = a->HostAddressLen;
	out->disc_len = a->DiscriminatorLen;
	memcpy(out->host, bytes, out->host_len);
	memcpy(out->disc, bytes + out->host_len, out->disc_len);
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
	conn = vipl_obj_alloc(VIPL_CONN);
	if (!conn) {
		vipl_nic_unlock(nic);
		vipl_ops(&nic->obj)->conn_reject(nic, req->id);
		return VIP_ERROR_RESOURCE;
	}
	conn->id = req->id;
	memcpy(conn->client, req->remote.host, sizeof(conn->client));
	vipl_nic_own(nic, &conn->obj, VIPL_CONN);
	vipl_publish(&conn->obj, VIPL_CONN);
	*out = (VIP_CONN_HANDLE)vipl_obj_handle(&conn->obj, VIPL_CONN);
	vipl_nic_unlock(nic);
	return VIP_SUCCESS;
}

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS *LocalAddr,
			  VIP_ULONG Timeout, VIP_NET_ADDRESS *RemoteAddr,
			  VIP_VI_ATTRIBUTES *RemoteViAttribs,
			  VIP_CONN_HANDLE *ConnHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_request req;
	struct vipl_addr local;

	if (!nic)
		return r;
	if (!RemoteAddr || !RemoteViAttribs || !ConnHandle ||
	    addr_in(nic, LocalAddr, 0, &local))
		goto out;
	r = vipl_ops(&nic->obj)->conn_wait(nic, &local, Timeout, &req);
	if (r == VIP_SUCCESS)
		r = add_conn(nic, &req, ConnHandle);
	if (r != VIP_SUCCESS)
		goto out;
	addr_out(&req.remote, RemoteAddr);
	*RemoteViAttribs = req.attrs;
out:
	vipl_nic_put(nic);
	return r;
}

/*
 * The peer is noted before the attempt, as the connection may be lost before
 * the call is back; an attempt that fails leaves what was noted before it.
 */
static void note_peer(struct vipl_vi *vi, const uint8_t *host,
		      uint8_t old[VIPL_ADDR_MAX])
{
	vipl_vi_get_peer(vi, old);
	vipl_vi_set_peer(vi, host);
}

static VIP_RETURN noted(struct vipl_vi *vi, const uint8_t old[VIPL_ADDR_MAX],
			VIP_RETURN r)
{
	if (r != VIP_SUCCESS)
		vipl_vi_set_peer(vi, old);
	return r;
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle)
{
	struct vipl_conn *conn = conn_get(ConnHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint8_t old[VIPL_ADDR_MAX];
	struct vipl_vi *vi;
	int gone = 0;

	if (!conn)
		return r;
	vi = vipl_vi_get(ViHandle);
	if (vi && vi->obj.nic == conn->obj.nic) {
		note_peer(vi, conn->client, old);
		r = vipl_ops(&vi->obj)->conn_accept(vi->obj.nic, conn->id, vi,
						    &gone);
		noted(vi, old, r);
	}
	if (gone)
		conn_end(conn, ConnHandle);
	if (vi)
		vipl_vi_put(vi);
	vipl_conn_put(conn);
	return r;
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle)
{
	struct vipl_conn *conn = conn_get(ConnHandle);
	VIP_RETURN r;

	if (!conn)
		return VIP_INVALID_PARAMETER;
	r = vipl_ops(&conn->obj)->conn_reject(conn->obj.nic, conn->id);
	conn_end(conn, ConnHandle);
	vipl_conn_put(conn);
	return r;
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle,
			     VIP_NET_ADDRESS *LocalAddr,
			     VIP_NET_ADDRESS *RemoteAddr, VIP_ULONG Timeout,
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
	    addr_in(vi->obj.nic, LocalAddr, 0, &local) ||
	    addr_in(vi->obj.nic, RemoteAddr, vi->obj.nic->addr_len,
		    &remote))
		goto out;
	note_peer(vi, remote.host, old);
	r = noted(vi, old, vipl_ops(&vi->obj)->conn_request(vi, &local, &remote,
							    Timeout, &attrs));
	if (r == VIP_SUCCESS)
		*RemoteViAttribs = attrs;
out:
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r;

	if (!vi)
		return VIP_INVALID_PARAMETER;
	r = vipl_ops(&vi->obj)->disconnect(vi);
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle,
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
	if (Timeout && !addr_in(vi->obj.nic, LocalAddr, 0, &local) &&
	    !addr_in(vi->obj.nic, RemoteAddr, vi->obj.nic->addr_len,
		     &remote)) {
		note_peer(vi, remote.host, old);
		r = noted(vi, old, vipl_ops(&vi->obj)->peer_request(vi, &local,
							&remote, Timeout));
	}
	vipl_vi_put(vi);
	return r;
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
	if (out)
		r = vipl_ops(&vi->obj)->peer_result(vi, wait, &attrs);
	/* Nothing else writes to it: programs reuse the buffer. */
	if (r == VIP_SUCCESS)
		*out = attrs;
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	return peer_result(ViHandle, RemoteViAttribs, 0);
}

VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *RemoteViAttribs)
{
	return peer_result(ViHandle, RemoteViAttribs, 1);
}
