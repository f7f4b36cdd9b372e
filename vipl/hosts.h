/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_HOSTS_H
#define VIPL_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#define VIPL_HOSTS	"/etc/vip_hosts"
#define VIPL_MAC_LEN	6

/* "52:54:00:00:00:01" (or with '-'), nothing else. Returns 0, or -1. */
int vipl_mac_parse(const char *s, uint8_t mac[VIPL_MAC_LEN]);

/* Whether a looked-up name means a listed one; either may be qualified. */
int vipl_name_match(const char *want, const char *have);

/*
 * The nth address that a hosts file gives to a name. Returns 0 when it is
 * there, else minus (1 + the number of addresses that the file does give).
 */
int vipl_hosts_by_name(const char *file, const char *name, unsigned long n,
		       uint8_t mac[VIPL_MAC_LEN]);

/* The first name that a hosts file gives to an address. Returns 0, or -1. */
int vipl_hosts_by_addr(const char *file, const uint8_t mac[VIPL_MAC_LEN],
		       char *name, size_t size);

#endif /* VIPL_HOSTS_H */
