// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trains in TCP's shape (proto/shape.h), where an administrator has attached the NIC
 * so: the card splits them (TSO), and the receiver's kernel joins them (GRO), which
 * neither does with datagrams on most cards.  Anything else goes as datagrams, also
 * what is sent again, so a train that is lost costs time alone.
 *
 * It is not TCP: there is no connection, and who keeps track of such may drop it.  So
 *
 * 1. The NIC has a socket with TCP's port, which neither connects nor listens: no
 *    other socket of this host gets what is for the NIC, and none sends from there.
 * 2. A host is asked first, in a datagram, which one without the option ignores.
 * 3. Then it is probed: one packet in the shape, as long as the frames of trains.  The
 *    answer says that it has come as it was sent.  Trains follow.
 * 4. While they go the probe is repeated each second; and where frames are sent again
 *    trains wait until it is answered.
 * 5. Without an answer, or where the host says so, or its TCP refuses a probe (RST:
 *    there is no hook), there are datagrams, and it is asked again after a minute.
 *
 * There is no timer: a train that is to be sent finds out that it is time.
 */

#include <linux/random.h>
#include <linux/slab.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "../kernel/compat.h"
#include "ether/proto/shape.h"
#include "pages.h"
#include "udp_head.h"
#include "udp_seen.h"
#include "udp_shape.h"

#define HEADROOM	256u			/* the frame's headers are there first */
#define ANSWER_JIFFIES	(HZ / 5)		/* from an ASK or a probe to the next */
#define TRIES		5			/* of one ASK or probe */
#define PROBE_JIFFIES	HZ			/* from a GOT to the next probe */
#define RETRY_JIFFIES	(60 * HZ)		/* from an end to the next ASK */
#define RESENT_MAX	64u			/* frames sent again since a GOT */

/* A frame of VIA_WIRE_SHAPE to a host. */
static void tell(struct via_udp *u, struct via_udp_link *kept, u32 what, u64 cookie)
{
	struct via_ether_link link = { .priv = kept };
	struct via_ether_buf buf;
	struct via_ether_tx tx;
	struct via_wire *w;

	memcpy(link.header, kept->host, u->nic->host.len);
	if (!via_udp_tx_get_one(u->nic, &tx, &link, 0, sizeof(*w), &buf))
		return;
	w = (struct via_wire *)buf.data;
	memset(w, 0, sizeof(*w));
	w->version = VIA_WIRE_VERSION;
	w->type = VIA_WIRE_SHAPE;
	w->dst = cpu_to_be32(what);
	w->cookie = cpu_to_be64(cookie);
	via_udp_tx_put_one(u->nic, &tx, sizeof(*w), &buf);
}

/* TCP's checksum, by the device, and IP's header; TCP's is there but for ports. */
static void send_shaped(struct via_udp *u, struct sk_buff *skb,
			const struct via_udp_link *kept, __be16 port)
{
	struct via_shape_tcp *t = (void *)skb->data;
	__be32 from, to;

	memcpy(&from, u->nic->host.addr, sizeof(from));
	memcpy(&to, kept->host, sizeof(to));
	skb_reset_transport_header(skb);
	t->source = port;
	t->dest = u->port;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct via_shape_tcp, check);
	t->check = (__force __be16)~tcp_v4_check(skb->len, from, to, 0);
	via_udp_ip_v4(u, skb, skb_dst(skb), from, to, IPPROTO_TCP, true);
	via_udp_hand_over(u, skb);
}

static void probe(struct via_udp *u, struct via_udp_link *kept,
		  struct dst_entry *dst, __be16 port, u64 cookie, u32 len)
{
	struct sk_buff *skb = alloc_skb(HEADROOM + len, GFP_ATOMIC | __GFP_NOWARN);

	/* It is repeated. */
	if (!skb)
		return;
	skb_reserve(skb, HEADROOM);
	skb_put_zero(skb, len);
	skb_dst_set_noref(skb, dst);
	via_shape_probe(__skb_push(skb, VIA_SHAPE_HDR), cookie, len);
	send_shaped(u, skb, kept, port);
}

/* Datagrams again, and an ASK after @rest jiffies.  via_udp_links_lock held. */
static void end_trains(struct via_udp *u, struct via_udp_to *to, u32 rest)
{
	lockdep_assert_held(&via_udp_links_lock);
	WRITE_ONCE(to->trains, false);
	to->step = VIA_UDP_TO_REST;
	WRITE_ONCE(to->next, jiffies + rest);
	u->shape->ended++;
}

