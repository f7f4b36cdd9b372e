// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What programs see of a system: files, and what they wait for in them. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include "files.h"
#include "posix.h"
#include "../kernel/model.h"

#define SYSFS_CLASS	"/sys/class/via"

u32 px_said;

/* Tables of files */

struct px_files *px_files_new(void)
{
	struct px_files *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->refs = 1;
	return f;
}

struct px_files *px_files_get(struct px_files *f)
{
	f->refs++;
	return f;
}

struct px_file *px_file_new(enum kind kind, int flags)
{
	struct px_file *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->refs = 1;
	f->kind = kind;
	f->flags = flags;
	init_waitqueue_head(&f->wait);
	return f;
}

static void put_pipe(struct px_pipe *p, bool writer)
{
	if (writer)
		p->no_writer = true;
	else
		p->no_reader = true;
	if (!--p->ends) {
		free(p);
		return;
	}
	sim_enter();
	wake_up_all(&p->wait);
	sim_leave();
}

static void file_put(struct px_file *f)
{
	if (--f->refs)
		return;
	if (f->kind == VIA)
		sim_close(f->via);
	else if (f->kind == PIPE_R || f->kind == PIPE_W)
		put_pipe(f->pipe, f->kind == PIPE_W);
	free(f);
}

void px_files_put(struct px_files *f)
{
	int i;

	if (--f->refs)
		return;
	for (i = 0; i < PX_FDS; i++)
		if (f->fd[i])
			file_put(f->fd[i]);
	free(f);
}

static struct px_files *table(void)
{
	return px_self_thread()->files;
}

struct px_file *px_file_of(int fd)
{
	return fd >= 0 && fd < PX_FDS ? table()->fd[fd] : NULL;
}

static long place(struct px_file *f, int from)
{
	struct px_files *t = table();
	u32 i, max = min_t(u32, PX_FDS, px_self()->max_files);

	for (i = from; i < max; i++)
		if (!t->fd[i]) {
			t->fd[i] = f;
			return i;
		}
	file_put(f);
	return -EMFILE;
}

int px_open(const char *path, int flags, ...);
int px_open(const char *path, int flags, ...)
{
	struct px_file *f;
	struct file *via;
	long fd;

	sim_yield();
	if (strncmp(path, "/dev/via_", 9))
		return px_result(-ENOENT);
	via = sim_open(path + strlen("/dev/"));
	if (IS_ERR(via))
		return px_result(PTR_ERR(via));
	via->f_flags = flags & O_NONBLOCK;
	f = px_file_new(VIA, flags & O_NONBLOCK);
	f->via = via;
	fd = place(f, 0);
	return px_result(fd);
}

static long close_at(int fd)
{
	struct px_file *f = px_file_of(fd);

	if (!f)
		return -EBADF;
	table()->fd[fd] = NULL;
	file_put(f);
	return 0;
}

int px_close(int fd);
int px_close(int fd)
{
	sim_yield();
	return px_result(close_at(fd));
}

static long dup_from(int fd, int from)
{
	struct px_file *f = px_file_of(fd);

	if (!f)
		return -EBADF;
	f->refs++;
	return place(f, from);
}

int px_dup(int fd);
int px_dup(int fd)
{
	return px_result(dup_from(fd, 0));
}

int px_dup2(int fd, int to);
int px_dup2(int fd, int to)
{
	struct px_file *f = px_file_of(fd);

	if (!f || to < 0 || to >= PX_FDS)
		return px_result(-EBADF);
	if (fd == to)
		return to;
	f->refs++;
	close_at(to);
	table()->fd[to] = f;
	return to;
}

int px_fcntl(int fd, int cmd, ...);
int px_fcntl(int fd, int cmd, ...)
{
	struct px_file *f = px_file_of(fd);
	va_list ap;
	int arg;

	va_start(ap, cmd);
	arg = va_arg(ap, int);
	va_end(ap);
	if (!f)
		return px_result(-EBADF);
	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return px_result(dup_from(fd, arg));
	case F_GETFL:
		return f->flags | O_RDWR;
	case F_SETFL:
		f->flags = arg & O_NONBLOCK;
		return 0;
	case F_GETFD:
		return FD_CLOEXEC;
	case F_SETFD:
		return 0;
	}
	return px_result(-EINVAL);
}

int px_ioctl(int fd, unsigned long cmd, ...);
int px_ioctl(int fd, unsigned long cmd, ...)
{
	struct px_file *f = px_file_of(fd);
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	sim_yield();
	if (!f)
		return px_result(-EBADF);
	return px_result(f->kind == VIA ? sim_ioctl(f->via, cmd, arg) : -ENOTTY);
}

