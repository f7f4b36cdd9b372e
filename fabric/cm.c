// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Connections of endpoints.
 *
 *	client				server
 *	fi_connect: a request for each	(pep.c) both have come: CONNREQ
 *	VI, with the private data
 *					fi_accept: both are accepted
 *					both are connected: ACCEPT on the
 *					control VI, CONNECTED
 *	both are connected, and ACCEPT
 *	has come: CONNECTED; CREDIT
 *
 * The client's private data are in the discriminator of its own address, which
 * every provider of VIPL carries; the server's are in ACCEPT.
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/random.h>

#include "fab.h"

#define MS		1000000u

static bool is_client(const struct via_ep *ep)
{
	return !ep->request;
}

static void announce_connected(struct via_ep *ep)
{
	ep->state = VIA_EP_CONNECTED;
	vipl_list_del(&ep->link);
	via_eq_add(ep->eq, FI_CONNECTED, &ep->fid.fid, NULL,
		   is_client(ep) ? ep->cm : NULL,
		   is_client(ep) ? ep->cm_len : 0);
}

/*
 * A positive error of libfabric, and VIPL's.  Both VIs of a client were
 * connected where ACCEPT has come, however late the client looks: what has
 * ended is a connection.
 */
void via_cm_fail(struct via_ep *ep, int err, int prov, const void *data,
		 size_t len)
{
	enum via_ep_state was = ep->state;

	if (was != VIA_EP_CONNECTING && was != VIA_EP_CONNECTED)
		return;
	if (was == VIA_EP_CONNECTING && ep->welcome) {
		announce_connected(ep);
		was = VIA_EP_CONNECTED;
	}
	via_ep_end(ep);
	if (was == VIA_EP_CONNECTED)
		via_eq_add(ep->eq, FI_SHUTDOWN, &ep->fid.fid, NULL, NULL, 0);
	else
		via_eq_add_err(ep->eq, &ep->fid.fid, err, prov, data, len);
}

static void set_connected(struct via_ep *ep)
{
	announce_connected(ep);
	if (ep->posted != ep->told)
		via_credit_flush(ep);
}

/* Of a server, both of whose VIs are connected. */
static void send_accept(struct via_ep *ep)
{
	struct via_ctl_msg m = {
		.type = VIA_CTL_ACCEPT,
		.posted = htonl(ep->posted),
		.len = ep->cm_len,
	};

	memcpy(m.cm, ep->cm, ep->cm_len);
	if (via_ctl_send(&ep->ctl, &m)) {
		via_cm_fail(ep, FI_ECONNABORTED, 0, NULL, 0);
		return;
	}
	ep->told = ep->posted;
	set_connected(ep);
}

static void check_both_up(struct via_ep *ep)
{
	if (!ep->up[VIA_VI_DATA] || !ep->up[VIA_VI_CTL])
		return;
	if (!is_client(ep))
		send_accept(ep);
	else if (ep->welcome)
		set_connected(ep);
}

void via_cm_welcome(struct via_ep *ep, const struct via_ctl_msg *m)
{
	if (ep->state != VIA_EP_CONNECTING || !is_client(ep) || ep->welcome)
		return;
	ep->welcome = true;
	ep->cm_len = m->len;
	memcpy(ep->cm, m->cm, m->len);
	/* No message without CONNECTED before it, nor is there one. */
	ep->up[VIA_VI_CTL] = true;
	check_both_up(ep);
}

static VIP_VI_HANDLE vi_of(struct via_ep *ep, enum via_vi_kind kind)
{
	return kind == VIA_VI_DATA ? ep->data.h : ep->ctl.vi.h;
}

static void take_verdict(struct via_ep *ep, enum via_vi_kind kind, VIP_RETURN r,
			 const void *data, size_t len)
{
	if (r == VIP_SUCCESS) {
		ep->up[kind] = true;
	} else if (r == VIP_REJECT && kind == VIA_VI_DATA && is_client(ep)) {
		/* The reason comes on the control VI. */
		ep->refused = true;
	} else {
		via_err_why(r);
		via_cm_fail(ep, via_err_of(r), -(int)r, data, len);
	}
}

