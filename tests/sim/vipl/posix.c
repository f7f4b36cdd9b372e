// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What programs see of a system: memory, limits, names, their own end. */
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include "files.h"
#include "posix.h"
#include "../kernel/model.h"

/* Memory: nothing goes while the run lasts, since frames may be on their way. */

void *px_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *px_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	struct px_file *f;
	void *p;

	sim_yield();
	sim_drain();
	if (px_self()->no_memory) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	n = PAGE_ALIGN(n);
	if (flags & MAP_ANONYMOUS) {
		if (flags & MAP_FIXED) {
			sim_munmap_range(at, n, true);
			return at;
		}
		p = mmap(NULL, n, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			sim_fail("no memory for a program");
		sim_memory_of_run(p, n);
		if (!(prot & PROT_WRITE))
			sim_no_memory(p, n);
		return p;
	}
	f = px_file_of(fd);
	if (!f || f->kind != VIA) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	p = sim_mmap(f->via, flags & MAP_FIXED ? at : NULL, off, n,
		     prot & PROT_WRITE);
	if (!IS_ERR(p))
		return p;
	errno = -PTR_ERR(p);
	return MAP_FAILED;
}

int px_munmap(void *p, size_t n);
int px_munmap(void *p, size_t n)
{
	sim_yield();
	sim_drain();
	if (sim_munmap_range(p, n, false))
		sim_no_memory(p, n);
	return 0;
}

int px_mprotect(void *p, size_t n, int prot);
int px_mprotect(void *p, size_t n, int prot)
{
	if (!(prot & PROT_WRITE))
		sim_no_memory(p, n);
	return 0;
}

int px_madvise(void *p, size_t n, int advice);
int px_madvise(void *p, size_t n, int advice)
{
	return 0;
}

static int constant(struct dl_phdr_info *info, size_t size, void *arg)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && !(h->p_flags & PF_W))
			sim_no_memory((void *)((info->dlpi_addr + h->p_vaddr) &
					       PAGE_MASK), h->p_memsz);
	}
	/* Of the program alone. */
	return 1;
}

void px_text_is_constant(void)
{
	dl_iterate_phdr(constant, NULL);
}

/* Limits and the environment */

int px_getrlimit(int what, struct rlimit *r);
int px_getrlimit(int what, struct rlimit *r)
{
	r->rlim_cur = r->rlim_max = RLIM_INFINITY;
	if (what == RLIMIT_MEMLOCK)
		r->rlim_cur = r->rlim_max = current->mm->locked_max *
					    PAGE_SIZE;
	else if (what == RLIMIT_NOFILE)
		r->rlim_cur = r->rlim_max = px_self()->max_files;
	return 0;
}

int px_setrlimit(int what, const struct rlimit *r);
int px_setrlimit(int what, const struct rlimit *r)
{
	if (what == RLIMIT_MEMLOCK)
		current->mm->locked_max = min_t(u64, r->rlim_cur / PAGE_SIZE,
						1ull << 40);
	else if (what == RLIMIT_NOFILE)
		px_self()->max_files = min_t(u64, r->rlim_cur, PX_FDS);
	else if (what == RLIMIT_AS)
		px_self()->no_memory = !r->rlim_cur;
	else
		return px_result(-EPERM);
	return 0;
}

long px_sysconf(int name);
long px_sysconf(int name)
{
	switch (name) {
	case _SC_PAGESIZE:
		return PAGE_SIZE;
	case _SC_NPROCESSORS_ONLN:
		return px_self()->cpus;
	}
	return -1;
}

char *px_getenv(const char *name);
char *px_getenv(const char *name)
{
	return NULL;
}

char *px_secure_getenv(const char *name);
char *px_secure_getenv(const char *name)
{
	return NULL;
}

int px_setenv(const char *name, const char *value, int over);
int px_setenv(const char *name, const char *value, int over)
{
	return 0;
}

int px_unsetenv(const char *name);
int px_unsetenv(const char *name)
{
	return 0;
}

/* Names: no resolver, no neighbours. */

int px_gethostname(char *name, size_t n);
int px_gethostname(char *name, size_t n)
{
	snprintf(name, n, "%s", init_utsname()->nodename);
	return 0;
}

int px_getaddrinfo(const char *node, const char *service, const void *hints,
		   void *res);
int px_getaddrinfo(const char *node, const char *service, const void *hints,
		   void *res)
{
	return -2;			/* EAI_NONAME */
}

void px_freeaddrinfo(void *ai);
void px_freeaddrinfo(void *ai)
{
}

int px_getnameinfo(const void *a, u32 n, char *host, u32 hn, char *s, u32 sn,
		   int flags);
int px_getnameinfo(const void *a, u32 n, char *host, u32 hn, char *s, u32 sn,
		   int flags)
{
	return -2;
}

int px_getifaddrs(void **all);
int px_getifaddrs(void **all)
{
	return px_result(-ENOSYS);
}

void px_freeifaddrs(void *all);
void px_freeifaddrs(void *all)
{
}

/* Processes.  There is no fork() and there are no handlers of signals. */

int px_getpid(void);
int px_getpid(void)
{
	return px_self()->pid;
}

int px_fork(void);
int px_fork(void)
{
	return px_result(-ENOSYS);
}

