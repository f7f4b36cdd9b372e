// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The library's services for providers, struct vipl_host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "loader.h"
#include "msg.h"
#include "object.h"

/*
 * A provider must not get the object of another one, whose private area is of
 * another layout. Each has a table of its own, which says whose it is. An
 * object keeps its provider: what is looked at before the reference is taken
 * still holds after it.
 */
static uint32_t driver_of(const struct vipl_host *host)
{
	return ((const struct vipl_driver *)((const char *)host -
		offsetof(struct vipl_driver, host)))->index;
}

static struct vipl_vi *host_vi_get(const struct vipl_host *host, VIP_VI_HANDLE h)
{
	struct vipl_vi *vi = vipl_vi_lookup(h);

	return vi && vi->obj.driver == driver_of(host) ? vipl_vi_get(h) : NULL;
}

static struct vipl_cq *host_cq_get(const struct vipl_host *host, VIP_CQ_HANDLE h)
{
	struct vipl_cq *cq = vipl_cq_lookup(h);

	return cq && cq->obj.driver == driver_of(host) ? vipl_cq_get(h) : NULL;
}

static void host_ref(void *object)
{
	vipl_ref(object);
}

static int is_zero(const uint32_t *words, size_t n)
{
	while (n && !words[n - 1])
		n--;
	return !n;
}

/* Room, in words, that a later version of the interface gives a meaning. */
#define UNKNOWN(s)							\
	(!is_zero((s)->reserved,						\
		  sizeof((s)->reserved) / sizeof((s)->reserved[0])))

static void host_identify(struct vipl_nic *nic, const struct vipl_identity *id)
{
	const char *name = vipl_ops(&nic->obj)->name;

	nic->id = *id;
	nic->id.name[sizeof(nic->id.name) - 1] = '\0';
	nic->identified = 0;
	if (UNKNOWN(id))
		vipl_msg(MSG_PLUGIN_LATER_NIC, name);
	else if (id->addr_len > VIPL_ADDR_MAX || id->disc_len > VIPL_DISC_MAX ||
		 id->files > sizeof(id->file) / sizeof(id->file[0]))
		vipl_msg(MSG_PLUGIN_SIZES, name, id->addr_len, id->disc_len, id->files,
			 VIPL_ADDR_MAX, VIPL_DISC_MAX,
			 sizeof(id->file) / sizeof(id->file[0]));
	else
		nic->identified = 1;
	nic->refused = !nic->identified;
}

/* The library's own thread calls it, too, for what event_wait returned. */
int vipl_event_known(struct vipl_nic *nic, const struct vipl_event *ev)
{
	static _Atomic int said;

	if ((unsigned int)ev->kind <= VIPL_EVENT_CONN && !UNKNOWN(ev))
		return 1;
	if (!atomic_exchange(&said, 1))
		vipl_note(MSG_PLUGIN_LATER_EVENT, vipl_ops(&nic->obj)->name);
	return 0;
}

static void host_event(struct vipl_nic *nic, const struct vipl_event *ev)
{
	if (vipl_event_known(nic, ev))
		vipl_event_add(nic, ev);
}

int vipl_request_fits(struct vipl_nic *nic, const struct vipl_request *req)
{
	const char *name = vipl_ops(&nic->obj)->name;

	if (UNKNOWN(req)) {
		vipl_msg(MSG_PLUGIN_LATER_CONN, name);
		return 0;
	}
	if (req->remote.host_len <= nic->id.addr_len &&
	    req->remote.disc_len <= nic->id.disc_len)
		return 1;
	vipl_msg(MSG_PLUGIN_REQUEST, name, req->remote.host_len, req->remote.disc_len,
		 nic->id.addr_len, nic->id.disc_len);
	return 0;
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

const struct vipl_host vipl_services = {
	.abi = VIPL_PROVIDER_ABI,
	.size = sizeof(struct vipl_host),
	.vi_get = host_vi_get,
	.cq_get = host_cq_get,
	.ref = host_ref,
	.nic_put = vipl_nic_put,
	.vi_put = vipl_vi_put,
	.cq_put = vipl_cq_put,
	.identify = host_identify,
	.nic_handle = host_nic_handle,
	.event = host_event,
	.msg = vipl_msg,
	.conf = host_conf,
	.wiped_alloc = vipl_wiped_alloc,
	.wiped_free = vipl_wiped_free,
	.may_spin = host_may_spin,
};
