/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_THREAD_H
#define TESTS_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Variables that threads or processes share. */
#define load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define fetch_add(p, n)		__atomic_fetch_add(p, n, __ATOMIC_ACQ_REL)

/* One thread, or the end of the program. */
pthread_t thread_start(void *(*f)(void *arg), void *arg);
/* As many, each with its number for its argument, all to their ends. */
void threads_run(void *(*f)(void *number), uint32_t n);
/* Where there is one CPU only there is nothing to choose. */
void thread_pin(unsigned int cpu);
/* It takes the CPU from all that is not real time. */
void thread_realtime(void);

#endif
