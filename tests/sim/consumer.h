/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What scenarios' consumers in the kernel (kernel/via_kapi.h) have in common. */
#ifndef SIM_CONSUMER_H
#define SIM_CONSUMER_H

#include "prog.h"
#include "../../kernel/via_kapi.h"

/* A listener that takes one request at a time. */
struct consumer_port {
	struct via_listener listener;
	struct via_conn *asked;		/* with a reference */
};

/* At @disc, of VIA_LISTEN_BYTES. */
void consumer_listen(struct consumer_port *p, struct via_file *f,
		     const char *disc);
/* Until there is a request. */
void consumer_await(struct consumer_port *p);

/* A handle on @node and a VI of Reliable Delivery; both must be there. */
struct via_vi *consumer_open(struct via_file **f, const char *node,
			     const struct via_kernel_ops *hooks, void *priv);
/* Asks a server of that name; what the agent says at once must be 0. */
void consumer_ask(struct via_vi *vi, const u8 *host, const char *disc);
/* The VI and the handle, and the server that it was. */
void consumer_close(struct via_file *f, struct via_vi *vi,
		    struct consumer_port *p);

/* Hooks that do nothing. */
void consumer_settle(struct via_vi *vi);
void consumer_gone(struct via_file *f);

#endif /* SIM_CONSUMER_H */
