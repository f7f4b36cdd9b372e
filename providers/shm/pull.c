// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Pulls: bytes that the peer exported come here.
 *
 * One copy, by process_vm_readv(), where the kernel lets this process read the
 * peer's memory. That is tried in the handshake: a nonce that only the peer has
 * must be where it says. Each copy reads that nonce last, by the same system
 * call and so from the same memory: another process that has got the number of
 * one that is gone has none there, nor has a child (MADV_WIPEONFORK), another
 * program in its place, or a peer that has closed the NIC. Where a copy ends
 * before the nonce, the peer must be alive and have its control socket
 * afterwards. And what was copied is exported still, or it does not count.
 *
 * Else through the ring: RING_PULL asks, and the peer answers with RING_DATA
 * as there is room. What it exported for this peer, and nothing else, can be
 * asked for. It reads its own memory by the same system call, since a program
 * may have unmapped what it has registered: that is an error then, no signal.
 */
#include "shm.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Bytes at a time, under the lock: while there are others, and for one peer. */
#define STEP		(256u << 10)
#define STEP_ALONE	(1u << 20)
#define PIECES		32u		/* of one system call, beside the nonce */
#define PACKETS		16		/* of answers, at a time */

/* A pull that is under way; eng_pull.transport. */
struct fetch {
	uint64_t id;
	uint64_t done;			/* bytes */
	uint64_t step;			/* bytes of it in a batch */
	int asked;			/* the peer was; else by reading */
};

/* What one system call reads, of one pull or of several. */
struct batch {
	struct iovec to[PIECES + 1], from[PIECES + 1];
	unsigned int n, m;		/* of to, of from */
	uint64_t bytes, most;
};

/* Part of a list of ranges: from `skip` on, at most `most` bytes. */
struct iov_range {
	uint64_t skip, most;		/* bytes */
	struct iovec *out;
	unsigned int count, room;	/* of out */
};

/* One more range of the list; 0: no more is wanted. */
static int add_range(struct iov_range *p, void *base, uint64_t len)
{
	uint64_t n;

	if (!p->most || p->count == p->room)
		return 0;
	if (p->skip >= len) {
		p->skip -= len;
		return 1;
	}
	n = len - p->skip < p->most ? len - p->skip : p->most;
	p->out[p->count].iov_base = (char *)base + p->skip;
	p->out[p->count++].iov_len = (size_t)n;
	p->most -= n;
	p->skip = 0;
	return 1;
}

/* They fill p->out; bytes, at most p->most. */
static uint64_t ranges_of_src(struct iov_range p, const struct eng_src *src,
			      uint32_t n, unsigned int *count)
{
	uint64_t most = p.most;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!add_range(&p, (void *)(uintptr_t)src[i].base, src[i].len))
			break;
	*count = p.count;
	return most - p.most;
}

static uint64_t ranges_of_dst(struct iov_range p, const struct iovec *dst,
			      uint32_t n, unsigned int *count)
{
	uint64_t most = p.most;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!add_range(&p, dst[i].iov_base, dst[i].iov_len))
			break;
	*count = p.count;
	return most - p.most;
}

static ssize_t read_memory(pid_t pid, const struct iovec *to, unsigned int n,
			   const struct iovec *from, unsigned int m)
{
	ssize_t did = syscall(SYS_process_vm_readv, pid, to, n, from, m, 0);

	return did < 0 ? -errno : did;
}

/* The peer lives, and runs what it ran when it connected. */
static int is_there(const struct shm_peer *p)
{
	struct pollfd f[2] = {
		{ .fd = p->lp ? link_peer_fd(p->lp) : -1, .events = POLLRDHUP },
		{ .fd = p->lp ? link_peer_pidfd(p->lp) : -1, .events = POLLIN },
	};
	struct timespec none = { 0, 0 };
	long ready;

	if (f[0].fd < 0)
		return 0;

	/* A signal that is pending ends even a poll that does not wait. */
	do
		ready = syscall(SYS_ppoll, f, 2, &none, NULL, 0);
	while (ready < 0 && errno == EINTR);
	return !ready;
}

