// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Registered memory and protection tags.
 *
 * Registration makes the kernel bring every page in, writable: what cannot be
 * written by the program cannot be registered. The pages are not pinned. A
 * program may unmap memory that is registered, and a peer may write to it by
 * RDMA afterwards, so such bytes are moved by process_vm_readv and _writev on
 * this process, which fail where a plain copy would kill it. What is in a
 * posted descriptor is copied plainly: it is the program's word that the
 * memory is there until the descriptor completes.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "eng.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE	23
#endif

#define NCHUNKS		((ENG_REGIONS + ENG_CHUNK) / ENG_CHUNK)
#define WAIT_NS		5000000000u	/* for a peer that holds a region */

/* Ids: generation << 12 | index; never 0. */
#define PTAG_BITS	12u
#define PTAG_MASK	(ENG_PTAGS - 1)

_Static_assert(1u << PTAG_BITS == ENG_PTAGS, "bits of a tag's index");

static uint32_t *ptag_find(struct eng_nic *nic, uint32_t id)
{
	uint32_t i = id & PTAG_MASK;

	if (!nic->ptags[i] || nic->ptag_gen[i] != id >> PTAG_BITS)
		return NULL;
	return &nic->ptags[i];
}

VIP_RETURN eng_ptag_create(struct vipl_nic *obj, uint32_t *id)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r = VIP_ERROR_RESOURCE;
	uint32_t k, i;

	eng_enter(nic);
	for (k = 0; k < ENG_PTAGS && nic->nptags < nic->ident.ptags; k++) {
		i = (nic->ptag_hint + k) & PTAG_MASK;
		if (nic->ptags[i])
			continue;
		nic->ptag_hint = i + 1;
		if (!++nic->ptag_gen[i])
			nic->ptag_gen[i] = 1;
		nic->ptags[i] = 1;
		nic->nptags++;
		*id = (uint32_t)nic->ptag_gen[i] << PTAG_BITS | i;
		r = VIP_SUCCESS;
		break;
	}
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_ptag_destroy(struct vipl_nic *obj, uint32_t id)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint32_t *tag;

	eng_enter(nic);
	tag = ptag_find(nic, id);
	if (tag) {
		r = VIP_ERROR_RESOURCE;
		if (*tag == 1) {
			*tag = 0;
			nic->nptags--;
			r = VIP_SUCCESS;
		}
	}
	eng_leave(nic);
	return r;
}

/* The default tag is always there and not counted. */
int eng_ptag_use(struct eng_nic *nic, uint32_t id)
{
	uint32_t *tag = id ? ptag_find(nic, id) : NULL;

	if (tag)
		++*tag;
	return id && !tag ? -1 : 0;
}

void eng_ptag_unuse(struct eng_nic *nic, uint32_t id)
{
	uint32_t *tag = id ? ptag_find(nic, id) : NULL;

	if (tag)
		--*tag;
}

/* Set with each NIC: a child of fork() opens its own before it is used. */
static _Atomic pid_t own;

static pid_t own_pid(void)
{
	return atomic_load_explicit(&own, memory_order_relaxed);
}

/* Nonzero when the system lets us use process_vm_* on ourselves. */
static int vm_works(void)
{
	static _Atomic int works;	/* 0: not known, 1: yes, -1: no */
	int w = atomic_load_explicit(&works, memory_order_relaxed);
	char from = 1, to = 0;
	struct iovec a = { &to, 1 }, b = { &from, 1 };

	if (w)
		return w > 0;
	w = syscall(SYS_process_vm_readv, own_pid(), &a, 1UL, &b, 1UL, 0UL) ==
	    1 ? 1 : -1;
	atomic_store_explicit(&works, w, memory_order_relaxed);
	return w > 0;
}

/*
 * 0, -EFAULT, or -ENOSYS: a sandbox forbids it, perhaps since a moment ago. The
 * last byte is a range of its own, which the kernel copies after the others.
 */
