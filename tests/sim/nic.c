// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A NIC module whose wire is simulated, and RTNL over its coming and going. */
#include "../../devices/ether/admit.h"
#include "../../devices/ether/vi.h"
#include "../../devices/ether/seal.h"
#include "../../devices/ethernet.h"
#include "host.h"
#include "kernel/model.h"
#include "watch.h"

#define RX_BATCH	64
#define TX_FRAMES	256		/* of a burst's ring */
#define NICS_MAX	256
#define QUEUES		2		/* of frames that come, at most */
#define PIECES		4		/* of a frame that came, at most */
#define FLOWS		64		/* connections whose flow is known */

struct frame {
	struct list_head link;
	struct sim_nic *to;		/* the receiver, as it was meant */
	u32 n;				/* of its port, when it was sent */
	u32 slot;			/* in nics[] */
	u32 len;			/* Ethernet header included */
	u32 head;			/* in data, where frags follow */
	bool ce;			/* marked on its way */
	u32 train;			/* bytes of payload of its frames; 0: it is one */
	struct via_frags frags;
	u8 data[];
};

/* Pages that the hardware of a NIC may read. */
struct mapped {
	struct list_head link;
	dma_addr_t from;
	const u8 *addr;
	u64 bytes;
};

/* Frames that came, and the softirq that takes them. */
struct rx_queue {
	struct sim_nic *nic;
	struct list_head frames;
	struct sim_softirq softirq;
	bool receiving;			/* one at a time, as under NAPI */
};

struct sim_nic {
	struct via_ether_nic *nic;
	char name[32];
	u32 n;				/* counts NICs: names this life of it */
	spinlock_t tx_lock;
	u32 slot;			/* in nics[] */
	bool cut, stopped;
	u32 refused;			/* while stopped */
	bool listening;
	bool polls_on;			/* programs may look till the end */
	bool polled;			/* no softirq for frames that come */
	struct rx_queue rx[QUEUES];
	u32 queues;
	u32 longest;			/* frame that its MTU allows */
	u32 black;			/* bytes of frames that a path drops */
	u32 flow;			/* of this burst */
	struct { u64 cookie; u32 flow; } flows[FLOWS];	/* latest ones */
	u32 room;			/* frames begun in this burst */
	struct list_head ring;		/* frames that the hardware will read */
	bool reads;			/* an event is to come for the ring */
	bool held;			/* the hardware reads nothing for now */
	u32 put, done;			/* frames ever in it, and out of it */
	struct list_head mapped;
	bool freed;			/* the class knows it no more */
	u64 busy_until;			/* of the port's way out */
	u32 queued;			/* frames on it */
};

struct sim_wire sim_wire;
struct net *sim_net;
struct net_device *sim_netdev;
void via_ether_seal(void *frame, u32 size, u32 len);

static struct sim_nic *nics[NICS_MAX];
static u32 next_n;
static struct mutex rtnl;
static struct list_head in_flight;

/* Receiving */

/* In buffers of their own, so that what is read beside one is seen. */
static void in_pieces(struct via_ether_frame *f, struct via_ether_chunk *chunk)
{
	const u8 *from = chunk[0].data;
	u32 left = f->len, n;

	for (f->nchunks = 0; left; f->nchunks++) {
		n = f->nchunks == PIECES - 1 ? left :
			1 + sim_dice(min(left, sim_dice(2) ? 64u : 1500u));
		chunk[f->nchunks].data = memcpy(malloc(n), from, n);
		chunk[f->nchunks].len = n;
		from += n;
		left -= n;
	}
}

static void receive(struct sim_nic *nic, struct frame *fr)
{
	const struct ethhdr *eth = (const void *)fr->data;
	struct via_ether_chunk chunk[PIECES] = { {
		.data = fr->data + ETH_HLEN,
		.len = fr->len - ETH_HLEN,
	} };
	struct via_ether_frame f = {
		.src = eth->h_source,
		.hdr = chunk[0].data,
		.len = chunk[0].len,
		.ce = fr->ce,
		.train = fr->train,
		.nchunks = 1,
		.chunk = chunk,
	};
	bool pieces = !sim_dice(8) || sim_dice(10000) < sim_wire.pieces;

	if (eth->h_proto != via_ether_proto())
		return;
	if (pieces)
		in_pieces(&f, chunk);
	rcu_read_lock();
	if (is_multicast_ether_addr(eth->h_dest))
		via_ether_rx_broadcast(nic->nic, &f);
	else
		via_ether_rx(nic->nic, &f);
	rcu_read_unlock();
	while (pieces && f.nchunks--)
		free((void *)chunk[f.nchunks].data);
}

