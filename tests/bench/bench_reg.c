// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What registration costs, and how much kernel memory a VI and a registered
 * page take: the growth of this process's memory cgroup, made for it.
 *
 *	bench_reg [DEVICE [vi]]		vi: the memory of a VI alone
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/chan.h"
#include "common/msg.h"
#include "emit.h"

#define MAX_BYTES	(64u << 20)
#define VIS		64
#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP		CGROUP_ROOT "/via_bench"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s: %s (a cgroup v2 memory controller is needed)", path,
		    strerror(errno));
	close(fd);
}

static void enter_cgroup(void)
{
	char pid[16];

	if (access(CGROUP_ROOT "/cgroup.controllers", F_OK) &&
	    mount("cgroup2", CGROUP_ROOT, "cgroup2", 0, NULL))
		die("cannot mount cgroup2: %s", strerror(errno));
	write_file(CGROUP_ROOT "/cgroup.subtree_control", "+memory");
	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		die("%s: %s", CGROUP, strerror(errno));
	snprintf(pid, sizeof(pid), "%d", getpid());
	write_file(CGROUP "/cgroup.procs", pid);
}

/* Kernel memory charged to the cgroup. */
static int64_t kernel_bytes(void)
{
	char line[128];
	long long v = -1;
	FILE *f = fopen(CGROUP "/memory.stat", "re");

	if (!f)
		die(CGROUP "/memory.stat: %s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "kernel %lld", &v) == 1)
			break;
	fclose(f);
	if (v < 0)
		die(CGROUP "/memory.stat does not tell the kernel memory");
	return v;
}

static void vi_memory(struct nic *nic)
{
	VIP_VI_ATTRIBUTES attr = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = 65536,
	};
	static VIP_VI_HANDLE vi[VIS];
	int64_t before, after;

	/* The first one warms the slabs up. */
	for (int i = 0; i < 8; i++)
		if (VipCreateVi(nic->h, &attr, NULL, NULL, &vi[i]))
			die("cannot create VI %d", i);
	before = kernel_bytes();
	for (int i = 8; i < VIS; i++)
		if (VipCreateVi(nic->h, &attr, NULL, NULL, &vi[i]))
			die("cannot create VI %d", i);
	after = kernel_bytes();
	emit("memory", "idle-vi", "rd", "-", 0, "bytes",
	     (double)(after - before) / (VIS - 8));
	for (int i = 0; i < VIS; i++)
		VipDestroyVi(vi[i]);
	/* Their memory goes after a grace period; it is to be gone below. */
	sleep(1);
}

static VIP_MEM_HANDLE reg(struct nic *nic, unsigned char *p, size_t len)
{
	VIP_MEM_ATTRIBUTES attr = { 0 };
	VIP_MEM_HANDLE h;
	VIP_RETURN rc = VipRegisterMem(nic->h, p, len, &attr, &h);

	if (rc != VIP_SUCCESS)
		die("cannot register %zu bytes: %s", len, vip_str(rc));
	return h;
}

/*
 * Register one range many times: the counters are batched by the quarter of a
 * megabyte. The page figure is what is left without the cost of a region.
 */
static double region_memory(struct nic *nic, unsigned char *p, size_t len,
			    int regions)
{
	VIP_MEM_HANDLE *h = xcalloc(regions, sizeof(*h));
	int64_t before = kernel_bytes();
	double per;

	for (int i = 0; i < regions; i++)
		h[i] = reg(nic, p, len);
	per = (double)(kernel_bytes() - before) / regions;
	for (int i = 0; i < regions; i++)
		VipDeregisterMem(nic->h, p, h[i]);
	free(h);
	return per;
}

static void page_memory(struct nic *nic, unsigned char *p)
{
	double small = region_memory(nic, p, 4096, 8192);
	double large = region_memory(nic, p, 1u << 20, 1024);

	emit("memory", "region-of-a-page", "-", "-", 4096, "bytes", small);
	emit("memory", "page", "-", "-", 4096, "bytes",
	     (large - small) / ((1u << 20) / 4096 - 1));
}

static void timing(struct nic *nic, unsigned char *p, size_t len)
{
	int rounds = len >= 1u << 20 ? 4 : 100;
	uint64_t up = 0, down = 0, t;

	for (int i = 0; i <= rounds; i++) {
		VIP_MEM_HANDLE h;

		/* The first one is for the caches. */
		if (i == 1)
			up = down = 0;
		t = now_ns();
		h = reg(nic, p, len);
		up += now_ns() - t;
		t = now_ns();
		VipDeregisterMem(nic->h, p, h);
		down += now_ns() - t;
	}
	emit("register", "register", "-", "-", len, "ns", (double)up / rounds);
	emit("register", "deregister", "-", "-", len, "ns",
	     (double)down / rounds);
}

int main(int argc, char **argv)
{
	unsigned char *p;
	struct nic nic;

	enter_cgroup();
	p = mmap(NULL, MAX_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		die("out of memory");
	nic_open(&nic, argc > 1 ? argv[1] : "via_lo");
	vi_memory(&nic);
	if (argc > 2) {
		nic_close(&nic);
		return 0;
	}
	page_memory(&nic, p);
	for (size_t len = 4096; len <= MAX_BYTES; len *= 4)
		timing(&nic, p, len);
	nic_close(&nic);
	return 0;
}
