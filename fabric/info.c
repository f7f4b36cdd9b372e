// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * fi_getinfo: one entry for each VI NIC that can do what the hints ask for,
 * and can reach the address that is asked for.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"
#include "old.h"

#define PROTOCOL	(OLD_PROV_SPECIFIC | 0x564941u)
#define MR_MODE		(FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | \
			 FI_MR_PROV_KEY)
#define TX_CAPS		(FI_MSG | FI_RMA | FI_SEND | FI_READ | FI_WRITE)
#define RX_CAPS		(FI_MSG | FI_RMA | FI_RECV | FI_REMOTE_READ | \
			 FI_REMOTE_WRITE)
#define OP_FLAGS	(FI_COMPLETION | FI_INJECT | VIA_LEVELS)
/* RDMA Reads that have begun may be overtaken: no SAR, no WAR. */
#define MSG_ORDER	(FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAS | \
			 FI_ORDER_WAW | FI_ORDER_RAR | FI_ORDER_RAW | \
			 FI_ORDER_RAS | FI_ORDER_RMA_RAR | \
			 FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW)
#define COMP_ORDER	(OLD_ORDER_STRICT | OLD_ORDER_DATA)

/* The query: addresses, port and all. */
struct query {
	uint32_t		version;
	const struct fi_info	*hints;		/* or NULL */
	bool			has_src, has_dest;
	struct sockaddr_in	src, dest;
};

/* The attributes of a NIC; NICs do not change while a process runs. */
struct known {
	char			name[VIA_NAME_MAX];
	VIP_NIC_ATTRIBUTES	attr;
	VIP_UINT64		features;
};

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct known known[VIA_PLACES];	/* known_lock */
static int n_known;			/* known_lock */

static bool query_nic(const struct via_place *p, struct known *k)
{
	const char *name = p->name;
	VIP_NIC_HANDLE h;
	bool ok;

	if (VipOpenNic(name, &h) != VIP_SUCCESS) {
		via_info(FI_LOG_CORE, "VI NIC %s cannot be opened: %s\n", name,
			 VipExtLastError());
		return false;
	}
	memset(k, 0, sizeof(*k));
	memcpy(k->name, p->name, sizeof(k->name));
	ok = VipQueryNic(h, &k->attr) == VIP_SUCCESS &&
	     via_nic_fits(h, &k->attr, &k->features, name);
	VipCloseNic(h);
	k->attr.LocalNicAddress = NULL;
	return ok;
}

static bool know_nic(const struct via_place *p, struct known *out)
{
	bool found;
	int i;

	pthread_mutex_lock(&known_lock);
	for (i = 0; i < n_known && strcmp(known[i].name, p->name); i++)
		;
	found = i < n_known;
	if (found)
		*out = known[i];
	else if (query_nic(p, out))
		found = true;
	if (found && i == n_known && n_known < VIA_PLACES)
		known[n_known++] = *out;
	pthread_mutex_unlock(&known_lock);
	return found;
}

static bool is_over(size_t asked, size_t most)
{
	return asked && asked > most;
}

/*
 * One VIA message has at most MaxTransferSize, RDMA as many as it takes.  There
 * is one maximum for both: RDMA's, where a program asks for it (ofi_rxm does,
 * and sends short messages only).
 */
static size_t max_message(const struct fi_info *h, const struct known *k)
{
	return h && h->caps && !(h->caps & FI_RMA) ? k->attr.MaxTransferSize :
						     VIA_RMA_MAX;
}

static bool ep_fits(const struct fi_ep_attr *a, size_t max_msg)
{
	return (a->type == FI_EP_UNSPEC || a->type == FI_EP_MSG) &&
	       (!a->protocol || a->protocol == PROTOCOL) &&
	       a->protocol_version <= 1 && !is_over(a->max_msg_size, max_msg) &&
	       !a->msg_prefix_size &&
	       !is_over(a->max_order_raw_size, VIA_RMA_MAX) &&
	       !a->max_order_war_size &&
	       !is_over(a->max_order_waw_size, VIA_RMA_MAX) &&
	       !is_over(a->tx_ctx_cnt, 1) && !is_over(a->rx_ctx_cnt, 1) &&
	       !a->auth_key_size;
}

static bool tx_fits(const struct fi_tx_attr *a)
{
	return !(a->caps & ~(TX_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM)) &&
	       !(a->op_flags & ~OP_FLAGS) && !(a->msg_order & ~MSG_ORDER) &&
	       !(a->comp_order & ~COMP_ORDER) &&
	       !is_over(a->inject_size, VIA_INJECT) &&
	       !is_over(a->size, VIA_SIZE_MAX) &&
	       !is_over(a->iov_limit, VIA_IOV) &&
	       !is_over(a->rma_iov_limit, 1);
}

