// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Hosts on the wire and their names: sections 10.8, 10.9. */
#include "host.h"
#include "remote.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define LEN	env.nic.attr.NicAddressLen

static VIP_AUTODISCOVERY_LIST list;

static bool in_list(const uint8_t *host)
{
	unsigned int i;

	for (i = 0; i < list.NumAdAddrs; i++)
		if (!memcmp(list.ADAddrArray[i]->HostAddress, host, LEN))
			return true;
	return false;
}

static void discover(void)
{
	REQUIRE_RC(VipQuerySystemManagementInfo(env.nic.h,
						VIP_SMI_AUTODISCOVERY, &list),
		   VIP_SUCCESS);
}

/* In UDP/IP there is no asking all hosts, and names are the resolver's. */
static bool in_udp(void)
{
	return !strncmp(env.nic.attr.Name, "via_udp", 7);
}

/* The peer answers; and a connect to what was found finds it there. */
static void peer_found(void)
{
	const uint8_t *host = env.host ? env.host :
					 env.nic.attr.LocalNicAddress;
	struct pair p;

	/* Asking while messages flow disturbs neither. */
	pair_open(&p, NULL);
	check_alive(&p);
	discover();
	CHECK(in_list(host) || in_udp());
	CHECK(in_list(env.nic.attr.LocalNicAddress));
	check_alive(&p);
	pair_close(&p);
}

/* The alternatives of a name hold the address that has the name. */
static bool leads_back(char *name, const uint8_t *host, unsigned int *n)
{
	struct net_address a;
	bool found = false;
	VIP_RETURN rc;

	for (*n = 0; *n < 100; (*n)++) {
		rc = VipNSGetHostByName(env.nic.h, name, &a.a, *n);
		if (rc != VIP_SUCCESS) {
			CHECK_RC(rc, VIP_ERROR_NAMESERVICE);
			break;
		}
		CHECK_EQ(a.a.HostAddressLen, LEN);
		found |= !memcmp(a.a.HostAddress, host, LEN);
	}
	return found;
}

static void names_found(void)
{
	const uint8_t *host = env.host ? env.host :
					 env.nic.attr.LocalNicAddress;
	char name[300], own[300];
	VIP_ULONG len = sizeof(own), small = 1;
	struct net_address a;
	unsigned int n;

	REQUIRE_RC(VipNSInit(env.nic.h, NULL), VIP_SUCCESS);
	own_address(&env.nic, &a, "", 0);
	CHECK_RC(VipNSGetHostByAddr(env.nic.h, &a.a, own, &len), VIP_SUCCESS);
	CHECK_EQ(len, strlen(own) + 1);
	net_address(&a, host, LEN, "", 0);
	len = sizeof(name);
	CHECK_RC(VipNSGetHostByAddr(env.nic.h, &a.a, name, &len), VIP_SUCCESS);
	CHECK_EQ(len, strlen(name) + 1);
	about("%.60s", name);
	/* This host's own name may lead to another NIC of it. */
	CHECK(leads_back(name, host, &n) || !strcmp(own, name) || in_udp());
	CHECK(n > 0 || in_udp());
	/* Room for less: the length that is needed. */
	CHECK_INVALID(VipNSGetHostByAddr(env.nic.h, &a.a, name, &small));
	CHECK_EQ(small, len);
}

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

/* A query without an answer ends all the same, and soon, under signals too. */
static void nobody(void)
{
	struct itimerval t = { { 0, 2000 }, { 0, 2000 } }, off = { 0 };
	struct sigaction sa = { .sa_handler = on_signal };
	static char edge[66];
	char *const odd[] = {
		"via-nobody.invalid", edge, "a b", "\x01", "%s%n",
	};
	uint8_t stranger[HOST_MAX];
	struct net_address a;
	VIP_ULONG len;
	char name[100];
	uint64_t start;
	unsigned int i;

	signals = 0;
	memset(edge, 'x', 65);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		about("name %u", i);
		memset(&a, XFER_GUARD, sizeof(a));
		start = now_ms();
		CHECK_RC(VipNSGetHostByName(env.nic.h, odd[i], &a.a, 0),
			 VIP_ERROR_NAMESERVICE);
		CHECK_EQ(bytes_other(a.bytes, XFER_GUARD, sizeof(a)), 0);
		CHECK(now_ms() - start < LONG_MS);
	}
	about("an address");
	host_absent(&env.nic, stranger, 0xdd);
	net_address(&a, stranger, LEN, "", 0);
	memset(name, XFER_GUARD, sizeof(name));
	len = sizeof(name);
	start = now_ms();
	CHECK_RC(VipNSGetHostByAddr(env.nic.h, &a.a, name, &len),
		 VIP_ERROR_NAMESERVICE);
	CHECK_EQ(bytes_other(name, XFER_GUARD, sizeof(name)), 0);
	CHECK(now_ms() - start < LONG_MS);
	setitimer(ITIMER_REAL, &off, NULL);
}

static const struct group groups[] = {
	{ "discover.peer", "10.9 autodiscovery", peer_found,
	  G_PEER | G_FULL | G_SUNNY, 0 },
	{ "discover.names", "10.8 names of those that were found",
	  names_found, G_PEER | G_FULL | G_SUNNY, 0 },
	{ "discover.nobody", "10.8 ERROR_NAMESERVICE, C20", nobody,
	  G_OWN | G_FULL, 0 },
};

NOUN(discover, groups);
