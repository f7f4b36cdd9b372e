// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What posting a receive and looking at empty queues cost. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/chan.h"
#include "common/msg.h"
#include "emit.h"

#define ROUNDS 100000
#define POSTS 1000

/* The call itself in the loop: a wrapper would be counted with it. */
#define EMPTY_POLL(name, want, call) do {				\
	VIP_RETURN rc = (call);						\
	uint64_t t0;							\
									\
	if (rc != (want))						\
		die("%s: %s where %s was due", name, vip_str(rc),	\
		    vip_str(want));					\
	t0 = now_ns();							\
	for (int i = 0; i < ROUNDS; i++)				\
		(call);							\
	emit("poll", name, "rd", "poll", 0, "ns",			\
	     (double)(now_ns() - t0) / ROUNDS);				\
} while (0)

int main(int argc, char **argv)
{
	struct chan_config c = {
		.level = VIP_SERVICE_RELIABLE_DELIVERY, .max_transfer = 4096,
		.tx = 1, .rx = 1024, .buf_len = 64, .share = true,
	};
	VIP_DESCRIPTOR *d;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;
	struct nic nic;
	struct chan ch;
	uint64_t start;

	nic_open(&nic, argc > 1 ? argv[1] : "via_lo");
	if (VipCreateCQ(nic.h, 64, &cq) != VIP_SUCCESS)
		die("cannot create a completion queue on %s", nic.dev);
	chan_init(&ch, &nic, &c);
	for (int i = 0; i < 10; i++)
		chan_post_recv(&ch);
	start = now_ns();
	for (int i = 0; i < POSTS; i++)
		chan_post_recv(&ch);
	emit("post", "VipPostRecv", "rd", "-", 64, "ns",
	     (double)(now_ns() - start) / POSTS);
	EMPTY_POLL("VipRecvDone", VIP_NOT_DONE, VipRecvDone(ch.vi, &d));
	EMPTY_POLL("VipSendDone", VIP_DESCRIPTOR_ERROR, VipSendDone(ch.vi, &d));
	EMPTY_POLL("VipCQDone", VIP_NOT_DONE, VipCQDone(cq, &vi, &recv));
	chan_fini(&ch);
	VipDestroyCQ(cq);
	nic_close(&nic);
	return 0;
}
