// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Peers: where they are found, who uses them, when they go. */

#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "param.h"
#include "reply_cache.h"
#include "request.h"
#include "session.h"
#include "share.h"
#include "timer.h"
#include "vi.h"

#define EXPIRE_MAX	64		/* peers that end in one visit */
#define RTO_FIRST_US	20000		/* until measured */
#define RTT_SHORT	8u		/* samples that are no accident */

static u32 hash_of(const struct via_ether_nic *nic, const u8 *host)
{
	return jhash(host, nic->host.len, nic->peers->seed);
}

static struct hlist_head *peer_bucket(struct via_peers *peers, u32 hash)
{
	return &peers->all[hash & ((1u << VIA_PEER_BITS) - 1)];
}

/* RCU read side. */
static struct via_peer *find_peer(struct via_ether_nic *nic, u32 hash,
				  const u8 *host)
{
	struct via_peer *peer;

	hlist_for_each_entry_rcu(peer, peer_bucket(nic->peers, hash), node)
		if (peer->hash == hash && via_host_is(&peer->host, host))
			return peer;
	return NULL;
}

struct via_peer *via_peer_find(struct via_ether_nic *nic, const u8 *host)
{
	return find_peer(nic, hash_of(nic, host), host);
}

/* No one else knows of it any more. */
static void free_peer(struct via_peer *peer)
{
	if (peer->link_close)
		peer->link_close(&peer->link);
	kfree(peer);
}

static void free_peer_rcu(struct rcu_head *rcu)
{
	free_peer(container_of(rcu, struct via_peer, rcu));
}

static struct via_peer *new_peer(struct via_ether_nic *nic, u32 hash,
				 const u8 *host, gfp_t gfp)
{
	struct via_peer *peer = kzalloc(sizeof(*peer), gfp | __GFP_NOWARN);

	if (!peer)
		return NULL;
	if (!nic->ops->link_open(nic, &peer->link, host, gfp | __GFP_NOWARN)) {
		kfree(peer);
		return NULL;
	}
	peer->link_close = nic->ops->link_close;
	peer->nic = nic;
	peer->path = VIA_WIRE_MTU_MAX;
	via_host_set(&peer->host, host, nic->host.len);
	peer->hash = hash;
	INIT_LIST_HEAD(&peer->idle_link);
	INIT_LIST_HEAD(&peer->vis.conns);
	INIT_LIST_HEAD(&peer->on_link);
	peer->vis.ours = RB_ROOT;
	peer->vis.theirs = RB_ROOT;
	peer->last_rx = jiffies;
	peer->asked_us = jiffies;
	peer->keepalive.next = jiffies;
	peer->keepalive.nonce = get_random_u64();
	spin_lock_init(&peer->timing.lock);
	via_rtt_init(&peer->timing.rtt,
		     max_t(u32, RTO_FIRST_US, via_ether_rto_min()));
	peer->timing.at = jiffies - 1;
	spin_lock_init(&peer->pool_lock);
	INIT_LIST_HEAD(&peer->visit_link);
	via_pool_init(&peer->pool, jiffies_to_msecs(jiffies));
	via_ether_share_peer(peer);
	peer->timing.known_at = jiffies - 1;
	return peer;
}

/* The peer of that address, with a user more; @new if there is none. */
static struct via_peer *use_peer(struct via_ether_nic *nic, u32 hash,
				 const u8 *host, struct via_peer *new)
{
	struct via_peer *peer;

	rcu_read_lock();
	spin_lock_bh(&nic->lock);
	peer = find_peer(nic, hash, host);
	if (!peer && new) {
		hlist_add_head_rcu(&new->node, peer_bucket(nic->peers, hash));
		nic->peers->n++;
		peer = new;
	}
	if (peer)
		via_peer_hold(peer);
	spin_unlock_bh(&nic->lock);
	rcu_read_unlock();
	return peer;
}

struct via_peer *via_peer_get(struct via_ether_nic *nic, const u8 *host,
			      gfp_t gfp)
{
	u32 hash = hash_of(nic, host);
	struct via_peer *peer = use_peer(nic, hash, host, NULL), *new;

	if (peer)
		return peer;
	new = new_peer(nic, hash, host, gfp);
	if (!new)
		return NULL;
	peer = use_peer(nic, hash, host, new);
	/* Another context was faster. */
	if (peer != new)
		free_peer(new);
	return peer;
}

