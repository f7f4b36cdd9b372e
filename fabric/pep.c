// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Passive endpoints, and the requests that come to them.
 *
 * A client makes two requests, one for each VI, with one cookie; CONNREQ is
 * raised when both are there.  The NIC keeps them (VIP_FEATURE_LISTEN); they are
 * taken as the EQ is read.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pep.h"

#define BACKLOG		128	/* clients */
#define HALF_NS		10000000000u	/* for the second of two requests */

static struct via_pep *pep_of(struct fid *fid)
{
	return vipl_container(fid, struct via_pep, fid.fid);
}

static bool well_formed(const struct via_nic *nic, const union via_net *from,
			const VIP_VI_ATTRIBUTES *attr, struct via_hello *h)
{
	if (from->a.DiscriminatorLen != sizeof(*h) ||
	    from->a.HostAddressLen != nic->attr.NicAddressLen)
		return false;
	memcpy(h, from->room + 4 + from->a.HostAddressLen, sizeof(*h));
	return ntohl(h->magic) == VIA_HELLO_MAGIC &&
	       h->version == VIA_HELLO_VERSION && h->kind <= VIA_VI_CTL &&
	       h->len <= sizeof(h->cm) &&
	       attr->ReliabilityLevel == VIP_SERVICE_RELIABLE_RECEPTION &&
	       attr->MaxTransferSize <= nic->attr.MaxTransferSize &&
	       attr->MaxTransferSize >= sizeof(struct via_ctl_msg);
}

static struct via_request *find_request(struct via_pep *pep,
					const struct via_hello *h,
					const VIP_UINT8 *host)
{
	struct via_request *r, *n;

	vipl_list_each(r, n, &pep->requests, link)
		if (!r->whole && r->hello.cookie == h->cookie &&
		    !r->conn[h->kind] &&
		    !memcmp(r->host, host, pep->nic->attr.NicAddressLen))
			return r;
	return NULL;
}

static void raise_connreq(struct via_pep *pep, struct via_request *r)
{
	struct fi_info *info = fi_dupinfo(pep->info);
	struct sockaddr_in *from = calloc(1, sizeof(*from));
	struct sockaddr_in *to = calloc(1, sizeof(*to));

	if (!info || !from || !to) {
		via_warn(FI_LOG_EP_CTRL, "no memory for a request\n");
		fi_freeinfo(info);
		free(from);
		free(to);
		via_request_free(via_request_claim(&r->fid));
		return;
	}
	to->sin_family = AF_INET;
	to->sin_addr.s_addr = r->hello.ip;
	to->sin_port = r->hello.port;
	*from = pep->addr;
	free(info->src_addr);
	info->src_addr = from;
	info->src_addrlen = sizeof(*from);
	free(info->dest_addr);
	info->dest_addr = to;
	info->dest_addrlen = sizeof(*to);
	info->handle = &r->fid;
	r->whole = true;
	via_eq_add(pep->eq, FI_CONNREQ, &pep->fid.fid, info, r->hello.cm,
		   r->hello.len);
}

/* nic->lock held. */
static void take_half_request(struct via_pep *pep, const union via_net *from,
			      const VIP_VI_ATTRIBUTES *attr,
			      VIP_CONN_HANDLE conn)
{
	const VIP_UINT8 *host = from->a.HostAddress;
	struct via_request *r = NULL;
	struct via_hello h;

	if (!pep->listening || !well_formed(pep->nic, from, attr, &h)) {
		VipConnectReject(conn);
		return;
	}
	r = find_request(pep, &h, host);
	if (!r && pep->n_requests < BACKLOG)
		r = calloc(1, sizeof(*r));
	if (!r) {
		VipConnectReject(conn);
		return;
	}
	if (!r->pep) {
		r->fid.fclass = FI_CLASS_CONNREQ;
		r->nic = pep->nic;
		r->pep = pep;
		r->hello = h;
		memcpy(r->host, host, pep->nic->attr.NicAddressLen);
		r->transfer = (uint32_t)attr->MaxTransferSize;
		r->expires_ns = via_now() + HALF_NS;
		vipl_list_add_tail(&r->link, &pep->requests);
		pep->n_requests++;
		via_nic_alarm(pep->nic, r->expires_ns);
	}
	r->conn[h.kind] = conn;
	if (r->conn[0] && r->conn[1])
		raise_connreq(pep, r);
}

