/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Frames as the switch holds them: places in shared, counted buffers.
 *
 * A frame stays where read() put it, its 4-byte length in front as QEMU's
 * stream protocol has it, so that it goes out again without being touched and
 * neighbours go out as one piece.
 */
#ifndef LAB_FRAME_H
#define LAB_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX	(65536 + 4096)	/* with its length; QEMU's own bound */
#define CHUNK_SIZE	(256 * 1024)

/* A buffer that frames lie in; freed with its last user. */
struct chunk {
	unsigned int refs;
	size_t size;
	size_t used;		/* bytes that read() has filled */
	unsigned char data[];
};

/* One frame on its way out. */
struct frame {
	struct chunk *chunk;
	uint32_t off;		/* of the length word */
	uint32_t len;		/* with the length word */
	uint64_t sent;		/* ns: the rate limit lets its last bit go */
	uint64_t due;		/* ns: it arrives */
};

struct chunk *chunk_new(size_t size);
void chunk_put(struct chunk *chunk);

static inline struct chunk *chunk_get(struct chunk *chunk)
{
	chunk->refs++;
	return chunk;
}

static inline unsigned char *frame_bytes(const struct frame *f)
{
	return f->chunk->data + f->off + 4;
}

/* A copy of its own for a frame that is to be changed. */
int frame_unshare(struct frame *f);

#endif