static void take_frames(struct rx_queue *q)
{
	struct frame *f;
	u32 n;

	q->receiving = true;
	for (n = 0; n < RX_BATCH && q->nic->listening &&
	     !list_empty(&q->frames); n++) {
		f = list_first_entry(&q->frames, struct frame, link);
		list_del(&f->link);
		/* Each one may have as much done. */
		sim_work_begins();
		receive(q->nic, f);
		free(f);
	}
	q->receiving = false;
}

static void rx_softirq(struct sim_softirq *s);

static void rx_raise(struct rx_queue *q)
{
	if (q->nic->listening && !q->nic->polled && !q->receiving &&
	    !list_empty(&q->frames))
		sim_raise(&q->softirq, rx_softirq);
}

static void rx_softirq(struct sim_softirq *s)
{
	struct rx_queue *q = container_of(s, struct rx_queue, softirq);

	/* The NIC is there as long as its handler is known. */
	rcu_read_lock();
	if (!q->receiving) {
		take_frames(q);
		rx_raise(q);
	}
	rcu_read_unlock();
}

/* A program looks. */
static void busy_poll(struct via_ether_nic *ether)
{
	struct sim_nic *nic = ether->priv;
	struct rx_queue *q = nic->rx;

	if (q->receiving || list_empty(&q->frames))
		return;
	local_bh_disable();
	rcu_read_lock();
	if (!q->receiving)
		take_frames(q);
	rx_raise(q);
	rcu_read_unlock();
	local_bh_enable();
}

static bool busy_poll_mode(struct via_ether_nic *ether,
			   enum via_busy_poll_step step)
{
	struct sim_nic *nic = ether->priv;

	switch (step) {
	case VIA_BUSY_POLL_BEGIN:
		if (!(nic->listening || nic->polls_on) || nic->polled)
			return false;
		nic->polled = true;
		break;
	case VIA_BUSY_POLL_KEEP:
		if (!nic->polled)
			sim_fail("a NIC is kept polled that is not polled");
		break;
	case VIA_BUSY_POLL_END:
		if (!nic->polled)
			sim_fail("polling ends that has not begun");
		nic->polled = false;
		rx_raise(nic->rx);
		break;
	}
	return true;
}

/* The NIC that has the address now, where that counts. */
static struct sim_nic *heir(const struct frame *f)
{
	u32 i;

	for (i = 0; sim_wire.lasting && i < NICS_MAX; i++)
		if (nics[i] && !memcmp(f->data, nics[i]->nic->host.addr, ETH_ALEN))
			return nics[i];
	return NULL;
}

/* Of a NIC that may have gone: its place. */
static void *nic_slot(const struct sim_nic *nic)
{
	return (void *)(uintptr_t)nic->slot;
}

static void interrupt(void *arg)
{
	struct sim_nic *nic = nics[(uintptr_t)arg];
	u32 i;

	for (i = 0; nic && i < QUEUES; i++)
		rx_raise(&nic->rx[i]);
}

static void deliver(void *arg)
{
	struct frame *f = arg;
	struct sim_nic *nic = f->to;
	struct rx_queue *q;

	list_del(&f->link);
	if (nics[f->slot] != nic || nic->n != f->n)
		nic = heir(f);
	else if (nic->queued)
		nic->queued--;
	if (!nic || !nic->listening || nic->cut) {
		free(f);
		return;
	}
	/* One at a time: frames of a queue are not overtaken in its host. */
	q = &nic->rx[nic->queues > 1 ? sim_dice(nic->queues) : 0];
	list_add_tail(&f->link, &q->frames);
	if (!sim_wire.coalesce_ns)
		rx_raise(q);
	else if (list_is_singular(&q->frames))
		sim_at(sim_clock + 1, interrupt, nic_slot(nic));
}

/* Sending */

static struct frame *copy_of(const struct frame *f)
{
	struct frame *c = malloc(sizeof(*c) + f->len);

	if (!c)
		abort();
	memcpy(c, f, sizeof(*c) + f->len);
	return c;
}

static void flip(struct frame *f)
{
	/* Behind the addresses: what an Ethernet checksum did not see. */
	f->data[ETH_HLEN + sim_dice(f->len - ETH_HLEN)] ^= 1 << sim_dice(8);
}

/* One copy on its way to one port. */
static void towards(struct sim_nic *to, const struct frame *orig)
{
	struct sim_wire *w = &sim_wire;
	u64 when = sim_clock + w->delay_ns;
	struct frame *f;

	if (sim_dice(10000) < w->loss ||
	    (w->port_frames && to->queued >= w->port_frames)) {
		w->lost++;
		return;
	}
	f = copy_of(orig);
	f->to = to;
	f->n = to->n;
	f->slot = to->slot;
	f->ce = w->mark_frames && to->queued >= w->mark_frames;
	if (w->ns_per_byte_x1000) {
		if (to->busy_until < sim_clock)
			to->busy_until = sim_clock;
		to->busy_until += f->len * w->ns_per_byte_x1000 / 1000;
		when += to->busy_until - sim_clock;
	}
	if (sim_dice(10000) < w->corrupt)
		flip(f);
	if (w->reorder && sim_dice(10000) < w->reorder)
		when += sim_dice(w->jitter_ns ? (u32)w->jitter_ns : 100000);
	if (w->coalesce_ns)
		when += w->coalesce_ns - when % w->coalesce_ns;
	to->queued++;
	list_add_tail(&f->link, &in_flight);
	sim_at(when, deliver, f);
}

