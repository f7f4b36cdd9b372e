/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_HOSTS_H
#define VIPL_HOSTS_H

#include "handle.h"

#define VIPL_HOSTS	"/etc/vip_hosts"

/* A hosts file, and how its addresses are written. */
struct vipl_hosts {
	const char *file;
	struct vipl_nic *nic;		/* for parse */
	/* 0; -1: not an address; 1: one of another kind of network. */
	int (*parse)(struct vipl_nic *nic, const char *text, uint8_t *host);
	uint32_t len;			/* bytes of an address */
	const char *example;		/* of one, for messages */
};

/* Whether a looked-up name means a listed one; either may be qualified. */
int vipl_name_match(const char *want, const char *have);

/*
 * The nth address that a hosts file gives to a name. Returns 0 when it is
 * there, else minus (1 + the number of addresses that the file does give).
 */
int vipl_hosts_by_name(const struct vipl_hosts *h, const char *name,
		       unsigned long n, uint8_t *host);

/* The first name that a hosts file gives to an address. Returns 0, or -1. */
int vipl_hosts_by_addr(const struct vipl_hosts *h, const uint8_t *host,
		       char *name, size_t size);

/* The name of this host; 0, or -1. */
int vipl_own_name(char *name, size_t size);
/* The host's name, or "localhost". */
int vipl_is_own_name(const char *name);

#endif /* VIPL_HOSTS_H */
