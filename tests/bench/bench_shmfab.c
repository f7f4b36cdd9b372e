// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Processes of one machine over libfabric: shmrun.h has the command line.
 * WHERE is a provider: shm, or via;ofi_rxm on the VI NIC of FI_VIA_DEVICES.
 * The calls are those of Open MPI's mtl ofi: fi_trecv, fi_tsend and, for
 * what is short, fi_tinject, on an endpoint FI_EP_RDM.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "shmloop.h"

#define TAKEN	16u		/* entries of a CQ that are read at once */
#define PAGE	4096u
#define CONTEXTS 2048u		/* of all operations in flight */

struct end {
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_av		*av;
	struct fid_cq		*tx, *rx;
	struct fid_ep		*ep;
	struct fid_mr		*mr;
	void			*desc;
	fi_addr_t		peer[SHM_CLIENTS];
	/* Arrivals that are read and not yet taken. */
	struct fi_cq_tagged_entry got[TAKEN];
	uint32_t		taken, have;
	/* Messages are of one buffer, and go to another one. */
	unsigned char		*out, *in;
	uint32_t		size;		/* bytes of a message sent */
	uint32_t		room;		/* bytes of a receive */
	uint32_t		flying;		/* sends not done, to all */
	uint64_t		tag;		/* of this end's messages */
	bool			inject;
	struct fi_context2	*free;		/* of the receive taken last */
	struct fi_context2	contexts[CONTEXTS];
	uint32_t		context;	/* next one of a send */
};

static void must(long rc, const char *what)
{
	if (rc)
		die("%s: %s", what, fi_strerror((int)-rc));
}

/* A read that may find nothing; how many entries. */
static uint32_t look(struct fid_cq *cq, struct fi_cq_tagged_entry *entry)
{
	struct fi_cq_err_entry why = { 0 };
	ssize_t n = fi_cq_read(cq, entry, TAKEN);

	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL && fi_cq_readerr(cq, &why, 0) == 1)
		die("fi_cq_read: %s", fi_strerror(why.err));
	if (n < 0)
		must(n, "fi_cq_read");
	return (uint32_t)n;
}

static int end_arrived(struct end *e)
{
	const struct fi_cq_tagged_entry *entry;

	if (e->taken == e->have) {
		e->taken = 0;
		e->have = look(e->rx, e->got);
		if (!e->have)
			return -1;
	}
	entry = &e->got[e->taken++];
	e->free = entry->op_context;
	return (int)entry->tag;
}

static void post(struct end *e, struct fi_context2 *context)
{
	ssize_t rc;

	while ((rc = fi_trecv(e->ep, e->in, e->room, e->desc, FI_ADDR_UNSPEC,
			      0, ~0ull, context)) == -FI_EAGAIN)
		fi_cq_read(e->rx, NULL, 0);
	must(rc, "fi_trecv");
}

static void end_recv(struct end *e, int from)
{
	(void)from;
	post(e, e->free);
}

static void end_send(struct end *e, int to)
{
	struct fi_context2 *c = &e->contexts[e->context];
	ssize_t rc;

	for (;;) {
		if (e->inject)
			rc = fi_tinject(e->ep, e->out, e->size, e->peer[to],
					e->tag);
		else
			rc = fi_tsend(e->ep, e->out, e->size, e->desc,
				      e->peer[to], e->tag, c);
		if (rc != -FI_EAGAIN)
			break;
		end_sent(e, to);
		fi_cq_read(e->rx, NULL, 0);
	}
	must(rc, "a send");
	if (e->inject)
		return;
	e->flying++;
	e->context = (e->context + 1) % (CONTEXTS / 2);
}

static uint32_t end_sent(struct end *e, int to)
{
	struct fi_cq_tagged_entry done[TAKEN];

	(void)to;
	if (e->flying)
		e->flying -= look(e->tx, done);
	return e->flying;
}

static void end_idle(struct end *e)
{
	fi_cq_read(e->rx, NULL, 0);
	fi_cq_read(e->tx, NULL, 0);
	sched_yield();
}

static struct fi_info *query(const char *provider)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	if (!hints)
		die("no memory");
	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(provider);
	must(fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &info),
	     provider);
	fi_freeinfo(hints);
	return info;
}