/* Where the endpoint listens. */
static void own_addr(const struct via_pep *pep, union via_net *local)
{
	memset(local, 0, sizeof(*local));
	via_listen_addr(pep->nic, pep->nic->attr.LocalNicAddress,
			pep->addr.sin_port, &local->a);
}

static VIP_RETURN accept_half(struct via_pep *pep, union via_net *from,
			      VIP_VI_ATTRIBUTES *attr, VIP_CONN_HANDLE *conn)
{
	union via_net local;

	own_addr(pep, &local);
	memset(from, 0, sizeof(*from));
	return VipConnectWait(pep->nic->h, &local.a, 0, &from->a, attr, conn);
}

/* Take requests from the backlog; drop halves whose second does not come. */
void via_pep_look(struct via_nic *nic)
{
	struct via_request *r, *m;
	struct via_pep *pep, *n;
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;
	union via_net from;
	uint64_t now = 0;

	vipl_list_each(pep, n, &nic->peps, link) {
		while (accept_half(pep, &from, &attr, &conn) == VIP_SUCCESS)
			take_half_request(pep, &from, &attr, conn);
		vipl_list_each(r, m, &pep->requests, link) {
			if (r->whole)
				continue;
			now = now ? now : via_now();
			if (now >= r->expires_ns)
				via_request_free(via_request_claim(&r->fid));
			else
				via_nic_alarm(nic, r->expires_ns);
		}
	}
}

/* Keep so many requests; 0: listen no more. */
static VIP_RETURN set_backlog(struct via_pep *pep, VIP_ULONG requests)
{
	union via_net local;

	own_addr(pep, &local);
	return VipExtConnectListen(pep->nic->h, &local.a, requests);
}

static int pep_listen(struct fid_pep *fid)
{
	struct via_pep *pep = vipl_container(fid, struct via_pep, fid);
	int ret = 0;

	if (!pep->eq)
		return -FI_ENOEQ;
	if (pep->listening)
		return -FI_EOPBADSTATE;
	if (pep->port < 0)
		ret = via_port_take(&pep->addr, &pep->port);
	if (ret)
		return ret;
	pthread_mutex_lock(&pep->nic->lock);
	ret = -via_err_of(set_backlog(pep, 2 * BACKLOG));
	if (!ret) {
		pep->listening = true;
		vipl_list_add_tail(&pep->link, &pep->nic->peps);
	}
	pthread_mutex_unlock(&pep->nic->lock);
	return ret;
}

static int pep_close(struct fid *fid)
{
	struct via_pep *pep = pep_of(fid);
	struct via_request *r, *n;

	pthread_mutex_lock(&pep->nic->lock);
	vipl_list_del(&pep->link);
	if (pep->listening)
		set_backlog(pep, 0);
	pep->listening = false;
	vipl_list_each(r, n, &pep->requests, link)
		via_request_free(via_request_claim(&r->fid));
	pthread_mutex_unlock(&pep->nic->lock);
	if (pep->eq) {
		via_eq_purge(pep->eq, fid);
		atomic_fetch_sub(&pep->eq->refs, 1);
	}
	if (pep->port >= 0)
		close(pep->port);
	via_nic_put(pep->nic);
	fi_freeinfo(pep->info);
	atomic_fetch_sub(&pep->fabric->refs, 1);
	free(pep);
	return 0;
}

static int pep_bind(struct fid *fid, struct fid *b, uint64_t flags)
{
	struct via_pep *pep = pep_of(fid);
	struct via_eq *eq = vipl_container(b, struct via_eq, fid.fid);
	int ret;

	if (b->fclass != FI_CLASS_EQ)
		return -FI_ENOSYS;
	if (pep->eq || flags || eq->fabric != pep->fabric)
		return -FI_EINVAL;
	ret = via_eq_attach(eq, pep->nic);
	if (ret)
		return ret;
	pep->eq = eq;
	atomic_fetch_add(&eq->refs, 1);
	return 0;
}

