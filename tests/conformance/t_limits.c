// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What VipQueryNic tells is what holds: section 12. Each group goes to the
 * edge where that is near enough; where it is not, as with the usual limits
 * of memory, it goes some way. The check plan has a session with small ones.
 */
#include "remote.h"
#include "limit.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEAR	256u		/* so many objects are cheap */
#define WAY	24u		/* so many are always allowed, almost */
#define NEAR_MB	64u

/* A NIC handle with nothing made through it. */
struct fresh {
	VIP_NIC_HANDLE h;
	VIP_NIC_ATTRIBUTES attr;
};

static struct fresh fresh(void)
{
	struct fresh f;

	REQUIRE_RC(VipOpenNic(env.device, &f.h), VIP_SUCCESS);
	REQUIRE_RC(VipQueryNic(f.h, &f.attr), VIP_SUCCESS);
	return f;
}

/* Objects of one kind, made one by one. */
struct kind {
	VIP_RETURN (*make)(struct fresh *f, void **out);
	VIP_RETURN (*end)(struct fresh *f, void *obj);
	VIP_ULONG max;
	VIP_ULONG others;	/* that may be there beside ours */
};

/* The last allowed is made, the next is not, and one less makes room for one. */
static void edge(struct fresh *f, const struct kind *k)
{
	void *obj[NEAR + 1] = { NULL }, *more = NULL;
	unsigned int i, n, want;
	VIP_RETURN rc;

	want = k->max <= NEAR ? k->max + 1 : WAY;
	for (n = 0; n < want; n++) {
		rc = k->make(f, &obj[n]);
		if (rc != VIP_SUCCESS)
			break;
	}
	if (k->max > NEAR) {
		CHECK_EQ(n, WAY);
	} else {
		CHECK(n <= k->max && n + k->others >= k->max);
		CHECK_RC(rc, VIP_ERROR_RESOURCE);
		for (i = 0; i < 3; i++) {
			CHECK_RC(k->make(f, &more), VIP_ERROR_RESOURCE);
			CHECK_RC(k->end(f, obj[i * (n - 1) / 2]), VIP_SUCCESS);
			CHECK_RC(k->make(f, &obj[i * (n - 1) / 2]),
				 VIP_SUCCESS);
			CHECK_RC(k->make(f, &more), VIP_ERROR_RESOURCE);
		}
	}
	for (i = 0; i < n; i++)
		CHECK_RC(k->end(f, obj[i]), VIP_SUCCESS);
}

static VIP_PROTECTION_HANDLE the_ptag;
static VIP_CQ_HANDLE the_cq;

static void forget(void)
{
	the_ptag = NULL;
	the_cq = NULL;
}

BEFORE_EACH(forget);

static VIP_RETURN make_vi(struct fresh *f, void **vi)
{
	VIP_VI_ATTRIBUTES a = { env.level, 4096, NULL, the_ptag, VIP_FALSE,
				VIP_FALSE };

	return VipCreateVi(f->h, &a, the_cq, the_cq, vi);
}

static VIP_RETURN end_vi(struct fresh *f, void *vi)
{
	(void)f;
	return VipDestroyVi(vi);
}

/* MaxVI is the NIC's, for all processes: ours are not all. */
static void vis(void)
{
	struct fresh f = fresh();
	struct kind k = { make_vi, end_vi, f.attr.MaxVI, 4 };

	REQUIRE_RC(VipCreatePtag(f.h, &the_ptag), VIP_SUCCESS);
	REQUIRE_RC(VipCreateCQ(f.h, 4, &the_cq), VIP_SUCCESS);
	edge(&f, &k);
	/* Those refused hold on to nothing. */
	CHECK_RC(VipDestroyCQ(the_cq), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(f.h, the_ptag), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(f.h), VIP_SUCCESS);
}

static VIP_RETURN make_cq(struct fresh *f, void **cq)
{
	return VipCreateCQ(f->h, 1, cq);
}

static VIP_RETURN end_cq(struct fresh *f, void *cq)
{
	(void)f;
	return VipDestroyCQ(cq);
}

