// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* NIC handles: opening, closing, and the table of calls. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../messages.h"
#include "eng.h"

#define STACK		(8u << 20)	/* bytes, the usual limit of a stack */
#define FLUSH_NS	200000000u	/* for last packets, at the close */

static void fill_limits(struct vipl_identity *id, const struct eng_transport *t)
{
	*id = (struct vipl_identity){
		.mtu = t->eager,
		.register_bytes = 1ull << 40,
		.block_bytes = 1ull << 40,
		.regions = ENG_REGIONS,
		.vi = ENG_VIS,
		.desc = ENG_QUEUE,
		.segs = VIA_SEG_MAX,
		.cq = ENG_CQS,
		.cq_entries = ENG_CQ_ENTRIES,
		.transfer = ENG_TRANSFER,
		.ptags = ENG_PTAGS,
		.disc_len = VIPL_DISC_MAX,
		.hw_version = 1,
		.provider_version = 1,
		.reliability = VIP_SERVICE_UNRELIABLE |
			       VIP_SERVICE_RELIABLE_DELIVERY |
			       VIP_SERVICE_RELIABLE_RECEPTION,
		.rdma_read = VIP_SERVICE_RELIABLE_DELIVERY |
			     VIP_SERVICE_RELIABLE_RECEPTION,
		.features = VIP_FEATURE_NONBLOCKING | VIP_FEATURE_LISTEN |
			    VIP_FEATURE_PRIVATE,
	};
}

static int init_tables(struct eng_nic *nic)
{
	uint32_t i;

	nic->later.works = &eng_works;
	vipl_list_init(&nic->later.vis);
	vipl_list_init(&nic->later.peers);
	vipl_list_init(&nic->later.discs);
	vipl_list_init(&nic->late);
	vipl_list_init(&nic->sleepers);
	vipl_list_init(&nic->timed);
	vipl_list_init(&nic->peers);
	vipl_list_init(&nic->conns);
	for (i = 0; i < ENG_DISC_HASH; i++)
		vipl_list_init(&nic->discs[i]);
	nic->next_time = ENG_FOREVER;
	nic->leader = NULL;
	nic->dirty = 0;
	nic->tardy = 0;
	nic->settling = 0;
	nic->armed = 0;
	nic->nvis = 0;
	nic->ncqs = 0;
	nic->nconns = 0;
	nic->nwaiters = 0;
	nic->has_thread = 0;
	nic->vis = calloc(ENG_VIS, sizeof(*nic->vis));
	nic->vi_gen = calloc(ENG_VIS, sizeof(*nic->vi_gen));
	return nic->vis && nic->vi_gen && !eng_regions_init(nic) ? 0 : -1;
}

/* pthread_create() has one error for both. */
static int stack_fits(void)
{
	void *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 0;
	munmap(p, STACK);
	return 1;
}

static VIP_RETURN eng_open(struct vipl_nic *obj, const char *rest)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r = VIP_ERROR_RESOURCE;
	int err;

	eng_lock_take(&nic->lock);
	nic->obj = obj;
	nic->t = eng_transport;
	memset(eng_nic_priv(nic), 0, nic->t->nic_size);
	fill_limits(&nic->ident, nic->t);
	err = init_tables(nic);
	nic->opened = !err;
	eng_lock_drop(&nic->lock);
	if (err) {
		eng_host->msg(MSG_ENG_MEMORY, nic->t->name);
		return r;
	}
	r = nic->t->open(nic, rest, &nic->ident);
	if (r != VIP_SUCCESS)
		return r;
	eng_host->identify(obj, &nic->ident);
	eng_lock_take(&nic->lock);
	nic->live = 1;
	eng_lock_drop(&nic->lock);
	if (eng_ticker_start(nic)) {
		if (stack_fits())
			eng_host->msg(MSG_ENG_THREAD, nic->t->name);
		else
			eng_host->msg(MSG_ENG_STACK, nic->t->name);
		eng_lock_take(&nic->lock);
		nic->live = 0;
		eng_lock_drop(&nic->lock);
		return VIP_ERROR_RESOURCE;
	}
	return VIP_SUCCESS;
}