/*
 * Bytes that were sent from the address of a host that is not there, less those
 * that were sent to it: by its last bytes, so that two may share a count.
 */
static s64 strangers[1 << 16];

static bool present(const u8 *mac)
{
	u32 i;

	for (i = 0; i < NICS_MAX; i++)
		if (nics[i] && !memcmp(mac, nics[i]->nic->host.addr, ETH_ALEN))
			return true;
	return false;
}

static s64 *stranger(const u8 *mac)
{
	return &strangers[(mac[3] ^ mac[4]) << 8 | mac[5]];
}

/* What answers to a stranger may not be longer than its questions. */
static void weigh_answer(const struct frame *f)
{
	const struct ethhdr *eth = (const void *)f->data;

	if (!sim_wire.weigh || is_multicast_ether_addr(eth->h_dest) ||
	    present(eth->h_dest))
		return;
	*stranger(eth->h_dest) -= f->len;
	if (*stranger(eth->h_dest) < 0)
		sim_fail("a stranger is sent more bytes than came from it");
}

static void transmit(struct sim_nic *from, struct frame *f)
{
	const struct ethhdr *eth = (const void *)f->data;
	u32 i, copies;

	if (f->len < ETH_ZLEN)
		f->len = ETH_ZLEN;
	sim_wire.frames++;
	weigh_answer(f);
	if (from->cut ||
	    (sim_wire.meddle &&
	     !sim_wire.meddle(sim_wire.meddle_arg, f->data, &f->len)))
		return;
	sim_capture(f->data, f->len);
	for (i = 0; i < NICS_MAX; i++) {
		if (!nics[i] || nics[i] == from || !nics[i]->listening)
			continue;
		if (!is_multicast_ether_addr(eth->h_dest) &&
		    memcmp(eth->h_dest, nics[i]->nic->host.addr, ETH_ALEN))
			continue;
		copies = 1 + (sim_dice(10000) < sim_wire.dup);
		while (copies--)
			towards(nics[i], f);
	}
}

/*
 * A wire of its own kind takes trains: not one with a queue of frames, or that
 * looks at each.
 */
static bool takes_trains(void)
{
	const struct sim_wire *w = &sim_wire;

	return !w->ns_per_byte_x1000 && !w->port_frames && !w->mark_frames &&
	       (!w->meddle || w->meddle_trains) && !sim_capturing();
}

/* The stack in front of a wire that takes none makes frames of it. */
static void cut_train(struct sim_nic *from, const struct frame *f)
{
	u32 hdr = via_ether_train_hdr(f->data + ETH_HLEN, f->len - ETH_HLEN);
	u32 left = f->len - ETH_HLEN - hdr, n, k;
	const u8 *payload = f->data + ETH_HLEN + hdr;
	struct frame *one;

	for (k = 0; left; k++, left -= n, payload += n) {
		n = min(left, f->train);
		one = calloc(1, sizeof(*one) +
			     max_t(u32, ETH_HLEN + hdr + n, ETH_ZLEN));
		if (!one)
			abort();
		memcpy(one->data, f->data, ETH_HLEN + hdr);
		memcpy(one->data + ETH_HLEN + hdr, payload, n);
		one->len = ETH_HLEN + hdr + n;
		via_ether_cut(one->data + ETH_HLEN, k, f->train, n, n == left);
		transmit(from, one);
		free(one);
	}
}

void sim_nic_inject(struct sim_nic *nic, const void *data, u32 len)
{
	sim_nic_inject_train(nic, data, len, 0);
}

void sim_nic_inject_train(struct sim_nic *nic, const void *data, u32 len,
			  u32 train)
{
	struct frame *f = calloc(1, sizeof(*f) + max_t(u32, len, ETH_ZLEN));

	if (!f)
		abort();
	memcpy(f->data, data, len);
	f->len = max_t(u32, len, ETH_ZLEN);
	f->train = train;
	if (sim_wire.weigh)
		*stranger(f->data + ETH_ALEN) += f->len;
	f->to = nic;
	f->n = nic->n;
	f->slot = nic->slot;
	sim_capture(f->data, f->len);
	list_add_tail(&f->link, &in_flight);
	sim_at(sim_clock, deliver, f);
}

/* Each is closed once, and none stays open. */
static u32 links;

