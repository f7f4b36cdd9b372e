/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fields that many events of events/via/ have.
 *
 * All fields are numbers but the name of the NIC, which is padded with zeros so
 * that a program can use it as a key.  No address of memory is among them.  A
 * host is told in the two ways that tools know how to print: @mac where its
 * address has 6 bytes, else @ip, with an IPv4 address in the form of IPv6.
 */
#ifndef _VIA_TRACE_FIELDS_H
#define _VIA_TRACE_FIELDS_H

#include <linux/string.h>
#include <linux/types.h>

#define VIA_TRACE_NIC		32	/* bytes of a NIC's name, with the zero */

#define VIA_NIC_ENTRY		__array(char, nic, VIA_TRACE_NIC)
#define VIA_NIC_ASSIGN(from)	\
	strscpy_pad(__entry->nic, (from)->name, VIA_TRACE_NIC)

#define VIA_HOST_ENTRY		\
	__array(u8, mac, 6)	\
	__array(u8, ip, 16)	\
	__field(u8, host_len)
#define VIA_HOST_ASSIGN(addr, len) \
	__entry->host_len = via_trace_host(__entry->mac, __entry->ip, addr, len)
#define VIA_HOST_FMT		"mac=%pM ip=%pI6c"
#define VIA_HOST_ARG		__entry->mac, __entry->ip

/* Returns @len, or 0 where there is no host. */
static inline u8 via_trace_host(u8 *mac, u8 *ip, const u8 *addr, u32 len)
{
	memset(mac, 0, 6);
	memset(ip, 0, 16);
	if (!addr)
		return 0;
	if (len == 6) {
		memcpy(mac, addr, 6);
	} else if (len == 4) {
		memset(ip + 10, 0xff, 2);
		memcpy(ip + 12, addr, 4);
	} else if (len == 16) {
		memcpy(ip, addr, 16);
	}
	return len;
}

#endif /* _VIA_TRACE_FIELDS_H */