static int vm_copy(long call, const void *ours, uint64_t addr, size_t len)
{
	struct iovec a = { (char *)(uintptr_t)ours, len };
	struct iovec b[2] = {
		{ (void *)(uintptr_t)addr, len - 1 },
		{ (void *)(uintptr_t)(addr + len - 1), 1 },
	};
	ssize_t n;

	if (len == 1)
		n = syscall(call, own_pid(), &a, 1UL, &b[1], 1UL, 0UL);
	else
		n = syscall(call, own_pid(), &a, 1UL, b, 2UL, 0UL);
	if (n == (ssize_t)len)
		return 0;
	return n < 0 && (errno == ENOSYS || errno == EPERM ||
			 errno == EACCES) ? -ENOSYS : -EFAULT;
}

int eng_copy_out(void *buf, uint64_t addr, size_t len)
{
	int err = vm_works() ? vm_copy(SYS_process_vm_readv, buf, addr, len) :
			       -ENOSYS;

	if (err != -ENOSYS)
		return err;
	if (!eng_readable(addr, len))
		return -EFAULT;
	memcpy(buf, (void *)(uintptr_t)addr, len);
	return 0;
}

/*
 * A program may watch memory for the last byte of an RDMA Write: all others are
 * there before it. memcpy() promises no order, and processors that copy by lines
 * keep none.
 */
int eng_copy_in(uint64_t addr, const void *buf, size_t len)
{
	int err = vm_works() ? vm_copy(SYS_process_vm_writev, buf, addr, len) :
			       -ENOSYS;
	uint8_t *to = (uint8_t *)(uintptr_t)addr;

	if (err != -ENOSYS)
		return err;
	memcpy(to, buf, len - 1);
	__atomic_store_n(to + len - 1, ((const uint8_t *)buf)[len - 1],
			 __ATOMIC_RELEASE);
	return 0;
}

/* Linux before 5.14 does not: then a byte of each page is read. */
static int populate_works(void)
{
	static _Atomic int works;	/* 0: not known, 1: yes, -1: no */
	int w = atomic_load_explicit(&works, memory_order_relaxed);
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	volatile char here = 0;

	if (!w) {
		w = madvise((void *)((uintptr_t)&here & ~(page - 1)), page,
			    MADV_POPULATE_WRITE) ? -1 : 1;
		atomic_store_explicit(&works, w, memory_order_relaxed);
	}
	return w > 0;
}

static int range_is_readable(uint64_t addr, uint64_t end, uint64_t page)
{
	char byte;

	for (; addr < end; addr = (addr & ~(page - 1)) + page)
		if (vm_works() && vm_copy(SYS_process_vm_readv, &byte, addr,
					  1) == -EFAULT)
			return 0;
	return 1;
}

int eng_readable(uint64_t addr, uint64_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = addr & ~(page - 1), end = addr + len;
	uint64_t size = ((end + page - 1) & ~(page - 1)) - first;

	while (len && madvise((void *)(uintptr_t)first, size,
			      MADV_POPULATE_READ)) {
		if (errno == EINTR || errno == EAGAIN)
			continue;
		return errno == EINVAL && range_is_readable(addr, end, page);
	}
	return 1;
}

static VIP_RETURN bring_in(uint64_t addr, uint64_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = addr & ~(page - 1), end = addr + len;
	uint64_t size = ((end + page - 1) & ~(page - 1)) - first;

	if (end < addr || first + size < first)
		return VIP_INVALID_PARAMETER;
	while (madvise((void *)(uintptr_t)first, size, MADV_POPULATE_WRITE)) {
		if (errno == EINTR || errno == EAGAIN)
			continue;
		if (errno == ENOMEM || errno == EFAULT || errno == EHWPOISON)
			return VIP_INVALID_PARAMETER;
		/* Not to be written, or without pages of its own. */
		if (populate_works() || !range_is_readable(addr, end, page))
			return VIP_INVALID_PARAMETER;
		return VIP_SUCCESS;
	}
	return VIP_SUCCESS;
}

static struct eng_region *region_at(struct eng_nic *nic, uint32_t i)
{
	char *chunk = (char *)nic->chunks[i / ENG_CHUNK];

	return (struct eng_region *)(void *)(chunk + (size_t)(i % ENG_CHUNK) *
					     nic->region_stride);
}