static bool link_open(struct via_ether_nic *ether, struct via_ether_link *link,
		      const u8 *host, gfp_t gfp)
{
	if (sim_alloc_fails())
		return false;
	via_ethernet_link(ether, link, host, gfp);
	if (!gfp)
		return true;
	link->priv = malloc(1);
	links++;
	return true;
}

static void link_close(struct via_ether_link *link)
{
	free(link->priv);
	links--;
}

static void path_black_hole(struct via_ether_nic *ether,
		       const struct via_ether_link *link, u32 len)
{
	struct sim_nic *nic = ether->priv;

	nic->black = len;
}

u32 sim_nic_black_hole(struct sim_nic *nic)
{
	u32 len = nic->black;

	nic->black = 0;
	return len;
}

static bool tx_begin(struct via_ether_nic *ether, struct via_ether_tx *tx,
		     u32 flow)
{
	struct sim_nic *nic = ether->priv;

	spin_lock(&nic->tx_lock);
	if (nic->stopped) {
		nic->refused++;
		spin_unlock(&nic->tx_lock);
		return false;
	}
	tx->queue = nic;
	tx->last = NULL;
	nic->room = 0;
	nic->flow = flow;
	return true;
}

static bool tx_get(struct via_ether_nic *ether, struct via_ether_tx *tx,
		   const struct via_ether_link *link, u32 len,
		   struct via_ether_buf *buf)
{
	struct sim_nic *nic = ether->priv;
	struct frame *f;

	if (ETH_HLEN + len > nic->longest)
		sim_fail("a frame of %u bytes, and the MTU is %u",
			 len, nic->longest - ETH_HLEN);
	if (sim_alloc_fails())
		return false;
	nic->room++;
	f = calloc(1, sizeof(*f) + max_t(u32, ETH_HLEN + len, ETH_ZLEN));
	if (!f)
		abort();
	buf->data = via_ethernet_begin(f->data, link, len);
	buf->priv = f;
	return true;
}

/*
 * All frames of a connection go by one transmit queue.  A peer whose attempt
 * goes on may be accepted by one VI after another, and keeps its cookie.
 */
static void check_flow(struct sim_nic *nic, const u8 *frame)
{
	const struct via_wire *w = (const void *)(frame + ETH_HLEN);
	u32 at = (be64_to_cpu(w->cookie) >> 3) % FLOWS;
	bool begins = w->type == VIA_WIRE_PEER_ACCEPT;

	if (!begins && (!w->type || w->type > VIA_WIRE_DISCONNECT))
		return;
	if (!begins && nic->flows[at].cookie == w->cookie &&
	    nic->flows[at].flow != nic->flow)
		sim_fail("type %#x of a connection goes by flow %u, not %u",
			 w->type, nic->flow, nic->flows[at].flow);
	nic->flows[at].cookie = w->cookie;
	nic->flows[at].flow = nic->flow;
}

static bool tx_put(struct via_ether_nic *ether, struct via_ether_tx *tx,
		   u32 len, struct via_ether_buf *buf)
{
	struct sim_nic *nic = ether->priv;
	struct frame *f = buf->priv;
	bool ok = !nic->stopped;

	if (!sim_lock_mine(&nic->tx_lock.l))
		sim_fail("tx_put() outside of a burst");
	nic->room--;
	f->len = ETH_HLEN + len;
	check_flow(nic, f->data);
	/* What is not sent is not on the wire either. */
	if (ok)
		transmit(nic, f);
	else
		nic->refused++;
	free(f);
	return ok;
}

static void tx_drop(struct via_ether_nic *ether, struct via_ether_tx *tx,
		    struct via_ether_buf *buf)
{
	struct sim_nic *nic = ether->priv;

	nic->room--;
	free(buf->priv);
}

static void tx_end(struct via_ether_nic *ether, struct via_ether_tx *tx)
{
	struct sim_nic *nic = ether->priv;

	if (nic->room)
		sim_fail("a burst ends with %d frames neither sent nor dropped",
			 nic->room);
	spin_unlock(&nic->tx_lock);
}

static bool tx_get_one(struct via_ether_nic *ether, struct via_ether_tx *tx,
		       const struct via_ether_link *link, u32 flow, u32 len,
		       struct via_ether_buf *buf)
{
	if (!tx_begin(ether, tx, flow))
		return false;
	if (tx_get(ether, tx, link, len, buf))
		return true;
	tx_end(ether, tx);
	return false;
}

static void tx_put_one(struct via_ether_nic *ether, struct via_ether_tx *tx,
		       u32 len, struct via_ether_buf *buf)
{
	tx_put(ether, tx, len, buf);
	tx_end(ether, tx);
}

