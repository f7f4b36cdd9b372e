/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_CONF_H
#define VIPL_CONF_H

#include <stddef.h>

#define VIPL_CONF	"/etc/vipl.conf"

/*
 * Find "KEYWORD NAME VALUE" (or "KEYWORD VALUE" with a NULL name) in the
 * configuration and copy its value. Returns 0, or -1 when there is none.
 */
int vipl_conf_lookup(const char *keyword, const char *name, char *value,
		     size_t size);

#endif /* VIPL_CONF_H */