/* Off the table, and gone after a grace period.  nic->lock held, it is idle. */
static void end_peer(struct via_peer *peer)
{
	struct via_peers *peers = peer->nic->peers;

	lockdep_assert_held(&peer->nic->lock);
	via_ether_forget_replies(peer);
	hlist_del_rcu(&peer->node);
	list_del(&peer->idle_link);
	peers->nidle--;
	peers->n--;
	if (peer->link_close)
		call_rcu(&peer->rcu, free_peer_rcu);
	else
		kfree_rcu(peer, rcu);
}

void via_peer_hold(struct via_peer *peer)
{
	lockdep_assert_held(&peer->nic->lock);
	if (peer->users++)
		return;
	/* A new one is not on the list. */
	if (!list_empty(&peer->idle_link)) {
		list_del_init(&peer->idle_link);
		peer->nic->peers->nidle--;
	}
}

void via_peer_drop(struct via_peer *peer)
{
	struct via_peers *peers = peer->nic->peers;

	lockdep_assert_held(&peer->nic->lock);
	if (--peer->users)
		return;
	/* Those that held credit have gone. */
	WARN_ON(READ_ONCE(peer->pool.granted));
	list_del_init(&peer->visit_link);
	via_alarm_set(peer->nic, &peer->opening, U64_MAX, 0);
	peer->idle_since = jiffies;
	list_add_tail(&peer->idle_link, &peers->idle);
	if (++peers->nidle > VIA_PEERS_IDLE)
		end_peer(list_first_entry(&peers->idle, struct via_peer,
					  idle_link));
}

void via_peer_put(struct via_peer *peer)
{
	struct via_ether_nic *nic = peer->nic;

	spin_lock(&nic->lock);
	via_peer_drop(peer);
	spin_unlock(&nic->lock);
	/* An idle one has its time. */
	via_ether_arm(nic);
}

/*
 * Is a frame of that epoch a late one?  For a bounded time: who receives frames
 * for the address can ask once in its name, with another epoch; that shuts
 * out the host that has the address, but not for good.
 */
static bool is_over(const struct via_peer *peer, u64 epoch)
{
	const struct via_peer_incarnation *past = peer->past;
	u32 i;

	for (i = 0; i < VIA_PEER_PAST_EPOCHS; i++)
		if (past[i].epoch == epoch &&
		    time_before(jiffies, past[i].since + via_ether_dead()))
			return true;
	return false;
}

void via_peer_ends(struct via_peer *peer, u32 ends)
{
	lockdep_assert_held(&peer->nic->lock);
	peer->keepalive.ends |= ends;
	peer->keepalive.left = peer->vis.n;
}

bool via_peer_saw_epoch(struct via_peer *peer, u64 epoch)
{
	bool ok, new;

	spin_lock(&peer->nic->lock);
	ok = !is_over(peer, epoch);
	new = ok && epoch != peer->epoch;
	if (new) {
		if (peer->epoch) {
			peer->past[peer->next_past++ % VIA_PEER_PAST_EPOCHS] =
				(struct via_peer_incarnation) {
					.epoch = peer->epoch,
					.since = jiffies,
				};
			via_peer_ends(peer, VIA_PEER_END_RESTARTED);
			via_peer_keep_token(peer, 0);
		}
		peer->epoch = epoch;
		new = peer->keepalive.left;
	}
	spin_unlock(&peer->nic->lock);
	if (unlikely(new))
		via_ether_hurry(peer->nic);
	return ok;
}

u32 via_peer_key_id(const struct via_peer *peer)
{
	const struct via_ether_secret *secret = rcu_dereference(peer->secret);

	return secret ? secret->id : 0;
}

/*
 * The mean of round trips without the waits of the peer.  Not the least of
 * them: where round trips differ, most are longer than two of the least, so
 * most acknowledgements delayed for so long time out.  A sample with a wait in it is an upper
 * limit; it counts for very little where it is below, since only those are
 * counted, and with more weight the mean would be that of the lucky ones.  Some
 * in a row of less than half show that the way has become shorter.  rtt_lock
 * held.
 */
