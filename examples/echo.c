// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See echo.h. */
#include <stdlib.h>
#include <string.h>

#include "echo.h"

#define client_of(d, member)	\
	((struct client *)((char *)(d) - offsetof(struct client, member)))

static void post_recv(struct client *c)
{
	describe(&c->recv, c->in, sizeof(c->in), c->handle);
	must(VipPostRecv(c->vi, &c->recv, c->handle));
}

struct client *new_client(const struct node *n, VIP_CQ_HANDLE cq)
{
	VIP_MEM_HANDLE handle;
	struct client *c = new_region(n, sizeof(*c), VIP_FALSE, &handle);

	c->node = n;
	c->handle = handle;
	c->vi = new_vi(n, ECHO_MAX, cq, cq);
	post_recv(c);
	return c;
}

/* VipDisconnect has both descriptors flushed; the VI then drops them. */
void end_client(struct client *c)
{
	must(VipDisconnect(c->vi));
	must(VipDestroyVi(c->vi));
	must(VipDeregisterMem(c->node->nic, c, c->handle));
	free(c);
}

/* The next receive is posted before the answer that lets the client go on: a
 * message that finds none breaks a reliable connection.
 */
static void answer(struct client *c)
{
	VIP_UINT32 len = c->recv.CS.Length;

	if (!c->connected || !c->asked || c->answering)
		return;
	memcpy(c->out, c->in, len);
	post_recv(c);
	describe(&c->send, c->out, len, c->handle);
	must(VipPostSend(c->vi, &c->send, c->handle));
	c->asked = false;
	c->answering = true;
	c->answers++;
}

void start_client(struct client *c)
{
	c->connected = true;
	answer(c);
}

struct client *serve(VIP_VI_HANDLE vi, VIP_BOOLEAN recv_queue)
{
	VIP_DESCRIPTOR *d = NULL;
	struct client *c;
	VIP_RETURN r;

	r = recv_queue ? VipRecvDone(vi, &d) : VipSendDone(vi, &d);
	if (!d)
		return NULL;	/* an old notice, of a VI that is destroyed */
	c = recv_queue ? client_of(d, recv) : client_of(d, send);
	if (r == VIP_SUCCESS) {
		if (recv_queue)
			c->asked = true;
		else
			c->answering = false;
		answer(c);
		return NULL;
	}
	/* Flushed, or broken by what the client did. It is told of once: by
	 * the receive, or by the answer where no receive is posted.
	 */
	return recv_queue || c->asked ? c : NULL;
}
