// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "proc.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int proc_write(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;
	ssize_t n, len = strlen(word);

	if (fd < 0)
		return -errno;
	n = write(fd, word, len);
	if (n != len)
		ret = n < 0 ? -errno : -EIO;
	close(fd);
	return ret;
}

ssize_t proc_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got, n = 0;

	text[0] = 0;
	if (fd < 0)
		return -errno;
	while ((got = read(fd, text + n, size - 1 - n)) > 0)
		n += got;
	if (got < 0 && !n)
		n = -errno;
	else
		text[n] = 0;
	close(fd);
	return n;
}

pid_t proc_fork(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("viatest: fork");
		exit(2);
	}
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}
