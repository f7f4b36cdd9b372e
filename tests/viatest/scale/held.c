// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A receiver that is stopped (SIGSTOP): what it has posted is filled all the
 * same, since the kernel does it, and the sender's connection lives; one
 * message more than was posted, and it breaks.
 */
#include "scale.h"
#include <stdio.h>

static struct nic nic;

/* Takes END_RX messages a round; args.count rounds, the last broken. */
int run_held(void)
{
	struct end e;
	VIP_RETURN rc;
	uint32_t len, i, round, wrong = 0;
	uint8_t *p;

	nic_open(&nic, args.device);
	end_begin(&e, &nic, false);
	rc = conn_accept(&nic, DISC "-held", e.vi, 4 * args.limit);
	if (rc != VIP_SUCCESS)
		die("accept: %s", vip_str(rc));
	for (round = 0; round < args.count; round++) {
		printf("posted %u\n", round);
		/* The last one first: the others were there before it. */
		for (i = 0; i < END_RX; i++) {
			p = end_recv(&e, VIP_INFINITE, &len, &rc);
			if (!p)
				die("round %u, message %u: %s", round, i,
				    vip_str(rc));
			wrong += len != length_of(round, i) ||
				 !filled(p, round, i, len);
			/* Posted again when all are there; not at the end. */
			e.next++;
		}
		if (round + 1 == args.count)
			break;
		for (e.next -= END_RX, i = 0; i < END_RX; i++)
			if (end_repost(&e))
				die("cannot post");
		/* Credit for a whole round. */
		if (!end_tx(&e) || end_send(&e, 1))
			die("cannot send");
	}
	printf("received %u wrong %u\n", args.count * END_RX, wrong);
	/* One more was sent than there were receives. */
	p = end_recv(&e, args.limit, &len, &rc);
	if (p)
		die("a message came into no receive");
	VipDisconnect(e.vi);
	return wrong != 0;
}

int run_held_send(void)
{
	struct end e;
	VIP_DESCRIPTOR *d = NULL;
	VIP_RETURN rc;
	uint32_t len, i, round;
	uint8_t *p;

	nic_open(&nic, args.device);
	if (end_open(&e, &nic, false) || end_connect(&e, DISC "-held", 20000))
		die("no receiver");
	for (round = 0; round < args.count; round++) {
		/* Time to stop the receiver in. */
		sleep_ms(args.seconds * 1000);
		for (i = 0; i < END_RX; i++)
			if (stream_send(&e, round, i))
				die("cannot send");
		for (; e.reaped < e.sent; e.reaped++)
			if (VipSendWait(e.vi, args.limit, &d))
				die("round %u: a send is not acknowledged",
				    round);
		printf("sent %u\n", round);
		if (round + 1 == args.count)
			break;
		/* As long as it takes: it is stopped. */
		p = end_recv(&e, VIP_INFINITE, &len, &rc);
		if (!p)
			die("the connection broke while the receiver stood still: %s",
			    vip_str(rc));
		end_repost(&e);
	}
	/* None is posted for this one. */
	p = end_tx(&e);
	fill(p, 0, 0, 1);
	if (end_send(&e, 1))
		die("cannot send");
	rc = VipSendWait(e.vi, args.limit, &d);
	if (rc != VIP_DESCRIPTOR_ERROR || !d ||
	    !(d->CS.Status & VIP_STATUS_REMOTE_DESC_ERROR))
		die("one too many: %s, status 0x%x", vip_str(rc),
		    d ? d->CS.Status : 0);
	printf("broken by one too many\n");
	VipDisconnect(e.vi);
	return 0;
}