long px_trap(int fd, unsigned int op, unsigned int id);
long px_trap(int fd, unsigned int op, unsigned int id)
{
	struct px_file *f = px_file_of(fd);
	long ret;

	sim_yield();
	if (!f)
		return -EBADF;
	ret = f->kind == VIA ? sim_trap(f->via, op, id) : -ESPIPE;
	return ret == -ERESTARTSYS ? -EINTR : ret;
}

int px_eventfd(unsigned int count, int flags);
int px_eventfd(unsigned int count, int flags)
{
	struct px_file *f = px_file_new(EVENT, flags & EFD_NONBLOCK ?
				     O_NONBLOCK : 0);

	f->count = count;
	return px_result(place(f, 0));
}

int px_pipe2(int fds[2], int flags);
int px_pipe2(int fds[2], int flags)
{
	struct px_pipe *p = calloc(1, sizeof(*p));
	enum kind k;
	long fd;

	if (!p)
		abort();
	p->ends = 2;
	init_waitqueue_head(&p->wait);
	for (k = PIPE_R; k <= PIPE_W; k++) {
		struct px_file *f = px_file_new(k, flags & O_NONBLOCK);

		f->pipe = p;
		fd = place(f, 0);
		if (fd < 0)
			return px_result(fd);
		fds[k - PIPE_R] = fd;
	}
	return 0;
}

int px_pipe(int fds[2]);
int px_pipe(int fds[2])
{
	return px_pipe2(fds, 0);
}

static wait_queue_head_t *wait_of(struct px_file *f)
{
	poll_table pt = { NULL };

	if (f->kind == VIA) {
		f->via->f_op->poll(f->via, &pt);
		return pt.wait;
	}
	return f->pipe ? &f->pipe->wait : &f->wait;
}

/* As poll() says it; in the kernel. */
static u32 ready(struct px_file *f)
{
	poll_table pt = { NULL };

	switch (f->kind) {
	case VIA:
		return f->via->f_op->poll(f->via, &pt);
	case EVENT:
		return (f->count ? POLLIN : 0) | POLLOUT;
	case PIPE_R:
		return (f->pipe->n ? POLLIN : 0) |
		       (f->pipe->no_writer ? POLLHUP : 0);
	case PIPE_W:
		return (f->pipe->n < PIPE_BYTES ? POLLOUT : 0) |
		       (f->pipe->no_reader ? POLLERR : 0);
	default:
		return POLLOUT;
	}
}

static bool readable(void *arg)
{
	return ready(arg) & (POLLIN | POLLHUP);
}

static bool writable(void *arg)
{
	return ready(arg) & (POLLOUT | POLLERR);
}

static long take(struct px_file *f, void *buf, size_t n)
{
	if (f->kind == EVENT) {
		if (n < sizeof(f->count))
			return -EINVAL;
		if (!f->count)
			return -EAGAIN;
		memcpy(buf, &f->count, sizeof(f->count));
		f->count = 0;
		return sizeof(f->count);
	}
	if (!f->pipe->n)
		return f->pipe->no_writer ? 0 : -EAGAIN;
	n = min_t(size_t, n, f->pipe->n);
	memcpy(buf, f->pipe->bytes, n);
	f->pipe->n -= n;
	memmove(f->pipe->bytes, f->pipe->bytes + n, f->pipe->n);
	return n;
}

static long give(struct px_file *f, const void *buf, size_t n)
{
	u64 v;

	if (f->kind == EVENT) {
		memcpy(&v, buf, sizeof(v));
		f->count += v;
		return sizeof(v);
	}
	if (f->pipe->no_reader)
		return -EPIPE;
	n = min_t(size_t, n, PIPE_BYTES - f->pipe->n);
	if (!n)
		return -EAGAIN;
	memcpy(f->pipe->bytes + f->pipe->n, buf, n);
	f->pipe->n += n;
	return n;
}

static long transfer(struct px_file *f, void *in, const void *out, size_t n)
{
	long ret;

	f->refs++;
	sim_enter();
	for (;;) {
		ret = in ? take(f, in, n) : give(f, out, n);
		if (ret != -EAGAIN || f->flags & O_NONBLOCK)
			break;
		ret = px_wait(wait_of(f), in ? readable : writable, f,
			      U64_MAX);
		if (ret)
			break;
	}
	if (ret > 0)
		wake_up_all(wait_of(f));
	sim_leave();
	file_put(f);
	return ret;
}

