// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "fuse.h"
#include "regress.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	4096u
#define KEPT	8u

struct fuse_shared {
	uint32_t asked;		/* atomic */
	uint32_t answer;	/* atomic */
};

/* The server's. */
struct served {
	int fd;
	bool async;
	struct fuse_shared *shared;
	uint64_t kept[KEPT];	/* questions for the page, not answered */
	uint32_t nkept;
};

static void reply(const struct served *s, uint64_t unique, int error,
		  const void *p, size_t n)
{
	struct {
		struct fuse_out_header h;
		char body[PAGE];
	} out = {
		.h.len = sizeof(out.h) + n,
		.h.error = error,
		.h.unique = unique,
	};

	if (n)
		memcpy(out.body, p, n);
	/* Whoever asked may be gone. */
	if (write(s->fd, &out, out.h.len) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = PAGE,
		.blocks = PAGE / 512,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0666,
		.nlink = 1,
		.blksize = PAGE,
	};
}

static void answer_kept(struct served *s)
{
	static const char page[PAGE];

	while (s->nkept)
		reply(s, s->kept[--s->nkept], 0, page, PAGE);
}

static void answer(struct served *s, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.max_readahead = PAGE,
		.max_write = PAGE,
		.flags = s->async ? FUSE_ASYNC_READ : 0,
	};
	struct fuse_entry_out entry = {
		.nodeid = 2,
		.entry_valid = 1000,
		.attr_valid = 1000,
		.attr = attributes(2),
	};
	struct fuse_attr_out attr = {
		.attr_valid = 1000,
		.attr = attributes(in->nodeid),
	};
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		reply(s, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply(s, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(s, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(s, in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		if (s->nkept < KEPT)
			s->kept[s->nkept++] = in->unique;
		__atomic_add_fetch(&s->shared->asked, 1, __ATOMIC_RELEASE);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_ACCESS:
		reply(s, in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(s, in->unique, -ENOSYS, NULL, 0);
	}
}

static void serve(struct served *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	static char buf[1 << 18];
	ssize_t n;

	for (;;) {
		if (__atomic_load_n(&s->shared->answer, __ATOMIC_ACQUIRE))
			answer_kept(s);
		if (poll(&p, 1, 10) < 1)
			continue;
		n = read(s->fd, buf, sizeof(buf));
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			answer(s, (void *)buf);
		else if (errno != EINTR && errno != ENOENT && errno != EAGAIN)
			_exit(0);
	}
}

void fuse_start(struct fuse *f, bool async)
{
	struct served s = { .async = async };
	char words[100];

	strcpy(f->dir, "/tmp/viaregress-XXXXXX");
	if (!mkdtemp(f->dir))
		die("no folder: %s", strerror(errno));
	snprintf(f->path, sizeof(f->path), "%s/page", f->dir);
	s.fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(words, sizeof(words),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", s.fd);
	if (s.fd < 0 || mount("viaregress", f->dir, "fuse", 0, words))
		die("no FUSE: %s", strerror(errno));
	f->shared = s.shared = shared_memory(PAGE);
	f->server = fork();
	if (f->server < 0)
		die("fork: %s", strerror(errno));
	if (!f->server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(&s);
	}
	close(s.fd);
}

bool fuse_asked(const struct fuse *f)
{
	return __atomic_load_n(&f->shared->asked, __ATOMIC_ACQUIRE);
}

void fuse_answer(struct fuse *f)
{
	__atomic_store_n(&f->shared->answer, 1, __ATOMIC_RELEASE);
}

void fuse_end(struct fuse *f)
{
	kill(f->server, SIGKILL);
	waitpid(f->server, NULL, 0);
	umount2(f->dir, MNT_DETACH);
	rmdir(f->dir);
}