static void cqs(void)
{
	struct fresh f = fresh(), g = fresh();
	struct kind k = { make_cq, end_cq, f.attr.MaxCQ, 0 };
	VIP_CQ_HANDLE other;

	/* Of this handle: another's do not count. */
	REQUIRE_RC(VipCreateCQ(g.h, 1, &other), VIP_SUCCESS);
	edge(&f, &k);
	CHECK_RC(VipCloseNic(g.h), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(f.h), VIP_SUCCESS);
}

static void cq_entries(void)
{
	struct fresh f = fresh();
	VIP_ULONG max = f.attr.MaxCQEntries;
	VIP_CQ_HANDLE cq, none;

	CHECK_RC(VipCreateCQ(f.h, max + 1, &none), VIP_ERROR_RESOURCE);
	REQUIRE_RC(VipCreateCQ(f.h, max, &cq), VIP_SUCCESS);
	CHECK_RC(VipResizeCQ(cq, max + 1), VIP_ERROR_RESOURCE);
	CHECK_RC(VipResizeCQ(cq, 1), VIP_SUCCESS);
	CHECK_RC(VipResizeCQ(cq, max + 1), VIP_ERROR_RESOURCE);
	CHECK_RC(VipResizeCQ(cq, max), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(f.h), VIP_SUCCESS);
}

static VIP_RETURN make_ptag(struct fresh *f, void **ptag)
{
	return VipCreatePtag(f->h, ptag);
}

static VIP_RETURN end_ptag(struct fresh *f, void *ptag)
{
	return VipDestroyPtag(f->h, ptag);
}

static void ptags(void)
{
	struct fresh f = fresh(), g = fresh();
	struct kind k = { make_ptag, end_ptag, f.attr.MaxPtags, 0 };
	VIP_PROTECTION_HANDLE other;

	REQUIRE_RC(VipCreatePtag(g.h, &other), VIP_SUCCESS);
	edge(&f, &k);
	CHECK_RC(VipCloseNic(g.h), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(f.h), VIP_SUCCESS);
}

static uint8_t *some_page;

static VIP_RETURN make_region(struct fresh *f, void **out)
{
	VIP_MEM_ATTRIBUTES a = { the_ptag, VIP_FALSE, VIP_FALSE };
	VIP_MEM_HANDLE h = 0;
	VIP_RETURN rc = VipRegisterMem(f->h, some_page, 10, &a, &h);

	*out = (void *)(uintptr_t)h;
	return rc;
}

static VIP_RETURN end_region(struct fresh *f, void *h)
{
	return VipDeregisterMem(f->h, some_page, (uintptr_t)h);
}

static void regions(void)
{
	struct fresh f = fresh();
	struct kind k = { make_region, end_region, f.attr.MaxRegisterRegions,
			  0 };

	some_page = pages(4096);
	REQUIRE_RC(VipCreatePtag(f.h, &the_ptag), VIP_SUCCESS);
	edge(&f, &k);
	CHECK_RC(VipDestroyPtag(f.h, the_ptag), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(f.h), VIP_SUCCESS);
}

/* One region, and all of a handle together, to the byte. */
static void bytes(void)
{
	struct fresh f = fresh(), g = fresh();
	VIP_ULONG block = f.attr.MaxRegisterBlockBytes, left, n;
	VIP_ULONG total = f.attr.MaxRegisterBytes;
	VIP_MEM_HANDLE h, last, none;
	unsigned int i;
	uint8_t *p;

	CHECK(block <= total);
	p = pages(block <= NEAR_MB << 20 ? block + 4096 : 4096);
	REQUIRE(p != NULL);
	about("one byte over a block");
	CHECK_INVALID(VipRegisterMem(f.h, p, block + 1, NULL, &none));
	if (block > NEAR_MB << 20 || total > 4 * block) {
		CHECK_RC(VipRegisterMem(f.h, p, 4096, NULL, &h), VIP_SUCCESS);
		CHECK_RC(VipCloseNic(g.h), VIP_SUCCESS);
		CHECK_RC(VipCloseNic(f.h), VIP_SUCCESS);
		return;
	}
	about("all of it");
	for (left = total, last = 0, i = 0; left; left -= n, i++) {
		n = left < block ? left : block;
		REQUIRE_RC(VipRegisterMem(f.h, p, n, NULL, &last),
			   VIP_SUCCESS);
		if (!i)
			h = last;
	}
	CHECK_RC(VipRegisterMem(f.h, p, 1, NULL, &none), VIP_ERROR_RESOURCE);
	about("another handle has its own");
	CHECK_RC(VipRegisterMem(g.h, p, block, NULL, &none), VIP_SUCCESS);
	about("room again");
	CHECK_RC(VipDeregisterMem(f.h, p, h), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(f.h, p, block, NULL, &h), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(f.h, p, 1, NULL, &none), VIP_ERROR_RESOURCE);
	CHECK_RC(VipDeregisterMem(f.h, p, h), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(f.h, p, block - 1, NULL, &h), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(f.h, p, 2, NULL, &none), VIP_ERROR_RESOURCE);
	CHECK_RC(VipRegisterMem(f.h, p, 1, NULL, &none), VIP_SUCCESS);
	about("an odd number given back");
	CHECK_RC(VipDeregisterMem(f.h, p, h), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(f.h, p, block, NULL, &none),
		 VIP_ERROR_RESOURCE);
	CHECK_RC(VipRegisterMem(f.h, p, block - 1, NULL, &h), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(g.h), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(f.h), VIP_SUCCESS);
}

