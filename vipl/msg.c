// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Messages, and the reason of a thread's last failure. */
#include <stdarg.h>
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
static void print(int fd, const char *text)
{
	const char *quiet = getenv("VIPL_QUIET");
	char out[TEXT_LEN + 2 * sizeof(PREFIX) + 1];
	int fault = (int)strcspn(text, "\n"), n;

	if (into.line) {
		snprintf(into.line, into.size, "%s", text);
		return;
	}
	if (quiet && *quiet && strcmp(quiet, "0"))
		return;
	if (text[fault])
		n = snprintf(out, sizeof(out), PREFIX "%.*s\n" PREFIX "%s\n",
			     fault, text, text + fault + 1);
	else
		n = snprintf(out, sizeof(out), PREFIX "%s\n", text);
	if (sys_write(fd, out, (size_t)n) < 0)
		return;
}

void vipl_msg(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.call, sizeof(why.call), fmt, ap);
	va_end(ap);
	print(STDERR_FILENO, why.call);
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
	print(STDERR_FILENO, text);
}

void vipl_msg_fd(int fd, const char *fmt, ...)
{
	char text[TEXT_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	print(fd, text);
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
