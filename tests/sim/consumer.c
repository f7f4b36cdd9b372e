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

struct via_vi *consumer_open(struct via_file **f, const char *node,
			     const struct via_kernel_ops *hooks, void *priv)
{
	static const struct via_kernel_limits limits = { .vis = 1 };
	static const struct via_vi_attrs attrs = {
		.reliability = VIA_RELIABLE_DELIVERY,
		.max_transfer = 32768,
		.rights = VIA_RDMA_WRITE | VIA_RDMA_READ,
	};
	struct via_vi *vi;

	*f = via_kernel_open(&init_net, node, 0, hooks, &limits, priv);
	sim_expect(!IS_ERR(*f), "(%ld)", PTR_ERR(*f));
	vi = via_kernel_vi_make(*f, &attrs, priv);
	sim_expect(!IS_ERR(vi), "(%ld)", PTR_ERR(vi));
	return vi;
}

void consumer_ask(struct via_vi *vi, const u8 *host, const char *disc)
{
	struct via_net_addr local = { .disc_len = 3, .disc = "me" };
	struct via_net_addr remote;

	prog_addr(&remote, host, disc);
	remote.disc_len++;
	sim_expect(!via_kernel_connect(vi, &local, &remote, 50 * SEC), "");
}

void consumer_close(struct via_file *f, struct via_vi *vi,
		    struct consumer_port *p)
{
	via_kernel_unlisten(&p->listener);
	via_kernel_vi_destroy(vi);
	via_kernel_close(f);
	via_conn_put(p->asked);
}

void consumer_settle(struct via_vi *vi)
{
}

void consumer_gone(struct via_file *f)
{
}
