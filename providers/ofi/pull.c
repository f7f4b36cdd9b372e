// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Pulls: reads of libfabric from what the other end exported. What is exported
 * is registered for that alone, to be read and never written, under a key that
 * cannot be guessed, and exactly as long as the engine says: with tcp it costs
 * a microsecond, and the key of a range that is gone ends the connection.
 *
 * libfabric's tcp sends from the memory itself when the other end reads. Where
 * the program had unmapped it meanwhile, libfabric would send less than it has
 * announced, and go on with the next message in the middle of that one: a copy is
 * exported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ofi.h"

#define BUCKETS		1024		/* of exported ranges; a power of two */
#define COPY_MIN	256u		/* bytes of the smallest copy */
#define COPY_SIZES	13		/* each twice the one before it */
#define COPIES_IDLE	(8u << 20)	/* bytes of them that are kept */

struct mr {
	struct mr *next;
	struct fab_mr fab;
	uint8_t *copy;			/* NULL: it is the program's memory */
	unsigned int size;		/* of the copy: COPY_MIN << size */
};

struct ofi_mrs {
	struct mr *bucket[BUCKETS];	/* by key */
	struct mr *idle;		/* without copies */
	struct mr *copies[COPY_SIZES];	/* idle, by size */
	size_t kept;			/* bytes of those */
};

void ofi_pulls_init(struct ofi_nic *n)
{
	n->pulls_tail = &n->pulls;
}

static void free_list(struct mr *m)
{
	struct mr *next;

	for (; m; m = next) {
		next = m->next;
		free(m->copy);
		free(m);
	}
}

/* The endpoint is closed: nothing is under way any more. */
void ofi_pulls_free(struct ofi_nic *n)
{
	struct ofi_read *r;
	struct ofi_pull *t;
	unsigned int i;

	while ((t = n->pulls)) {
		n->pulls = t->next;
		free(t);
	}
	n->idle_reads = NULL;
	while ((r = n->reads)) {
		n->reads = r->all;
		free(r->buf);
		free(r);
	}
	if (!n->mrs)
		return;
	for (i = 0; i < BUCKETS; i++)
		free_list(n->mrs->bucket[i]);
	for (i = 0; i < COPY_SIZES; i++)
		free_list(n->mrs->copies[i]);
	free_list(n->mrs->idle);
	free(n->mrs);
	n->mrs = NULL;
}

static struct mr **mr_bucket(struct ofi_nic *n, uint64_t key)
{
	return &n->mrs->bucket[(key * 0x9e3779b97f4a7c15u) >> 54];
}

static struct mr *take_mr(struct mr **list)
{
	struct mr *m = *list;

	if (!m)
		return calloc(1, sizeof(*m));
	*list = m->next;
	return m;
}

static struct mr *new_copy(struct ofi_mrs *mrs, size_t len)
{
	unsigned int size = 0;
	struct mr *m;

	while (size < COPY_SIZES && (COPY_MIN << size) < len)
		size++;
	if (size == COPY_SIZES)
		return NULL;
	m = take_mr(&mrs->copies[size]);
	if (!m)
		return NULL;
	m->size = size;
	if (m->copy)
		mrs->kept -= COPY_MIN << size;
	else
		m->copy = malloc(COPY_MIN << size);
	if (m->copy)
		return m;
	free(m);
	return NULL;
}

static struct mr *new_mr(struct ofi_nic *n, size_t len)
{
	if (!n->mrs)
		n->mrs = calloc(1, sizeof(*n->mrs));
	if (!n->mrs)
		return NULL;
	return fab_pins(&n->fab) ? take_mr(&n->mrs->idle) :
				   new_copy(n->mrs, len);
}

static void old_mr(struct ofi_mrs *mrs, struct mr *m)
{
	struct mr **list = m->copy ? &mrs->copies[m->size] : &mrs->idle;
	size_t bytes = m->copy ? COPY_MIN << m->size : 0;

	if (mrs->kept + bytes > COPIES_IDLE) {
		free(m->copy);
		free(m);
		return;
	}
	mrs->kept += bytes;
	m->next = *list;
	*list = m;
}

/* Export memory that other ends are to read, if it is there. */
static const void *export_source(struct mr *m, const void *addr, size_t len)
{
	if (!m->copy)
		return eng_readable((uintptr_t)addr, len) ? addr : NULL;
	return eng_copy_out(m->copy, (uintptr_t)addr, len) ? NULL : m->copy;
}

