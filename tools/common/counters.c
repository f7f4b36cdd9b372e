// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Counters of VI NICs, from /sys/class/via/NIC/statistics, so that a newer
 * module's show up unasked.  Files of other network namespaces are seen there,
 * and not read: ENXIO.  Counters of a VI come from the NIC's node.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "counters.h"
#include "msg.h"
#include "uapi/via.h"

#define CLASS_DIR	"/sys/class/via"

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
	r->at = now_ns() / 1e9;
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
	r->at = now_ns() / 1e9;
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
	bool		vis;			/* and of each VI */
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
		if (s->vis)
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

void counters_read(const char *what, bool vis, struct readings *all)
{
	struct search s = { .what = what, .found = all, .vis = vis };
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
}

void counters_forget(struct readings *all)
{
	while (all->n)
		free(all->of[--all->n]);
	free(all->of);
	all->of = NULL;
}

const struct reading *counters_before(const struct readings *old,
				      const struct reading *r)
{
	for (unsigned int i = 0; i < old->n; i++)
		if (!strcmp(old->of[i]->nic, r->nic) &&
		    old->of[i]->vi == r->vi)
			return old->of[i];
	return NULL;
}

uint64_t counter_value(const struct reading *r, const char *name)
{
	for (unsigned int i = 0; i < r->n; i++)
		if (!strcmp(r->counter[i].name, name))
			return r->counter[i].value;
	return 0;
}

/* A NIC that was attached again begins with zeros. */
double counter_rate(const struct reading *r, const struct reading *old,
		    const char *name)
{
	uint64_t is = counter_value(r, name), was = counter_value(old, name);

	if (is < was || r->at <= old->at)
		return 0;
	return (is - was) / (r->at - old->at);
}
