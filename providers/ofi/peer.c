// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Peers: their handshake and their end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../messages.h"
#include "ofi.h"

#define DISCONNECT_NAP_NS	20000	/* between two polls for the ACK */
#define FLUSH_NS	200000000u	/* reads of a closed connection end */

/* The hello of a NIC; host byte order, which link compares. */
struct ofi_hello {
	uint64_t nonce;			/* for messages to the sender */
	uint32_t index;			/* the same */
	uint16_t grant;			/* messages that may be sent to it */
	uint16_t name_len;		/* bytes of name[] */
	uint8_t any;			/* name has a port and no address */
	uint8_t zero[7];
	char provider[24];		/* libfabric's */
	struct ofi_host host;		/* its own idea of where it is */
	uint8_t name[FAB_NAME_MAX];	/* as libfabric inserts it */
};

_Static_assert(sizeof(struct ofi_hello) <= sizeof(((struct eng_hello *)0)->data),
	       "it fits");

/* An index for the peer, and a buffer for each message that it may send. */
static int begin_peer(struct ofi_nic *n, struct ofi_peer *p,
		      struct eng_peer *eng)
{
	uint32_t i, grant = n->count < 32 ? OFI_GRANT : OFI_GRANT_MIN;
	struct ofi_peer **more;

	if (n->count == n->max)
		return -ENOBUFS;
	if (n->count == n->peers) {
		more = realloc(n->peer, (n->peers * 2 + 8) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		memset(more + n->peers, 0, (n->peers + 8) * sizeof(*more));
		n->peer = more;
		n->peers = n->peers * 2 + 8;
	}
	if (fab_grant(&n->fab, grant + OFI_RESERVE))
		return -ENOMEM;
	for (i = n->next_index; n->peer[i % n->peers]; i++)
		;
	memset(p, 0, sizeof(*p));
	p->index = i % n->peers;
	n->next_index = p->index + 1;
	n->peer[p->index] = p;
	n->count++;
	p->eng = eng;
	p->on = n;
	p->to = FI_ADDR_UNSPEC;
	p->grant = (uint16_t)grant;
	ofi_random(&p->nonce, sizeof(p->nonce));
	return 0;
}

static void hello_fill(struct ofi_peer *p, struct eng_hello *mine)
{
	struct ofi_nic *n = p->on;
	struct ofi_hello h;
	size_t len = sizeof(h.name);

	memset(&h, 0, sizeof(h));
	h.nonce = p->nonce;
	h.index = p->index;
	h.grant = p->grant;
	h.host = n->host;
	h.any = n->device.ip && !n->device.bound && !n->device.number;
	strncpy(h.provider, n->device.provider, sizeof(h.provider) - 1);
	if (!fab_name(&n->fab, h.name, &len) && len <= sizeof(h.name))
		h.name_len = (uint16_t)len;
	memset(mine, 0, sizeof(*mine));
	mine->len = sizeof(h);
	memcpy(mine->data, &h, sizeof(h));
}

/* Where a connected control socket leads: 0, or -1. */
static int socket_host(const struct link_peer *lp, struct ofi_host *h)
{
	socklen_t len = 0;
	const struct sockaddr *sa = link_peer_addr(lp, &len);

	return sa ? ofi_addr_set(h, sa, 0) : -1;
}

/*
 * The name that libfabric here knows the other end by. Its port is the
 * endpoint's. Of TCP the address is the one that the control socket leads to: a
 * hello cannot send this process anywhere else. An interface's number means
 * nothing on another host.
 */
static int translate_address(struct ofi_nic *n, const struct link_peer *lp,
			     const struct ofi_hello *h,
			     struct sockaddr_storage *sa)
{
	int family = n->fab.info->addr_format == FI_SOCKADDR_IN ? AF_INET :
								  AF_INET6;
	struct sockaddr_storage theirs;
	struct ofi_host at, from;
	uint16_t port;