int ofi_export_mem(struct eng_peer *peer, void *region, const void *addr,
		   size_t len, struct eng_src *src)
{
	struct ofi_nic *n = ofi_peer_of(peer)->on;
	struct mr *m = new_mr(n, len), **b;
	const void *from;
	int err = -ESHUTDOWN;

	(void)region;
	if (!m)
		return -ENOMEM;
	from = export_source(m, addr, len);
	if (!from) {
		err = -EFAULT;
	} else if (ofi_enter(n)) {
		err = fab_export_mem(&n->fab, from, len, &m->fab);
		ofi_leave(n);
	}
	if (err) {
		old_mr(n->mrs, m);
		return err;
	}
	b = mr_bucket(n, m->fab.key);
	m->next = *b;
	*b = m;
	src->base = m->fab.base;
	src->key = m->fab.key;
	src->len = len;
	return 0;
}

void ofi_unexport_mem(struct eng_peer *peer, const struct eng_src *src)
{
	struct ofi_nic *n = ofi_peer_of(peer)->on;
	struct mr **b, *m;

	if (!n->mrs)
		return;
	b = mr_bucket(n, src->key);
	while (*b && (*b)->fab.key != src->key)
		b = &(*b)->next;
	m = *b;
	if (!m)
		return;
	*b = m->next;
	if (ofi_enter(n)) {
		fab_unexport_mem(&m->fab);
		ofi_leave(n);
	}
	old_mr(n->mrs, m);
}

/*
 * Pulls of a lost peer are not reported: the engine hears of the peer when the
 * last read has ended, and its connections end with everything flushed. Or a
 * kill of the other end would look like an error of one message's, or not,
 * depending on which socket tells of it first.
 */
static void finish_pull(struct ofi_pull *t)
{
	if (t->pull && t->peer->state == OFI_UP)
		eng_pulled(t->peer->eng, t->pull, t->err);
	free(t);
}

/* The next piece: contiguous at both ends. 0 if there is none. */
static uint64_t next_piece(const struct ofi_pull *t, uint64_t max)
{
	const struct eng_pull *e = t->pull;
	uint64_t len = t->left < max ? t->left : max;
	uint64_t src = e->src[t->src].len - t->src_at;
	uint64_t dst = e->dst[t->dst].iov_len - t->dst_at;

	len = len < src ? len : src;
	return len < dst ? len : dst;
}

/* Past what is used up; empty segments are skipped. */
static void advance_pull(struct ofi_pull *t, uint64_t len)
{
	const struct eng_pull *e = t->pull;

	t->left -= len;
	t->src_at += len;
	t->dst_at += len;
	while (t->src < e->nsrc && t->src_at == e->src[t->src].len) {
		t->src++;
		t->src_at = 0;
	}
	while (t->dst < e->ndst && t->dst_at == e->dst[t->dst].iov_len) {
		t->dst++;
		t->dst_at = 0;
	}
	/* The other end's segments do not add up. */
	if (t->left && (t->src == e->nsrc || t->dst == e->ndst)) {
		t->left = 0;
		t->err = -EPROTO;
	}
}

static struct ofi_read *new_read(struct ofi_nic *n)
{
	struct ofi_read *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->all = n->reads;
	n->reads = r;
	n->idle_reads = r;
	return r;
}

/* A read that is not in use, with its buffer: it stays the first of those. */
static struct ofi_read *idle_read(struct ofi_nic *n)
{
	struct ofi_read *r = n->idle_reads;

	if (!r)
		r = new_read(n);
	if (!r || r->buf)
		return r;
	r->buf = malloc(OFI_READ_MAX);
	if (!r->buf)
		return NULL;
	n->idle_bufs++;
	return r;
}

/* A read without a buffer comes first only where the others have none. */
static void not_in_use(struct ofi_nic *n, struct ofi_read *r)
{
	struct ofi_read **at = &n->idle_reads;

	r->of = NULL;
	if (n->idle_bufs < OFI_READS_IDLE) {
		n->idle_bufs++;
	} else {
		free(r->buf);
		r->buf = NULL;
		while (*at && (*at)->buf)
			at = &(*at)->next;
	}
	r->next = *at;
	*at = r;
}

