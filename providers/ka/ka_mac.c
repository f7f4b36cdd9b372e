// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Addresses of hosts in writing: hardware addresses, and IP's. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "ka.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int ka_mac_parse(const char *s, uint8_t mac[KA_MAC_LEN])
{
	int i, hi, lo;

	for (i = 0; i < KA_MAC_LEN; i++) {
		hi = hex_digit(s[0]);
		lo = hi < 0 ? -1 : hex_digit(s[1]);
		if (lo < 0)
			return -1;
		mac[i] = (uint8_t)(hi << 4 | lo);
		s += 2;
		if (i == KA_MAC_LEN - 1)
			break;
		if (*s != ':' && *s != '-')
			return -1;
		s++;
	}
	return *s ? -1 : 0;
}

/* Without a NIC: a hardware address. */
static uint32_t addr_len(struct vipl_nic *nic)
{
	return nic ? ka_nic_priv(nic)->addr_len : KA_MAC_LEN;
}

int ka_addr_parse(struct vipl_nic *nic, const char *text, uint8_t *host)
{
	uint8_t any[KA_IPV6_LEN];
	uint32_t len;

	if (!ka_mac_parse(text, any))
		len = KA_MAC_LEN;
	else if (inet_pton(AF_INET, text, any) == 1)
		len = KA_IPV4_LEN;
	else if (inet_pton(AF_INET6, text, any) == 1)
		len = KA_IPV6_LEN;
	else
		return -1;
	if (len != addr_len(nic))
		return 1;
	memcpy(host, any, len);
	return 0;
}

void ka_addr_format(struct vipl_nic *nic, const uint8_t *host, char *text,
		    size_t size)
{
	switch (addr_len(nic)) {
	case KA_IPV4_LEN:
		inet_ntop(AF_INET, host, text, (socklen_t)size);
		return;
	case KA_IPV6_LEN:
		inet_ntop(AF_INET6, host, text, (socklen_t)size);
		return;
	}
	snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", host[0],
		 host[1], host[2], host[3], host[4], host[5]);
}
