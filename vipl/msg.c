// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
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

static void print(int fd, const char *fmt, va_list ap)
{
	char line[512] = "vipl: ";
	size_t n = strlen(line);

	if (vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap) < 0)
		return;
	n = strlen(line);
	line[n++] = '\n';
	/* One write, so that lines of several threads stay whole. */
	if (sys_write(fd, line, n) < 0)
		return;
}

static void __attribute__((format(printf, 1, 2))) complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print(STDERR_FILENO, fmt, ap);
	va_end(ap);
}

/* The least important one that is printed. */
static enum vipl_level level_set(void)
{
	static const char *const names[] = {
		[VIPL_NONE] = "none", [VIPL_ERROR] = "error",
		[VIPL_WARN] = "warn", [VIPL_INFO] = "info",
		[VIPL_DEBUG] = "debug",
	};
	const char *log = getenv("VIPL_LOG"), *quiet = getenv("VIPL_QUIET");
	static atomic_flag told = ATOMIC_FLAG_INIT;

	if (log && *log) {
		for (int i = VIPL_NONE; i <= VIPL_DEBUG; i++)
			if (!strcmp(log, names[i]))
				return i;
		if (!atomic_flag_test_and_set(&told))
			complain("VIPL_LOG is '%.32s': debug, info, warn, error or none",
				 log);
	}
	return quiet && *quiet && strcmp(quiet, "0") ? VIPL_NONE : VIPL_WARN;
}

int vipl_logs(enum vipl_level level)
{
	return into.line ? level <= VIPL_WARN : level <= level_set();
}

static void vmsg(int fd, enum vipl_level level, const char *fmt, va_list ap)
{
	int err = errno;

	if (!vipl_logs(level))
		return;
	if (into.line)
		vsnprintf(into.line, into.size, fmt, ap);
	else
		print(fd, fmt, ap);
	errno = err;
}

void vipl_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmsg(STDERR_FILENO, VIPL_ERROR, fmt, ap);
	va_end(ap);
}

void vipl_msg_fd(int fd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmsg(fd, VIPL_ERROR, fmt, ap);
	va_end(ap);
}

void vipl_log(enum vipl_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vmsg(STDERR_FILENO, level, fmt, ap);
	va_end(ap);
}
