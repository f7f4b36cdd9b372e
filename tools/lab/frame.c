// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "frame.h"

#include <stdlib.h>
#include <string.h>

#define POOL	32

static struct chunk *pool[POOL];
static int pooled;

struct chunk *chunk_new(size_t size)
{
	struct chunk *chunk;

	if (size == CHUNK_SIZE && pooled)
		chunk = pool[--pooled];
	else
		chunk = malloc(sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->refs = 1;
	chunk->size = size;
	chunk->used = 0;
	return chunk;
}

void chunk_put(struct chunk *chunk)
{
	if (--chunk->refs)
		return;
	if (chunk->size == CHUNK_SIZE && pooled < POOL)
		pool[pooled++] = chunk;
	else
		free(chunk);
}

int frame_unshare(struct frame *f)
{
	struct chunk *own = chunk_new(f->len);

	if (!own)
		return -1;
	memcpy(own->data, f->chunk->data + f->off, f->len);
	own->used = f->len;
	chunk_put(f->chunk);
	f->chunk = own;
	f->off = 0;
	return 0;
}
