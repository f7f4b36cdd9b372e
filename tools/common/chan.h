/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_CHAN_H
#define TOOLS_CHAN_H

#include <stdbool.h>
#include <stdint.h>
#include <vipl.h>

#include "nic.h"
#include "opts.h"

/*
 * A channel: one VI with its descriptors and buffers. Descriptors and buffers
 * are used in turn. Counters run freely.
 */
struct chan_config {
	unsigned int	level;		/* VIP_SERVICE_* */
	uint32_t	max_transfer;	/* bytes; both ends must agree */
	uint32_t	tx, rx;		/* descriptors */
	uint32_t	buf_len;	/* bytes of one buffer */
	bool		share;		/* all descriptors use one buffer */
	VIP_CQ_HANDLE	cq;		/* NULL: none */
};

struct chan {
	struct nic	*nic;
	VIP_VI_HANDLE	vi;
	struct chan_config cfg;
	struct region	mem;
	VIP_DESCRIPTOR	*sd, *rd;
	unsigned char	*sbuf, *rbuf;
	uint32_t	sposted, sdone;
	uint32_t	rposted, rdone;
};

/* Where a peer's RDMA Writes go. */
struct remote_buf {
	uint64_t	addr;
	uint32_t	handle;
};

void chan_init(struct chan *ch, struct nic *nic, const struct chan_config *c);
void chan_fini(struct chan *ch);

/* Make all send descriptors ready for one kind of message. */
void chan_prepare(struct chan *ch, enum test_op op, uint32_t size,
		  const struct remote_buf *to);

void chan_fill_recvs(struct chan *ch);

/* Ends the program with what happened to the descriptor or connection. */
void chan_fail(const struct chan *ch, const char *what, VIP_RETURN rc,
	       const VIP_DESCRIPTOR *d) __attribute__((noreturn));

/* A message of its own making, aside from what chan_prepare() made ready. */
void chan_send_msg(struct chan *ch, const void *data, uint32_t len,
		   bool has_imm, uint32_t imm);

/* Wait until at least one send is done, and take all that are. */
void chan_reap_wait(struct chan *ch);

/*
 * Wait until no send is in flight, whatever became of it: the peer may have
 * disconnected. Returns after 20 s at the latest.
 */
void chan_settle(struct chan *ch);

/* Take the head of a queue: NULL if nothing is complete. */
VIP_DESCRIPTOR *chan_send_done(struct chan *ch);
VIP_DESCRIPTOR *chan_recv_done(struct chan *ch);

/* Block; NULL after the timeout. */
VIP_DESCRIPTOR *chan_recv_wait(struct chan *ch, uint32_t timeout_ms);

/*
 * With a receive posted: wait for the peer to end the connection and make the
 * VI Idle again. Non-zero if it does not within ten seconds.
 */
int chan_wait_lost(struct chan *ch);

static inline uint32_t chan_inflight(const struct chan *ch)
{
	return ch->sposted - ch->sdone;
}

static inline VIP_DESCRIPTOR *chan_next_send(struct chan *ch)
{
	return &ch->sd[ch->sposted & (ch->cfg.tx - 1)];
}

static inline unsigned char *chan_recv_buf(const struct chan *ch,
					   const VIP_DESCRIPTOR *d)
{
	return d->CS.SegCount ? d->DS[0].Local.Data.Address : ch->rbuf;
}

static inline void chan_post_send(struct chan *ch)
{
	VIP_DESCRIPTOR *d = chan_next_send(ch);
	VIP_RETURN rc = VipPostSend(ch->vi, d, ch->mem.handle);

	if (__builtin_expect(rc != VIP_SUCCESS, 0))
		chan_fail(ch, "VipPostSend", rc, NULL);
	ch->sposted++;
}

static inline void chan_post_recv(struct chan *ch)
{
	VIP_DESCRIPTOR *d = &ch->rd[ch->rposted & (ch->cfg.rx - 1)];
	VIP_RETURN rc;

	d->CS.Length = ch->cfg.buf_len;
	rc = VipPostRecv(ch->vi, d, ch->mem.handle);
	if (__builtin_expect(rc != VIP_SUCCESS, 0))
		chan_fail(ch, "VipPostRecv", rc, NULL);
	ch->rposted++;
}

#endif
