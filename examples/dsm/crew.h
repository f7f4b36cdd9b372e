/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Workers with shared memory: nodes of libviadsm or, with CREW_THREADS defined,
 * threads of one process, as many as the variable CREW says (2 without it). The
 * same source is both, so that the two can be compared.
 */
#ifndef EXAMPLES_CREW_H
#define EXAMPLES_CREW_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double crew_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline int crew_argument(int argc, char **argv, int i, int otherwise)
{
	return argc > i ? atoi(argv[i]) : otherwise;
}

#ifndef CREW_THREADS

#include <viadsm.h>

#define crew_rank()		dsm_rank()
#define crew_size()		dsm_size()
#define crew_malloc(bytes)	dsm_malloc(bytes)
#define crew_malloc_at(n, node)	dsm_malloc_at(n, node)
#define crew_acquire(lock)	dsm_acquire(lock)
#define crew_release(lock)	dsm_release(lock)
#define crew_barrier()		dsm_barrier()
#define crew_share(n, a, e)	dsm_share(n, a, e)
#define CREW_KIND		"nodes"

static inline int crew_main(int argc, char **argv, int (*work)(int, char **))
{
	int status;

	dsm_init();
	status = work(argc, argv);
	dsm_exit();
	return status;
}

#else

#define CREW_MOST	32
#define CREW_KIND	"threads"

static struct crew {
	unsigned int size;
	pthread_barrier_t barrier;
	pthread_mutex_t lock[1024], allot;
	void *allotted[64];
	int argc, status;
	char **argv;
	int (*work)(int argc, char **argv);
} crew = { .size = 2, .allot = PTHREAD_MUTEX_INITIALIZER };

static __thread unsigned int crew_me, crew_allots;

#define crew_rank()		(crew_me)
#define crew_size()		(crew.size)
#define crew_malloc_at(n, node)	((void)(node), crew_malloc(n))
#define crew_acquire(l)		pthread_mutex_lock(&crew.lock[l])
#define crew_release(l)		pthread_mutex_unlock(&crew.lock[l])
#define crew_barrier()		pthread_barrier_wait(&crew.barrier)

/* The first that comes allocates, the others get the same. */
static inline void *crew_malloc(size_t bytes)
{
	void **p = &crew.allotted[crew_allots++];

	pthread_mutex_lock(&crew.allot);
	if (!*p) {
		*p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
		if (*p)
			memset(*p, 0, bytes);
	}
	pthread_mutex_unlock(&crew.allot);
	return *p;
}

static inline void crew_share(size_t count, size_t *first, size_t *end)
{
	*first = count * crew_me / crew.size;
	*end = count * (crew_me + 1) / crew.size;
}

static inline void *crew_thread(void *rank)
{
	crew_me = (size_t)rank;
	if (crew.work(crew.argc, crew.argv))
		crew.status = 1;
	return NULL;
}

static inline int crew_main(int argc, char **argv, int (*work)(int, char **))
{
	const char *size = getenv("CREW");
	pthread_t thread[CREW_MOST];

	if (size)
		crew.size = atoi(size);
	if (crew.size < 1 || crew.size > CREW_MOST) {
		fprintf(stderr, "CREW is not from 1 to %d\n", CREW_MOST);
		return 2;
	}
	crew.argc = argc;
	crew.argv = argv;
	crew.work = work;
	pthread_barrier_init(&crew.barrier, NULL, crew.size);
	for (int i = 0; i < 1024; i++)
		pthread_mutex_init(&crew.lock[i], NULL);
	for (size_t i = 0; i < crew.size; i++)
		if (pthread_create(&thread[i], NULL, crew_thread, (void *)i))
			return 2;
	for (size_t i = 0; i < crew.size; i++)
		pthread_join(thread[i], NULL);
	return crew.status;
}

#endif

/* The first worker says how it went; 0 where the result is right. */
static inline int crew_report(const char *name, double seconds,
			      double sequential, int right)
{
	printf("%s: %u %s %.1f ms, one %.1f ms, %s\n", name, crew_size(),
	       CREW_KIND, 1000 * seconds, 1000 * sequential,
	       right ? "the same result" : "ANOTHER RESULT");
	return !right;
}

#endif
