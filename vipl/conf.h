/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_CONF_H
#define VIPL_CONF_H

#include <stddef.h>
#include <stdio.h>

#define VIPL_CONF	"/etc/vipl.conf"

/*
 * Find "KEYWORD NAME VALUE" (or "KEYWORD VALUE" with a NULL name) in the
 * user's vipl.conf, then in the system's, and copy the first value. Returns 0,
 * or -1 when there is none.
 */
int vipl_conf_lookup(const char *keyword, const char *name, char *value,
		     size_t size);

/*
 * A line on standard error about a file, once for each of its versions: it is
 * read again at each look-up.
 */
void vipl_conf_warn(FILE *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define VIPL_LINE_LEN	512	/* of a line of a file, with newline and 0 */

/* The next line, empty instead of one that is too long; 0, or -1: the end. */
int vipl_conf_line(FILE *f, char line[VIPL_LINE_LEN], const char *file,
		   int number);

#endif /* VIPL_CONF_H */
