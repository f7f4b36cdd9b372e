// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See page.h, and the table and invariants in node.h. */
#include <string.h>

#include "batch.h"
#include "page.h"
#include "send.h"

#define AHEAD_MOST	7u	/* with the first, as many as a link reads at a time */

/* Pages that follow one another are protected by one call. */
struct page_run {
	uint32_t first, count;
	enum page_view view;
};

static void run_end(struct node *n, struct page_run *run)
{
	if (run->count)
		n->ops->protect(n->context, run->first, run->count, run->view);
	run->count = 0;
}

static void run_add(struct node *n, struct page_run *run, uint32_t page)
{
	if (run->count && run->first + run->count != page)
		run_end(n, run);
	if (!run->count++)
		run->first = page;
}

static bool set_view(struct node *n, uint32_t page, enum page_state state,
		     enum page_view view)
{
	n->pages.state[page] = state;
	n->ops->protect(n->context, page, 1, view);
	return true;
}

void page_assign(struct node *n, uint32_t first, uint32_t count,
		 unsigned int home)
{
	struct page_table *t = &n->pages;

	t->order = (t->order * 31 + first) * 31 + count;
	t->order = t->order * 31 + home;
	memset(t->home + first, home, count);
	if (t->used < first + count)
		t->used = first + count;
	if (home != n->me)
		return;
	memset(t->state + first, PAGE_DIRTY, count);
	n->ops->protect(n->context, first, count, VIEW_WRITE);
}

/* Differences that are under way would be lacking in what RDMA reads. */
static void ask(struct node *n, uint32_t page)
{
	struct page_table *t = &n->pages;
	struct dsm_msg *m;

	if (n->ops->fetch && n->unacked)
		return;
	t->state[page] = PAGE_FETCHING;
	t->bits[page] &= ~PAGE_AGAIN;
	n->counts.fetches++;
	if (n->ops->fetch) {
		n->ops->fetch(n->context, t->home[page], page);
		return;
	}
	m = send_begin(n, MSG_GET, page);
	send_msg(n, t->home[page], m);
}

/* Behind a second fault at the same distance one page more is asked for, then
 * twice as many each time.
 */
static void ask_ahead(struct node *n, uint32_t page)
{
	struct page_table *t = &n->pages;
	struct page_stride *s = &t->stride;

	if (page == s->next) {
		s->ahead = s->ahead ? 2 * s->ahead : 1;
		if (s->ahead > AHEAD_MOST)
			s->ahead = AHEAD_MOST;
	} else {
		s->stride = page - s->last;
		s->ahead = 0;
	}
	s->last = page;
	for (uint32_t i = 0; i < s->ahead; i++) {
		page += s->stride;
		if (page < t->used && t->state[page] == PAGE_INVALID)
			ask(n, page);
	}
	s->next = page + s->stride;
}

bool page_fault(struct node *n, uint32_t page, bool write)
{
	struct page_table *t = &n->pages;
	size_t at = (size_t)page * t->bytes;

	switch (t->state[page]) {
	case PAGE_INVALID:
		ask(n, page);
		if (t->state[page] == PAGE_FETCHING)
			ask_ahead(n, page);
		return false;
	case PAGE_FETCHING:
		return false;
	case PAGE_DIRTY:	/* another thread's, or the kernel forgot it */
		return set_view(n, page, PAGE_DIRTY, VIEW_WRITE);
	}
	if (!write)
		return set_view(n, page, PAGE_CLEAN, VIEW_READ);
	if (t->home[page] != n->me) {
		memcpy(t->twin + at, t->mem + at, t->bytes);
		n->counts.twins++;
		if (!(t->bits[page] & PAGE_LISTED))
			t->dirty[t->dirty_count++] = page;
		t->bits[page] |= PAGE_LISTED;
	}
	return set_view(n, page, PAGE_DIRTY, VIEW_WRITE);
}

/* The view of a page that came meanwhile is open. */
bool page_open_for(struct node *n, struct page_access *a)
{
	enum page_state state = n->pages.state[a->page];

	if (a->waited && (state == PAGE_DIRTY || (state == PAGE_CLEAN && !a->write)))
		return true;
	a->waited = true;
	return page_fault(n, a->page, a->write);
}

