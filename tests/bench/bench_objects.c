// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What a VI costs to make and to destroy, and what a page costs to register
 * and to deregister, by the kind of page that the memory has.
 *
 *	bench_objects [DEVICE]
 *
 * Eight huge pages must be there (/proc/sys/vm/nr_hugepages).
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/chan.h"
#include "common/msg.h"
#include "emit.h"

#define VIS	200
#define PAGE	4096ul
#define HUGE	(2ul << 20)
#define MOST	(16ul << 20)

static const unsigned long sizes[] = { PAGE, 64ul << 10, MOST };

enum kind { SMALL, THP, HUGETLB, KINDS };

static const char *const kinds[KINDS] = { "4 KiB", "transparent", "hugetlb" };

static void vis(const struct nic *nic, bool told)
{
	VIP_VI_ATTRIBUTES attr = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = 65536,
	};
	static VIP_VI_HANDLE vi[VIS];
	uint64_t made, gone, t = now_ns();

	for (int i = 0; i < VIS; i++)
		if (VipCreateVi(nic->h, &attr, NULL, NULL, &vi[i]))
			die("cannot create VI %d", i);
	made = now_ns() - t;
	t = now_ns();
	for (int i = 0; i < VIS; i++)
		if (VipDestroyVi(vi[i]))
			die("cannot destroy VI %d", i);
	gone = now_ns() - t;
	if (!told)
		return;
	emit("object", "create", "rd", "-", 0, "ns", (double)made / VIS);
	emit("object", "destroy", "rd", "-", 0, "ns", (double)gone / VIS);
}

/* Bytes of transparent huge pages that this process has. */
static unsigned long huge_bytes(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	unsigned long kib = 0;
	char line[128];

	if (!f)
		die("/proc/self/smaps_rollup: %s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			break;
	fclose(f);
	return kib << 10;
}

/* Memory of such pages, all of them there; it begins at a huge page. */
static unsigned char *memory(enum kind kind)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	unsigned long before = huge_bytes();
	unsigned char *p;

	if (kind == HUGETLB)
		flags |= MAP_HUGETLB;
	p = mmap(NULL, MOST + (kind == HUGETLB ? 0 : HUGE),
		 PROT_READ | PROT_WRITE, flags, -1, 0);
	if (p == MAP_FAILED)
		die("no memory of %s pages: %s", kinds[kind], strerror(errno));
	if (kind != HUGETLB)
		p = (unsigned char *)(((uintptr_t)p + HUGE - 1) & -HUGE);
	if (kind == SMALL && madvise(p, MOST, MADV_NOHUGEPAGE) &&
	    errno != EINVAL)
		die("MADV_NOHUGEPAGE: %s", strerror(errno));
	if (kind == THP && madvise(p, MOST, MADV_HUGEPAGE))
		die("MADV_HUGEPAGE: %s", strerror(errno));
	memset(p, 1, MOST);
	if (huge_bytes() - before != (kind == THP ? MOST : 0))
		die("%lu bytes of huge pages where %lu were due",
		    huge_bytes() - before, kind == THP ? MOST : 0);
	return p;
}

static void pages(const struct nic *nic, enum kind kind, unsigned char *p,
		  unsigned long len)
{
	int rounds = len == MOST ? 4 : 100;
	VIP_MEM_ATTRIBUTES attr = { 0 };
	uint64_t up = 0, down = 0, t;
	double all = (double)rounds * (double)(len / PAGE);
	char name[64];

	/* The first one is for the caches. */
	for (int i = 0; i <= rounds; i++) {
		VIP_MEM_HANDLE h;
		VIP_RETURN rc;

		if (i == 1)
			up = down = 0;
		t = now_ns();
		rc = VipRegisterMem(nic->h, p, len, &attr, &h);
		up += now_ns() - t;
		if (rc != VIP_SUCCESS)
			die("cannot register %lu bytes: %s", len, vip_str(rc));
		t = now_ns();
		VipDeregisterMem(nic->h, p, h);
		down += now_ns() - t;
	}
	snprintf(name, sizeof(name), "register a page, %s", kinds[kind]);
	emit("object", name, "-", "-", len, "ns", (double)up / all);
	snprintf(name, sizeof(name), "deregister a page, %s", kinds[kind]);
	emit("object", name, "-", "-", len, "ns", (double)down / all);
}

int main(int argc, char **argv)
{
	struct nic nic;

	nic_open(&nic, argc > 1 ? argv[1] : "via_lo");
	vis(&nic, false);
	vis(&nic, true);
	for (enum kind kind = SMALL; kind < KINDS; kind++) {
		unsigned char *p = memory(kind);

		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes);
		     i++)
			pages(&nic, kind, p, sizes[i]);
	}
	nic_close(&nic);
	return 0;
}
