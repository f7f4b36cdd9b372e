// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <vipl_ext.h>

#include "msg.h"

void (*msg_before)(void);
void (*msg_last)(const char *text);

static void say(const char *text)
{
	if (msg_before)
		msg_before();
	fflush(stdout);
	/* One write: other threads and processes may warn, too. */
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
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
