// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See sim.h. */
#include <stdlib.h>
#include <string.h>

#include "../../dsm/page.h"
#include "sim.h"

uint32_t sim_draw(struct sim *s, uint32_t below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random >> 16) % below;
}

static void put(struct sim_channel *c, const struct dsm_msg *m, uint32_t page)
{
	struct sim_item *item = calloc(1, sizeof(*item));

	if (m) {
		item->msg = malloc(sizeof(*m) + m->len);
		memcpy(item->msg, m, sizeof(*m) + m->len);
	}
	item->page = page;
	if (!c->first)
		c->last = &c->first;
	*c->last = item;
	c->last = &item->next;
}

static void drop(struct sim_channel *c)
{
	struct sim_item *item = c->first;

	c->first = item->next;
	free(item->msg);
	free(item);
}

static void op_send(void *context, unsigned int to, const struct dsm_msg *m)
{
	struct sim_node *n = context;

	if (to == n->node.me || to >= n->sim->size)
		n->sim->wrong = "a message to nobody";
	else if (m->len > DSM_DATA)
		n->sim->wrong = "a message that is too long";
	else
		put(&n->sim->at[to]->in[n->node.me], m, 0);
}

static void op_protect(void *context, uint32_t first, uint32_t count,
		       enum page_view view)
{
	struct sim_node *n = context;

	while (count--)
		n->view[first++] = view;
}

static void op_fetch(void *context, unsigned int home, uint32_t page)
{
	struct sim_node *n = context;

	put(&n->read[home], NULL, page);
}

static const struct node_ops asking = { op_send, op_protect, NULL };
static const struct node_ops reading = { op_send, op_protect, op_fetch };

struct sim *sim_new(uint64_t seed, unsigned int size, bool rdma)
{
	struct sim *s = calloc(1, sizeof(*s));
	struct sim_node *n;

	s->size = size;
	s->random = seed * 0x9E3779B97F4A7C15 + 1;
	for (unsigned int i = 0; i < size; i++) {
		n = s->at[i] = calloc(1, sizeof(*n));
		n->sim = s;
		n->node.ops = rdma ? &reading : &asking;
		n->node.context = n;
		n->node.pages = (struct page_table){
			.mem = n->mem, .twin = n->twin, .flag = n->flag,
			.home = n->home, .state = n->state, .bits = n->bits,
			.dirty = n->dirty, .noticed = n->noticed,
			.bytes = SIM_PAGE, .count = SIM_PAGES,
		};
		node_init(&n->node, i, size);
	}
	for (uint32_t p = 0; p < SIM_PAGES; p++) {
		unsigned int home = sim_draw(s, size);

		for (unsigned int i = 0; i < size; i++)
			page_assign(&s->at[i]->node, p, 1, home);
	}
	return s;
}

void sim_free(struct sim *s)
{
	for (unsigned int i = 0; i < s->size; i++) {
		for (unsigned int j = 0; j < s->size; j++) {
			while (s->at[i]->in[j].first)
				drop(&s->at[i]->in[j]);
			while (s->at[i]->read[j].first)
				drop(&s->at[i]->read[j]);
		}
		node_free(&s->at[i]->node);
		free(s->at[i]);
	}
	free(s);
}

/* The flag, one half of the bytes, the other one, the completion. */
static void read_on(struct sim_node *n, struct sim_node *home,
		    struct sim_channel *c)
{
	struct sim_item *item = c->first;
	size_t half = item->page * SIM_PAGE + (item->stage - 1) * SIM_PAGE / 2;
	uint32_t page = item->page;

	switch (item->stage++) {
	case 0:
		home->flag[page] = 1;
		return;
	case 1:
	case 2:
		memcpy(n->mem + half, home->mem + half, SIM_PAGE / 2);
		return;
	}
	drop(c);
	page_came(&n->node, page);
}

static void take(struct sim *s, struct sim_node *n, unsigned int from)
{
	struct dsm_msg *m = n->in[from].first->msg;

	n->in[from].first->msg = NULL;
	drop(&n->in[from]);
	if (!node_receive(&n->node, m))
		s->wrong = "a message that makes no sense";
	free(m);
}

bool sim_views_fit(const struct sim *s)
{
	static const enum page_view fit[] = {
		[PAGE_CLEAN] = VIEW_READ, [PAGE_DIRTY] = VIEW_WRITE,
	};
	const struct sim_node *n;

	for (unsigned int i = 0; i < s->size; i++) {
		n = s->at[i];
		for (uint32_t page = 0; page < SIM_PAGES; page++)
			if (n->view[page] != fit[n->state[page]])
				return false;
	}
	return true;
}

bool sim_deliver(struct sim *s)
{
	struct { unsigned int node, from; bool read; } can[2 * 64];
	unsigned int count = 0, i, j;

	for (i = 0; i < s->size; i++)
		for (j = 0; j < s->size; j++) {
			if (s->at[i]->in[j].first) {
				can[count].node = i;
				can[count].from = j;
				can[count++].read = false;
			}
			if (s->at[i]->read[j].first) {
				can[count].node = i;
				can[count].from = j;
				can[count++].read = true;
			}
		}
	if (!count)
		return false;
	count = sim_draw(s, count);
	i = can[count].node;
	j = can[count].from;
	if (can[count].read)
		read_on(s->at[i], s->at[j], &s->at[i]->read[j]);
	else
		take(s, s->at[i], j);
	return true;
}
