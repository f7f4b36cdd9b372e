// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A file system of one file, over /dev/fuse and without a library: a root with
 * "file" in it, which is read in the way that was asked for.
 */
#include "fuse.h"
#include "proc.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROOT		1u		/* nodes */
#define FILE_NODE	2u
#define LATER		64u		/* answers that wait for their time */
#define LONG		3600u		/* s: what is known stays known */

#define NO_TIME		(~0ull)

struct later {
	uint64_t unique, due;		/* due: ms */
	uint32_t size;
};

/* Shared with the server; atomic. */
struct talk {
	uint32_t asked;
	uint32_t answer;
};

static struct {
	int fd;
	enum fuse_way way;
	bool async;
	struct later later[LATER];
	unsigned int laters;
} s;

static pid_t server;
static struct talk *talk;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static void reply(uint64_t unique, int error, const void *data, size_t len)
{
	static uint8_t out[sizeof(struct fuse_out_header) + FUSE_BYTES];
	struct fuse_out_header h = {
		.len = sizeof(h) + (error ? 0 : len), .error = error,
		.unique = unique,
	};

	memcpy(out, &h, sizeof(h));
	if (!error && len)
		memcpy(out + sizeof(h), data, len);
	/* The thread that asked may have gone. */
	if (write(s.fd, out, h.len) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attr(uint64_t node)
{
	struct fuse_attr a = { .ino = node, .nlink = 1, .blksize = 4096 };

	a.mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0666;
	a.size = node == ROOT ? 0 : FUSE_BYTES;
	return a;
}

static void pages(uint64_t unique, uint32_t size)
{
	static uint8_t text[FUSE_BYTES];

	memset(text, 'f', sizeof(text));
	reply(unique, 0, text, size < FUSE_BYTES ? size : FUSE_BYTES);
}

static void keep(uint64_t unique, uint64_t due, uint32_t size)
{
	if (s.laters < LATER)
		s.later[s.laters++] = (struct later){ unique, due, size };
}

static void asked_to_read(uint64_t unique, const struct fuse_read_in *in)
{
	__atomic_add_fetch(&talk->asked, 1, __ATOMIC_RELEASE);
	switch (s.way) {
	case ANSWERS:
		pages(unique, in->size);
		break;
	case LATE:
		keep(unique, now_ms() + FUSE_LATE_MS, in->size);
		break;
	case NEVER:
		keep(unique, NO_TIME, in->size);
		break;
	case DIES:
		_exit(0);
	}
}

static void asked_for(const struct fuse_in_header *h, const void *arg)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = FUSE_BYTES,
		.flags = s.async ? FUSE_ASYNC_READ : 0, .max_background = 16,
		.congestion_threshold = 12, .max_write = 4096, .time_gran = 1,
	};
	struct fuse_entry_out entry = { .nodeid = FILE_NODE,
					.entry_valid = LONG,
					.attr_valid = LONG };
	struct fuse_attr_out about = { .attr_valid = LONG };
	struct fuse_open_out opened = { 0 };

	switch (h->opcode) {
	case FUSE_INIT:
		reply(h->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		entry.attr = attr(FILE_NODE);
		reply(h->unique, strcmp(arg, "file") ? -ENOENT : 0, &entry,
		      sizeof(entry));
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		about.attr = attr(h->nodeid);
		reply(h->unique, 0, &about, sizeof(about));
		break;
	case FUSE_OPEN:
		reply(h->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		asked_to_read(h->unique, arg);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		reply(h->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(h->unique, -ENOSYS, NULL, 0);
	}
}

static int send_due(void)
{
	uint64_t now = __atomic_load_n(&talk->answer, __ATOMIC_ACQUIRE) ?
		NO_TIME : now_ms();
	unsigned int i;

	for (i = 0; i < s.laters;) {
		if (s.later[i].due > now) {
			i++;
			continue;
		}
		pages(s.later[i].unique, s.later[i].size);
		s.later[i] = s.later[--s.laters];
	}
	return s.laters ? 20 : -1;
}

static void serve(void)
{
	static uint8_t in[FUSE_MIN_READ_BUFFER + 8192]
		__attribute__((aligned(8)));
	const struct fuse_in_header *h = (void *)in;
	struct pollfd p = { .fd = s.fd, .events = POLLIN };
	ssize_t n;

	for (;;) {
		if (poll(&p, 1, send_due()) <= 0)
			continue;
		n = read(s.fd, in, sizeof(in));
		if (n < 0 && (errno == EINTR || errno == EAGAIN ||
			      errno == ENOENT))
			continue;
		if (n < (ssize_t)sizeof(*h))
			_exit(0);
		asked_for(h, in + sizeof(*h));
	}
}

uint32_t fuse_asked(void)
{
	return talk ? __atomic_load_n(&talk->asked, __ATOMIC_ACQUIRE) : 0;
}

void fuse_answer(void)
{
	__atomic_store_n(&talk->answer, 1, __ATOMIC_RELEASE);
}

void fuse_end(void)
{
	if (!server)
		return;
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	server = 0;
}

int fuse_file(enum fuse_way way, bool async)
{
	char at[] = "/tmp/via-fuse-XXXXXX";
	char words[80];
	int fd = -1;

	fuse_end();
	if (!talk)
		talk = mmap(NULL, sizeof(*talk), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(talk, 0, sizeof(*talk));
	s.way = way;
	s.async = async;
	s.laters = 0;
	s.fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (s.fd < 0 || !mkdtemp(at))
		return -1;
	snprintf(words, sizeof(words),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", s.fd);
	if (!mount("via", at, "fuse", MS_NOSUID | MS_NODEV, words)) {
		server = proc_fork();
		if (!server)
			serve();
		snprintf(words, sizeof(words), "%s/file", at);
		fd = open(words, O_RDWR | O_CLOEXEC);
		/* The file keeps what it needs of it. */
		umount2(at, MNT_DETACH);
	}
	rmdir(at);
	/* The server's end is to be that of all. */
	close(s.fd);
	return fd;
}
