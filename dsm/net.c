// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See net.h: messages, credits and reads of links that are up. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "die.h"
#include "link.h"
#include "net.h"

#define CREDITS_TELL	((NET_RECVS - 2) / 2)
#define PARCELS		16	/* of a chunk */

/* By pages from the kernel: a handler of a fault may be the caller. */
static struct net_parcel *new_parcel(struct net *n)
{
	struct net_parcel *p = n->spare;

	if (!p) {
		p = mmap(NULL, PARCELS * sizeof(*p), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			die(NULL, "no memory for messages that wait: %s",
			    strerror(errno));
		for (int i = 1; i < PARCELS - 1; i++)
			p[i].next = &p[i + 1];
		p->next = n->chunks;
		n->chunks = p;
		p++;
	}
	n->spare = p->next;
	p->next = NULL;
	return p;
}

static void lost(struct net *n, struct net_link *l, const char *why)
{
	if (l->bye)
		return;
	die("See its own message: it has failed, or left before dsm_exit().",
	    "node %d is gone: %s", (int)(l - n->link), why);
}

/* Whether a loop of VipSendDone or VipRecvDone has ended in an error, and why.
 * Without a descriptor nothing is posted.
 */
static const char *error_of(VIP_RETURN r, const VIP_DESCRIPTOR *d)
{
	static char text[128];

	if (r == VIP_NOT_DONE || (r == VIP_DESCRIPTOR_ERROR && !d))
		return NULL;
	if (r != VIP_DESCRIPTOR_ERROR)
		return VipExtReturnText(r);
	if (d->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR)
		return "its connection has ended";
	return VipExtStatusText(d->CS.Status, text, sizeof(text));
}

/* Takes what the send queue has completed. An error ends the connection, which
 * the receives tell behind the messages that had come before: a good-bye may be
 * among them.
 */
static void reap(struct net *n, struct net_link *l)
{
	VIP_DESCRIPTOR *d;
	struct net_read *f;
	VIP_RETURN r;

	while ((r = VipSendDone(l->vi, &d)) == VIP_SUCCESS) {
		f = &l->fetch[l->read % NET_READS];
		if (!(d->CS.Control & VIP_CONTROL_OP_MASK)) {
			l->sends--;
		} else if (d == &f->read) {
			l->reads--;
			l->read++;
			n->fetched(f->page);
		}
	}
	if (!l->why)
		l->why = error_of(r, d);
}

static bool post_msg(struct net *n, struct net_link *l,
		     const struct dsm_msg *m)
{
	struct net_slot *s = &l->slot[l->sent % NET_SENDS];

	if (l->sends == NET_SENDS)
		reap(n, l);
	if (l->sends == NET_SENDS ||
	    (m->type != MSG_CREDIT && !l->credits))
		return false;
	if (m->type != MSG_CREDIT)
		l->credits--;
	memcpy(s->msg, m, sizeof(*m) + m->len);
	s->msg->credits = l->given;
	l->given = 0;
	l->sends++;
	l->sent++;
	link_post_send(n, l, s);
	return true;
}

static bool post_read(struct net *n, struct net_link *l, uint32_t page)
{
	struct net_read *f = &l->fetch[(l->read + l->reads) % NET_READS];

	if (l->reads == NET_READS)
		return false;
	l->reads++;
	f->page = page;
	link_post_read(n, l, f);
	return true;
}

static void push(struct net *n, struct net_link *l)
{
	struct net_parcel *p;
	bool done;

	while ((p = l->first)) {
		if (parcel_msg(&p->m)->type == MSG_GET && n->by_read)
			done = post_read(n, l, parcel_msg(&p->m)->what);
		else
			done = post_msg(n, l, parcel_msg(&p->m));
		if (!done)
			return;
		n->waiting--;
		l->first = p->next;
		p->next = n->spare;
		n->spare = p;
	}
}

static void wait_in_line(struct net *n, struct net_link *l,
			 const struct dsm_msg *m)
{
	struct net_parcel *p = new_parcel(n);

	memcpy(parcel_msg(&p->m), m, sizeof(*m) + m->len);
	if (!l->first)
		l->last = &l->first;
	n->waiting++;
	*l->last = p;
	l->last = &p->next;
}

void net_send(struct net *n, unsigned int to, const struct dsm_msg *m)
{
	struct net_link *l = &n->link[to];

	push(n, l);
	if (l->first || !post_msg(n, l, m))
		wait_in_line(n, l, m);
}

void net_fetch(struct net *n, unsigned int home, uint32_t page)
{
	struct dsm_msg m = { .type = MSG_GET, .what = page };
	struct net_link *l = &n->link[home];

	if (l->first || !post_read(n, l, page))
		wait_in_line(n, l, &m);
}

/* MSG_CREDIT does not wait in line: messages there may wait for the other
 * node's.
 */
static void tell(struct net *n, struct net_link *l)
{
	struct dsm_msg credit = { .type = MSG_CREDIT, .from = n->me };
	bool owes = l->given >= CREDITS_TELL && !l->bye &&
		    !post_msg(n, l, &credit);

	n->waiting += owes - l->owes;
	l->owes = owes;
}

void net_push(struct net *n)
{
	for (unsigned int i = 0; i < n->size; i++)
		if (i != n->me && n->link[i].up) {
			reap(n, &n->link[i]);
			push(n, &n->link[i]);
			tell(n, &n->link[i]);
		}
}

/* One hello, first, and one good-bye; as many credits as there are. */
static bool is_sound(const struct net *n, const struct net_link *l,
		     const struct net_slot *s)
{
	const struct dsm_msg *m = s->msg;

	return s->d.CS.Length >= sizeof(*m) && m->len <= DSM_DATA &&
	       s->d.CS.Length == sizeof(*m) + m->len &&
	       m->from == l - n->link && !l->bye &&
	       (m->type == MSG_CREDIT ||
		l->greeted == (m->type != MSG_HELLO)) &&
	       m->credits <= NET_RECVS - 2 - l->credits;
}

static void take(struct net *n, struct net_link *l, const struct dsm_msg *m)
{
	switch (m->type) {
	case MSG_CREDIT:
		break;
	case MSG_HELLO:
		link_greeted(n, l, m);
		break;
	case MSG_BYE:
		l->bye = true;
		n->gone++;
		break;
	default:
		n->received(m);
	}
}

/* A message's buffer is posted again before anything tells so, and before its
 * credits can make room for another MSG_CREDIT: at most NET_RECVS - 2 messages
 * and two MSG_CREDIT come, each of half the credits.
 */
static void take_slot(struct net *n, struct net_link *l, struct net_slot *s)
{
	unsigned int credits = s->msg->credits;
	bool counts = s->msg->type != MSG_CREDIT;

	if (!is_sound(n, l, s))
		die("Install one version on all hosts.",
		    "node %d sends what makes no sense", (int)(l - n->link));
	take(n, l, s->msg);
	link_post_recv(n, l, s);
	l->credits += credits;
	l->given += counts;
	push(n, l);
	tell(n, l);
}

void net_handle(struct net *n, VIP_VI_HANDLE vi)
{
	struct net_link *l = n->link;
	const char *why;
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	if (vi == n->rouser) {
		link_post_rouser(n);
		return;
	}
	while (l < n->link + n->size && l->vi != vi)
		l++;
	if (l == n->link + n->size)
		return;
	reap(n, l);
	while ((r = VipRecvDone(l->vi, &d)) == VIP_SUCCESS)
		take_slot(n, l, (struct net_slot *)d);
	why = error_of(r, d);
	if (why)
		lost(n, l, l->why ? l->why : why);
}

static VIP_VI_HANDLE found(VIP_RETURN r, const VIP_VI_HANDLE *vi)
{
	if (r == VIP_SUCCESS)
		return *vi;
	if (r != VIP_TIMEOUT && r != VIP_NOT_DONE)
		die(NULL, "VipCQWait: %s", VipExtReturnText(r));
	return NULL;
}

VIP_VI_HANDLE net_look(struct net *n)
{
	VIP_BOOLEAN receive;
	VIP_VI_HANDLE vi;

	return found(VipCQDone(n->cq, &vi, &receive), &vi);
}

VIP_VI_HANDLE net_wait(struct net *n, unsigned int ms)
{
	VIP_BOOLEAN receive;
	VIP_VI_HANDLE vi;

	return found(VipCQWait(n->cq, ms, &vi, &receive), &vi);
}

void net_rouse(struct net *n)
{
	if (!atomic_exchange(&n->rouses, true))
		link_flush_rouser(n);
}

/* All nodes go through the pairs in one order, so none waits in a ring. */
void net_connect(struct net *n, const struct net_place *place,
		 void (*lock)(void), void (*unlock)(void))
{
	struct dsm_parcel hello;

	link_greet(n, &hello);
	lock();
	for (unsigned int i = 0; i < n->size; i++)
		if (i != n->me)
			link_make(n, &n->link[i]);
	unlock();
	for (unsigned int i = 0; i < n->size; i++) {
		if (i == n->me)
			continue;
		link_connect(n, place, i);
		lock();
		n->link[i].up = true;
		net_send(n, i, parcel_msg(&hello));
		unlock();
	}
}

bool net_idle(struct net *n)
{
	for (unsigned int i = 0; i < n->size; i++) {
		if (i == n->me)
			continue;
		reap(n, &n->link[i]);
		if (n->link[i].sends && !n->link[i].why)
			return false;
	}
	return !n->waiting;
}

void net_bye(struct net *n)
{
	struct dsm_msg m = { .type = MSG_BYE, .from = n->me };

	for (unsigned int i = 0; i < n->size; i++)
		if (i != n->me)
			net_send(n, i, &m);
}

void net_close(struct net *n)
{
	struct net_parcel *p;

	VipCloseNic(n->nic);
	while ((p = n->chunks)) {
		n->chunks = p->next;
		munmap(p, PARCELS * sizeof(*p));
	}
	munmap(n->buffer, n->buffer_bytes);
}
