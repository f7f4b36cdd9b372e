/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A model of release consistency. Threads write and read places of one byte;
 * locks and barriers order what they do. A read may return the value of each
 * write that has been made, unless another write lies between the two in that
 * order; and the initial zero where no write is ordered before it.
 */
#ifndef TESTS_DSM_MODEL_H
#define TESTS_DSM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_THREADS	16
#define MODEL_PLACES	16
#define MODEL_LOCKS	4
#define MODEL_WRITES	255	/* of one place: each has its own value */

struct model_write {
	unsigned int thread;
	uint32_t clock[MODEL_THREADS];
};

struct model {
	uint32_t clock[MODEL_THREADS][MODEL_THREADS];
	uint32_t lock[MODEL_LOCKS][MODEL_THREADS];
	uint32_t barrier[2][MODEL_THREADS];
	int holder[MODEL_LOCKS];	/* thread + 1 */
	unsigned int writes[MODEL_PLACES];
	struct model_write write[MODEL_PLACES][MODEL_WRITES];
};

/* The value to write, 0 where the place has had all of its own. */
uint8_t model_write(struct model *m, unsigned int thread, unsigned int place);

bool model_may_read(struct model *m, unsigned int thread, unsigned int place,
		    uint8_t value);

/* False: another thread holds it. */
bool model_acquire(struct model *m, unsigned int thread, unsigned int lock);
void model_release(struct model *m, unsigned int thread, unsigned int lock);

/* All that come to barrier `number` come before one of them leaves. */
void model_come(struct model *m, unsigned int thread, unsigned int number);
void model_leave(struct model *m, unsigned int thread, unsigned int number);

#endif
