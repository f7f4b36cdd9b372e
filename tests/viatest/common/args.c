// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "args.h"
#include "common/msg.h"
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST	32		/* options */

struct args args;

const struct choice *choice_of(const struct command *c, const char *name)
{
	const struct choice *at;

	for (at = c->choices; name && at->name; at++)
		if (!strcmp(name, at->name))
			return at;
	return NULL;
}

void command_help(const struct command *c, bool asked)
{
	const struct option_row *o = c->options;
	const struct choice *at = c->choices;
	FILE *f = asked ? stdout : stderr;
	char left[40];

	fprintf(f, "usage: viatest %s\n", c->usage);
	for (; at && at->name; at++)
		fprintf(f, "  %-16s%s\n", at->name, at->help);
	for (; o && o->name; o++) {
		snprintf(left, sizeof(left), "%s %s", o->name, o->value);
		fprintf(f, "  %-16s%s\n", left, o->help);
	}
	fputs(c->more ? c->more : "", f);
	exit(asked ? 0 : 2);
}

void command_wrong(const struct command *c, const char *format, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	warn_msg("%s", text);
	command_help(c, false);
}

static void take(const struct command *c, const struct option_row *o)
{
	uint64_t most = o->seed ? UINT64_MAX : UINT32_MAX, n;
	char *end;

	if (o->flag)
		*o->flag = true;
	if (o->text)
		*o->text = optarg;
	if (o->flag || o->text)
		return;
	errno = 0;
	n = strtoull(optarg, &end, 0);
	if (errno || end == optarg || *end || *optarg == '-' || n > most)
		command_wrong(c, "%s: '%s' is no number up to %llu", o->name,
			      optarg, (unsigned long long)most);
	if (o->seed)
		*o->seed = n;
	else
		*o->number = n;
}

/* getopt() answers with a letter, or with 256 and a long option's number. */
static void take_all(const struct command *c, int argc, char **argv)
{
	struct option longs[MOST + 2] = { 0 }, *l = longs;
	char letters[2 * MOST + 2] = "h", *next = letters + 1;
	const struct option_row *o;
	int n, i;

	for (n = 0, o = c->options; o->name && n < MOST; o++, n++) {
		if (o->name[1] == '-') {
			*l++ = (struct option){ o->name + 2, !o->flag, NULL,
						256 + n };
			continue;
		}
		*next++ = o->name[1];
		if (!o->flag)
			*next++ = ':';
	}
	*l = (struct option){ "help", no_argument, NULL, 'h' };
	while ((i = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		for (n = 0, o = c->options; o->name; o++, n++)
			if (i == 256 + n || i == o->name[1])
				break;
		if (!o->name)
			command_help(c, i == 'h');
		take(c, o);
	}
}

const struct choice *command_parse(const struct command *c, int argc,
				   char **argv)
{
	const struct choice *mode = NULL;

	take_all(c, argc, argv);
	if (c->choices) {
		mode = choice_of(c, argv[optind]);
		if (!mode)
			command_wrong(c, "which mode?");
		optind++;
	}
	if (c->host && optind < argc)
		args.host = argv[optind++];
	if (optind < argc)
		command_wrong(c, "too many arguments: %s", argv[optind]);
	if (!args.device)
		command_wrong(c, "which device? -d via_lo for loopback");
	if (mode && mode->peer && !args.peer)
		command_wrong(c, "%s needs another NIC", mode->name);
	if (mode && mode->group && !args.group)
		command_wrong(c, "%s needs a control group", mode->name);
	if (mode && !args.count)
		args.count = mode->count;
	/* What is wrong is said last. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	return mode;
}