/* What is to be said to that host now?  via_udp_links_lock held. */
static enum via_udp_step next_step(struct via_udp *u, struct via_udp_to *to)
{
	bool lossy = READ_ONCE(to->resent) >= RESENT_MAX;

	if (lossy)
		WRITE_ONCE(to->trains, false);
	if (time_before(jiffies, to->next) &&
	    !(lossy && to->step == VIA_UDP_TO_PROVEN))
		return VIA_UDP_TO_REST;
	switch (to->step) {
	case VIA_UDP_TO_REST:
		to->step = VIA_UDP_TO_ASK;
		to->tries = 0;
		break;
	case VIA_UDP_TO_PROVEN:
		to->step = VIA_UDP_TO_PROBE;
		to->tries = 0;
		break;
	default:
		break;
	}
	if (to->tries == TRIES) {
		end_trains(u, to, RETRY_JIFFIES);
		return VIA_UDP_TO_REST;
	}
	if (!to->tries++)
		get_random_bytes(&to->cookie, sizeof(to->cookie));
	/* None is zero. */
	to->cookie |= 1;
	WRITE_ONCE(to->next, jiffies + ANSWER_JIFFIES);
	return to->step;
}

/* It is time to ask or to probe, or it was not.  Do trains go there meanwhile? */
static noinline bool advance(struct via_udp *u, struct via_udp_link *kept,
			     struct dst_entry *dst, __be16 port, u32 len)
{
	struct via_udp_to *to = &kept->to;
	enum via_udp_step step = VIA_UDP_TO_REST;
	bool trains;
	u64 cookie;

	spin_lock(&via_udp_links_lock);
	/* Not to one that is closed. */
	if (!hlist_unhashed(&kept->by_host))
		step = next_step(u, to);
	trains = to->trains;
	cookie = to->cookie;
	spin_unlock(&via_udp_links_lock);
	if (step == VIA_UDP_TO_ASK)
		tell(u, kept, VIA_SHAPE_ASK, cookie);
	else if (step == VIA_UDP_TO_PROBE)
		probe(u, kept, dst, port, cookie, len);
	return trains;
}

static __always_inline bool takes_shape(const struct dst_entry *dst)
{
	return via_udp_segments(dst, NETIF_F_TSO, htons(ETH_P_IP)) &&
	       LL_RESERVED_SPACE(dst->dev) + sizeof(struct iphdr) +
	       VIA_SHAPE_HDR <= HEADROOM;
}

/* The route of the next train, if it may have the shape. */
static struct dst_entry *may_shape(struct via_udp *u, struct via_ether_tx *tx,
				   const struct via_ether_link *link,
				   const struct via_ether_train *t)
{
	struct via_udp_link *kept = link->priv;
	struct via_udp_to *to = &kept->to;
	bool trains = READ_ONCE(to->trains);
	bool early = time_before(jiffies, READ_ONCE(to->next));
	struct dst_entry *dst;

	if ((!trains && early) || !t->plain || t->hdr != VIA_WIRE_SEND_HDR ||
	    via_udp_is_black_hole(kept))
		return NULL;
	dst = via_udp_route(u, kept);
	if (!dst || !takes_shape(dst) ||
	    !via_udp_fits_path(u, kept, dst, t->hdr + t->seg))
		return NULL;
	if (unlikely(!trains || !early || READ_ONCE(to->resent) >= RESENT_MAX) &&
	    !advance(u, kept, dst, (__force __be16)(unsigned long)tx->queue, t->seg))
		return NULL;
	return dst;
}

/* Bytes of the next train: whole frames, but at the end of the message. */
static u32 train_bytes(const struct net_device *dev, const struct via_ether_train *t)
{
	u32 bytes = min_t(u32, READ_ONCE(dev->gso_max_size), VIA_UDP_TRAIN_BYTES);
	u32 most = min_t(u32, READ_ONCE(dev->gso_max_segs), VIA_WIRE_TRAIN);

	bytes -= min(bytes, HEADROOM);
	most = min(most, bytes / t->seg);
	if (t->bytes <= bytes && t->bytes <= most * t->seg)
		bytes = t->bytes;
	else
		bytes = most * t->seg;
	return bytes > t->seg && via_shape_fits(t->off, t->seg,
						DIV_ROUND_UP(bytes, t->seg)) ?
	       bytes : 0;
}

