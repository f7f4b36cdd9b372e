// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <string.h>

#include "../../vipl/timeout.h"
#include "ka.h"

static void to_kernel(const struct vipl_addr *a, struct via_net_addr *out)
{
	_Static_assert(sizeof(out->host) <= sizeof(a->host) &&
		       sizeof(out->disc) == sizeof(a->disc), "address sizes");
	memset(out, 0, sizeof(*out));
	out->host_len = a->host_len;
	out->disc_len = a->disc_len;
	memcpy(out->host, a->host, sizeof(out->host));
	memcpy(out->disc, a->disc, sizeof(out->disc));
}

static void from_kernel(const struct via_net_addr *a, struct vipl_addr *out)
{
	memset(out, 0, sizeof(*out));
	out->host_len = a->host_len <= sizeof(a->host) ? a->host_len :
							 sizeof(a->host);
	out->disc_len = a->disc_len <= sizeof(a->disc) ? a->disc_len :
							 sizeof(a->disc);
	memcpy(out->host, a->host, sizeof(a->host));
	memcpy(out->disc, a->disc, sizeof(out->disc));
}

VIP_RETURN ka_conn_wait(struct vipl_nic *nic, const struct vipl_addr *local,
			VIP_ULONG timeout, struct vipl_request *req)
{
	uint64_t deadline = timeout ? vipl_deadline(timeout) : 0;
	struct via_conn_wait arg = { 0 };
	int ret;

	to_kernel(local, &arg.local);
	do {
		/* After a signal arg.waiter names our place in the queue. */
		arg.timeout = deadline ? vipl_left(deadline) : 0;
		ret = ioctl(ka_nic_priv(nic)->fd, VIA_IOC_CONN_WAIT, &arg);
	} while (ret < 0 && errno == EINTR);
	if (ret)
		return ka_verdict(ret);
	req->id = arg.conn;
	from_kernel(&arg.remote, &req->remote);
	req->attrs = via_attrs_to_vip(&arg.attrs);
	return VIP_SUCCESS;
}

/* The verdict of what the VI has under way; flags say of which kind. */
static VIP_RETURN get_result(struct vipl_vi *vi, uint32_t flags,
			     VIP_VI_ATTRIBUTES *attrs)
{
	struct via_conn_result arg = {
		.vi = ka_vi_priv(vi)->q[0].id,
		.flags = flags,
	};
	VIP_RETURN r = ka_call(ka_nic_of(vi), VIA_IOC_CONN_RESULT, &arg);

	if (r == VIP_SUCCESS && attrs)
		*attrs = via_attrs_to_vip(&arg.attrs);
	return r;
}

static VIP_RETURN accept_only(struct vipl_nic *nic, uint32_t conn,
			      struct vipl_vi *vi, int *gone)
{
	struct via_conn_accept arg = {
		.conn = conn,
		.vi = ka_vi_priv(vi)->q[0].id,
	};
	VIP_RETURN r = ka_call(ka_nic_priv(nic), VIA_IOC_CONN_ACCEPT, &arg);

	/*
	 * The VI is there, or we would not have got here: what the kernel
	 * does not know is the request, because the client has given up.
	 */
	if (r == VIP_INVALID_PARAMETER)
		r = VIP_TIMEOUT;
	/* A conflict leaves the request alive, for another VI or a reject. */
	*gone = r == VIP_SUCCESS || r == VIP_TIMEOUT;
	return r;
}

VIP_RETURN ka_conn_accept(struct vipl_nic *nic, uint32_t conn,
			  struct vipl_vi *vi, const struct vipl_private *priv,
			  int *gone)
{
	VIP_RETURN r = accept_only(nic, conn, vi, gone);

	(void)priv;
	return r == VIP_SUCCESS ? get_result(vi, 0, NULL) : r;
}

VIP_RETURN ka_conn_reject(struct vipl_nic *nic, uint32_t conn,
			  const struct vipl_private *priv)
{
	struct via_conn_reject arg = { .conn = conn };
	VIP_RETURN r = ka_call(ka_nic_priv(nic), VIA_IOC_CONN_REJECT, &arg);

	(void)priv;
	/* A client that gave up meanwhile needs no answer. */
	return r == VIP_INVALID_PARAMETER ? VIP_SUCCESS : r;
}

