// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Memory registration: section 10.3. */
#include "remote.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static VIP_RETURN reg(void *p, VIP_ULONG len)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	VIP_MEM_HANDLE h = 0;
	VIP_RETURN rc;

	rc = VipRegisterMem(env.nic.h, p, len, &a, &h);
	if (rc == VIP_SUCCESS) {
		CHECK(h != 0);
		CHECK_RC(VipDeregisterMem(env.nic.h, p, h), VIP_SUCCESS);
	}
	return rc;
}

static void bad_ranges(void)
{
	uint8_t *p = pages(4 * 4096), *ro;
	VIP_ULONG block = env.nic.attr.MaxRegisterBlockBytes;

	CHECK_INVALID(reg(p, 0));
	CHECK_INVALID(reg(NULL, 0));
	CHECK_INVALID(reg(NULL, 4096));
	CHECK_INVALID(reg(p, block + 1));
	CHECK_INVALID(reg(p, ~0ul));
	CHECK_INVALID(reg(p, -(uintptr_t)p));
	CHECK_INVALID(reg(p, -(uintptr_t)p + 1));
	CHECK_INVALID(reg((void *)~0ul, 1));
	CHECK_INVALID(reg((void *)~0ul, 2));
	CHECK_INVALID(reg((void *)0xffff888000000000ul, 4096));
	CHECK_INVALID(reg((void *)0x0000800000000000ul, 4096));
	munmap(p + 2 * 4096, 4096);
	CHECK_RC(reg(p, 2 * 4096), VIP_SUCCESS);
	CHECK_INVALID(reg(p, 2 * 4096 + 1));
	CHECK_INVALID(reg(p, 4 * 4096));
	CHECK_INVALID(reg(p + 2 * 4096, 1));
	CHECK_INVALID(reg(p + 3 * 4096 - 1, 2));
	CHECK_RC(reg(p + 3 * 4096, 4096), VIP_SUCCESS);
	mprotect(p, 4096, PROT_NONE);
	CHECK_INVALID(reg(p, 4096));
	ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_INVALID(reg(ro, 4096));
	CHECK_INVALID(reg((void *)"read-only text", 4));
	/* After all that the valid still works. */
	CHECK_RC(reg(p + 4096, 4096), VIP_SUCCESS);
}

static void bad_attributes(void)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	VIP_PROTECTION_HANDLE gone;
	void *p = pages(4096);
	VIP_NIC_HANDLE other;
	VIP_MEM_HANDLE h;

	CHECK_INVALID(VipRegisterMem(env.nic.h, p, 64, &a, NULL));
	CHECK_INVALID(VipRegisterMem(NULL, p, 64, &a, &h));
	REQUIRE_RC(VipCreatePtag(env.nic.h, &gone), VIP_SUCCESS);
	REQUIRE_RC(VipDestroyPtag(env.nic.h, gone), VIP_SUCCESS);
	a.Ptag = gone;
	CHECK_RC(VipRegisterMem(env.nic.h, p, 64, &a, &h), VIP_INVALID_PTAG);
	a.Ptag = env.nic.h;
	CHECK_RC(VipRegisterMem(env.nic.h, p, 64, &a, &h), VIP_INVALID_PTAG);
	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(other, &a.Ptag), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(env.nic.h, p, 64, &a, &h), VIP_INVALID_PTAG);
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
	a.Ptag = env.nic.ptag;
	a.EnableRdmaRead = VIP_TRUE;
	CHECK_RC(VipRegisterMem(env.nic.h, p, 64, &a, &h),
		 env.nic.attr.RDMAReadSupport ? VIP_SUCCESS :
						VIP_INVALID_RDMAREAD);
	/* C15, section 7 rule 10: both kinds of NULL are accepted. */
	CHECK_RC(VipRegisterMem(env.nic.h, p, 64, NULL, &h), VIP_SUCCESS);
	CHECK_RC(VipDeregisterMem(env.nic.h, p, h), VIP_SUCCESS);
	a = (VIP_MEM_ATTRIBUTES){ NULL, VIP_TRUE, VIP_FALSE };
	CHECK_RC(VipRegisterMem(env.nic.h, p, 64, &a, &h), VIP_SUCCESS);
	CHECK_RC(VipDeregisterMem(env.nic.h, p, h), VIP_SUCCESS);
}

