// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See barrier.h. */
#include <string.h>

#include "barrier.h"
#include "interval.h"
#include "notes.h"
#include "words.h"

static unsigned int rounds(const struct node *n)
{
	unsigned int r = 0;

	while (1u << r < n->size)
		r++;
	return r;
}

/* Words behind the notices: the join, pages in use, and how they came to be. */
#define TAIL(n)		((n)->size + 2)

/* The receiver applies this in this barrier (9): it has left the one before then,
 * and knows what all knew as they came to that.
 */
static void tell(struct node *n)
{
	struct barrier_state *b = &n->barrier;
	struct dsm_msg last = {
		.type = MSG_BARRIER, .what = b->number, .round = b->round,
		.who = b->last,
	};
	unsigned int to = (n->me + (1u << b->round)) % n->size;
	uint32_t v[DSM_NODES], word[DSM_NODES + 2];
	struct words tail = { .word = word, .len = TAIL(n) };

	memcpy(v, b->before, sizeof(v));
	clock_join(v, n->known[to]);
	memcpy(word, b->join, n->size * sizeof(*word));
	word[n->size] = n->pages.used;
	word[n->size + 1] = n->pages.order;
	notes_send(n, to, v, &last, &tail);
}

/* Nodes that have come in step have allocated the same, or are about to. */
static void compare(struct node *n, const struct barrier_round *in,
		    const uint32_t *allotted)
{
	struct barrier_state *b = &n->barrier;

	n->who = (n->me + n->size - (1u << b->round)) % n->size;
	if (in->last != b->last)
		n->wrong = b->last ? "is in dsm_barrier(), this node in dsm_exit()" :
				     "is in dsm_exit(), this node in dsm_barrier()";
	else if (allotted[0] == n->pages.used && allotted[1] != n->pages.order)
		n->wrong = NODE_ORDER;
}

/* (9) */
static void hear(struct node *n, struct barrier_round *in)
{
	struct barrier_state *b = &n->barrier;
	size_t notes = in->notes.len - TAIL(n);

	compare(n, in, in->notes.word + notes + n->size);
	notes_apply(n, in->notes.word, notes, in->vc);
	for (unsigned int j = 0; j < n->size; j++)
		if (b->join[j] < in->notes.word[notes + j])
			b->join[j] = in->notes.word[notes + j];
	in->arrived = false;
	in->notes.len = 0;
	b->round++;
}

/* All have come here, so all have left the barrier before this one. */
static void leave(struct node *n)
{
	struct barrier_state *b = &n->barrier;

	for (unsigned int j = 0; j < n->size; j++)
		if (j != n->me)
			clock_join(n->known[j], b->before);
	memcpy(b->before, b->join, sizeof(b->before));
	b->number++;
	n->counts.barriers++;
	n->events++;
}

bool barrier_try(struct node *n, int *step)
{
	struct barrier_state *b = &n->barrier;
	struct barrier_round *in;

	if (*step < 2) {
		if (!interval_close(n, step))
			return false;
		memcpy(b->join, n->vc, sizeof(b->join));
		b->round = 0;
		*step = 2;
		if (n->size > 1)
			tell(n);
	}
	while (b->round < rounds(n)) {
		in = &b->in[b->number % 2][b->round];
		if (!in->arrived)
			return false;
		hear(n, in);
		if (b->round < rounds(n))
			tell(n);
	}
	leave(n);
	return true;
}

bool barrier_arrived(struct node *n, const struct dsm_msg *m)
{
	struct words *notes = &n->inbox[m->from];
	struct barrier_round *in;

	if (m->round >= rounds(n) || m->what - n->barrier.number > 1 ||
	    (m->from + (1u << m->round)) % n->size != n->me ||
	    !notes_complete(n, m, TAIL(n)))
		return false;
	in = &n->barrier.in[m->what % 2][m->round];
	if (in->arrived)
		return false;
	in->arrived = true;
	in->last = m->who;
	memcpy(in->vc, m->vc, sizeof(in->vc));
	in->notes.len = 0;
	words_add(&in->notes, notes->word, notes->len);
	notes->len = 0;
	n->events++;
	return true;
}

void barrier_free(struct node *n)
{
	for (int i = 0; i < 2; i++)
		for (int r = 0; r < DSM_ROUNDS; r++)
			words_free(&n->barrier.in[i][r].notes);
}
