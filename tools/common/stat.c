// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via stat and viastat: counters of VI NICs as text, JSON, and for Prometheus. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../vipl/messages.h"
#include "agent.h"
#include "counters.h"
#include "msg.h"
#include "stat.h"
#include "version.h"

static struct json *json;

static bool opt_prometheus, opt_vis;
static uint64_t opt_interval, opt_count;

/* What counters count, as docs/reference/counters.md has it. */
static const struct {
	const char	*name, *help;
} known[] = {
#include "counter_help.h"
};

bool stat_oneline;

/* Of a counter; NULL: it is a newer module's. */
static const char *help_of(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return known[i].help;
	return NULL;
}

/*
 * What goes down as well as up is told as it is, and has no rate: of a VI what
 * its NIC does not count, such as its state.
 */
static bool is_gauge(const struct reading *r, const char *name)
{
	return !strcmp(name, "vis") || (r->vi != OF_NIC && !help_of(name));
}

static void show_text(const struct reading *r, const struct reading *old)
{
	/* As `ip -o`: "\" in place of the ends of lines. */
	const char *line = stat_oneline ? "\\" : "\n";

	printf("%s", r->nic);
	if (r->vi != OF_NIC)
		printf(" vi %" PRIu32, r->vi);
	for (unsigned int i = 0; i < r->n; i++) {
		const struct counter *c = &r->counter[i];
		double each = old ? counter_rate(r, old, c->name) : 0;

		if (!old || is_gauge(r, c->name))
			printf("%s    %-24s %" PRIu64, line, c->name, c->value);
		else if (each > 0)
			printf("%s    %-24s %.1f/s", line, c->name, each);
	}
	printf("\n");
}

static void show_json(const struct reading *r, const struct reading *old)
{
	json_object(json);
	json_str(json, "nic", r->nic);
	if (*r->ifname)
		json_str(json, "ifname", r->ifname);
	if (r->vi != OF_NIC)
		json_num(json, "vi", r->vi);
	if (old)
		json_real(json, "seconds", r->at - old->at, 3);
	for (unsigned int i = 0; i < r->n; i++) {
		const struct counter *c = &r->counter[i];

		if (old && !is_gauge(r, c->name))
			json_real(json, c->name, counter_rate(r, old, c->name), 3);
		else
			json_num(json, c->name, c->value);
	}
	json_object_end(json);
}

static void show(const struct readings *all, const struct readings *old)
{
	for (unsigned int i = 0; i < all->n; i++) {
		const struct reading *was = counters_before(old, all->of[i]);

		if (json->file)
			show_json(all->of[i], was);
		else
			show_text(all->of[i], was);
	}
}

/* One counter of all NICs: its samples have to be in a row. */
static void show_metric(const struct readings *all, const char *name)
{
	const char *total = strcmp(name, "vis") ? "_total" : "";
	const char *help = help_of(name);

	printf("# HELP via_%s%s %s%s%s\n# TYPE via_%s%s %s\n", name, total,
	       help ? help : "counter ", help ? "" : name,
	       help ? "" : " of a VI NIC", name, total,
	       *total ? "counter" : "gauge");
	for (unsigned int i = 0; i < all->n; i++) {
		const struct reading *r = all->of[i];

		for (unsigned int j = 0; j < r->n; j++)
			if (!strcmp(r->counter[j].name, name))
				printf("via_%s%s{nic=\"%s\",interface=\"%s\"} %"
				       PRIu64 "\n", name, total, r->nic,
				       r->ifname, r->counter[j].value);
	}
}

static bool has(const struct reading *r, const char *name)
{
	for (unsigned int i = 0; i < r->n; i++)
		if (!strcmp(r->counter[i].name, name))
			return true;
	return false;
}

static void show_prometheus(const struct readings *all)
{
	for (unsigned int i = 0; i < all->n; i++)
		for (unsigned int j = 0; j < all->of[i]->n; j++) {
			const char *name = all->of[i]->counter[j].name;
			unsigned int k = 0;

			while (k < i && !has(all->of[k], name))
				k++;
			if (k == i)
				show_metric(all, name);
		}
}