int px_waitpid(int pid, int *status, int flags);
int px_waitpid(int pid, int *status, int flags)
{
	return px_result(-ECHILD);
}

void px_end_process(int status)
{
	px_self()->status = status;
	for (;;)
		sim_kill(px_self()->proc);
}

void px_exit(int status) __attribute__((__noreturn__));
void px_exit(int status)
{
	px_end_process(status);
}

void px__exit(int status) __attribute__((__noreturn__));
void px__exit(int status)
{
	px_end_process(status);
}

int px_kill(int pid, int sig);
int px_kill(int pid, int sig)
{
	if (pid == px_self()->pid)
		px_end_process(-1);
	return px_result(-ESRCH);
}

int px_pause_signal(void);
int px_pause_signal(void)
{
	for (;;)
		sim_sleep(NSEC_PER_SEC);
}

unsigned int px_alarm(unsigned int s);
unsigned int px_alarm(unsigned int s)
{
	return 0;
}

void *px_signal(int sig, void *handler);
void *px_signal(int sig, void *handler)
{
	return NULL;
}

/* Signals are counted by their handlers, and interrupt every wait. */
int px_sigaction(int sig, const struct sigaction *now, struct sigaction *was);
int px_sigaction(int sig, const struct sigaction *now, struct sigaction *was)
{
	if (sig == SIGALRM && now)
		px_self()->on_alarm = now->sa_handler;
	return 0;
}

static void alarm_due(void *arg)
{
	struct px_proc *p = arg;

	p->alarm = sim_at(sim_clock + p->alarm_ns, alarm_due, p);
	sim_signal(p->proc);
	if (p->on_alarm)
		p->on_alarm(SIGALRM);
}

int px_setitimer(int which, const struct itimerval *now,
		 struct itimerval *was);
int px_setitimer(int which, const struct itimerval *now,
		 struct itimerval *was)
{
	struct px_proc *p = px_self();

	if (p->alarm)
		sim_cancel(p->alarm);
	p->alarm = NULL;
	p->alarm_ns = (now->it_interval.tv_sec * 1000000ull +
		       now->it_interval.tv_usec) * 1000;
	if (p->alarm_ns)
		p->alarm = sim_at(sim_clock + p->alarm_ns, alarm_due, p);
	return 0;
}

int px_sigprocmask(int how, const void *set, void *was);
int px_sigprocmask(int how, const void *set, void *was)
{
	return 0;
}

int px_signalfd(int fd, const void *set, int flags);
int px_signalfd(int fd, const void *set, int flags)
{
	return px_result(-ENOSYS);
}

int px_prctl(int what, ...);
int px_prctl(int what, ...)
{
	return 0;
}

int px_setpgid(int pid, int group);
int px_setpgid(int pid, int group)
{
	return 0;
}

static struct px_proc *running[PX_IMAGES];
static int last_pid;

void px_begin(void)
{
	memset(running, 0, sizeof(running));
	last_pid = 0;
	px_said = 0;
	px_threads_begin();
}

/* Without the kernel's part. */
static void forget(struct px_files *f)
{
	int i;

	if (!f || --f->refs)
		return;
	for (i = 0; i < PX_FDS; i++) {
		if (!f->fd[i] || --f->fd[i]->refs)
			continue;
		if (f->fd[i]->pipe && !--f->fd[i]->pipe->ends)
			free(f->fd[i]->pipe);
		free(f->fd[i]);
	}
	free(f);
}

/* The last thread is at its end: the kernel closes its files by itself. */
static void at_exit(void *arg)
{
	struct px_proc *p = arg;
	struct px_thread *t;

	while (!list_empty(&p->all)) {
		t = list_first_entry(&p->all, struct px_thread, link);
		list_del(&t->link);
		forget(t->files);
		free(t);
	}
	forget(p->files);
	if (p->alarm)
		sim_cancel(p->alarm);
	running[p->image] = NULL;
	if (p->ended_with)
		*p->ended_with = p->status;
	free(p);
}

struct sim_proc *px_start(int image, const char *name, u32 uid,
			  void *(*fn)(void *arg), void *arg, int *status)
{
	struct px_thread *t = calloc(1, sizeof(*t));
	struct px_proc *p = calloc(1, sizeof(*p));
	int fd;

	if (!p || !t)
		abort();
	if (running[image])
		sim_fail("image %d is in use", image);
	running[image] = p;
	px_image_load(image);
	p->image = image;
	p->pid = 1000 + ++last_pid;
	p->cpus = sim_dice(2) ? 4 : 1;
	p->patience = sim_dice(4) ? 1 : 100;
	p->max_files = PX_FDS;
	p->ended_with = status;
	p->files = px_files_new();
	for (fd = 0; fd < 3; fd++)
		p->files->fd[fd] = px_file_new(OUTPUT, 0);
	INIT_LIST_HEAD(&p->all);
	p->proc = sim_proc_new(name, uid);
	sim_proc_at_exit(p->proc, at_exit, p);
	t->p = p;
	t->files = px_files_get(p->files);
	t->main = true;
	t->fn = fn;
	t->arg = arg;
	px_thread_start(p, t, name);
	return p->proc;
}