int eng_regions_init(struct eng_nic *nic)
{
	size_t stride = sizeof(struct eng_region) + nic->t->region_size;

	atomic_store_explicit(&own, getpid(), memory_order_relaxed);
	nic->region_stride = (uint32_t)((stride + 15) & ~(size_t)15);
	/* A handle has more bits than there are places. */
	nic->chunks = calloc(ENG_HANDLE_MASK / ENG_CHUNK + 1,
			     sizeof(*nic->chunks));
	nic->ptags = calloc(ENG_PTAGS, sizeof(*nic->ptags));
	nic->ptag_gen = calloc(ENG_PTAGS, sizeof(*nic->ptag_gen));
	nic->region_slots = 1;
	nic->free_first = 0;
	nic->free_last = 0;
	nic->nregions = 0;
	nic->region_bytes = 0;
	nic->nptags = 0;
	vipl_list_init(&nic->cached);
	vipl_list_init(&nic->mem_sleepers);
	return nic->chunks && nic->ptags && nic->ptag_gen ? 0 : -1;
}

/* The NIC handle closes: the transport lets go of regions. */
void eng_regions_end(struct eng_nic *nic)
{
	uint32_t i;

	for (i = 1; i < nic->region_slots; i++)
		if (region_at(nic, i)->handle && nic->t->dereg)
			nic->t->dereg(nic, region_at(nic, i)->priv);
}

void eng_regions_free(struct eng_nic *nic)
{
	uint32_t i;

	for (i = 0; nic->chunks && i < NCHUNKS; i++)
		free(nic->chunks[i]);
	free(nic->chunks);
	free(nic->ptags);
	free(nic->ptag_gen);
	nic->chunks = NULL;
	nic->ptags = NULL;
	nic->ptag_gen = NULL;
}

/* A free slot: the one that was freed longest ago, or a new one. */
static struct eng_region *slot_get(struct eng_nic *nic, uint32_t *index)
{
	struct eng_region *r;
	uint32_t i = nic->free_first;

	/* So many rest before they are used again, as long as there are new. */
	if (nic->region_slots <= ENG_REGIONS &&
	    (!i || nic->region_slots < ENG_CHUNK)) {
		i = nic->region_slots;
		if (!nic->chunks[i / ENG_CHUNK])
			nic->chunks[i / ENG_CHUNK] =
				calloc(ENG_CHUNK, nic->region_stride);
		if (!nic->chunks[i / ENG_CHUNK])
			return NULL;
		nic->region_slots++;
	} else if (i) {
		r = region_at(nic, i);
		nic->free_first = r->next_free;
		if (!nic->free_first)
			nic->free_last = 0;
	} else {
		return NULL;
	}
	*index = i;
	return region_at(nic, i);
}

static void slot_put(struct eng_nic *nic, struct eng_region *r, uint32_t i)
{
	r->handle = 0;
	r->next_free = 0;
	if (nic->free_last)
		region_at(nic, nic->free_last)->next_free = i;
	else
		nic->free_first = i;
	nic->free_last = i;
}

static VIP_RETURN enter_region(struct eng_nic *nic, uint64_t addr, uint64_t len,
			       uint32_t ptag, uint32_t rights,
			       VIP_MEM_HANDLE *handle)
{
	struct eng_region *r;
	uint32_t i;

	if (!nic->live || nic->nregions >= nic->ident.regions ||
	    len > nic->ident.register_bytes - nic->region_bytes)
		return VIP_ERROR_RESOURCE;
	if (eng_ptag_use(nic, ptag))
		return VIP_INVALID_PTAG;
	r = slot_get(nic, &i);
	if (!r) {
		eng_ptag_unuse(nic, ptag);
		return VIP_ERROR_RESOURCE;
	}
	memset(r->priv, 0, nic->t->region_size);
	if (nic->t->reg && nic->t->reg(nic, r->priv, (void *)(uintptr_t)addr,
				       len)) {
		slot_put(nic, r, i);
		eng_ptag_unuse(nic, ptag);
		return VIP_ERROR_RESOURCE;
	}
	r->gen = (r->gen + 1) & ((1u << (32 - ENG_HANDLE_BITS)) - 1);
	r->start = addr;
	r->len = len;
	r->ptag = ptag;
	r->rights = rights;
	r->handle = r->gen << ENG_HANDLE_BITS | i;
	nic->nregions++;
	nic->region_bytes += len;
	*handle = r->handle;
	return VIP_SUCCESS;
}

