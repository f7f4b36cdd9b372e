/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands on the wire behind the link header; docs/reference/wire.md explains
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

#include "range.h"

#define VIA_WIRE_ETHERTYPE	0x88b5	/* IEEE local experimental 1 */
#define VIA_WIRE_VERSION	2	/* the highest that this host speaks */
#define VIA_WIRE_VERSION_MIN	2	/* and the lowest */

/*
 * Types.  Those up to DISCONNECT, VERSION aside, belong to a connection: dst
 * is the receiver's VI.  (PEER_)REQUEST has its sender's there, which CHALLENGE
 * gives back; dst of all others is 0.  0x05..0x07 are kept for more of RDMA
 * Read.
 */
#define VIA_WIRE_VERSIONS	0x00	/* via_wire_version, of any version */
#define VIA_WIRE_SEND		0x01	/* via_wire, _data, payload */
#define VIA_WIRE_WRITE		0x02	/* via_wire, _data, _rdma, payload */
#define VIA_WIRE_READ		0x03	/* via_wire, _data, _rdma: no payload */
#define VIA_WIRE_READ_DATA	0x04	/* via_wire, _data, payload */
#define VIA_WIRE_ACK		0x08	/* via_wire, _ack, ranges */
#define VIA_WIRE_DISCONNECT	0x09	/* via_wire, _end */
#define VIA_WIRE_DISCONNECT_ACK	0x0a	/* via_wire, _end */
#define VIA_WIRE_RESET		0x0b	/* via_wire, _end */
#define VIA_WIRE_REQUEST	0x10	/* via_wire, _hello, _conn */
#define VIA_WIRE_CHALLENGE	0x11	/* via_wire, _hello */
#define VIA_WIRE_WAIT		0x12	/* via_wire, _answer */
#define VIA_WIRE_REFUSE		0x13	/* via_wire, _answer, reply */
#define VIA_WIRE_ACCEPT		0x14	/* via_wire, _hello, _conn */
#define VIA_WIRE_CONFIRM	0x15	/* via_wire, _answer */
#define VIA_WIRE_CANCEL		0x16	/* via_wire, _answer */
#define VIA_WIRE_PEER_REQUEST	0x17	/* via_wire, _hello, _conn */
#define VIA_WIRE_PEER_ACCEPT	0x18	/* via_wire, _hello, _conn */
#define VIA_WIRE_HEARTBEAT	0x20	/* via_wire, _beat */
#define VIA_WIRE_HEARTBEAT_ACK		0x21	/* via_wire, _beat: the answer */
#define VIA_WIRE_ACKS		0x22	/* via_wire, _acks, entries */
#define VIA_WIRE_LIST		0x23	/* via_wire, _list, cookies */
#define VIA_WIRE_SHAPE		0x28	/* via_wire: of via_udp alone, see shape.h */
#define VIA_WIRE_NAME_QUERY	0x30	/* via_wire, _name; may be broadcast */
#define VIA_WIRE_NAME_REPLY	0x31	/* via_wire, _name */

/* Flags. */
#define VIA_WIRE_PUSH		0x01	/* nothing more follows at the moment */
#define VIA_WIRE_IMMEDIATE	0x02	/* the message carries immediate data */
#define VIA_WIRE_ACK_NOW	0x04	/* acknowledge at once */
#define VIA_WIRE_SUM		0x08	/* a checksum follows the headers */
#define VIA_WIRE_AUTH		0x10	/* an authenticator follows the headers */
/* A tail probe: answer at once; with PUSH: the sender asks if no answer comes. */
#define VIA_WIRE_PROBE		0x20
#define VIA_WIRE_DSACK		0x40	/* ACK: @dsack holds */
#define VIA_WIRE_FLAGS		0x7f
#define VIA_WIRE_SEALS		(VIA_WIRE_SUM | VIA_WIRE_AUTH)
/* Those that a frame with data may have, an ACK, and any other frame. */
#define VIA_WIRE_FLAGS_DATA	0x3f
#define VIA_WIRE_FLAGS_ACK	0x7c
#define VIA_WIRE_FLAGS_OTHER	0x18

/* Notes, in @reads of SEND, of one consumer in the kernel for another. */
#define VIA_WIRE_N_SOLICITED	0x1	/* wake the receiver */
#define VIA_WIRE_N_INVALIDATE	0x2	/* @immediate is a handle to invalidate */
#define VIA_WIRE_NOTES		0x3

/* Marks. */
#define VIA_WIRE_CE		0x01	/* echo of Congestion Experienced */
#define VIA_WIRE_MARKS		0x01

