// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Requests that a passive endpoint has, and what an endpoint takes from one. */
#include <stdlib.h>

#include "pep.h"

void via_request_free(struct via_request *r)
{
	int i;

	for (i = 0; i < 2; i++)
		if (r->conn[i])
			VipConnectReject(r->conn[i]);
	free(r);
}

/* Take a request out of its passive endpoint's hands.  NULL: it is none. */
struct via_request *via_request_claim(struct fid *handle)
{
	struct via_request *r = vipl_container(handle, struct via_request, fid);

	if (!handle || handle->fclass != FI_CLASS_CONNREQ || !r->pep)
		return NULL;
	vipl_list_del(&r->link);
	r->pep->n_requests--;
	r->pep = NULL;
	return r;
}

/* A request that was claimed, or was accepted: it ends here. */
void via_request_reject(struct via_request *r, const void *data, size_t len)
{
	bool told = !len || !r->conn[VIA_VI_CTL];

	if (!told && r->nic->features & VIP_FEATURE_PRIVATE) {
		VipExtConnectReject(r->conn[VIA_VI_CTL], data, len);
		r->conn[VIA_VI_CTL] = NULL;
	} else if (!told && via_reject_send(r, data, len)) {
		via_info(FI_LOG_EP_CTRL, "a client is refused without data\n");
	}
	via_request_free(r);
}

/* The name, and the socket that holds the port, become an endpoint's. */
int via_pep_yield(struct fid *handle, struct via_nic *nic,
		  struct sockaddr_in *addr, int *port)
{
	struct via_pep *pep = vipl_container(handle, struct via_pep, fid.fid);

	if (handle->fclass != FI_CLASS_PEP || pep->nic != nic ||
	    pep->listening || pep->port < 0)
		return -FI_EINVAL;
	*addr = pep->addr;
	*port = pep->port;
	pep->port = -1;
	return 0;
}
