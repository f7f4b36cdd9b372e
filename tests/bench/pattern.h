/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/samples.h"

/*
 * via_patterns: the same loops over VIA, UDP, TCP and RC of libibverbs.
 *
 * A set is one end of up to MAX_CONNS connections to one peer. The patterns
 * use it through the operations below; each transport implements them in a
 * file of its own. All of it belongs to one thread.
 */
#define MAX_CONNS	8
#define MAX_SIZE	60000u	/* bytes: one UDP datagram holds it */
#define TX_DEPTH	128	/* sends in flight on a connection */
#define RX_DEPTH	256	/* receives posted on a connection */

/*
 * The first four bytes of a message: its length, what the receiver is to do,
 * and a number by which a late copy is told from the message that is due.
 */
#define M_LEN_MASK	0xfffffu
#define M_ANSWER	0x100000u	/* answer this one */
#define M_FIN		0x200000u	/* the run ends */
#define M_SEQ(m)	((m) >> 24)

enum proto { PAT_VIA, PAT_UDP, PAT_TCP, PAT_RC };

/* What both ends of a run agree upon; the client sends it. */
struct ask {
	uint32_t	magic;
	uint8_t		proto;		/* enum proto */
	uint8_t		conns;
	uint8_t		block;		/* sleep instead of polling */
	uint8_t		wait_sent;	/* an answer completes first */
	uint16_t	level;		/* VIP_SERVICE_* */
	uint16_t	port;		/* of the control connection */
	uint32_t	size;		/* bytes of the longest message */
	uint32_t	answer;		/* bytes of an answer */
	uint32_t	think;		/* us that the server thinks */
	uint32_t	cookie;		/* names the connections of the run */
	char		dev[32];	/* of the server */
};

/* One end of a connection, as the other end needs to know it. */
struct where {
	uint16_t	port;		/* UDP, TCP */
	uint8_t		addr_len;	/* VIA */
	uint8_t		addr[16];	/* VIA: NIC; RC: GID */
	uint32_t	qpn;		/* RC */
	uint64_t	target;		/* RDMA Write: address */
	uint32_t	key;		/* RDMA Write: handle, rkey */
};

struct set {
	const struct set_ops *ops;
	struct ask	ask;
	const char	*host;		/* of the peer; NULL at the server */
	int		ctl;		/* the control connection */
	/* The server has heard the end of the run; false after ms. */
	bool		(*heard)(struct set *s, int ms);
	bool		block;
	/* A completed send has arrived. Else only an answer tells that. */
	bool		sent_is_there;
	/* A message may be lost for good. */
	bool		lossy;
	void		*own;		/* of the transport */
};

struct set_ops {
	/* Open the device, make the ends, tell where they are. */
	void	(*open)(struct set *s, struct where *here);
	/* Connect all of them; the two ends do it at the same time. */
	void	(*join)(struct set *s, const struct where *there);
	void	(*close)(struct set *s);

	/* Post a message: len bytes, of which msg is the beginning. */
	void	(*send)(struct set *s, int i, uint32_t msg, uint32_t len);
	/* RDMA Write; NULL: there is no such thing. */
	void	(*write)(struct set *s, int i, uint32_t len);

	/* Look once for a message on any connection; -1: none. */
	int	(*look)(struct set *s, uint32_t *msg);
	/* Sleep until there is one; ms < 0: for ever. */
	int	(*wait)(struct set *s, uint32_t *msg, int ms);
	/* Look once: have all sends of the connection completed? */
	bool	(*sent)(struct set *s, int i);
	/* Sleep until they have. */
	void	(*wait_sent)(struct set *s, int i);
};

extern const struct set_ops via_ops, udp_ops, tcp_ops;
extern const struct set_ops rc_ops;	/* open is NULL: built without it */

/* Says what failed, and why by errno, and ends the program. */
void check(int failed, const char *what);

/* A message on any connection, as the set waits; -1 after ms. */
int set_take(struct set *s, uint32_t *msg, int ms);
void set_wait_sent(struct set *s, int i);

enum pattern {
	P_REQUEST, P_IDLE, P_TURN, P_BOTH, P_WRITE, P_WRITE_SEND, P_BURST,
	P_TAIL, P_FANOUT, NR_PATTERNS,
};

struct run {
	enum pattern	pattern;
	uint32_t	iters;
	uint32_t	think;		/* us, of the client, between rounds */
	uint32_t	burst;		/* messages */
	uint32_t	lost;		/* messages that were sent again */
	uint8_t		seq;
	struct samples	samples;	/* ns of a round */
};

/* Measure; the client's end. */
void run_pattern(struct run *r, struct set *s);
/* Both ends in this thread. */
void run_both(struct run *r, struct set *a, struct set *b);
/* Answer until the client ends the run. */
void serve(struct set *s);

#endif