static u32 net_sample(struct via_peer *peer, u32 us, bool known)
{
	u32 net = peer->timing.net;

	peer->timing.low = us < net / 2 ? peer->timing.low + 1 : 0;
	if (peer->timing.low >= RTT_SHORT)
		return max((net + us) / 2, 1u);
	if (us < net)
		return net - (net - us) / (known ? 8 : 512);
	return known ? net + (us - net + 7) / 8 : net;
}

/*
 * Under a queue lock of one VI of many, so there is a lock of its own.  It is
 * tried only: a sample that meets another one is not missed.
 */
void via_peer_timed(struct via_peer *peer, u32 us, bool known, bool asked)
{
	struct via_rtt rtt;
	u32 net;

	if ((!known && !(jiffies - READ_ONCE(peer->timing.at))) ||
	    !spin_trylock(&peer->timing.lock))
		return;
	rtt = peer->timing.rtt;
	via_rtt_sample(&rtt, us, via_ether_rto_min(), via_ether_rto_max());
	WRITE_ONCE(peer->timing.rtt.srtt, rtt.srtt);
	WRITE_ONCE(peer->timing.rtt.rttvar, rtt.rttvar);
	WRITE_ONCE(peer->timing.rtt.rto, rtt.rto);
	net = peer->timing.net;
	if (known)
		WRITE_ONCE(peer->timing.known_at, jiffies);
	/*
	 * Data may overtake the answer to an ACK request.  Where that is lost the
	 * data may have waited: good enough to begin with.
	 */
	if (net)
		net = net_sample(peer, us, known);
	else if (known || asked)
		net = max(us, 1u);
	WRITE_ONCE(peer->timing.net, net);
	WRITE_ONCE(peer->timing.at, jiffies);
	spin_unlock(&peer->timing.lock);
}

u32 via_peer_hash(const struct via_peer *peer, u32 id, u64 cookie)
{
	const u32 key[] = { peer->hash ^ id, cookie, cookie >> 32 };

	return jhash2(key, ARRAY_SIZE(key), peer->nic->peers->seed);
}

static struct hlist_head *end_bucket(const struct via_peer *peer, u32 id,
				     u64 cookie)
{
	u32 i = via_peer_hash(peer, id, cookie) &
		((1u << VIA_PEER_END_BITS) - 1);

	return &peer->nic->peers->ends[i];
}

static bool theirs_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct via_ether_vi, on.theirs)->conn.remote_cookie <
	       rb_entry(b, struct via_ether_vi, on.theirs)->conn.remote_cookie;
}

void via_peer_add_end(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	spin_lock(&nic->lock);
	hlist_add_head(&ev->on.ends,
		       end_bucket(ev->peer, ev->conn.remote_id,
				  ev->conn.remote_cookie));
	rb_add(&ev->on.theirs, &ev->peer->vis.theirs, theirs_less);
	spin_unlock(&nic->lock);
}

void via_peer_del_end(struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->nic->lock);
	if (hlist_unhashed(&ev->on.ends))
		return;
	hlist_del_init(&ev->on.ends);
	rb_erase(&ev->on.theirs, &ev->peer->vis.theirs);
}

struct via_ether_vi *via_peer_theirs(const struct via_peer *peer, u64 from)
{
	struct rb_node *n = peer->vis.theirs.rb_node;
	struct via_ether_vi *ev, *found = NULL;

	lockdep_assert_held(&peer->nic->lock);
	while (n) {
		ev = rb_entry(n, struct via_ether_vi, on.theirs);
		if (ev->conn.remote_cookie >= from) {
			found = ev;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return found;
}

struct via_ether_vi *via_peer_next_theirs(const struct via_ether_vi *ev)
{
	return rb_entry_safe(rb_next(&ev->on.theirs), struct via_ether_vi,
			     on.theirs);
}

static bool ours_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct via_ether_vi, on.ours)->conn.cookie <
	       rb_entry(b, struct via_ether_vi, on.ours)->conn.cookie;
}