/* The first time: an empty list is told, where it is for people. */
static void read_counters(const char *what, struct readings *all)
{
	if (!opt_prometheus)
		agent_need();
	counters_read(what, opt_vis, all);
	if (!all->n && !json->file && !opt_prometheus)
		warn_msg(MSG_NO_NIC, "as root: via dev attach INTERFACE");
}

/* Each time what a second had, until it is interrupted. */
static void show_again(const char *what, uint64_t seconds, uint64_t count)
{
	struct readings old = { 0 }, all = { 0 };

	json->form = JSON_LINES;
	read_counters(what, &old);
	for (uint64_t n = 0; !count || n < count; n++) {
		sleep_ns(seconds * 1000000000u);
		counters_read(what, opt_vis, &all);
		show(&all, &old);
		if (fflush(stdout))
			break;
		counters_forget(&old);
		old = all;
		all = (struct readings){ 0 };
	}
	counters_forget(&old);
}

static void show_once(const char *what)
{
	struct readings all = { 0 }, none = { 0 };

	read_counters(what, &all);
	json_begin(json);
	if (opt_prometheus)
		show_prometheus(&all);
	else
		show(&all, &none);
	json_end(json);
	counters_forget(&all);
}

uint64_t stat_number(const char *option, const char *text)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || !v || v > 86400)
		die_usage("%s '%s' is not a number from 1 to 86400", option,
			  text);
	return v;
}

static void usage(const char *name)
{
	printf("Usage: %s [OPTIONS] [NIC]    (a VI NIC or its interface)\n\n"
	       "  -d, --dev NIC           the same: this VI NIC only\n"
	       "  -v, --vis               counters of each VI, too\n"
	       "  -i, --interval SECONDS  again and again: for each second\n"
	       "  -c, --count N           with -i: stop after N times\n"
	       "  -j, --json              JSON\n"
	       "  -p, --pretty            JSON for people\n"
	       "      --prometheus        as text for Prometheus\n"
	       "  -h, --help              show this text\n"
	       "  -V, --version           " VERSION_HELP "\n", name);
}

/* The NIC that -d names, or NULL. */
static const char *take_options(const char *name, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", required_argument, NULL, 'd' },
		{ "vis", no_argument, NULL, 'v' },
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "prometheus", no_argument, NULL, 'P' },
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		VERSION_LONG,
		{ 0 },
	};
	const char *dev = NULL;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "d:vjpi:c:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'd': dev = optarg; break;
		case 'v': opt_vis = true; break;
		case 'j': json->file = stdout; break;
		case 'p': json->file = stdout; json->form = JSON_PRETTY; break;
		case 'P': opt_prometheus = true; break;
		case 'i': opt_interval = stat_number("-i", optarg); break;
		case 'c': opt_count = stat_number("-c", optarg); break;
		case 'h': usage(name); exit(0);
		case OPT_VERSION: print_version(name);
		default: die_usage("see %s -h", name);
		}
	}
	if (opt_prometheus && (json->file || opt_interval || opt_vis))
		die_usage("--prometheus goes with neither -j, -i nor -v");
	if (opt_count && !opt_interval)
		die_usage("-c goes with -i");
	return dev;
}

void stat_run(const char *name, int argc, char **argv, struct json *to)
{
	const char *what;

	json = to;
	what = take_options(name, argc, argv);
	/* "show" is the only command; a name of a VI NIC may stand without it. */
	if (optind < argc &&
	    !strncmp("show", argv[optind], strlen(argv[optind])))
		optind++;
	if (!what && optind < argc)
		what = argv[optind++];
	if (optind < argc)
		die_usage("what is '%s'? See %s -h", argv[optind], name);
	if (opt_interval)
		show_again(what, opt_interval, opt_count);
	else
		show_once(what);
}
