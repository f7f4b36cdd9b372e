// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "../messages.h"
#include "fab.h"

#define FAB_API		FI_VERSION(1, 14)
#define FAB_BATCH	16		/* completions taken at once */
#define FAB_BLOCK	16		/* slots allocated at once */
#define FAB_SENDS	128		/* send slots, where inject is too small */
#define FAB_CQ		4096		/* entries of the CQ */
#define KNOWN_MAX	(1u << 20)	/* addresses of other ends */

/* Slots are allocated together, and freed with the endpoint. */
struct fab_block {
	struct fab_block *next;
	struct fid_mr *mr;		/* where buffers have to be registered */
	uint8_t *data;
	struct fab_slot slot[FAB_BLOCK];
};

static int is_rxm(const char *provider)
{
	return strstr(provider, "ofi_rxm") != NULL;
}

static struct fi_info *hints_for(const struct ofi_lib *lib,
				 const struct fab_device *device, size_t inject)
{
	struct fi_info *h = lib->dupinfo(NULL);

	if (!h)
		return NULL;
	h->caps = FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_READ |
		  FI_REMOTE_READ;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->ep_attr->type = FI_EP_RDM;
	/* Taken back in free_hints(): libfabric's free() may be another. */
	h->fabric_attr->prov_name = (char *)device->provider;
	h->domain_attr->name = (char *)device->domain;
	/* The engine lock is around every call. */
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_UNSPEC;
	h->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				  FI_MR_PROV_KEY;
	/* ofi_rxm registers what it sends and reads to itself. */
	if (!is_rxm(device->provider))
		h->domain_attr->mr_mode |= FI_MR_LOCAL;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	h->rx_attr->msg_order = FI_ORDER_SAS;
	h->tx_attr->inject_size = inject;
	return h;
}

static void free_hints(const struct ofi_lib *lib, struct fi_info *h)
{
	h->fabric_attr->prov_name = NULL;
	h->domain_attr->name = NULL;
	lib->freeinfo(h);
}

int fab_info(const struct ofi_lib *lib, const struct fab_device *device,
	     struct fi_info **info)
{
	size_t inject = FAB_MSG;
	struct fi_info *h;
	int err;

	do {
		h = hints_for(lib, device, inject);
		if (!h)
			return -ENOMEM;
		err = lib->getinfo(FAB_API, device->node, NULL,
				   device->node ? FI_SOURCE : 0, h, info);
		free_hints(lib, h);
		if (err != -FI_ENODATA || !inject)
			return err;
		inject = 0;
	} while (1);
}

static int open_cq(struct fab *f)
{
	struct fi_cq_attr attr = {
		.size = FAB_CQ,
		.format = FI_CQ_FORMAT_MSG,
		.wait_obj = FI_WAIT_FD,
	};
	int err = fi_cq_open(f->domain, &attr, &f->cq, NULL);

	if (err)
		return err;
	return fi_control(&f->cq->fid, FI_GETWAIT, &f->fd);
}

static int open_ep(struct fab *f)
{
	struct fi_av_attr attr = { .type = FI_AV_UNSPEC };
	int err;

	err = fi_av_open(f->domain, &attr, &f->av, NULL);
	if (!err)
		err = fi_endpoint(f->domain, f->info, &f->ep, NULL);
	if (!err)
		err = fi_ep_bind(f->ep, &f->av->fid, 0);
	if (!err)
		err = fi_ep_bind(f->ep, &f->cq->fid, FI_TRANSMIT | FI_RECV);
	return err ? err : fi_enable(f->ep);
}

static void add_block(struct fab *f, struct fab_block *b)
{
	unsigned int i;

	for (i = 0; i < FAB_BLOCK; i++) {
		b->slot[i].data = b->data + (size_t)i * FAB_MSG;
		b->slot[i].desc = b->mr ? fi_mr_desc(b->mr) : NULL;
	}
	b->next = f->blocks;
	f->blocks = b;
}

static struct fab_block *new_block(struct fab *f, uint64_t access)
{
	struct fab_block *b = calloc(1, sizeof(*b));
	size_t size = (size_t)FAB_BLOCK * FAB_MSG;

