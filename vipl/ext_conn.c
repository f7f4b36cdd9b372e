// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections without blocking, and with private data. */
#include <string.h>

#include "connect.h"
#include "ext.h"
#include "msg.h"

/* A NIC does not do what it does not claim, whatever operations there are. */
static int has_feature(const struct vipl_nic *nic, uint64_t feature)
{
	return !!(nic->id.features & feature);
}

/*
 * A program's private data. Returns 0, or what the call returns: what the
 * provider cannot carry is not dropped.
 */
static VIP_RETURN private_in(const struct vipl_nic *nic, const void *data,
			     VIP_ULONG len, struct vipl_private *out)
{
	if (len > VIPL_PRIVATE_MAX || (len && !data))
		return VIP_INVALID_PARAMETER;
	if (len && !has_feature(nic, VIP_FEATURE_PRIVATE))
		return VIP_ERROR_NOT_SUPPORTED;
	/* All of it: a provider may send it as it is. */
	memset(out, 0, sizeof(*out));
	out->len = (uint32_t)len;
	if (len)
		memcpy(out->data, data, len);
	return VIP_SUCCESS;
}

static void private_out(const struct vipl_private *p, void *data,
			VIP_ULONG *len)
{
	VIP_ULONG n = p->len <= VIPL_PRIVATE_MAX ? p->len : VIPL_PRIVATE_MAX;

	if (!data)
		return;
	if (n > *len)
		n = *len;
	memcpy(data, p->data, n);
	*len = n;
}

static VIP_RETURN ext_connect_listen(VIP_NIC_HANDLE NicHandle,
				     VIP_NET_ADDRESS *LocalAddr,
				     VIP_ULONG Backlog)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint32_t backlog = Backlog > UINT32_MAX ? UINT32_MAX : (uint32_t)Backlog;
	struct vipl_addr local;

	if (!nic)
		return r;
	if (!has_feature(nic, VIP_FEATURE_LISTEN))
		r = VIP_ERROR_NOT_SUPPORTED;
	else if (!vipl_addr_in(nic, LocalAddr, 0, &local))
		r = vipl_ops(&nic->obj)->conn_listen(nic, &local, backlog);
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipExtConnectListen(VIP_NIC_HANDLE NicHandle,
			       VIP_NET_ADDRESS *LocalAddr, VIP_ULONG Backlog)
{
	return VIPL_CALL(ext_connect_listen(NicHandle, LocalAddr, Backlog));
}

