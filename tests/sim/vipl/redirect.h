/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Included before everything else into libvipl, the conformance suite and the
 * programs of scenarios: what they call of the system is px_*, in posix.c and
 * threads.c.  The names are replaced before the system's headers are read, so
 * that those declare the functions; their types stay the system's.
 */
#ifndef SIM_VIPL_REDIRECT_H
#define SIM_VIPL_REDIRECT_H

/* Files */
#define open			px_open
#define close			px_close
#define ioctl			px_ioctl
#define read			px_read
#define write			px_write
#define poll			px_poll
#define fcntl			px_fcntl
#define dup			px_dup
#define dup2			px_dup2
#define pipe			px_pipe
#define pipe2			px_pipe2
#define eventfd			px_eventfd
#define eventfd_read		px_eventfd_read
#define eventfd_write		px_eventfd_write
#define stat			px_stat
#define fstat			px_fstat
#define access			px_access
#define fopen			px_fopen
#define fdopen			px_fdopen
#define freopen			px_freopen
#define opendir			px_opendir
#define readdir			px_readdir
#define closedir		px_closedir
#define syscall			px_syscall

/* Memory */
#define mmap			px_mmap
#define munmap			px_munmap
#define mprotect		px_mprotect
#define madvise			px_madvise

/* Processes, signals, limits */
#define getpid			px_getpid
#define fork			px_fork
#define waitpid			px_waitpid
#define kill			px_kill
#define exit			px_exit
#define _exit			px__exit
#define pause			px_pause_signal
#define alarm			px_alarm
#define signal			px_signal
#define sigaction		px_sigaction
#define sigprocmask		px_sigprocmask
#define setitimer		px_setitimer
#define signalfd		px_signalfd
#define prctl			px_prctl
#define setpgid			px_setpgid
#define getrlimit		px_getrlimit
#define setrlimit		px_setrlimit
#define sysconf			px_sysconf
#define getenv			px_getenv
#define secure_getenv		px_secure_getenv
#define setenv			px_setenv
#define unsetenv		px_unsetenv

/* Names */
#define gethostname		px_gethostname
#define getaddrinfo		px_getaddrinfo
#define freeaddrinfo		px_freeaddrinfo
#define getnameinfo		px_getnameinfo
#define getifaddrs		px_getifaddrs
#define freeifaddrs		px_freeifaddrs

/* Time */
#define clock_gettime		px_clock_gettime
#define nanosleep		px_nanosleep
#define sched_yield		px_sched_yield
#define sched_getaffinity	px_sched_getaffinity
#define time(p)			px_time(p)

/* Threads */
#define pthread_create		px_pthread_create
#define pthread_join		px_pthread_join
#define pthread_tryjoin_np	px_pthread_tryjoin_np
#define pthread_timedjoin_np	px_pthread_timedjoin_np
#define pthread_detach		px_pthread_detach
#define pthread_self		px_pthread_self
#define pthread_kill		px_pthread_kill
#define pthread_sigmask		px_pthread_sigmask
#define pthread_atfork		px_pthread_atfork
#define pthread_once		px_pthread_once
#define pthread_mutex_init	px_pthread_mutex_init
#define pthread_mutex_lock	px_pthread_mutex_lock
#define pthread_mutex_unlock	px_pthread_mutex_unlock
#define pthread_condattr_init	px_pthread_condattr_init
#define pthread_condattr_setclock px_pthread_condattr_setclock
#define pthread_cond_init	px_pthread_cond_init
#define pthread_cond_wait	px_pthread_cond_wait
#define pthread_cond_timedwait	px_pthread_cond_timedwait
#define pthread_cond_signal	px_pthread_cond_signal
#define pthread_cond_broadcast	px_pthread_cond_broadcast

/* The trap of libvipl, and its pause in a loop that spins. */
long px_trap(int fd, unsigned int op, unsigned int id);
void px_pause(void);
#define KA_TRAP			px_trap
#define __builtin_ia32_pause	px_pause

/*
 * Variables of a program are in sections of their own, to be set back for the
 * next process; those of threads change with the context.
 */
#pragma clang section bss="sim_bss" data="sim_data"
#define __thread		__attribute__((__section__("sim_tls")))
#define _Thread_local		__thread
#define tls_model(m)		__unused__

/*
 * Atomic stores wait in the buffer of the context, as the kernel's do.
 * Read-modify-writes, of which the compiler does not tell, write it out.
 */
#include <stdatomic.h>
void sim_yield(void);
void px_full_barrier(void);
void px_store(volatile void *p, const void *v, unsigned int size);
#undef atomic_store_explicit
#undef atomic_store
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_thread_fence
#define atomic_store_explicit(p, v, m)					\
do {									\
	__auto_type _p = (p);						\
	__typeof__(__c11_atomic_load(_p, 0)) _v = (v);			\
									\
	px_store((volatile void *)_p, &_v, sizeof(_v));			\
	if ((m) == memory_order_seq_cst)				\
		px_full_barrier();					\
} while (0)
#define atomic_store(p, v) atomic_store_explicit(p, v, memory_order_seq_cst)
#define atomic_exchange_explicit(p, v, m) \
	(px_full_barrier(), __c11_atomic_exchange(p, v, m))
#define atomic_compare_exchange_strong_explicit(p, e, v, m, f) \
	(px_full_barrier(), \
	 __c11_atomic_compare_exchange_strong(p, e, v, m, f))
#define atomic_compare_exchange_weak_explicit(p, e, v, m, f) \
	(px_full_barrier(), __c11_atomic_compare_exchange_weak(p, e, v, m, f))
#define atomic_fetch_add_explicit(p, v, m) \
	(px_full_barrier(), __c11_atomic_fetch_add(p, v, m))
#define atomic_fetch_sub_explicit(p, v, m) \
	(px_full_barrier(), __c11_atomic_fetch_sub(p, v, m))
#undef atomic_exchange
#define atomic_exchange(p, v) \
	atomic_exchange_explicit(p, v, memory_order_seq_cst)
#undef atomic_fetch_add
#define atomic_fetch_add(p, v) \
	atomic_fetch_add_explicit(p, v, memory_order_seq_cst)
#undef atomic_fetch_sub
#define atomic_fetch_sub(p, v) \
	atomic_fetch_sub_explicit(p, v, memory_order_seq_cst)
#define atomic_thread_fence(m)	px_full_barrier()
/* Tests spin on it. */
#define __atomic_load_n(p, m)	(sim_yield(), __atomic_load_n(p, m))

#endif
