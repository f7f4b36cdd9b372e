// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Files that a child of fork() must not keep.
 *
 * A bit for each number, in chunks that come when they are needed and stay.
 * Bits are set after a file is opened and cleared before it is closed: a fork
 * in between leaves the child one file too many, never one of the program's
 * too few.
 */
#include "link.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK_BITS	4096
#define CHUNK_WORDS	(CHUNK_BITS / 64)
#define CHUNKS		1024		/* 4 million files */

struct chunk {
	_Atomic uint64_t word[CHUNK_WORDS];
};

static _Atomic(struct chunk *) chunks[CHUNKS];

static struct chunk *chunk_of(int fd)
{
	unsigned int i = (unsigned int)fd / CHUNK_BITS;
	struct chunk *c, *fresh;

	if (fd < 0 || i >= CHUNKS)
		return NULL;
	c = atomic_load(&chunks[i]);
	if (c)
		return c;
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return NULL;
	if (atomic_compare_exchange_strong(&chunks[i], &c, fresh))
		return fresh;
	free(fresh);
	return c;
}

int link_file_keep(int fd)
{
	struct chunk *c = chunk_of(fd);

	if (!c)
		return -ENOMEM;
	atomic_fetch_or(&c->word[fd % CHUNK_BITS / 64],
			(uint64_t)1 << fd % 64);
	return 0;
}

/* Before the close: the number may be another file's then. */
static void link_file_forget(int fd)
{
	struct chunk *c;

	if (fd < 0 || fd / CHUNK_BITS >= CHUNKS)
		return;
	c = atomic_load(&chunks[fd / CHUNK_BITS]);
	if (c)
		atomic_fetch_and(&c->word[fd % CHUNK_BITS / 64],
				 ~((uint64_t)1 << fd % 64));
}

void link_file_close(int fd)
{
	if (fd < 0)
		return;
	link_file_forget(fd);
	close(fd);
}

void link_fork_child(void)
{
	unsigned int i, j, bit;
	struct chunk *c;
	uint64_t w;

	for (i = 0; i < CHUNKS; i++) {
		c = atomic_load(&chunks[i]);
		if (!c)
			continue;
		for (j = 0; j < CHUNK_WORDS; j++) {
			w = atomic_exchange(&c->word[j], 0);
			while (w) {
				bit = (unsigned int)__builtin_ctzll(w);
				w &= w - 1;
				close((int)(i * CHUNK_BITS + j * 64 + bit));
			}
		}
	}
}