static void give_pieces(struct via_ether_train *t, struct via_ether_buf *buf)
{
	t->piece[0].data = buf->data + t->hdr;
	t->piece[0].len = t->bytes;
	t->pieces = 1;
	/* Two of them may lie anywhere. */
	if (sim_dice(2)) {
		t->pieces = 2;
		t->piece[0].len = 1 + sim_dice(t->bytes - 1);
		t->piece[1].data = t->piece[0].data + t->piece[0].len;
		t->piece[1].len = t->bytes - t->piece[0].len;
	}
}

static bool tx_get_train(struct via_ether_nic *ether, struct via_ether_tx *tx,
			 const struct via_ether_link *link,
			 struct via_ether_train *t, struct via_ether_buf *buf)
{
	struct sim_nic *nic = ether->priv;
	u32 n = DIV_ROUND_UP(t->bytes, t->seg), some;
	struct frame *f;

	if (n < 2 || n > VIA_WIRE_TRAIN)
		sim_fail("a train of %u frames", n);
	if (ETH_HLEN + t->hdr + t->seg > nic->longest)
		sim_fail("a train of frames of %u bytes, and the MTU is %u",
			 t->hdr + t->seg, nic->longest - ETH_HLEN);
	if (sim_alloc_fails() || !sim_dice(8))
		return false;
	some = 2 + sim_dice(VIA_WIRE_TRAIN);
	if (some < n)
		t->bytes = some * t->seg;
	nic->room++;
	f = calloc(1, sizeof(*f) + ETH_HLEN + t->hdr + t->bytes);
	if (!f)
		abort();
	f->train = t->seg;
	f->len = ETH_HLEN + t->hdr + t->bytes;
	buf->data = via_ethernet_begin(f->data, link, t->hdr + t->bytes);
	buf->priv = f;
	t->pieces = 0;
	/* The program's pages, as many as a frame may have; their bytes come last. */
	t->shared = t->shared && sim_dice(2) &&
		    t->bytes <= (VIA_PAGE_FRAGS_MAX - 1) * PAGE_SIZE;
	if (!t->shared)
		give_pieces(t, buf);
	return true;
}

static bool tx_copy_train(struct via_ether_nic *ether, struct via_ether_train *t,
			  struct via_ether_buf *buf)
{
	if (sim_alloc_fails())
		return false;
	give_pieces(t, buf);
	return true;
}

/* The pages are read when the train leaves. */
static void read_pages(struct frame *f, const struct via_ether_train *t)
{
	struct via_page_frags pages = t->pages;
	u8 *to = f->data + ETH_HLEN + t->hdr;
	u32 i, len, all = 0;

	for (i = 0; i < pages.n; i++, all += len) {
		len = pages.frag[i].len;
		if (pages.frag[i].off + len > PAGE_SIZE || len > t->bytes - all)
			sim_fail("%u bytes of pages, the train has %u",
				 all + len, t->bytes);
		memcpy(to + all, page_address(pages.frag[i].page) +
				 pages.frag[i].off, len);
	}
	if (all != t->bytes)
		sim_fail("%u bytes of pages, the train has %u", all, t->bytes);
	via_page_frags_put(&pages);
}

static bool tx_put_train(struct via_ether_nic *ether, struct via_ether_tx *tx,
			 const struct via_ether_train *t,
			 struct via_ether_buf *buf)
{
	struct sim_nic *nic = ether->priv;
	struct frame *f = buf->priv;
	bool ok = !nic->stopped;

	if (!sim_lock_mine(&nic->tx_lock.l))
		sim_fail("tx_put_train() outside of a burst");
	nic->room--;
	if (t->shared)
		read_pages(f, t);
	check_flow(nic, f->data);
	if (!ok)
		nic->refused++;
	else if (takes_trains() && sim_dice(2))
		transmit(nic, f);
	else
		cut_train(nic, f);
	free(f);
	return ok;
}

static struct via_ether_ops ops = {
	.owner = THIS_MODULE,
	.host_valid = via_ethernet_valid,
	.link_open = link_open,
	.link_close = link_close,
	.path_black_hole = path_black_hole,
	.tx_begin = tx_begin,
	.tx_get = tx_get,
	.tx_put = tx_put,
	.tx_drop = tx_drop,
	.tx_end = tx_end,
	.tx_get_one = tx_get_one,
	.tx_put_one = tx_put_one,
	.tx_get_train = tx_get_train,
	.tx_copy_train = tx_copy_train,
	.tx_put_train = tx_put_train,
};

static struct via_ether_ops *kind;	/* of the NICs that come */

void sim_nics_polled(void)
{
	static struct via_ether_ops polled;

	polled = ops;
	polled.ka = (struct via_device_ops){};
	polled.busy_poll = busy_poll;
	polled.busy_poll_mode = busy_poll_mode;
	polled.rx_look = busy_poll;
	kind = &polled;
}

