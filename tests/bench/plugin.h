/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_PLUGIN_H
#define BENCH_PLUGIN_H

/*
 * What the QEMU plugins of this directory share: snapshots of their counts, which
 * snapshot.py asks for. The file that includes this one has write_counts() and
 * qemu_plugin_install(), which begins with plugin_begin().
 *
 * Debian ships QEMU with plugins and without their header, so the few functions used
 * are declared here, as version 1 of QEMU's plugin interface has them.
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

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id,
						      struct qemu_plugin_tb *));
int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc,
			char **argv);

int qemu_plugin_version = 1;

static char plugin_path[512];

/* A row for each count that is not zero, the count last. */
static void write_counts(FILE *f);

static void plugin_dump(void)
{
	char tmp[520];
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s.tmp", plugin_path);
	f = fopen(tmp, "w");
	if (!f)
		return;
	write_counts(f);
	if (!fclose(f))
		rename(tmp, plugin_path);
}

/* A reader makes PATH.want; the snapshot is in PATH when that is gone. */
static void *plugin_dumper(void *arg)
{
	const struct timespec nap = { 0, 20000000 };
	char want[520];

	snprintf(want, sizeof(want), "%s.want", plugin_path);
	for (;;) {
		nanosleep(&nap, NULL);
		if (access(want, F_OK))
			continue;
		plugin_dump();
		unlink(want);
	}
	return arg;
}

/*
 * The argument is out=PATH or, for one of several guests, pid=PATH: PATH.PID then.
 * After the tables are there. Not 0: no such argument, no thread.
 */
static int plugin_begin(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 1 || (strncmp(argv[0], "out=", 4) &&
			  strncmp(argv[0], "pid=", 4)))
		return -1;
	snprintf(plugin_path, sizeof(plugin_path), "%s", argv[0] + 4);
	if (argv[0][0] == 'p')
		snprintf(plugin_path + strlen(plugin_path),
			 sizeof(plugin_path) - strlen(plugin_path), ".%d",
			 getpid());
	return pthread_create(&thread, NULL, plugin_dumper, NULL);
}

#endif
