// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A NIC module whose wire is simulated, and RTNL over its coming and going. */
#include "../../devices/ether/via_ether.h"
#include "../../devices/ether/wire.h"
#include "host.h"
#include "kernel/model.h"
#include "watch.h"

#define RX_BATCH	64
#define TX_FRAMES	256		/* of a burst's ring */
#define NICS_MAX	256

struct frame {
	struct list_head link;
	struct sim_nic *to;		/* the receiver, as it was meant */
	u32 n;				/* of its port, when it was sent */
	u32 slot;			/* in nics[] */
	u32 len;			/* Ethernet header included */
	u8 data[];
};

struct sim_nic {
	struct via_ether_nic *nic;
	char name[32];
	u32 n;				/* counts NICs: names this life of it */
	spinlock_t tx_lock;
	u32 slot;			/* in nics[] */
	bool cut, stopped;
	bool listening;
	bool polled;			/* no softirq for frames that come */
	bool receiving;			/* one at a time, as under NAPI */
	struct list_head rx;		/* frames */
	struct sim_softirq softirq;
	u64 busy_until;			/* of the port's way out */
	u32 queued;			/* frames on it */
};

struct sim_wire sim_wire;
static struct sim_nic *nics[NICS_MAX];
static u32 next_n;
static struct mutex rtnl;
static struct list_head in_flight;

/* Receiving */

static void receive(struct sim_nic *nic, struct frame *fr)
{
	const struct ethhdr *eth = (const void *)fr->data;
	struct via_ether_chunk chunk = {
		.data = fr->data + ETH_HLEN,
		.len = fr->len - ETH_HLEN,
	};
	struct via_ether_frame f = {
		.src = eth->h_source,
		.hdr = chunk.data,
		.len = chunk.len,
		.nchunks = 1,
		.chunk = &chunk,
	};

	if (eth->h_proto != via_ether_proto())
		return;
	rcu_read_lock();
	if (is_multicast_ether_addr(eth->h_dest))
		via_ether_rx_broadcast(nic->nic, &f);
	else
		via_ether_rx(nic->nic, &f);
	rcu_read_unlock();
}

static void take_frames(struct sim_nic *nic)
{
	struct frame *f;
	u32 n;

	nic->receiving = true;
	for (n = 0; n < RX_BATCH && nic->listening && !list_empty(&nic->rx);
	     n++) {
		f = list_first_entry(&nic->rx, struct frame, link);
		list_del(&f->link);
		receive(nic, f);
		free(f);
	}
	nic->receiving = false;
}

static void rx_softirq(struct sim_softirq *s);

static void rx_raise(struct sim_nic *nic)
{
	if (nic->listening && !nic->polled && !nic->receiving &&
	    !list_empty(&nic->rx))
		sim_raise(&nic->softirq, rx_softirq);
}

static void rx_softirq(struct sim_softirq *s)
{
	struct sim_nic *nic = container_of(s, struct sim_nic, softirq);

	/* The NIC is there as long as its handler is known. */
	rcu_read_lock();
	if (!nic->receiving) {
		take_frames(nic);
		rx_raise(nic);
	}
	rcu_read_unlock();
}

/* A program looks. */
static void poll(struct via_ether_nic *ether)
{
	struct sim_nic *nic = ether->priv;

	if (nic->receiving || list_empty(&nic->rx))
		return;
	local_bh_disable();
	rcu_read_lock();
	if (!nic->receiving)
		take_frames(nic);
	rx_raise(nic);
	rcu_read_unlock();
	local_bh_enable();
}

static bool poll_mode(struct via_ether_nic *ether, enum via_poll_step step)
{
	struct sim_nic *nic = ether->priv;

	switch (step) {
	case VIA_POLL_BEGIN:
		if (!nic->listening || nic->polled)
			return false;
		nic->polled = true;
		break;
	case VIA_POLL_KEEP:
		if (!nic->polled)
			sim_fail("a NIC is kept polled that is not polled");
		break;
	case VIA_POLL_END:
		if (!nic->polled)
			sim_fail("polling ends that has not begun");
		nic->polled = false;
		rx_raise(nic);
		break;
	}
	return true;
}