/* Between tx_get_train() and tx_put_train(): the host. */
static struct via_udp_link **kept_of(struct sk_buff *skb)
{
	return (struct via_udp_link **)skb->cb;
}

/* Room for the payload is the end of @skb, and the train's pieces. */
static bool add_pieces(struct sk_buff *skb, struct via_ether_train *t)
{
	struct via_pages *p = this_cpu_ptr(&via_udp_pages);
	u32 left = t->bytes, len, n;

	for (n = 0; left; n++, left -= len) {
		len = via_pages_row(p, left);
		if (n == VIA_ETHER_TRAIN_PIECES || n == MAX_SKB_FRAGS)
			return false;
		t->piece[n].data = via_pages_room(p, len);
		if (unlikely(!t->piece[n].data))
			return false;
		t->piece[n].len = len;
		via_pages_append(p, skb, len);
	}
	t->pieces = n;
	return true;
}

bool via_udp_shape_get_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			     const struct via_ether_link *link,
			     struct via_ether_train *t, struct via_ether_buf *buf)
{
	struct via_udp *u = nic->priv;
	u32 wanted = t->bytes, bytes;
	struct dst_entry *dst;
	struct sk_buff *skb;

	t->alone = false;
	if (!link->priv || !via_udp_has_room(u))
		goto datagrams;
	dst = may_shape(u, tx, link, t);
	bytes = dst ? train_bytes(dst->dev, t) : 0;
	if (!bytes)
		goto datagrams;
	/* What is before it goes first. */
	via_udp_tx_end(nic, tx);
	skb = via_pages_frame(&via_udp_pages, HEADROOM, 0);
	if (unlikely(!skb))
		goto datagrams;
	t->bytes = bytes;
	if (unlikely(!add_pieces(skb, t))) {
		kfree_skb(skb);
		t->bytes = wanted;
		goto datagrams;
	}
	skb_dst_set_noref(skb, dst);
	t->alone = true;
	*kept_of(skb) = link->priv;
	buf->data = skb->head;
	buf->priv = skb;
	return true;
datagrams:
	return via_udp_tx_get_train(nic, tx, link, t, buf);
}

bool via_udp_shape_put_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			     const struct via_ether_train *t,
			     struct via_ether_buf *buf)
{
	u32 frames = DIV_ROUND_UP(t->bytes, t->seg);
	struct skb_shared_info *info;
	struct sk_buff *skb = buf->priv;
	struct via_udp *u = nic->priv;
	const struct via_udp_link *kept;

	if (!t->alone)
		return via_udp_tx_put_train(nic, tx, t, buf);
	kept = *kept_of(skb);
	/* IP's. */
	*kept_of(skb) = NULL;
	via_shape_fold(__skb_push(skb, VIA_SHAPE_HDR), buf->data, t->seg, frames);
	info = skb_shinfo(skb);
	info->gso_size = t->seg;
	info->gso_segs = frames;
	info->gso_type = SKB_GSO_TCPV4;
	this_cpu_add(u->counts->tx_shaped, frames);
	send_shaped(u, skb, kept, (__force __be16)(unsigned long)tx->queue);
	return true;
}

void via_udp_shape_resent(struct via_ether_nic *nic,
			  const struct via_ether_link *link)
{
	struct via_udp_link *kept = link->priv;

	if (kept && READ_ONCE(kept->to.trains))
		WRITE_ONCE(kept->to.resent, READ_ONCE(kept->to.resent) + 1);
}

/* What the host answers to an ASK or a probe. */
static void rx_answer(struct via_udp *u, struct via_udp_link *kept, u32 what,
		      u64 cookie)
{
	struct via_udp_to *to = &kept->to;

	spin_lock(&via_udp_links_lock);
	if (to->step != VIA_UDP_TO_REST && what == VIA_SHAPE_STOP && cookie &&
	    (cookie == to->cookie || cookie == to->answered)) {
		/* Of the last ASK or probe, or of the one before it. */
		end_trains(u, to, RETRY_JIFFIES);
	} else if (cookie != to->cookie) {
		/* An old one, or a stranger's. */
	} else if (what == VIA_SHAPE_YES && to->step == VIA_UDP_TO_ASK) {
		to->step = VIA_UDP_TO_PROBE;
		to->tries = 0;
		to->answered = cookie;
		WRITE_ONCE(to->next, jiffies);
	} else if (what == VIA_SHAPE_GOT && to->step == VIA_UDP_TO_PROBE) {
		to->step = VIA_UDP_TO_PROVEN;
		to->answered = cookie;
		WRITE_ONCE(to->next, jiffies + PROBE_JIFFIES);
		WRITE_ONCE(to->resent, 0);
		WRITE_ONCE(to->trains, true);
	}
	spin_unlock(&via_udp_links_lock);
}

