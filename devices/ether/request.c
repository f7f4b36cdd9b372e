// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests of other hosts' clients, from their arrival until a program of this
 * host has answered, or the client has left.
 */

#include <linux/slab.h>
#include "../../kernel/via_conn.h"
#include "admit.h"
#include "param.h"
#include "reply_cache.h"
#include "request.h"
#include "stats.h"
#include "timer.h"
#include "vi.h"
#include "xmit.h"

#define REQS_MAX	1024u		/* unanswered requests of a NIC */
#define REQS_VISIT	32u		/* looked at in a tick, for their time */

/* nic->lock held. */
static void unlist_req(struct via_ether_nic *nic, struct via_ether_req *req)
{
	lockdep_assert_held(&nic->lock);
	via_order_del(&nic->reqs, &req->due);
	via_peer_del_req(req);
	nic->nreqs--;
}

/* It is off the list. */
static void free_req(struct via_ether_req *req)
{
	via_peer_put(req->peer);
	kfree(req);
}

bool via_ether_take_req(struct via_ether_nic *nic, const u8 *host, u32 vi,
			u64 cookie, struct via_ether_req *copy)
{
	struct via_ether_req *req = NULL;
	struct via_peer *peer;
	bool mine = false;

	rcu_read_lock();
	peer = via_peer_find(nic, host);
	if (peer) {
		spin_lock(&nic->lock);
		req = via_peer_req(peer, vi, cookie);
		if (req) {
			unlist_req(nic, req);
			*copy = *req;
			mine = req->conn;
			if (!mine)
				via_peer_hold(peer);
		}
		spin_unlock(&nic->lock);
	}
	rcu_read_unlock();
	if (mine)
		kfree(req);
	return req;
}

void via_ether_drop_req(const struct via_ether_req *copy)
{
	if (copy->conn)
		via_conn_put(copy->conn);
	via_peer_put(copy->peer);
}

/* ops->reject */
void via_ether_reject(struct via_conn *conn)
{
	const struct via_ether_client *c = (const void *)conn->priv;
	struct via_ether_nic *nic = conn->nic->priv;
	struct via_ether_req req;

	local_bh_disable();
	if (via_ether_take_req(nic, c->host.addr, c->vi, c->cookie, &req)) {
		via_ether_cache_reply(req.peer, c, VIA_WIRE_REFUSE,
				      VIA_WIRE_R_REJECT, conn->reply);
		via_ether_refuse(nic, VIA_WIRE_R_REJECT, c, conn->reply);
		via_ether_drop_req(&req);
	}
	local_bh_enable();
}

/* Have the agent match it; @req->client is copied. */
static struct via_conn *offer_req(struct via_ether_nic *nic,
				  const struct via_ether_req *req,
				  const struct via_conn_hdr *c)
{
	struct via_net_addr local = {}, remote = {};
	struct via_vi_attrs attrs = {
		.reliability = c->reliability,
		.max_transfer = c->max_transfer,
		.rights = c->rights,
	};
	/* Its time may be over by now. */
	long left = max_t(long, req->deadline - jiffies, 0);

	BUILD_BUG_ON(sizeof(req->client) > VIA_CONN_PRIV);
	via_ether_conn_addr(&local, c->server_host, c->server_host_len,
			    c->server_disc, c->server_disc_len);
	via_ether_conn_addr(&remote, c->client_host, c->client_host_len,
			    c->client_disc, c->client_disc_len);
	return via_conn_incoming(nic->ka, &local, &remote, &attrs,
				 req->forever ? MAX_JIFFY_OFFSET : left,
				 &req->client, sizeof(req->client));
}

/*
 * The agent has matched it, or not (ERR_PTR): the request has its @conn, or is
 * off the list.  False: it is off the list, and the caller's to free.
 */
static bool keep_req(struct via_ether_nic *nic, struct via_ether_req *req,
		     struct via_conn *conn)
{
	bool taken;

	spin_lock(&nic->lock);
	taken = !via_order_has(&req->due);
	if (IS_ERR(conn)) {
		if (!taken)
			unlist_req(nic, req);
		taken = true;
	} else if (!taken) {
		req->conn = conn;
	}
	spin_unlock(&nic->lock);
	return !taken;
}

/*
 * Hand a new request to the agent.  Returns the answer, or 0: it was given.
 * @req may be gone: the agent's program may have it.
 */
static u8 new_request(struct via_ether_nic *nic, struct via_ether_req *req,
		      const struct via_conn_hdr *c)
{
	struct via_conn *conn = offer_req(nic, req, c);

	if (keep_req(nic, req, conn))
		return VIA_WIRE_WAIT;
	/* Answered or cancelled already: it was left to us to free it. */
	if (!IS_ERR(conn)) {
		via_conn_put(conn);
	} else if (PTR_ERR(conn) == -ENOENT) {
		via_ether_cache_reply(req->peer, &req->client, VIA_WIRE_REFUSE,
				      VIA_WIRE_R_NO_MATCH, NULL);
		via_ether_answer(nic, 0, VIA_WIRE_REFUSE, VIA_WIRE_R_NO_MATCH,
				 &req->client);
	}
	free_req(req);
	return 0;
}

