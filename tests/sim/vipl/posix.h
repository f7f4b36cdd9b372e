/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Processes that run libvipl: what they see of a system, on the model's hosts.
 *
 * libvipl and all that calls it are compiled as they are, with redirect.h; the
 * result is there twice, as image 0 and image 1, so that two processes may be
 * at work at once.  A process starts with its image's variables as they were
 * at the start of viasim.
 */
#ifndef SIM_VIPL_POSIX_H
#define SIM_VIPL_POSIX_H

/* Before the model, which has some of these names, too. */
#include <pthread.h>
#include <sys/types.h>
#include "../host.h"

#define PX_IMAGES	2
#define PX_FDS		64

struct px_file;

/* A table of open files; threads may leave that of their process. */
struct px_files {
	u32 refs;
	struct px_file *fd[PX_FDS];
};

struct px_proc {
	u32 patience;			/* pauses that pass nothing on */
	int image;
	int pid;
	int status;			/* as exit() was given it; -1: killed */
	u32 threads;
	u32 cpus;			/* that it is told of */
	u32 max_files;
	bool no_memory;			/* RLIMIT_AS is reached */
	void (*on_alarm)(int sig);
	u64 alarm_ns;			/* between two */
	struct sim_event *alarm;
	struct px_files *files;
	struct sim_proc *proc;
	struct list_head all;		/* of struct px_thread */
	int *ended_with;		/* gets status, or NULL */
};

struct px_thread {
	u32 pauses;			/* in a row: px_pause() */
	struct list_head link;
	struct px_proc *p;
	struct px_files *files;
	u32 done;			/* a futex */
	bool detached, joined, main;
	void *(*fn)(void *arg);
	void *arg;
	void *ret;
};

/* Before the first process of a run. */
void px_begin(void);

/*
 * A process in @image, as user @uid; *@status, if any, is its exit status in
 * the end.  Its main thread is what sim_proc_wait() and others take.
 */
struct sim_proc *px_start(int image, const char *name, u32 uid,
			  void *(*fn)(void *arg), void *arg, int *status);
void px_end_process(int status) __attribute__((__noreturn__));

struct px_proc *px_self(void);
struct px_thread *px_self_thread(void);

/* threads.c */
void px_threads_begin(void);
/* The calling thread sleeps while @done(@arg) is false. */
int px_wait(wait_queue_head_t *w, bool (*done)(void *arg), void *arg,
	    u64 until);
int px_futex_wait(const u32 *p, u32 seen, u64 until);
int px_futex_wake(const u32 *p, int n);
/* The end of a wait of that length; NULL: it has none. */
u64 px_until(const struct timespec *length);
struct sim_ctx *px_thread_start(struct px_proc *p, struct px_thread *t,
				const char *name);

/* posix.c */
void px_text_is_constant(void);

/* image.c */
void px_image_load(int image);
void *px_image_tls(int image, size_t *bytes);

/* posix.c */
struct px_files *px_files_new(void);
struct px_files *px_files_get(struct px_files *f);
void px_files_put(struct px_files *f);

/* The lines that processes wrote on standard error in this run. */
extern u32 px_said;

/* Results as the C library gives them. */
static inline long px_result(long ret)
{
	if (ret == -ERESTARTSYS)
		ret = -EINTR;
	if (ret >= 0 || ret < -MAX_ERRNO)
		return ret;
	errno = -ret;
	return -1;
}

#endif
