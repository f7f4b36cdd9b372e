/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef OFI_DEVICE_H
#define OFI_DEVICE_H

/*
 * The text behind "ofi:", PROVIDER[,INTERFACE-or-ADDRESS-or-DEVICE], and
 * what there is to stand there.
 */
#include <stddef.h>
#include "addr.h"
#include "load.h"

struct ofi_device {
	const char *word;		/* "tcp" */
	const char *provider;		/* libfabric's name of it */
	const char *text;		/* for people */
	int number;			/* 0 on: which of the user's ports */
	int ip;				/* addresses are those of IP */
	int only4;			/* the kernel has no IPv6 */
	int bound;			/* it is reached at host, and there alone */
	struct ofi_host host;		/* port: the user's */
	char node[64];			/* for fi_getinfo(); empty: none */
	char domain[64];		/* empty: any */
	char space[32];			/* of names, see link.h */
};

/* 0, or -1 with a line in why that says what to do. */
int ofi_device_parse(struct ofi_device *w, const char *rest, char *why,
		     size_t size);

void ofi_devices(void (*each)(void *arg, const char *device,
			      const char *what), void *arg);
/* Why rest cannot be opened, 0, with its remedy in a second line; or -1. */
int ofi_absent(const char *rest, char *line, size_t size);
/* The same, as struct vipl_provider has it: in one line. */
int ofi_explain(const char *rest, char *line, size_t size);

#endif /* OFI_DEVICE_H */