/*
 * NICs that read the bytes of frames themselves, some time after they were
 * told: from memory that was mapped for them, or it is a fault.
 */

static const u8 *dma_at(const struct sim_nic *nic, dma_addr_t dma, u32 n)
{
	struct mapped *m;

	list_for_each_entry(m, &nic->mapped, link)
		if (dma - m->from < m->bytes && n <= m->bytes - (dma - m->from))
			return m->addr + (dma - m->from);
	sim_fail("a NIC reads memory that is not mapped for it");
	return NULL;
}

static void ring_out(void *arg)
{
	struct sim_nic *nic = arg;
	struct frame *f = list_first_entry(&nic->ring, struct frame, link);
	u32 i, at = f->head;

	if (nic->held) {
		sim_at(sim_clock + 5000, ring_out, nic);
		return;
	}
	for (i = 0; i < f->frags.n; i++) {
		const struct via_frag *part = &f->frags.frag[i];

		memcpy(f->data + at, dma_at(nic, part->dma, part->len),
		       part->len);
		at += part->len;
	}
	list_del(&f->link);
	nic->done++;
	transmit(nic, f);
	free(f);
	nic->reads = !list_empty(&nic->ring);
	if (nic->reads)
		sim_at(sim_clock + sim_dice(5000), ring_out, nic);
}

static void ring_in(struct sim_nic *nic, struct frame *f)
{
	if (!sim_lock_mine(&nic->tx_lock.l))
		sim_fail("a frame is sent outside of a burst");
	nic->room--;
	list_add_tail(&f->link, &nic->ring);
	nic->put++;
	if (!nic->reads)
		sim_at(sim_clock + sim_dice(sim_dice(4) ? 2000 : 200000),
		       ring_out, nic);
	nic->reads = true;
}

static bool ring_put(struct via_ether_nic *ether, struct via_ether_tx *tx,
		     u32 len, struct via_ether_buf *buf)
{
	struct sim_nic *nic = ether->priv;
	struct frame *f = buf->priv;

	f->len = ETH_HLEN + len;
	ring_in(nic, f);
	return true;
}

static void ring_put_one(struct via_ether_nic *ether, struct via_ether_tx *tx,
			 u32 len, struct via_ether_buf *buf)
{
	ring_put(ether, tx, len, buf);
	tx_end(ether, tx);
}

static bool ring_put_frags(struct via_ether_nic *ether, struct via_ether_tx *tx,
			   u32 len, struct via_ether_buf *buf,
			   const struct via_frags *frags)
{
	struct sim_nic *nic = ether->priv;
	struct frame *f = buf->priv;
	u32 i;

	if (!sim_dice(16))
		return false;
	f->head = ETH_HLEN + len;
	f->len = f->head;
	f->frags = *frags;
	for (i = 0; i < frags->n; i++) {
		f->len += frags->frag[i].len;
		frags->frag[i].map->last = nic->put + 1;
	}
	ring_in(nic, f);
	return true;
}

void sim_nic_hold(struct sim_nic *nic, bool held)
{
	nic->held = held;
}

u32 sim_nic_ring(const struct sim_nic *nic)
{
	return nic->put - nic->done;
}

static struct mapped *map_some(struct sim_nic *nic, struct page *page, u32 n)
{
	static dma_addr_t next = 1ull << 52;
	struct mapped *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->addr = page->addr;
	m->bytes = (u64)n << PAGE_SHIFT;
	m->from = next;
	/* A page between them is nothing's. */
	next += m->bytes + PAGE_SIZE;
	list_add(&m->link, &nic->mapped);
	return m;
}

/*
 * What is as long as a region is large: not in a read side that unregistering a
 * NIC waits for, nor under RTNL.
 */
static void maps_for_as_long_as_it_takes(struct sim_nic *nic)
{
	might_sleep();
	if (sim_self->srcu)
		sim_fail("memory is mapped in an SRCU read side");
	if (sim_lock_mine(&rtnl.l))
		sim_fail("memory is mapped or unmapped under RTNL");
	if (nic->freed)
		sim_fail("memory is mapped for a NIC that is gone");
}

/* Pages in a row are mapped as one, or by a table; others are copied. */
static void mem_map(struct via_ether_nic *ether, struct via_mem_map *map,
		    struct page **pages, u32 npages)
{
	struct sim_nic *nic = ether->priv;
	u32 i;

	maps_for_as_long_as_it_takes(nic);
	for (i = 1; i < npages; i++)
		if (page_to_phys(pages[i]) !=
		    page_to_phys(pages[i - 1]) + PAGE_SIZE)
			return;
	if (npages < 8 && sim_dice(2)) {
		map->dma = kvmalloc_array(npages, sizeof(*map->dma),
					  GFP_KERNEL);
		if (!map->dma)
			return;
		for (i = npages; i--;)
			map->dma[i] = map_some(nic, pages[i], 1)->from;
	} else {
		map->bias = map_some(nic, pages[0], npages)->from -
			    page_to_phys(pages[0]);
	}
	map->last = nic->done;
	map->on = true;
}

