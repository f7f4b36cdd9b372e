// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <vipl_ext.h>

#include "../../vipl/level.h"
#include "msg.h"

void (*msg_before)(void);
void (*msg_last)(const char *text);

/* The fault, and after a newline its remedy. */
static void say(const char *text)
{
	const char *name = program_invocation_short_name;
	int fault = (int)strcspn(text, "\n");

	if (msg_before)
		msg_before();
	fflush(stdout);
	/* One write: other threads and processes may warn, too. */
	if (text[fault])
		fprintf(stderr, "%s: %.*s\n%s: %s\n", name, fault, text, name,
			text + fault + 1);
	else
		fprintf(stderr, "%s: %s\n", name, text);
}

void warn_msg(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(text);
}

void die(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(text);
	if (msg_last)
		msg_last(text);
	exit(1);
}

/* Whether the library prints no errors. */
static int quiet(void)
{
	const char *unknown;

	return vipl_level_set(&unknown) < VIPL_ERROR;
}

/* The reason, or NULL: the library has printed it. */
static const char *reason(char *text, size_t size, const char *what,
			  const char *name, VIP_RETURN rc)
{
	const char *why = VipExtLastError();

	if (!*why)
		snprintf(text, size, "%s %s: %s", what, name, vip_str(rc));
	else if (quiet())
		snprintf(text, size, "%s", why);
	else
		return NULL;
	return text;
}

void warn_reason(const char *what, const char *name, VIP_RETURN rc)
{
	char text[1024];

	if (reason(text, sizeof(text), what, name, rc))
		say(text);
}

void die_reason(const char *what, const char *name, VIP_RETURN rc)
{
	char text[1024];

	if (reason(text, sizeof(text), what, name, rc))
		die("%s", text);
	if (msg_last)
		msg_last(VipExtLastError());
	exit(1);
}

void die_usage(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(text);
	exit(EXIT_USAGE);
}

const char *vip_str(VIP_RETURN rc)
{
	return VipExtReturnText(rc);
}

const char *level_str(unsigned int level)
{
	switch (level) {
	case VIP_SERVICE_UNRELIABLE:
		return "unreliable";
	case VIP_SERVICE_RELIABLE_DELIVERY:
		return "rd";
	case VIP_SERVICE_RELIABLE_RECEPTION:
		return "rr";
	}
	return "-";
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = ns / 1000000000u, .tv_nsec = ns % 1000000000u,
	};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void spin_politely(void)
{
	static int alone = -1;

	if (alone < 0)
		alone = sysconf(_SC_NPROCESSORS_ONLN) == 1;
	if (alone)
		sched_yield();
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory (%zu bytes)", n * size);
	return p;
}
