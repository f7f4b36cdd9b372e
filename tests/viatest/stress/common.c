// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "stress.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

const char *rc_name(VIP_RETURN rc)
{
	static const char *const names[] = {
		"SUCCESS", "NOT_DONE", "INVALID_PARAMETER", "ERROR_RESOURCE",
		"TIMEOUT", "REJECT", "INVALID_RELIABILITY_LEVEL",
		"INVALID_MTU", "INVALID_QOS", "INVALID_PTAG",
		"INVALID_RDMAREAD", "DESCRIPTOR_ERROR", "INVALID_STATE",
		"ERROR_NAMESERVICE", "NO_MATCH", "NOT_REACHABLE",
		"ERROR_NOT_SUPPORTED",
	};

	return (unsigned int)rc < sizeof(names) / sizeof(names[0]) ?
	       names[rc] : "?";
}

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void *stress_pages(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void one_segment(VIP_DESCRIPTOR *d, void *p, uint32_t len, VIP_MEM_HANDLE h)
{
	memset(d, 0, sizeof(*d));
	d->CS.Length = len;
	if (!len)
		return;
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = p;
	d->DS[0].Local.Handle = h;
	d->DS[0].Local.Length = len;
}

unsigned int resolve(VIP_NIC_HANDLE nic, const VIP_NIC_ATTRIBUTES *a,
		     uint8_t *host)
{
	union {
		VIP_NET_ADDRESS addr;
		uint8_t bytes[80];
	} u;
	VIP_RETURN rc;

	if (!stress_opt.host) {
		memcpy(host, a->LocalNicAddress, a->NicAddressLen);
		return a->NicAddressLen;
	}
	memset(&u, 0, sizeof(u));
	rc = VipNSInit(nic, NULL);
	if (rc == VIP_SUCCESS)
		rc = VipNSGetHostByName(nic, (VIP_CHAR *)stress_opt.host, &u.addr, 0);
	if (rc != VIP_SUCCESS) {
		fprintf(stderr, "viatest stress: no address of %s: %s; give its MAC "
			"address\n", stress_opt.host, rc_name(rc));
		return 0;
	}
	memcpy(host, u.bytes + offsetof(VIP_NET_ADDRESS, HostAddress),
	       u.addr.HostAddressLen);
	return u.addr.HostAddressLen;
}
