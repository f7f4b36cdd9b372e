// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Opening, closing and querying NICs: section 10.1. */
#include "host.h"
#include "remote.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *base_name(void)
{
	const char *slash = strrchr(env.device, '/');

	return slash ? slash + 1 : env.device;
}

static void bad_names(void)
{
	static char long_name[8192];
	const char *const names[] = {
		"", "/", "/dev/", "/dev/null", "/dev/via_nonesuch",
		"via_nonesuch", "/nowhere/via_nonesuch", "..", "via_lo/",
		"via_lo\n", "%s%s%n", long_name,
	};
	VIP_NIC_HANDLE h;
	unsigned int i;

	memset(long_name, 'x', sizeof(long_name) - 1);
	/* What it says about each is for people; here it would be noise. */
	REQUIRE(freopen("/dev/null", "w", stderr));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		about("name %.40s", names[i]);
		h = NULL;
		CHECK_INVALID(VipOpenNic(names[i], &h));
		CHECK(h == NULL);
	}
	about("NULL");
	CHECK_INVALID(VipOpenNic(NULL, &h));
	CHECK_INVALID(VipOpenNic(env.device, NULL));
	CHECK_INVALID(VipOpenNic(NULL, NULL));
}

static void good_names(void)
{
	char path[256];
	VIP_NIC_HANDLE h;
	const char *const dirs[] = { "", "/dev/", "/other/place/", "dev/" };
	VIP_NIC_ATTRIBUTES a;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		/* Names of plug-ins are no paths. */
		if (i && strchr(base_name(), ':'))
			break;
		snprintf(path, sizeof(path), "%s%s", dirs[i], base_name());
		about("%s", path);
		h = NULL;
		if (!CHECK_RC(VipOpenNic(path, &h), VIP_SUCCESS))
			continue;
		CHECK(h != NULL);
		CHECK_RC(VipQueryNic(h, &a), VIP_SUCCESS);
		CHECK_EQ(a.NicAddressLen, env.nic.attr.NicAddressLen);
		CHECK(!memcmp(a.LocalNicAddress, env.nic.attr.LocalNicAddress,
			      a.NicAddressLen));
		CHECK_RC(VipCloseNic(h), VIP_SUCCESS);
	}
}

/* A missing device: the fault, which names it, and a remedy in a line. */
static void missing_line(void)
{
	int fds[2], saved = dup(2);
	VIP_NIC_HANDLE h;
	char text[1024];
	struct pollfd p;
	ssize_t n = 0;

	REQUIRE(saved >= 0 && !pipe(fds) && dup2(fds[1], 2) == 2);
	CHECK_INVALID(VipOpenNic("/dev/via_nonesuch", &h));
	dup2(saved, 2);
	p = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	if (poll(&p, 1, 0) == 1)
		n = read(fds[0], text, sizeof(text) - 1);
	close(saved);
	close(fds[0]);
	close(fds[1]);
	REQUIRE(n > 0);
	text[n] = 0;
	CHECK(strstr(text, "via_nonesuch") != NULL);
	CHECK(text[n - 1] == '\n');
	for (char *line = text; *line; line += strcspn(line, "\n") + 1)
		CHECK(!strncmp(line, "vipl: ", 6) &&
		      strcspn(line, "\n") <= 80);
}

static void many(void)
{
	VIP_PROTECTION_HANDLE ptag;
	VIP_NIC_ATTRIBUTES a;
	VIP_NIC_HANDLE h[8];
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(h); i++) {
		REQUIRE_RC(VipOpenNic(env.device, &h[i]), VIP_SUCCESS);
		CHECK(h[i] != env.nic.h);
		for (j = 0; j < i; j++)
			CHECK(h[i] != h[j]);
	}
	for (i = 0; i < ARRAY_SIZE(h); i += 2) {
		CHECK_RC(VipCloseNic(h[i]), VIP_SUCCESS);
		CHECK_INVALID(VipQueryNic(h[i], &a));
		CHECK_INVALID(VipCloseNic(h[i]));
	}
	for (i = 1; i < ARRAY_SIZE(h); i += 2) {
		CHECK_RC(VipCreatePtag(h[i], &ptag), VIP_SUCCESS);
		CHECK_RC(VipQueryNic(h[i], &a), VIP_SUCCESS);
		CHECK_RC(VipCloseNic(h[i]), VIP_SUCCESS);
	}
	CHECK_RC(VipQueryNic(env.nic.h, &a), VIP_SUCCESS);
}

