/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The address of a host, as its NIC's network has them: 6 bytes of Ethernet, 4
 * of IPv4, 16 of IPv6.  All hosts that a NIC deals with have addresses as long
 * as its own, so an address that came in a frame, or is looked for, is a pointer
 * to nic->host.len bytes.
 */
#ifndef _VIA_HOST_H
#define _VIA_HOST_H

#include "../../../core/portable.h"

#define VIA_HOST_MAX		16u	/* bytes */
#define VIA_HOST_TEXT		48u	/* bytes of one in writing, with the zero */

/**
 * struct via_host - the address of a host
 * @addr:	those behind @len are zero
 * @len:	bytes
 */
struct via_host {
	u8 addr[VIA_HOST_MAX];
	u8 len;
};

static inline void via_host_set(struct via_host *host, const u8 *addr, u32 len)
{
	memset(host, 0, sizeof(*host));
	memcpy(host->addr, addr, len);
	host->len = len;
}

/*
 * Is @addr, of as many bytes, that host?  Hot paths ask, so addresses of 6 bytes, as
 * ether_addr_equal() does it, and of 4 are compared here: the kernel's memcmp() is a
 * call and a loop.  @addr may lie anywhere.
 */
static __always_inline bool via_host_is(const struct via_host *host,
					const u8 *addr)
{
	u32 a, b;
	u16 c, d;

	if (likely(host->len == 6)) {
		memcpy(&a, host->addr, sizeof(a));
		memcpy(&b, addr, sizeof(b));
		memcpy(&c, host->addr + sizeof(a), sizeof(c));
		memcpy(&d, addr + sizeof(b), sizeof(d));
		return !((a ^ b) | (c ^ d));
	}
	if (likely(host->len == sizeof(a))) {
		memcpy(&a, host->addr, sizeof(a));
		memcpy(&b, addr, sizeof(b));
		return a == b;
	}
	return !memcmp(host->addr, addr, host->len);
}

/* For the log: into @text, of VIA_HOST_TEXT bytes, which is returned. */
const char *via_host_text(char *text, const u8 *addr, u32 len);

#endif /* _VIA_HOST_H */