static bool rx_fits(const struct fi_rx_attr *a)
{
	return !(a->caps & ~(RX_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM)) &&
	       !(a->op_flags & ~FI_COMPLETION) &&
	       !(a->msg_order & ~MSG_ORDER) &&
	       !(a->comp_order & ~COMP_ORDER) && !a->total_buffered_recv &&
	       !is_over(a->size, VIA_SIZE_MAX) &&
	       !is_over(a->iov_limit, VIA_IOV);
}

/* Kinds of operations asked for, both ends of them where none is. */
static uint64_t caps_asked(const struct fi_info *hints)
{
	uint64_t caps = hints ? hints->caps : 0;

	if (!(caps & (FI_MSG | FI_RMA)))
		caps |= FI_MSG | FI_RMA;
	if (caps & FI_MSG && !(caps & (FI_SEND | FI_RECV)))
		caps |= FI_SEND | FI_RECV;
	if (caps & FI_RMA && !(caps & (FI_READ | FI_WRITE | FI_REMOTE_READ |
				       FI_REMOTE_WRITE)))
		caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	return caps;
}

/* Where nothing remote reads or writes memory, its key does not matter. */
static int mr_mode_for(const struct fi_info *hints)
{
	return caps_asked(hints) & (FI_REMOTE_READ | FI_REMOTE_WRITE) ?
	       MR_MODE : MR_MODE & ~(FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);
}

static bool mr_fits(uint32_t version, const struct fi_info *hints)
{
	int mode = hints->domain_attr ? hints->domain_attr->mr_mode : 0;
	int needed = mr_mode_for(hints);
	bool old = FI_VERSION_LT(version, FI_VERSION(1, 5));

	if (old)
		return (mode == OLD_MR_UNSPEC || mode == OLD_MR_BASIC) &&
		       hints->mode & OLD_LOCAL_MR;
	if (!hints->domain_attr)
		return true;
	if (mode & OLD_MR_BASIC) {
		mode |= FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
		if (hints->mode & OLD_LOCAL_MR)
			mode |= FI_MR_LOCAL;
	}
	return (mode & needed) == needed;
}

static bool domain_fits(const struct fi_domain_attr *a, const char *name,
			uint64_t caps)
{
	return (!a->name || !strcmp(a->name, name)) &&
	       a->control_progress != FI_PROGRESS_AUTO &&
	       a->data_progress != FI_PROGRESS_AUTO &&
	       (!a->mr_key_size || a->mr_key_size >= 4) &&
	       a->cq_data_size <= 4 && !a->cntr_cnt &&
	       !is_over(a->max_ep_tx_ctx, 1) && !is_over(a->max_ep_rx_ctx, 1) &&
	       !a->max_ep_stx_ctx && !a->max_ep_srx_ctx &&
	       !is_over(a->mr_iov_limit, 1) && !a->auth_key_size &&
	       !(a->caps & ~(caps & (FI_LOCAL_COMM | FI_REMOTE_COMM)));
}

static uint64_t caps_of(bool remote)
{
	return TX_CAPS | RX_CAPS | FI_LOCAL_COMM |
	       (remote ? FI_REMOTE_COMM : 0);
}

static bool hints_fit(const struct query *q, const struct via_place *p,
		      const struct known *k)
{
	uint64_t caps = caps_of(k->features & VIP_FEATURE_REMOTE);
	const struct fi_info *h = q->hints;

	if (!h)
		return true;
	return !(h->caps & ~caps) &&
	       (!h->addr_format || h->addr_format == FI_SOCKADDR ||
		h->addr_format == FI_SOCKADDR_IN) &&
	       (!h->ep_attr || ep_fits(h->ep_attr, max_message(h, k))) &&
	       (!h->tx_attr || tx_fits(h->tx_attr)) &&
	       (!h->rx_attr || rx_fits(h->rx_attr)) && mr_fits(q->version, h) &&
	       (!h->domain_attr || domain_fits(h->domain_attr, p->name, caps));
}

