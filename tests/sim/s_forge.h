/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Frames that a scenario makes up, and what it sees of others on the wire. */
#ifndef SIM_FORGE_H
#define SIM_FORGE_H

#include "prog.h"
#include "../../devices/ether/proto/wire.h"

#define FORGED_MAX	(ETH_HLEN + VIA_WIRE_HDR_MAX)

/* A frame of the Ethernet class in the making; @len with the header. */
struct forged {
	u8 data[FORGED_MAX];
	u32 len;
	bool unproven;			/* its sender was not told a token */
};

static inline struct via_wire *forged_wire(u8 *frame)
{
	return (struct via_wire *)(frame + ETH_HLEN);
}

static inline struct via_wire_data *forged_data(u8 *frame)
{
	return (struct via_wire_data *)(forged_wire(frame) + 1);
}

static inline struct via_wire_end *forged_end(u8 *frame)
{
	return (struct via_wire_end *)(forged_wire(frame) + 1);
}

static inline struct via_wire_answer *forged_answer(u8 *frame)
{
	return (struct via_wire_answer *)(forged_wire(frame) + 1);
}

static inline struct via_wire_hello *forged_hello(u8 *frame)
{
	return (struct via_wire_hello *)(forged_wire(frame) + 1);
}

static inline struct via_wire_conn *forged_conn(u8 *frame)
{
	return (struct via_wire_conn *)(forged_hello(frame) + 1);
}

/* Zeros but for the addresses, the version and @type. */
void forge(struct forged *f, const u8 *from, const u8 *to, u8 type);
/* A REQUEST, or another frame with the same body, that is right. */
void forge_conn(struct forged *f, const u8 *from, const u8 *to, u8 type,
		const char *disc, u32 vi, u64 cookie);
/* WAIT, REFUSE, CONFIRM or CANCEL of what these name. */
void forge_answer(struct forged *f, const u8 *from, const u8 *to, u8 type,
		  u32 vi, u64 cookie);
/* ACKS with so many entries, which are to be filled in. */
struct via_wire_acks_entry *forge_acks(struct forged *f, const u8 *from,
				       const u8 *to, u64 epoch, u32 count);
/* An address of one that is no NIC here. */
void forge_host(u8 *mac, u32 n);
/* With the seal that it must have, to @to. */
void forge_throw(struct forged *f, struct sim_nic *to);

#endif