bool via_udp_shape_rx_other(struct via_ether_nic *nic,
			    const struct via_ether_frame *f)
{
	const struct via_wire *w = f->hdr;
	struct via_udp *u = nic->priv;
	struct via_udp_link *kept;
	u64 cookie;
	u32 what;

	/* The class has seen that there is a header. */
	if (w->type != VIA_WIRE_SHAPE)
		return false;
	what = be32_to_cpu(w->dst);
	cookie = be64_to_cpu(w->cookie);
	kept = via_udp_link_of(u, f->src);
	if (!kept)
		return true;
	if (what != VIA_SHAPE_ASK) {
		rx_answer(u, kept, what, cookie);
		return true;
	}
	/* Nothing is said where trains would not be taken. */
	if (!via_udp_unfiltered(u))
		return true;
	WRITE_ONCE(kept->from.cookie, cookie);
	WRITE_ONCE(kept->from.stopped, jiffies - ANSWER_JIFFIES);
	WRITE_ONCE(kept->from.granted, true);
	tell(u, kept, VIA_SHAPE_YES, cookie);
	return true;
}

void via_udp_shape_probed(struct via_udp *u, struct via_udp_link *kept, u64 cookie)
{
	WRITE_ONCE(kept->from.cookie, cookie);
	tell(u, kept, VIA_SHAPE_GOT, cookie);
}

void via_udp_shape_stop(struct via_udp *u, struct via_udp_link *kept)
{
	if (time_before(jiffies, READ_ONCE(kept->from.stopped) + ANSWER_JIFFIES))
		return;
	WRITE_ONCE(kept->from.stopped, jiffies);
	tell(u, kept, VIA_SHAPE_STOP, READ_ONCE(kept->from.cookie));
}

void via_udp_shape_refused(struct via_udp *u, struct via_udp_link *kept, u32 seq)
{
	struct via_udp_to *to = &kept->to;

	spin_lock(&via_udp_links_lock);
	/* One that took them may have restarted: it is asked at once. */
	if (to->trains)
		end_trains(u, to, 0);
	else if (to->step == VIA_UDP_TO_PROBE && seq == (u32)(to->cookie >> 32))
		end_trains(u, to, RETRY_JIFFIES);
	spin_unlock(&via_udp_links_lock);
}

/* No other socket has TCP's port of the address, and none is received from. */
static int take_port(struct via_udp *u, const u8 *addr, struct socket **port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = u->port,
	};
	int err = sock_create_kern(u->net, AF_INET, SOCK_STREAM, IPPROTO_TCP, port);

	if (err)
		return err;
	memcpy(&at.sin_addr, addr, sizeof(at.sin_addr));
	if (u->ifindex)
		err = sock_bindtoindex((*port)->sk, u->ifindex, true);
	if (!err)
		err = kernel_bind(*port, (struct sockaddr_unsized *)&at,
				  sizeof(at));
	if (err)
		sock_release(*port);
	return err;
}

int via_udp_shape_open(struct via_udp *u, const u8 *addr)
{
	struct via_udp_shape *shape = kzalloc(sizeof(*shape), GFP_KERNEL);
	int err;

	if (!shape)
		return -ENOMEM;
	err = take_port(u, addr, &shape->port);
	if (err) {
		kfree(shape);
		return err;
	}
	shape->raw = via_udp_raw_sockets(u, IPPROTO_TCP);
	shape->rx = via_udp_shape_rx;
	shape->taken = jiffies - 2 * HZ;
	u->shape = shape;
	return 0;
}

void via_udp_shape_close(struct via_udp *u)
{
	if (!u->shape)
		return;
	sock_release(u->shape->port);
	kfree(u->shape);
	u->shape = NULL;
}
