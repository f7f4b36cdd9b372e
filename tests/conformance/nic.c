// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "nic.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ARENA_LEN	(1024u << 10)

static size_t used;

size_t pages_used(void)
{
	return __atomic_load_n(&used, __ATOMIC_RELAXED);
}

void *pages(size_t len)
{
	void *p;

	__atomic_fetch_add(&used, len, __ATOMIC_RELAXED);
	p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	struct nic *n = context;

	pthread_mutex_lock(&n->lock);
	n->log[n->errors++ % ERROR_LOG] = *e;
	pthread_cond_broadcast(&n->news);
	pthread_mutex_unlock(&n->lock);
}

VIP_RETURN nic_listen(struct nic *n)
{
	pthread_mutex_lock(&n->lock);
	n->errors = 0;
	pthread_mutex_unlock(&n->lock);
	return VipErrorCallback(n->h, n, on_error);
}

static VIP_RETURN nic_memory(struct nic *n, unsigned int shift)
{
	VIP_MEM_ATTRIBUTES m = { NULL, VIP_TRUE, VIP_FALSE };
	VIP_MEM_HANDLE unused;
	VIP_RETURN rc;

	rc = VipCreatePtag(n->h, &n->ptag);
	while (rc == VIP_SUCCESS && shift--)
		rc = VipRegisterMem(n->h, pages(16 * 4096), 4096, NULL,
				    &unused);
	if (rc != VIP_SUCCESS)
		return rc;
	m.Ptag = n->ptag;
	m.EnableRdmaRead = n->attr.RDMAReadSupport ? VIP_TRUE : VIP_FALSE;
	n->slots = pages(DESC_SLOTS * XFER_DESC_SIZE);
	n->arena_len = ARENA_LEN;
	n->arena = pages(n->arena_len);
	if (!n->slots || !n->arena)
		return VIP_ERROR_RESOURCE;
	rc = VipRegisterMem(n->h, n->arena, n->arena_len, &m, &n->arena_h);
	if (rc != VIP_SUCCESS)
		return rc;
	m.EnableRdmaWrite = VIP_FALSE;
	m.EnableRdmaRead = VIP_FALSE;
	return VipRegisterMem(n->h, n->slots, DESC_SLOTS * XFER_DESC_SIZE, &m,
			      &n->slots_h);
}

VIP_RETURN nic_open(struct nic *n, const char *device, unsigned int shift)
{
	pthread_condattr_t attr;
	VIP_RETURN rc;

	memset(n, 0, sizeof(*n));
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->news, &attr);
	rc = VipOpenNic(device, &n->h);
	if (rc == VIP_SUCCESS)
		rc = VipQueryNic(n->h, &n->attr);
	if (rc == VIP_SUCCESS)
		rc = nic_listen(n);
	if (rc == VIP_SUCCESS)
		rc = nic_memory(n, shift);
	return rc;
}

VIP_VI_ATTRIBUTES vi_attributes(struct nic *n, VIP_RELIABILITY_LEVEL level)
{
	VIP_VI_ATTRIBUTES a = { level, n->attr.MaxTransferSize, NULL, n->ptag,
				VIP_TRUE, VIP_FALSE };

	return a;
}

VIP_DESCRIPTOR *nic_slot(struct nic *n)
{
	unsigned int i = __atomic_fetch_add(&n->next_slot, 1, __ATOMIC_RELAXED);

	return (void *)(n->slots + (size_t)(i % DESC_SLOTS) * XFER_DESC_SIZE);
}

static struct xfer *posted(struct nic *n, const VIP_DESCRIPTOR *d)
{
	size_t off = (const uint8_t *)d - n->slots;

	if ((const uint8_t *)d < n->slots ||
	    off >= DESC_SLOTS * XFER_DESC_SIZE || off % XFER_DESC_SIZE)
		return NULL;
	return &n->posted[off / XFER_DESC_SIZE];
}

const struct xfer *nic_posted(struct nic *n, const VIP_DESCRIPTOR *d)
{
	return posted(n, d);
}