static VIP_RETURN request_conn(struct vipl_vi *vi, unsigned long ioc,
			       const struct vipl_addr *local,
			       const struct vipl_addr *remote,
			       VIP_ULONG timeout)
{
	struct via_conn_request arg = {
		.vi = ka_vi_priv(vi)->q[0].id,
		.timeout = vipl_ns(timeout),
	};

	to_kernel(local, &arg.local);
	to_kernel(remote, &arg.remote);
	return ka_call(ka_nic_of(vi), ioc, &arg);
}

VIP_RETURN ka_conn_request(struct vipl_vi *vi, const struct vipl_addr *local,
			   const struct vipl_addr *remote, VIP_ULONG timeout,
			   VIP_VI_ATTRIBUTES *attrs)
{
	VIP_RETURN r = request_conn(vi, VIA_IOC_CONN_REQUEST, local, remote,
				    timeout);

	return r == VIP_SUCCESS ? get_result(vi, 0, attrs) : r;
}

VIP_RETURN ka_peer_request(struct vipl_vi *vi, const struct vipl_addr *local,
			   const struct vipl_addr *remote, VIP_ULONG timeout)
{
	return request_conn(vi, VIA_IOC_PEER_REQUEST, local, remote, timeout);
}

VIP_RETURN ka_peer_result(struct vipl_vi *vi, int wait,
			  VIP_VI_ATTRIBUTES *attrs)
{
	return get_result(vi, VIA_CONN_PEER | (wait ? 0 : VIA_CONN_NOWAIT),
			  attrs);
}

VIP_RETURN ka_disconnect(struct vipl_vi *vi)
{
	struct via_vi_arg arg = { .vi = ka_vi_priv(vi)->q[0].id };

	return ka_call(ka_nic_of(vi), VIA_IOC_DISCONNECT, &arg);
}

/*
 * Begun and not waited for. The kernel does not tell of verdicts: while there
 * is one to come event_wait says now and then that it is time to ask.
 */
static void note_started(struct vipl_vi *vi)
{
	struct ka_nic *nic = ka_nic_of(vi);

	if (!atomic_exchange(&ka_vi_priv(vi)->started, 1))
		atomic_fetch_add(&nic->starts, 1);
	ka_event_wake(vipl_nic_of(vi));
}

/* There is nothing to ask of it any more. */
void ka_conn_ended(struct vipl_vi *vi)
{
	if (atomic_exchange(&ka_vi_priv(vi)->started, 0))
		atomic_fetch_sub(&ka_nic_of(vi)->starts, 1);
}

VIP_RETURN ka_conn_request_start(struct vipl_vi *vi,
				 const struct vipl_addr *local,
				 const struct vipl_addr *remote,
				 VIP_ULONG timeout,
				 const struct vipl_private *priv)
{
	VIP_RETURN r = request_conn(vi, VIA_IOC_CONN_REQUEST, local, remote,
				    timeout);

	(void)priv;
	if (r == VIP_SUCCESS)
		note_started(vi);
	return r;
}

VIP_RETURN ka_conn_accept_start(struct vipl_nic *nic, uint32_t conn,
				struct vipl_vi *vi,
				const struct vipl_private *priv, int *gone)
{
	VIP_RETURN r = accept_only(nic, conn, vi, gone);

	(void)priv;
	if (r == VIP_SUCCESS)
		note_started(vi);
	return r;
}

VIP_RETURN ka_conn_result(struct vipl_vi *vi, VIP_VI_ATTRIBUTES *attrs,
			  struct vipl_private *priv)
{
	VIP_RETURN r = get_result(vi, VIA_CONN_NOWAIT, attrs);

	(void)priv;
	if (r != VIP_NOT_DONE)
		ka_conn_ended(vi);
	return r;
}

VIP_RETURN ka_conn_listen(struct vipl_nic *nic, const struct vipl_addr *local,
			  uint32_t backlog)
{
	struct via_conn_listen arg = { .backlog = backlog };

	to_kernel(local, &arg.local);
	return ka_call(ka_nic_priv(nic), VIA_IOC_CONN_LISTEN, &arg);
}