	memset(&theirs, 0, sizeof(theirs));
	memcpy(&theirs, h->name, sizeof(h->name));
	memcpy(&port, h->name + offsetof(struct sockaddr_in, sin_port), 2);
	if (!port || ofi_addr_set(&at, (struct sockaddr *)&theirs, 0))
		return -EPROTO;
	if (socket_host(lp, &from))
		return -EHOSTUNREACH;
	if (ofi_addr_is_link_local(&at))
		memcpy(at.scope, ofi_addr_is_link_local(&from) ? from.scope :
				 n->host.scope, sizeof(at.scope));
	if (h->any)
		at = from;
	else if (!n->device.number && !ofi_addr_same_ip(&at, &from))
		return -EHOSTUNREACH;
	memcpy(at.port, &port, 2);
	return ofi_addr_get(&at, family, sa) ? 0 : -EHOSTUNREACH;
}

static int get_hello(const struct eng_hello *theirs, struct ofi_hello *h)
{
	if (theirs->len < sizeof(*h))
		return -EPROTO;
	memcpy(h, theirs->data, sizeof(*h));
	if (!h->grant || !h->name_len || h->name_len > sizeof(h->name))
		return -EPROTO;
	h->provider[sizeof(h->provider) - 1] = 0;
	return 0;
}

/*
 * An endpoint at every address has a name that leads nowhere: libfabric would
 * not know itself by another one, and connect to itself for ever.
 */
static int is_self(struct ofi_nic *n, const struct ofi_hello *h)
{
	uint8_t name[sizeof(h->name)];
	size_t len = sizeof(name);

	return h->any && ofi_addr_same_ip(&h->host, &n->host) &&
	       !fab_name(&n->fab, name, &len) && len == h->name_len &&
	       !memcmp(name, h->name, len);
}

static int insert_address(struct ofi_peer *p, struct link_peer *lp,
			  const struct ofi_hello *h)
{
	struct ofi_nic *n = p->on;
	struct sockaddr_storage sa;
	const void *name = h->name;
	int err;

	if (strcmp(h->provider, n->device.provider))
		return -EPROTO;
	if (is_self(n, h)) {
		ofi_host->msg(MSG_OFI_SELF,
			      (int)strcspn(n->device.provider, ";"),
			      n->device.provider);
		return -EHOSTUNREACH;
	}
	if (n->device.ip) {
		err = translate_address(n, lp, h, &sa);
		if (err)
			return err;
		name = &sa;
	}
	return fab_insert(&n->fab, name, &p->to);
}

static int take_hello(struct ofi_peer *p, struct link_peer *lp,
		      const struct eng_hello *theirs)
{
	struct ofi_hello h;
	int err = get_hello(theirs, &h);

	if (!err)
		err = insert_address(p, lp, &h);
	if (err)
		return err;
	p->lp = lp;
	p->theirs = h.index;
	p->their_nonce = h.nonce;
	p->credits = p->their_grant = h.grant;
	p->state = OFI_UP;
	return 0;
}

/*
 * The host address that programs see. Another host's is the one that its
 * socket comes from. A process of this host may have come by any of its
 * addresses: it is known by the one that it gives itself, if that is ours.
 */
static int host_of(struct ofi_nic *n, struct link_peer *lp,
		   const struct eng_hello *theirs, struct ofi_host *host)
{
	struct ofi_hello h;
	int err = get_hello(theirs, &h);

	if (err)
		return err;
	if (socket_host(lp, host))
		return -EPROTO;
	if (ofi_addr_same_ip(&h.host, &n->host) &&
	    (ofi_addr_is_loopback(host) || ofi_addr_same_ip(host, &n->host)))
		*host = n->host;
	memcpy(host->port, h.host.port, sizeof(host->port));
	return 0;
}

static void on_hello(void *nic, void *peer, struct eng_hello *mine)
{
	(void)nic;
	hello_fill(peer, mine);
}

static struct ofi_peer *new_peer(struct ofi_nic *n, struct link_peer *lp,
				 const struct eng_hello *theirs)
{
	uint8_t addr[VIPL_ADDR_MAX] = { 0 };
	struct ofi_host host;
	struct eng_peer *eng;

	if (n->count == n->max || host_of(n, lp, theirs, &host))
		return NULL;
	memcpy(addr, &host, sizeof(host));
	eng = eng_peer_new(n->eng, addr);
	if (!eng)
		return NULL;
	if (begin_peer(n, ofi_peer_of(eng), eng)) {
		eng_peer_down(eng, -ENOMEM);
		return NULL;
	}
	ofi_peer_of(eng)->host = host;
	return ofi_peer_of(eng);
}

static void set_peer_up(struct ofi_peer *p)
{
	p->on->fresh = ofi_now() + OFI_FRESH_NS;
	eng_peer_up(p->eng);
}

static void *on_came(void *nic, void *peer, struct link_peer *lp,
		     const struct eng_hello *theirs, struct eng_hello *mine)
{
	struct ofi_peer *p = peer;

	if (!p)
		p = new_peer(nic, lp, theirs);
	if (!p || p->state != OFI_HANDSHAKE)
		return NULL;
	if (take_hello(p, lp, theirs)) {
		if (!peer) {
			p->state = OFI_GONE;
			eng_peer_down(p->eng, -EPROTO);
		}
		return NULL;
	}
	hello_fill(p, mine);
	set_peer_up(p);
	return p;
}

static int on_answered(void *nic, void *peer, const struct eng_hello *theirs)
{
	struct ofi_peer *p = peer;
	int err;

	(void)nic;
	/* Packets that came early were against the rules. */
	if (p->state != OFI_HANDSHAKE)
		return -EPROTO;
	err = take_hello(p, p->lp, theirs);
	if (err)
		return err;
	p->heard = 1;
	p->hail = 1;
	ofi_due(p);
	set_peer_up(p);
	return 0;
}

static void on_same(void *nic, void *peer, void *as)
{
	struct ofi_peer *p = peer, *other = as;

	(void)nic;
	p->lp = NULL;
	p->state = OFI_GONE;
	eng_peer_same(p->eng, other->eng);
}

static void lose_peer(struct ofi_peer *p, int err, uint64_t until)
{
	if (p->state == OFI_DISCONNECTING || p->state == OFI_GONE)
		return;
	/* libfabric had none; where the link has none, it says so itself. */
	if (err == -EMFILE || err == -ENFILE)
		link_tell(p->on->link, MSG_LINK_CONNECTION, err);
	p->state = OFI_DISCONNECTING;
	p->err = err;
	p->until = until;
	ofi_due(p);
}

void ofi_lose(struct ofi_peer *p, int err)
{
	lose_peer(p, err, 0);
}

static void on_down(void *nic, void *peer, int err)
{
	struct ofi_peer *p = peer;

	(void)nic;
	p->lp = NULL;
	if (p->state == OFI_HANDSHAKE) {
		p->state = OFI_GONE;
		eng_peer_down(p->eng, err);
		return;
	}
	lose_peer(p, err == -ESHUTDOWN ? 0 : err, ofi_now() + OFI_DRAIN_NS);
}

const struct link_ops ofi_link_ops = {
	.hello = on_hello,
	.came = on_came,
	.answered = on_answered,
	.same = on_same,
	.down = on_down,
};

/* Both ends of what a NIC has with itself have one address of libfabric's. */
static int shares_address(const struct ofi_peer *p)
{
	struct ofi_nic *n = p->on;
	uint32_t i;

	for (i = 0; i < n->peers; i++)
		if (n->peer[i] && n->peer[i] != p && n->peer[i]->to == p->to)
			return 1;
	return 0;
}

/* Reads that have failed, and are not taken yet, are no reads under way. */
static void disconnect_peer(struct ofi_peer *p)
{
	struct fab *f = &p->on->fab;

	if (p->to == FI_ADDR_UNSPEC)
		return;
	if (!shares_address(p)) {
		/* All that comes is within the credits that are out. */
		if (fab_doubts(f, p->to))
			while (p->reads && fab_progress(f, 64))
				;
		fab_remove(f, p->to, p->reads != 0);
	}
	p->to = FI_ADDR_UNSPEC;
}

/*
 * The connection is closed before the engine hears of the end: no byte of a
 * pull moves into the program's memory afterwards.
 */
void ofi_disconnecting(struct ofi_peer *p, uint64_t now)
{
	if (now < p->until && !p->disconnected) {
		ofi_due(p);
		return;
	}
	disconnect_peer(p);
	ofi_pulls_forget(p);
	if (!p->flushed)
		p->flushed = now + OFI_FLUSH_NS;
	if (p->reads && now < p->flushed) {
		ofi_due(p);
		return;
	}
	if (p->lp)
		link_drop(p->lp);
	p->lp = NULL;
	p->state = OFI_GONE;
	eng_peer_down(p->eng, p->err);
}

int ofi_handshake(struct eng_peer *peer, const struct vipl_addr *remote)
{
	struct ofi_nic *n = ofi_nic_of(eng_peer_nic(peer));
	struct ofi_peer *p = ofi_peer_of(peer);
	struct sockaddr_storage sa;
	struct ofi_host host;
	socklen_t len;
	int err;

	memcpy(&host, remote->host, sizeof(host));
	len = ofi_addr_get(&host, AF_UNSPEC, &sa);
	if (!len || ofi_addr_is_any(&host) ||
	    (ofi_family(n) != AF_UNSPEC &&
	     ofi_family(n) != (int)sa.ss_family))
		return -EHOSTUNREACH;
	if (!ofi_enter(n))
		return -ESHUTDOWN;
	err = begin_peer(n, p, peer);
	if (!err) {
		p->host = host;
		p->lp = link_handshake(n->link, (struct sockaddr *)&sa, len,
				       remote->disc, remote->disc_len, p, &err);
		if (p->lp)
			err = 0;
	}
	ofi_leave(n);
	return err;
}

static void take_nap(void)
{
	struct timespec t = { 0, DISCONNECT_NAP_NS };

	nanosleep(&t, NULL);
}

/*
 * The last packets are taken by the other end before anything is closed. One
 * that does not take them is not waited for longer than OFI_DISCONNECT_NS.
 */
void ofi_part(struct eng_peer *peer)
{
	struct ofi_peer *p = ofi_peer_of(peer);
	uint64_t end = ofi_now() + OFI_DISCONNECT_NS;
	int said = 0, err;

	while (p->state == OFI_UP && !p->disconnect_acked && ofi_now() < end) {
		if (!said && p->heard) {
			if (!ofi_enter(p->on))
				return;
			err = ofi_control(p, OFI_DISCONNECT);
			ofi_leave(p->on);
			said = !err;
		}
		if (!ofi_progress(eng_peer_nic(peer), 64))
			take_nap();
	}
}

static void off_due(struct ofi_peer *p)
{
	struct ofi_peer **at = &p->on->due;

	while (*at && *at != p)
		at = &(*at)->next_due;
	if (*at)
		*at = p->next_due;
}

static void flush_peer(struct ofi_peer *p)
{
	uint64_t end = ofi_now() + FLUSH_NS;

	ofi_pulls_forget(p);
	disconnect_peer(p);
	while (p->reads && ofi_now() < end)
		fab_progress(&p->on->fab, 64);
	fab_ungrant(&p->on->fab, p->grant + OFI_RESERVE);
}

void ofi_peer_release(struct eng_peer *peer)
{
	struct ofi_peer *p = ofi_peer_of(peer);
	struct ofi_nic *n = p->on;

	/* The handshake did not begin at all. */
	if (!n)
		return;
	p->state = OFI_GONE;
	if (p->lp)
		link_drop(p->lp);
	p->lp = NULL;
	if (ofi_enter(n)) {
		flush_peer(p);
		n->peer[p->index] = NULL;
		ofi_leave(n);
	}
	ofi_pulls_orphan(p);
	off_due(p);
	n->peer[p->index] = NULL;
	n->count--;
	p->on = NULL;
}
