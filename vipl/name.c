// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The name service. An address in writing is itself. Everything else is the
 * provider's to resolve; for one that does not, a name is, in this order: an
 * entry of the hosts file, this host itself, or a host that answers and says
 * that it is called that. The first of these that knows any address has the
 * say about all of them. Files are read at every call: an edit needs no
 * restart, and there is no state to set up or to shut down.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "hosts.h"
#include "msg.h"
#include "object.h"

#define NAME_MAX_LEN	256
#define TEXT_MAX	128	/* bytes of an address in writing */

int vipl_own_name(char *name, size_t size)
{
	if (gethostname(name, size))
		return -1;
	name[size - 1] = '\0';
	return 0;
}

int vipl_is_own_name(const char *name)
{
	char own[NAME_MAX_LEN];

	return !strcasecmp(name, "localhost") ||
	       (!vipl_own_name(own, sizeof(own)) && vipl_name_match(name, own));
}

/* Without a form of its own an address is written in hexadecimal. */
int vipl_addr_parse(struct vipl_nic *nic, const char *text, uint8_t *host)
{
	const struct vipl_provider *ops = vipl_ops(&nic->obj);

	return ops->addr_parse ? ops->addr_parse(nic, text, host) : -1;
}

void vipl_addr_format(struct vipl_nic *nic, const uint8_t *host, char *text,
		      size_t size)
{
	const struct vipl_provider *ops = vipl_ops(&nic->obj);
	uint32_t i;

	text[0] = '\0';
	if (ops->addr_format) {
		ops->addr_format(nic, host, text, size);
		return;
	}
	for (i = 0; i < nic->id.addr_len && 3 * i + 3 < size; i++)
		snprintf(text + (i ? 3 * i - 1 : 0), 4, i ? ":%02x" : "%02x",
			 host[i]);
}

static struct vipl_hosts hosts_of(struct vipl_nic *nic, char text[TEXT_MAX])
{
	vipl_addr_format(nic, nic->id.addr, text, TEXT_MAX);
	return (struct vipl_hosts){
		.file = VIPL_HOSTS,
		.nic = nic,
		.parse = vipl_addr_parse,
		.len = nic->id.addr_len,
		.example = text,
	};
}

/* The index-th of those that answer now and have that name, in this order. */
static int by_host(const void *a, const void *b)
{
	const struct vipl_named *x = a, *y = b;

	return memcmp(x->host, y->host, sizeof(x->host));
}

static int from_network(struct vipl_nic *nic, const char *name,
			unsigned long n, uint8_t *host)
{
	struct vipl_named found[VIPL_NAMED_MAX];
	uint32_t i, count = VIPL_NAMED_MAX;

	if (vipl_ops(&nic->obj)->discover(nic, found, &count) != VIP_SUCCESS)
		return -1;
	/* Answers come in any order; an index means the same each time. */
	qsort(found, count, sizeof(found[0]), by_host);
	for (i = 0; i < count; i++) {
		if (!vipl_name_match(name, found[i].name) || n--)
			continue;
		memcpy(host, found[i].host, nic->id.addr_len);
		return 0;
	}
	return -1;
}

static int by_name(struct vipl_nic *nic, const char *name, unsigned long n,
		   uint8_t *host)
{
	const struct vipl_provider *ops = vipl_ops(&nic->obj);
	struct vipl_hosts hosts;
	char text[TEXT_MAX];
	int r;

	if (!vipl_addr_parse(nic, name, host))
		return n ? -1 : 0;
	if (ops->resolve)
		return ops->resolve(nic, name, n, host) == VIP_SUCCESS ? 0 : -1;
	hosts = hosts_of(nic, text);
	r = vipl_hosts_by_name(&hosts, name, n, host);
	if (r != -1)
		return r;
	if (vipl_is_own_name(name)) {
		memcpy(host, nic->id.addr, nic->id.addr_len);
		return n ? -1 : 0;
	}
	return from_network(nic, name, n, host);
}