static long read_from(int fd, void *buf, size_t n)
{
	struct px_file *f = px_file_of(fd);

	sim_yield();
	if (!f)
		return -EBADF;
	switch (f->kind) {
	case VIA:
		return sim_read(f->via, buf, n);
	case EVENT:
	case PIPE_R:
		return transfer(f, buf, NULL, n);
	default:
		return -EBADF;
	}
}

static long write_to(int fd, const void *buf, size_t n)
{
	struct px_file *f = px_file_of(fd);

	sim_yield();
	if (!f)
		return -EBADF;
	switch (f->kind) {
	case OUTPUT:
		px_said++;
		sim_log("%.*s", (int)n, (const char *)buf);
		return n;
	case EVENT:
	case PIPE_W:
		return transfer(f, NULL, buf, n);
	default:
		return -EBADF;
	}
}

ssize_t px_read(int fd, void *buf, size_t n);
ssize_t px_read(int fd, void *buf, size_t n)
{
	return px_result(read_from(fd, buf, n));
}

ssize_t px_write(int fd, const void *buf, size_t n);
ssize_t px_write(int fd, const void *buf, size_t n)
{
	return px_result(write_to(fd, buf, n));
}

int px_eventfd_write(int fd, eventfd_t v);
int px_eventfd_write(int fd, eventfd_t v)
{
	return px_write(fd, &v, sizeof(v)) == sizeof(v) ? 0 : -1;
}

int px_eventfd_read(int fd, eventfd_t *v);
int px_eventfd_read(int fd, eventfd_t *v)
{
	return px_read(fd, v, sizeof(*v)) == sizeof(*v) ? 0 : -1;
}

#define POLLED_MAX	4

struct polled {
	struct pollfd *p;
	nfds_t n;
	struct px_file *f[POLLED_MAX];
};

static int look(struct polled *d)
{
	int found = 0;
	nfds_t i;

	for (i = 0; i < d->n; i++) {
		d->p[i].revents = d->f[i] ? ready(d->f[i]) &
			(d->p[i].events | POLLHUP | POLLERR) : POLLNVAL;
		found += !!d->p[i].revents;
	}
	return found;
}

static long poll_all(struct polled *d, u64 until)
{
	struct wait_queue_entry e[POLLED_MAX] = { };
	wait_queue_head_t *w[POLLED_MAX];
	long ret;
	ktime_t t;
	nfds_t i;

	for (i = 0; i < d->n; i++)
		w[i] = d->f[i] ? wait_of(d->f[i]) : NULL;
	for (;;) {
		for (i = 0; i < d->n; i++)
			if (w[i])
				prepare_to_wait(w[i], &e[i],
						TASK_INTERRUPTIBLE);
		ret = look(d);
		if (ret || sim_now() >= until)
			break;
		ret = signal_pending(current) ? -EINTR : 0;
		if (ret)
			break;
		t = until;
		if (until == U64_MAX)
			schedule();
		else
			schedule_hrtimeout_range(&t, 0, HRTIMER_MODE_ABS);
	}
	for (i = 0; i < d->n; i++)
		if (w[i])
			finish_wait(w[i], &e[i]);
	__set_current_state(TASK_RUNNING);
	return ret;
}

static long poll_ms(struct pollfd *p, nfds_t n, int ms)
{
	struct polled d = { .p = p, .n = n };
	nfds_t i;
	long ret;

	sim_yield();
	if (n > POLLED_MAX)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		d.f[i] = px_file_of(p[i].fd);
		if (d.f[i])
			d.f[i]->refs++;
	}
	sim_enter();
	ret = poll_all(&d, ms < 0 ? U64_MAX :
			   sim_now() + ms * (u64)NSEC_PER_MSEC);
	sim_leave();
	for (i = 0; i < n; i++)
		if (d.f[i])
			file_put(d.f[i]);
	return ret;
}

int px_poll(struct pollfd *p, nfds_t n, int ms);
int px_poll(struct pollfd *p, nfds_t n, int ms)
{
	return px_result(poll_ms(p, n, ms));
}

/* Threads that leave the table of files, and what they borrow of it. */

static long close_range_at(u32 from, u32 to, u32 flags)
{
	struct px_thread *t = px_self_thread();
	struct px_files *own;
	u32 i;

	if (flags) {
		own = px_files_new();
		for (i = 0; i < PX_FDS; i++) {
			own->fd[i] = t->files->fd[i];
			if (own->fd[i])
				own->fd[i]->refs++;
		}
		px_files_put(t->files);
		t->files = own;
	}
	for (i = from; i <= to && i < PX_FDS; i++)
		if (t->files->fd[i])
			close_at(i);
	return 0;
}

static long getfd(int fd)
{
	struct px_file *f = px_self()->files->fd[fd];

	if (!f)
		return -EBADF;
	f->refs++;
	return place(f, 0);
}

