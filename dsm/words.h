/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DSM_WORDS_H
#define DSM_WORDS_H

#include "node.h"

/* Room for `more` words behind the last; the program ends where there is none. */
uint32_t *words_room(struct words *w, size_t more);
void words_add(struct words *w, const uint32_t *from, size_t count);
void words_drop(struct words *w, size_t count);		/* the first */
void words_free(struct words *w);

#endif