void shm_probe(struct shm_peer *p, uint64_t at, const uint64_t *nonce)
{
	uint64_t found[2] = { 0, 0 };
	struct iovec to = { found, sizeof(found) };
	struct iovec from = { (void *)(uintptr_t)at, sizeof(found) };

	if (p->n->pull == SHM_PULL_BOUNCE)
		return;
	p->pid = link_peer_pid(p->lp);
	if (p->pid <= 0)
		return;
	if (link_peer_pidfd(p->lp) < 0 ||
	    read_memory(p->pid, &to, 1, &from, 1) != sizeof(found) ||
	    found[0] != nonce[0] || found[1] != nonce[1] || !is_there(p)) {
		p->pid = 0;
		return;
	}
	p->nonce_at = at;
	p->nonce[0] = nonce[0];
	p->nonce[1] = nonce[1];
}

/*
 * Are all of its sources exported still? A thread that is stopped for longer
 * than the peer waits for it copies what the memory is used for by then: the
 * peer has taken it back first, and says so before the program has it again.
 */
static int still_exported(const struct shm_peer *p, const struct eng_pull *pull)
{
	uint32_t i, at, gen;

	/* Pairs with that of shm_unexport_mem(): after the bytes were read. */
	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < pull->nsrc; i++) {
		at = (uint32_t)pull->src[i].key;
		if (at >= STATUS_EXPORTS)
			return 0;
		gen = atomic_load_explicit(&p->status->export[at],
					   memory_order_relaxed);
		if (gen != pull->src[i].key >> 32)
			return 0;
	}
	return 1;
}

/*
 * Each call looks the process and its pages up anew, some 1 us. With one peer
 * nobody waits for its turn but this process's other threads.
 */
static void batch_begin(struct batch *b, const struct shm_peer *p)
{
	b->n = 0;
	b->m = 0;
	b->bytes = 0;
	b->most = p->n->npolled > 1 ? STEP : STEP_ALONE;
}

/* As much of a pull as there is room for; bytes. */
static uint64_t add_pull(struct batch *b, const struct eng_pull *pull,
			 uint64_t done)
{
	struct iov_range to = { .skip = done, .most = b->most - b->bytes,
				.out = b->to + b->n, .room = PIECES - b->n };
	struct iov_range from = { .skip = done, .out = b->from + b->m,
				  .room = PIECES - b->m };
	unsigned int n, m;
	uint64_t bytes;

	from.most = ranges_of_dst(to, pull->dst, pull->ndst, &n);
	bytes = ranges_of_src(from, pull->src, pull->nsrc, &m);
	if (bytes < from.most) {
		/* As many bytes of both: the next pull's are behind them. */
		to.most = bytes;
		ranges_of_dst(to, pull->dst, pull->ndst, &n);
	}
	b->n += n;
	b->m += m;
	b->bytes += bytes;
	return bytes;
}

/* Read it; bytes, fewer where memory is missing, or a negative errno. */
static ssize_t read_batch(struct shm_peer *p, struct batch *b)
{
	uint64_t nonce[2] = { 0, 0 };
	ssize_t did;

	b->to[b->n].iov_base = nonce;
	b->from[b->m].iov_base = (void *)(uintptr_t)p->nonce_at;
	b->to[b->n].iov_len = b->from[b->m].iov_len = sizeof(nonce);
	did = read_memory(p->pid, b->to, b->n + 1, b->from, b->m + 1);
	if (did == -EPERM || did == -ENOSYS) {
		p->pid = 0;		/* from now on through the ring */
		return -EAGAIN;
	}
	if (did <= 0)
		return did ? did : -EFAULT;
	if ((uint64_t)did < b->bytes + sizeof(nonce) ? !is_there(p) :
	    nonce[0] != p->nonce[0] || nonce[1] != p->nonce[1])
		return -ECONNRESET;
	return (uint64_t)did < b->bytes ? did : (ssize_t)b->bytes;
}

/* The first step of a pull that comes alone: bytes, or a negative errno. */
static ssize_t read_first(struct shm_peer *p, const struct eng_pull *pull)
{
	struct batch b;
	ssize_t did;

	batch_begin(&b, p);
	if (!add_pull(&b, pull, 0))
		return -EFAULT;
	did = read_batch(p, &b);
	return did > 0 && !still_exported(p, pull) ? -ESTALE : did;
}