static VIP_RETURN ext_connect_wait(VIP_NIC_HANDLE NicHandle,
				   VIP_NET_ADDRESS *LocalAddr,
				   VIP_ULONG Timeout,
				   VIP_NET_ADDRESS *RemoteAddr,
				   VIP_VI_ATTRIBUTES *RemoteViAttribs,
				   VIP_PVOID Private, VIP_ULONG *PrivateLen,
				   VIP_CONN_HANDLE *ConnHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_private priv;

	if (!nic)
		return r;
	if (!Private || PrivateLen)
		r = vipl_conn_wait(nic, LocalAddr, Timeout, RemoteAddr,
				   RemoteViAttribs, &priv, ConnHandle);
	if (r == VIP_SUCCESS)
		private_out(&priv, Private, PrivateLen);
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipExtConnectWait(VIP_NIC_HANDLE NicHandle,
			     VIP_NET_ADDRESS *LocalAddr, VIP_ULONG Timeout,
			     VIP_NET_ADDRESS *RemoteAddr,
			     VIP_VI_ATTRIBUTES *RemoteViAttribs,
			     VIP_PVOID Private, VIP_ULONG *PrivateLen,
			     VIP_CONN_HANDLE *ConnHandle)
{
	return VIPL_CALL(ext_connect_wait(NicHandle, LocalAddr, Timeout,
					  RemoteAddr, RemoteViAttribs, Private,
					  PrivateLen, ConnHandle));
}

static VIP_RETURN ext_connect_request(VIP_VI_HANDLE ViHandle,
				      VIP_NET_ADDRESS *LocalAddr,
				      VIP_NET_ADDRESS *RemoteAddr,
				      VIP_ULONG Timeout, const void *Private,
				      VIP_ULONG PrivateLen)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_addr local, remote;
	uint8_t old[VIPL_ADDR_MAX];
	struct vipl_private priv;
	struct vipl_nic *nic;

	if (!vi)
		return r;
	nic = vi->obj.pub.nic;
	if (!has_feature(nic, VIP_FEATURE_NONBLOCKING)) {
		r = VIP_ERROR_NOT_SUPPORTED;
		goto out;
	}
	if (!Timeout || vipl_addr_in(nic, LocalAddr, 0, &local) ||
	    vipl_addr_in(nic, RemoteAddr, nic->id.addr_len, &remote))
		goto out;
	r = private_in(nic, Private, PrivateLen, &priv);
	if (r != VIP_SUCCESS)
		goto out;
	vipl_note_peer(vi, remote.host, old);
	r = vipl_ops(&vi->obj)->conn_request_start(vi, &local, &remote,
						   Timeout, &priv);
	vipl_noted(vi, old, r);
out:
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipExtConnectRequest(VIP_VI_HANDLE ViHandle,
				VIP_NET_ADDRESS *LocalAddr,
				VIP_NET_ADDRESS *RemoteAddr, VIP_ULONG Timeout,
				const void *Private, VIP_ULONG PrivateLen)
{
	return VIPL_CALL(ext_connect_request(ViHandle, LocalAddr, RemoteAddr,
					     Timeout, Private, PrivateLen));
}

static VIP_RETURN ext_connect_accept(VIP_CONN_HANDLE ConnHandle,
				     VIP_VI_HANDLE ViHandle,
				     const void *Private, VIP_ULONG PrivateLen)
{
	struct vipl_conn *conn = vipl_conn_get(ConnHandle);
	struct vipl_private priv;
	VIP_RETURN r;

	if (!conn)
		return VIP_INVALID_PARAMETER;
	r = VIP_ERROR_NOT_SUPPORTED;
	if (has_feature(conn->obj.pub.nic, VIP_FEATURE_NONBLOCKING))
		r = private_in(conn->obj.pub.nic, Private, PrivateLen, &priv);
	if (r == VIP_SUCCESS)
		r = vipl_conn_accept(conn, ConnHandle, ViHandle,
				     vipl_ops(&conn->obj)->conn_accept_start,
				     &priv);
	vipl_conn_put(conn);
	return r;
}

VIP_RETURN VipExtConnectAccept(VIP_CONN_HANDLE ConnHandle,
			       VIP_VI_HANDLE ViHandle,
			       const void *Private, VIP_ULONG PrivateLen)
{
	return VIPL_CALL(ext_connect_accept(ConnHandle, ViHandle, Private,
					    PrivateLen));
}

static VIP_RETURN ext_connect_reject(VIP_CONN_HANDLE ConnHandle,
				     const void *Private, VIP_ULONG PrivateLen)
{
	struct vipl_conn *conn = vipl_conn_get(ConnHandle);
	struct vipl_private priv;
	VIP_RETURN r;

	if (!conn)
		return VIP_INVALID_PARAMETER;
	r = private_in(conn->obj.pub.nic, Private, PrivateLen, &priv);
	if (r == VIP_SUCCESS)
		r = vipl_conn_reject(conn, ConnHandle, &priv);
	vipl_conn_put(conn);
	return r;
}

VIP_RETURN VipExtConnectReject(VIP_CONN_HANDLE ConnHandle,
			       const void *Private, VIP_ULONG PrivateLen)
{
	return VIPL_CALL(ext_connect_reject(ConnHandle, Private, PrivateLen));
}

static VIP_RETURN ext_connect_done(VIP_VI_HANDLE ViHandle,
				   VIP_VI_ATTRIBUTES *RemoteViAttribs,
				   VIP_PVOID Private, VIP_ULONG *PrivateLen)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	struct vipl_private priv = { .len = 0 };
	VIP_VI_ATTRIBUTES attrs = { 0 };
	VIP_RETURN r;

	if (!vi)
		return VIP_INVALID_PARAMETER;
	if (Private && !PrivateLen) {
		vipl_vi_put(vi);
		return VIP_INVALID_PARAMETER;
	}
	r = VIP_ERROR_NOT_SUPPORTED;
	if (has_feature(vi->obj.pub.nic, VIP_FEATURE_NONBLOCKING))
		r = vipl_ops(&vi->obj)->conn_result(vi, &attrs, &priv);
	vipl_conn_reason(vi, r);
	vipl_vi_put(vi);
	if (r == VIP_SUCCESS && RemoteViAttribs)
		*RemoteViAttribs = attrs;
	if (r == VIP_SUCCESS || r == VIP_REJECT)
		private_out(&priv, Private, PrivateLen);
	return r;
}

VIP_RETURN VipExtConnectDone(VIP_VI_HANDLE ViHandle,
			     VIP_VI_ATTRIBUTES *RemoteViAttribs,
			     VIP_PVOID Private, VIP_ULONG *PrivateLen)
{
	return VIPL_CALL(ext_connect_done(ViHandle, RemoteViAttribs, Private,
					  PrivateLen));
}
