// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What is sent, in a file that tcpdump and Wireshark read: pcap with
 * nanoseconds, of virtual time.  One write for each frame, so that a run that
 * fails leaves those before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "host.h"

#define MAGIC_NS	0xa1b23c4du
#define LINK_ETHERNET	1
#define BYTES_MAX	(128 * 1024)

static int file = -1;

static void put(const struct iovec *part, int n)
{
	ssize_t len = 0;
	int i;

	for (i = 0; i < n; i++)
		len += part[i].iov_len;
	if (writev(file, part, n) != len) {
		perror("viasim: --pcap");
		_exit(2);
	}
}

void sim_capture_open(const char *path)
{
	u32 head[] = { MAGIC_NS, 2 | 4 << 16, 0, 0, BYTES_MAX, LINK_ETHERNET };
	const struct iovec part = { head, sizeof(head) };

	file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
	if (file < 0) {
		fprintf(stderr, "viasim: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	put(&part, 1);
}

bool sim_capturing(void)
{
	return file >= 0;
}

void sim_capture(const void *frame, u32 len)
{
	u32 head[] = { sim_clock / 1000000000, sim_clock % 1000000000, len,
		       len };
	const struct iovec part[] = { { head, sizeof(head) },
				      { (void *)frame, len } };

	if (file >= 0)
		put(part, 2);
}