	if (!b)
		return NULL;
	b->data = aligned_alloc(64, size);
	if (!b->data)
		goto err_free;
	memset(b->data, 0, size);
	if ((f->info->domain_attr->mr_mode & FI_MR_LOCAL) &&
	    fi_mr_reg(f->domain, b->data, size, access, 0, f->next_key++, 0,
		      &b->mr, NULL))
		goto err_data;
	add_block(f, b);
	return b;

err_data:
	free(b->data);
err_free:
	free(b);
	return NULL;
}

static int add_sends(struct fab *f)
{
	struct fab_block *b;
	unsigned int i, n;

	for (n = 0; n < FAB_SENDS; n += FAB_BLOCK) {
		b = new_block(f, FI_SEND);
		if (!b)
			return -ENOMEM;
		for (i = 0; i < FAB_BLOCK; i++) {
			b->slot[i].op.kind = FAB_SEND;
			b->slot[i].next = f->send;
			f->send = &b->slot[i];
		}
	}
	return 0;
}

static int open_all(struct fab *f, const char **what)
{
	int err;

	*what = "fabric";
	err = f->lib->fabric(f->info->fabric_attr, &f->fabric, NULL);
	if (err)
		return err;
	*what = "domain";
	err = fi_domain(f->fabric, f->info, &f->domain, NULL);
	if (err)
		return err;
	*what = "completion queue";
	err = open_cq(f);
	if (err)
		return err;
	*what = "endpoint";
	err = open_ep(f);
	if (err)
		return err;
	*what = "memory";
	f->inject = f->info->tx_attr->inject_size;
	f->scratch = aligned_alloc(64, FAB_MSG);
	if (!f->scratch)
		return -ENOMEM;
	return f->inject < FAB_MSG ? add_sends(f) : 0;
}

int fab_open(struct fab *f, const struct ofi_lib *lib,
	     const struct fab_device *device, const struct fab_events *events,
	     void *arg, char *why, size_t size)
{
	const char *what;
	int err;

	memset(f, 0, sizeof(*f));
	f->lib = lib;
	f->events = events;
	f->arg = arg;
	f->fd = -1;
	err = fab_info(lib, device, &f->info);
	if (err) {
		snprintf(why, size, MSG_OFI_ABSENT, device->provider,
			 lib->strerror(-err));
		return err;
	}
	err = open_all(f, &what);
	if (err) {
		snprintf(why, size, MSG_OFI_PART, device->provider, what,
			 lib->strerror(-err));
		fab_close(f);
	}
	return err;
}

static void close_fid(struct fid *fid)
{
	fi_close(fid);
}

