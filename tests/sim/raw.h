/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A host that is nothing but frames: what a scenario says of a connection is
 * what docs/reference/wire.md says, byte by byte.  It acknowledges and answers only when
 * it is told to; but HEARTBEAT it answers: it has the same connections.  There is one NIC beside it, and one connection at a time.
 */
#ifndef SIM_RAW_H
#define SIM_RAW_H

#include "prog.h"
#include "../../devices/ether/proto/wire.h"

#define RAW_FRAME	1600
#define RAW_FRAMES	256		/* kept, until they are looked at */
#define RAW_MTU		1500
#define RAW_EPOCH	1
#define RAW_SEND	(RAW_MTU - (u32)VIA_WIRE_SEND_HDR)

struct raw_frame {
	u32 len;			/* Ethernet header included */
	u8 data[RAW_FRAME];
};

struct raw_host {
	u8 mac[ETH_ALEN];
	struct sim_nic *nic;		/* what it talks to */
	u32 vi, remote_id;
	u64 cookie, remote_cookie;
	u32 seq;			/* of its next data frame */
	u32 ack;			/* of the next one of the NIC's */
	u32 level;
	u32 options;			/* of REQUEST and ACCEPT */
	struct raw_frame *frames;	/* that came for it, or for others */
	u32 head, tail;
	struct list_head waiting;	/* for the next one */
	struct sim_event *limit;
	bool mute;			/* it does not answer HEARTBEAT */
	/* Looks at each frame as it leaves the NIC; true: all is done. */
	bool (*answer)(struct raw_host *r, const struct raw_frame *f);
};

/* From here on it has each frame that the wire carries. */
void raw_begin(struct raw_host *r, struct sim_nic *nic, u8 n);
void raw_end(struct raw_host *r);
/* The next frame, within @ns; or NULL.  Its contents stay for a while. */
const struct raw_frame *raw_next(struct raw_host *r, u64 ns);
/* The next one of that type: those before it are forgotten. */
const struct raw_frame *raw_await(struct raw_host *r, u8 type, u64 ns);
void raw_forget(struct raw_host *r);

const struct via_wire *raw_wire(const struct raw_frame *f);
const struct via_wire_data *raw_data_of(const struct raw_frame *f);
const struct via_wire_ack *raw_ack_of(const struct raw_frame *f);
const struct via_wire_end *raw_end_of(const struct raw_frame *f);
u32 raw_acked(const struct raw_frame *f);	/* of ACK, or data */
u64 raw_sack(const struct raw_frame *f);
const struct via_wire_conn *raw_conn_of(const struct raw_frame *f);
const u8 *raw_payload(const struct raw_frame *f);	/* of SEND, READ_DATA */

/* What a data frame says. */
struct raw_data {
	u8 type, flags;
	u32 seq;
	u32 msg_len, offset, immediate;
	u16 reads;
	u64 raddr;
	u32 rhandle;
	const void *payload;
	u32 len;
	u32 train;			/* bytes of each frame; 0: it is one frame */
};

void raw_send_data(struct raw_host *r, const struct raw_data *d);
/* The next message, or all that fits into its first frame. */
void raw_send(struct raw_host *r, const void *p, u32 len);
/* On the connection that stands: it has what has come, and no more. */
void raw_send_ack(struct raw_host *r, u8 flags);
/* DISCONNECT, or RESET of what names the other end. */
void raw_send_end(struct raw_host *r, u8 type, u32 seq, u32 ack);
/* HEARTBEAT_ACK: it has the connections that HEARTBEAT told of. */
void raw_send_heartbeat(struct raw_host *r, const struct raw_frame *heartbeat);
/* WAIT, REFUSE, CONFIRM, CANCEL. */
void raw_send_answer(struct raw_host *r, u8 type, u32 reason);
/* As a client of the server @disc: REQUEST, and CONFIRM if @confirm. */
bool raw_connect(struct raw_host *r, const char *disc, bool confirm);
/* REQUEST alone, the same one each time. */
void raw_request(struct raw_host *r, const char *disc);
/* The other end, by its (PEER_)REQUEST or ACCEPT. */
void raw_know(struct raw_host *r, const struct raw_frame *f);
/* ACCEPT of a REQUEST that came; or REFUSE, with a reply. */
void raw_accept(struct raw_host *r, const struct raw_frame *request);
void raw_refuse(struct raw_host *r, const struct raw_frame *request,
		const void *reply, u32 len);

#endif