static int ask_read(struct ofi_nic *n, struct ofi_pull *t)
{
	const struct eng_pull *e = t->pull;
	uint64_t max = fab_read_max(&n->fab), len;
	struct ofi_read *r;
	int err;

	if (t->peer->state != OFI_UP)
		return -ECONNRESET;
	if (t->peer->reads == OFI_READS)
		return -EAGAIN;
	r = idle_read(n);
	if (!r)
		return -ENOMEM;
	len = next_piece(t, max < OFI_READ_MAX ? max : OFI_READ_MAX);
	err = fab_read_start(&n->fab, t->peer->to, r->buf, len,
			     e->src[t->src].base + t->src_at,
			     e->src[t->src].key, &r->fab);
	if (err)
		return err;
	n->idle_reads = r->next;
	n->idle_bufs--;
	r->of = t;
	r->to = (uint8_t *)e->dst[t->dst].iov_base + t->dst_at;
	r->len = len;
	t->reads++;
	t->peer->reads++;
	advance_pull(t, len);
	return 0;
}

/* Ask for what is left: 0, or -EAGAIN: some of it is left. */
static int go_on(struct ofi_nic *n, struct ofi_pull *t)
{
	int err;

	while (t->left) {
		err = ask_read(n, t);
		if (err == -EAGAIN)
			return err;
		if (err) {
			t->err = err;
			t->left = 0;
			ofi_lose(t->peer, err);
		}
	}
	return 0;
}

static void take_off(struct ofi_nic *n, struct ofi_pull **at)
{
	struct ofi_pull *t = *at;

	*at = t->next;
	t->queued = 0;
	if (n->pulls_tail == &t->next)
		n->pulls_tail = at;
}

/* Pulls from a peer that does not answer are in no other's way. */
void ofi_pulls(struct ofi_nic *n)
{
	struct ofi_pull **at = &n->pulls, *t;

	while ((t = *at)) {
		if (go_on(n, t)) {
			at = &t->next;
			continue;
		}
		take_off(n, at);
		if (!t->reads)
			finish_pull(t);
	}
}

int ofi_pull_start(struct eng_peer *peer, struct eng_pull *pull)
{
	struct ofi_peer *p = ofi_peer_of(peer);
	struct ofi_nic *n = p->on;
	struct ofi_pull *t;

	/* The engine hears of a lost peer soon; this one is not reported. */
	if (p->state != OFI_UP)
		return 0;
	if (!pull->nsrc || !pull->ndst)
		return -EPROTO;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->peer = p;
	t->pull = pull;
	t->left = pull->len;
	advance_pull(t, 0);
	t->queued = 1;
	*n->pulls_tail = t;
	n->pulls_tail = &t->next;
	if (ofi_enter(n)) {
		ofi_pulls(n);
		ofi_leave(n);
	}
	return 0;
}

void ofi_read_done(void *nic, struct fab_read *read, int err)
{
	struct ofi_read *r = (struct ofi_read *)read;
	struct ofi_pull *t = r->of;
	struct ofi_nic *n = nic;

	if (!err && !t->err && t->pull)
		t->err = eng_copy_in((uintptr_t)r->to, r->buf, r->len);
	not_in_use(n, r);
	t->reads--;
	if (err && !t->err)
		t->err = err;
	if (t->peer) {
		t->peer->reads--;
		if (err)
			ofi_lose(t->peer, err);
	}
	/* A pull that is queued ends in ofi_pulls(). */
	if (t->err)
		t->left = 0;
	if (!t->reads && !t->queued)
		finish_pull(t);
}

void ofi_pulls_forget(struct ofi_peer *p)
{
	struct ofi_nic *n = p->on;
	struct ofi_pull **at = &n->pulls, *t;
	struct ofi_read *r;

	while ((t = *at)) {
		if (t->peer != p) {
			at = &t->next;
			continue;
		}
		take_off(n, at);
		t->left = 0;
		if (!t->reads)
			free(t);
	}
	for (r = n->reads; r; r = r->all)
		if (r->of && r->of->peer == p)
			r->of->pull = NULL;
}

void ofi_pulls_orphan(struct ofi_peer *p)
{
	struct ofi_read *r;

	for (r = p->on->reads; r; r = r->all)
		if (r->of && r->of->peer == p)
			r->of->peer = NULL;
}
