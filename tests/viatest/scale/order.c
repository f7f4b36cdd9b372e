// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include <string.h>

int order(struct end *e, const struct order *o)
{
	uint8_t *p = end_tx(e);

	if (!p)
		return -1;
	memcpy(p, o, sizeof(*o));
	return end_send(e, sizeof(*o));
}

int order_begin(struct end *e, const struct nic *nic, bool cq, uint32_t ms,
		const struct order *o)
{
	return end_open(e, nic, cq) || end_connect(e, DISC, ms) || order(e, o);
}

struct order order_ask(struct end *ctl, uint32_t id)
{
	struct order o = { .type = ORDER_ASK, .id = id };
	uint32_t len;
	VIP_RETURN rc;
	uint8_t *p;

	if (order(ctl, &o))
		die("the server cannot be asked");
	p = end_recv(ctl, args.limit, &len, &rc);
	if (!p || len != sizeof(o))
		die("the server does not answer: %s", vip_str(rc));
	memcpy(&o, p, sizeof(o));
	end_repost(ctl);
	return o;
}

void order_ask_open(struct end *ctl, const struct nic *nic)
{
	if (end_open(ctl, nic, false) || end_connect(ctl, DISC, args.limit))
		die("no server");
}