struct via_ether_vi *via_peer_ours(const struct via_peer *peer, u64 from)
{
	struct rb_node *n = peer->vis.ours.rb_node;
	struct via_ether_vi *ev, *found = NULL;

	lockdep_assert_held(&peer->nic->lock);
	while (n) {
		ev = rb_entry(n, struct via_ether_vi, on.ours);
		if (ev->conn.cookie >= from) {
			found = ev;
			n = n->rb_left;
		} else {
			n = n->rb_right;
		}
	}
	return found;
}

struct via_ether_vi *via_peer_next_ours(const struct via_ether_vi *ev)
{
	return rb_entry_safe(rb_next(&ev->on.ours), struct via_ether_vi,
			     on.ours);
}

/* It is looked at by the timer, or not any more.  nic->lock held. */
static void watch_peer(struct via_peer *peer)
{
	struct via_peers *peers = peer->nic->peers;
	bool wanted = peer->vis.n || peer->ntimewait;

	if (wanted == !list_empty(&peer->on_link))
		return;
	if (wanted) {
		list_add_tail(&peer->on_link, &peers->on);
		peers->non++;
	} else {
		list_del_init(&peer->on_link);
		peers->non--;
		peer->keepalive.ends = 0;
		peer->keepalive.left = 0;
		peer->keepalive.list_from = 0;
		peer->keepalive.differs = 0;
	}
}

/* A connection has begun, or ended.  nic->lock held. */
static void note_change(struct via_peer *peer)
{
	peer->keepalive.changes++;
	peer->keepalive.agreed = false;
	watch_peer(peer);
}

/* The lock keeps events of a peer in their order. */
static void tell_peer_event(const struct via_peer *peer,
			    enum via_nl_peer_event event)
{
	lockdep_assert_held(&peer->nic->lock);
	via_nic_peer_event(peer->nic->ka, peer->host.addr, event);
}

void via_peer_join(struct via_ether_vi *ev)
{
	struct via_peer *peer = ev->peer;

	WRITE_ONCE(peer->last_rx, jiffies);
	spin_lock(&peer->nic->lock);
	if (list_empty(&ev->on.conns)) {
		list_add_tail(&ev->on.conns, &peer->vis.conns);
		rb_add(&ev->on.ours, &peer->vis.ours, ours_less);
		if (!peer->vis.n++)
			tell_peer_event(peer, VIA_NL_PEER_UP);
		peer->keepalive.sum += ev->conn.cookie + ev->conn.remote_cookie;
		note_change(peer);
	}
	spin_unlock(&peer->nic->lock);
}

void via_peer_part(struct via_ether_vi *ev)
{
	struct via_peer *peer = ev->peer;

	lockdep_assert_held(&ev->nic->lock);
	if (list_empty(&ev->on.conns))
		return;
	list_del_init(&ev->on.conns);
	rb_erase(&ev->on.ours, &peer->vis.ours);
	if (!--peer->vis.n)
		tell_peer_event(peer, VIA_NL_PEER_DOWN);
	peer->keepalive.sum -= ev->conn.cookie + ev->conn.remote_cookie;
	note_change(peer);
}

void via_peer_timewaits(struct via_peer *peer, int more)
{
	lockdep_assert_held(&peer->nic->lock);
	peer->ntimewait += more;
	watch_peer(peer);
}

struct via_ether_vi *via_peer_turn(struct via_peer *peer)
{
	struct via_ether_vi *ev;

	lockdep_assert_held(&peer->nic->lock);
	ev = list_first_entry_or_null(&peer->vis.conns, struct via_ether_vi,
				      on.conns);
	if (ev)
		list_move_tail(&ev->on.conns, &peer->vis.conns);
	return ev;
}

/*
 * A VI may leave its list at any moment, serve another connection and be on
 * the list of that one, of the same peer or another.  So this is no walk under
 * RCU: a list changes under nic->lock only, what it compares is constant while
 * the VI is on the list, and a host whose address is unknown does not get
 * here.
 */
