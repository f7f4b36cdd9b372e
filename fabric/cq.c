// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Completion queues: what a program calls.  The entries: comp.c. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fab.h"

static struct via_cq *cq_of(struct fid_cq *cq)
{
	return vipl_container(cq, struct via_cq, fid);
}

static size_t entry_size(enum fi_cq_format f)
{
	switch (f) {
	case FI_CQ_FORMAT_CONTEXT:
		return sizeof(struct fi_cq_entry);
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	default:
		return sizeof(struct fi_cq_tagged_entry);
	}
}

/* Each form of an entry is the beginning of the next longer one. */
static ssize_t take_entries(struct via_cq *cq, void *buf, size_t count)
{
	size_t size = entry_size(cq->format), n = 0;
	struct via_comp *c;

	while (n < count && cq->count) {
		c = &cq->ring[cq->head & (cq->size - 1)];
		if (c->err)
			break;
		memcpy((char *)buf + n++ * size, &c->e, size);
		cq->head++;
		cq->count--;
	}
	if (n)
		return (ssize_t)n;
	if (cq->count && count)
		return -FI_EAVAIL;
	return cq->overrun ? -FI_EOVERRUN : -FI_EAGAIN;
}

/*
 * A thread that spins here may be what keeps from the processor the thread
 * that it waits for: ksoftirqd, which takes a burst of frames in, or another
 * rank where there are more of them than processors.  On a machine of one
 * processor nothing but an interrupt brings what it waits for.  Sleeping costs
 * an answer of a few bytes half of its time, so it sleeps in long waits only;
 * and not for long, since a connection is looked at by its next calls.
 */
static void rest_between_polls(struct via_cq *cq, bool long_wait)
{
	const struct timespec longest = { .tv_nsec = VIA_REST_NS };
	struct via_nic *nic = cq->nic;
	struct pollfd fd[VIA_CQS];
	bool idle;
	int i;

	if (!long_wait) {
		sched_yield();
		return;
	}
	for (i = 0; i < VIA_CQS; i++)
		fd[i] = (struct pollfd){ nic->cq_fd[i], POLLIN, 0 };
	pthread_mutex_lock(&nic->lock);
	via_arm_data(nic);
	via_progress(nic);
	idle = !cq->count && !cq->overrun;
	pthread_mutex_unlock(&nic->lock);
	if (idle)
		ppoll(fd, VIA_CQS, &longest, NULL);
}

/* Whether reads have been in vain for long, on a machine of one processor. */
static bool is_long(struct via_cq *cq)
{
	if (!cq->nic->alone)
		return false;
	if (cq->dry == VIA_DRY) {
		cq->dry_ns = via_now();
		return false;
	}
	return via_now() - cq->dry_ns > VIA_LONG_NS;
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	struct via_cq *cq = cq_of(fid);
	bool dry = false, long_wait = false;
	ssize_t ret;

	pthread_mutex_lock(&cq->nic->lock);
	via_progress_poll(cq->nic);
	ret = take_entries(cq, buf, count);
	if (ret != -FI_EAGAIN)
		cq->dry = 0;
	else
		dry = !(++cq->dry % VIA_DRY);
	if (dry)
		long_wait = is_long(cq);
	pthread_mutex_unlock(&cq->nic->lock);
	if (dry)
		rest_between_polls(cq, long_wait);
	return ret;
}

static void set_unknown_sources(fi_addr_t *src, ssize_t n)
{
	ssize_t i;

	for (i = 0; src && i < n; i++)
		src[i] = FI_ADDR_NOTAVAIL;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count,
			   fi_addr_t *src)
{
	ssize_t ret = cq_read(fid, buf, count);

	set_unknown_sources(src, ret);
	return ret;
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf,
			  uint64_t flags)
{
	struct via_cq *cq = cq_of(fid);
	ssize_t ret = -FI_EAGAIN;
	struct via_comp *c;

	(void)flags;
	pthread_mutex_lock(&cq->nic->lock);
	c = &cq->ring[cq->head & (cq->size - 1)];
	if (cq->count && c->err) {
		buf->op_context = c->e.op_context;
		buf->flags = c->e.flags;
		buf->len = c->e.len;
		buf->buf = c->e.buf;
		buf->data = c->e.data;
		buf->tag = 0;
		buf->olen = c->olen;
		buf->err = c->err;
		buf->prov_errno = c->prov;
		/* The program's buffer, if it has one: there are no data. */
		buf->err_data_size = 0;
		cq->head++;
		cq->count--;
		ret = 1;
	}
	pthread_mutex_unlock(&cq->nic->lock);
	return ret;
}

/* Ask for the wait object to be readable.  Returns whether there is something already. */
static bool arm_cq_wait(struct via_cq *cq)
{
	via_wait_clear(&cq->wait);
	cq->armed = true;
	via_arm_data(cq->nic);
	via_progress(cq->nic);
	return cq->count || cq->overrun || cq->signalled;
}

