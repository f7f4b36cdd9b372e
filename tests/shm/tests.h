/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef SHM_TESTS_H
#define SHM_TESTS_H

/* Each returns 0, or ends the program; 77: it cannot be done here. */
int test_kill(int rounds);
int test_stop(int rounds);
int test_stopdir(int rounds);
int test_forks(int rounds);
int test_signals(int rounds);
int test_crowd(int processes);
int test_many(int vis);
int test_strangers(int ms);
int test_uid(int rounds);
int test_open(int rounds);
int test_short(int messages);
int test_wake(int rounds);
int test_dereg(int rounds);
int test_limits(int rounds);
int test_squat(int rounds);

#endif /* SHM_TESTS_H */
