/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_LEVEL_H
#define VIPL_LEVEL_H

/* Which messages the library prints; its tools read the same variables. */
#include <stdlib.h>
#include <string.h>

/*
 * VIPL_LOG in the environment is the least important level that is printed:
 * "debug", "info", "warn", "error" or "none". Without it: "warn", and "none"
 * where VIPL_QUIET is set and not 0.
 */
enum vipl_level {
	VIPL_NONE,
	VIPL_ERROR,	/* a call fails, or a connection ends */
	VIPL_WARN,	/* the program goes on, and not as it was told */
	VIPL_INFO,	/* which NIC is opened, by which provider */
	VIPL_DEBUG,	/* names, files, connections */
};

/* The level set; *unknown is VIPL_LOG's text if that is no level, or NULL. */
static inline enum vipl_level vipl_level_set(const char **unknown)
{
	static const char *const names[] = {
		[VIPL_NONE] = "none", [VIPL_ERROR] = "error",
		[VIPL_WARN] = "warn", [VIPL_INFO] = "info",
		[VIPL_DEBUG] = "debug",
	};
	const char *log = getenv("VIPL_LOG"), *quiet = getenv("VIPL_QUIET");

	*unknown = NULL;
	for (int i = VIPL_NONE; log && i <= VIPL_DEBUG; i++)
		if (!strcmp(log, names[i]))
			return i;
	if (log && *log)
		*unknown = log;
	return quiet && *quiet && strcmp(quiet, "0") ? VIPL_NONE : VIPL_WARN;
}

#endif