void fab_close(struct fab *f)
{
	struct fab_block *b;

	if (f->ep)
		close_fid(&f->ep->fid);
	while ((b = f->blocks)) {
		f->blocks = b->next;
		if (b->mr)
			close_fid(&b->mr->fid);
		free(b->data);
		free(b);
	}
	if (f->cq)
		close_fid(&f->cq->fid);
	if (f->av)
		close_fid(&f->av->fid);
	if (f->domain)
		close_fid(&f->domain->fid);
	if (f->fabric)
		close_fid(&f->fabric->fid);
	if (f->info)
		f->lib->freeinfo(f->info);
	free(f->scratch);
	free(f->known);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

int fab_name(struct fab *f, void *name, size_t *len)
{
	return fi_getname(&f->ep->fid, name, len);
}

/* An entry of known[] for the address: 0 or -ENOMEM. */
static int know_address(struct fab *f, fi_addr_t addr)
{
	struct fab_known *more;
	size_t n = f->knowns;

	if (!is_rxm(f->info->fabric_attr->prov_name) || addr < n)
		return 0;
	if (addr >= KNOWN_MAX)
		return -ENOMEM;
	n = addr * 2 + 16;
	more = realloc(f->known, n * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + f->knowns, 0, (n - f->knowns) * sizeof(*more));
	f->known = more;
	f->knowns = n;
	return 0;
}

int fab_insert(struct fab *f, const void *name, fi_addr_t *addr)
{
	int n = fi_av_insert(f->av, name, 1, addr, 0, NULL), err;

	if (n == 1) {
		/* Nothing was sent there: it can be removed in any case. */
		err = know_address(f, *addr);
		if (!err)
			return 0;
		fi_av_remove(f->av, addr, 1, 0);
		n = err;
	}
	*addr = FI_ADDR_UNSPEC;
	return n < 0 ? n : -EINVAL;
}

/* The result of a call that sends to the address, and connects before. */
static int note_tried(struct fab *f, fi_addr_t to, int err)
{
	if (to < f->knowns)
		f->known[to].doubt = err != 0;
	return err;
}

int fab_doubts(const struct fab *f, fi_addr_t addr)
{
	return addr < f->knowns && f->known[addr].doubt;
}

/*
 * With the address ofi_rxm (of libfabric 1.17) closes the connection that it has
 * there, and does not look whether that one has an endpoint. It has none after an
 * attempt that failed at once (no route, no file), and none after one that
 * the other end refused as simultaneous: the process would die. It has one,
 * or ofi_rxm knows of no connection, if the last call that could begin an
 * attempt has sent, and if a read is under way. Where neither is known to be
 * so the address stays, and goes the next time that it is removed: it is the
 * same fi_addr_t for a peer that comes back, and no read of ours is under way.
 */
void fab_remove(struct fab *f, fi_addr_t addr, int reads)
{
	uint32_t times = 1;

	if (addr < f->knowns) {
		if (f->known[addr].doubt && !reads) {
			f->known[addr].kept++;
			return;
		}
		times += f->known[addr].kept;
		memset(&f->known[addr], 0, sizeof(f->known[addr]));
	}
	while (times--)
		fi_av_remove(f->av, &addr, 1, 0);
}

/* Post idle receive slots until there are as many as wanted. */
static void post_slots(struct fab *f)
{
	struct fab_slot *s;

	while (f->posted < f->wanted && (s = f->idle)) {
		if (fi_recv(f->ep, s->data, FAB_MSG, s->desc, FI_ADDR_UNSPEC,
			    &s->op))
			return;
		f->idle = s->next;
		f->posted++;
	}
}

int fab_grant(struct fab *f, uint32_t n)
{
	struct fab_slot *s;
	struct fab_block *b;
	uint32_t have = f->posted, i;

	for (s = f->idle; s; s = s->next)
		have++;
	while (have < f->wanted + n) {
		b = new_block(f, FI_RECV);
		if (!b)
			return -ENOMEM;
		for (i = 0; i < FAB_BLOCK; i++) {
			b->slot[i].op.kind = FAB_RECV;
			b->slot[i].next = f->idle;
			f->idle = &b->slot[i];
		}
		have += FAB_BLOCK;
	}
	f->wanted += n;
	post_slots(f);
	return 0;
}

/* Buffers beyond the grant stay idle once a message was in them. */
void fab_ungrant(struct fab *f, uint32_t n)
{
	f->wanted -= n;
}

static size_t gather_bytes(uint8_t *to, const struct iovec *iov, unsigned int n)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (iov[i].iov_len > FAB_MSG - len)
			return 0;
		memcpy(to + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	return len;
}

static size_t iov_length(const struct iovec *iov, unsigned int n)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	return len;
}

static int send_slot(struct fab *f, fi_addr_t to, const struct iovec *iov,
		     unsigned int n, uint64_t owner)
{
	struct fab_slot *s = f->send;
	size_t len;
	int err;

	if (!s)
		return -EAGAIN;
	len = gather_bytes(s->data, iov, n);
	s->owner = owner;
	err = note_tried(f, to, (int)fi_send(f->ep, s->data, len, s->desc, to,
					     &s->op));
	if (!err)
		f->send = s->next;
	return err;
}

int fab_send(struct fab *f, fi_addr_t to, const struct iovec *iov,
	     unsigned int n, uint64_t owner)
{
	size_t len = iov_length(iov, n);

	if (!len || len > FAB_MSG)
		return -EMSGSIZE;
	if (len > f->inject)
		return send_slot(f, to, iov, n, owner);
	if (n > 1)
		gather_bytes(f->scratch, iov, n);
	return note_tried(f, to, (int)fi_inject(f->ep, n > 1 ? f->scratch :
						iov->iov_base, len, to));
}