/* The NIC that has the address now, where that counts. */
static struct sim_nic *heir(const struct frame *f)
{
	u32 i;

	for (i = 0; sim_wire.lasting && i < NICS_MAX; i++)
		if (nics[i] && !memcmp(f->data, nics[i]->nic->mac, ETH_ALEN))
			return nics[i];
	return NULL;
}

static void deliver(void *arg)
{
	struct frame *f = arg;
	struct sim_nic *nic = f->to;

	list_del(&f->link);
	if (nics[f->slot] != nic || nic->n != f->n)
		nic = heir(f);
	else if (nic->queued)
		nic->queued--;
	if (!nic || !nic->listening || nic->cut) {
		free(f);
		return;
	}
	list_add_tail(&f->link, &nic->rx);
	/* One at a time: frames of a port are not overtaken in its host. */
	rx_raise(nic);
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
	to->queued++;
	list_add_tail(&f->link, &in_flight);
	sim_at(when, deliver, f);
}

static void transmit(struct sim_nic *from, struct frame *f)
{
	const struct ethhdr *eth = (const void *)f->data;
	u32 i, copies;

	if (f->len < ETH_ZLEN)
		f->len = ETH_ZLEN;
	sim_wire.frames++;
	if (from->cut ||
	    (sim_wire.meddle &&
	     !sim_wire.meddle(sim_wire.meddle_arg, f->data, &f->len)))
		return;
	for (i = 0; i < NICS_MAX; i++) {
		if (!nics[i] || nics[i] == from || !nics[i]->listening)
			continue;
		if (!is_multicast_ether_addr(eth->h_dest) &&
		    memcmp(eth->h_dest, nics[i]->nic->mac, ETH_ALEN))
			continue;
		copies = 1 + (sim_dice(10000) < sim_wire.dup);
		while (copies--)
			towards(nics[i], f);
	}
}

void sim_nic_inject(struct sim_nic *nic, const void *data, u32 len)
{
	struct frame *f = calloc(1, sizeof(*f) + max_t(u32, len, ETH_ZLEN));

	if (!f)
		abort();
	memcpy(f->data, data, len);
	f->len = max_t(u32, len, ETH_ZLEN);
	f->to = nic;
	f->n = nic->n;
	f->slot = nic->slot;
	list_add_tail(&f->link, &in_flight);
	sim_at(sim_clock, deliver, f);
}

static bool tx_begin(struct via_ether_nic *ether, struct via_ether_tx *tx,
		     u32 flow)
{
	struct sim_nic *nic = ether->priv;

	spin_lock(&nic->tx_lock);
	if (nic->stopped) {
		spin_unlock(&nic->tx_lock);
		return false;
	}
	tx->queue = nic;
	tx->last = NULL;
	return true;
}

static bool tx_get(struct via_ether_nic *ether, struct via_ether_tx *tx,
		   u32 len, struct via_ether_buf *buf)
{
	struct frame *f;

	if (sim_alloc_fails())
		return false;
	f = calloc(1, sizeof(*f) + max_t(u32, len, ETH_ZLEN));
	if (!f)
		abort();
	buf->data = f->data;
	buf->priv = f;
	return true;
}

static bool tx_put(struct via_ether_nic *ether, struct via_ether_tx *tx,
		   u32 len, struct via_ether_buf *buf)
{
	struct sim_nic *nic = ether->priv;
	struct frame *f = buf->priv;

	if (!sim_lock_mine(&nic->tx_lock.l))
		sim_fail("tx_put() outside of a burst");
	f->len = len;
	transmit(nic, f);
	free(f);
	return !nic->stopped;
}

static void tx_drop(struct via_ether_nic *ether, struct via_ether_tx *tx,
		    struct via_ether_buf *buf)
{
	free(buf->priv);
}

static void tx_end(struct via_ether_nic *ether, struct via_ether_tx *tx)
{
	struct sim_nic *nic = ether->priv;

	spin_unlock(&nic->tx_lock);
}

