// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every limit that a NIC tells is reached, one after the other: not before it
 * is, with a clear verdict, and what one program has used up another does not
 * miss.  Then all is given back, and can be had again.
 *
 * Wants a module loaded with small limits: some cost memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "common/abi.h"
#include "common/memory.h"
#include "fuzz.h"

#define MOST		100000u		/* of anything: else there is no limit */
#define WAITERS		4096u		/* of a NIC, at most */
#define VICTIMS_VIS	2u

struct limit {
	const char *name;
	int (*make)(uint32_t i);	/* a verdict */
	uint64_t want;			/* 0: some number below MOST */
	unsigned long end;		/* the request that undoes it, by id */
	int (*undo)(uint32_t i);	/* or this does */
};

static struct {
	const char *device;
	struct abi a;
	uint32_t id[MOST];
	uint8_t *block;
	struct score *score;
} t;

static int vi_make(uint32_t i)
{
	return abi_vi_create(t.a.fd, VIA_UNRELIABLE, 4096, &t.id[i]);
}

static int entries(uint32_t i, uint32_t n)
{
	struct via_cq_create c = { .entries = n };
	int ret = abi_call(t.a.fd, VIA_IOC_CQ_CREATE, &c);

	t.id[i] = c.cq;
	return ret;
}

static int cq_make(uint32_t i)
{
	return entries(i, 1);
}

/* The entries of one CQ, by doubling; then one more than there may be. */
static int entries_make(uint32_t i)
{
	return entries(i, (i + 1) * t.a.hello.max_cq_entries);
}

static int ptag_make(uint32_t i)
{
	struct via_ptag_arg a = { 0 };
	int ret = abi_call(t.a.fd, VIA_IOC_PTAG_CREATE, &a);

	t.id[i] = a.ptag;
	return ret;
}

static int region_make(uint32_t i)
{
	return abi_register(t.a.fd, t.block, 1, &t.id[i]);
}

static int bytes_make(uint32_t i)
{
	return abi_register(t.a.fd, t.block, t.a.hello.max_block_bytes,
			    &t.id[i]);
}

static int region_undo(uint32_t i)
{
	return abi_deregister(t.a.fd, t.block, t.id[i]);
}

/* A signal leaves the waiter behind, to be waited on again. */
static int waiter_make(uint32_t i)
{
	struct via_conn_wait w = { .timeout = VIA_FOREVER };
	timer_t timer;
	int ret;

	nudge(&timer, 500000);
	w.local.disc_len = 5;
	memcpy(w.local.disc, "limit", 5);
	ret = abi_call(t.a.fd, VIA_IOC_CONN_WAIT, &w);
	timer_delete(timer);
	t.id[i] = w.waiter;
	return ret == -EINTR && w.waiter ? 0 : ret;
}

static int waiter_undo(uint32_t i)
{
	struct via_conn_wait w = { .waiter = t.id[i] };
	int ret;

	do {
		ret = abi_call(t.a.fd, VIA_IOC_CONN_WAIT, &w);
	} while (ret == -EINTR);
	return ret == VIA_R_TIMEOUT ? 0 : ret;
}

static int file_make(uint32_t i)
{
	int fd = open(t.device, O_RDWR | O_CLOEXEC);

	t.id[i] = fd;
	return fd < 0 ? (errno == EMFILE ? VIA_R_ERROR_RESOURCE : -errno) : 0;
}

static int file_undo(uint32_t i)
{
	return close(t.id[i]) ? -errno : 0;
}

/* It goes on with its messages, whatever we hold. */
static int undisturbed(const char *what)
{
	uint64_t before = __atomic_load_n(&t.score->messages, __ATOMIC_RELAXED);
	unsigned int i;

	for (i = 0; i < 1000 && !t.score->wrong; i++) {
		if (__atomic_load_n(&t.score->messages, __ATOMIC_RELAXED) >=
		    before + 2)
			return 1;
		usleep(20000);
	}
	printf("viatest fuzz: %s: the victim is disturbed\n", what);
	return 0;
}

static int undo(const struct limit *l, uint32_t i)
{
	return l->undo ? l->undo(i) : abi_id(t.a.fd, l->end, t.id[i]);
}

static unsigned int exhaust(const struct limit *l)
{
	uint32_t n, i;
	int ret = 0;

	for (n = 0; n < MOST && !ret; n++)
		ret = l->make(n);
	n -= !!ret;
	__atomic_add_fetch(&t.score->ops, n, __ATOMIC_RELAXED);
	if (ret != VIA_R_ERROR_RESOURCE || (l->want && n != l->want)) {
		printf("viatest fuzz: %s: after %u verdict %d, it was to be %llu\n",
		       l->name, n, ret, (unsigned long long)l->want);
		return 1;
	}
	if (!undisturbed(l->name))
		return 1;
	/* One back, one again, and no more than that. */
	ret = undo(l, n / 2);
	if (!ret)
		ret = l->make(n / 2);
	if (!ret && l->make(n) != VIA_R_ERROR_RESOURCE)
		ret = -ERANGE;
	for (i = 0; i < n && !ret; i++)
		ret = undo(l, i);
	if (!ret)
		ret = l->make(0);
	if (!ret)
		ret = undo(l, 0);
	if (ret) {
		printf("viatest fuzz: %s: not usable afterwards, %d\n", l->name,
		       ret);
		return 1;
	}
	printf("viatest fuzz: %-24s %u, then ERROR_RESOURCE, and usable again\n",
	       l->name, n);
	return 0;
}

static unsigned int all_limits(void)
{
	const struct via_hello *h = &t.a.hello;
	const struct limit limits[] = {
		{ "VIs", vi_make, h->max_vi - VICTIMS_VIS,
		  VIA_IOC_VI_DESTROY, NULL },
		{ "CQs", cq_make, h->max_cq, VIA_IOC_CQ_DESTROY, NULL },
		{ "full CQs", entries_make, 1, VIA_IOC_CQ_DESTROY, NULL },
		{ "tags", ptag_make, h->max_ptags, VIA_IOC_PTAG_DESTROY, NULL },
		{ "regions", region_make, h->max_regions, 0, region_undo },
		{ "bytes registered", bytes_make,
		  h->max_register_bytes / h->max_block_bytes, 0, region_undo },
		{ "open files", file_make, 0, 0, file_undo },
		{ "waits for a connection", waiter_make, WAITERS / 4, 0,
		  waiter_undo },
	};
	unsigned int i, bad = 0;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		bad += exhaust(&limits[i]);
	return bad;
}

unsigned int limits(const char *device, struct score *score)
{
	struct rlimit many = { 1000, 1000 };
	int status = 0, ret;
	unsigned int bad = 1;
	pid_t pid;

	setrlimit(RLIMIT_NOFILE, &many);
	t.device = device;
	t.score = score;
	pid = victim(device, score);
	ret = abi_open(&t.a, device);
	if (ret) {
		fprintf(stderr, "viatest fuzz: %s: %s\n", device,
			strerror(-ret));
	} else if (t.a.hello.max_vi > 256 ||
		   t.a.hello.max_register_bytes > 64u << 20) {
		fprintf(stderr, "viatest fuzz: load via_ka with smaller limits\n");
	} else {
		t.block = memory_new(t.a.hello.max_block_bytes);
		bad = all_limits();
	}
	score_end(score);
	waitpid(pid, &status, 0);
	return bad + !!status;
}