int via_cq_trywait(struct via_cq *cq)
{
	int ret;

	if (!cq->wait.on)
		return -FI_EINVAL;
	pthread_mutex_lock(&cq->nic->lock);
	via_progress(cq->nic);
	ret = cq->count || arm_cq_wait(cq) ? -FI_EAGAIN : 0;
	pthread_mutex_unlock(&cq->nic->lock);
	return ret;
}

/* Entries there, or a signal; or room for an operation that had found none. */
static bool cq_is_ready(struct via_cq *cq, size_t want, uint32_t kicks)
{
	const struct via_comp *c = &cq->ring[cq->head & (cq->size - 1)];

	return cq->count >= want || (cq->count && c->err) || cq->overrun ||
	       cq->signalled || cq->nic->kicks != kicks;
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count,
			const void *cond, int timeout)
{
	struct via_cq *cq = cq_of(fid);
	uint64_t end = via_wait_end(timeout);
	size_t want = 1;
	uint32_t kicks;
	ssize_t ret;
	bool over;

	if (!cq->wait.on)
		return -FI_ENOSYS;
	if (cq->cond == FI_CQ_COND_THRESHOLD && cond) {
		want = (size_t)(uintptr_t)cond;
		want = want > count ? count : want ? want : 1;
	}
	pthread_mutex_lock(&cq->nic->lock);
	kicks = cq->nic->kicks;
	for (over = false; !over;) {
		via_progress(cq->nic);
		if (cq_is_ready(cq, want, kicks) || !timeout)
			break;
		arm_cq_wait(cq);
		if (cq_is_ready(cq, want, kicks))
			break;
		pthread_mutex_unlock(&cq->nic->lock);
		over = !via_wait_for(&cq->wait, end);
		pthread_mutex_lock(&cq->nic->lock);
	}
	if (over)
		via_progress(cq->nic);
	ret = take_entries(cq, buf, count);
	cq->signalled = false;
	pthread_mutex_unlock(&cq->nic->lock);
	return ret;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count,
			    fi_addr_t *src, const void *cond, int timeout)
{
	ssize_t ret = cq_sread(fid, buf, count, cond, timeout);

	set_unknown_sources(src, ret);
	return ret;
}

static int cq_signal(struct fid_cq *fid)
{
	struct via_cq *cq = cq_of(fid);

	if (!cq->wait.on)
		return -FI_ENOSYS;
	pthread_mutex_lock(&cq->nic->lock);
	cq->signalled = true;
	via_cq_tell(cq);
	pthread_mutex_unlock(&cq->nic->lock);
	return 0;
}

static const char *cq_strerror(struct fid_cq *cq, int prov,
			       const void *err_data, char *buf, size_t len)
{
	(void)cq;
	(void)err_data;
	return via_strerror(prov, buf, len);
}

static struct fi_ops_cq cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = cq_read,
	.readfrom = cq_readfrom,
	.readerr = cq_readerr,
	.sread = cq_sread,
	.sreadfrom = cq_sreadfrom,
	.signal = cq_signal,
	.strerror = cq_strerror,
};

static void cq_free(struct via_cq *cq)
{
	via_wait_close(&cq->wait);
	free(cq->ring);
	free(cq);
}

static int cq_close(struct fid *fid)
{
	struct via_cq *cq = vipl_container(fid, struct via_cq, fid.fid);

	if (atomic_load(&cq->refs))
		return -FI_EBUSY;
	atomic_fetch_sub(&cq->domain->refs, 1);
	cq_free(cq);
	return 0;
}

static int cq_control(struct fid *fid, int command, void *arg)
{
	struct via_cq *cq = vipl_container(fid, struct via_cq, fid.fid);

	return via_wait_control(&cq->wait, command, arg);
}

static struct fi_ops cq_fid_ops = VIA_FID_OPS(cq_close, VIA_NO, cq_control);

static int open_wait(struct via_cq *cq, enum fi_wait_obj obj)
{
	int ret = via_wait_open(&cq->wait, obj);

	if (!ret && cq->wait.on)
		ret = via_wait_watch(&cq->wait,
				     cq->nic->cq_fd[VIA_CQ_DATA]) ? :
		      via_wait_watch(&cq->wait, cq->nic->cq_fd[VIA_CQ_CTL]);
	return ret;
}

int via_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr,
		struct fid_cq **out, void *context)
{
	struct via_domain *domain = vipl_container(fid, struct via_domain, fid);
	struct via_cq *cq;
	int ret;

	if (attr->format > FI_CQ_FORMAT_TAGGED || attr->flags & ~FI_AFFINITY)
		return -FI_EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &cq_fid_ops;
	cq->fid.ops = &cq_ops;
	cq->domain = domain;
	cq->nic = domain->nic;
	cq->format = attr->format == FI_CQ_FORMAT_UNSPEC ?
			FI_CQ_FORMAT_CONTEXT : attr->format;
	cq->cond = attr->wait_cond;
	cq->size = 256;
	cq->ring = malloc(cq->size * sizeof(*cq->ring));
	ret = open_wait(cq, attr->wait_obj);
	if (!cq->ring)
		ret = -FI_ENOMEM;
	if (ret) {
		cq_free(cq);
		return ret;
	}
	atomic_fetch_add(&domain->refs, 1);
	*out = &cq->fid;
	return 0;
}
