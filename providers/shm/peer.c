// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Peers: how they come and go, and the packets between them. */
#include "../messages.h"
#include "shm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Lines that are free again before a starved sender goes on. */
#define ENOUGH		(2 * (RING_EAGER + ENG_HEADER) / RING_LINE + 8)

enum { FILE_RING, FILE_STATUS, FILE_DOORBELL, FILES };

/* The hello of a NIC, beside the files. */
struct shm_hello {
	uint8_t addr[SHM_ADDR_LEN];
	uint32_t lines, eager;		/* of the rings */
	uint32_t bit;			/* of the ring, in the doorbell */
	uint32_t pointer;		/* bytes of the sender's pointers */
	uint64_t nonce_at;		/* address in the sender's memory */
	uint64_t nonce[2];
};

_Static_assert(sizeof(struct shm_hello) == 56,
	       "the same in 32 and in 64 bits");


static int take_slot(struct shm_peer *p)
{
	struct shm_nic *n = p->n;
	uint32_t i = n->slot_hint;

	while (i < DOORBELL_SLOTS && n->slot[i])
		i++;
	n->slot_hint = i;
	if (i == DOORBELL_SLOTS)
		return -ENOSPC;
	n->slot[i] = p;
	n->slots = n->slots > i ? n->slots : i + 1;
	p->slot = i + 1;
	return 0;
}

static void give_slot(struct shm_peer *p)
{
	struct shm_nic *n = p->n;

	if (!p->slot)
		return;
	n->slot[p->slot - 1] = NULL;
	if (n->slot_hint > p->slot - 1)
		n->slot_hint = p->slot - 1;
	p->slot = 0;
}

/* The peer's private part as it begins; what it has already stays. */
static int prepare_peer(struct shm_nic *n, struct eng_peer *peer)
{
	struct shm_peer *p = eng_peer_priv(peer);
	void *ring;
	int err;

	if (!p->n) {
		p->n = n;
		p->peer = peer;
		p->ring_file = -1;
		p->pulls_end = &p->pulls;
		p->answers_end = &p->answers;
	}
	if (p->in.ring)
		return 0;
	err = take_slot(p);
	if (err)
		return err;
	err = shm_map_new("vipl-ring", RING_BYTES, 0, &ring);
	if (err < 0)
		return err;
	p->ring_file = err;
	p->in.ring = ring;
	p->in.at = p->in.ring->line;
	atomic_store(&p->in.ring->idle, 1);
	return 0;
}

static void fill_hello(struct shm_peer *p, struct eng_hello *h)
{
	struct shm_nic *n = p->n;
	struct shm_hello s = {
		.lines = RING_LINES, .eager = RING_EAGER, .bit = p->slot - 1,
		.pointer = sizeof(void *),
		.nonce_at = (uintptr_t)n->nonce,
		.nonce = { n->nonce[0], n->nonce[1] },
	};

	memcpy(s.addr, n->addr, sizeof(s.addr));
	memcpy(h->data, &s, sizeof(s));
	h->len = sizeof(s);
	h->files = FILES;
	h->file[FILE_RING] = p->ring_file;
	h->file[FILE_STATUS] = n->status_file;
	h->file[FILE_DOORBELL] = n->doorbell_file;
}

static int open_theirs(struct shm_peer *p, const struct eng_hello *h)
{
	struct shm_hello s;

	if (h->len != sizeof(s) || h->files != FILES)
		return -EPROTO;
	memcpy(&s, h->data, sizeof(s));
	if (memcmp(s.addr, p->n->addr, sizeof(s.addr)) ||
	    s.lines != RING_LINES || s.eager != RING_EAGER ||
	    s.bit >= DOORBELL_SLOTS)
		return -EPROTO;
	p->bit = s.bit;
	p->out.ring = shm_map_theirs(h->file[FILE_RING], RING_BYTES, 0);
	p->status = shm_map_theirs(h->file[FILE_STATUS], sizeof(*p->status), 1);
	p->doorbell = shm_map_theirs(h->file[FILE_DOORBELL],
				     sizeof(*p->doorbell), 0);
	if (!p->out.ring || !p->status || !p->doorbell)
		return -ENOMEM;
	/* A 32-bit process cannot name the memory of a 64-bit one. */
	if (s.pointer <= sizeof(void *))
		shm_probe(p, s.nonce_at, s.nonce);
	return 0;
}

static void close_theirs(const struct eng_hello *h)
{
	uint32_t i;

	for (i = 0; i < h->files; i++)
		link_file_close(h->file[i]);
}

static int take_theirs(struct shm_peer *p, const struct eng_hello *h)
{
	int err = open_theirs(p, h);

	close_theirs(h);
	return err;
}

