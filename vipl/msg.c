// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Messages, and the reason of a thread's last failure. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "sys.h"

#define TEXT_LEN	512		/* bytes of a message */
#define PREFIX		"vipl: "

static _Thread_local struct {
	char *line;			/* NULL: standard error */
	size_t size;			/* bytes */
} into;

/* Of this thread, so that no lock is needed. */
static _Thread_local struct {
	char call[TEXT_LEN];		/* of the call that it is in */
	char last[TEXT_LEN];		/* of its last call that failed */
} why;

void vipl_msg_into(char *line, size_t size)
{
	into.line = line;
	into.size = size;
}

/* One write, so that messages of several threads stay whole. */
static void put(int fd, const char *text)
{
	char out[TEXT_LEN + 2 * sizeof(PREFIX) + 1];
	int fault = (int)strcspn(text, "\n"), n;

	if (text[fault])
		n = snprintf(out, sizeof(out), PREFIX "%.*s\n" PREFIX "%s\n",
			     fault, text, text + fault + 1);
	else
		n = snprintf(out, sizeof(out), PREFIX "%s\n", text);
	if (sys_write(fd, out, (size_t)n) < 0)
		return;
}

/* The least important level that is printed. */
static enum vipl_level level_set(void)
{
	static const char *const names[] = {
		[VIPL_NONE] = "none", [VIPL_ERROR] = "error",
		[VIPL_WARN] = "warn", [VIPL_INFO] = "info",
		[VIPL_DEBUG] = "debug",
	};
	const char *log = getenv("VIPL_LOG"), *quiet = getenv("VIPL_QUIET");
	static atomic_flag told = ATOMIC_FLAG_INIT;
	char text[TEXT_LEN];

	if (log && *log) {
		for (int i = VIPL_NONE; i <= VIPL_DEBUG; i++)
			if (!strcmp(log, names[i]))
				return i;
		if (!atomic_flag_test_and_set(&told)) {
			snprintf(text, sizeof(text), MSG_LOG_LEVEL, log);
			put(STDERR_FILENO, text);
		}
	}
	return quiet && *quiet && strcmp(quiet, "0") ? VIPL_NONE : VIPL_WARN;
}

int vipl_logs(enum vipl_level level)
{
	return into.line ? level <= VIPL_WARN : level <= level_set();
}

static void print(int fd, enum vipl_level level, const char *text)
{
	int err = errno;

	if (!vipl_logs(level))
		return;
	if (into.line)
		snprintf(into.line, into.size, "%s", text);
	else
		put(fd, text);
	errno = err;
}

void vipl_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.call, sizeof(why.call), fmt, ap);
	va_end(ap);
	print(STDERR_FILENO, VIPL_ERROR, why.call);
}

void vipl_reason(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.call, sizeof(why.call), fmt, ap);
	va_end(ap);
}

int vipl_has_reason(void)
{
	return why.call[0] != '\0';
}

void vipl_note(const char *fmt, ...)
{
	char text[TEXT_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	print(STDERR_FILENO, VIPL_WARN, text);
}

void vipl_msg_fd(int fd, const char *fmt, ...)
{
	char text[TEXT_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	print(fd, VIPL_ERROR, text);
}

void vipl_log(enum vipl_level level, const char *fmt, ...)
{
	char text[TEXT_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	print(STDERR_FILENO, level, text);
}

void vipl_call_begin(void)
{
	why.call[0] = '\0';
}

VIP_RETURN vipl_call_end(VIP_RETURN r)
{
	if (r != VIP_SUCCESS && r != VIP_NOT_DONE)
		memcpy(why.last, why.call, strlen(why.call) + 1);
	why.call[0] = '\0';
	return r;
}

const VIP_CHAR *VipExtLastError(void)
{
	return why.last;
}
