/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A transfer: what one descriptor asks for, and how its buffers look before
 * and after. Plain data, so that it travels to the peer as it is.
 */
#ifndef CONFORMANCE_XFER_H
#define CONFORMANCE_XFER_H

#include <vipl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XFER_GUARD	0xa5	/* what buffers hold that must not change */
#define XFER_MARGIN	16	/* guarded bytes on either side of a buffer */

/*
 * The local buffer of @len bytes at @addr is cut into @nseg pieces of unequal
 * length with @gap bytes between them.
 */
struct xfer {
	uint64_t addr;
	uint64_t raddr;		/* RDMA: in the other one's memory */
	uint32_t handle;
	uint32_t rhandle;
	uint32_t len;
	uint32_t seed;		/* of the content */
	uint32_t immediate;
	int32_t len_delta;	/* added to the honest Length */
	uint16_t nseg;
	uint16_t gap;
	uint16_t control;	/* VIP_CONTROL_* */
	int16_t seg_delta;	/* added to the honest SegCount */
};

/* The bytes of a message with this seed, from offset off. */
void pattern(uint8_t *buf, uint32_t seed, size_t off, size_t len);
/* How many of the len bytes at p are not the pattern from off. */
size_t pattern_wrong(const void *p, uint32_t seed, size_t off, size_t len);
/* How many of the len bytes at p are not value. */
size_t bytes_other(const void *p, uint8_t value, size_t len);

/* Bytes from the first to the last of the local buffer. */
size_t xfer_span(const struct xfer *x);
/* Puts guard bytes all over the buffer and its margins. */
void xfer_guard(const struct xfer *x);
/* Guards, then the pattern into the pieces. */
void xfer_fill(const struct xfer *x);
/* Wrong bytes if the first len should be the pattern and all else guard. */
size_t xfer_wrong(const struct xfer *x, size_t len);
/* The rest may hold something of a longer message, that was lost on its way. */
size_t xfer_wrong_after_loss(const struct xfer *x, size_t len);

/* Room for the largest descriptor. */
#define XFER_DESC_SIZE	4096

/* Writes the descriptor; room bytes of it are there. */
void xfer_build(VIP_DESCRIPTOR *d, const struct xfer *x, size_t room);
/*
 * xfer_intact() - has the provider kept to what it may write?
 *
 * SegCount, Control and the segments stay as posted (C17), and nothing is
 * written behind the last segment.
 */
bool xfer_intact(const VIP_DESCRIPTOR *d, const struct xfer *x, size_t room);

#endif