/* Begin the request for one VI. */
static VIP_RETURN begin_request(struct via_ep *ep, enum via_vi_kind kind)
{
	uint64_t now = via_now();
	union via_net local = { 0 }, remote = { 0 };
	uint16_t len = ep->nic->attr.NicAddressLen;
	struct via_hello h = ep->hello;
	VIP_RETURN r;

	if (now >= ep->deadline_ns)
		return VIP_TIMEOUT;
	h.kind = (uint8_t)kind;
	local.a.HostAddressLen = len;
	local.a.DiscriminatorLen = sizeof(h);
	memcpy(local.room + 4, ep->nic->attr.LocalNicAddress, len);
	memcpy(local.room + 4 + len, &h, sizeof(h));
	via_listen_addr(ep->nic, ep->host, ep->dest.sin_port, &remote.a);
	r = VipExtConnectRequest(vi_of(ep, kind), &local.a, &remote.a,
				 (VIP_ULONG)((ep->deadline_ns - now) / MS + 1),
				 NULL, 0);
	ep->asked[kind] = r == VIP_SUCCESS;
	return r;
}

static void step_vi(struct via_ep *ep, enum via_vi_kind kind)
{
	uint8_t data[VIP_EXT_PRIVATE_MAX];
	VIP_ULONG len = sizeof(data);
	VIP_RETURN r;

	if (!ep->asked[kind])
		return;
	r = VipExtConnectDone(vi_of(ep, kind), NULL, data, &len);
	if (r == VIP_NOT_DONE)
		return;
	ep->asked[kind] = false;
	take_verdict(ep, kind, r, data, r == VIP_REJECT ? len : 0);
}

/* Look at an endpoint that is connecting. */
void via_cm_step(struct via_ep *ep)
{
	step_vi(ep, VIA_VI_CTL);
	if (ep->state == VIA_EP_CONNECTING)
		step_vi(ep, VIA_VI_DATA);
	if (ep->state != VIA_EP_CONNECTING)
		return;
	check_both_up(ep);
	if (ep->state != VIA_EP_CONNECTING)
		return;
	if (via_now() >= ep->deadline_ns)
		via_cm_fail(ep, FI_ETIMEDOUT, -VIP_TIMEOUT, NULL, 0);
	else
		via_nic_alarm(ep->nic, ep->deadline_ns);
}

static void begin_connecting(struct via_ep *ep)
{
	ep->deadline_ns = via_now() + (uint64_t)via_param.connect_ms * MS;
	ep->state = VIA_EP_CONNECTING;
	vipl_list_add_tail(&ep->link, &ep->nic->connecting);
	via_nic_alarm(ep->nic, ep->deadline_ns);
}

static int cm_connect(struct fid_ep *fid, const void *addr, const void *param,
		      size_t len)
{
	struct via_ep *ep = vipl_container(fid, struct via_ep, fid);
	const struct sockaddr_in *to = addr ? addr : (void *)&ep->dest;
	VIP_UINT8 host[32];
	VIP_RETURN r;
	int ret;

	if (len > VIA_CM_DATA || (len && !param) || !via_addr_ok(to, sizeof(*to)) ||
	    !is_client(ep) || !to->sin_port)
		return -FI_EINVAL;
	/* May ask the system's resolver or the wire. */
	ret = via_addr_host(ep->nic, to->sin_addr, host);
	if (ret)
		return ret;
	pthread_mutex_lock(&ep->nic->lock);
	ret = -FI_EOPBADSTATE;
	if (ep->state != VIA_EP_IDLE)
		goto out;
	ep->dest = *to;
	memcpy(ep->host, host, sizeof(ep->host));
	ep->hello = (struct via_hello){
		.magic = htonl(VIA_HELLO_MAGIC),
		.version = VIA_HELLO_VERSION,
		.len = (uint8_t)len,
		.ip = ep->src.sin_addr.s_addr,
		.port = ep->src.sin_port,
	};
	if (len)
		memcpy(ep->hello.cm, param, len);
	if (getrandom(&ep->hello.cookie, sizeof(ep->hello.cookie), 0) !=
	    sizeof(ep->hello.cookie))
		goto out;
	begin_connecting(ep);
	ret = 0;
	r = begin_request(ep, VIA_VI_CTL);
	if (r == VIP_SUCCESS)
		r = begin_request(ep, VIA_VI_DATA);
	if (r != VIP_SUCCESS) {
		via_info(FI_LOG_EP_CTRL, "%s: no request: %s\n", ep->nic->name,
			 VipExtReturnText(r));
		via_ep_end(ep);
		ret = -via_err_of(r);
	}
out:
	pthread_mutex_unlock(&ep->nic->lock);
	return ret;
}