/* Take a pull off the list; the engine has it again. */
static void finish_pull(struct shm_peer *p, struct eng_pull *pull, int err)
{
	struct eng_pull **at = &p->pulls;
	struct fetch *f = pull->transport;

	while (*at != pull)
		at = &(*at)->next;
	*at = pull->next;
	if (p->pulls_end == &pull->next)
		p->pulls_end = at;
	if (f->asked)
		p->asked--;
	free(f);
	pull->transport = NULL;
	eng_pulled(p->peer, pull, err);
}

/* One step of the oldest pulls, by one call. */
static int read_pulls(struct shm_peer *p)
{
	struct eng_pull *pull, *next;
	struct fetch *f;
	struct batch b;
	ssize_t did;

	batch_begin(&b, p);
	for (pull = p->pulls; pull; pull = pull->next) {
		f = pull->transport;
		f->step = add_pull(&b, pull, f->done);
		if (f->step < pull->len - f->done)
			break;
	}
	did = b.bytes ? read_batch(p, &b) : -EFAULT;
	if (did == -EAGAIN)
		return 0;
	if (did < 0)
		finish_pull(p, p->pulls, (int)did);
	for (pull = p->pulls; did > 0; pull = next) {
		next = pull->next;
		f = pull->transport;
		if (f->step > (uint64_t)did)
			f->step = (uint64_t)did;
		f->done += f->step;
		did -= (ssize_t)f->step;
		if (!still_exported(p, pull))
			finish_pull(p, pull, -ESTALE);
		else if (f->done == pull->len)
			finish_pull(p, pull, 0);
	}
	return 1;
}