static void unmap_one(struct sim_nic *nic, dma_addr_t dma)
{
	struct mapped *m;

	list_for_each_entry(m, &nic->mapped, link)
		if (m->from == dma) {
			list_del(&m->link);
			free(m);
			return;
		}
	sim_fail("memory is unmapped that is not mapped");
}

static void mem_unmap(struct via_ether_nic *ether, struct via_mem_map *map,
		      struct page **pages, u32 npages)
{
	struct sim_nic *nic = ether->priv;
	u32 i;

	maps_for_as_long_as_it_takes(nic);
	while ((s32)(nic->done - map->last) < 0)
		sim_pause(5000);
	/* An IOMMU takes its time. */
	if (sim_dice(2))
		sim_pause(1 + sim_dice(20000));
	for (i = 0; i < npages; i++)
		if (pages[i]->pins <= 0)
			sim_fail("memory is not pinned that a NIC may read");
	for (i = 0; map->dma && i < npages; i++)
		unmap_one(nic, map->dma[i]);
	if (!map->dma)
		unmap_one(nic, page_to_phys(pages[0]) + map->bias);
	kvfree(map->dma);
}

void sim_nics_dma(void)
{
	static struct via_ether_ops dma;

	dma = ops;
	dma.ka = (struct via_device_ops){};
	dma.tx_put = ring_put;
	dma.tx_put_one = ring_put_one;
	dma.tx_get_train = NULL;
	dma.tx_put_train = NULL;
	dma.tx_put_frags = ring_put_frags;
	dma.mem_map = mem_map;
	dma.mem_unmap = mem_unmap;
	kind = &dma;
}

/* Coming and going */

const u8 *sim_nic_mac(const struct sim_nic *nic)
{
	return nic->nic->host.addr;
}

u32 sim_nic_p2p_lists(const struct sim_nic *nic)
{
	const struct via_table *t = &nic->nic->ka->conn.p2p;
	u32 i, n = 0;

	for (i = 0; i < 1u << t->bits; i++)
		n += !hlist_empty(&t->lists[i]);
	return n;
}

u32 sim_nic_peers(const struct sim_nic *nic)
{
	return nic->nic->peers->n;
}

void sim_seal(void *frame, u32 size, u32 len)
{
	via_ether_seal((u8 *)frame + ETH_HLEN, size - ETH_HLEN, len);
}

void sim_nic_prove_epoch(struct sim_nic *nic, u8 *frame)
{
	struct via_wire_hello *h = (void *)(frame + ETH_HLEN +
					    sizeof(struct via_wire));
	struct via_token_of of;

	via_token_of_init(&of, frame + ETH_ALEN, ETH_ALEN, nic->nic->host.addr, ETH_ALEN,
		     be64_to_cpu(h->epoch));
	local_bh_disable();
	h->token = cpu_to_be64(via_ether_token_make(nic->nic, &of));
	local_bh_enable();
}

void sim_nic_prove(struct sim_nic *nic, u8 *frame)
{
	struct via_wire *w = (void *)(frame + ETH_HLEN);
	struct via_wire_hello *h = (void *)(w + 1);
	u32 i;

	if (w->version != VIA_WIRE_VERSION ||
	    (w->type != VIA_WIRE_REQUEST && w->type != VIA_WIRE_PEER_REQUEST))
		return;
	/* A host that is there was told one for its own life. */
	for (i = 0; i < NICS_MAX; i++)
		if (nics[i] && !memcmp(frame + ETH_ALEN, nics[i]->nic->host.addr,
				       ETH_ALEN))
			h->epoch = cpu_to_be64(nics[i]->nic->epoch);
	sim_nic_prove_epoch(nic, frame);
}

struct via_ether_nic *sim_nic_ether(const struct sim_nic *nic)
{
	return nic->nic;
}

