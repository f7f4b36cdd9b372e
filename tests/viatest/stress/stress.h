/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * viatest stress: many messages, every byte known, and what else can go on
 * meanwhile. The client sends, the server checks; flow control is a window of
 * messages, opened by credits that the server sends back.
 */
#ifndef STRESS_STRESS_H
#define STRESS_STRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <vipl.h>

#include "common/args.h"
#include "common/clock.h"
#include "common/desc.h"
#include "common/memory.h"
#include "common/thread.h"
#include "common/vi.h"

#define WINDOW		32u	/* messages on their way */
#define CREDIT_EVERY	8u
#define SMALL		256u	/* bytes of a control message */
#define MAX_DISC	32u	/* bytes of a discriminator */

/* Beside args, of which count is messages and limit ms without progress */
extern struct stress_args {
	const char *garbage;		/* interface to throw from, or NULL */
	const char *disc;		/* the server's discriminator */
	uint32_t max_size;
	uint32_t kills;			/* rounds of --kill, 0: none */
	uint32_t connects;		/* of --connects, 0: none */
	uint32_t sacrifice, idle;	/* seconds, 0: not */
	VIP_RELIABILITY_LEVEL level;
	bool may_break;
	bool reads;			/* read back what is written */
} stress_args;

/* First message of a client, and the answer to MSG_END and MSG_ASK. */
enum msg_type {
	MSG_HELLO = 1,	/* a transfer begins: seed, messages, max */
	MSG_CREDIT,	/* so many messages are consumed; rdma target */
	MSG_END,	/* all is sent: report */
	MSG_REPORT,	/* passed, failed, lost */
	MSG_ASK,	/* how many connections were lost? */
};

struct msg {
	uint32_t type;
	uint32_t messages;
	uint64_t seed;
	uint32_t max_size;
	uint32_t credit;	/* messages up to this one are consumed */
	uint64_t target;	/* address of the RDMA slots */
	uint32_t handle;
	uint32_t stride;	/* bytes of an RDMA slot */
	uint32_t passed, failed, lost;
	uint32_t conns_taken;	/* connections that the server accepted */
	uint32_t conns_lost;	/* connections that died under the server */
	uint32_t told;		/* of these, reported by CONN_LOST */
	uint32_t in_error;	/* of these, whose VI was in Error */
	uint32_t id;		/* HELLO: of the connection; ASK: of which */
	uint32_t ended;		/* it has, and the server's program knows */
};

_Static_assert(sizeof(struct msg) <= SMALL, "a control message is small");

/* The number in an immediate value that marks a control message. */
#define IMM_CONTROL	0xfffffffeu

/* For child_start(), too. */
int stress_serve(void *unused);

/* One connection of a client. */
struct client {
	struct nic nic;
	VIP_VI_HANDLE vi;
	uint8_t *mem;			/* descriptors, then buffers */
	VIP_MEM_HANDLE mem_h;
	uint32_t stride;		/* bytes of a data buffer */
	uint32_t max;			/* the VI's MaxTransferSize */
	uint64_t posted, done;		/* send descriptors */
	uint64_t slot_last[WINDOW];	/* posted count after its last one */
	uint64_t target;
	uint32_t target_h, target_stride;
	uint32_t credit;
	int lossy;
	struct {
		uint64_t key;
		uint32_t len, n;
		int valid;
	} back[WINDOW];			/* reads whose bytes are not checked */
	uint64_t reads, reads_bad;
	uint32_t id;			/* the server knows it by; not 0 */
	uint32_t sent;			/* messages posted */
	int hung;			/* no progress, and no error either */
};

int client_open(struct client *c);
/* The same, without the connection. */
int client_prepare(struct client *c);
VIP_RETURN client_connect(struct client *c, uint32_t tries_ms);
void client_close(struct client *c);
/* Sends a control message, and waits for an answer of that type. */
int client_ask(struct client *c, struct msg *m, uint32_t answer);

struct result {
	uint64_t passed, failed, lost;
};

/*
 * client_run() - a whole transfer
 *
 * *progress counts messages handed over. Returns 0 when the report came.
 */
int client_run(struct client *c, uint32_t messages, uint64_t seed,
	       uint32_t *progress, struct result *r);

/* Messages that are complete here, after the connection was lost. */
uint32_t client_completed(struct client *c);

/* What came of connections that were allowed to break. */
struct breaks {
	uint32_t count;
	uint32_t told_ms;	/* until the server knew, at most */
};

/*
 * client_run_on() - a transfer over as many connections as it takes
 *
 * Like client_run(); fails when an end is not told of a loss, or when a
 * message that is complete has not arrived.
 */
int client_run_on(struct client *c, uint32_t messages, uint64_t seed,
		  uint32_t *progress, struct result *r, struct breaks *b);

/* The other modes; each returns the exit status. */
int run_sacrifice(void);
int stress_connects(void);
int run_idle(void);

/* All threads of an ordinary run; the exit status. */
int run_transfers(void);
int run_kills(void);

/* Throws malformed frames until told to stop. */
struct garbage {
	pthread_t thread;
	uint8_t mac[6];
	int sock, ifindex;
	uint32_t stop;
	uint64_t thrown;
};

int garbage_start(struct garbage *g, const char *ifname, const uint8_t *mac);
void garbage_stop(struct garbage *g);

#endif
