// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A QEMU plugin that counts how often each guest instruction is executed;
 * profile.py and shared.py ask for snapshots.  For one virtual CPU.
 */
#include "plugin.h"

enum { INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						int op, void *ptr,
						uint64_t imm);

#define SLOTS	(1u << 21)	/* distinct addresses; a guest has under 1M */

struct slot {
	uint64_t vaddr;		/* 0: free */
	uint64_t count;
};

/* Written by the one vCPU thread; read, a little late, by the dumper. */
static struct slot *slots;

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

static void write_counts(FILE *f)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		if (slots[i].count)
			fprintf(f, "%llx %llu\n",
				(unsigned long long)slots[i].vaddr,
				(unsigned long long)slots[i].count);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc,
			char **argv)
{
	(void)info;
	slots = calloc(SLOTS, sizeof(*slots));
	if (!slots || plugin_begin(argc, argv))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
