// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See notes.h. */
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "notes.h"
#include "page.h"
#include "send.h"
#include "words.h"

#define HEAD		3u	/* words of a record before its runs */
#define RUNS_MOST	512u	/* of a record; it fits into a message */
#define TRIM_AT		4096u	/* words */

void clock_join(uint32_t *to, const uint32_t *from)
{
	for (int i = 0; i < DSM_NODES; i++)
		if (to[i] < from[i])
			to[i] = from[i];
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void notes_publish(struct node *n)
{
	const struct page_table *t = &n->pages;
	struct words *log = &n->log[n->me];
	size_t head = 0;
	uint32_t *w;

	if (!t->noticed_count)
		return;
	qsort(t->noticed, t->noticed_count, sizeof(*t->noticed), by_number);
	n->vc[n->me]++;
	n->counts.intervals++;
	n->counts.notices += t->noticed_count;
	for (uint32_t i = 0; i < t->noticed_count; i++) {
		w = log->word;
		if (i && t->noticed[i] == t->noticed[i - 1] + 1) {
			w[log->len - 1]++;
			continue;
		}
		if (!i || w[head + 2] == RUNS_MOST) {
			head = log->len;
			words_add(log, (uint32_t[]){ n->me, n->vc[n->me], 0 },
				  HEAD);
		}
		words_add(log, (uint32_t[]){ t->noticed[i], 1 }, 2);
		log->word[head + 2]++;
	}
}

static size_t record_len(const uint32_t *w)
{
	return HEAD + 2 * (size_t)w[2];
}

void notes_send(struct node *n, unsigned int to, const uint32_t *v,
		const struct dsm_msg *last, const struct words *tail)
{
	size_t more = tail ? tail->len * sizeof(*tail->word) : 0, bytes, at;
	struct dsm_msg *m = send_begin(n, MSG_NOTES, 0);
	const uint32_t *w;

	for (unsigned int j = 0; j < n->size; j++) {
		for (at = 0; at < n->log[j].len; at += record_len(w)) {
			w = n->log[j].word + at;
			if (w[1] <= v[j]) {
				n->passed += record_len(w);
				continue;
			}
			bytes = record_len(w) * sizeof(*w);
			if (m->len + bytes + more > DSM_DATA) {
				send_msg(n, to, m);
				m = send_begin(n, MSG_NOTES, 0);
			}
			memcpy(m->data + m->len, w, bytes);
			m->len += bytes;
		}
	}
	m->type = last->type;
	m->what = last->what;
	m->round = last->round;
	m->who = last->who;
	if (more)
		memcpy(m->data + m->len, tail->word, more);
	m->len += more;
	send_msg(n, to, m);
}

bool notes_take(struct node *n, const struct dsm_msg *m)
{
	struct words *in = &n->inbox[m->from];
	size_t count = m->len / sizeof(*in->word);

	if (m->len % sizeof(*in->word))
		return false;
	memcpy(words_room(in, count), m->data, m->len);
	in->len += count;
	return true;
}

static bool is_sound(const struct node *n, const uint32_t *w, size_t len)
{
	if (len < HEAD || w[0] >= n->size || w[2] > RUNS_MOST ||
	    record_len(w) > len)
		return false;
	for (size_t i = HEAD; i < record_len(w); i += 2)
		if (w[i] >= n->pages.count || w[i + 1] > n->pages.count - w[i])
			return false;
	return true;
}

bool notes_complete(struct node *n, const struct dsm_msg *m, size_t tail)
{
	const struct words *in = &n->inbox[m->from];
	size_t at = 0;

	if (!notes_take(n, m) || in->len < tail)
		return false;
	while (at < in->len - tail) {
		if (!is_sound(n, in->word + at, in->len - tail - at))
			return false;
		at += record_len(in->word + at);
	}
	return true;
}

/* (2) */
void notes_apply(struct node *n, const uint32_t *word, size_t len,
		 const uint32_t *vc)
{
	const uint32_t *w;

	for (size_t at = 0; at < len; at += record_len(w)) {
		w = word + at;
		if (w[1] <= n->vc[w[0]])
			continue;
		for (size_t i = HEAD; i < record_len(w); i += 2)
			page_invalidate(n, w[i], w[i + 1]);
		words_add(&n->log[w[0]], w, record_len(w));
	}
	clock_join(n->vc, vc);
	batch_send(n);
}

static bool lags(const struct node *n, unsigned int k)
{
	for (unsigned int j = 0; j < n->size; j++)
		if (n->known[k][j] < n->vc[j])
			return true;
	return false;
}

/* A node that does not synchronise learns nothing else, and all logs grow. */
static void tell_slow(struct node *n)
{
	struct dsm_msg last = { .type = MSG_TELL };

	for (unsigned int k = 0; k < n->size; k++) {
		if (k == n->me || n->told & 1u << k || !lags(n, k))
			continue;
		n->told |= 1u << k;
		notes_send(n, k, n->known[k], &last, NULL);
	}
}

void notes_trim(struct node *n)
{
	size_t total = 0, at;
	uint32_t least;

	for (unsigned int j = 0; j < n->size; j++)
		total += n->log[j].len;
	if (total < n->trim_at && n->passed < TRIM_AT)
		return;
	n->passed = 0;
	total = 0;
	for (unsigned int j = 0; j < n->size; j++) {
		least = n->vc[j];
		for (unsigned int k = 0; k < n->size; k++)	/* (3) */
			if (k != n->me && n->known[k][j] < least)
				least = n->known[k][j];
		for (at = 0; at < n->log[j].len &&
		     n->log[j].word[at + 1] <= least;)
			at += record_len(n->log[j].word + at);
		words_drop(&n->log[j], at);
		total += n->log[j].len;
	}
	if (total >= n->tell_at)
		tell_slow(n);
	n->trim_at = 2 * total < TRIM_AT ? TRIM_AT : 2 * total;
}

bool notes_heard(struct node *n, const struct dsm_msg *m)
{
	struct words *in = &n->inbox[m->from];

	if (!notes_complete(n, m, 0))
		return false;
	notes_apply(n, in->word, in->len, m->vc);
	in->len = 0;
	return true;
}

bool notes_told(struct node *n, const struct dsm_msg *m)
{
	if (!notes_heard(n, m))
		return false;
	notes_trim(n);
	send_msg(n, m->from, send_begin(n, MSG_KNOWN, 0));
	return true;
}
