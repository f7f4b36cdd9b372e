/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "chan.h"
#include "conn.h"
#include "nic.h"
#include "opts.h"

/*
 * A measuring session between two processes: a control channel, reliable,
 * and a data channel at the level under test. The client's options travel in
 * the local address of its connection request, so that the server needs none.
 */
struct session {
	struct opts		o;	/* of the client, at both ends */
	bool			server;
	struct nic		nic;
	VIP_CQ_HANDLE		cq;	/* NULL: none */
	struct chan		ctl, data;
	struct remote_buf	remote;	/* the peer's receive buffer */
	struct chan		*more;	/* -q: connections but the first */
	struct remote_buf	*more_remote;
	uint32_t		peer_rx; /* receives the peer has posted */
	uint32_t		max_size; /* largest message of the run */
};

typedef void (*session_fn)(struct session *s);

/* Serve or ask, as the options say; fn runs at both ends. */
int session_main(const struct opts *o, session_fn fn);

enum ctl_type {
	CTL_HELLO = 1,		/* a: remote_buf address, b: handle */
	CTL_READY,
	CTL_CREDIT,		/* a: messages the peer may have sent in all */
	CTL_SYNC,		/* a: messages sent */
	CTL_FIN,		/* a: messages sent */
	CTL_RESULT,		/* a: messages received */
};

struct ctl_msg {
	uint32_t	type;
	uint32_t	conn;		/* that it is about: 0, 1... */
	uint64_t	a, b;
};

void session_send(struct session *s, enum ctl_type type, uint64_t a,
		  uint64_t b);
void session_send_of(struct session *s, uint32_t conn, enum ctl_type type,
		     uint64_t a, uint64_t b);

/* Of a connection: its data channel, and the peer's receive buffer. */
static inline struct chan *session_data(struct session *s, uint32_t conn)
{
	return conn ? &s->more[conn - 1] : &s->data;
}

static inline struct remote_buf *session_remote(struct session *s,
						uint32_t conn)
{
	return conn ? &s->more_remote[conn - 1] : &s->remote;
}

/* One control message if there is one. */
bool session_poll(struct session *s, struct ctl_msg *m);

/* Take the message of a completed receive of the control channel. */
void session_take(struct session *s, const VIP_DESCRIPTOR *d,
		  struct ctl_msg *m);

/* Both ends have come this far. */
void session_barrier(struct session *s);

#endif