static long capabilities(bool set, const u32 *data)
{
	struct cred *c = (struct cred *)current->cred;

	/* Only whether CAP_IPC_LOCK is among them is known here. */
	if (set && !(data[0] & 1u << CAP_IPC_LOCK))
		c->capable = false;
	return 0;
}

static int exists(const char *path)
{
	const char *dev = "/dev/";

	return !strncmp(path, dev, strlen(dev)) &&
	       sim_minor_of(path + strlen(dev)) >= 0 ? 0 : -ENOENT;
}

/* Called with as many as there are; all of these are in registers. */
long px_syscall(long nr, long a0, long a1, long a2, long a3);
long px_syscall(long nr, long a0, long a1, long a2, long a3)
{
	switch (nr) {
	case SYS_poll:
		return px_result(poll_ms((void *)a0, (u32)a1, (int)a2));
	case SYS_read:
		return px_result(read_from((int)a0, (void *)a1, a2));
	case SYS_write:
		return px_result(write_to((int)a0, (void *)a1, a2));
	case SYS_faccessat:
		return px_result(exists((void *)a1));
	case SYS_futex:
		/* Both private; FUTEX_WAIT is 0, FUTEX_WAKE 1. */
		return px_result((a1 & 1) ?
			      px_futex_wake((void *)a0, (int)a2) :
			      px_futex_wait((void *)a0, (u32)a2,
					    px_until((void *)a3)));
	case SYS_pidfd_open:
		return px_result(place(px_file_new(PIDFD, 0), 0));
	case SYS_pidfd_getfd:
		return px_result(getfd((int)a1));
	case SYS_close_range:
		return px_result(close_range_at((u32)a0, (u32)a1,
					     (u32)a2));
	case SYS_capget:
		memset((void *)a1, current->cred->capable ? 0xff : 0, 24);
		return 0;
	case SYS_capset:
		return px_result(capabilities(true, (void *)a1));
	}
	return px_result(-ENOSYS);
}

/* What little of /proc and /sys there is. */

int px_access(const char *path, int mode);
int px_access(const char *path, int mode)
{
	return px_result(exists(path));
}

int px_stat(const char *path, struct stat *st);
int px_stat(const char *path, struct stat *st)
{
	if (strcmp(path, "/proc/self/task"))
		return px_result(-ENOENT);
	memset(st, 0, sizeof(*st));
	st->st_nlink = 2 + px_self()->threads;
	return 0;
}

int px_fstat(int fd, struct stat *st);
int px_fstat(int fd, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_ino = (uintptr_t)px_file_of(fd);
	return 0;
}

FILE *px_fopen(const char *path, const char *mode);
FILE *px_fopen(const char *path, const char *mode)
{
	char name[64], text[4096];
	FILE *f;

	if (sscanf(path, SYSFS_CLASS "/%63[^/]/ifindex", name) != 1 ||
	    sim_attr_show(name, "ifindex", text) <= 0) {
		errno = ENOENT;
		return NULL;
	}
	f = fmemopen(NULL, sizeof(text), "w+");
	if (!f)
		abort();
	fputs(text, f);
	rewind(f);
	return f;
}

static ssize_t cookie_read(void *cookie, char *buf, size_t n)
{
	return px_read((int)(intptr_t)cookie, buf, n);
}

static int cookie_close(void *cookie)
{
	return px_close((int)(intptr_t)cookie);
}

/* To read from. */
FILE *px_fdopen(int fd, const char *mode);
FILE *px_fdopen(int fd, const char *mode)
{
	cookie_io_functions_t io = {
		.read = cookie_read,
		.close = cookie_close,
	};

	return fopencookie((void *)(intptr_t)fd, "r", io);
}

/* Standard error, to /dev/null. */
FILE *px_freopen(const char *path, const char *mode, FILE *f);
FILE *px_freopen(const char *path, const char *mode, FILE *f)
{
	return f;
}

struct px_dir {
	int next;
	struct dirent e;
};

void *px_opendir(const char *path);
void *px_opendir(const char *path)
{
	if (!strcmp(path, SYSFS_CLASS))
		return calloc(1, sizeof(struct px_dir));
	errno = ENOENT;
	return NULL;
}

struct dirent *px_readdir(void *dir);
struct dirent *px_readdir(void *dir)
{
	struct px_dir *d = dir;
	const char *name = sim_device_name(d->next++);

	if (!name)
		return NULL;
	strcpy(d->e.d_name, name);
	return &d->e;
}

int px_closedir(void *dir);
int px_closedir(void *dir)
{
	free(dir);
	return 0;
}
