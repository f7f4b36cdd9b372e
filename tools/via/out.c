// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>

#include "out.h"

bool out_json, out_pretty;

static bool lines, any, first;	/* an object before this one; a member */

void out_begin(void)
{
	lines = any = false;
	if (out_json)
		putchar('[');
}

void out_lines(void)
{
	lines = true;
}

void out_end(void)
{
	if (out_json && !lines)
		printf("%s]\n", out_pretty && any ? "\n" : "");
}

void out_object(void)
{
	first = true;
	if (!out_json)
		return;
	if (!lines)
		printf("%s%s", any ? "," : "", out_pretty ? "\n  " : "");
	putchar('{');
	any = true;
}

void out_object_end(void)
{
	if (!out_json)
		return;
	printf("%s}%s", out_pretty && !lines ? "\n  " : "", lines ? "\n" : "");
	if (lines)
		fflush(stdout);
}

static void text(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void name_of(const char *name)
{
	printf("%s%s", first ? "" : ",",
	       out_pretty && !lines ? "\n    " : "");
	first = false;
	text(name);
	printf(out_pretty ? ": " : ":");
}

void out_str(const char *name, const char *value)
{
	if (!out_json)
		return;
	name_of(name);
	text(value);
}

void out_num(const char *name, uint64_t value)
{
	if (!out_json)
		return;
	name_of(name);
	printf("%" PRIu64, value);
}

void out_real(const char *name, double value)
{
	if (!out_json)
		return;
	name_of(name);
	printf("%.3f", value);
}

void out_bool(const char *name, bool value)
{
	if (!out_json)
		return;
	name_of(name);
	printf("%s", value ? "true" : "false");
}
