/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * viatest regress: faults that were there once, each provoked anew through the
 * interface of the device node.  What the kernel says meanwhile is looked at
 * from outside.
 */
#ifndef REGRESS_REGRESS_H
#define REGRESS_REGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <via.h>

#include "common/args.h"
#include "common/child.h"
#include "common/clock.h"
#include "common/dice.h"
#include "common/memory.h"
#include "common/pins.h"
#include "common/thread.h"

/* One NIC handle, with its control page mapped. */
struct handle {
	int fd;
	void *ctl;
	struct via_hello hello;
};

void handle_open(struct handle *h, const char *device);
void handle_close(struct handle *h);

#define MOST_BYTES	4096u		/* max_transfer, where it is no matter */

/* A completion queue, and the first @bytes of it or (0) all. */
struct via_cq_shared *cq_new(const struct handle *h, struct via_cq_create *c,
			     uint32_t bytes);
/* A VI with one CQ for both queues, or none (0); the program ends if it fails. */
struct via_vi_create vi_new(const struct handle *h, uint32_t bytes,
			    uint32_t cq);
struct via_vi_shared *vi_map(const struct handle *h,
			     const struct via_vi_create *c);
/* VIA_IOC_VI_DESTROY or VIA_IOC_DISCONNECT. */
int vi_do(const struct handle *h, unsigned long call, uint32_t vi);
/* Whatever state it is in. */
void vi_end(const struct handle *h, uint32_t vi);
uint32_t vi_state(const struct handle *h, uint32_t vi);

/* From text to text; @to is whose address is asked, which may be oneself. */
struct via_conn_request to_ask(uint32_t vi, uint64_t ns, const char *from,
			       const struct handle *to, const char *disc);
int ask(const struct handle *h, unsigned long call,
	const struct via_conn_request *r);
int await(const struct handle *h, const char *disc, uint64_t ns,
	  struct via_conn_wait *w);
/* The verdict of what was asked or accepted. */
int verdict(const struct handle *h, uint32_t vi, uint32_t flags);

int mem_register(const struct handle *h, const void *p, uint64_t len,
		 uint32_t *handle);
int mem_deregister(const struct handle *h, const void *p, uint32_t handle);

/* args.device stops being a VI NIC: ns that it took. */
uint64_t detach(void);
void attach(void);
/* via_vb hears nothing of via_va any more, and says nothing. */
bool cut(bool off);
/*
 * A real-time thread that takes a CPU away for @spin_us, each time after up to
 * @gap_us: where the kernel may be preempted, in the middle of anything.
 */
struct intruder {
	unsigned int cpu;
	uint32_t gap_us, spin_us;
	bool stop;
	pthread_t thread;
};

void intrude(struct intruder *in);
void intruder_end(struct intruder *in);

int run_peers(void);
int run_stats(void);
int run_answers(void);
int run_crowd(void);
int run_page(void);
int run_throttled(void);
int run_control(void);
int run_overtaken(void);
int run_late(void);
int run_notices(void);
int run_segments(void);
int run_resize(void);
int run_grace(void);
int run_again(void);
int run_others(void);

#endif