/* A queue holds so many, and one more for each that is collected. */
static void queue(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	unsigned int i, n = env.nic.attr.MaxDescriptorsPerQueue;
	VIP_MEM_ATTRIBUTES m = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	VIP_DESCRIPTOR *d = pages((n + 4) * sizeof(*d)), *got;
	VIP_MEM_HANDLE h;
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipRegisterMem(env.nic.h, d, (n + 4) * sizeof(*d), &m, &h),
		   VIP_SUCCESS);
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	for (i = 0; i < n; i++)
		REQUIRE_RC(VipPostRecv(vi, &d[i], h), VIP_SUCCESS);
	CHECK_EQ(nic_errors(&env.nic, vi, VIP_ERROR_VI_OVERRUN), 0);
	about("one too many");
	CHECK_RC(VipPostRecv(vi, &d[n], h), VIP_SUCCESS);
	CHECK_ERRORS(vi, VIP_ERROR_VI_OVERRUN, 1);
	about("complete, and not collected");
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	CHECK_RC(VipPostRecv(vi, &d[n], h), VIP_SUCCESS);
	CHECK_ERRORS(vi, VIP_ERROR_VI_OVERRUN, 2);
	about("one collected");
	CHECK_RC(VipRecvDone(vi, &got), VIP_DESCRIPTOR_ERROR);
	CHECK(got == &d[0]);
	CHECK_RC(VipPostRecv(vi, &d[n + 1], h), VIP_SUCCESS);
	CHECK_RC(VipPostRecv(vi, &d[n + 2], h), VIP_SUCCESS);
	CHECK_ERRORS(vi, VIP_ERROR_VI_OVERRUN, 3);
	about("what was queued comes back, and nothing else");
	CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
	for (i = 1; i <= n; i++) {
		got = NULL;
		VipRecvDone(vi, &got);
		if (got != &d[i < n ? i : n + 1])
			CHECK(!"the one posted in that place");
	}
	VipRecvDone(vi, &got);
	CHECK(got == NULL);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

static bool drop_ipc_lock(void)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		return false;
	d[0].effective &= ~(1u << CAP_IPC_LOCK);
	return !syscall(SYS_capset, &h, d);
}

#define PARAMS "/sys/module/via_ka/parameters/"

/* They are of NICs of the agent: other providers' names have a colon. */
static bool parameter(const char *name, unsigned long *value)
{
	char path[128];
	FILE *f;
	bool ok;

	if (strchr(env.device, ':'))
		return false;
	snprintf(path, sizeof(path), PARAMS "%s", name);
	f = fopen(path, "r");
	ok = f && fscanf(f, "%lu", value) == 1;
	if (f)
		fclose(f);
	return ok;
}

static bool set_parameter(const char *name, unsigned long value)
{
	char path[128], text[32];
	int fd, n;

	snprintf(path, sizeof(path), PARAMS "%s", name);
	n = snprintf(text, sizeof(text), "%lu", value);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	n = write(fd, text, n) == n;
	close(fd);
	return n;
}

