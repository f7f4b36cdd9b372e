// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * via stat: counters of VI NICs, from /sys/class/via/NIC/statistics, so that a
 * newer module's show up unasked.  Files of other network namespaces are seen
 * there, and not read: ENXIO.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/msg.h"
#include "via.h"

#define CLASS_DIR	"/sys/class/via"
#define COUNTERS_MAX	256
#define NICS_MAX	256

struct counter {
	char		name[32];
	uint64_t	value;
};

/* All counters of a NIC, by name, and when they were read. */
struct reading {
	char		nic[NAME_MAX + 1];
	char		ifname[IF_NAMESIZE];	/* "" if there is none */
	double		at;			/* seconds, monotonic */
	unsigned int	n;
	struct counter	counter[COUNTERS_MAX];
};

struct readings {
	unsigned int	n;
	struct reading	*of[NICS_MAX];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* What goes down as well as up is told as it is, and has no rate. */
static bool is_gauge(const char *name)
{
	return !strcmp(name, "vis");
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
	if (s->found->n == NICS_MAX)
		die("more than %d VI NICs", NICS_MAX);
	r = calloc(1, sizeof(*r));
	if (!r)
		die("out of memory");
	snprintf(r->nic, sizeof(r->nic), "%s", name);
	if (ifindex && !if_indextoname(ifindex, r->ifname))
		r->ifname[0] = '\0';
	ret = read_counters(r);
	if (!ret) {
		s->found->of[s->found->n++] = r;
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
		return "the module via_ka is too old to tell them there: see viastat";
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
}

static void forget(struct readings *all)
{
	while (all->n)
		free(all->of[--all->n]);
}

/* Of the same NIC, before; NULL at the first time, or for a new NIC. */
static const struct reading *before(const struct readings *old,
				    const struct reading *r)
{
	for (unsigned int i = 0; i < old->n; i++)
		if (!strcmp(old->of[i]->nic, r->nic))
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
	printf("%s\n", r->nic);
	for (unsigned int i = 0; i < r->n; i++) {
		const struct counter *c = &r->counter[i];
		double each = old ? rate(c, r, old) : 0;

		if (!old || is_gauge(c->name))
			printf("    %-24s %" PRIu64 "\n", c->name, c->value);
		else if (each > 0)
			printf("    %-24s %.1f/s\n", c->name, each);
	}
}

static void show_json(const struct reading *r, const struct reading *old)
{
	json_object(&out);
	json_str(&out, "nic", r->nic);
	if (*r->ifname)
		json_str(&out, "ifname", r->ifname);
	if (old)
		json_real(&out, "seconds", r->at - old->at, 3);
	for (unsigned int i = 0; i < r->n; i++) {
		const struct counter *c = &r->counter[i];

		if (old && !is_gauge(c->name))
			json_real(&out, c->name, rate(c, r, old), 3);
		else
			json_num(&out, c->name, c->value);
	}
	json_object_end(&out);
}

static void show(const struct readings *all, const struct readings *old)
{
	for (unsigned int i = 0; i < all->n; i++) {
		const struct reading *was = before(old, all->of[i]);

		if (out.file)
			show_json(all->of[i], was);
		else
			show_text(all->of[i], was);
	}
}

/* As docs/reference/counters.md has it; of a newer module's counter its name. */
static const char *help_of(const char *name)
{
	static const struct {
		const char	*name, *help;
	} known[] = {
#include "counter_help.h"
	};
	static char text[64];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return known[i].help;
	snprintf(text, sizeof(text), "counter %s of a VI NIC", name);
	return text;
}

/* One counter of all NICs: its samples have to be in a row. */
static void show_metric(const struct readings *all, const char *name)
{
	const char *total = is_gauge(name) ? "" : "_total";

	printf("# HELP via_%s%s %s\n# TYPE via_%s%s %s\n", name, total,
	       help_of(name), name, total, *total ? "counter" : "gauge");
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

	out.form = JSON_LINES;
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
		all.n = 0;
	}
	forget(&old);
}

static bool opt_prometheus;
static uint64_t opt_interval, opt_count;

static int do_show(struct words *w)
{
	struct readings all = { 0 }, none = { 0 };
	const char *what = next_word(w);

	no_more_words(w);
	if (opt_interval) {
		show_again(what, opt_interval, opt_count);
		return DONE;
	}
	read_all(what, &all);
	json_begin(&out);
	if (opt_prometheus)
		show_prometheus(&all);
	else
		show(&all, &none);
	json_end(&out);
	forget(&all);
	return DONE;
}

static uint64_t option_number(const char *option, const char *text)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || !v || v > 86400)
		usage_error("%s '%s' is not a number from 1 to 86400", option,
			    text);
	return v;
}

/* Its own options stand behind it. */
static void take_options(struct words *w)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "prometheus", no_argument, NULL, 'P' },
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'c' },
		{ 0 },
	};
	char **argv = w->word - 1;	/* "stat", in place of the program */
	int argc = w->n + 1, c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "jpi:c:", longs, NULL)) != -1) {
		switch (c) {
		case 'j': out.file = stdout; break;
		case 'p': out.file = stdout; out.form = JSON_PRETTY; break;
		case 'P': opt_prometheus = true; break;
		case 'i': opt_interval = option_number("-i", optarg); break;
		case 'c': opt_count = option_number("-c", optarg); break;
		default: exit(USAGE);
		}
	}
	w->n = argc - optind;
	w->word = argv + optind;
	if (opt_prometheus && (out.file || opt_interval))
		usage_error("--prometheus goes with neither -j nor -i");
	if (opt_count && !opt_interval)
		usage_error("-c goes with -i");
}

int do_stat(struct words *w)
{
	const char *name;

	take_options(w);
	name = next_word(w);
	/* A name of a VI NIC may stand without "show". */
	if (name && strncmp("show", name, strlen(name))) {
		w->n++;
		w->word--;
	}
	return do_show(w);
}