static void any_alignment(void)
{
	static const VIP_ULONG offs[] = { 0, 1, 7, 63, 4095 };
	static const VIP_ULONG lens[] = { 1, 2, 4096, 4097, 8191, 12287 };
	VIP_MEM_HANDLE h[ARRAY_SIZE(offs) * ARRAY_SIZE(lens)];
	uint8_t *p = pages(8 * 4096);
	unsigned int i, j, n = 0;

	/* All at once: they overlap each other in every way. */
	for (i = 0; i < ARRAY_SIZE(offs); i++) {
		for (j = 0; j < ARRAY_SIZE(lens); j++) {
			about("offset %lu, %lu bytes", offs[i], lens[j]);
			REQUIRE_RC(VipRegisterMem(env.nic.h, p + offs[i],
						  lens[j], NULL, &h[n++]),
				   VIP_SUCCESS);
		}
	}
	for (i = 0; i < n; i++) {
		CHECK(h[i] != 0);
		for (j = 0; j < i; j++)
			if (h[i] == h[j])
				CHECK(!"two handles are the same");
	}
	for (i = 0; i < n; i += 2)
		CHECK_RC(VipDeregisterMem(env.nic.h, p + offs[i / 6], h[i]),
			 VIP_SUCCESS);
	for (i = 1; i < n; i += 2)
		CHECK_RC(VipDeregisterMem(env.nic.h, p + offs[i / 6], h[i]),
			 VIP_SUCCESS);
	CHECK_RC(reg(pages(8 << 20), 8 << 20), VIP_SUCCESS);
}

static void deregister(void)
{
	uint8_t *p = pages(2 * 4096);
	VIP_NIC_HANDLE other;
	VIP_MEM_HANDLE h, again;

	REQUIRE_RC(VipRegisterMem(env.nic.h, p + 10, 100, NULL, &h),
		   VIP_SUCCESS);
	CHECK_INVALID(VipDeregisterMem(env.nic.h, p + 11, h));
	CHECK_INVALID(VipDeregisterMem(env.nic.h, p, h));
	CHECK_INVALID(VipDeregisterMem(env.nic.h, NULL, h));
	CHECK_INVALID(VipDeregisterMem(env.nic.h, p + 10, 0));
	CHECK_INVALID(VipDeregisterMem(env.nic.h, p + 10, ~h));
	CHECK_INVALID(VipDeregisterMem(NULL, p + 10, h));
	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	CHECK_INVALID(VipDeregisterMem(other, p + 10, h));
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
	CHECK_RC(VipDeregisterMem(env.nic.h, p + 10, h), VIP_SUCCESS);
	CHECK_INVALID(VipDeregisterMem(env.nic.h, p + 10, h));
	/* The handle does not come back to life with the next region. */
	REQUIRE_RC(VipRegisterMem(env.nic.h, p + 10, 100, NULL, &again),
		   VIP_SUCCESS);
	CHECK(again != h);
	CHECK_INVALID(VipDeregisterMem(env.nic.h, p + 10, h));
	CHECK_RC(VipDeregisterMem(env.nic.h, p + 10, again), VIP_SUCCESS);
}

static void vanished(void)
{
	uint8_t *p = pages(16 * 4096);
	VIP_MEM_HANDLE h, left;

	REQUIRE_RC(VipRegisterMem(env.nic.h, p, 16 * 4096, NULL, &h),
		   VIP_SUCCESS);
	munmap(p, 8 * 4096);
	CHECK_RC(VipDeregisterMem(env.nic.h, p, h), VIP_SUCCESS);
	CHECK_INVALID(reg(p, 4096));
	/* And one that exit() finds. */
	REQUIRE_RC(VipRegisterMem(env.nic.h, p + 8 * 4096, 8 * 4096, NULL,
				  &left), VIP_SUCCESS);
	munmap(p + 8 * 4096, 8 * 4096);
}