static void now_up(struct shm_peer *p)
{
	p->up = 1;
	p->next_unsent = p->n->unsent;
	p->n->unsent = p;
	shm_poll_start(p);
	eng_peer_up(p->peer);
}

/* The files of rings whose hello has been sent are not needed any more. */
void shm_close_unsent(struct shm_nic *n)
{
	struct shm_peer *p;

	while ((p = n->unsent)) {
		n->unsent = p->next_unsent;
		link_file_close(p->ring_file);
		p->ring_file = -1;
	}
}

static void on_hello(void *nic, void *peer, struct eng_hello *mine)
{
	struct shm_peer *p = eng_peer_priv(peer);

	/* Without a ring there are no files: the other end refuses. */
	int err = prepare_peer(nic, peer);

	if (err)
		link_tell(p->n->link, MSG_SHM_RING, err);
	else
		fill_hello(p, mine);
}

static void *on_came(void *nic, void *peer, struct link_peer *lp,
		     const struct eng_hello *theirs, struct eng_hello *mine)
{
	struct shm_nic *n = nic;
	struct eng_peer *e = peer;
	struct shm_peer *p;
	int err;

	if (!e)
		e = eng_peer_new(n->nic, n->addr);
	if (!e) {
		close_theirs(theirs);
		return NULL;
	}
	p = eng_peer_priv(e);
	err = prepare_peer(n, e);
	p->lp = lp;
	if (err) {
		link_tell(n->link, MSG_SHM_RING, err);
		close_theirs(theirs);
	} else {
		err = take_theirs(p, theirs);
	}
	if (err) {
		p->lp = NULL;
		if (!peer)
			eng_peer_down(e, -ENOMEM);
		return NULL;
	}
	fill_hello(p, mine);
	now_up(p);
	return e;
}

static int on_answered(void *nic, void *peer, const struct eng_hello *theirs)
{
	struct shm_peer *p = eng_peer_priv(peer);
	int err = take_theirs(p, theirs);

	(void)nic;
	if (!err)
		now_up(p);
	return err;
}

static void on_same(void *nic, void *peer, void *as)
{
	struct shm_peer *p = eng_peer_priv(peer);

	(void)nic;
	p->lp = NULL;
	eng_peer_same(peer, as);
}

static void on_down(void *nic, void *peer, int err)
{
	struct shm_peer *p = eng_peer_priv(peer);

	(void)nic;
	p->lp = NULL;
	shm_lose(p, err == -ESHUTDOWN ? 0 : err);
}

static void on_woken(void *nic, void *peer)
{
	(void)nic;
	shm_work(eng_peer_priv(peer));
}

const struct link_ops shm_link_ops = {
	.hello = on_hello,
	.came = on_came,
	.answered = on_answered,
	.same = on_same,
	.down = on_down,
	.woken = on_woken,
};

int shm_handshake(struct eng_peer *peer, const struct vipl_addr *remote)
{
	struct shm_nic *n = eng_nic_priv(eng_peer_nic(peer));
	struct shm_peer *p = eng_peer_priv(peer);
	int err;

	p->n = n;
	p->peer = peer;
	p->ring_file = -1;
	p->pulls_end = &p->pulls;
	p->answers_end = &p->answers;
	if (remote->host_len != SHM_ADDR_LEN ||
	    memcmp(remote->host, n->addr, SHM_ADDR_LEN))
		return -EHOSTUNREACH;
	p->lp = link_handshake(n->link, NULL, 0, remote->disc, remote->disc_len,
			       peer, &err);
	return p->lp ? 0 : err;
}

void shm_lose(struct shm_peer *p, int err)
{
	uint32_t i;

	if (p->lp)
		link_drop(p->lp);
	p->lp = NULL;
	if (p->up && !p->bad) {
		/* All that it sent before, however fast it goes on. */
		for (i = 0; i < RING_LINES && !p->bad && shm_poll(p, 1); i++)
			;
	}
	if (p->is_polled)
		shm_poll_stop(p);
	p->up = 0;
	shm_pulls_end(p, err ? err : -ECONNRESET);
	eng_peer_down(p->peer, err);
}

static void remove_from(struct shm_peer **at, struct shm_peer *p,
			size_t next)
{
	while (*at && *at != p)
		at = (struct shm_peer **)((char *)*at + next);
	if (*at)
		*at = *(struct shm_peer **)((char *)p + next);
}