/* One that others follow waits for them: one call reads them all. */
int shm_pull(struct eng_peer *peer, struct eng_pull *pull)
{
	struct shm_peer *p = eng_peer_priv(peer);
	ssize_t did = 0;
	struct fetch *f;

	if (!p->up || p->bad)
		return -ECONNRESET;
	if (p->pid && !p->pulls && !pull->more) {
		did = read_first(p, pull);
		if (did < 0 && did != -EAGAIN)
			return (int)did;
		if (did == (ssize_t)pull->len) {
			eng_pulled(peer, pull, 0);
			return 0;
		}
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->done = did > 0 ? (uint64_t)did : 0;
	pull->transport = f;
	pull->next = NULL;
	*p->pulls_end = pull;
	p->pulls_end = &pull->next;
	shm_work(p);
	if (p->pid && !did && !pull->more)
		read_pulls(p);
	return 0;
}

static int ask_pull(struct shm_peer *p, struct eng_pull *pull)
{
	uint32_t len = pull->nsrc * (uint32_t)sizeof(*pull->src);
	uint32_t lines = ring_lines(RING_PULL_HEAD + len);
	struct fetch *f = pull->transport;
	struct pull_head h = { .at = pull->len, .nsrc = pull->nsrc };
	struct ring_line *at;

	do {
		at = ring_claim(&p->out, lines);
	} while (!at && shm_starve(p, lines));
	if (!at)
		return -EAGAIN;
	f->done = 0;
	f->asked = 1;
	f->id = h.id = ++p->requests;
	p->asked++;
	memcpy(at->bytes, &h, sizeof(h));
	memcpy(at->bytes + sizeof(h), pull->src, len);
	ring_publish(&p->out, at, lines, RING_PULL, len);
	shm_ring_doorbell(p);
	return 0;
}

/* One step, or all questions that there is room for. */
static int work_pulls(struct shm_peer *p)
{
	struct eng_pull *pull, *next;
	int did = 0;

	if (p->pid)
		return read_pulls(p);
	for (pull = p->pulls; pull; pull = next) {
		next = pull->next;
		if (((const struct fetch *)pull->transport)->asked)
			continue;
		if (p->asked == SHM_REQUESTS || ask_pull(p, pull))
			break;
		did++;
	}
	return did;
}

/* The bytes that were exported to this peer; 0 or -EACCES. */
static int check_src(const struct shm_peer *p, const struct eng_src *s)
{
	uint32_t i = (uint32_t)s->key;
	const struct shm_export *e;
	uint64_t off;

	if (i >= p->n->exports)
		return -EACCES;
	e = &p->n->export[i];
	off = s->base - (uintptr_t)e->addr;
	if (!e->len || e->peer != p || e->gen != s->key >> 32 ||
	    off > e->len || s->len > e->len - off)
		return -EACCES;
	return 0;
}

static int copy_own(uint8_t *to, const struct iovec *from, unsigned int n,
		    uint32_t len)
{
	struct iovec v = { to, len };
	ssize_t did = read_memory((pid_t)syscall(SYS_getpid), &v, 1, from, n);
	unsigned int i;

	if (did != -ENOSYS && did != -EPERM)
		return did == (ssize_t)len ? 0 : -EFAULT;
	for (i = 0; i < n; i++) {
		memcpy(to, from[i].iov_base, from[i].iov_len);
		to += from[i].iov_len;
	}
	return 0;
}

/* One packet of an answer: 0, -EAGAIN, or it ends: 1. */
static int answer_step(struct shm_peer *p, struct shm_answer *a)
{
	uint64_t left = a->len - a->done;
	uint32_t most = left < RING_EAGER ? (uint32_t)left : RING_EAGER, i;
	uint32_t len, lines = ring_lines(RING_PULL_HEAD + most);
	struct pull_head h = { .id = a->id, .at = a->done };
	struct iovec from[PIECES];
	struct iov_range range = { .skip = a->done, .most = most, .out = from,
				   .room = PIECES };
	struct ring_line *at;
	unsigned int n;

	do {
		at = ring_claim(&p->out, lines);
	} while (!at && shm_starve(p, lines));
	if (!at)
		return -EAGAIN;
	for (i = 0; i < a->nsrc && !h.err; i++)
		h.err = check_src(p, &a->src[i]);
	len = (uint32_t)ranges_of_src(range, a->src, a->nsrc, &n);
	if (!h.err)
		h.err = copy_own(at->bytes + sizeof(h), from, n, len);
	if (h.err)
		len = 0;
	memcpy(at->bytes, &h, sizeof(h));
	ring_publish(&p->out, at, ring_lines(RING_PULL_HEAD + len), RING_DATA,
		     len);
	shm_ring_doorbell(p);
	a->done += len;
	return h.err || a->done == a->len;
}

static int work_answers(struct shm_peer *p)
{
	struct shm_answer *a;
	int did = 0, r;

	while ((a = p->answers) && did < PACKETS) {
		r = answer_step(p, a);
		if (r < 0)
			break;
		did++;
		if (!r)
			continue;
		p->answers = a->next;
		if (!p->answers)
			p->answers_end = &p->answers;
		p->answering--;
		free(a);
	}
	return did;
}

int shm_pull_work(struct shm_peer *p)
{
	int did = 0;

	if (!p->starves)
		did += work_answers(p);
	if (p->pulls && (!p->starves || p->pid))
		did += work_pulls(p);
	return did;
}

/* Is there something to go on with, as far as is known? */
int shm_pull_pending(const struct shm_peer *p)
{
	const struct eng_pull *pull;

	if (p->answers)
		return 1;
	if (!p->pid && p->asked == SHM_REQUESTS)
		return 0;
	for (pull = p->pulls; pull; pull = pull->next)
		if (!((const struct fetch *)pull->transport)->asked)
			return 1;
	return 0;
}

static int took_request(struct shm_peer *p, const struct pull_head *h,
			const uint8_t *bytes, uint32_t len)
{
	struct shm_answer *a;
	uint64_t total = 0;
	uint32_t i;

	if (!h->nsrc || h->nsrc > ENG_SRC_SEGS ||
	    len != h->nsrc * sizeof(a->src[0]) ||
	    p->answering == SHM_REQUESTS)
		return -EPROTO;
	a = calloc(1, sizeof(*a) + len);
	if (!a)
		return -ENOMEM;
	memcpy(a->src, bytes, len);
	for (i = 0; i < h->nsrc; i++) {
		if (a->src[i].len > UINT64_MAX - total) {
			free(a);
			return -EPROTO;
		}
		total += a->src[i].len;
	}
	if (total != h->at || !total) {
		free(a);
		return -EPROTO;
	}
	a->id = h->id;
	a->len = total;
	a->nsrc = h->nsrc;
	*p->answers_end = a;
	p->answers_end = &a->next;
	p->answering++;
	shm_work(p);
	return 0;
}

static int took_data(struct shm_peer *p, const struct pull_head *h,
		     const uint8_t *bytes, uint32_t len)
{
	struct eng_pull *pull = p->pulls;
	struct iovec to[PIECES];
	struct iov_range range = { .out = to, .room = PIECES };
	unsigned int i, n;
	struct fetch *f;

	while (pull && (!((f = pull->transport))->asked || f->id != h->id))
		pull = pull->next;
	if (!pull)
		return -EPROTO;
	if (h->err) {
		finish_pull(p, pull, -EFAULT);
		shm_work(p);
		return 0;
	}
	if (h->at != f->done || !len || len > pull->len - f->done)
		return -EPROTO;
	while (len) {
		range.skip = f->done;
		range.most = len;
		if (!ranges_of_dst(range, pull->dst, pull->ndst, &n))
			return -EPROTO;
		for (i = 0; i < n; i++) {
			memcpy(to[i].iov_base, bytes, to[i].iov_len);
			bytes += to[i].iov_len;
			len -= (uint32_t)to[i].iov_len;
			f->done += to[i].iov_len;
		}
	}
	if (f->done == pull->len) {
		finish_pull(p, pull, 0);
		shm_work(p);
	}
	return 0;
}

int shm_pull_took(struct shm_peer *p, enum ring_type type,
		  const uint8_t *bytes, uint32_t len)
{
	struct pull_head h;

	memcpy(&h, bytes, sizeof(h));
	bytes += sizeof(h);
	return type == RING_PULL ? took_request(p, &h, bytes, len) :
				   took_data(p, &h, bytes, len);
}

/* err 0: the peer goes, the engine is told nothing. */
void shm_pulls_end(struct shm_peer *p, int err)
{
	struct shm_answer *a;
	struct eng_pull *pull;

	while ((a = p->answers)) {
		p->answers = a->next;
		free(a);
	}
	p->answers_end = &p->answers;
	p->answering = 0;
	while ((pull = p->pulls)) {
		p->pulls = pull->next;
		free(pull->transport);
		pull->transport = NULL;
		if (err)
			eng_pulled(p->peer, pull, err);
	}
	p->pulls_end = &p->pulls;
	p->asked = 0;
}

int shm_export_mem(struct eng_peer *peer, void *region, const void *addr,
		   size_t len, struct eng_src *src)
{
	struct shm_peer *p = eng_peer_priv(peer);
	struct shm_nic *n = p->n;
	struct shm_export *e, *more;
	uint32_t i, size;

	(void)region;
	src->base = (uintptr_t)addr;
	src->key = UINT64_MAX;
	src->len = len;
	if (!len)
		return 0;
	if (!n->export_free) {
		size = n->exports ? n->exports * 2 : 64;
		if (size > STATUS_EXPORTS)
			return -ENOMEM;
		more = realloc(n->export, size * sizeof(*more));
		if (!more)
			return -ENOMEM;
		n->export = more;
		for (i = n->exports; i < size; i++) {
			memset(&more[i], 0, sizeof(more[i]));
			more[i].next = n->export_free;
			n->export_free = i + 1;
		}
		n->exports = size;
	}
	i = n->export_free - 1;
	e = &n->export[i];
	n->export_free = e->next;
	e->addr = addr;
	e->len = len;
	e->peer = p;
	src->key = (uint64_t)e->gen << 32 | i;
	return 0;
}

void shm_unexport_mem(struct eng_peer *peer, const struct eng_src *src)
{
	struct shm_nic *n = eng_nic_priv(eng_peer_nic(peer));
	uint32_t i = (uint32_t)src->key;
	struct shm_export *e;

	if (i >= n->exports)
		return;
	e = &n->export[i];
	if (!e->len || e->gen != src->key >> 32)
		return;
	e->gen++;
	atomic_store_explicit(&n->status->export[i], e->gen,
			      memory_order_relaxed);
	/* Pairs with that of still_exported(): before the bytes are others. */
	atomic_thread_fence(memory_order_seq_cst);
	e->len = 0;
	e->peer = NULL;
	e->next = n->export_free;
	n->export_free = i + 1;
}
