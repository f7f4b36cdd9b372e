// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Words that grow, by pages from the kernel: a handler of a fault takes messages. */
#include <string.h>
#include <sys/mman.h>

#include "die.h"
#include "words.h"

#define FIRST	1024u	/* words: a page */

static void grow(struct words *w, size_t room)
{
	uint32_t *p = mmap(NULL, room * sizeof(*p), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("Let all nodes synchronise, by a barrier.",
		    "no memory for %zu bytes of notices", 4 * room);
	if (w->word) {
		memcpy(p, w->word, w->len * sizeof(*p));
		munmap(w->word, w->room * sizeof(*p));
	}
	w->word = p;
	w->room = room;
}

uint32_t *words_room(struct words *w, size_t more)
{
	size_t room = w->room ? w->room : FIRST;

	while (room < w->len + more)
		room *= 2;
	if (room != w->room)
		grow(w, room);
	return w->word + w->len;
}

void words_add(struct words *w, const uint32_t *from, size_t count)
{
	memcpy(words_room(w, count), from, count * sizeof(*from));
	w->len += count;
}

void words_drop(struct words *w, size_t count)
{
	if (!count)
		return;
	w->len -= count;
	memmove(w->word, w->word + count, w->len * sizeof(*w->word));
}

void words_free(struct words *w)
{
	if (w->word)
		munmap(w->word, w->room * sizeof(*w->word));
	memset(w, 0, sizeof(*w));
}
