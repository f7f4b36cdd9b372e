// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A QEMU plugin that counts how often a cache line of the guest's memory is written
 * by another virtual CPU than before, and by which instruction; lines.py asks for
 * snapshots.  On silicon each of them is a line that moves between cores.
 *
 * 1. A store counts for the line of its first byte.  Atomic instructions store.
 * 2. The first store to a line counts for nothing: its page may be new.
 * 3. Virtual CPUs run beside each other.  last[] and the counts are written by atomic
 *    operations; a store that races with another one counts once or twice.
 */
#include <stdbool.h>
#include <sys/mman.h>

#include "plugin.h"

struct qemu_plugin_hwaddr;
typedef uint32_t qemu_plugin_meminfo_t;
enum { CB_NO_REGS };
enum { MEM_W = 2 };

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int cpu,
						 qemu_plugin_meminfo_t info,
						 uint64_t vaddr, void *data),
				      int flags, int rw, void *data);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info,
						  uint64_t vaddr);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *addr);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *addr);

#define LINE_SHIFT	6
#define LINES		(1ul << 27)	/* of 8 GiB, more than a guest has */
#define SLOTS		(1u << 20)	/* lines by instructions that take them */

struct slot {
	uint64_t line;		/* 0: free; else its number + 1 */
	uint64_t pc;
	uint64_t count;
};

static uint8_t *last;		/* of each line: CPU + 1 of the last store */
static struct slot *slots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* of slots */

/* A line has moved to another CPU. */
static void moved(uint64_t line, uint64_t pc)
{
	uint64_t i = (line * 0x9e3779b97f4a7c15u ^ pc * 0xc2b2ae3d27d4eb4fu) >> 44;
	unsigned int tries;

	pthread_mutex_lock(&lock);
	for (tries = 0; tries < SLOTS; tries++, i = (i + 1) % SLOTS) {
		if (!slots[i].line) {
			slots[i].line = line + 1;
			slots[i].pc = pc;
		}
		if (slots[i].line == line + 1 && slots[i].pc == pc) {
			slots[i].count++;
			pthread_mutex_unlock(&lock);
			return;
		}
	}
	fprintf(stderr, "lines: more than %u lines by instructions\n", SLOTS);
	abort();
}

static void stored(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t vaddr,
		   void *data)
{
	const struct qemu_plugin_hwaddr *at;
	uint8_t me = cpu + 1, before;
	uint64_t line;

	/* QEMU 7.2 calls for loads, too. */
	if (!qemu_plugin_mem_is_store(info))
		return;
	at = qemu_plugin_get_hwaddr(info, vaddr);
	if (!at || qemu_plugin_hwaddr_is_io(at))
		return;
	line = qemu_plugin_hwaddr_phys_addr(at) >> LINE_SHIFT;
	if (line >= LINES || __atomic_load_n(&last[line], __ATOMIC_RELAXED) == me)
		return;
	before = __atomic_exchange_n(&last[line], me, __ATOMIC_RELAXED);
	if (before && before != me)
		moved(line, (uintptr_t)data);
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uintptr_t pc = qemu_plugin_insn_vaddr(insn);

		qemu_plugin_register_vcpu_mem_cb(insn, stored, CB_NO_REGS, MEM_W,
						 (void *)pc);
	}
}

static void write_counts(FILE *f)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < SLOTS; i++)
		if (slots[i].line)
			fprintf(f, "%llx %llx %llu\n",
				(unsigned long long)(slots[i].line - 1)
					<< LINE_SHIFT,
				(unsigned long long)slots[i].pc,
				(unsigned long long)slots[i].count);
	pthread_mutex_unlock(&lock);
}

static void *room(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc,
			char **argv)
{
	(void)info;
	last = room(LINES);
	slots = room(SLOTS * sizeof(*slots));
	if (!last || !slots || plugin_begin(argc, argv))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
