// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The entry of ofi.so, and what needs no NIC handle. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../messages.h"
#include "ofi.h"

#define NAME_MS		200		/* how long a host may take to answer */

const struct vipl_host *ofi_host;

static struct ofi_nic *nic_of(struct vipl_nic *nic)
{
	return ofi_nic_of(vipl_priv(nic));
}

static int parse_host(struct vipl_nic *nic, const char *text, uint8_t *host)
{
	struct ofi_host h;

	if (ofi_addr_parse(&h, text, nic_of(nic)->port))
		return -1;
	memcpy(host, &h, sizeof(h));
	return 0;
}

static void format_host(struct vipl_nic *nic, const uint8_t *host, char *text,
			size_t size)
{
	struct ofi_host h;

	memcpy(&h, host, sizeof(h));
	ofi_addr_format(&h, nic_of(nic)->port, text, size);
}

/* This host's own name is the NIC's address, whatever files make of it. */
static int is_own_name(const struct ofi_nic *n, const char *name)
{
	return n->host_name[0] && !strcasecmp(n->host_name, name);
}

static VIP_RETURN resolve_name(struct vipl_nic *nic, const char *name,
			       VIP_ULONG index, uint8_t *host)
{
	struct ofi_nic *n = nic_of(nic);
	struct ofi_host h = n->host;

	if (is_own_name(n, name) ? index != 0 :
	    ofi_addr_resolve(&h, name, index, ofi_family(n), n->port))
		return VIP_ERROR_NAMESERVICE;
	memcpy(host, &h, sizeof(h));
	return VIP_SUCCESS;
}

/* The host's own name: its links know. */
static int asked_name(const struct ofi_nic *n, const struct ofi_host *h,
		      char *name, size_t size)
{
	char found[VIPL_NAME_MAX + 1];
	struct sockaddr_storage sa;
	socklen_t len = ofi_addr_get(h, AF_UNSPEC, &sa);

	if (!len || link_name(&n->conf, (struct sockaddr *)&sa, len, NAME_MS,
			      found))
		return -1;
	snprintf(name, size, "%s", found);
	return 0;
}

static VIP_RETURN name_of(struct vipl_nic *nic, const uint8_t *host,
			  char *name, size_t size)
{
	const struct ofi_nic *n = nic_of(nic);
	struct ofi_host h;

	memcpy(&h, host, sizeof(h));
	if (!ofi_addr_name(&h, name, size))
		return VIP_SUCCESS;
	if (n->host_name[0] && !memcmp(&h, &n->host, sizeof(h))) {
		snprintf(name, size, "%s", n->host_name);
		return VIP_SUCCESS;
	}
	return asked_name(n, &h, name, size) ? VIP_ERROR_NAMESERVICE :
					       VIP_SUCCESS;
}

static int is_listed(const struct vipl_named *out, uint32_t n,
		     const struct ofi_host *h)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (!memcmp(out[i].host, h, sizeof(*h)))
			return 1;
	return 0;
}

static void list_host(struct vipl_named *out, const struct ofi_host *h)
{
	memset(out, 0, sizeof(*out));
	memcpy(out->host, h, sizeof(*h));
}

/*
 * There is no asking of all hosts on a network of IP: known are this one and
 * those that this handle has connections with, whose links tell that they live.
 */
static VIP_RETURN discover_hosts(struct vipl_nic *nic, struct vipl_named *out,
				 uint32_t *n)
{
	struct ofi_nic *own = nic_of(nic);
	uint32_t i, room = *n;

	*n = 0;
	if (!room)
		return VIP_SUCCESS;
	list_host(out, &own->host);
	snprintf(out->name, sizeof(out->name), "%s", own->host_name);
	*n = 1;
	if (!ofi_enter(own))
		return VIP_SUCCESS;
	for (i = 0; i < own->peers && *n < room; i++) {
		const struct ofi_peer *p = own->peer[i];

		if (p && p->state == OFI_UP && !is_listed(out, *n, &p->host))
			list_host(out + (*n)++, &p->host);
	}
	ofi_leave(own);
	return VIP_SUCCESS;
}

static void fork_child(void)
{
	link_fork_child();
}

const struct vipl_provider *vipl_provider_init(uint32_t abi,
					       const struct vipl_host *host,
					       const char **why)
{
	static struct vipl_provider ops;

	if (abi != VIPL_PROVIDER_ABI) {
		*why = MSG_OFI_RELEASE;
		return NULL;
	}
	ofi_host = host;
	if (ofi_guard_watch()) {
		*why = MSG_OFI_NO_MEMORY;
		return NULL;
	}
	eng_provider(&ops, &ofi_transport, host);
	ops.name = "ofi";
	ops.version = VIPL_RELEASE;
	ops.devices = ofi_devices;
	ops.explain = ofi_explain;
	ops.addr_parse = parse_host;
	ops.addr_format = format_host;
	ops.resolve = resolve_name;
	ops.name_of = name_of;
	ops.discover = discover_hosts;
	ops.fork_child = fork_child;
	return &ops;
}
