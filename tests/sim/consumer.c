// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The listener of a consumer in the kernel, and hooks that do nothing. */
#include "consumer.h"

static void asked(struct via_listener *l, struct via_conn *conn)
{
	struct consumer_port *p = container_of(l, struct consumer_port,
					       listener);

	if (p->asked)
		return;
	via_conn_get(conn);
	WRITE_ONCE(p->asked, conn);
}

void consumer_listen(struct consumer_port *p, struct via_file *f,
		     const char *disc)
{
	memcpy(p->listener.disc, disc, VIA_LISTEN_BYTES);
	p->listener.asked = asked;
	sim_expect(!via_kernel_listen(f, &p->listener), "");
}

void consumer_await(struct consumer_port *p)
{
	while (!READ_ONCE(p->asked))
		sim_pause(100000);
}

void consumer_settle(struct via_vi *vi)
{
}

void consumer_gone(struct via_file *f)
{
}