/* A key that nothing else can guess, where keys are ours to choose. */
static uint64_t new_key(struct fab *f)
{
	uint64_t key;

	if (f->info->domain_attr->mr_mode & FI_MR_PROV_KEY)
		return 0;
	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		key = f->next_key++;
	return key;
}

/* Others (tcp) look at the memory when the other end reads. */
int fab_pins(const struct fab *f)
{
	return (f->info->domain_attr->mr_mode & FI_MR_ALLOCATED) != 0;
}

int fab_export_mem(struct fab *f, const void *addr, size_t len,
		   struct fab_mr *mr)
{
	int err = fi_mr_reg(f->domain, addr, len, FI_REMOTE_READ, 0,
			    new_key(f), 0, &mr->mr, NULL);

	if (err)
		return err;
	mr->key = fi_mr_key(mr->mr);
	mr->base = f->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
		   (uintptr_t)addr : 0;
	return 0;
}

void fab_unexport_mem(struct fab_mr *mr)
{
	close_fid(&mr->mr->fid);
	mr->mr = NULL;
}

size_t fab_read_max(const struct fab *f)
{
	return f->info->ep_attr->max_msg_size;
}

int fab_read_start(struct fab *f, fi_addr_t from, void *to, size_t len,
		   uint64_t base, uint64_t key, struct fab_read *read)
{
	void *desc = NULL;
	int err;

	read->op.kind = FAB_READ;
	read->local = NULL;
	if (f->info->domain_attr->mr_mode & FI_MR_LOCAL) {
		err = fi_mr_reg(f->domain, to, len, FI_READ, 0, f->next_key++,
				0, &read->local, NULL);
		if (err)
			return err;
		desc = fi_mr_desc(read->local);
	}
	err = note_tried(f, from, (int)fi_read(f->ep, to, len, desc, from, base,
					       key, &read->op));
	if (err && read->local)
		close_fid(&read->local->fid);
	return err;
}

/* One completion, err 0, or a failure. */
static void complete_op(struct fab *f, void *context, size_t len, int err)
{
	struct fab_op *op = context;
	struct fab_slot *s = context;
	struct fab_read *r = context;

	if (!op)
		return;
	switch (op->kind) {
	case FAB_RECV:
		if (!err)
			f->events->message(f->arg, s->data, len);
		f->posted--;
		s->next = f->idle;
		f->idle = s;
		post_slots(f);
		break;
	case FAB_SEND:
		s->next = f->send;
		f->send = s;
		if (err)
			f->events->send_failed(f->arg, s->owner, err);
		break;
	case FAB_READ:
		if (r->local)
			close_fid(&r->local->fid);
		f->events->read_done(f->arg, r, err);
		break;
	}
}

static int take_error(struct fab *f)
{
	struct fi_cq_err_entry e = { 0 };

	if (fi_cq_readerr(f->cq, &e, 0) != 1)
		return 0;
	complete_op(f, e.op_context, 0, e.err ? -e.err : -EIO);
	return 1;
}

unsigned int fab_progress(struct fab *f, unsigned int budget)
{
	struct fi_cq_msg_entry e[FAB_BATCH];
	unsigned int done = 0;
	ssize_t n, i;

	if (f->posted < f->wanted)
		post_slots(f);
	while (done < budget) {
		n = fi_cq_read(f->cq, e, FAB_BATCH);
		if (n == -FI_EAVAIL) {
			if (!take_error(f))
				break;
			done++;
			continue;
		}
		if (n <= 0)
			break;
		for (i = 0; i < n; i++)
			complete_op(f, e[i].op_context, e[i].len, 0);
		done += n;
		/* No look in vain: the next turn looks again. */
		if (n < FAB_BATCH)
			break;
	}
	return done;
}

int fab_trywait(struct fab *f)
{
	struct fid *fids[1] = { &f->cq->fid };

	return fi_trywait(f->fabric, fids, 1);
}