void shm_peer_release(struct eng_peer *peer)
{
	struct shm_peer *p = eng_peer_priv(peer);

	if (!p->n)
		return;
	if (p->lp)
		link_drop(p->lp);
	p->lp = NULL;
	if (p->is_polled)
		shm_poll_stop(p);
	p->up = 0;
	if (p->working)
		remove_from(&p->n->work, p,
			    offsetof(struct shm_peer, next_work));
	remove_from(&p->n->unsent, p, offsetof(struct shm_peer, next_unsent));
	shm_pulls_end(p, 0);
	give_slot(p);
	link_file_close(p->ring_file);
	shm_unmap(p->in.ring, RING_BYTES);
	shm_unmap(p->out.ring, RING_BYTES);
	shm_unmap(p->status, sizeof(*p->status));
	shm_unmap(p->doorbell, sizeof(*p->doorbell));
	memset(p, 0, sizeof(*p));
}

static void set_bit(struct doorbell *b, uint32_t bit)
{
	uint64_t mask = (uint64_t)1 << bit % 64, sum;

	/* Set already: it is taken after the fence of the caller. */
	if (!(atomic_load(&b->word[bit / 64]) & mask))
		atomic_fetch_or(&b->word[bit / 64], mask);
	sum = (uint64_t)1 << bit / 64;
	if (!(atomic_load(&b->sum) & sum))
		atomic_fetch_or(&b->sum, sum);
}

static void wake_peer(struct shm_peer *p, uint32_t sleeps)
{
	p->woken = sleeps;
	if (p->lp)
		link_wake_peer(p->lp);
}

struct ring_line *ring_claim_more(struct ring_out *o, uint32_t lines)
{
	uint32_t end = RING_LINES - (o->tail & (RING_LINES - 1)), room;
	uint32_t need = lines <= end ? lines : lines + end;
	struct ring_line *at;

	if (!ring_room(o, need + 1) && !ring_look(o, need + 1))
		return NULL;
	if (lines > end) {
		at = ring_at(o->ring, o->tail);
		atomic_store_explicit(&o->ring->line[0].word, 0,
				      memory_order_relaxed);
		atomic_store_explicit(&at->word, (uint64_t)RING_PAD << 32,
				      memory_order_release);
		o->tail += end;
		end = RING_LINES;
	}
	room = RING_LINES - (o->tail - o->head) - 1;
	o->left = room < end ? room : end;
	o->at = ring_at(o->ring, o->tail);
	return o->at;
}