/* Whether addresses on the NIC are those asked for. */
static bool nic_reaches(const struct query *q, const struct via_place *p)
{
	if (q->has_src && q->src.sin_addr.s_addr != INADDR_ANY &&
	    q->src.sin_addr.s_addr != p->ip.s_addr &&
	    (p->remote || !via_addr_is_local(q->src.sin_addr)))
		return false;
	if (!q->has_dest || via_addr_is_local(q->dest.sin_addr))
		return true;
	return p->remote && !((q->dest.sin_addr.s_addr ^ p->ip.s_addr) &
			      p->mask.s_addr);
}

static char *network_name(const struct via_place *p)
{
	char text[INET_ADDRSTRLEN + 8] = "local", ip[INET_ADDRSTRLEN];
	struct in_addr net = { p->ip.s_addr & p->mask.s_addr };

	if (p->remote)
		snprintf(text, sizeof(text), "%s/%d",
			 inet_ntop(AF_INET, &net, ip, sizeof(ip)),
			 __builtin_popcount(p->mask.s_addr));
	return strdup(text);
}

static void *copy_addr(const struct sockaddr_in *a, size_t *len)
{
	struct sockaddr_in *to = malloc(sizeof(*to));

	if (to)
		*to = *a;
	*len = to ? sizeof(*to) : 0;
	return to;
}

static uint64_t caps_given(const struct query *q, uint64_t all)
{
	return caps_asked(q->hints) | (all & (FI_LOCAL_COMM | FI_REMOTE_COMM));
}

static void fill_queues(const struct query *q, const struct known *k,
			struct fi_info *i)
{
	const struct fi_info *h = q->hints;

	i->tx_attr->caps = i->caps & TX_CAPS;
	i->tx_attr->op_flags = h && h->tx_attr ? h->tx_attr->op_flags : 0;
	i->tx_attr->msg_order = MSG_ORDER;
	i->tx_attr->comp_order = OLD_ORDER_STRICT;
	i->tx_attr->inject_size = VIA_INJECT;
	i->tx_attr->size = h && h->tx_attr && h->tx_attr->size ?
			   h->tx_attr->size : VIA_TX_SIZE;
	i->tx_attr->iov_limit = VIA_IOV;
	i->tx_attr->rma_iov_limit = 1;
	i->rx_attr->caps = i->caps & RX_CAPS;
	i->rx_attr->op_flags = h && h->rx_attr ? h->rx_attr->op_flags : 0;
	i->rx_attr->msg_order = MSG_ORDER;
	i->rx_attr->comp_order = OLD_ORDER_STRICT;
	i->rx_attr->size = h && h->rx_attr && h->rx_attr->size ?
			   h->rx_attr->size : VIA_RX_SIZE;
	i->rx_attr->iov_limit = VIA_IOV;
	i->ep_attr->type = FI_EP_MSG;
	i->ep_attr->protocol = PROTOCOL;
	i->ep_attr->protocol_version = 1;
	i->ep_attr->max_msg_size = max_message(h, k);
	i->ep_attr->max_order_raw_size = VIA_RMA_MAX;
	i->ep_attr->max_order_waw_size = VIA_RMA_MAX;
	i->ep_attr->tx_ctx_cnt = 1;
	i->ep_attr->rx_ctx_cnt = 1;
}

static void fill_domain(const struct query *q, const struct via_place *p,
			const struct known *k, struct fi_domain_attr *d)
{
	bool old = FI_VERSION_LT(q->version, FI_VERSION(1, 5));
	bool basic = q->hints && q->hints->domain_attr &&
		     q->hints->domain_attr->mr_mode == OLD_MR_BASIC;

	d->name = strdup(p->name);
	d->threading = FI_THREAD_SAFE;
	d->control_progress = FI_PROGRESS_MANUAL;
	d->data_progress = FI_PROGRESS_MANUAL;
	d->resource_mgmt = FI_RM_ENABLED;
	d->mr_mode = old || basic ? OLD_MR_BASIC : mr_mode_for(q->hints);
	d->mr_key_size = sizeof(VIP_MEM_HANDLE);
	d->cq_data_size = 4;
	d->cq_cnt = 1024;
	/* Two VIs each. */
	d->ep_cnt = k->attr.MaxVI / 2;
	d->tx_ctx_cnt = d->ep_cnt;
	d->rx_ctx_cnt = d->ep_cnt;
	d->max_ep_tx_ctx = 1;
	d->max_ep_rx_ctx = 1;
	d->mr_iov_limit = 1;
	d->mr_cnt = k->attr.MaxRegisterRegions;
	d->caps = caps_of(k->features & VIP_FEATURE_REMOTE) &
		  (FI_LOCAL_COMM | FI_REMOTE_COMM);
}

