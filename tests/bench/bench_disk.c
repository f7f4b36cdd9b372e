// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What a read or write of a disk or file costs, past its cache, with so many in flight: in exact
 * mode instructions of the whole machine. One at a time by pread() and pwrite(), more
 * by libaio's system calls; fio's own work would be a part of each figure.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/msg.h"
#include "emit.h"

#define PLACES 64	/* of the disk, in turn */
#define MOST_DEPTH 64
#define WARM 200	/* that do not count */

struct disk {
	int fd;
	int write;
	unsigned long size;
	unsigned long count;
	unsigned long depth;
	char *memory;	/* size * depth */
};

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*end || !n || n > most)
		die("%s: not a number from 1 to %lu", text, most);
	return n;
}

static off_t place(const struct disk *d, unsigned long i)
{
	return (off_t)(i % PLACES * d->size);
}

static void move(const struct disk *d, unsigned long i)
{
	ssize_t n = d->write ? pwrite(d->fd, d->memory, d->size, place(d, i)) :
			       pread(d->fd, d->memory, d->size, place(d, i));

	if (n != (ssize_t)d->size)
		die("%s: %s", d->write ? "write" : "read",
		    n < 0 ? strerror(errno) : "less than was asked for");
}

/* ns of all that count. */
static uint64_t in_turn(const struct disk *d)
{
	unsigned long i;
	uint64_t start = 0;

	for (i = 0; i < WARM + d->count; i++) {
		if (i == WARM)
			start = now_ns();
		move(d, i);
	}
	return now_ns() - start;
}

static void submit(aio_context_t ctx, struct iocb **list, long n)
{
	if (n && syscall(SYS_io_submit, ctx, n, list) != n)
		die("io_submit: %s", strerror(errno));
}

static uint64_t in_flight(const struct disk *d)
{
	struct iocb cb[MOST_DEPTH] = { 0 }, *list[MOST_DEPTH];
	struct io_event events[MOST_DEPTH];
	unsigned long asked = 0, done = 0, all = WARM + d->count;
	aio_context_t ctx = 0;
	uint64_t start = 0;
	long i, n, again;

	if (syscall(SYS_io_setup, MOST_DEPTH, &ctx))
		die("io_setup: %s", strerror(errno));
	for (; asked < d->depth; asked++) {
		struct iocb *b = list[asked] = &cb[asked];

		b->aio_fildes = d->fd;
		b->aio_lio_opcode = d->write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
		b->aio_buf = (uintptr_t)(d->memory + asked * d->size);
		b->aio_nbytes = d->size;
		b->aio_data = asked;
		b->aio_offset = place(d, asked);
	}
	submit(ctx, list, asked);
	while (done < all) {
		n = syscall(SYS_io_getevents, ctx, 1, MOST_DEPTH, events, NULL);
		if (n < 1)
			die("io_getevents: %s", strerror(errno));
		for (i = again = 0; i < n; i++) {
			if (events[i].res != (long long)d->size)
				die("a request ended with %lld",
				    (long long)events[i].res);
			if (done++ == WARM)
				start = now_ns();
			if (asked == all)
				continue;
			list[again] = &cb[events[i].data];
			list[again++]->aio_offset = place(d, asked++);
		}
		submit(ctx, list, again);
	}
	return now_ns() - start;
}

int main(int argc, char **argv)
{
	struct disk d = { 0 };
	char name[64];
	double ns;

	if (argc != 7 || (strcmp(argv[3], "read") && strcmp(argv[3], "write")))
		die("usage: bench_disk NAME DISK read|write BYTES IN-FLIGHT COUNT");
	d.write = !strcmp(argv[3], "write");
	d.size = number(argv[4], 1 << 20);
	d.depth = number(argv[5], MOST_DEPTH);
	d.count = number(argv[6], 1000000);
	d.fd = open(argv[2], (d.write ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	if (d.fd < 0)
		die("%s: %s", argv[2], strerror(errno));
	d.memory = aligned_alloc(4096, (d.size * d.depth + 4095) & ~4095ul);
	if (!d.memory)
		die("no memory");
	memset(d.memory, 1, d.size * d.depth);
	ns = (double)(d.depth == 1 ? in_turn(&d) : in_flight(&d)) / d.count;
	snprintf(name, sizeof(name), "%s %s x%lu", argv[1], argv[3], d.depth);
	if (d.size > 4096)
		emit(name, argv[2], "-", "block", d.size, "instr-per-byte",
		     ns / d.size);
	else
		emit(name, argv[2], "-", "block", d.size, "ns", ns);
	free(d.memory);
	return 0;
}