/* More rounds than a process has descriptors for, if one were left each. */
static void no_leak(void)
{
	VIP_NIC_HANDLE h;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		REQUIRE_RC(VipOpenNic(env.device, &h), VIP_SUCCESS);
		REQUIRE_RC(VipCloseNic(h), VIP_SUCCESS);
	}
	i = dup(0);
	CHECK(i < 64);
	close(i);
}

static void query(void)
{
	VIP_NIC_ATTRIBUTES a;

	memset(&a, XFER_GUARD, sizeof(a));
	REQUIRE_RC(VipQueryNic(env.nic.h, &a), VIP_SUCCESS);
	CHECK(memchr(a.Name, 0, sizeof(a.Name)) && a.Name[0]);
	CHECK(a.NicAddressLen >= 1 && a.NicAddressLen <= HOST_MAX);
	if (!strncmp(a.Name, "via_udp", 7))
		CHECK(a.NicAddressLen == 4 || a.NicAddressLen == 16);
	else
		CHECK(strncmp(a.Name, "via_", 4) || a.NicAddressLen == 6);
	CHECK(a.LocalNicAddress != NULL);
	CHECK_EQ(a.ThreadSafe, VIP_TRUE);
	CHECK_EQ(a.MaxDiscriminatorLen, 64);
	CHECK(a.MaxRegisterBlockBytes >= 8ul << 20);
	CHECK(a.MaxRegisterBytes >= a.MaxRegisterBlockBytes);
	CHECK(a.MaxRegisterRegions >= 1024);
	CHECK(a.MaxVI >= 1024);
	CHECK(a.MaxDescriptorsPerQueue >= 1024);
	CHECK_EQ(a.MaxSegmentsPerDesc, 252);
	CHECK(a.MaxCQ >= 16);
	CHECK(a.MaxCQEntries >= 4096);
	CHECK(a.MaxTransferSize >= 262144);
	CHECK(a.NativeMTU >= 64);
	CHECK(a.MaxPtags >= 256);
	CHECK((a.ReliabilityLevelSupport & VIP_SERVICE_UNRELIABLE) &&
	      (a.ReliabilityLevelSupport & VIP_SERVICE_RELIABLE_DELIVERY));
	CHECK(!(a.ReliabilityLevelSupport & ~7u));
	CHECK(!(a.RDMAReadSupport & ~a.ReliabilityLevelSupport));
	CHECK_INVALID(VipQueryNic(env.nic.h, NULL));
	CHECK_INVALID(VipQueryNic(NULL, &a));
}

