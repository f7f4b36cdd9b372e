// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See model.h. */
#include <string.h>

#include "model.h"

static void join(uint32_t *to, const uint32_t *from)
{
	for (int i = 0; i < MODEL_THREADS; i++)
		if (to[i] < from[i])
			to[i] = from[i];
}

static bool is_before(const struct model_write *w, const uint32_t *clock)
{
	return clock[w->thread] >= w->clock[w->thread];
}

uint8_t model_write(struct model *m, unsigned int thread, unsigned int place)
{
	struct model_write *w = &m->write[place][m->writes[place]];

	if (m->writes[place] == MODEL_WRITES)
		return 0;
	m->clock[thread][thread]++;
	w->thread = thread;
	memcpy(w->clock, m->clock[thread], sizeof(w->clock));
	return ++m->writes[place];
}

bool model_may_read(struct model *m, unsigned int thread, unsigned int place,
		    uint8_t value)
{
	const uint32_t *now = m->clock[thread];
	const struct model_write *w, *all = m->write[place];

	if (value > m->writes[place])
		return false;
	w = value ? &all[value - 1] : NULL;
	for (unsigned int i = 0; i < m->writes[place]; i++)
		if (&all[i] != w && is_before(&all[i], now) &&
		    (!w || is_before(w, all[i].clock)))
			return false;
	return true;
}

bool model_acquire(struct model *m, unsigned int thread, unsigned int lock)
{
	if (m->holder[lock])
		return false;
	m->holder[lock] = thread + 1;
	join(m->clock[thread], m->lock[lock]);
	return true;
}

void model_release(struct model *m, unsigned int thread, unsigned int lock)
{
	m->holder[lock] = 0;
	join(m->lock[lock], m->clock[thread]);
	m->clock[thread][thread]++;
}

void model_come(struct model *m, unsigned int thread, unsigned int number)
{
	join(m->barrier[number % 2], m->clock[thread]);
	m->clock[thread][thread]++;
}

void model_leave(struct model *m, unsigned int thread, unsigned int number)
{
	join(m->clock[thread], m->barrier[number % 2]);
}
