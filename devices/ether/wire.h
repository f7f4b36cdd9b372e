/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What stands on the wire behind the Ethernet header; docs/wire.md explains
 * it.  Every frame begins with struct via_wire, and its type says what
 * follows.  All fields are big-endian and lie at multiples of their size.
 *
 * Which frame of a message is the first and which the last follows from
 * offset, len and msg_len, so no flag can contradict them.
 *
 * Parsing returns enum via_wire_error: 0, or what is wrong with the frame.
 */
#ifndef _VIA_WIRE_H
#define _VIA_WIRE_H

#include "portable.h"

#define VIA_WIRE_ETHERTYPE	0x88b5	/* IEEE local experimental 1 */
#define VIA_WIRE_VERSION	1

/* Types.  0x05..0x07 are kept for more of RDMA Read. */
#define VIA_WIRE_SEND		0x01	/* via_wire, _data, payload */
#define VIA_WIRE_WRITE		0x02	/* via_wire, _data, _rdma, payload */
#define VIA_WIRE_READ		0x03	/* via_wire, _data, _rdma: no payload */
#define VIA_WIRE_READ_DATA	0x04	/* via_wire, _data, payload */
#define VIA_WIRE_ACK		0x08	/* via_wire, _ack */
#define VIA_WIRE_HEARTBEAT	0x09	/* via_wire, _ack: ACK is the answer */
#define VIA_WIRE_DISCONNECT	0x0a	/* via_wire, _ack */
#define VIA_WIRE_RESET		0x0b	/* via_wire, _ack */
#define VIA_WIRE_REQUEST	0x10	/* via_wire, _conn */
#define VIA_WIRE_ACCEPT		0x11	/* via_wire, _conn */
#define VIA_WIRE_WAIT		0x12	/* via_wire, _ack */
#define VIA_WIRE_NO_MATCH	0x13	/* via_wire, _ack */
#define VIA_WIRE_REJECT		0x14	/* via_wire, _ack */
#define VIA_WIRE_CONFIRM	0x15	/* via_wire, _ack */
#define VIA_WIRE_CANCEL		0x16	/* via_wire, _ack */
#define VIA_WIRE_PEER_REQUEST	0x17	/* via_wire, _conn */
#define VIA_WIRE_PEER_ACCEPT	0x18	/* via_wire, _conn */
#define VIA_WIRE_NAME_QUERY	0x20	/* via_wire, _name; may be broadcast */
#define VIA_WIRE_NAME_REPLY	0x21	/* via_wire, _name */

/* Flags. */
#define VIA_WIRE_PUSH		0x01	/* the sender has nothing more to send */
#define VIA_WIRE_IMMEDIATE	0x02	/* the message carries immediate data */
#define VIA_WIRE_ACK_NOW	0x04	/* the sender's window is closed */
#define VIA_WIRE_SEALED		0x08	/* a checksum follows the headers */
#define VIA_WIRE_FLAGS		0x0f

/* Why a connection ended (DISCONNECT). */
#define VIA_WIRE_R_CLOSED	0	/* the program, or its death */
#define VIA_WIRE_R_NO_RECEIVE	1	/* no receive was posted */
#define VIA_WIRE_R_RECEIVE	2	/* the posted receive was in error */
#define VIA_WIRE_R_RDMA		3	/* an RDMA Write was refused */
#define VIA_WIRE_R_PROTOCOL	4	/* frames made no sense */
#define VIA_WIRE_R_TRANSPORT	5	/* retries exhausted, or local error */
#define VIA_WIRE_R_LINK		6	/* the interface went down */
#define VIA_WIRE_R_READ		7	/* an RDMA Read was refused */

/* Why two VIs do not fit (REJECT to one that sent PEER_ACCEPT). */
#define VIA_WIRE_R_LEVEL	1	/* reliability levels differ */
#define VIA_WIRE_R_MTU		2	/* MaxTransferSizes differ */
#define VIA_WIRE_R_QOS		3

struct via_wire {
	__u8	version;
	__u8	type;
	__u8	flags;
	__u8	reserved;		/* zero */
	__be16	dst;			/* receiver's VI index */
	__be16	len;			/* payload bytes; padding is beyond */
	__be32	cookie;			/* receiver's, of this connection */
	__be32	seq;			/* of this; ACK: of one that came twice */
	__be32	ack;			/* next sequence number expected */
} __packed;

struct via_wire_data {
	__be32	msg_len;		/* bytes of the whole message */
	__be32	offset;			/* of the payload in the message */
	__be32	immediate;		/* READ_DATA: seq of the READ */
} __packed;

struct via_wire_rdma {
	__be64	raddr;			/* where byte 0 goes, or comes from */
	__be32	rhandle;
} __packed;

struct via_wire_ack {
	__be32	reason;			/* VIA_WIRE_R_*, else zero */
	__be64	sack;			/* bit i: ack + 1 + i has arrived */
} __packed;

#define VIA_WIRE_HOST_MAX	8
#define VIA_WIRE_DISC_MAX	64

struct via_wire_addr {
	__u8	host_len;
	__u8	disc_len;
	__be16	reserved;		/* zero */
	__u8	host[VIA_WIRE_HOST_MAX];
	__u8	disc[VIA_WIRE_DISC_MAX];
} __packed;

/*
 * REQUEST (dst and cookie zero) and ACCEPT (the client's).  Until the
 * connection stands the client's MAC, VI index and cookie name the request:
 * they are dst and cookie of WAIT, NO_MATCH, REJECT and CANCEL alike.
 * PEER_REQUEST and PEER_ACCEPT likewise; the asking side is the client.
 */
#define VIA_WIRE_O_SEALED	0x1	/* asks for, or grants, checksums */

