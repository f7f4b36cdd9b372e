// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Hardware addresses in writing. */
#include <stdio.h>

#include "ka.h"

static int hex(char c)
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
		hi = hex(s[0]);
		lo = hi < 0 ? -1 : hex(s[1]);
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

int ka_addr_parse(struct vipl_nic *nic, const char *text, uint8_t *host)
{
	(void)nic;
	return ka_mac_parse(text, host);
}

void ka_addr_format(struct vipl_nic *nic, const uint8_t *host, char *text,
		    size_t size)
{
	(void)nic;
	snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", host[0],
		 host[1], host[2], host[3], host[4], host[5]);
}
