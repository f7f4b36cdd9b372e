// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See net.h: messages, credits and reads of links that are up. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "die.h"
#include "link.h"
#include "net.h"

#define CREDITS_TELL	((NET_RECVS - 2) / 2)

/* By pages from the kernel: a handler of a fault may be the caller. */
static struct net_parcel *new_parcel(struct net *n)
{
	enum { PARCELS = 16 };
	struct net_parcel *p = n->spare;

	if (!p) {
		p = mmap(NULL, PARCELS * sizeof(*p), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			die(NULL, "no memory for messages that wait: %s",
			    strerror(errno));
		for (int i = 0; i < PARCELS - 1; i++)
			p[i].next = &p[i + 1];
		n->spare = p;
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

void net_push(struct net *n)
{
	for (unsigned int i = 0; i < n->size; i++)
		if (i != n->me && n->link[i].up) {
			reap(n, &n->link[i]);
			push(n, &n->link[i]);
		}
}

static void take(struct net *n, struct net_link *l, const struct dsm_msg *m)
{
	struct dsm_msg credit = { .type = MSG_CREDIT, .from = n->me };

	if (m->from != l - n->link)
		lost(n, l, "it sends what makes no sense");
	l->credits += m->credits;
	if (m->type != MSG_CREDIT)
		l->given++;
	if (m->type == MSG_HELLO) {
		link_greeted(n, l, m);
	} else if (m->type == MSG_BYE) {
		l->bye = true;
		n->gone++;
	} else if (m->type != MSG_CREDIT) {
		n->received(m);
	}
	push(n, l);
	if (l->given >= CREDITS_TELL)
		post_msg(n, l, &credit);
}

/* The message is handled before its buffer is posted again. */
void net_handle(struct net *n, VIP_VI_HANDLE vi)
{
	struct net_link *l = n->link;
	const char *why;
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	while (l < n->link + n->size && l->vi != vi)
		l++;
	if (l == n->link + n->size)
		return;
	reap(n, l);
	while ((r = VipRecvDone(l->vi, &d)) == VIP_SUCCESS) {
		take(n, l, ((struct net_slot *)d)->msg);
		link_post_recv(n, l, (struct net_slot *)d);
	}
	why = error_of(r, d);
	if (why)
		lost(n, l, l->why ? l->why : why);
}

VIP_VI_HANDLE net_wait(struct net *n, unsigned int spin, unsigned int ms)
{
	VIP_BOOLEAN receive;
	VIP_VI_HANDLE vi;
	VIP_RETURN r;

	do
		r = VipCQDone(n->cq, &vi, &receive);
	while (r == VIP_NOT_DONE && spin--);
	if (r == VIP_NOT_DONE)
		r = VipCQWait(n->cq, ms, &vi, &receive);
	if (r == VIP_SUCCESS)
		return vi;
	if (r != VIP_TIMEOUT)
		die(NULL, "VipCQWait: %s", VipExtReturnText(r));
	return NULL;
}

/* All nodes go through the pairs in one order, so none waits in a ring. */
void net_connect(struct net *n, const struct net_place *place,
		 void (*lock)(void), void (*unlock)(void))
{
	struct dsm_parcel hello;

	link_greet(n, &hello);
	for (unsigned int i = 0; i < n->size; i++)
		if (i != n->me)
			link_make(n, &n->link[i]);
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