/* (4): the flag before the bytes. */
bool page_asked(struct node *n, const struct dsm_msg *asked)
{
	const struct page_table *t = &n->pages;
	uint32_t page = asked->what;
	struct dsm_msg *m;

	if (!batch_here(n, page, asked->from))
		return false;
	__atomic_store_n(&t->flag[page], 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	m = send_begin(n, MSG_PAGE, page);
	m->len = t->bytes;
	memcpy(m->data, t->mem + (size_t)page * t->bytes, t->bytes);
	send_msg(n, asked->from, m);
	return true;
}

void page_came(struct node *n, uint32_t page)
{
	struct page_table *t = &n->pages;

	n->events++;
	if (t->bits[page] & PAGE_AGAIN) {	/* (7) */
		t->state[page] = PAGE_INVALID;
		ask(n, page);
		return;
	}
	set_view(n, page, PAGE_CLEAN, VIEW_READ);
}

bool page_received(struct node *n, const struct dsm_msg *m)
{
	const struct page_table *t = &n->pages;

	if (m->what >= t->count || m->len != t->bytes ||
	    m->from != t->home[m->what] ||
	    t->state[m->what] != PAGE_FETCHING)
		return false;
	memcpy(t->mem + (size_t)m->what * t->bytes, m->data, t->bytes);
	page_came(n, m->what);
	return true;
}

void page_invalidate(struct node *n, uint32_t first, uint32_t count)
{
	struct page_run run = { .view = VIEW_NONE };
	struct page_table *t = &n->pages;
	uint32_t page;

	for (page = first; page < first + count; page++) {
		if (t->home[page] == n->me || t->state[page] == PAGE_INVALID)
			continue;
		if (t->state[page] == PAGE_FETCHING)
			t->bits[page] |= PAGE_AGAIN;
		else
			run_add(n, &run, page);
	}
	run_end(n, &run);
	for (page = first; page < first + count; page++) {
		if (t->home[page] == n->me)
			continue;
		if (t->state[page] == PAGE_DIRTY && batch_add(n, page))
			t->bits[page] |= PAGE_SENT;
		if (t->state[page] == PAGE_DIRTY ||
		    t->state[page] == PAGE_CLEAN) {
			t->state[page] = PAGE_INVALID;
			n->counts.invalidated++;
		}
	}
}

/* (5): all views first. */
static void collect_copies(struct node *n)
{
	struct page_run run = { .view = VIEW_READ };
	struct page_table *t = &n->pages;
	uint32_t i, page;

	for (i = 0; i < t->dirty_count; i++)
		if (t->state[t->dirty[i]] == PAGE_DIRTY)
			run_add(n, &run, t->dirty[i]);
	run_end(n, &run);
	for (i = 0; i < t->dirty_count; i++) {
		page = t->dirty[i];
		if (t->state[page] == PAGE_DIRTY) {
			t->state[page] = PAGE_CLEAN;
			if (batch_add(n, page))
				t->bits[page] |= PAGE_SENT;
		}
		if (t->bits[page] & PAGE_SENT)
			t->noticed[t->noticed_count++] = page;
		t->bits[page] &= ~(PAGE_LISTED | PAGE_SENT);
	}
	t->dirty_count = 0;
}

/* (4): the flag is taken before the view is closed, and the notice follows.
 * The program's writes of before come before the looks at flags, as a reader's
 * flag comes before its look at the page.
 */
static void collect_own(struct node *n)
{
	struct page_run run = { .view = VIEW_READ };
	struct page_table *t = &n->pages;
	uint64_t eight;
	uint32_t page;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (page = 0; page < t->used; page++) {
		if (!(page % 8)) {
			memcpy(&eight, t->flag + page, 8);
			if (!eight) {
				page += 7;
				continue;
			}
		}
		if (!t->flag[page] || t->home[page] != n->me ||
		    t->state[page] != PAGE_DIRTY ||
		    !__atomic_exchange_n(&t->flag[page], 0, __ATOMIC_SEQ_CST))
			continue;
		t->state[page] = PAGE_CLEAN;
		t->noticed[t->noticed_count++] = page;
		run_add(n, &run, page);
	}
	run_end(n, &run);
}

void page_collect(struct node *n)
{
	n->pages.noticed_count = 0;
	collect_copies(n);
	collect_own(n);
}
