// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Words that grow. */
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "words.h"

uint32_t *words_room(struct words *w, size_t more)
{
	size_t room = w->room ? w->room : 64;

	while (room < w->len + more)
		room *= 2;
	if (room != w->room) {
		w->word = realloc(w->word, room * sizeof(*w->word));
		if (!w->word)
			die("Let all nodes synchronise, by a barrier.",
			    "no memory for %zu bytes of notices", 4 * room);
		w->room = room;
	}
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
	free(w->word);
	memset(w, 0, sizeof(*w));
}