/* Every object ends; threads that sleep here return. */
static void eng_shutdown(struct vipl_nic *obj)
{
	struct eng_nic *nic = eng_nic_of(obj);
	struct eng_sleeper *s;
	struct vipl_list *l;
	struct eng_vi *v;
	uint32_t i;

	eng_enter(nic);
	if (nic->dirty)
		eng_settle(nic);
	eng_requests_end(nic);
	for (i = 0; i < ENG_VIS; i++) {
		v = nic->vis[i];
		if (!v)
			continue;
		eng_disconnect_now(nic, v);
		eng_vi_end(nic, v);
	}
	nic->live = 0;
	while ((l = vipl_list_pop(&nic->sleepers))) {
		s = vipl_container(l, struct eng_sleeper, all);
		vipl_list_del(&s->link);
		eng_rouse(nic, s, SLEEP_WOKEN);
	}
	eng_leave(nic);
}

/* Until the last packets have left, or too much time has passed. */
static void flush_out(struct eng_nic *nic)
{
	uint64_t late = eng_now() + FLUSH_NS;

	eng_lock_take(&nic->lock);
	while (eng_peers_wait(nic) && eng_now() < late) {
		nic->t->progress(nic, ENG_BUDGET);
		eng_settle(nic);
		eng_lock_drop(&nic->lock);
		usleep(100);
		eng_lock_take(&nic->lock);
	}
	eng_lock_drop(&nic->lock);
}

static void eng_close(struct vipl_nic *obj)
{
	struct eng_nic *nic = eng_nic_of(obj);

	if (!nic->opened)
		return;
	eng_ticker_stop(nic);
	flush_out(nic);
	eng_lock_take(&nic->lock);
	nic->live = 0;
	eng_regions_end(nic);
	eng_peers_end(nic);
	eng_lock_drop(&nic->lock);
	nic->t->close(nic);
	eng_lock_take(&nic->lock);
	nic->opened = 0;
	eng_discs_free(nic);
	eng_regions_free(nic);
	free(nic->vis);
	free(nic->vi_gen);
	nic->vis = NULL;
	nic->vi_gen = NULL;
	eng_lock_drop(&nic->lock);
}

void eng_provider(struct vipl_provider *out, const struct eng_transport *t,
		  const struct vipl_host *host)
{
	eng_host = host;
	eng_transport = t;
	out->abi = VIPL_PROVIDER_ABI;
	out->size = sizeof(*out);
	out->nic_size = (uint32_t)ENG_NIC_BYTES + t->nic_size;
	out->vi_size = sizeof(struct eng_vi);
	out->cq_size = sizeof(struct eng_cq);
	out->open = eng_open;
	out->shutdown = eng_shutdown;
	out->close = eng_close;
	out->ptag_create = eng_ptag_create;
	out->ptag_destroy = eng_ptag_destroy;
	out->mem_register = eng_mem_register;
	out->mem_deregister = eng_mem_deregister;
	out->mem_query = eng_mem_query;
	out->mem_set = eng_mem_set;
	out->vi_create = eng_vi_create;
	out->vi_live = eng_vi_live;
	out->vi_retire = eng_vi_retire;
	out->vi_destroy = eng_vi_destroy;
	out->vi_release = eng_vi_release;
	out->vi_query = eng_vi_query;
	out->vi_set = eng_vi_set;
	out->queue_empty = eng_queue_empty;
	out->cq_create = eng_cq_create;
	out->cq_live = eng_cq_live;
	out->cq_destroy = eng_cq_destroy;
	out->cq_resize = eng_cq_resize;
	out->cq_release = eng_cq_release;
	out->post_send = eng_post_send;
	out->post_recv = eng_post_recv;
	out->send_done = eng_send_done;
	out->recv_done = eng_recv_done;
	out->send_wait = eng_send_wait;
	out->recv_wait = eng_recv_wait;
	out->cq_done = eng_cq_done;
	out->cq_wait = eng_cq_wait;
	out->vi_notify = eng_vi_notify;
	out->cq_notify = eng_cq_notify;
	out->conn_wait = eng_conn_wait;
	out->conn_accept = eng_conn_accept;
	out->conn_reject = eng_conn_reject;
	out->conn_request = eng_conn_request;
	out->peer_request = eng_peer_request;
	out->peer_result = eng_peer_result;
	out->disconnect = eng_disconnect;
	out->conn_request_start = eng_conn_request_start;
	out->conn_accept_start = eng_conn_accept_start;
	out->conn_result = eng_conn_result;
	out->conn_listen = eng_conn_listen;
}