static int cm_accept(struct fid_ep *fid, const void *param, size_t len)
{
	struct via_ep *ep = vipl_container(fid, struct via_ep, fid);
	VIP_RETURN r = VIP_SUCCESS;
	int kind, ret = 0;

	if (len > VIA_CM_DATA || (len && !param) || is_client(ep))
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->nic->lock);
	if (ep->state != VIA_EP_IDLE) {
		pthread_mutex_unlock(&ep->nic->lock);
		return -FI_EOPBADSTATE;
	}
	ep->cm_len = (uint8_t)len;
	if (len)
		memcpy(ep->cm, param, len);
	begin_connecting(ep);
	for (kind = 0; kind < 2 && r == VIP_SUCCESS; kind++) {
		r = VipExtConnectAccept(ep->request->conn[kind],
					vi_of(ep, (enum via_vi_kind)kind),
					NULL, 0);
		if (r != VIP_SUCCESS)
			break;
		ep->request->conn[kind] = NULL;
		ep->asked[kind] = true;
	}
	if (r != VIP_SUCCESS) {
		via_ep_end(ep);
		ret = -via_err_of(r);
	}
	pthread_mutex_unlock(&ep->nic->lock);
	return ret;
}

static int cm_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct via_ep *ep = vipl_container(fid, struct via_ep, fid);
	int ret = 0;

	if (flags)
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->nic->lock);
	if (ep->state == VIA_EP_CONNECTED)
		via_cm_fail(ep, 0, 0, NULL, 0);
	else
		ret = -FI_ENOTCONN;
	pthread_mutex_unlock(&ep->nic->lock);
	return ret;
}

static int name_out(const struct sockaddr_in *from, void *addr, size_t *len)
{
	size_t room = *len;

	*len = sizeof(*from);
	memcpy(addr, from, room < sizeof(*from) ? room : sizeof(*from));
	return room < sizeof(*from) ? -FI_ETOOSMALL : 0;
}

static int cm_getname(fid_t fid, void *addr, size_t *len)
{
	return name_out(&via_ep_of(fid)->src, addr, len);
}

static int cm_getpeer(struct fid_ep *fid, void *addr, size_t *len)
{
	struct via_ep *ep = vipl_container(fid, struct via_ep, fid);
	int ret = -FI_ENOTCONN;

	pthread_mutex_lock(&ep->nic->lock);
	if (ep->state == VIA_EP_CONNECTED)
		ret = name_out(&ep->dest, addr, len);
	pthread_mutex_unlock(&ep->nic->lock);
	return ret;
}

static int cm_setname(fid_t fid, void *addr, size_t len)
{
	struct via_ep *ep = via_ep_of(fid);

	if (ep->state != VIA_EP_NEW && ep->state != VIA_EP_IDLE)
		return -FI_EOPBADSTATE;
	if (!via_addr_ok(addr, len))
		return -FI_EINVAL;
	memcpy(&ep->src, addr, sizeof(ep->src));
	return 0;
}

struct fi_ops_cm via_ep_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.listen = VIA_NO,
	.accept = cm_accept,
	.reject = VIA_NO,
	.shutdown = cm_shutdown,
	.join = VIA_NO,
};