/* Why a connection ended (DISCONNECT). */
#define VIA_WIRE_R_CLOSED	0	/* the program, or its death */
#define VIA_WIRE_R_NO_RECEIVE	1	/* no receive was posted */
#define VIA_WIRE_R_RECEIVE	2	/* the posted receive was in error */
#define VIA_WIRE_R_RDMA		3	/* an RDMA Write was refused */
#define VIA_WIRE_R_PROTOCOL	4	/* frames made no sense */
#define VIA_WIRE_R_TRANSPORT	5	/* retries exhausted, or local error */
#define VIA_WIRE_R_LINK		6	/* the interface went down */
#define VIA_WIRE_R_READ		7	/* an RDMA Read was refused */
#define VIA_WIRE_R_MTU_REDUCED	8	/* the interface's MTU was lowered */
#define VIA_WIRE_R_ENDS		9	/* so many are there */

/* Why there is no connection (REFUSE). */
#define VIA_WIRE_R_NO_MATCH	1	/* no server waits there */
#define VIA_WIRE_R_REJECT	2	/* the server's program, or its death */
#define VIA_WIRE_R_LEVEL	3	/* to PEER_ACCEPT: levels differ */
#define VIA_WIRE_R_MTU		4	/* MaxTransferSizes differ */
#define VIA_WIRE_R_QOS		5
#define VIA_WIRE_R_REFUSE_MAX	5

struct via_wire {
	__u8	version;
	__u8	type;
	__u8	flags;
	__u8	marks;
	__be32	dst;			/* VI id: see via_wire_has_dst() */
	__be64	cookie;			/* of a connection or a request */
} __packed;

#define VIA_WIRE_QUOTE		12	/* bytes */

/* Sent by a host of any version, about a frame of any version. */
struct via_wire_version {
	__u8	version;		/* highest that the sender speaks */
	__u8	type;			/* 0 */
	__u8	lowest;			/* and the lowest */
	__u8	about;			/* version of the frame it answers */
	__u8	quote[VIA_WIRE_QUOTE];	/* first bytes of that */
} __packed;

struct via_wire_data {
	__be32	seq;			/* of this frame */
	__be32	ack;			/* next sequence number expected */
	__be32	msg_len;		/* bytes of the whole message */
	__be32	offset;			/* of the payload in the message */
	__be16	len;			/* payload bytes; padding is beyond */
	__be16	reads;			/* READ_DATA: low bits of READ's seq; SEND: notes */
	__be32	immediate;
} __packed;

struct via_wire_rdma {
	__be64	raddr;			/* where byte 0 goes, or comes from */
	__be32	rhandle;
	__be32	zero;
} __packed;

#define VIA_WIRE_RANGES_MAX	32
#define VIA_WIRE_DELAY_US	16	/* unit of @delay */
#define VIA_WIRE_DELAY_MAX	255	/* as long or longer, or not measured */

/* Frames that have arrived out of order. */
struct via_wire_range {
	__be16	start;			/* 0: ack + 1 */
	__be16	count;			/* not 0 */
} __packed;

struct via_wire_ack {
	__be32	ack;
	__be32	dsack;			/* with DSACK: came twice */
	__u8	n;			/* ranges behind it */
	__u8	delay;			/* of this answer */
	__be16	share;			/* sixteenths of a frame; 0: no bound */
	__be32	zero;
} __packed;

struct via_wire_end {
	__be32	seq;			/* RESET: of the frame it answers */
	__be32	ack;
	__be32	reason;			/* DISCONNECT: VIA_WIRE_R_* */
	__be32	src;			/* VI id; see docs/reference/wire.md */
} __packed;

/* What hosts tell of themselves before they know one another. */
struct via_wire_hello {
	__be64	epoch;			/* of the sender's NIC, not 0 */
	__be64	token;			/* 0: none */
	__be32	frames;			/* its NIC can take in a row */
	__be32	mtu;			/* bytes behind the link header */
	__be64	nonce;			/* of a session; 0: without a key */
} __packed;

struct via_wire_heartbeat {
	__be64	epoch;
	__be64	token;
	__be64	time;			/* the sender's; HEARTBEAT_ACK: HEARTBEAT's */
	__be32	connections;		/* that stand between the two */
	__be32	digest;			/* of their cookies */
} __packed;

/* About the request, or the ACCEPT, that the header's cookie names. */
struct via_wire_answer {
	__be32	vi;			/* the id that goes with the cookie */
	__be32	reason;			/* REFUSE: VIA_WIRE_R_*, else zero */
	__u8	len;			/* REFUSE: bytes of a reply behind it */
	__u8	zero[7];
} __packed;

