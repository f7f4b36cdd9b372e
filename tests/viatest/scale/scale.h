/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * viatest scale: much of everything (VIs, regions, connections), and the death
 * of processes in the middle of it.
 */
#ifndef SCALE_SCALE_H
#define SCALE_SCALE_H

#include <stdbool.h>
#include <stdint.h>
#include <vipl.h>

#include "common/args.h"
#include "common/child.h"
#include "common/clock.h"
#include "common/desc.h"
#include "common/dice.h"
#include "common/memory.h"
#include "common/pins.h"
#include "common/thread.h"
#include "common/vi.h"

/* Beside args */
extern struct scale_args {
	uint32_t cqs;
	uint32_t vis;			/* regions: VIs that stand by */
	bool waits;			/* vis: connected, to be killed */
} scale_args;

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
#define END_DESCS	4096u	/* bytes */
#define END_LEN		(END_DESCS + (END_RX + END_TX) * END_BYTES)

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
/* The same, or the program ends. */
void end_begin(struct end *e, const struct nic *nic, bool cq);
void end_finish(struct end *e);
/* Connects two ends of this process, under a name of its own. */
VIP_RETURN end_join(struct end *from, struct end *to, const char *disc,
		    uint32_t ms);
/* To what waits for @disc at args.host. */
VIP_RETURN end_connect(struct end *e, const char *disc, uint32_t ms);
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

/* Message n of an id; non-zero if it could not be sent. */
int stream_send(struct end *e, uint32_t id, uint32_t n);
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
};

struct order {
	uint32_t type, id, n;
	uint32_t alive;		/* connections of the id */
	uint32_t others;	/* connections of all ids but 0 */
	uint32_t ended, wrong, silent, stuck;	/* in all */
};

#define DISC		"viatest-scale"
#define DISC_NOBODY	"viatest-scale-none"

int order(struct end *e, const struct order *o);
/* Opens, connects with the server, gives the order; non-zero: it did not. */
int order_begin(struct end *e, const struct nic *nic, bool cq, uint32_t ms,
		const struct order *o);
/* The server's answer to ORDER_ASK, on a connection for nothing else. */
struct order order_ask(struct end *ctl, uint32_t id);
void order_ask_open(struct end *ctl, const struct nic *nic);

int serve(void);
int run_kill(void);
/* An argument for child_start(). */
struct victim {
	uint32_t role, id;
	uint64_t seed;
};

int scale_victim(void *victim);
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
