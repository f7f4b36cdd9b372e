// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The name service: section 10.8, C13. */
#include "host.h"
#include "remote.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void by_name(void)
{
	static const unsigned int lens[] = { 0, 1, 6, 7, 0xa5a5 };
	unsigned int host_len = env.nic.attr.NicAddressLen;
	struct net_address a;
	char name[64];
	unsigned int i;

	host_literal(&env.nic, name, sizeof(name));
	REQUIRE_RC(VipNSInit(env.nic.h, NULL), VIP_SUCCESS);
	CHECK_RC(VipNSInit(env.nic.h, NULL), VIP_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		about("HostAddressLen %u on entry", lens[i]);
		memset(&a, XFER_GUARD, sizeof(a));
		a.a.HostAddressLen = lens[i];
		CHECK_RC(VipNSGetHostByName(env.nic.h, name, &a.a, 0),
			 VIP_SUCCESS);
		CHECK_EQ(a.a.HostAddressLen, host_len);
		CHECK(!memcmp(a.a.HostAddress, env.nic.attr.LocalNicAddress,
			      host_len));
		/* DiscriminatorLen and what lies behind stay. */
		CHECK_EQ(bytes_other(a.bytes + 2, XFER_GUARD, 2), 0);
		CHECK_EQ(bytes_other(a.bytes + 4 + host_len, XFER_GUARD,
				     sizeof(a) - 4 - host_len), 0);
	}
	about("past the last address");
	CHECK_RC(VipNSGetHostByName(env.nic.h, name, &a.a, 1),
		 VIP_ERROR_NAMESERVICE);
	CHECK_RC(VipNSShutdown(env.nic.h), VIP_SUCCESS);
}

static void bad_names(void)
{
	static char long_name[5000];
	char *const names[] = {
		"no-such-host.invalid", "", "zz:zz:zz:zz:zz:zz",
		"00:11:22:33:44", "00:11:22:33:44:55:66", "00:11:22:33:44:555",
		long_name,
	};
	struct net_address a;
	VIP_RETURN rc;
	unsigned int i;

	memset(long_name, 'n', sizeof(long_name) - 1);
	REQUIRE_RC(VipNSInit(env.nic.h, NULL), VIP_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		about("%.30s", names[i]);
		memset(&a, XFER_GUARD, sizeof(a));
		rc = VipNSGetHostByName(env.nic.h, names[i], &a.a, 0);
		CHECK(rc == VIP_ERROR_NAMESERVICE ||
		      (!names[i][0] && rc == VIP_INVALID_PARAMETER));
		CHECK_EQ(bytes_other(a.bytes, XFER_GUARD, sizeof(a)), 0);
	}
	CHECK_INVALID(VipNSGetHostByName(env.nic.h, NULL, &a.a, 0));
	CHECK_INVALID(VipNSGetHostByName(env.nic.h, names[0], NULL, 0));
	CHECK_INVALID(VipNSGetHostByName(NULL, names[0], &a.a, 0));
	CHECK_INVALID(VipNSInit(NULL, NULL));
	CHECK_INVALID(VipNSShutdown(NULL));
}

static void by_address(void)
{
	uint8_t nobody[HOST_MAX];
	struct net_address a;
	VIP_ULONG len;
	char name[300];

	REQUIRE_RC(VipNSInit(env.nic.h, NULL), VIP_SUCCESS);
	host_absent(&env.nic, nobody, 0xee);
	net_address(&a, nobody, env.nic.attr.NicAddressLen, "", 0);
	len = sizeof(name);
	CHECK_RC(VipNSGetHostByAddr(env.nic.h, &a.a, name, &len),
		 VIP_ERROR_NAMESERVICE);
	CHECK_INVALID(VipNSGetHostByAddr(env.nic.h, NULL, name, &len));
	CHECK_INVALID(VipNSGetHostByAddr(env.nic.h, &a.a, NULL, &len));
	CHECK_INVALID(VipNSGetHostByAddr(env.nic.h, &a.a, name, NULL));
	CHECK_INVALID(VipNSGetHostByAddr(NULL, &a.a, name, &len));
	CHECK_RC(VipNSShutdown(env.nic.h), VIP_SUCCESS);
}

/* Addresses obtained stay valid after the shutdown. */
static void after_shutdown(void)
{
	struct net_address a;
	char name[64];

	host_literal(&env.nic, name, sizeof(name));
	REQUIRE_RC(VipNSInit(env.nic.h, NULL), VIP_SUCCESS);
	memset(&a, 0, sizeof(a));
	CHECK_RC(VipNSGetHostByName(env.nic.h, name, &a.a, 0), VIP_SUCCESS);
	CHECK_RC(VipNSShutdown(env.nic.h), VIP_SUCCESS);
	CHECK_EQ(a.a.HostAddressLen, env.nic.attr.NicAddressLen);
	CHECK(!memcmp(a.a.HostAddress, env.nic.attr.LocalNicAddress,
		      env.nic.attr.NicAddressLen));
	CHECK_RC(VipNSInit(env.nic.h, NULL), VIP_SUCCESS);
	CHECK_RC(VipNSGetHostByName(env.nic.h, name, &a.a, 0), VIP_SUCCESS);
	CHECK_RC(VipNSShutdown(env.nic.h), VIP_SUCCESS);
}

/* This host by its names, on the NIC that reaches no other: connects, too. */
static void own(void)
{
	VIP_VI_ATTRIBUTES v = vi_attributes(&env.nic, env.level), theirs;
	struct net_address local, remote;
	char host[256];
	char *const names[] = { host, "localhost" };
	VIP_VI_HANDLE vi;
	unsigned int i;

	if (strcmp(env.nic.attr.Name, "via_lo"))
		return;
	REQUIRE(!gethostname(host, sizeof(host)));
	REQUIRE_RC(VipCreateVi(env.nic.h, &v, NULL, NULL, &vi), VIP_SUCCESS);
	own_address(&env.nic, &local, "", 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		about("%s", names[i]);
		memset(&remote, 0, sizeof(remote));
		CHECK_RC(VipNSGetHostByName(env.nic.h, names[i], &remote.a, 0),
			 VIP_SUCCESS);
		CHECK(!memcmp(remote.a.HostAddress,
			      env.nic.attr.LocalNicAddress,
			      env.nic.attr.NicAddressLen));
		/* It can be reached, and there is none that waits. */
		CHECK_RC(VipConnectRequest(vi, &local.a, &remote.a, LONG_MS,
					   &theirs), VIP_NO_MATCH);
	}
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "names.by_name", "10.8 VipNSGetHostByName, C13", by_name, G_SUNNY,
	  0 },
	{ "names.bad_names", "10.8 ERROR_NAMESERVICE", bad_names, 0, 0 },
	{ "names.by_address", "10.8 VipNSGetHostByAddr", by_address, 0, 0 },
	{ "names.own", "10.8, C7 this host on the loopback NIC", own, 0, 0 },
	{ "names.after_shutdown", "10.8 VipNSShutdown", after_shutdown, 0, 0 },
};

NOUN(names, groups);