#define VIA_WIRE_HOST_MAX	16	/* bytes of an address */
#define VIA_WIRE_HOST_ROOM	20
#define VIA_WIRE_DISC_MAX	64

struct via_wire_addr {
	__u8	host_len;
	__u8	disc_len;
	__be16	zero;
	__u8	host[VIA_WIRE_HOST_ROOM];
	__u8	disc[VIA_WIRE_DISC_MAX];
} __packed;

#define VIA_WIRE_O_SUM		0x1	/* asks for, or grants, checksums */
/* REQUEST: takes a reply.  ACCEPT: the discriminators are one. */
#define VIA_WIRE_O_REPLY	0x2
#define VIA_WIRE_O_NOTES	0x4	/* takes SENDs with notes; ACCEPT: both do */
#define VIA_WIRE_OPTIONS	0x7
#define VIA_WIRE_REPLY_MAX	(2 * VIA_WIRE_DISC_MAX)

/*
 * Until the connection stands the client's address, VI id and cookie name the
 * request.  PEER_REQUEST and PEER_ACCEPT likewise; the asking side is the
 * client.
 */
struct via_wire_conn {
	__be32	vi;			/* sender's VI id */
	__be32	to;			/* ACCEPT: receiver's; REQUEST: 0 */
	__be64	sender_cookie;		/* cookie to use towards the sender */
	__be32	first_seq;		/* of the sender's data frames */
	__be32	reliability;
	__be32	max_transfer;
	__be32	rights;
	__be32	timeout_ms;		/* REQUEST: left; all ones: no limit */
	__be32	options;		/* VIA_WIRE_O_* */
	struct via_wire_addr client;
	struct via_wire_addr server;
} __packed;

/* Several acknowledgements; each entry has the ranges behind it. */
struct via_wire_acks {
	__be16	count;			/* of entries, not 0 */
	__u8	zero[6];
} __packed;

struct via_wire_acks_entry {
	__be32	dst;
	__be32	ack;
	__be64	cookie;
	__u8	n;
	__u8	delay;			/* as in via_wire_ack */
	__u8	zero[6];
} __packed;

/* Receiver's cookies of all connections with one of @low to @high. */
struct via_wire_list {
	__be16	count;
	__u8	zero[6];
	__be64	low;
	__be64	high;
} __packed;

/* Frames may lie at any address. */
struct via_wire_cookie {
	__be64	cookie;
} __packed;

#define VIA_WIRE_LIST_MAX	28	/* cookies of one LIST */
#define VIA_WIRE_NAME_MAX	64

/* dst and cookie are zero. */
struct via_wire_name {
	__be32	nonce;			/* the query's, also in the reply */
	__u8	name_len;		/* query: 0 asks all hosts */
	__u8	zero[3];
	__u8	name[VIA_WIRE_NAME_MAX];
} __packed;

/*
 * VIA_WIRE_SUM: behind the headers lies the CRC32C of the frame without
 * it, padding excluded, as a __be32.  Frames of a connection have one if it
 * was agreed upon, all others but VERSION always.
 */
struct via_wire_seal {
	__be32	crc;
} __packed;

/* VIA_WIRE_AUTH: the same place, and no checksum beside it. */
struct via_wire_auth {
	__be64	counter;
	__u8	tag[16];
} __packed;

#define VIA_WIRE_SEND_HDR \
	(sizeof(struct via_wire) + sizeof(struct via_wire_data))
#define VIA_WIRE_WRITE_HDR	(VIA_WIRE_SEND_HDR + sizeof(struct via_wire_rdma))
#define VIA_WIRE_ACK_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_ack))
#define VIA_WIRE_END_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_end))
#define VIA_WIRE_HELLO_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_hello))
#define VIA_WIRE_HEARTBEAT_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_heartbeat))
#define VIA_WIRE_ANSWER_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_answer))
#define VIA_WIRE_CONN_LEN	(VIA_WIRE_HELLO_LEN + sizeof(struct via_wire_conn))
#define VIA_WIRE_ACKS_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_acks))
#define VIA_WIRE_LIST_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_list))
#define VIA_WIRE_NAME_LEN \
	(sizeof(struct via_wire) + sizeof(struct via_wire_name))
