// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Counters of the VI NICs and of their VIs. They come from the kernel as names
 * and values, so that a newer module's counters show up here unasked.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/json.h"
#include "common/msg.h"
#include "common/nic.h"
#include "common/opts.h"
#include "common/version.h"
#include "via.h"

#define MAX_STATS	128
#define MAX_NICS	64

/* One reading of one object, remembered for the next difference. */
struct reading {
	struct reading	*next;
	uint32_t	id;		/* VI index; 0 with the NIC */
	uint32_t	kind;		/* VIA_STATS_* */
	uint32_t	count;
	struct via_stat	stats[MAX_STATS];
};

struct source {
	char		name[NAME_MAX + 1];
	int		fd;
	struct reading	*before;	/* of the last interval */
};

static struct source sources[MAX_NICS];
static unsigned int nr_sources;
static unsigned int elsewhere;		/* NICs of other network namespaces */
static bool opt_json, opt_vis;

/* @arg: all NICs are wanted, not this one. */
static int add_source(const char *name, void *arg)
{
	struct source *s = &sources[nr_sources];
	const char *slash = strrchr(name, '/');
	char path[PATH_MAX];

	if (nr_sources == MAX_NICS)
		die("more than %d NICs", MAX_NICS);
	if (strchr(name, ':'))
		die("%s has no counters: only NICs of the kernel modules have",
		    name);
	name = slash ? slash + 1 : name;
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(path, sizeof(path), "/dev/%s", name);
	s->fd = open(path, O_RDWR | O_CLOEXEC);
	/* A node is seen everywhere, and opened where its interface is. */
	if (s->fd < 0 && errno == ENXIO && arg) {
		elsewhere++;
		return 0;
	}
	if (s->fd < 0)
		die("%s: %s%s", path, strerror(errno),
		    errno == EACCES ? " (join group via)" :
		    errno == ENXIO ? " (its interface is in another network namespace, or has gone)" :
		    errno == ENOENT ? " (viainfo lists the NICs)" : "");
	nr_sources++;
	return 0;
}

/*
 * Read one object's counters; NULL when there are no more. For VIs, *id is
 * where to start looking and becomes the one found.
 */
static struct reading *read_stats(struct source *s, uint32_t kind,
				  uint32_t id)
{
	struct reading *r = xcalloc(1, sizeof(*r));
	struct via_stats arg = {
		.kind = kind, .id = id, .count = MAX_STATS,
		.stats = (uintptr_t)r->stats,
	};
	int rc = ioctl(s->fd, VIA_IOC_STATS, &arg);

	if (rc < 0 && errno != ENOENT)
		die("%s: cannot read the counters: %s", s->name,
		    strerror(errno));
	if (rc || !arg.count) {
		free(r);
		return NULL;
	}
	r->kind = kind;
	r->id = arg.id;
	r->count = arg.count < MAX_STATS ? arg.count : MAX_STATS;
	return r;
}

static const struct reading *find(const struct reading *list,
				  const struct reading *like)
{
	for (; list; list = list->next)
		if (list->kind == like->kind && list->id == like->id)
			return list;
	return NULL;
}

static uint64_t value_before(const struct reading *old, const char *name)
{
	for (uint32_t i = 0; old && i < old->count; i++)
		if (!strncmp(old->stats[i].name, name,
			     sizeof(old->stats[i].name)))
			return old->stats[i].value;
	return 0;
}

static void print_text(const struct source *s, const struct reading *r,
		       const struct reading *old, bool all)
{
	if (r->kind == VIA_STATS_VI)
		printf("%s vi %" PRIu32 "\n", s->name, r->id);
	else
		printf("%s\n", s->name);
	for (uint32_t i = 0; i < r->count; i++) {
		uint64_t was = value_before(old, r->stats[i].name);

		/* With an interval, what stands still is left out. */
		if (all || r->stats[i].value != was)
			printf("    %-24.24s %" PRId64 "\n", r->stats[i].name,
			       (int64_t)(r->stats[i].value - was));
	}
}

