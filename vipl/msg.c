// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "sys.h"

static _Thread_local struct {
	char *line;			/* NULL: standard error */
	size_t size;			/* bytes */
} into;

void vipl_msg_into(char *line, size_t size)
{
	into.line = line;
	into.size = size;
}

static void vmsg(int fd, const char *fmt, va_list ap)
{
	const char *quiet = getenv("VIPL_QUIET");
	char line[512] = "vipl: ";
	size_t n = strlen(line);
	int len;

	if (into.line) {
		vsnprintf(into.line, into.size, fmt, ap);
		return;
	}
	if (quiet && *quiet && strcmp(quiet, "0"))
		return;
	len = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	if (len < 0)
		return;
	n = strlen(line);
	line[n++] = '\n';
	/* One write, so that lines of several threads stay whole. */
	if (sys_write(fd, line, n) < 0)
		return;
}

void vipl_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmsg(STDERR_FILENO, fmt, ap);
	va_end(ap);
}

void vipl_msg_fd(int fd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmsg(fd, fmt, ap);
	va_end(ap);
}