static struct fi_info *make_info(const struct query *q,
				 const struct via_place *p,
				 const struct known *k)
{
	struct sockaddr_in src = {
		.sin_family = AF_INET,
		.sin_port = q->src.sin_port,
		.sin_addr = p->ip,
	};
	struct fi_info *i = fi_allocinfo();

	if (!i)
		return NULL;
	i->caps = caps_given(q, caps_of(k->features & VIP_FEATURE_REMOTE));
	if (FI_VERSION_LT(q->version, FI_VERSION(1, 5)) ||
	    (q->hints && q->hints->domain_attr &&
	     q->hints->domain_attr->mr_mode == OLD_MR_BASIC))
		i->mode = OLD_LOCAL_MR;
	i->addr_format = q->hints && q->hints->addr_format == FI_SOCKADDR ?
			 FI_SOCKADDR : FI_SOCKADDR_IN;
	if (q->hints && q->hints->handle &&
	    q->hints->handle->fclass == FI_CLASS_PEP)
		i->handle = q->hints->handle;
	if (q->has_src && !p->remote && q->src.sin_addr.s_addr != INADDR_ANY)
		src.sin_addr = q->src.sin_addr;
	i->src_addr = copy_addr(&src, &i->src_addrlen);
	if (q->has_dest)
		i->dest_addr = copy_addr(&q->dest, &i->dest_addrlen);
	fill_queues(q, k, i);
	fill_domain(q, p, k, i->domain_attr);
	i->fabric_attr->name = network_name(p);
	i->fabric_attr->prov_version = via_prov.version;
	if (!i->src_addr || (q->has_dest && !i->dest_addr) ||
	    !i->fabric_attr->name || !i->domain_attr->name) {
		fi_freeinfo(i);
		return NULL;
	}
	return i;
}

static int resolve_node(const char *node, const char *service, uint64_t flags,
			struct sockaddr_in *out)
{
	struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = SOCK_DGRAM,
		.ai_flags = (flags & FI_NUMERICHOST ? AI_NUMERICHOST : 0) |
			    (flags & FI_SOURCE ? AI_PASSIVE : 0),
	}, *ai;

	if (getaddrinfo(node, service, &hints, &ai))
		return -FI_ENODATA;
	memcpy(out, ai->ai_addr, sizeof(*out));
	freeaddrinfo(ai);
	return 0;
}

static int query_addrs(struct query *q, const char *node, const char *service,
		       uint64_t flags)
{
	const struct fi_info *h = q->hints;
	int ret = 0;

	if (h && h->src_addr) {
		if (!via_addr_ok(h->src_addr, h->src_addrlen))
			return -FI_ENODATA;
		memcpy(&q->src, h->src_addr, sizeof(q->src));
		q->has_src = true;
	}
	if (h && h->dest_addr) {
		if (!via_addr_ok(h->dest_addr, h->dest_addrlen))
			return -FI_ENODATA;
		memcpy(&q->dest, h->dest_addr, sizeof(q->dest));
		q->has_dest = true;
	}
	if (flags & FI_SOURCE && (node || service)) {
		ret = resolve_node(node, service, flags, &q->src);
		q->has_src = true;
	} else if (node) {
		ret = resolve_node(node, service, flags, &q->dest);
		q->has_dest = true;
	}
	return ret;
}

int via_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints,
		struct fi_info **out)
{
	struct query q = { .version = version, .hints = hints };
	struct fi_info *first = NULL, **end = &first;
	struct via_place places[VIA_PLACES];
	struct known k;
	int i, n, ret;

	if (hints && hints->ep_attr && hints->ep_attr->type != FI_EP_UNSPEC &&
	    hints->ep_attr->type != FI_EP_MSG)
		return -FI_ENODATA;
	ret = query_addrs(&q, node, service, flags);
	if (ret)
		return ret;
	n = via_places(places, VIA_PLACES);
	for (i = 0; i < n; i++) {
		if (!nic_reaches(&q, &places[i]) || !know_nic(&places[i], &k) ||
		    !hints_fit(&q, &places[i], &k))
			continue;
		*end = make_info(&q, &places[i], &k);
		if (!*end) {
			fi_freeinfo(first);
			return -FI_ENOMEM;
		}
		if (hints && hints->fabric_attr && hints->fabric_attr->name &&
		    strcmp(hints->fabric_attr->name,
			   (*end)->fabric_attr->name)) {
			fi_freeinfo(*end);
			*end = NULL;
			continue;
		}
		end = &(*end)->next;
	}
	*out = first;
	return first ? 0 : -FI_ENODATA;
}
