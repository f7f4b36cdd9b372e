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
#include "common/version.h"
#include "via.h"

struct json out = { .form = JSON_ARRAY };

static void help(FILE *to)
{
	fprintf(to, "Usage: via [OPTIONS] OBJECT [COMMAND] [ARGUMENTS]\n\n"
	       "  via dev [show [DEV]]                 VI NICs\n"
	       "  via dev attach INTERFACE [driver MODULE]\n"
	       "  via dev attach ADDRESS [port PORT] [dev INTERFACE]\n"
	       "                                       in UDP/IP\n"
	       "  via dev detach DEV\n"
	       "  via peer [show [DEV]]                hosts that may talk to them\n"
	       "  via peer allow DEV HOST...           these, too; \"all\": no list\n"
	       "  via peer deny DEV HOST...            not these; \"all\": an empty list\n"
	       "  via peer key DEV HOST FILE           its key; \"none\": without, \"-\": stdin\n"
	       "  via peer genkey                      a new key, on standard output\n"
	       "  via stat [show] [DEV]                counters\n"
	       "      -i, --interval SECONDS           again and again: for each second\n"
	       "      -c, --count N                    with -i: so many times\n"
	       "      -v, --vis                        counters of each VI, too\n"
	       "          --prometheus                 as text for Prometheus\n"
	       "  via top [DEV] [-i SECONDS] [-c N]    rates and VIs, on a terminal\n"
	       "  via res [vi|mr|cq|conn|all] [DEV]    objects, and whose they are\n"
	       "  via limit [show [NAME]]              limits of a user\n"
	       "  via limit set NAME VALUE             0: no limit\n"
	       "  via driver show DEV                  drivers of a network card\n"
	       "  via driver native|stock DEV          give it the native one, or back\n"
	       "  via selftest DEV [DEV|HOST]          test a card, and the way to another\n"
	       "  via monitor [all|dev|peer]           what happens\n"
	       "  via apply [FILE] [dev INTERFACE] [check]\n"
	       "                                       do what /etc/mvia/*.conf say\n"
	       "  via save                             print the settings as such a file\n\n"
	       "  -j, --json            JSON\n"
	       "  -p, --pretty          JSON for people\n"
	       "  -n, --netns NETNS     in this network namespace\n"
	       "  -V, --version         print the release\n"
	       "  -h, --help            show this text\n\n"
	       "DEV is a VI NIC (via_eth0) or its interface (eth0).  Words may be\n"
	       "shortened: via de s.  The status is 0, 1 if it was refused, 2 for a\n"
	       "wrong command line.\n");
}

void usage_error(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	warn_msg("%s (see via help)", line);
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
		usage_error("%s is missing", what);
	return word;
}

void no_more_words(struct words *w)
{
	if (w->n)
		usage_error("what is '%s'?", *w->word);
}

const struct command *find_command(const struct command *list,
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
			 *all ? ", " : "", c->name);
		if (!len || strncmp(c->name, name, len))
			continue;
		snprintf(like + strlen(like), sizeof(like) - strlen(like), "%s%s",
			 *like ? ", " : "", c->name);
		found = c;
		n++;
	}
	if (n == 1)
		return found;
	usage_error(n ? "'%s' may be more than one %s: %s" :
			"'%s' is no %s: %s", name, what, n ? like : all);
}

int run_command(const struct command *list, const char *what, struct words *w)
{
	const char *name = next_word(w);

	return (name ? find_command(list, what, name) : list)->run(w);
}

static int do_help(struct words *w)
{
	(void)w;
	help(stdout);
	return DONE;
}

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

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "netns", required_argument, NULL, 'n' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *netns = NULL;
	struct words w;
	int c, ret;

	while ((c = getopt_long(argc, argv, "+jpn:Vh", longs, NULL)) != -1) {
		switch (c) {
		case 'j': out.file = stdout; break;
		case 'p': out.file = stdout; out.form = JSON_PRETTY; break;
		case 'n': netns = optarg; break;
		case 'V': print_version("via");
		case 'h': help(stdout); return DONE;
		default: return USAGE;
		}
	}
	if (optind == argc) {
		help(stderr);
		return USAGE;
	}
	w.n = argc - optind;
	w.word = argv + optind;
	netns_enter(netns);
	ret = run_command(objects, "object", &w);
	nl_close();
	if (fflush(stdout) || ferror(stdout))
		die("cannot write: %s", strerror(errno));
	return ret;
}