/* The agent's limits can be read where they were set, and nowhere set anew. */
static void told(void)
{
	static const char *const name[] = {
		"max_vi", "max_cq", "max_cq_entries", "max_ptags",
		"max_regions", "max_register", "max_block",
	};
	VIP_NIC_ATTRIBUTES *a = &env.nic.attr;
	VIP_ULONG want[] = {
		a->MaxVI, a->MaxCQ, a->MaxCQEntries, a->MaxPtags,
		a->MaxRegisterRegions, a->MaxRegisterBytes,
		a->MaxRegisterBlockBytes,
	};
	unsigned long value;
	unsigned int i;

	if (!parameter("max_vi", &value))
		return;		/* another provider */
	for (i = 0; i < ARRAY_SIZE(name); i++) {
		about("%s", name[i]);
		value = 0;
		CHECK(parameter(name[i], &value));
		CHECK_EQ(value, want[i]);
		CHECK(!set_parameter(name[i], value));
	}
}

/* Pages that the ledger calls pinned. */
static unsigned long pinned(void)
{
	FILE *f = fopen(PARAMS "ledger", "r");
	unsigned long made, gone, n = 0;
	char line[80];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "pages %lu %lu", &made, &gone) == 2)
			n = made - gone;
	if (f)
		fclose(f);
	return n;
}

/* What one user may pin, through all handles of all processes. */
static void user_pages(void)
{
	struct rlimit much = { RLIM_INFINITY, RLIM_INFINITY };
	struct fresh f = fresh(), g = fresh();
	uint8_t *p = pages(64 * 4096);
	VIP_MEM_HANDLE h, more, none;
	uint64_t old;

	if (strchr(env.device, ':') || !limit_get("pages", &old) ||
	    !limit_set("pages", old))
		return;		/* not ours to set */
	REQUIRE(!setrlimit(RLIMIT_MEMLOCK, &much) && drop_ipc_lock());
	REQUIRE(freopen("/dev/null", "w", stderr));
	CHECK(limit_set("pages", pinned() + 16));
	CHECK_RC(VipRegisterMem(f.h, p, 17 * 4096, NULL, &none),
		 VIP_ERROR_RESOURCE);
	CHECK_RC(VipRegisterMem(f.h, p, 10 * 4096, NULL, &h), VIP_SUCCESS);
	about("the rest, by another handle");
	CHECK_RC(VipRegisterMem(g.h, p, 6 * 4096 + 1, NULL, &none),
		 VIP_ERROR_RESOURCE);
	CHECK_RC(VipRegisterMem(g.h, p, 6 * 4096, NULL, &more), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(f.h, p, 1, NULL, &none), VIP_ERROR_RESOURCE);
	about("room again");
	CHECK_RC(VipDeregisterMem(f.h, p, h), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(g.h, p, 10 * 4096, NULL, &h), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(f.h, p, 1, NULL, &none), VIP_ERROR_RESOURCE);
	CHECK_RC(VipCloseNic(g.h), VIP_SUCCESS);
	CHECK_RC(VipRegisterMem(f.h, p, 16 * 4096, NULL, &h), VIP_SUCCESS);
	CHECK(limit_set("pages", old));
	CHECK_RC(VipCloseNic(f.h), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "limits.told", "10.1 VipQueryNic, 12", told, 0, 0 },
	{ "limits.vis", "12 MaxVI, 10.2 ERROR_RESOURCE", vis, 0, 0 },
	{ "limits.cqs", "12 MaxCQ, 10.5 ERROR_RESOURCE", cqs, 0, 0 },
	{ "limits.cq_entries", "12 MaxCQEntries, 10.5 ERROR_RESOURCE",
	  cq_entries, 0, 0 },
	{ "limits.ptags", "12 MaxPtags, 10.3 ERROR_RESOURCE", ptags, 0, 0 },
	{ "limits.regions", "12 MaxRegisterRegions", regions, 0, 0 },
	{ "limits.bytes", "12 MaxRegisterBlockBytes, MaxRegisterBytes", bytes,
	  0, 0 },
	{ "limits.queue", "12 MaxDescriptorsPerQueue, 8 VI_OVERRUN", queue, 0,
	  0 },
	{ "limits.user_pages", "12 memory pinning, a user's total", user_pages,
	  G_OWN, 0 },
};

NOUN(limits, groups);
