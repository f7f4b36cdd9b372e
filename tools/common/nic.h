/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_NIC_H
#define TOOLS_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <vipl.h>

#define NIC_CLASS_DIR	"/sys/class/via"

struct nic {
	const char		*dev;
	VIP_NIC_HANDLE		h;
	VIP_NIC_ATTRIBUTES	attr;
};

/* Page-aligned, registered memory. */
struct region {
	unsigned char	*p;
	size_t		len;
	VIP_MEM_HANDLE	handle;
};

/*
 * dev NULL: $VIPL_NIC, else the first node that is not the loopback, else the
 * default of vipl.conf.
 */
void nic_open(struct nic *n, const char *dev);
void nic_close(struct nic *n);

/* Ends the program if the NIC does not offer the level. */
void nic_need_level(const struct nic *n, unsigned int level);

void region_alloc(struct nic *n, struct region *r, size_t len, bool rdma);
void region_free(struct nic *n, struct region *r);

/* A host address in writing, in a buffer of the callee's; and the NIC's own. */
const char *addr_text(const struct nic *n, const void *host, unsigned int len);
const char *nic_addr(const struct nic *n);

#endif