#define VIA_WIRE_VERSION_LEN	sizeof(struct via_wire_version)
#define VIA_WIRE_SEAL_LEN	((__u32)sizeof(struct via_wire_seal))
#define VIA_WIRE_AUTH_LEN	((__u32)sizeof(struct via_wire_auth))
/* No frame without payload is longer than this, and what follows it. */
#define VIA_WIRE_BODY_MAX	VIA_WIRE_CONN_LEN
/* The header of any frame is in its first so many bytes. */
#define VIA_WIRE_HDR_MAX	(VIA_WIRE_BODY_MAX + VIA_WIRE_AUTH_LEN)

#define VIA_WIRE_MTU_MIN	320u
#define VIA_WIRE_MTU_MAX	65535u
#define VIA_WIRE_FOREVER	0xffffffffu

static_assert(sizeof(struct via_wire) == 16, "wire header");
static_assert(VIA_WIRE_VERSION_LEN == 16, "version frame");
static_assert(VIA_WIRE_SEND_HDR == 40, "send header");
static_assert(VIA_WIRE_WRITE_HDR == 56, "write header");
static_assert(VIA_WIRE_ACK_LEN == 32, "ack frame");
static_assert(VIA_WIRE_END_LEN == 32, "end frame");
static_assert(VIA_WIRE_HELLO_LEN == 48, "challenge frame");
static_assert(VIA_WIRE_HEARTBEAT_LEN == 48, "beat frame");
static_assert(VIA_WIRE_ANSWER_LEN == 32, "answer frame");
static_assert(VIA_WIRE_CONN_LEN == 264, "request frame");
static_assert(sizeof(struct via_wire_acks_entry) == 24, "entry of acks");
static_assert(VIA_WIRE_LIST_LEN + 8 * VIA_WIRE_LIST_MAX <= VIA_WIRE_BODY_MAX,
	      "list frames fit");
static_assert(VIA_WIRE_ANSWER_LEN + VIA_WIRE_REPLY_MAX <= VIA_WIRE_BODY_MAX,
	      "a reply fits");
static_assert(VIA_WIRE_HDR_MAX <= VIA_WIRE_MTU_MIN, "control frames fit");

/* A frame taken apart, in host order. */
struct via_frame_hdr {
	u8 type;
	u8 flags;
	u8 marks;
	u8 nranges;			/* ACK */
	bool paid;			/* a token for its CHALLENGE was taken */
	u32 dst;
	u64 cookie;
	u32 len;			/* payload bytes */
	u32 frames;			/* of a train; else 1: the receiver's */
	u32 hdr_len;			/* bytes before the payload, seal included */
	u32 seq;			/* data, end */
	u32 ack;			/* data, end, ACK */
	u32 seal;			/* with VIA_WIRE_SUM */
	union {
		struct {		/* SEND, WRITE, READ, READ_DATA */
			u32 msg_len;
			u32 offset;
			u32 immediate;
			u32 rhandle;
			u64 raddr;
			u16 reads;	/* READ_DATA, SEND */
		};
		struct {		/* ACK */
			u32 dsack;	/* with VIA_WIRE_DSACK */
			u16 share;
			u8 delay;
			const struct via_wire_range *range;
		};
		struct {		/* end: src; answer: vi */
			u32 reason;
			u32 src;
			u32 vi;
			u32 reply_len;	/* REFUSE */
			const u8 *reply;
		};
		struct {		/* VERSION */
			u8 lowest;
			u8 highest;
			u8 about;
			const u8 *quote;
		};
	};
};

/* A hello, in host order. */
struct via_hello_hdr {
	u64 epoch;
	u64 token;
	u32 frames;
	u32 mtu;
	u64 nonce;
};