struct via_ether_vi *via_peer_end(const struct via_peer *peer, u32 id,
				  u64 cookie)
{
	struct via_ether_vi *ev;

	lockdep_assert_held(&peer->nic->lock);
	hlist_for_each_entry(ev, end_bucket(peer, id, cookie), on.ends)
		if (ev->conn.remote_cookie == cookie &&
		    ev->conn.remote_id == id && ev->peer == peer)
			return ev;
	return NULL;
}

static struct hlist_head *req_bucket(const struct via_peer *peer, u32 vi,
				     u64 cookie)
{
	u32 i = via_peer_hash(peer, vi, cookie) &
		((1u << VIA_PEER_REQ_BITS) - 1);

	return &peer->nic->peers->reqs[i];
}

void via_peer_add_req(struct via_ether_req *req)
{
	struct via_peer *peer = req->peer;

	lockdep_assert_held(&peer->nic->lock);
	peer->nreqs++;
	hlist_add_head(&req->node, req_bucket(peer, req->client.vi,
					      req->client.cookie));
}

void via_peer_del_req(struct via_ether_req *req)
{
	lockdep_assert_held(&req->peer->nic->lock);
	req->peer->nreqs--;
	hlist_del_init(&req->node);
}

struct via_ether_req *via_peer_req(const struct via_peer *peer, u32 vi,
				   u64 cookie)
{
	struct via_ether_req *req;

	lockdep_assert_held(&peer->nic->lock);
	hlist_for_each_entry(req, req_bucket(peer, vi, cookie), node)
		if (req->client.cookie == cookie && req->client.vi == vi &&
		    req->peer == peer)
			return req;
	return NULL;
}

/*
 * The NIC has room for one more frame of the peer.  A frame that was told of is
 * not sent again, so none that is held is thrown out for another one: a peer has
 * as much as is left for all others.  One has half of the room, two a third of it
 * each, and the next one finds as much as they have.
 */
bool via_ether_take_room(struct via_ether_vi *ev)
{
	s32 all = atomic_inc_return(&ev->nic->ooo);
	s32 own = atomic_inc_return(&ev->peer->held);

	return own + all <= (s64)READ_ONCE(via_ether_ooo_max) + 1;
}

void via_ether_give_room(struct via_ether_vi *ev)
{
	atomic_dec(&ev->peer->held);
	atomic_dec(&ev->nic->ooo);
}

bool via_peers_wanted(const struct via_ether_nic *nic, unsigned long *at)
{
	lockdep_assert_held(&nic->lock);
	return !list_empty(&nic->peers->idle);
}

bool via_peers_expire(struct via_ether_nic *nic)
{
	unsigned long kept = via_ether_scaled(VIA_PEER_KEPT_MS);
	struct via_work work = VIA_WORK(EXPIRE_MAX);
	struct via_peer *peer;

	spin_lock(&nic->lock);
	while (via_work_visit(&work)) {
		peer = list_first_entry_or_null(&nic->peers->idle,
						struct via_peer, idle_link);
		if (!peer || time_before(jiffies, peer->idle_since + kept))
			break;
		end_peer(peer);
	}
	spin_unlock(&nic->lock);
	return false;
}

int via_peers_init(struct via_ether_nic *nic)
{
	nic->peers = kvzalloc(sizeof(*nic->peers), GFP_KERNEL);
	if (!nic->peers)
		return -ENOMEM;
	nic->peers->seed = get_random_u32();
	INIT_LIST_HEAD(&nic->peers->idle);
	INIT_LIST_HEAD(&nic->peers->on);
	INIT_LIST_HEAD(&nic->peers->timewaits);
	return 0;
}

void via_peers_end(struct via_ether_nic *nic)
{
	struct via_peer *peer, *n;

	spin_lock_bh(&nic->lock);
	list_for_each_entry_safe(peer, n, &nic->peers->idle, idle_link)
		end_peer(peer);
	spin_unlock_bh(&nic->lock);
	/* What uses a peer has ended with the NIC's VIs and requests. */
	WARN_ON(nic->peers->n);
}

/* The last readers were those of frames, which have stopped. */
void via_peers_free(struct via_ether_nic *nic)
{
	kvfree(nic->peers);
}
