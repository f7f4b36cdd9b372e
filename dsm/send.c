// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A message gets its header. */
#include <string.h>

#include "send.h"

struct dsm_msg *send_begin(struct node *n, enum msg_type type, uint32_t what)
{
	struct dsm_msg *m = parcel_msg(&n->out);

	memset(m, 0, sizeof(*m));
	m->type = type;
	m->what = what;
	return m;
}

void send_msg(struct node *n, unsigned int to, struct dsm_msg *m)
{
	m->from = n->me;
	memcpy(m->vc, n->vc, sizeof(m->vc));
	n->counts.messages++;
	n->counts.sent_bytes += sizeof(*m) + m->len;
	n->ops->send(n->context, to, m);
}
