/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ENG_WIRE_H
#define ENG_WIRE_H

/*
 * The packets of engines. Packets of a connection name the VI they are
 * for and carry its nonce, 64 random bits that only the two ends know; any
 * other packet for it is dropped. Every field is a claim until it is checked.
 *
 * Messages (SEND, WRITE, READ) of a connection are numbered from 0. ack counts
 * those of the other direction that are dealt with: data is in memory and the
 * descriptor completed. It rides on everything.
 *
 * A message that is longer than the transport's eager limit is announced: its
 * payload is where to pull it from. The target pulls, and acknowledges.
 *
 * READ is answered by ANSWER, in the order of the messages: with the bytes, or
 * with where to pull them from; then TAKEN ends that.
 *
 * A 32-bit program has the lower half of an address in the target. rhandle says
 * which region it means: the target finds the upper half, in the first 4 GiB of
 * the region.
 *
 * DISCONNECT ends a connection. An end sends it when no pull of its own is
 * under way any more, and begins none afterwards. An end that has said
 * DISCONNECT while its memory was exported waits for DISCONNECT_ACK (or the
 * other's DISCONNECT) before it gives the memory back to the program.
 * DISCONNECT may name a message that was refused.
 */

#include <stdint.h>
#include <vipl/engine.h>

#define WIRE_VERSION	1

enum wire_op {
	WIRE_SEND = 1,
	WIRE_WRITE,
	WIRE_READ,
	WIRE_ANSWER,		/* seq: the READ's; len */
	WIRE_TAKEN,		/* seq: the READ's */
	WIRE_ACK,
	WIRE_DISCONNECT,
	WIRE_DISCONNECT_ACK,
	WIRE_CONNECT = 16,	/* wire_conn; dst 0 */
	WIRE_LOOK,		/* peer to peer: wire_conn; dst 0 */
	WIRE_ACCEPT,		/* wire_conn; to CONNECT and LOOK */
	WIRE_REJECT,		/* wire_conn; status: the verdict */
	WIRE_CONFIRM,		/* to ACCEPT: connected */
	WIRE_GONE,		/* to ACCEPT: the attempt is over; raddr: nonce */
	WIRE_CANCEL,		/* of CONNECT; raddr: its nonce */
	WIRE_NONE,		/* to LOOK: no VI looks for that one */
};

#define WIRE_IMM	0x01	/* imm is immediate data */
#define WIRE_SRCS	0x02	/* the payload is nsrc times struct eng_src */
#define WIRE_ORDERLY	0x04	/* DISCONNECT: VipDisconnect */
#define WIRE_REFUSED	0x08	/* DISCONNECT: refused: message seq, by status */
#define WIRE_HALF	0x10	/* of raddr, the lower half is known */

struct eng_wire {
	uint8_t op;			/* WIRE_* */
	uint8_t flags;
	uint16_t nsrc;
	uint32_t dst;			/* the VI's id at the receiver */
	uint64_t nonce;			/* that VI's */
	uint32_t seq;
	uint32_t ack;
	uint32_t len;			/* bytes of the message */
	uint32_t imm;
	uint64_t raddr;			/* RDMA: the range in the target */
	uint32_t rhandle;
	uint32_t status;
	uint64_t spare[2];
} __attribute__((may_alias, aligned(8)));

_Static_assert(sizeof(struct eng_wire) == ENG_HEADER, "size of a header");

/* Payload of the packets that make connections; any alignment. */
struct wire_conn {
	uint32_t version;		/* also tells the byte order */
	uint32_t vi;			/* the sender's VI */
	uint64_t nonce;			/* that VI's, for this attempt */
	uint64_t timeout;		/* ns; UINT64_MAX: none */
	uint32_t transfer;		/* its MaxTransferSize */
	uint16_t reliability;
	uint16_t rights;		/* VIA_RDMA_* */
	uint16_t local_len, remote_len;	/* discriminators, the sender's view */
	uint16_t priv_len;
	uint16_t host_len;		/* LOOK: of the sender's host address */
	uint8_t local[VIPL_DISC_MAX];
	uint8_t remote[VIPL_DISC_MAX];
	uint8_t priv[VIPL_PRIVATE_MAX];
};

#endif /* ENG_WIRE_H */
