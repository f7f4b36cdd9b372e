/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files of /proc and /sys, and the processes of a test. */
#ifndef TESTS_PROC_H
#define TESTS_PROC_H

#include <stddef.h>
#include <sys/types.h>

/* A word into a file: 0 or -errno. */
int proc_write(const char *path, const char *word);
/* What is in a file, as far as there is room for it: bytes, or -errno. */
ssize_t proc_read(const char *path, char *text, size_t size);

/* fork() of a child that dies with its parent; the program ends without one. */
pid_t proc_fork(void);

#endif
