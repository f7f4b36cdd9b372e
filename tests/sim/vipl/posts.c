// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Several threads post receives to one VI while its connection ends: all that
 * was posted comes back, and no thread sleeps on a lock that is free.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>
#include <vipl.h>
#include "programs.h"

#define POSTERS_MAX	6
#define SLOT		64u

void sim_fail(const char *fmt, ...)
	__attribute__((__noreturn__, __format__(printf, 1, 2)));

#define EXPECT_IS(e, want)						\
do {									\
	long _is = (long)(e);						\
									\
	if (_is != (want))						\
		sim_fail("%s:%d: %s is %ld", __FILE__, __LINE__, #e, _is); \
} while (0)
#define EXPECT_RC(e)	EXPECT_IS(e, VIP_SUCCESS)

static const struct posts *posts;
static VIP_VI_HANDLE vi[2];
static VIP_MEM_HANDLE mem_h;
static char *mem;

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	(void)context;
	EXPECT_IS(e->ErrorCode, VIP_ERROR_CONN_LOST);
}

static void join(const void *host)
{
	VIP_VI_ATTRIBUTES theirs;
	char address[32] = { 0 };
	VIP_NET_ADDRESS *a = (void *)address;
	int i;

	a->HostAddressLen = 6;
	a->DiscriminatorLen = 1;
	memcpy(a->HostAddress, host, 6);
	for (i = 0; i < 2; i++)
		EXPECT_RC(VipConnectPeerRequest(vi[i], a, a, 10000));
	for (i = 0; i < 2; i++)
		EXPECT_RC(VipConnectPeerWait(vi[i], &theirs));
}

static void *post_main(void *arg)
{
	char *at = arg;
	unsigned int i;

	for (i = 0; i < posts->each; i++, at += SLOT)
		EXPECT_RC(VipPostRecv(vi[0], (VIP_DESCRIPTOR *)at, mem_h));
	return NULL;
}

static void *end_main(void *arg)
{
	struct timespec t = { 0, posts->before_ns };

	(void)arg;
	if (posts->before_ns)
		nanosleep(&t, NULL);
	EXPECT_RC(VipDisconnect(vi[1]));
	return NULL;
}

/* Each comes once. */
static void collect(void)
{
	unsigned int i, n = posts->posters * posts->each, at;
	VIP_DESCRIPTOR *d;

	for (i = 0; i < n; i++) {
		EXPECT_IS(VipRecvWait(vi[0], 20000, &d), VIP_DESCRIPTOR_ERROR);
		at = ((char *)d - mem) / SLOT;
		EXPECT_IS(at < n && d->CS.Reserved == 0, 1);
		d->CS.Reserved = 1;
	}
	memset(mem, 0, n * SLOT);
}

static void one_round(const void *host)
{
	pthread_t thread[POSTERS_MAX], ender;
	unsigned int i;

	join(host);
	EXPECT_IS(pthread_create(&ender, NULL, end_main, NULL), 0);
	for (i = 0; i < posts->posters; i++)
		EXPECT_IS(pthread_create(&thread[i], NULL, post_main,
					 mem + i * posts->each * SLOT), 0);
	for (i = 0; i < posts->posters; i++)
		pthread_join(thread[i], NULL);
	pthread_join(ender, NULL);
	collect();
	EXPECT_RC(VipDisconnect(vi[0]));
}

void *posts_main(void *arg)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, 32768, NULL,
				NULL, VIP_FALSE, VIP_FALSE };
	VIP_MEM_ATTRIBUTES ma = { NULL, VIP_FALSE, VIP_FALSE };
	VIP_NIC_ATTRIBUTES attr;
	VIP_NIC_HANDLE nic;
	unsigned int i;
	size_t bytes;

	posts = arg;
	bytes = posts->posters * posts->each * SLOT;
	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_RC(VipOpenNic(posts->device, &nic));
	EXPECT_RC(VipErrorCallback(nic, NULL, on_error));
	EXPECT_RC(VipQueryNic(nic, &attr));
	EXPECT_RC(VipCreatePtag(nic, &a.Ptag));
	ma.Ptag = a.Ptag;
	EXPECT_RC(VipRegisterMem(nic, mem, bytes, &ma, &mem_h));
	for (i = 0; i < 2; i++)
		EXPECT_RC(VipCreateVi(nic, &a, NULL, NULL, &vi[i]));
	for (i = 0; i < posts->rounds; i++)
		one_round(attr.LocalNicAddress);
	EXPECT_RC(VipCloseNic(nic));
	return NULL;
}
