// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the library does for providers, struct vipl_host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "loader.h"
#include "msg.h"
#include "object.h"

static void host_ref(void *object)
{
	vipl_ref(object);
}

static void host_identify(struct vipl_nic *nic, const struct vipl_identity *id)
{
	nic->id = *id;
	nic->id.name[sizeof(nic->id.name) - 1] = '\0';
	nic->identified = id->addr_len <= VIPL_ADDR_MAX &&
		id->disc_len <= VIPL_DISC_MAX &&
		id->files <= sizeof(id->file) / sizeof(id->file[0]);
}

static VIP_NIC_HANDLE host_nic_handle(struct vipl_nic *nic)
{
	return (VIP_NIC_HANDLE)atomic_load(&nic->obj.pub.handle);
}

/* "VIPL_SHM_GROUP" of "shm" and "group"; what is no letter is '_'. */
static int env_name(const char *provider, const char *key, char *out,
		    size_t size)
{
	int n = snprintf(out, size, "VIPL_%s_%s", provider, key);
	char *p;

	if (n < 0 || (size_t)n >= size)
		return -1;
	for (p = out; *p; p++) {
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
		else if (!(*p >= 'A' && *p <= 'Z') && !(*p >= '0' && *p <= '9'))
			*p = '_';
	}
	return 0;
}

static int host_conf(const char *provider, const char *key, char *value,
		     size_t size)
{
	char name[128];
	const char *env;

	if (!env_name(provider, key, name, sizeof(name))) {
		env = secure_getenv(name);
		if (env)
			return (size_t)snprintf(value, size, "%s", env) < size ?
				0 : -1;
	}
	if ((size_t)snprintf(name, sizeof(name), "%s.%s", provider, key) >=
	    sizeof(name))
		return -1;
	return vipl_conf_lookup(name, NULL, value, size);
}

/* Asked before each sleep; the C library reads a file for the answer. */
static int host_may_spin(void)
{
	static _Atomic int known;	/* 0: not yet, 1: no, 2: yes */
	int k = atomic_load_explicit(&known, memory_order_relaxed);

	if (!k) {
		k = 1 + (sysconf(_SC_NPROCESSORS_ONLN) > 1);
		atomic_store_explicit(&known, k, memory_order_relaxed);
	}
	return k == 2;
}

const struct vipl_host vipl_host = {
	.abi = VIPL_PROVIDER_ABI,
	.size = sizeof(struct vipl_host),
	.vi_get = vipl_vi_get,
	.cq_get = vipl_cq_get,
	.ref = host_ref,
	.nic_put = vipl_nic_put,
	.vi_put = vipl_vi_put,
	.cq_put = vipl_cq_put,
	.identify = host_identify,
	.nic_handle = host_nic_handle,
	.event = vipl_event_add,
	.msg = vipl_msg,
	.conf = host_conf,
	.wiped_alloc = vipl_wiped_alloc,
	.wiped_free = vipl_wiped_free,
	.may_spin = host_may_spin,
};