void shm_ring_doorbell(struct shm_peer *p)
{
	uint32_t sleeps;

	/* Pairs with those of shm_poll_stop() and of arming. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&p->out.ring->idle, memory_order_relaxed))
		set_bit(p->doorbell, p->bit);
	sleeps = atomic_load(&p->status->sleeps);
	if ((sleeps & 1) && sleeps != p->woken)
		wake_peer(p, sleeps);
}

int shm_starve(struct shm_peer *p, uint32_t lines)
{
	if (p->out.bad) {
		p->bad = 1;
		shm_work(p);
		return 0;
	}
	atomic_store(&p->out.ring->starved, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (ring_look(&p->out, lines > ENOUGH ? lines : ENOUGH)) {
		atomic_store_explicit(&p->out.ring->starved, 0,
				      memory_order_relaxed);
		return 1;
	}
	if (p->starves)
		return 0;
	p->starves = 1;
	shm_work(p);
	shm_ring_doorbell(p);
	return 0;
}

int shm_has_room(const struct shm_peer *p)
{
	uint32_t head = atomic_load_explicit(&p->out.ring->head,
					     memory_order_acquire);

	return RING_LINES - (p->out.tail - head) >= ENOUGH;
}

int shm_resume(struct shm_peer *p)
{
	if (!ring_look(&p->out, ENOUGH))
		return 0;
	atomic_store_explicit(&p->out.ring->starved, 0, memory_order_relaxed);
	p->starves = 0;
	return 1;
}

/* Both halves of the header's tail that a RING_SHORT leaves out. */
static int is_short(const struct eng_header *h)
{
	uint64_t tail[2];

	memcpy(tail, h->bytes + RING_SHORT_HEAD, sizeof(tail));
	return !(tail[0] | tail[1]);
}

/* A few bytes in a few instructions. */
static inline void copy_few(uint8_t *to, const uint8_t *from, size_t len)
{
	uint64_t head, tail;
	uint32_t first, last;

	if (len >= 8 && len <= 16) {
		memcpy(&head, from, 8);
		memcpy(&tail, from + len - 8, 8);
		memcpy(to, &head, 8);
		memcpy(to + len - 8, &tail, 8);
	} else if (len >= 4 && len < 8) {
		memcpy(&first, from, 4);
		memcpy(&last, from + len - 4, 4);
		memcpy(to, &first, 4);
		memcpy(to + len - 4, &last, 4);
	} else {
		memcpy(to, from, len);
	}
}

int shm_xmit(struct eng_peer *peer, const struct eng_header *h,
	     const struct iovec *payload, unsigned int n)
{
	struct shm_peer *p = eng_peer_priv(peer);
	enum ring_type type = RING_PACKET;
	uint32_t len = 0, lines, head = ENG_HEADER;
	struct ring_line *at;
	unsigned int i;
	uint8_t *to;

	if (!p->up || p->bad)
		return -ECONNRESET;
	if (n == 1)
		len = (uint32_t)payload->iov_len;
	else
		for (i = 0; i < n; i++)
			len += (uint32_t)payload[i].iov_len;
	if (is_short(h)) {
		type = RING_SHORT;
		head = RING_SHORT_HEAD;
	}
	lines = ring_lines(head + len);
	do {
		at = ring_claim(&p->out, lines);
	} while (!at && shm_starve(p, lines));
	if (!at)
		return p->bad ? -EPROTO : -EAGAIN;
	memcpy(at->bytes, h->bytes, RING_SHORT_HEAD);
	to = at->bytes + RING_SHORT_HEAD;
	if (type == RING_PACKET) {
		memcpy(to, h->bytes + RING_SHORT_HEAD,
		       ENG_HEADER - RING_SHORT_HEAD);
		to += ENG_HEADER - RING_SHORT_HEAD;
	}
	if (n == 1)
		copy_few(to, payload->iov_base, len);
	else
		for (i = 0; i < n; i++) {
			memcpy(to, payload[i].iov_base, payload[i].iov_len);
			to += payload[i].iov_len;
		}
	ring_publish(&p->out, at, lines, type, len);
	shm_ring_doorbell(p);
	return 0;
}

/* A packet's bytes are at `at`; len is of the payload, and bounded. */
static int take_packet(struct shm_peer *p, enum ring_type type,
		       const uint8_t *at, uint32_t len)
{
	struct eng_plain plain;
	struct eng_header h;

	if (type == RING_SHORT) {
		memcpy(h.bytes, at, RING_SHORT_HEAD);
		memset(h.bytes + RING_SHORT_HEAD, 0,
		       ENG_HEADER - RING_SHORT_HEAD);
		eng_rx(p->peer, &h, at + RING_SHORT_HEAD, len);
		return 0;
	}
	if (type == RING_PLAIN) {
		if (!len || len > ENG_PLAIN_MAX)
			return -EPROTO;
		memcpy(&plain, at, sizeof(plain));
		eng_rx_plain(p->peer, &plain, at + sizeof(plain), len);
		return 0;
	}
	if (type == RING_PACKET) {
		memcpy(h.bytes, at, ENG_HEADER);
		eng_rx(p->peer, &h, at + ENG_HEADER, len);
		return 0;
	}
	return shm_pull_took(p, type, at, len);
}

/* Lines of a packet with that word, or 0: there is no such packet here. */
static uint32_t lines_of(const struct shm_peer *p, uint64_t word)
{
	static const uint8_t heads[RING_TYPES] = {
		[RING_PACKET] = ENG_HEADER,
		[RING_SHORT] = RING_SHORT_HEAD,
		[RING_PULL] = RING_PULL_HEAD,
		[RING_DATA] = RING_PULL_HEAD,
		[RING_PLAIN] = sizeof(struct eng_plain),
	};
	uint32_t left = RING_LINES - (p->in.head & (RING_LINES - 1));
	uint32_t type = (uint32_t)(word >> 32), len = (uint32_t)word, lines;

	if (type == RING_PAD)
		return left;
	if (type >= RING_TYPES || !heads[type] || len > RING_EAGER)
		return 0;
	lines = ring_lines(heads[type] + len);
	return lines <= left ? lines : 0;
}

int shm_poll(struct shm_peer *p, int most)
{
	struct ring_in *in = &p->in;
	uint32_t lines, type;
	struct ring_line *at;
	uint64_t word;
	int n;

	for (n = 0; n < most; n++) {
		at = in->at;
		word = ring_next(in);
		if (!word)
			break;
		type = (uint32_t)(word >> 32);
		/* A packet of one line needs no check. */
		lines = type == RING_SHORT && (uint32_t)word <= 8 ? 1 :
			lines_of(p, word);
		if (!lines || (type != RING_PAD &&
			       take_packet(p, type, at->bytes,
					   (uint32_t)word))) {
			p->bad = 1;
			shm_work(p);
			break;
		}
		ring_take(in, lines);
		if (in->head - in->published >= RING_HEAD_STEP)
			ring_publish_head(in);
	}
	if (ring_starved(in)) {
		ring_publish_head(in);
		in->rung = in->head;
		shm_ring_doorbell(p);
	}
	return n;
}