static void close_live(void)
{
	struct ctl_msg wait;
	struct pair p;
	VIP_CQ_HANDLE cq;
	VIP_VI_STATE state;
	VIP_VI_ATTRIBUTES a;
	VIP_BOOLEAN empty;
	VIP_MEM_HANDLE mem;
	struct xfer x = our_buf(0, 100, 1);

	REQUIRE_RC(VipCreateCQ(env.nic.h, 16, &cq), VIP_SUCCESS);
	pair_open(&p, &(struct pair_opt){ .recv_cq = cq });
	pair_post(&p, RECVQ, &x);
	CHECK_RC(VipRegisterMem(env.nic.h, pages(4096), 4096, NULL, &mem),
		 VIP_SUCCESS);
	x = peer_buf(0, 100, 1);
	CHECK_RC(peer_post(p.pvi, RECVQ, &x), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(env.nic.h), VIP_SUCCESS);
	wait = peer_wait(p.pvi, RECVQ, LONG_MS);
	CHECK_RC(wait.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(wait.status & VIP_STATUS_DESC_FLUSHED_ERROR);
	CHECK(peer_errors(p.pvi, VIP_ERROR_CONN_LOST, 1) == 1);
	CHECK_EQ(peer_state(p.pvi), VIP_STATE_ERROR);
	CHECK_INVALID(VipQueryVi(p.vi, &state, &a, &empty, &empty));
	CHECK_INVALID(VipDisconnect(p.vi));
	CHECK_INVALID(VipDestroyVi(p.vi));
	CHECK_INVALID(VipDestroyCQ(cq));
	CHECK_INVALID(VipCloseNic(env.nic.h));
}

struct waiter {
	pthread_t thread;
	VIP_NIC_HANDLE nic;
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;
	unsigned int what;
	VIP_RETURN rc;
};

static void *wait_main(void *arg)
{
	struct waiter *w = arg;
	struct net_address local, remote;
	VIP_VI_ATTRIBUTES a;
	VIP_CONN_HANDLE conn;
	VIP_DESCRIPTOR *d;
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN recv;

	own_address(&env.nic, &local, "close", 5);
	switch (w->what) {
	case 0:
		w->rc = VipRecvWait(w->vi, VIP_INFINITE, &d);
		break;
	case 1:
		w->rc = VipCQWait(w->cq, VIP_INFINITE, &vi, &recv);
		break;
	default:
		w->rc = VipConnectWait(w->nic, &local.a, VIP_INFINITE,
				       &remote.a, &a, &conn);
	}
	return NULL;
}

/* Closing ends every wait, whichever came first. */
static void close_waited(void)
{
	VIP_VI_ATTRIBUTES a = { env.level, 4096, NULL, NULL, 0, 0 };
	struct waiter w[3], o;
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE h;
	unsigned int i, round;

	for (round = 0; round < 4; round++) {
		REQUIRE_RC(VipOpenNic(env.device, &o.nic), VIP_SUCCESS);
		REQUIRE_RC(VipCreateCQ(o.nic, 4, &o.cq), VIP_SUCCESS);
		REQUIRE_RC(VipCreateVi(o.nic, &a, NULL, NULL, &o.vi),
			   VIP_SUCCESS);
		d = pages(4096);
		REQUIRE_RC(VipRegisterMem(o.nic, d, 4096, NULL, &h),
			   VIP_SUCCESS);
		CHECK_RC(VipPostRecv(o.vi, d, h), VIP_SUCCESS);
		for (i = 0; i < 3; i++) {
			w[i] = o;
			w[i].what = i;
			REQUIRE(!pthread_create(&w[i].thread, NULL, wait_main,
						&w[i]));
		}
		/* Asleep in some rounds, on their way in others. */
		if (round & 1)
			pause_ms(10);
		CHECK_RC(VipCloseNic(o.nic), VIP_SUCCESS);
		for (i = 0; i < 3; i++) {
			about("waiter %u, round %u", i, round);
			pthread_join(w[i].thread, NULL);
			CHECK(w[i].rc == VIP_INVALID_PARAMETER ||
			      (w[i].rc == VIP_DESCRIPTOR_ERROR && i == 0));
		}
	}
}

static const struct group groups[] = {
	{ "nic.bad_names", "10.1 VipOpenNic", bad_names, G_OWN | G_EARLY, 0 },
	{ "nic.good_names", "10.1 VipOpenNic", good_names, G_EARLY | G_SUNNY,
	  0 },
	{ "nic.missing_line", "10.1 VipOpenNic, device missing", missing_line,
	  0, 0 },
	{ "nic.many", "10.1, C18 one NIC opened many times", many, G_EARLY, 0 },
	{ "nic.no_leak", "10.1 VipCloseNic", no_leak, G_SUNNY, 0 },
	{ "nic.query", "10.1 VipQueryNic, 12 minima", query, G_EARLY | G_SUNNY,
	  0 },
	{ "nic.close_live", "10.1, C14 VipCloseNic with live objects",
	  close_live, G_PEER | G_OWN, 0 },
	{ "nic.close_waited", "10.1, 11 VipCloseNic under waiters",
	  close_waited, 0, 0 },
};

NOUN(nic, groups);