static int name_on_network(struct vipl_nic *nic, const uint8_t *host,
			   char *name, size_t size)
{
	struct vipl_named found[VIPL_NAMED_MAX];
	uint32_t i, count = VIPL_NAMED_MAX;

	if (vipl_ops(&nic->obj)->discover(nic, found, &count) != VIP_SUCCESS)
		return -1;
	for (i = 0; i < count; i++) {
		if (memcmp(found[i].host, host, nic->id.addr_len) ||
		    !found[i].name[0])
			continue;
		snprintf(name, size, "%s", found[i].name);
		return 0;
	}
	return -1;
}

static int by_addr(struct vipl_nic *nic, const uint8_t *host, char *name,
		   size_t size)
{
	const struct vipl_provider *ops = vipl_ops(&nic->obj);
	struct vipl_hosts hosts;
	char text[TEXT_MAX];

	if (ops->name_of)
		return ops->name_of(nic, host, name, size) == VIP_SUCCESS ?
			0 : -1;
	hosts = hosts_of(nic, text);
	if (!vipl_hosts_by_addr(&hosts, host, name, size))
		return 0;
	if (!memcmp(host, nic->id.addr, nic->id.addr_len))
		return vipl_own_name(name, size);
	return name_on_network(nic, host, name, size);
}

static VIP_RETURN ns_init(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);

	(void)NSInitInfo;
	if (!nic)
		return VIP_INVALID_PARAMETER;
	vipl_nic_put(nic);
	return VIP_SUCCESS;
}

VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo)
{
	return VIPL_CALL(ns_init(NicHandle, NSInitInfo));
}

static VIP_RETURN ns_shutdown(VIP_NIC_HANDLE NicHandle)
{
	return VipNSInit(NicHandle, NULL);
}

VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle)
{
	return VIPL_CALL(ns_shutdown(NicHandle));
}

static VIP_RETURN ns_get_host_by_name(VIP_NIC_HANDLE NicHandle, VIP_CHAR *Name,
				      VIP_NET_ADDRESS *Address,
				      VIP_ULONG NameIndex)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint8_t host[VIPL_ADDR_MAX] = { 0 };

	if (!nic)
		return r;
	if (!Name || !Address)
		goto out;
	r = VIP_ERROR_NAMESERVICE;
	if (by_name(nic, Name, NameIndex, host)) {
		vipl_reason(MSG_UNKNOWN_HOST, Name, nic->id.name);
		goto out;
	}
	/* HostAddressLen on entry means nothing: old programs leave it 0. */
	Address->HostAddressLen = (VIP_UINT16)nic->id.addr_len;
	memcpy((char *)Address + offsetof(VIP_NET_ADDRESS, HostAddress), host,
	       nic->id.addr_len);
	r = VIP_SUCCESS;
out:
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR *Name,
			      VIP_NET_ADDRESS *Address, VIP_ULONG NameIndex)
{
	return VIPL_CALL(ns_get_host_by_name(NicHandle, Name, Address,
					     NameIndex));
}

static VIP_RETURN ns_get_host_by_addr(VIP_NIC_HANDLE NicHandle,
				      VIP_NET_ADDRESS *Address, VIP_CHAR *Name,
				      VIP_ULONG *NameLen)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint8_t host[VIPL_ADDR_MAX] = { 0 };
	char name[NAME_MAX_LEN];
	VIP_ULONG need;

	if (!nic)
		return r;
	if (!Address || !Name || !NameLen ||
	    Address->HostAddressLen != nic->id.addr_len)
		goto out;
	memcpy(host, (char *)Address + offsetof(VIP_NET_ADDRESS, HostAddress),
	       nic->id.addr_len);
	r = VIP_ERROR_NAMESERVICE;
	if (by_addr(nic, host, name, sizeof(name))) {
		vipl_reason(MSG_NO_ADDRESS_NAME);
		goto out;
	}
	/* Both ways the length counts the terminating zero. */
	need = strlen(name) + 1;
	r = *NameLen < need ? VIP_INVALID_PARAMETER : VIP_SUCCESS;
	*NameLen = need;
	if (r == VIP_SUCCESS)
		memcpy(Name, name, need);
out:
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle,
			      VIP_NET_ADDRESS *Address, VIP_CHAR *Name,
			      VIP_ULONG *NameLen)
{
	return VIPL_CALL(ns_get_host_by_addr(NicHandle, Address, Name,
					     NameLen));
}
