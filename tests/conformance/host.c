// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host.h"
#include <stdio.h>
#include <string.h>

/*
 * VIPL has no call for addresses in writing. Libraries without our extensions
 * take the form of Ethernet's.
 */
#if __has_include(<vipl_ext.h>)
#include <vipl_ext.h>
#pragma weak VipExtFormatAddress
#pragma weak VipExtParseAddress
#else
static VIP_RETURN (*const VipExtFormatAddress)(VIP_NIC_HANDLE,
	const VIP_NET_ADDRESS *, VIP_CHAR *, VIP_ULONG);
static VIP_RETURN (*const VipExtParseAddress)(VIP_NIC_HANDLE,
	const VIP_CHAR *, VIP_NET_ADDRESS *);
#endif

void host_literal(struct nic *n, char *text, size_t size)
{
	const uint8_t *host = n->attr.LocalNicAddress;
	struct net_address a;
	size_t used = 0;
	unsigned int i;

	own_address(n, &a, "", 0);
	if (VipExtFormatAddress &&
	    VipExtFormatAddress(n->h, &a.a, text, size) == VIP_SUCCESS)
		return;
	for (i = 0; i < n->attr.NicAddressLen && used < size; i++)
		used += snprintf(text + used, size - used, "%s%02x",
				 i ? ":" : "", host[i]);
}

static bool parsed(struct nic *n, char *text, uint8_t *host)
{
	struct net_address a;

	memset(&a, 0, sizeof(a));
	if (!VipExtParseAddress ||
	    VipExtParseAddress(n->h, text, &a.a) != VIP_SUCCESS ||
	    a.a.HostAddressLen != n->attr.NicAddressLen)
		return false;
	memcpy(host, a.a.HostAddress, a.a.HostAddressLen);
	return true;
}

void host_absent(struct nic *n, uint8_t host[HOST_MAX], uint8_t which)
{
	const uint8_t ethernet[6] = { 2, 0x76, 0x69, 0x61, which, which };
	unsigned int len = n->attr.NicAddressLen;
	char text[32];

	/* TEST-NET-3 of RFC 5737: no host has one of these. */
	snprintf(text, sizeof(text), "203.0.113.%u", which);
	memset(host, 0, HOST_MAX);
	if (len == sizeof(ethernet)) {
		memcpy(host, ethernet, len);
	} else if (!parsed(n, text, host)) {
		memcpy(host, n->attr.LocalNicAddress, len);
		host[0] ^= which;
		host[len - 1] ^= which;
	}
}
