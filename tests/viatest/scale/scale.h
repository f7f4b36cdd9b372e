/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * viatest scale: much of everything (VIs, regions, connections), and the death of
 * processes in the middle of it.
 */
#ifndef SCALE_SCALE_H
#define SCALE_SCALE_H

#include <stdbool.h>
#include <stdint.h>
#include <vipl.h>

#include "common/conn.h"
#include "common/msg.h"
#include "common/nic.h"
#include "common/pins.h"

struct options {
	const char *device;
	const char *peer_device;	/* pair: the other end's NIC */
	const char *netns;		/* pair: where that one lives */
	const char *host;		/* NULL: the device's own address */
	uint32_t count;			/* of whatever the mode is about */
	uint32_t threads;
	uint32_t cqs;
	uint32_t vis;			/* regions: VIs that stand by */
	uint32_t seconds;
	uint32_t limit;			/* ms until nothing is bounded time */
	uint64_t seed;
};

extern struct options scale_opt;

/* Where scale_opt.host is; its own address without one. */
void peer_address(union net_addr *n, const struct nic *nic);

/* xorshift64*: the state must not be 0. */
uint64_t scale_dice(uint64_t *state);
uint64_t dice_seed(uint64_t seed, uint64_t n);

/* Whether an operation finds more than the one before it, or less. */
enum order_of { FEW_FIRST, MANY_FIRST };

/*
 * The times of n operations in order.  The quarter that finds the most must
 * not take far longer than the quarter that finds the least.  What else the
 * host does may make it so: last_word() tells, and only what is so again and
 * again is a fault.
 */
void report_times(const char *what, const uint64_t *ns, uint32_t n,
		  enum order_of order);

#define GROWS		4	/* status: all is well, but for that */

/* The status of a program or process that would end with this one. */
int last_word(int status);

#define END_RX		16u
#define END_TX		8u
#define END_BYTES	8192u

/* One end of a connection, whose errors are results. */
struct end {
	const struct nic *nic;
	VIP_VI_HANDLE vi;
	uint8_t *mem;			/* descriptors, receives, sends */
	VIP_MEM_HANDLE mem_h;
	uint32_t sent, reaped, next;	/* next: the receive that is next */
	uint32_t credit;		/* messages that the peer has taken */
	bool cq;			/* waits by a completion queue */
	VIP_CQ_HANDLE cq_h;
};

int end_open(struct end *e, const struct nic *nic, bool cq);
/* Disconnects; all must go, whatever has happened. Non-zero if it did not. */
int end_close(struct end *e);
uint8_t *end_tx(struct end *e);		/* room for the next message, or NULL */
int end_send(struct end *e, uint32_t len);
/* The next message, or NULL: *rc tells why. end_repost() gives it back. */
uint8_t *end_recv(struct end *e, VIP_ULONG ms, uint32_t *len, VIP_RETURN *rc);
int end_repost(struct end *e);
/* For VipRecvNotify(), where it is enough that it is called. */
void nothing_done(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		  VIP_DESCRIPTOR *d);

/* What a stream carries follows from its sender and the message's number. */
void fill(uint8_t *p, uint32_t id, uint32_t n, uint32_t len);
bool filled(const uint8_t *p, uint32_t id, uint32_t n, uint32_t len);
uint32_t length_of(uint32_t id, uint32_t n);

enum stream_result { ST_DONE, ST_ENDED, ST_WRONG, ST_SILENT };

/* Send or take so many messages (~0u: until it breaks), with credits. */
enum stream_result stream_push(struct end *e, uint32_t id, uint32_t n);
enum stream_result stream_pull(struct end *e, uint32_t id, uint32_t n);

/* The first message of a connection with the server. */
enum order_type {
	ORDER_PUSH = 1,		/* we send */
	ORDER_PULL,		/* the server sends */
	ORDER_IDLE,		/* neither does */
	ORDER_CALL,		/* connect to us, and send */
	ORDER_ASK,		/* how many connections has this id? */
	ORDER_STOP,
};

struct order {
	uint32_t type, id, n;
	uint32_t alive;		/* connections of the id */
	uint32_t others;	/* connections of all ids but 0 */
	uint32_t ended, wrong, silent, stuck;	/* in all */
};

#define DISC		"viatest-scale"
#define DISC_NOBODY	"viatest-scale-none"

int connect_to(struct end *e, const char *disc, uint32_t ms);
int order(struct end *e, const struct order *o);

int serve(void);
int run_kill(void);
void scale_victim(uint32_t role, uint32_t id, uint64_t seed);
#define VICTIM_ROLES	9u
int run_vis(void);
int serve_vis(void);
int run_regions(void);
int run_connects(void);
int serve_connects(void);
int run_process(void);
int run_pair(void);
int run_races(void);
int run_held(void);
int run_held_send(void);
int run_squeeze(void);

#endif
