/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef OFI_LOAD_H
#define OFI_LOAD_H

#include <rdma/fabric.h>

/*
 * libfabric, loaded when it is first needed: the provider can then say that it
 * is absent, and what its libraries do as they are loaded is kept in check.
 * Everything else of libfabric is reached through the objects it returns.
 */
struct ofi_lib {
	int (*getinfo)(uint32_t version, const char *node, const char *service,
		       uint64_t flags, const struct fi_info *hints,
		       struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info);
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		      void *context);
	const char *(*strerror)(int err);
	uint32_t version;		/* FI_VERSION() of the library */
	uint32_t universe;		/* peers it makes room for, 0: many */
};

/* NULL: there is none, and why says so (when not NULL). Any thread. */
const struct ofi_lib *ofi_load(char *why, size_t size);

#endif /* OFI_LOAD_H */
