// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vipl_ext.h>

#include "msg.h"
#include "nic.h"

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/*
 * Call fn for the name of each VI NIC of this machine, in order, until it
 * returns non-zero, which is returned.
 */
static int nic_for_each(int (*fn)(const char *name, void *arg), void *arg)
{
	struct dirent **list;
	int n = scandir(NIC_CLASS_DIR, &list, not_hidden, versionsort);
	int ret = 0;

	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = fn(list[i]->d_name, arg);
		free(list[i]);
	}
	free(list);
	return ret;
}

static int first_real(const char *name, void *arg)
{
	size_t len = strnlen(name, NAME_MAX);
	char *found = arg;

	if (!*found || strcmp(name, "via_lo")) {
		memcpy(found, name, len);
		found[len] = '\0';
	}
	return strcmp(name, "via_lo") != 0;
}

static const char *default_nic(void)
{
	static char name[NAME_MAX + 1];
	const char *env = getenv("VIPL_NIC");

	if (env && *env)
		return env;
	nic_for_each(first_real, name);
	return *name ? name : NULL;
}

/* dev NULL: no node here, and the library was told of no default either. */
static void cannot_open(const char *dev, VIP_RETURN rc)
{
	if (!dev)
		dev = "default";
	die_reason("cannot open VI NIC", dev, rc);
}

/*
 * A thread that waits for a completion sees a lost connection, and reports it;
 * at the end of a run it is merely the other end leaving.
 */
static void on_error(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	const struct nic *n = ctx;

	if (e->ErrorCode == VIP_ERROR_CATASTROPHIC)
		die("%s has gone: its interface was detached or removed",
		    n->dev);
	if (e->ErrorCode != VIP_ERROR_CONN_LOST)
		warn_msg("%s: asynchronous error %d, see VipErrorCallback(3)",
			 n->dev, e->ErrorCode);
}

void nic_open(struct nic *n, const char *dev)
{
	VIP_RETURN rc;

	n->dev = dev ? dev : default_nic();
	rc = VipOpenNic(n->dev ? n->dev : "default", &n->h);
	if (rc != VIP_SUCCESS)
		cannot_open(n->dev, rc);
	rc = VipQueryNic(n->h, &n->attr);
	if (!n->dev)
		n->dev = n->attr.Name;
	if (rc == VIP_SUCCESS)
		rc = VipErrorCallback(n->h, n, on_error);
	if (rc != VIP_SUCCESS)
		die("VI NIC %s: %s", n->dev, vip_str(rc));
}

void nic_close(struct nic *n)
{
	VipCloseNic(n->h);
	n->h = NULL;
}

void nic_need_level(const struct nic *n, unsigned int level)
{
	if (!(n->attr.ReliabilityLevelSupport & level))
		die("%s does not offer level %s (its mask is 0x%02x)", n->dev,
		    level_str(level), n->attr.ReliabilityLevelSupport);
}

void region_alloc(struct nic *n, struct region *r, size_t len, bool rdma)
{
	VIP_MEM_ATTRIBUTES attr = {
		.EnableRdmaWrite = rdma,
		.EnableRdmaRead = rdma && n->attr.RDMAReadSupport,
	};
	size_t page = sysconf(_SC_PAGESIZE);
	VIP_RETURN rc;

	r->len = (len + page - 1) & ~(page - 1);
	r->p = mmap(NULL, r->len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (r->p == MAP_FAILED)
		die("out of memory (%zu bytes)", r->len);
	rc = VipRegisterMem(n->h, r->p, r->len, &attr, &r->handle);
	if (rc != VIP_SUCCESS)
		die_reason("cannot register memory with", n->dev, rc);
}

void region_free(struct nic *n, struct region *r)
{
	VipDeregisterMem(n->h, r->p, r->handle);
	munmap(r->p, r->len);
	r->p = NULL;
}

const char *addr_text(const struct nic *n, const void *host, unsigned int len)
{
	static char text[128];
	union {
		VIP_NET_ADDRESS a;
		unsigned char room[4 + 64];
	} u = { 0 };

	if (len > 64)
		return "?";
	u.a.HostAddressLen = len;
	memcpy(u.room + offsetof(VIP_NET_ADDRESS, HostAddress), host, len);
	if (VipExtFormatAddress(n->h, &u.a, text, sizeof(text)) != VIP_SUCCESS)
		return "?";
	return text;
}

const char *nic_addr(const struct nic *n)
{
	return addr_text(n, n->attr.LocalNicAddress, n->attr.NicAddressLen);
}