VIP_RETURN eng_mem_register(struct vipl_nic *obj, void *addr, VIP_ULONG len,
			    uint32_t ptag, const VIP_MEM_ATTRIBUTES *attrs,
			    VIP_MEM_HANDLE *handle)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r;

	if (!len || len > nic->ident.block_bytes)
		return VIP_INVALID_PARAMETER;
	r = bring_in((uintptr_t)addr, len);
	if (r != VIP_SUCCESS)
		return r;
	eng_enter(nic);
	r = enter_region(nic, (uintptr_t)addr, len, ptag,
			 via_rights(attrs->EnableRdmaWrite,
				    attrs->EnableRdmaRead), handle);
	eng_leave(nic);
	return r;
}

/* The region that was found for the VI is kept. */
void eng_cache_fill(struct eng_nic *nic, struct eng_vi *v,
		    struct eng_region_cache *cache, const struct eng_region *r)
{
	if (vipl_list_empty(&v->cached))
		vipl_list_add_tail(&v->cached, &nic->cached);
	cache->handle = r->handle;
	cache->start = r->start;
	cache->len = r->len;
	cache->descs = r->len < ENG_DESC_LEN ? 0 : r->len - ENG_DESC_LEN + 1;
}

/* A region has gone, or its tag or that of a VI is another one. */
void eng_caches_drop(struct eng_nic *nic)
{
	struct vipl_list *l;
	struct eng_vi *v;

	while ((l = vipl_list_pop(&nic->cached))) {
		v = vipl_container(l, struct eng_vi, cached);
		memset(v->q[VIPL_SENDQ].cache, 0, sizeof(v->q[0].cache));
		memset(v->q[VIPL_RECVQ].cache, 0, sizeof(v->q[0].cache));
	}
}

/* The program names a region by its start and its handle, both. */
static struct eng_region *find_named(struct eng_nic *nic, void *addr,
				     VIP_MEM_HANDLE handle)
{
	struct eng_region *r = nic->live ? eng_region_find(nic, handle) : NULL;

	return r && r->start == (uintptr_t)addr ? r : NULL;
}

static int is_pinned(const struct eng_pin *p, uint32_t n,
		     const struct eng_region *r, uint32_t epoch)
{
	while (n--)
		if (p[n].r == r && p[n].epoch == epoch)
			return 1;
	return 0;
}

/* Does a transfer of the VI use the region since before that epoch's end? */
static int vi_uses_region(const struct eng_vi *v, const struct eng_region *r,
			  uint32_t epoch)
{
	const struct eng_queue *q = &v->q[VIPL_SENDQ];
	const struct eng_export *e;
	const struct eng_rndv *x;
	const struct vipl_list *l;
	uint32_t i;

	for (l = v->rndvs.next; l != &v->rndvs; l = l->next) {
		x = vipl_container(l, struct eng_rndv, link);
		if (is_pinned(x->pin, x->npins, r, epoch))
			return 1;
	}
	for (l = v->answers.next; l != &v->answers; l = l->next) {
		e = vipl_container(l, struct eng_export, link);
		if (is_pinned(e->pin, e->n, r, epoch))
			return 1;
	}
	for (i = eng_get(&q->done); i != q->next; i++) {
		e = q->slots[i & (ENG_QUEUE - 1)].export;
		if (e && is_pinned(e->pin, e->n, r, epoch))
			return 1;
	}
	return 0;
}

/* Break what still uses a region after so long, and nothing else. */
static void give_up(struct eng_nic *nic, const struct eng_region *r,
		    uint32_t epoch)
{
	struct eng_vi *v;
	uint32_t i;

	for (i = 0; i < ENG_VIS; i++) {
		v = nic->vis[i];
		if (v && v->state == VIP_STATE_CONNECTED &&
		    vi_uses_region(v, r, epoch))
			eng_break(nic, v);
	}
}

