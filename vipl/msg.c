// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Messages, and the reason of a thread's last failure. */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
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
static void put_line(int fd, const char *text)
{
	char out[TEXT_LEN + 2 * sizeof(PREFIX) + 1];
	int fault = (int)strcspn(text, "\n"), err = errno, n;

	if (text[fault])
		n = snprintf(out, sizeof(out), PREFIX "%.*s\n" PREFIX "%s\n",
			     fault, text, text + fault + 1);
	else
		n = snprintf(out, sizeof(out), PREFIX "%s\n", text);
	/* A line that cannot be written is lost. */
	if (sys_write(fd, out, (size_t)n) < 0)
		errno = err;
}

/* The least important level that is printed. */
static enum vipl_level level_set(void)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	const char *unknown;
	enum vipl_level level = vipl_level_set(&unknown);
	char text[TEXT_LEN];

	if (unknown && !atomic_flag_test_and_set(&told)) {
		snprintf(text, sizeof(text), MSG_LOG_LEVEL, unknown);
		put_line(STDERR_FILENO, text);
	}
	return level;
}

int vipl_logs(enum vipl_level level)
{
	return into.line ? level <= VIPL_WARN : level <= level_set();
}

/* Of a level that is printed. */
static void print_text(int fd, const char *text)
{
	if (into.line)
		snprintf(into.line, into.size, "%s", text);
	else
		put_line(fd, text);
}

/* A message that is not printed is not formatted. */
static void vprint_text(int fd, enum vipl_level level, const char *fmt,
			va_list ap)
{
	char text[TEXT_LEN];

	if (!vipl_logs(level))
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	print_text(fd, text);
}

void vipl_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.call, sizeof(why.call), fmt, ap);
	va_end(ap);
	if (vipl_logs(VIPL_ERROR))
		print_text(STDERR_FILENO, why.call);
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

void vipl_msg_fd(int fd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprint_text(fd, VIPL_ERROR, fmt, ap);
	va_end(ap);
}

void vipl_log(enum vipl_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprint_text(STDERR_FILENO, level, fmt, ap);
	va_end(ap);
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