static void shared_memory(void)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("viaconform", 0), mem;

	CHECK_RC(reg(p, 8192), VIP_SUCCESS);
	REQUIRE(fd >= 0 && !ftruncate(fd, 8192));
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK_RC(reg(p, 8192), VIP_SUCCESS);
	p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	CHECK_INVALID(reg(p, 8192));
	close(fd);
	/* Device memory, where this kernel gives access to any. */
	mem = open("/dev/mem", O_RDWR);
	if (mem < 0)
		return;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	if (p != MAP_FAILED)
		CHECK_INVALID(reg(p, 4096));
	close(mem);
}

#define HUGE	(2ul << 20)

/* Two huge pages side by side, where this kernel gives them; all present. */
static uint8_t *huge_pages(void)
{
	uint8_t *p = pages(3 * HUGE);

	p = (uint8_t *)(((uintptr_t)p + HUGE - 1) & -HUGE);
	madvise(p, 2 * HUGE, MADV_HUGEPAGE);
	memset(p, 1, 2 * HUGE);
	return p;
}

/* Ranges that begin and end in the middle of huge pages, whole and in pieces. */
static void huge(void)
{
	static const struct {
		size_t at, len;
	} ranges[] = {
		{ 0, HUGE }, { 0, 2 * HUGE }, { HUGE - 4096, 8192 },
		{ 4096, HUGE }, { HUGE / 2 + 5, HUGE }, { HUGE + 1, HUGE - 2 },
		{ 2 * HUGE - 4096, 4096 },
	};
	enum { RANGES = sizeof(ranges) / sizeof(*ranges) };
	VIP_MEM_HANDLE h[RANGES];
	uint8_t *p = huge_pages();
	int status;
	pid_t pid;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < RANGES; i++)
			REQUIRE_RC(VipRegisterMem(env.nic.h, p + ranges[i].at,
						  ranges[i].len, NULL, &h[i]),
				   VIP_SUCCESS);
		/* In pieces, while it is pinned and in the rounds after it. */
		if (!round) {
			CHECK(!mprotect(p + 8192, 4096, PROT_READ));
			CHECK(!mprotect(p + 8192, 4096,
					PROT_READ | PROT_WRITE));
			CHECK(!madvise(p + HUGE + 16384, 8192,
				       MADV_DONTNEED));
		} else if (round == 1) {
			/* Shared with a child, if only until it has ended. */
			pid = fork();
			if (!pid)
				_exit(0);
			CHECK(waitpid(pid, &status, 0) == pid && !status);
		}
		for (int i = 0; i < RANGES; i++)
			CHECK_RC(VipDeregisterMem(env.nic.h, p + ranges[i].at,
						  h[i]), VIP_SUCCESS);
	}
	/* One page in the midst may not be written, or is of a file. */
	CHECK(!mprotect(p + HUGE - 4096, 4096, PROT_READ));
	CHECK_INVALID(reg(p, 2 * HUGE));
	CHECK_RC(reg(p, HUGE - 4096), VIP_SUCCESS);
	REQUIRE(mmap(p + HUGE - 4096, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
		MAP_FAILED);
	CHECK_RC(reg(p, 2 * HUGE), VIP_SUCCESS);
	CHECK(!munmap(p + HUGE - 4096, 4096));
	CHECK_INVALID(reg(p, 2 * HUGE));
}

static bool drop_ipc_lock(void)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		return false;
	d[0].effective &= ~(1u << CAP_IPC_LOCK);
	d[0].permitted &= ~(1u << CAP_IPC_LOCK);
	return !syscall(SYS_capset, &h, d);
}

/* A libvipl without extensions pins what it registers. */
extern VIP_RETURN VipExtQueryFeatures(VIP_NIC_HANDLE nic, VIP_UINT64 *f)
	__attribute__((weak));
#define FEATURE_MEMLOCK	0x20u

static bool counts_as_locked(void)
{
	VIP_UINT64 f = FEATURE_MEMLOCK;
	VIP_NIC_HANDLE nic;

	if (VipExtQueryFeatures && VipOpenNic(env.device, &nic) == VIP_SUCCESS) {
		VipExtQueryFeatures(nic, &f);
		VipCloseNic(nic);
	}
	return f & FEATURE_MEMLOCK;
}