/*
 * Wait until every transfer that has begun is over with a region. The thread
 * has claimed it: there is one such wait of a region at a time, and two epochs
 * suffice. A peer that does not take what was exported to it of the region
 * loses its connection.
 */
static void quiesce_region(struct eng_nic *nic, struct eng_region *r)
{
	uint32_t epoch = r->epoch;
	uint64_t late = ENG_FOREVER;

	r->epoch = !epoch;
	while (r->pins[epoch] && nic->live) {
		if (late == ENG_FOREVER)
			late = eng_now() + WAIT_NS;
		if (eng_sleep(nic, &nic->mem_sleepers, late)) {
			give_up(nic, r, epoch);
			late = eng_now() + WAIT_NS;
		}
	}
}

/* As find_named(), once no other thread changes it; then unclaim_region(). */
static struct eng_region *claim_region(struct eng_nic *nic, void *addr,
				       VIP_MEM_HANDLE handle)
{
	struct eng_region *r;

	while ((r = find_named(nic, addr, handle)) && r->changing)
		eng_sleep(nic, &nic->mem_sleepers, ENG_FOREVER);
	if (r)
		r->changing = 1;
	return r;
}

static void unclaim_region(struct eng_nic *nic, struct eng_region *r)
{
	r->changing = 0;
	eng_wake(nic, &nic->mem_sleepers);
}

VIP_RETURN eng_mem_deregister(struct vipl_nic *obj, void *addr,
			      VIP_MEM_HANDLE handle)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct eng_region *reg;

	eng_enter(nic);
	reg = claim_region(nic, addr, handle);
	if (!reg)
		goto out;
	/* No transfer finds the region any more; those that found it end. */
	reg->handle = 0;
	eng_caches_drop(nic);
	quiesce_region(nic, reg);
	quiesce_region(nic, reg);
	if (nic->t->dereg)
		nic->t->dereg(nic, reg->priv);
	eng_ptag_unuse(nic, reg->ptag);
	nic->nregions--;
	nic->region_bytes -= reg->len;
	unclaim_region(nic, reg);
	slot_put(nic, reg, handle & ENG_HANDLE_MASK);
	r = VIP_SUCCESS;
out:
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_mem_query(struct vipl_nic *obj, void *addr,
			 VIP_MEM_HANDLE handle, uint32_t *ptag,
			 VIP_MEM_ATTRIBUTES *attrs)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct eng_region *reg;

	eng_enter(nic);
	reg = find_named(nic, addr, handle);
	if (reg) {
		*ptag = reg->ptag;
		*attrs = (VIP_MEM_ATTRIBUTES){
			.EnableRdmaWrite = reg->rights & VIA_RDMA_WRITE ?
					   VIP_TRUE : VIP_FALSE,
			.EnableRdmaRead = reg->rights & VIA_RDMA_READ ?
					  VIP_TRUE : VIP_FALSE,
		};
		r = VIP_SUCCESS;
	}
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_mem_set(struct vipl_nic *obj, void *addr, VIP_MEM_HANDLE handle,
		       uint32_t ptag, const VIP_MEM_ATTRIBUTES *attrs)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint32_t rights = via_rights(attrs->EnableRdmaWrite,
				     attrs->EnableRdmaRead), old;
	struct eng_region *reg;
	int less;

	eng_enter(nic);
	reg = claim_region(nic, addr, handle);
	if (!reg)
		goto out;
	r = VIP_INVALID_PTAG;
	if (eng_ptag_use(nic, ptag))
		goto claimed;
	old = reg->ptag;
	less = reg->rights & ~rights || old != ptag;
	reg->rights = rights;
	reg->ptag = ptag;
	eng_caches_drop(nic);
	if (less)
		quiesce_region(nic, reg);
	eng_ptag_unuse(nic, old);
	r = VIP_SUCCESS;
claimed:
	unclaim_region(nic, reg);
out:
	eng_leave(nic);
	return r;
}
