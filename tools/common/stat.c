// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * via stat and viastat: counters of VI NICs, from /sys/class/via/NIC/statistics,
 * so that a newer module's show up unasked.  Files of other network namespaces
 * are seen there, and not read: ENXIO.  Counters of a VI come from the NIC's node.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "msg.h"
#include "stat.h"
#include "uapi/via.h"
#include "version.h"

#define CLASS_DIR	"/sys/class/via"
#define COUNTERS_MAX	256
#define OF_NIC		UINT32_MAX	/* in place of a VI */

static struct json *json;

struct counter {
	char		name[33];
	uint64_t	value;
};

/* All counters of a NIC, by name, or of a VI, and when they were read. */
struct reading {
	char		nic[NAME_MAX + 1];
	char		ifname[IF_NAMESIZE];	/* "" if there is none */
	uint32_t	vi;			/* or OF_NIC */
	double		at;			/* seconds, monotonic */
	unsigned int	n;
	struct counter	counter[COUNTERS_MAX];
};

struct readings {
	unsigned int	n;
	struct reading	**of;
};

static bool opt_prometheus, opt_vis;
static uint64_t opt_interval, opt_count;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* What counters count, as docs/reference/counters.md has it. */
static const struct {
	const char	*name, *help;
} known[] = {
#include "counter_help.h"
};

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