/* The body of a connection frame, in host order. */
struct via_conn_hdr {
	struct via_hello_hdr hello;
	u32 vi;
	u32 to;
	u64 sender_cookie;
	u32 first_seq;
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

/* The body of HEARTBEAT and HEARTBEAT_ACK, in host order. */
struct via_heartbeat_hdr {
	u64 epoch;
	u64 token;
	u64 time;
	u32 connections;
	u32 digest;
};

/* One entry of ACKS. */
struct via_acks_entry {
	u32 dst;
	u32 ack;
	u64 cookie;
	u32 delay;
	u32 nranges;
	const struct via_wire_range *range;
};

/* How far in ACKS: entries, and their bytes. */
struct via_acks_at {
	u32 entry;
	u32 bytes;
};

/* The body of LIST; the cookies rise. */
struct via_list_hdr {
	u64 low;
	u64 high;
	u32 count;
	const struct via_wire_cookie *at;
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
 * @h are consistent with @len and with one another; pointers in @h are into
 * @p.  Whether a seal is that of the frame is not looked at here.
 */
enum via_wire_error via_wire_parse(const void *p, u32 len,
				   struct via_frame_hdr *h);

/* Frames that are not of a connection that stands; but for VERSION. */
static inline bool via_wire_always_sealed(u8 type)
{
	return type >= VIA_WIRE_DISCONNECT_ACK;
}

/* Those that say that a connection is over, or is not there. */
static inline bool via_wire_ends(u8 type)
{
	return type >= VIA_WIRE_DISCONNECT && type <= VIA_WIRE_RESET;
}

/* Bytes of headers of a frame of data without a seal; 0: it is none. */
static inline u32 via_wire_data_hdr(u8 type)
{
	if (type == VIA_WIRE_SEND || type == VIA_WIRE_READ_DATA)
		return VIA_WIRE_SEND_HDR;
	return type == VIA_WIRE_WRITE ? VIA_WIRE_WRITE_HDR : 0;
}

/* The same of a frame of which @size bytes are here; 0, too: they are too few. */
static inline u32 via_wire_data_hdr_in(const struct via_wire *w, u32 size)
{
	u32 hdr = size < sizeof(*w) ? 0 : via_wire_data_hdr(w->type);

	return hdr <= size ? hdr : 0;
}

/* Frames of a train, at most. */
#define VIA_WIRE_TRAIN		64u

/*
 * A train is several frames of one message behind one another that have one header,
 * which is that of the first one, but that its flags ask for what the last one is to
 * ask for.  Each carries @seg bytes, but the last one, which may carry fewer.
 *
 * Take it apart: @p is a copy of the header; make it that of the @k-th frame behind
 * the first, which carries @len bytes.
 */
void via_wire_cut(void *p, u32 k, u32 seg, u32 len, bool last);
/* A frame of @len bytes, @h, is a train: @h is of all of it.  False: it is none. */
bool via_wire_join(struct via_frame_hdr *h, u32 len, u32 seg);
/* Frame @k of the train @h: @one. */
void via_wire_one_of(const struct via_frame_hdr *h, u32 seg, u32 k,
		     struct via_frame_hdr *one);

/* Bytes behind the headers for one of VIA_WIRE_SEALS, or none. */
static inline u32 via_wire_seal_len(u8 seal)
{
	if (seal & VIA_WIRE_AUTH)
		return VIA_WIRE_AUTH_LEN;
	return seal & VIA_WIRE_SUM ? VIA_WIRE_SEAL_LEN : 0;
}

/* Those whose dst names a VI: the receiver's, or the one that asks. */
static inline bool via_wire_has_dst(u8 type)
{
	return type <= VIA_WIRE_DISCONNECT || type == VIA_WIRE_REQUEST ||
	       type == VIA_WIRE_PEER_REQUEST || type == VIA_WIRE_CHALLENGE;
}

/* The body of a frame of which via_wire_has_conn() is true. */
static inline bool via_wire_has_conn(u8 type)
{
	return type == VIA_WIRE_REQUEST || type == VIA_WIRE_ACCEPT ||
	       type == VIA_WIRE_PEER_REQUEST || type == VIA_WIRE_PEER_ACCEPT;
}

/* Those that ask for a connection. */
static inline bool via_wire_asks(u8 type)
{
	return type == VIA_WIRE_REQUEST || type == VIA_WIRE_PEER_REQUEST;
}

enum via_wire_error via_wire_parse_conn(const void *p,
					struct via_conn_hdr *c);

/* The hello of such a frame, or of CHALLENGE. */
enum via_wire_error via_wire_parse_hello(const void *p,
					 struct via_hello_hdr *e);

/*
 * The body of a frame that via_wire_parse() found to be HEARTBEAT or HEARTBEAT_ACK,
 * LIST, NAME_QUERY or NAME_REPLY: the name is of printable characters, without
 * blanks.
 */
enum via_wire_error via_wire_parse_heartbeat(const void *p, struct via_heartbeat_hdr *b);
enum via_wire_error via_wire_parse_list(const void *p, struct via_list_hdr *l);
enum via_wire_error via_wire_parse_name(const void *p,
					struct via_name_hdr *n);

/*
 * The next entry of a frame that via_wire_parse() found to be ACKS; @at is all
 * zero at first.  False: there is none.
 */
bool via_wire_next_acks(const void *p, struct via_acks_at *at,
			struct via_acks_entry *e);

/* @n ranges of a frame that was parsed, in host order, and as they go out. */
void via_wire_get_ranges(const struct via_wire_range *w, u32 n,
			 struct via_range *range);
void via_wire_put_ranges(struct via_wire_range *w, u32 n,
			 const struct via_range *range);

#endif /* _VIA_WIRE_H */
