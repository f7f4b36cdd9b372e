/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The hosts of a scenario and the programs on them.
 *
 * Host 0 is the NIC via_a, host 1 via_b and so on, each with an address of its
 * own.  Where a scenario brings none up, its programs are on the loopback: what
 * a host is called, and what its address is, say so.
 */
#ifndef SIM_HOSTS_H
#define SIM_HOSTS_H

#include "host.h"

#define HOSTS_MAX	72

/* So many of them; false: there was no memory for some. */
bool hosts_up(u32 n);
/* All programs have ended, and then the NICs go. */
void hosts_down(void);

/* Its NIC; NULL: it is not there. */
struct sim_nic *host_nic(u32 i);
const char *host_node(u32 i);
const u8 *host_mac(u32 i);
struct sim_nic *host_up(u32 i);
void host_down(u32 i);
/* It is gone without a word, and its programs with it. */
void host_dies(u32 i);

/* A program on a host, of user 1000 + i: a process that begins with @fn. */
struct sim_proc *host_run(u32 i, const char *name, void (*fn)(void *arg),
			  void *arg);
struct sim_proc *host_run_as(u32 i, u32 uid, const char *name,
			     void (*fn)(void *arg), void *arg);
/* Until one, or each, has ended; then it is gone. */
void program_wait(struct sim_proc *p);
void programs_wait(void);

/* As run.c begins a run. */
void hosts_reset(void);

#endif