static bool tx_get_one(struct via_ether_nic *ether, struct via_ether_tx *tx,
		       u32 flow, u32 len, struct via_ether_buf *buf)
{
	if (!tx_begin(ether, tx, flow))
		return false;
	if (tx_get(ether, tx, len, buf))
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

static struct via_ether_ops ops = {
	.owner = THIS_MODULE,
	.tx_begin = tx_begin,
	.tx_get = tx_get,
	.tx_put = tx_put,
	.tx_drop = tx_drop,
	.tx_end = tx_end,
	.tx_get_one = tx_get_one,
	.tx_put_one = tx_put_one,
};

static struct via_ether_ops polled_ops;
static bool polled;

void sim_nics_polled(void)
{
	polled_ops = ops;
	polled_ops.poll = poll;
	polled_ops.poll_mode = poll_mode;
	polled = true;
}

/* Coming and going */

const u8 *sim_nic_mac(const struct sim_nic *nic)
{
	return nic->nic->mac;
}

u32 sim_nic_peer_lists(const struct sim_nic *nic)
{
	u32 i, n = 0;

	for (i = 0; i < VIA_PEER_BUCKETS; i++)
		n += !list_empty(&nic->nic->ka->peers[i]);
	return n;
}

struct sim_nic *sim_nic_up(const char *name, u8 n)
{
	struct sim_nic *nic = calloc(1, sizeof(*nic));
	const u8 mac[ETH_ALEN] = { 0x52, 0x54, 0, 0, 1, n };
	u32 i;

	if (!nic)
		abort();
	nic->n = ++next_n;
	spin_lock_init(&nic->tx_lock);
	INIT_LIST_HEAD(&nic->rx);
	mutex_lock(&rtnl);
	for (i = 0; i < NICS_MAX && nics[i]; i++)
		;
	if (i == NICS_MAX)
		sim_fail("too many NICs");
	nic->nic = via_ether_alloc(polled ? &polled_ops : &ops);
	if (!nic->nic)
		goto err;
	sim_watch(polled ? &polled_ops.ka : &ops.ka);
	nic->nic->priv = nic;
	nic->nic->rx_frames = 64;
	nic->nic->mtu = 1500;
	memcpy(nic->nic->mac, mac, ETH_ALEN);
	nic->nic->ka->ifindex = nic->n + 10;
	nic->nic->ka->netns = &init_net;
	scnprintf(nic->nic->ka->name, sizeof(nic->nic->ka->name), "via_%s",
		  name);
	if (via_ether_register(nic->nic)) {
		via_ether_free(nic->nic);
		goto err;
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

void sim_nic_down(struct sim_nic *nic)
{
	struct frame *f;
	u32 i;

	mutex_lock(&rtnl);
	nic->listening = false;
	via_ether_poll_stop(nic->nic);
	/* As dev_remove_pack(): handlers under way are waited for. */
	synchronize_net();
	via_ether_unregister(nic->nic);
	via_ether_free(nic->nic);
	mutex_unlock(&rtnl);
	for (i = 0; i < NICS_MAX; i++)
		if (nics[i] == nic)
			nics[i] = NULL;
	while (nic->softirq.raised)
		sim_pass();
	synchronize_rcu();
	while (!list_empty(&nic->rx)) {
		f = list_first_entry(&nic->rx, struct frame, link);
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

void sim_nic_mtu(struct sim_nic *nic, u32 mtu)
{
	mutex_lock(&rtnl);
	via_ether_set_mtu(nic->nic, mtu);
	mutex_unlock(&rtnl);
}

void sim_nics_reset(void)
{
	memset(&sim_wire, 0, sizeof(sim_wire));
	sim_wire.delay_ns = 20000;
	memset(nics, 0, sizeof(nics));
	/* The class fills it in, by the same steps in each run. */
	memset(&ops.ka, 0, sizeof(ops.ka));
	polled = false;
	next_n = 0;
	mutex_init(&rtnl);
	INIT_LIST_HEAD(&in_flight);
}

/* No frame is on its way. */
bool sim_nics_idle(void)
{
	return list_empty(&in_flight);
}
