/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_LOADER_H
#define VIPL_LOADER_H

#include "handle.h"

#define VIPL_DRIVERS		16	/* providers of one process, at most */
#define VIPL_PROVIDER_LEN	33	/* bytes of a provider's name, with 0 */

/*
 * A provider that is loaded. ops is the library's copy: what the provider does
 * not have, because it is older or because it left it out, is a function that
 * returns VIP_ERROR_NOT_SUPPORTED, or does nothing where nothing is returned;
 * only members whose absence means something are NULL (event_wait, the names
 * and addresses, what says how to explain).
 */
struct vipl_driver {
	struct vipl_provider ops;
	struct vipl_host host;		/* what it was given at its entry */
	uint32_t index;			/* below VIPL_DRIVERS */
	int plugin;			/* not built in */
};

/* The table that a provider's host is copied from; see host.c. */
extern const struct vipl_host vipl_services;

static inline size_t vipl_area_size(const struct vipl_driver *d,
				    enum vipl_kind kind)
{
	return kind == VIPL_NIC ? d->ops.nic_size :
	       kind == VIPL_VI ? d->ops.vi_size :
	       kind == VIPL_CQ ? d->ops.cq_size : 0;
}

/* The provider of an object. */
static inline const struct vipl_driver *vipl_driver_of(struct vipl_obj *o)
{
	/* ops is the first member of it. */
	return (const struct vipl_driver *)vipl_ops(o);
}

/*
 * The provider of that name, loaded if need be; NULL, and a line on standard
 * error. Between vipl_enter and vipl_leave.
 */
const struct vipl_driver *vipl_load(const char *name);

/*
 * Around what may run code of a plug-in for the first time. Its libraries may
 * be built on us: a thread that is opening a plug-in opens no other. vipl_enter
 * returns 0, or -1 and a line on standard error. Built-in ones may be opened.
 */
int vipl_enter(const char *name);
void vipl_leave(const char *name);

/* The provider's entry in its shared object, or NULL, and a line on stderr. */
vipl_provider_entry *vipl_plugin(const char *name);
/* The folder of plug-ins, an absolute path; 0, or -1 when there is none. */
int vipl_plugin_dir(char *dir, size_t size);

/* Complete what a provider left out; d->ops is a copy, zero beyond its size. */
void vipl_complete(struct vipl_driver *d);

#endif /* VIPL_LOADER_H */