static void memlock(void)
{
	struct rlimit limit = { 256 << 10, 256 << 10 };
	int fds[2], saved = dup(2);
	VIP_MEM_HANDLE h[3];
	uint8_t *p = pages(1 << 20);
	VIP_NIC_HANDLE nic;
	char text[1024], *line;
	ssize_t n;

	if (!counts_as_locked()) {
		REQUIRE(!setrlimit(RLIMIT_MEMLOCK, &limit));
		REQUIRE_RC(VipOpenNic(env.device, &nic), VIP_SUCCESS);
		CHECK_RC(VipRegisterMem(nic, p, 1 << 20, NULL, &h[0]),
			 VIP_SUCCESS);
		CHECK_RC(VipCloseNic(nic), VIP_SUCCESS);
		return;
	}
	REQUIRE(drop_ipc_lock() && !setrlimit(RLIMIT_MEMLOCK, &limit));
	REQUIRE_RC(VipOpenNic(env.device, &nic), VIP_SUCCESS);
	REQUIRE(saved >= 0 && !pipe(fds) && dup2(fds[1], 2) == 2);
	CHECK_RC(VipRegisterMem(nic, p, 1 << 20, NULL, &h[0]),
		 VIP_ERROR_RESOURCE);
	dup2(saved, 2);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	n = read(fds[0], text, sizeof(text) - 1);
	/* A line with the limit, and one with the remedy. */
	if (CHECK(n > 0)) {
		text[n] = 0;
		line = strchr(text, '\n');
		CHECK(line && strchr(line + 1, '\n') == text + n - 1);
		CHECK(strstr(text, "memlock") || strstr(text, "MEMLOCK"));
		CHECK(strstr(text, "256") || strstr(text, "262144"));
	}
	REQUIRE(freopen("/dev/null", "w", stderr));
	CHECK_RC(VipRegisterMem(nic, p, 128 << 10, NULL, &h[0]), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(nic, p, 96 << 10, NULL, &h[1]), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(nic, p + (256 << 10), 64 << 10, NULL, &h[2]),
		 VIP_ERROR_RESOURCE);
	CHECK_RC(VipDeregisterMem(nic, p, h[0]), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(nic, p + (256 << 10), 64 << 10, NULL, &h[2]),
		 VIP_SUCCESS);
	CHECK_RC(VipDeregisterMem(nic, p, h[1]), VIP_SUCCESS);
	CHECK_RC(VipDeregisterMem(nic, p + (256 << 10), h[2]), VIP_SUCCESS);
	/* Balanced: the whole limit is there again, also for another handle. */
	CHECK_RC(VipRegisterMem(nic, p, 256 << 10, NULL, &h[0]), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(nic), VIP_SUCCESS);
	REQUIRE_RC(VipOpenNic(env.device, &nic), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(nic, p, 256 << 10, NULL, &h[0]), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(nic), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "memory.bad_ranges", "10.3 VipRegisterMem", bad_ranges, G_EARLY, 0 },
	{ "memory.bad_attributes", "10.3 VipRegisterMem, C15", bad_attributes,
	  G_EARLY, 0 },
	{ "memory.any_alignment", "10.3 VipRegisterMem, overlapping",
	  any_alignment, G_EARLY | G_SUNNY, 0 },
	{ "memory.deregister", "10.3 VipDeregisterMem, C6", deregister, G_EARLY,
	  0 },
	{ "memory.vanished", "C18 regions vanish by munmap or exit", vanished,
	  G_OWN, 0 },
	{ "memory.kinds", "10.3 VipRegisterMem, shared and device memory",
	  shared_memory, 0, 0 },
	{ "memory.huge", "10.3 VipRegisterMem, parts of huge pages", huge,
	  G_OWN, 0 },
	{ "memory.memlock", "12 memory pinning, RLIMIT_MEMLOCK", memlock,
	  G_BARE, 0 },
};

NOUN(memory, groups);
