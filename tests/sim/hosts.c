// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The hosts of a scenario and the programs on them. */
#include <stdio.h>
#include "hosts.h"

#define PROGRAMS_MAX	128

static struct {
	u32 n;				/* hosts that are, or were */
	struct host {
		struct sim_nic *nic;
		char node[12];
		u8 mac[ETH_ALEN];
	} host[HOSTS_MAX];
	u32 nprograms;
	struct program {
		struct sim_proc *proc;
		u32 host;
	} program[PROGRAMS_MAX];
} h;

void hosts_reset(void)
{
	memset(&h, 0, sizeof(h));
}

struct sim_nic *host_nic(u32 i)
{
	return h.host[i].nic;
}

const char *host_node(u32 i)
{
	return i < h.n ? h.host[i].node : "via_lo";
}

const u8 *host_mac(u32 i)
{
	static const u8 own[ETH_ALEN] = { 0x02, 0, 0, 0, 0, 0x01 };

	return i < h.n ? h.host[i].mac : own;
}

struct sim_nic *host_up(u32 i)
{
	const u8 mac[ETH_ALEN] = { 0x52, 0x54, 0, 0, 1, 1 + i };
	struct host *host = &h.host[i];

	sim_expect(i < HOSTS_MAX && !host->nic, "");
	h.n = max(h.n, i + 1);
	memcpy(host->mac, mac, ETH_ALEN);
	if (i < 26)
		snprintf(host->node, sizeof(host->node), "via_%c", 'a' + i);
	else
		snprintf(host->node, sizeof(host->node), "via_h%u", i);
	host->nic = sim_nic_up(host->node + strlen("via_"), 1 + i);
	return host->nic;
}

void host_down(u32 i)
{
	struct sim_nic *nic = h.host[i].nic;

	h.host[i].nic = NULL;
	if (nic)
		sim_nic_down(nic);
}

bool hosts_up(u32 n)
{
	bool all = true;
	u32 i;

	for (i = 0; i < n; i++)
		all &= !!host_up(i);
	return all;
}

void hosts_down(void)
{
	u32 i;

	programs_wait();
	for (i = 0; i < h.n; i++)
		host_down(i);
	h.n = 0;
}

struct sim_proc *host_run_as(u32 i, u32 uid, const char *name,
			     void (*fn)(void *arg), void *arg)
{
	struct program *p = &h.program[h.nprograms];

	sim_expect(h.nprograms < PROGRAMS_MAX, "");
	h.nprograms++;
	p->host = i;
	p->proc = sim_proc_new(name, uid);
	sim_thread(p->proc, name, fn, arg);
	return p->proc;
}

struct sim_proc *host_run(u32 i, const char *name, void (*fn)(void *arg),
			  void *arg)
{
	return host_run_as(i, 1000 + i, name, fn, arg);
}

void program_wait(struct sim_proc *proc)
{
	u32 i;

	for (i = 0; i < h.nprograms && h.program[i].proc != proc; i++)
		;
	sim_expect(i < h.nprograms, "");
	h.program[i] = h.program[--h.nprograms];
	sim_proc_wait(proc);
}

void programs_wait(void)
{
	while (h.nprograms)
		program_wait(h.program[0].proc);
}

void host_dies(u32 i)
{
	u32 k;

	sim_nic_cut(host_nic(i), true);
	for (k = 0; k < h.nprograms; k++)
		if (h.program[k].host == i)
			sim_kill(h.program[k].proc);
	for (k = h.nprograms; k--;)
		if (h.program[k].host == i)
			program_wait(h.program[k].proc);
	host_down(i);
}