/* A file below /sys/class/via as text, or -errno. */
static int read_text(const char *nic, const char *file, char *buf, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd, err;

	snprintf(path, sizeof(path), CLASS_DIR "/%s/%s", nic, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	err = errno;
	close(fd);
	if (n < 0)
		return -err;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* 0, or -errno: -ENXIO where the NIC is of another network namespace. */
static int read_counters(struct reading *r)
{
	char path[PATH_MAX], file[NAME_MAX + 32], text[64];
	struct dirent **list;
	int i, n, ret = 0;

	snprintf(path, sizeof(path), CLASS_DIR "/%s/statistics", r->nic);
	n = scandir(path, &list, not_hidden, alphasort);
	if (n < 0)
		return -errno;
	r->at = now();
	for (i = 0; i < n; i++) {
		struct counter *c = &r->counter[r->n];

		snprintf(file, sizeof(file), "statistics/%s", list[i]->d_name);
		if (!ret)
			ret = read_text(r->nic, file, text, sizeof(text));
		if (!ret && r->n < COUNTERS_MAX &&
		    strlen(list[i]->d_name) < sizeof(c->name)) {
			strcpy(c->name, list[i]->d_name);
			c->value = strtoull(text, NULL, 10);
			r->n++;
		}
		free(list[i]);
	}
	free(list);
	return ret;
}

static uint32_t ifindex_of(const char *nic)
{
	char text[32];

	return read_text(nic, "ifindex", text, sizeof(text)) ? 0 :
	       strtoul(text, NULL, 10);
}

static void add_reading(struct readings *all, struct reading *r)
{
	all->of = realloc(all->of, (all->n + 1) * sizeof(*all->of));
	if (!all->of)
		die("out of memory");
	all->of[all->n++] = r;
}

/* Of the VI with that id or the next one behind it; false: there is none. */
static bool read_vi(int fd, uint32_t id, struct reading *r)
{
	struct via_stat list[COUNTERS_MAX];
	struct via_stats arg = {
		.kind = VIA_STATS_VI, .id = id, .count = COUNTERS_MAX,
		.stats = (uintptr_t)list,
	};
	int ret = ioctl(fd, VIA_IOC_STATS, &arg);

	if (ret < 0 && errno != ENOENT)
		die("%s: cannot read the counters of VIs: %s", r->nic,
		    strerror(errno));
	if (ret || !arg.count)
		return false;
	r->vi = arg.id;
	r->at = now();
	if (arg.count > COUNTERS_MAX)
		arg.count = COUNTERS_MAX;
	/* The kernel ends a name that fills its place with no NUL. */
	for (unsigned int i = 0; i < arg.count; i++) {
		struct counter *c = &r->counter[r->n];

		snprintf(c->name, sizeof(c->name), "%.*s",
			 (int)sizeof(list[i].name), list[i].name);
		c->value = list[i].value;
		/* The heading has its id. */
		r->n += strcmp(c->name, "vi") != 0;
	}
	return true;
}

/* Those of each VI of a NIC. */
static void add_vis(struct readings *all, const struct reading *nic)
{
	char path[NAME_MAX + 8];
	uint32_t id = 0;
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", nic->nic);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s%s", path, strerror(errno),
		    errno == EACCES ? " (join group via)" : "");
	for (;;) {
		struct reading *r = xcalloc(1, sizeof(*r));

		memcpy(r->nic, nic->nic, sizeof(r->nic));
		memcpy(r->ifname, nic->ifname, sizeof(r->ifname));
		if (!read_vi(fd, id, r)) {
			free(r);
			break;
		}
		id = r->vi + 1;
		add_reading(all, r);
	}
	close(fd);
}

struct search {
	const char	*what;			/* NIC or interface; NULL: all */
	struct readings	*found;
	int		refused;		/* the last one's -errno */
};

static void add_nic(const char *name, struct search *s)
{
	uint32_t ifindex = ifindex_of(name);
	struct reading *r;
	int ret;

	if (s->what && strcmp(name, s->what) &&
	    (!ifindex || if_nametoindex(s->what) != ifindex))
		return;
	r = xcalloc(1, sizeof(*r));
	r->vi = OF_NIC;
	snprintf(r->nic, sizeof(r->nic), "%s", name);
	if (ifindex && !if_indextoname(ifindex, r->ifname))
		r->ifname[0] = '\0';
	ret = read_counters(r);
	if (!ret) {
		add_reading(s->found, r);
		if (opt_vis)
			add_vis(s->found, r);
		return;
	}
	free(r);
	/* It may be of another namespace, or have gone since it was listed. */
	s->refused = ret;
}

static const char *reason(int err)
{
	switch (err) {
	case -ENXIO:
		return "it is in another network namespace";
	case -ENOENT:
		return "the module via_ka is too old: install modules of this release";
	default:
		return strerror(-err);
	}
}

static void read_all(const char *what, struct readings *all)
{
	struct search s = { .what = what, .found = all };
	const char *slash = what ? strrchr(what, '/') : NULL;
	struct dirent **list;
	int i, n;

	if (slash)
		s.what = slash + 1;
	if (what && strchr(what, ':'))
		die("%s has no counters: only NICs of the kernel modules have",
		    what);
	all->n = 0;
	n = scandir(CLASS_DIR, &list, not_hidden, versionsort);
	for (i = 0; i < n; i++) {
		add_nic(list[i]->d_name, &s);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	if (all->n)
		return;
	if (s.refused && (what || s.refused != -ENXIO))
		die("no counters of %s: %s", what ? what : "the VI NICs",
		    reason(s.refused));
	if (what)
		die("there is no VI NIC %s in this network namespace", what);
	if (!json->file && !opt_prometheus)
		warn_msg("no VI NIC here: modprobe via_lo, or via dev attach INTERFACE");
}

static void forget(struct readings *all)
{
	while (all->n)
		free(all->of[--all->n]);
	free(all->of);
	all->of = NULL;
}

/* Of the same, before; NULL at the first time, or for a new NIC or VI. */
static const struct reading *before(const struct readings *old,
				    const struct reading *r)
{
	for (unsigned int i = 0; i < old->n; i++)
		if (!strcmp(old->of[i]->nic, r->nic) &&
		    old->of[i]->vi == r->vi)
			return old->of[i];
	return NULL;
}

static uint64_t value_of(const struct reading *r, const char *name)
{
	for (unsigned int i = 0; i < r->n; i++)
		if (!strcmp(r->counter[i].name, name))
			return r->counter[i].value;
	return 0;
}

/* A NIC that was attached anew begins with zeros. */
static double rate(const struct counter *c, const struct reading *r,
		   const struct reading *old)
{
	uint64_t was = value_of(old, c->name);

	if (c->value < was || r->at <= old->at)
		return 0;
	return (c->value - was) / (r->at - old->at);
}

static void show_text(const struct reading *r, const struct reading *old)
{
	if (r->vi == OF_NIC)
		printf("%s\n", r->nic);
	else
		printf("%s vi %" PRIu32 "\n", r->nic, r->vi);
	for (unsigned int i = 0; i < r->n; i++) {
		const struct counter *c = &r->counter[i];
		double each = old ? rate(c, r, old) : 0;

		if (!old || is_gauge(r, c->name))
			printf("    %-24s %" PRIu64 "\n", c->name, c->value);
		else if (each > 0)
			printf("    %-24s %.1f/s\n", c->name, each);
	}
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
			json_real(json, c->name, rate(c, r, old), 3);
		else
			json_num(json, c->name, c->value);
	}
	json_object_end(json);
}

static void show(const struct readings *all, const struct readings *old)
{
	for (unsigned int i = 0; i < all->n; i++) {
		const struct reading *was = before(old, all->of[i]);

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

/* Each time what a second had, until it is interrupted. */
static void show_again(const char *what, uint64_t seconds, uint64_t count)
{
	struct readings old = { 0 }, all = { 0 };

	json->form = JSON_LINES;
	read_all(what, &old);
	for (uint64_t n = 0; !count || n < count; n++) {
		struct timespec pause = { .tv_sec = seconds };

		while (nanosleep(&pause, &pause) && errno == EINTR)
			;
		read_all(what, &all);
		show(&all, &old);
		if (fflush(stdout))
			break;
		forget(&old);
		old = all;
		all = (struct readings){ 0 };
	}
	forget(&old);
}

static void show_once(const char *what)
{
	struct readings all = { 0 }, none = { 0 };

	read_all(what, &all);
	json_begin(json);
	if (opt_prometheus)
		show_prometheus(&all);
	else
		show(&all, &none);
	json_end(json);
	forget(&all);
}

static uint64_t option_number(const char *option, const char *text)
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
		case 'i': opt_interval = option_number("-i", optarg); break;
		case 'c': opt_count = option_number("-c", optarg); break;
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
