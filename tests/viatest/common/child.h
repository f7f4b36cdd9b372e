/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <sys/types.h>

/* A process with the status that f(arg) returns; it dies with its parent. */
pid_t child_start(int (*f)(void *arg), void *arg);
/* The wait status of one that ends by itself; -1: of any. */
int child_wait(pid_t pid);
/* kill -9: its wait status. */
int child_kill(pid_t pid);

#endif