struct via_wire_conn {
	__be16	vi;			/* sender's VI index */
	__be16	frames;			/* frames its NIC can take in a row */
	__be32	sender_cookie;		/* cookie to use towards the sender */
	__be32	first_seq;		/* of the sender's data frames */
	__be32	mtu;			/* bytes behind the Ethernet header */
	__be32	reliability;
	__be32	max_transfer;
	__be32	rights;
	__be32	timeout_ms;		/* REQUEST: left; all ones: no limit */
	__be32	options;		/* VIA_WIRE_O_* */
	struct via_wire_addr client;
	struct via_wire_addr server;
} __packed;

#define VIA_WIRE_NAME_MAX	64

/* All of via_wire but version and type is zero. */
struct via_wire_name {
	__be32	nonce;			/* the query's, also in the reply */
	__u8	name_len;		/* query: 0 asks all hosts */
	__u8	reserved[3];		/* zero */
	__u8	name[VIA_WIRE_NAME_MAX];
} __packed;

#define VIA_WIRE_SEND_HDR \
	(sizeof(struct via_wire) + sizeof(struct via_wire_data))
#define VIA_WIRE_WRITE_HDR	(VIA_WIRE_SEND_HDR + sizeof(struct via_wire_rdma))
#define VIA_WIRE_ACK_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_ack))
#define VIA_WIRE_CONN_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_conn))
#define VIA_WIRE_NAME_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_name))
/*
 * VIA_WIRE_SEALED: behind the headers lies the CRC32C of the frame without
 * it, padding excluded, as a __be32.  Frames of a connection are sealed if it
 * was agreed upon, all others always.
 */
struct via_wire_seal {
	__be32	crc;
} __packed;

#define VIA_WIRE_SEAL_LEN	((__u32)sizeof(struct via_wire_seal))
/* The header of any frame is in its first so many bytes. */
#define VIA_WIRE_HDR_MAX	(VIA_WIRE_CONN_LEN + VIA_WIRE_SEAL_LEN)

#define VIA_WIRE_MTU_MIN	256u
#define VIA_WIRE_MTU_MAX	65535u
#define VIA_WIRE_FOREVER	0xffffffffu

static_assert(sizeof(struct via_wire) == 20, "wire header");
static_assert(VIA_WIRE_SEND_HDR == 32, "send header");
static_assert(VIA_WIRE_WRITE_HDR == 44, "write header");
static_assert(VIA_WIRE_ACK_LEN == 32, "ack frame");
static_assert(VIA_WIRE_HDR_MAX <= VIA_WIRE_MTU_MIN, "control frames fit");

/* A frame taken apart, in host order. */
struct via_frame_hdr {
	u8 type;
	u8 flags;
	u16 dst;
	u32 len;			/* payload bytes */
	u32 hdr_len;			/* bytes before the payload, seal included */
	u32 cookie;
	u32 seq;
	u32 ack;
	u32 seal;			/* with VIA_WIRE_SEALED */
	union {
		struct {		/* SEND, WRITE, READ, READ_DATA */
			u32 msg_len;
			u32 offset;
			u32 immediate;
			u32 rhandle;
			u64 raddr;
		};
		struct {		/* ACK ... RESET, WAIT ... CANCEL */
			u32 reason;
			u64 sack;
		};
	};
};

/* The body of a connection frame, in host order. */
struct via_conn_hdr {
	u16 vi;
	u16 frames;
	u32 sender_cookie;
	u32 first_seq;
	u32 mtu;
	u32 reliability;
	u32 max_transfer;
	u32 rights;
	u32 timeout_ms;
	u32 options;
	/* lengths are within the bounds above */
	u32 client_host_len, client_disc_len;
	u32 server_host_len, server_disc_len;
	const u8 *client_host, *client_disc;
	const u8 *server_host, *server_disc;
};

/* The body of a name frame, in host order. */
struct via_name_hdr {
	u32 nonce;
	char name[VIA_WIRE_NAME_MAX + 1];	/* zero-terminated */
};

enum via_wire_error {
	VIA_WIRE_OK,
	VIA_WIRE_BAD_VERSION,
	VIA_WIRE_BAD_TYPE,
	VIA_WIRE_BAD_LENGTH,		/* too short, or lengths disagree */
	VIA_WIRE_BAD_FIELD,		/* a value that no sender writes */
};

/*
 * Take a frame apart.  @p has min(@len, VIA_WIRE_HDR_MAX) bytes in a row;
 * @len is the length of the frame behind the Ethernet header, padding
 * included.  Whatever is found, nothing outside is read, and all lengths in
 * @h are consistent with @len and with one another.  Whether a seal is that of
 * the frame is not looked at here.
 */
enum via_wire_error via_wire_parse(const void *p, u32 len,
				   struct via_frame_hdr *h);

/* Frames that are not of a connection that stands. */
static inline bool via_wire_always_sealed(u8 type)
{
	return type >= VIA_WIRE_RESET;
}

/* The body of a frame of which via_wire_has_conn() is true. */
static inline bool via_wire_has_conn(u8 type)
{
	return type == VIA_WIRE_REQUEST || type == VIA_WIRE_ACCEPT ||
	       type == VIA_WIRE_PEER_REQUEST || type == VIA_WIRE_PEER_ACCEPT;
}

enum via_wire_error via_wire_parse_conn(const void *p,
					struct via_conn_hdr *c);

/*
 * The body of a frame that via_wire_parse() found to be NAME_QUERY or
 * NAME_REPLY: the name is of printable characters, without blanks.
 */
enum via_wire_error via_wire_parse_name(const void *p,
					struct via_name_hdr *n);

#endif /* _VIA_WIRE_H */
