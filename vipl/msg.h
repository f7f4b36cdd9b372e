/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_MSG_H
#define VIPL_MSG_H

#include <stddef.h>

/*
 * One line on standard error, prefixed "vipl: ", for what has to be put
 * right. VIPL_QUIET in the environment (not 0) silences it.
 */
void vipl_msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vipl_msg_fd(int fd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * From here on the thread's lines go into that buffer, the newest one instead
 * of those before it, whether VIPL_QUIET is set or not. NULL: as ever.
 */
void vipl_msg_into(char *line, size_t size);

#endif /* VIPL_MSG_H */