static int pep_control(struct fid *fid, int command, void *arg)
{
	int *backlog = arg;

	(void)fid;
	if (command != FI_BACKLOG)
		return -FI_ENOSYS;
	/* There is always as much. */
	return !backlog || *backlog > BACKLOG ? -FI_EINVAL : 0;
}

/* Any address of the host is the NIC's own: it is the NIC that listens. */
static int name_listener(struct via_pep *pep, const struct sockaddr_in *addr)
{
	struct in_addr ip = addr->sin_addr;

	if (ip.s_addr == INADDR_ANY) {
		int ret = via_place_ip(pep->nic->name, &ip);

		if (ret)
			return ret;
	} else if (!via_addr_is_local(ip)) {
		return -FI_EADDRNOTAVAIL;
	}
	pep->addr = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = addr->sin_port,
		.sin_addr = ip,
	};
	return 0;
}

static int pep_setname(fid_t fid, void *addr, size_t len)
{
	struct via_pep *pep = pep_of(fid);

	if (pep->listening || pep->port >= 0)
		return -FI_EOPBADSTATE;
	if (!via_addr_ok(addr, len))
		return -FI_EINVAL;
	return name_listener(pep, addr);
}

/* The port is known from here on, listening or not. */
static int pep_getname(fid_t fid, void *addr, size_t *len)
{
	struct via_pep *pep = pep_of(fid);
	size_t room = *len;
	int ret = 0;

	if (pep->port < 0)
		ret = via_port_take(&pep->addr, &pep->port);
	if (ret)
		return ret;
	*len = sizeof(pep->addr);
	memcpy(addr, &pep->addr, room < *len ? room : *len);
	return room < *len ? -FI_ETOOSMALL : 0;
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param,
		      size_t len)
{
	struct via_pep *pep = vipl_container(fid, struct via_pep, fid);
	struct via_request *r;

	if (len > VIA_CM_DATA || (len && !param))
		return -FI_EINVAL;
	pthread_mutex_lock(&pep->nic->lock);
	r = via_request_claim(handle);
	if (r)
		via_request_reject(r, param, len);
	pthread_mutex_unlock(&pep->nic->lock);
	return r ? 0 : -FI_EINVAL;
}

static struct fi_ops pep_fid_ops = VIA_FID_OPS(pep_close, pep_bind,
					       pep_control);
static struct fi_ops_ep pep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = VIA_NO,
	.getopt = via_getopt,
	.setopt = via_setopt,
	.tx_ctx = VIA_NO,
	.rx_ctx = VIA_NO,
	.rx_size_left = VIA_NO,
	.tx_size_left = VIA_NO,
};
static struct fi_ops_cm pep_cm_ops;

static void pep_init(struct via_pep *pep, void *context)
{
	/* All else is refused. */
	pep_cm_ops = via_no_cm;
	pep_cm_ops.setname = pep_setname;
	pep_cm_ops.getname = pep_getname;
	pep_cm_ops.listen = pep_listen;
	pep_cm_ops.reject = pep_reject;
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &pep_fid_ops;
	pep->fid.ops = &pep_ops;
	pep->fid.cm = &pep_cm_ops;
	pep->port = -1;
	vipl_list_init(&pep->link);
	vipl_list_init(&pep->requests);
}

int via_pep_open(struct fid_fabric *fid, struct fi_info *info,
		 struct fid_pep **out, void *context)
{
	const struct sockaddr_in any = { .sin_family = AF_INET };
	struct via_pep *pep;
	int ret = -FI_ENOMEM;

	if (!info->domain_attr || !info->domain_attr->name ||
	    (info->src_addr && !via_addr_ok(info->src_addr,
					    info->src_addrlen)))
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return ret;
	pep_init(pep, context);
	pep->info = fi_dupinfo(info);
	if (pep->info)
		ret = via_nic_get(info->domain_attr->name, &pep->nic);
	if (!ret) {
		ret = name_listener(pep,
				    info->src_addr ? info->src_addr : &any);
		if (ret)
			via_nic_put(pep->nic);
	}
	if (ret) {
		fi_freeinfo(pep->info);
		free(pep);
		return ret;
	}
	pep->fabric = vipl_container(fid, struct via_fabric, fid);
	atomic_fetch_add(&pep->fabric->refs, 1);
	*out = &pep->fid;
	return 0;
}
