// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via: configures VI NICs, as ip and rdma do their devices. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/netns.h"
#include "common/stat.h"
#include "common/version.h"
#include "messages.h"
#include "via.h"

struct json out = { .form = JSON_ARRAY };

void usage_error(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	warn_msg(strchr(line, '\n') ? "%s" : "%s\n" MSG_SEE_HELP, line);
	exit(USAGE);
}

const char *next_word(struct words *w)
{
	if (!w->n)
		return NULL;
	w->n--;
	return *w->word++;
}

const char *need_word(struct words *w, const char *what)
{
	const char *word = next_word(w);

	if (!word)
		usage_error(MSG_USAGE_MISSING, what);
	return word;
}

void no_more_words(struct words *w)
{
	if (w->n)
		usage_error(MSG_USAGE_WORD, *w->word);
}

/* By its name, or a beginning that only it has; else USAGE. */
static const struct command *find_command(const struct command *list,
					  const char *what, const char *name)
{
	const struct command *c, *found = NULL;
	size_t len = strlen(name);
	char all[256] = "", like[256] = "";
	int n = 0;

	for (c = list; c->name; c++) {
		if (!strcmp(c->name, name))
			return c;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			 *all ? " " : "", c->name);
		if (!len || strncmp(c->name, name, len))
			continue;
		snprintf(like + strlen(like), sizeof(like) - strlen(like), "%s%s",
			 *like ? " " : "", c->name);
		found = c;
		n++;
	}
	if (n == 1)
		return found;
	usage_error(n ? MSG_USAGE_MANY : MSG_USAGE_NONE, name, what,
		    n ? like : all);
}

int run_command(const struct command *list, const char *what, struct words *w)
{
	const char *name = next_word(w);

	return (name ? find_command(list, what, name) : list)->run(w);
}

static int do_help(struct words *w);

static const struct command objects[] = {
	{ "dev", do_dev },
	{ "peer", do_peer },
	{ "limit", do_limit },
	{ "driver", do_driver },
	{ "stat", do_stat },
	{ "top", do_top },
	{ "res", do_res },
	{ "selftest", do_selftest },
	{ "monitor", do_monitor },
	{ "apply", do_apply },
	{ "save", do_save },
	{ "help", do_help },
	{ 0 }
};

static int do_help(struct words *w)
{
	const char *object = next_word(w);

	no_more_words(w);
	if (!object || !help_object(find_command(objects, "object", object)->name))
		help_all(stdout);
	return DONE;
}

/* "via OBJECT help" is "via help OBJECT". */
static int run_object(struct words *w)
{
	const char *name = next_word(w);
	const struct command *c = find_command(objects, "object", name);

	if (w->n == 1 && !strcmp(*w->word, "help") && help_object(c->name))
		return DONE;
	return c->run(w);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "netns", required_argument, NULL, 'n' },
		{ "statistics", no_argument, NULL, 's' },
		{ "oneline", no_argument, NULL, 'o' },
		{ "color", optional_argument, NULL, 'c' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *netns = NULL;
	struct words w;
	int c, ret;

	while ((c = getopt_long(argc, argv, "+jpn:soc::Vh", longs, NULL)) != -1) {
		switch (c) {
		case 'j': out.file = stdout; break;
		case 'p': out.file = stdout; out.form = JSON_PRETTY; break;
		case 'n': netns = optarg; break;
		case 's': show_stats = true; break;
		case 'o': show_oneline = stat_oneline = true; break;
		case 'c': color_option(optarg); break;
		case 'V': print_version("via");
		case 'h': help_all(stdout); return DONE;
		default: return USAGE;
		}
	}
	if (optind == argc) {
		help_all(stderr);
		return USAGE;
	}
	w.n = argc - optind;
	w.word = argv + optind;
	netns_enter(netns);
	ret = run_object(&w);
	nl_close();
	if (fflush(stdout) || ferror(stdout))
		die(MSG_VIA_WRITE, strerror(errno));
	return ret;
}
