// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every kind of memory: what may be registered then carries a message, there
 * and back; what may not is refused with the documented code, and pins nothing.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>
#include "common/fuse.h"
#include "common/memory.h"
#include "common/proc.h"
#include "common/twins.h"
#include "fuzz.h"
#include "kinds.h"

#define DROPS		300u	/* at most, */
#define DROPS_LEAST	20u	/* and at least, */
#define DROPS_S		5	/* s: on a debug kernel each is slow */
#define MEM		(5 * PAGE)

static struct twins t;
static uint8_t *mem;		/* descriptors, a buffer to send, one to get */
static VIP_MEM_HANDLE mem_handle;

static void must(const char *what, VIP_RETURN rc)
{
	if (rc == VIP_SUCCESS)
		return;
	fprintf(stderr, "viatest fuzz: %s: %d\n", what, rc);
	exit(2);
}

static void one_way(uint64_t from, VIP_MEM_HANDLE hf, uint64_t to,
		    VIP_MEM_HANDLE ht, uint32_t len)
{
	twins_carry(&t, 0, twins_describe(mem + 64, from, hf, len), mem_handle,
		    twins_describe(mem, to, ht, len), mem_handle);
}

/* Into the memory by its address, and out of it again. */
static int carries(const struct piece *p)
{
	uint32_t len = p->len < 2 * PAGE ? p->len : 2 * PAGE, i;
	uint64_t at = p->addr + (p->len - len);	/* up to its last byte */
	uint8_t *out = mem + PAGE, *in = out + 2 * PAGE;
	uint8_t *there = (void *)(uintptr_t)at;
	VIP_MEM_HANDLE handle = twins_register(&t, (void *)(uintptr_t)p->addr,
					       p->len);

	for (i = 0; i < len; i++)
		out[i] = i * 7 + (at >> 12);
	one_way((uintptr_t)out, mem_handle, at, handle, len);
	i = memcmp(there, out, len);
	memset(in, 0, len);
	one_way(at, handle, (uintptr_t)in, mem_handle, len);
	i |= memcmp(in, out, len);
	must("VipDeregisterMem", VipDeregisterMem(t.nic, (void *)(uintptr_t)
						  p->addr, handle));
	return !i;
}

/* Pages registered by all processes, by the module's ledger. */
static long pages_alive(void)
{
	return ledger_alive("pages");
}

/* Also charged to RLIMIT_MEMLOCK. */
static long charged(void)
{
	char text[4096];
	const char *line;

	proc_read("/proc/self/status", text, sizeof(text));
	line = strstr(text, "VmPin:");
	return line ? strtol(line + 6, NULL, 10) : -1;
}

static unsigned int tried(const struct kind *k)
{
	struct piece p = kind_make(k);
	void *at = (void *)(uintptr_t)p.addr;
	long pages = pages_alive(), kib = charged();
	uint32_t handle;
	int ret;

	if (!p.addr) {
		printf("viatest fuzz: %-28s not here\n", k->name);
		return 0;
	}
	ret = abi_register(raw.a.fd, at, p.len, &handle);
	if (ret != k->want) {
		printf("viatest fuzz: %-28s verdict %d, not %d\n", k->name,
		       ret, k->want);
		return 1;
	}
	if (!ret && abi_deregister(raw.a.fd, at, handle)) {
		printf("viatest fuzz: %-28s stays registered\n", k->name);
		return 1;
	}
	if (!ret && !carries(&p)) {
		printf("viatest fuzz: %-28s carries other bytes\n", k->name);
		return 1;
	}
	if (pages_alive() != pages || charged() != kib) {
		printf("viatest fuzz: %-28s leaves %ld pages pinned, %ld KiB charged\n",
		       k->name, pages_alive() - pages, charged() - kib);
		return 1;
	}
	printf("viatest fuzz: %-28s %s\n", k->name, ret ? "refused" : "carries");
	return 0;
}

static uint32_t dropped_all;	/* atomic */

static void *drop(void *at)
{
	while (!__atomic_load_n(&dropped_all, __ATOMIC_RELAXED))
		madvise(at, FUSE_BYTES, MADV_DONTNEED);
	return NULL;
}

/* What is registered is dropped meanwhile, page by page, and read again. */
static unsigned int dropped(void)
{
	struct piece p = mapped(RW, MAP_PRIVATE, fuse_file(ANSWERS, true),
				FUSE_BYTES);
	void *at = (void *)(uintptr_t)p.addr;
	long pages = pages_alive(), kib = charged();
	unsigned int i, taken = 0, bad = 0;
	time_t end = time(NULL) + DROPS_S;
	uint32_t handle;
	pthread_t id;
	int ret;

	if (!at || pthread_create(&id, NULL, drop, at))
		return 0;
	for (i = 0; i < DROPS && (i < DROPS_LEAST || time(NULL) < end); i++) {
		ret = abi_register(raw.a.fd, at, p.len, &handle);
		taken += !ret;
		if (!ret)
			ret = abi_deregister(raw.a.fd, at, handle);
		bad += ret && ret != VIA_R_INVALID_PARAMETER;
	}
	__atomic_store_n(&dropped_all, 1, __ATOMIC_RELAXED);
	pthread_join(id, NULL);
	fuse_end();
	bad += pages_alive() != pages || charged() != kib || !taken;
	printf("viatest fuzz: FUSE, dropped meanwhile: %u of %u registered, %ld pages pinned, %ld KiB charged%s\n",
	       taken, i, pages_alive() - pages, charged() - kib,
	       bad ? ": WRONG" : "");
	return bad;
}

static void set_up(const char *device)
{
	t = (struct twins){ .must = must, .disc = "kinds" };
	twins_open(&t, device);
	mem = memory_new(MEM);
	mem_handle = twins_register(&t, mem, MEM);
	must("a connection", twins_join(&t, TWINS_MS));
	/* What is mounted here is seen here only. */
	unshare(CLONE_NEWNS);
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

unsigned int memory_kinds(const char *device)
{
	struct ledger before = ledger_read();
	unsigned int i, bad = 0;
	int ret;

	ret = abi_open(&raw.a, device);
	if (ret) {
		fprintf(stderr, "viatest fuzz: %s: %s\n", device,
			strerror(-ret));
		return 1;
	}
	set_up(device);
	for (i = 0; i < kinds_number; i++)
		bad += tried(&kinds[i]);
	fuse_end();
	bad += dropped();
	must("VipDisconnect", VipDisconnect(t.vi[0]));
	must("VipCloseNic", VipCloseNic(t.nic));
	munmap(mem, MEM);
	munmap((void *)(uintptr_t)raw.queues.addr, raw.queues.len);
	abi_close(&raw.a);
	bad += blocked_memory(device, &before);
	printf("viatest fuzz: %u kinds of memory, %u wrong\n", i, bad);
	return bad;
}
