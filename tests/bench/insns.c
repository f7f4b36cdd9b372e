// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A QEMU plugin that counts how often each guest instruction is executed;
 * profile.py and shared.py ask for snapshots.  For one virtual CPU.
 *
 * Debian ships QEMU with plugins and without their header, so the few
 * functions used are declared here, as version 1 of QEMU's plugin interface
 * has them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
enum { INLINE_ADD_U64 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						int op, void *ptr,
						uint64_t imm);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id,
						      struct qemu_plugin_tb *));

int qemu_plugin_version = 1;

#define SLOTS	(1u << 21)	/* distinct addresses; a guest has under 1M */

struct slot {
	uint64_t vaddr;		/* 0: free */
	uint64_t count;
};

/* Written by the one vCPU thread; read, a little late, by the dumper. */
static struct slot *slots;
static char path[512];

static struct slot *slot_of(uint64_t vaddr)
{
	uint64_t i = vaddr * 0x9e3779b97f4a7c15u >> 43;
	unsigned int tries;

	for (tries = 0; tries < SLOTS; tries++, i = (i + 1) % SLOTS) {
		if (!slots[i].vaddr)
			slots[i].vaddr = vaddr;
		if (slots[i].vaddr == vaddr)
			return &slots[i];
	}
	fprintf(stderr, "insns: more than %u addresses\n", SLOTS);
	abort();
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct slot *s = slot_of(qemu_plugin_insn_vaddr(insn));

		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64,
							   &s->count, 1);
	}
}

static void dump(void)
{
	char tmp[520];
	unsigned int i;
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	f = fopen(tmp, "w");
	if (!f)
		return;
	for (i = 0; i < SLOTS; i++)
		if (slots[i].count)
			fprintf(f, "%llx %llu\n",
				(unsigned long long)slots[i].vaddr,
				(unsigned long long)slots[i].count);
	if (!fclose(f))
		rename(tmp, path);
}

/* A reader makes PATH.want; the snapshot is in PATH when that is gone. */
static void *dumper(void *arg)
{
	const struct timespec nap = { 0, 20000000 };
	char want[520];

	snprintf(want, sizeof(want), "%s.want", path);
	for (;;) {
		nanosleep(&nap, NULL);
		if (access(want, F_OK))
			continue;
		dump();
		unlink(want);
	}
	return arg;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc,
			char **argv);

int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc,
			char **argv)
{
	pthread_t thread;

	(void)info;
	if (argc != 1 || (strncmp(argv[0], "out=", 4) &&
			  strncmp(argv[0], "pid=", 4)))
		return -1;
	snprintf(path, sizeof(path), "%s", argv[0] + 4);
	/* One of several guests. */
	if (argv[0][0] == 'p')
		snprintf(path + strlen(path), sizeof(path) - strlen(path),
			 ".%d", getpid());
	slots = calloc(SLOTS, sizeof(*slots));
	if (!slots || pthread_create(&thread, NULL, dumper, NULL))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