struct sim_nic *sim_nic_up_at(const char *name, u8 n,
			      const struct sim_nic *at)
{
	struct sim_nic *nic = calloc(1, sizeof(*nic));
	const u8 mac[ETH_ALEN] = { 0x52, 0x54, 0, 0, 1, n };
	u32 i;

	if (!nic)
		abort();
	nic->n = ++next_n;
	spin_lock_init(&nic->tx_lock);
	nic->queues = 1;
	nic->longest = ETH_HLEN + 1500;
	for (i = 0; i < QUEUES; i++) {
		nic->rx[i].nic = nic;
		INIT_LIST_HEAD(&nic->rx[i].frames);
	}
	INIT_LIST_HEAD(&nic->ring);
	INIT_LIST_HEAD(&nic->mapped);
	mutex_lock(&rtnl);
	for (i = 0; i < NICS_MAX && nics[i]; i++)
		;
	if (i == NICS_MAX)
		sim_fail("too many NICs");
	nic->nic = via_ether_alloc(kind ? kind : &ops);
	if (!nic->nic)
		goto err;
	sim_watch(kind ? &kind->ka : &ops.ka);
	nic->nic->priv = nic;
	nic->nic->rx_frames = sim_wire.credit ? sim_wire.credit : 64;
	nic->nic->mtu = 1500;
	nic->nic->trains = !(kind && kind->mem_map) && sim_dice(2);
	via_ethernet_own(nic->nic, mac);
	nic->nic->ka->ifindex = at ? at->nic->ka->ifindex : nic->n + 10;
	nic->nic->ka->netns = sim_net;
	nic->nic->ka->netdev = sim_netdev;
	scnprintf(nic->nic->ka->name, sizeof(nic->nic->ka->name), "via_%s",
		  name);
	if (via_ether_register(nic->nic)) {
		mutex_unlock(&rtnl);
		via_ether_free(nic->nic);
		free(nic);
		return NULL;
	}
	nics[i] = nic;
	nic->slot = i;
	nic->listening = true;
	mutex_unlock(&rtnl);
	return nic;
err:
	mutex_unlock(&rtnl);
	free(nic);
	return NULL;
}

struct sim_nic *sim_nic_up(const char *name, u8 n)
{
	return sim_nic_up_at(name, n, NULL);
}

void sim_nic_down(struct sim_nic *nic)
{
	struct frame *f;
	u32 i;

	mutex_lock(&rtnl);
	nic->listening = false;
	/* A native NIC that is renewed does not stop programs by itself. */
	nic->polls_on = kind && kind->busy_poll && sim_dice(2);
	if (!nic->polls_on)
		via_ether_busy_poll_stop(nic->nic);
	/* As dev_remove_pack(): handlers under way are waited for. */
	synchronize_net();
	via_ether_unregister(nic->nic);
	if (!kind || !kind->mem_map)
		via_ether_free(nic->nic);
	mutex_unlock(&rtnl);
	/* As devices/native/vi.c. */
	if (kind && kind->mem_map)
		via_ether_free(nic->nic);
	nic->freed = true;
	if (!list_empty(&nic->mapped))
		sim_fail("memory stays mapped for a NIC that has gone");
	while (nic->reads)
		sim_pause(1000);
	for (i = 0; i < NICS_MAX; i++)
		if (nics[i] == nic)
			nics[i] = NULL;
	for (i = 0; i < QUEUES; i++)
		while (nic->rx[i].softirq.raised)
			sim_pass();
	synchronize_rcu();
	for (i = 0; i < QUEUES; i++)
		while (!list_empty(&nic->rx[i].frames)) {
			f = list_first_entry(&nic->rx[i].frames, struct frame,
					     link);
			list_del(&f->link);
			free(f);
		}
	free(nic);
}

void sim_nic_cut(struct sim_nic *nic, bool cut)
{
	nic->cut = cut;
}

void sim_nic_break(struct sim_nic *nic)
{
	mutex_lock(&rtnl);
	via_ether_break(nic->nic);
	mutex_unlock(&rtnl);
}

void sim_nic_stop(struct sim_nic *nic, bool stopped)
{
	nic->stopped = stopped;
	if (!stopped)
		via_ether_wake(nic->nic);
}

u32 sim_nic_refused(const struct sim_nic *nic)
{
	return nic->refused;
}

void sim_nic_queues(struct sim_nic *nic)
{
	nic->queues = QUEUES;
}

void sim_nic_mtu(struct sim_nic *nic, u32 mtu)
{
	mutex_lock(&rtnl);
	/* What was sent before is with the hardware. */
	nic->longest = max(nic->longest, ETH_HLEN + mtu);
	via_ether_set_mtu(nic->nic, mtu);
	nic->longest = ETH_HLEN + mtu;
	mutex_unlock(&rtnl);
}

void sim_nics_over(void)
{
	if (links)
		sim_fail("%u links to hosts are not closed", links);
}

void sim_nics_reset(void)
{
	links = 0;
	memset(&sim_wire, 0, sizeof(sim_wire));
	memset(strangers, 0, sizeof(strangers));
	sim_wire.delay_ns = 20000;
	memset(nics, 0, sizeof(nics));
	kind = NULL;
	sim_net = &init_net;
	sim_netdev = NULL;
	/* The class fills it in, by the same steps in each run. */
	memset(&ops.ka, 0, sizeof(ops.ka));
	next_n = 0;
	mutex_init(&rtnl);
	INIT_LIST_HEAD(&in_flight);
}

/* No frame is on its way. */
bool sim_nics_idle(void)
{
	return list_empty(&in_flight);
}