VIP_RETURN nic_post_again(struct nic *n, VIP_VI_HANDLE vi, enum queue q,
			  const struct xfer *x, VIP_DESCRIPTOR **out)
{
	VIP_DESCRIPTOR *d = nic_slot(n);

	if (out)
		*out = d;
	*posted(n, d) = *x;
	xfer_build(d, x, XFER_DESC_SIZE);
	return q == SENDQ ? VipPostSend(vi, d, n->slots_h) :
			    VipPostRecv(vi, d, n->slots_h);
}

VIP_RETURN nic_post(struct nic *n, VIP_VI_HANDLE vi, enum queue q,
		    const struct xfer *x, VIP_DESCRIPTOR **out)
{
	if (q == SENDQ &&
	    (x->control & VIP_CONTROL_OP_MASK) != VIP_CONTROL_OP_RDMAREAD)
		xfer_fill(x);
	else
		xfer_guard(x);
	return nic_post_again(n, vi, q, x, out);
}

static struct done outcome(VIP_RETURN rc, VIP_DESCRIPTOR *d)
{
	struct done r = { .rc = rc, .d = d };

	if (d && d != DONE_POISON &&
	    (rc == VIP_SUCCESS || rc == VIP_DESCRIPTOR_ERROR)) {
		r.status = d->CS.Status;
		r.length = d->CS.Length;
		r.immediate = d->CS.ImmediateData;
	}
	return r;
}

struct done poll_done(VIP_VI_HANDLE vi, enum queue q)
{
	VIP_DESCRIPTOR *d = DONE_POISON;
	VIP_RETURN rc;

	rc = q == SENDQ ? VipSendDone(vi, &d) : VipRecvDone(vi, &d);
	return outcome(rc, d);
}

struct done wait_done(VIP_VI_HANDLE vi, enum queue q, VIP_ULONG timeout_ms)
{
	VIP_DESCRIPTOR *d = DONE_POISON;
	VIP_RETURN rc;

	rc = q == SENDQ ? VipSendWait(vi, timeout_ms, &d) :
			  VipRecvWait(vi, timeout_ms, &d);
	return outcome(rc, d);
}

static unsigned int find_errors(struct nic *n, VIP_VI_HANDLE vi,
				VIP_ERROR_CODE code, VIP_ERROR_DESCRIPTOR *out)
{
	unsigned int i, found = 0;

	for (i = 0; i < n->errors && i < ERROR_LOG; i++) {
		if (n->log[i].ErrorCode != code ||
		    (vi && n->log[i].ViHandle != vi))
			continue;
		if (out)
			*out = n->log[i];
		found++;
	}
	return found;
}

unsigned int nic_errors(struct nic *n, VIP_VI_HANDLE vi, VIP_ERROR_CODE code)
{
	unsigned int found;

	pthread_mutex_lock(&n->lock);
	found = find_errors(n, vi, code, NULL);
	pthread_mutex_unlock(&n->lock);
	return found;
}

unsigned int nic_error_wait(struct nic *n, VIP_VI_HANDLE vi,
			    VIP_ERROR_CODE code, unsigned int want,
			    unsigned int timeout_ms,
			    VIP_ERROR_DESCRIPTOR *out)
{
	struct timespec until;
	unsigned int found;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&n->lock);
	while ((found = find_errors(n, vi, code, out)) < want &&
	       err != ETIMEDOUT)
		err = pthread_cond_timedwait(&n->news, &n->lock, &until);
	pthread_mutex_unlock(&n->lock);
	return found;
}

void net_address(struct net_address *a, const void *host, unsigned int host_len,
		 const void *disc, unsigned int disc_len)
{
	memset(a, XFER_GUARD, sizeof(*a));
	a->a.HostAddressLen = host_len;
	a->a.DiscriminatorLen = disc_len;
	memcpy(a->bytes + offsetof(VIP_NET_ADDRESS, HostAddress), host,
	       host_len);
	memcpy(a->bytes + offsetof(VIP_NET_ADDRESS, HostAddress) + host_len,
	       disc, disc_len);
}

void own_address(struct nic *n, struct net_address *a, const void *disc,
		 unsigned int disc_len)
{
	net_address(a, n->attr.LocalNicAddress, n->attr.NicAddressLen, disc,
		    disc_len);
}