static void print_json(const struct source *s, const struct reading *r,
		       const struct reading *old)
{
	struct json j = { .file = stdout };

	json_object(&j);
	json_str(&j, "nic", s->name);
	if (r->kind == VIA_STATS_VI)
		json_num(&j, "vi", r->id);
	for (uint32_t i = 0; i < r->count; i++) {
		char name[sizeof(r->stats[i].name) + 1];

		/* The kernel ends a name that fills its place with no NUL. */
		snprintf(name, sizeof(name), "%.*s",
			 (int)sizeof(r->stats[i].name), r->stats[i].name);
		json_int(&j, name, (int64_t)(r->stats[i].value -
				value_before(old, r->stats[i].name)));
	}
	json_object_end(&j);
}

static void show(struct source *s, struct reading *r, struct reading **list,
		 bool first)
{
	const struct reading *old = find(s->before, r);

	if (opt_json)
		print_json(s, r, old);
	else
		print_text(s, r, old, first);
	r->next = *list;
	*list = r;
}

static void free_readings(struct reading *r)
{
	while (r) {
		struct reading *next = r->next;

		free(r);
		r = next;
	}
}

static void show_source(struct source *s, bool first)
{
	struct reading *list = NULL, *r;
	uint32_t id;

	r = read_stats(s, VIA_STATS_NIC, 0);
	if (r)
		show(s, r, &list, first);
	for (id = 0; opt_vis; id = r->id + 1) {
		r = read_stats(s, VIA_STATS_VI, id);
		if (!r)
			break;
		show(s, r, &list, first);
	}
	free_readings(s->before);
	s->before = list;
	fflush(stdout);
}

static void usage(void)
{
	printf("Usage: viastat [-d NIC] [-v] [-i SECONDS] [-c N] [--json]\n\n"
	       "  -d, --dev NIC           this VI NIC only (default: all)\n"
	       "  -v, --vis               counters of each VI, too\n"
	       "  -i, --interval SECONDS  again and again, with the differences\n"
	       "  -c, --count N           with -i: stop after N times\n"
	       "  -j, --json              one JSON object a line\n"
	       "  -h, --help              show this text\n"
	       "  -V, --version           " VERSION_HELP "\n");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", required_argument, NULL, 'd' },
		{ "vis", no_argument, NULL, 'v' },
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		VERSION_LONG,
		{ 0 },
	};
	uint64_t interval = 0, count = 0;
	const char *dev = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "d:vi:c:jhV", longs, NULL)) != -1) {
		switch (c) {
		case 'd': dev = optarg; break;
		case 'v': opt_vis = true; break;
		case 'i': interval = parse_number("-i", optarg, 1, 86400); break;
		case 'c': count = parse_number("-c", optarg, 1, 1u << 30); break;
		case 'j': opt_json = true; break;
		case 'h': usage(); return 0;
		case OPT_VERSION: print_version("viastat");
		default: die_usage("see viastat -h");
		}
	}
	if (optind < argc)
		die_usage("what is '%s'? See viastat -h", argv[optind]);
	if (dev)
		add_source(dev, NULL);
	else
		nic_for_each(add_source, &elsewhere);
	if (!nr_sources && elsewhere)
		die("%u VI NIC%s, of other network namespaces: see via -n NETNS dev show",
		    elsewhere, elsewhere == 1 ? "" : "s");
	if (!nr_sources)
		die("no kernel module's VI NIC on this machine, and others have no counters: modprobe via_lo, or via dev attach INTERFACE");
	for (uint64_t n = 0; ; n++) {
		for (unsigned int i = 0; i < nr_sources; i++)
			show_source(&sources[i], !n);
		if (!interval || (count && n + 1 == count))
			break;
		sleep_ns(interval * 1000000000);
	}
	return 0;
}
