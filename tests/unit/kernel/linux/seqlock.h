/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* In place of the kernel's, for unit tests of one thread. */
#ifndef UNIT_SEQLOCK_H
#define UNIT_SEQLOCK_H

typedef struct {
	unsigned int sequence;
} seqcount_spinlock_t;

#define seqcount_spinlock_init(s, l)	((s)->sequence = 0)
#define read_seqcount_begin(s)		((s)->sequence)
#define read_seqcount_retry(s, q)	((s)->sequence != (q))
#define write_seqcount_begin(s)		((s)->sequence++)
#define write_seqcount_end(s)		((s)->sequence++)

#endif