/*
 * The provider shm has names by numbers of processes. One that has this
 * process's number is of one that was killed, and in the way.
 */
static void drop_stale_name(void)
{
	char name[32];

	snprintf(name, sizeof(name), "/%d:0:0", (int)getpid());
	shm_unlink(name);
}

static void open_end(struct end *e, const char *provider)
{
	struct fi_cq_attr cq = {
		.format = FI_CQ_FORMAT_TAGGED, .size = CONTEXTS,
	};
	struct fi_av_attr av = { .type = FI_AV_TABLE };

	e->info = query(provider);
	must(fi_fabric(e->info->fabric_attr, &e->fabric, NULL), "fi_fabric");
	must(fi_domain(e->fabric, e->info, &e->domain, NULL), "fi_domain");
	must(fi_av_open(e->domain, &av, &e->av, NULL), "fi_av_open");
	must(fi_cq_open(e->domain, &cq, &e->tx, NULL), "fi_cq_open");
	must(fi_cq_open(e->domain, &cq, &e->rx, NULL), "fi_cq_open");
	must(fi_endpoint(e->domain, e->info, &e->ep, NULL), "fi_endpoint");
	must(fi_ep_bind(e->ep, &e->av->fid, 0), "fi_ep_bind");
	must(fi_ep_bind(e->ep, &e->tx->fid, FI_TRANSMIT), "fi_ep_bind");
	must(fi_ep_bind(e->ep, &e->rx->fid, FI_RECV), "fi_ep_bind");
	drop_stale_name();
	must(fi_enable(e->ep), "fi_enable");
}

/* Buffers on pages of their own. */
static void open_memory(struct end *e, const struct shm_run *r)
{
	size_t pages = (r->size + PAGE - 1) & ~(PAGE - 1);

	e->out = aligned_alloc(PAGE, 2 * pages);
	if (!e->out)
		die("no memory");
	memset(e->out, 1, 2 * pages);
	e->in = e->out + pages;
	if (!(e->info->domain_attr->mr_mode & FI_MR_LOCAL))
		return;
	must(fi_mr_reg(e->domain, e->out, 2 * pages, FI_SEND | FI_RECV, 0, 1,
		       0, &e->mr, NULL), "fi_mr_reg");
	e->desc = fi_mr_desc(e->mr);
}

static void meet(struct end *e, const struct shm_run *r, const int *fd)
{
	unsigned char mine[SHM_ROOM], theirs[SHM_ROOM];
	size_t len = sizeof(mine);

	must(fi_getname(&e->ep->fid, mine, &len), "fi_getname");
	for (uint32_t i = 0; i < shm_peers(r); i++) {
		shm_swap(fd[i], mine, (uint32_t)len, theirs);
		if (fi_av_insert(e->av, theirs, 1, &e->peer[i], 0, NULL) != 1)
			die("fi_av_insert");
	}
}

static void close_end(struct end *e)
{
	fi_close(&e->ep->fid);
	if (e->mr)
		fi_close(&e->mr->fid);
	fi_close(&e->rx->fid);
	fi_close(&e->tx->fid);
	fi_close(&e->av->fid);
	fi_close(&e->domain->fid);
	fi_close(&e->fabric->fid);
	fi_freeinfo(e->info);
	free(e->out);
	free(e);
}

static double end(const struct shm_run *r, const int *fd)
{
	struct end *e = xcalloc(1, sizeof(*e));
	uint32_t receives = shm_receives(r) * shm_peers(r);
	double figure;

	open_end(e, r->where);
	open_memory(e, r);
	meet(e, r, fd);
	e->size = shm_sends(r);
	e->room = r->size < SHM_ANSWER ? SHM_ANSWER : r->size;
	e->tag = shm_server(r) ? 0 : (uint64_t)r->me;
	e->inject = e->size <= SHM_INJECTED &&
		    e->size <= e->info->tx_attr->inject_size;
	for (uint32_t i = 0; i < receives; i++)
		post(e, &e->contexts[CONTEXTS / 2 + i]);
	figure = loop_run(e, r, fd);
	close_end(e);
	return figure;
}

int main(int argc, char **argv)
{
	return shm_main(argc, argv, end);
}
