/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_MSG_H
#define VIPL_MSG_H

#include <stddef.h>

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

/* One line on standard error, prefixed "vipl: ", for what has to be put right. */
void vipl_msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vipl_msg_fd(int fd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same with a level; vipl_msg() is VIPL_ERROR. Leaves errno as it is. */
void vipl_log(enum vipl_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Is that level printed? For callers that have to make the text first. */
int vipl_logs(enum vipl_level level);

/*
 * From here on the thread's errors and warnings go into that buffer, the newest
 * one instead of those before it, whatever VIPL_LOG and VIPL_QUIET are; other
 * levels go nowhere. NULL: as ever.
 */
void vipl_msg_into(char *line, size_t size);

#endif /* VIPL_MSG_H */
