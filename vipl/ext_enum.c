// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every provider and its devices. Providers are asked first and the program is
 * told afterwards, so that it may open a device from within.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "loader.h"
#include "msg.h"
#include "object.h"

#define WHAT_LEN	320

struct line {
	struct line *next;
	char provider[VIPL_PROVIDER_LEN];
	char *device;			/* NULL: none */
	char *what;
};

struct lines {
	struct line *first, **end;
	const char *provider;		/* of those that are being added */
	unsigned int devices;		/* of that provider */
	int failed;			/* out of memory */
};

static void add_line(struct lines *l, const char *device, const char *what)
{
	struct line *n = calloc(1, sizeof(*n));

	if (n) {
		snprintf(n->provider, sizeof(n->provider), "%s", l->provider);
		n->device = device ? strdup(device) : NULL;
		n->what = strdup(what ? what : "");
	}
	if (!n || !n->what || (device && !n->device)) {
		l->failed = 1;
		if (n)
			free(n->device);
		if (n)
			free(n->what);
		free(n);
		return;
	}
	*l->end = n;
	l->end = &n->next;
}

static void add_device_line(void *arg, const char *device, const char *what)
{
	struct lines *l = arg;

	l->devices++;
	add_line(l, device, what);
}

/* One line on why there is no device. */
static void why_not(const struct vipl_driver *d, char *line, size_t size)
{
	if (!d->ops.explain || d->ops.explain("", line, size))
		snprintf(line, size, "no device");
}

static void ask_provider(struct lines *l, const char *name)
{
	const struct vipl_driver *d;
	char line[WHAT_LEN] = "";

	l->provider = name;
	l->devices = 0;
	/* The line for standard error is the reason that we report. */
	vipl_msg_into(line, sizeof(line));
	if (vipl_enter(name)) {
		vipl_msg_into(NULL, 0);
		add_line(l, NULL, line);
		return;
	}
	d = vipl_load(name);
	vipl_msg_into(NULL, 0);
	if (d && d->ops.devices)
		d->ops.devices(add_device_line, l);
	if (d && !l->devices)
		why_not(d, line, sizeof(line));
	vipl_leave(name);
	if (!l->devices)
		add_line(l, NULL, line);
}

/* "NAME.so" of a provider: then the name. */
static int is_provider(const char *file, char name[VIPL_PROVIDER_LEN])
{
	size_t n = strspn(file, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (!n || n >= VIPL_PROVIDER_LEN || strcmp(file + n, ".so"))
		return 0;
	memcpy(name, file, n);
	name[n] = '\0';
	return 1;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void ask_plugins(struct lines *l)
{
	char dir[PATH_MAX], name[VIPL_PROVIDER_LEN];
	struct dirent **list;
	int i, n;

	if (vipl_plugin_dir(dir, sizeof(dir)))
		return;
	n = scandir(dir, &list, NULL, by_name);
	if (n < 0)
		return;
	for (i = 0; i < n; i++) {
		if (is_provider(list[i]->d_name, name) &&
		    strcmp(name, "ka"))
			ask_provider(l, name);
		free(list[i]);
	}
	free(list);
}

/* The devices of old names: a line where one leads to no NIC. */
static void check_default(void)
{
	const struct vipl_driver *d;
	struct vipl_device device;
	char line[WHAT_LEN];
	int bad = 1;

	if (vipl_device_default(&device) || vipl_enter(device.provider))
		return;
	d = vipl_load(device.provider);
	if (d && d->ops.explain &&
	    !d->ops.explain(device.rest, line, sizeof(line)))
		vipl_msg("%s", line);
	else
		bad = !d;
	vipl_leave(device.provider);
	if (bad)
		vipl_device_blame(&device);
}

static VIP_RETURN ext_enum_devices(void (*Each)(VIP_PVOID Context,
						const VIP_CHAR *Provider,
						const VIP_CHAR *Device,
						const VIP_CHAR *What),
				   VIP_PVOID Context)
{
	struct lines l = { .first = NULL };
	struct line *n;

	if (!Each)
		return VIP_INVALID_PARAMETER;
	l.end = &l.first;
	ask_provider(&l, "ka");
	ask_plugins(&l);
	check_default();
	while ((n = l.first)) {
		l.first = n->next;
		if (!l.failed)
			Each(Context, n->provider, n->device, n->what);
		free(n->device);
		free(n->what);
		free(n);
	}
	return l.failed ? VIP_ERROR_RESOURCE : VIP_SUCCESS;
}

VIP_RETURN VipExtEnumDevices(void (*Each)(VIP_PVOID Context,
					  const VIP_CHAR *Provider,
					  const VIP_CHAR *Device,
					  const VIP_CHAR *What),
			     VIP_PVOID Context)
{
	return VIPL_CALL(ext_enum_devices(Each, Context));
}
