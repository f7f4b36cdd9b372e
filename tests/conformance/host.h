/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Host addresses: their form and length are the network's. */
#ifndef CONFORMANCE_HOST_H
#define CONFORMANCE_HOST_H

#include "nic.h"

#define HOST_MAX	32	/* bytes */

/* The NIC's own address in writing. */
void host_literal(struct nic *n, char *text, size_t size);

/* An address, as long as the NIC's, that is of no host; which one. */
void host_absent(struct nic *n, uint8_t host[HOST_MAX], uint8_t which);

#endif
