/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef SHM_TEST_END_H
#define SHM_TEST_END_H

/* One end of a connection, for programs that end where a call fails. */
#include <stdint.h>
#include <vipl.h>

#define SLOTS		8		/* messages in flight */
#define MSG_MAX		65536u		/* bytes */

struct end {
	VIP_NIC_HANDLE nic;
	VIP_NIC_ATTRIBUTES attr;
	VIP_VI_HANDLE vi;
	VIP_MEM_HANDLE mem_h;
	uint8_t *mem;
	volatile int lost;		/* the callback has told */
};

union address {
	VIP_NET_ADDRESS a;
	char room[160];
};

extern const char *device;

void fail(const char *what, long n) __attribute__((noreturn));
void must(const char *call, VIP_RETURN r, VIP_RETURN want);
#define OK(call) must(#call, call, VIP_SUCCESS)

uint64_t now_ns(void);
void end_open(struct end *e);
void end_close(struct end *e);
void end_vi(struct end *e);
void address(const struct end *e, union address *a, const char *disc);
/* Connects to the end that waits for disc; retries for ms. */
VIP_RETURN connect_to(struct end *e, VIP_VI_HANDLE vi, const char *disc,
		      unsigned int ms);
VIP_RETURN accept_on(struct end *e, VIP_VI_HANDLE vi, const char *disc,
		     VIP_ULONG ms);
/* Of a child: open, every receive posted, and one connection accepted. */
void end_serve(struct end *e, const char *disc);
/* Slot i of the queue: 0 receives, 1 sends. */
VIP_DESCRIPTOR *desc_of(struct end *e, int queue, unsigned int i);
uint8_t *data_of(struct end *e, int queue, unsigned int i);
VIP_RETURN post_recv(struct end *e, unsigned int i);
VIP_RETURN post_send(struct end *e, unsigned int i, uint32_t len);
void pattern(uint8_t *p, uint32_t len, uint32_t seq);
int pattern_bad(const uint8_t *p, uint32_t len, uint32_t seq);

#endif /* SHM_TEST_END_H */