/* The client, as its REQUEST tells of it. */
static void read_client(struct via_ether_client *client,
			const struct via_host *host,
			const struct via_conn_hdr *c)
{
	client->host = *host;
	client->vi = c->vi;
	client->cookie = c->sender_cookie;
	client->epoch = c->hello.epoch;
	client->first_seq = c->first_seq;
	client->mtu = c->hello.mtu;
	client->frames = c->hello.frames;
	client->want_seal = c->options & VIA_WIRE_O_SUM;
	client->takes = via_ether_takes(c->options);
}

/* When its client has given up without a word, of get_jiffies_64(). */
static u64 over_at(const struct via_ether_req *req)
{
	u64 now = get_jiffies_64();
	long left = req->seen + via_ether_dead() - (unsigned long)now;

	if (!req->forever)
		left = min_t(long, left, req->deadline - (unsigned long)now);
	return now + max(left + 1, 0L);
}

/*
 * List a request, if it is a new one and there is room.  False: it is not
 * listed, and @type is the answer, or 0.
 */
static bool list_req(struct via_ether_nic *nic, struct via_ether_req *req,
		     u8 *type, u8 *reason, struct via_reply *reply)
{
	const struct via_ether_client *c = &req->client;
	struct via_peer *peer = req->peer;
	struct via_ether_req *old;
	bool new = false;

	spin_lock(&nic->lock);
	old = via_peer_req(peer, c->vi, c->cookie);
	*type = via_ether_cached_reply(peer, c, reason, reply);
	/* An accepted one is known as long as the connection stands. */
	if (!*type && via_peer_end(peer, c->vi, c->cookie))
		*type = VIA_WIRE_ACCEPT;
	if (old) {
		old->seen = jiffies;
		*type = VIA_WIRE_WAIT;
	} else if (!*type && nic->nreqs < REQS_MAX &&
		   peer->nreqs < VIA_PEER_REQS && !nic->stopping) {
		nic->nreqs++;
		via_order_add(&nic->reqs, &req->due, over_at(req));
		via_peer_add_req(req);
		new = true;
	}
	spin_unlock(&nic->lock);
	return new;
}

void via_ether_request_rx(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h)
{
	struct via_ether_client client;
	struct via_ether_req *req;
	struct via_conn_hdr c;
	struct via_reply reply;
	u8 type, reason = 0;

	if (via_wire_parse_conn(f->hdr, &c)) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	via_ether_count(nic, REQUESTS_IN);
	if (!via_ether_validated(nic, f, h, &c))
		return;
	/* Without memory: the client will ask again. */
	req = kzalloc(sizeof(*req), GFP_ATOMIC | __GFP_NOWARN);
	if (!req)
		return;
	via_order_node_init(&req->due);
	req->peer = via_peer_get(nic, f->src, GFP_ATOMIC);
	if (!req->peer) {
		kfree(req);
		return;
	}
	/* A late one, of a host that was started again since. */
	if (!via_peer_saw_epoch(req->peer, c.hello.epoch)) {
		free_req(req);
		return;
	}
	read_client(&req->client, &req->peer->host, &c);
	/* A request that is handed to the agent may be gone when it returns. */
	client = req->client;
	req->seen = jiffies;
	req->forever = c.timeout_ms == VIA_WIRE_FOREVER;
	req->deadline = jiffies + msecs_to_jiffies(c.timeout_ms);

	if (list_req(nic, req, &type, &reason, &reply)) {
		via_ether_arm(nic);
		type = new_request(nic, req, &c);
	} else {
		free_req(req);
	}
	/* An accepted one hears of it from the VI that accepted it. */
	if (type == VIA_WIRE_REFUSE)
		via_ether_refuse(nic, reason, &client, &reply);
	else if (type && type != VIA_WIRE_ACCEPT)
		via_ether_answer(nic, 0, type, reason, &client);
}

/*
 * One whose time is over, off the list.  One that was asked for again since goes
 * to its new place, and one without conn is in its maker's hands.  NULL: there is
 * none, or it is enough for now.
 */
static struct via_ether_req *next_past(struct via_ether_nic *nic, bool all,
				       struct via_work *work)
{
	struct via_ether_req *req, *over = NULL;
	u64 now = get_jiffies_64(), at;
	struct via_order_node *first;

	spin_lock(&nic->lock);
	while (!over && (first = via_order_first(&nic->reqs)) &&
	       (all || first->key <= now) && via_work_visit(work)) {
		req = container_of(first, struct via_ether_req, due);
		at = over_at(req);
		if (req->conn && (all || at <= now)) {
			unlist_req(nic, req);
			over = req;
		} else {
			via_order_del(&nic->reqs, first);
			via_order_add(&nic->reqs, first, max(at, now + 1));
		}
	}
	spin_unlock(&nic->lock);
	return over;
}

/* True: there may be more. */
static bool drop_over(struct via_ether_nic *nic, bool all)
{
	struct via_work work = VIA_WORK(REQS_VISIT);
	struct via_ether_req *req;

	while ((req = next_past(nic, all, &work))) {
		via_conn_cancel(req->conn);
		via_conn_put(req->conn);
		free_req(req);
	}
	return via_work_over(&work);
}

bool via_ether_reqs_wanted(const struct via_ether_nic *nic, unsigned long *at)
{
	lockdep_assert_held(&nic->lock);
	return via_order_first(&nic->reqs);
}

bool via_ether_reqs_expire(struct via_ether_nic *nic)
{
	return drop_over(nic, false);
}

void via_ether_reqs_end(struct via_ether_nic *nic)
{
	bool more;

	do {
		local_bh_disable();
		more = drop_over(nic, true);
		local_bh_enable();
	} while (more);
}
