// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Device names. In this order:
 *
 *  1. an alias of vipl.conf, for the name as it is or for what follows the
 *     last '/' of a path: what it stands for is looked at from 2 on;
 *  2. "NAME:REST": provider NAME is to open REST;
 *  3. a node, by its name or any path that ends in it, with or without "via_";
 *  4. for the names that old programs carry (nic0, VINIC, clanvi0, via_eth0),
 *     and for "" and "default", the device that VIPL_NIC names, or else the
 *     "default" of vipl.conf, or else, but not for "", the Nth Ethernet VI
 *     NIC by interface index;
 *  5. where all this leads to no node that is there, the "fallback" of
 *     vipl.conf, but not where VIPL_NIC or the "default" is no name at all.
 *     Without such a line there is none: to change the transport, and so the
 *     ones that are trusted, is not ours to decide.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "device.h"
#include "msg.h"
#include "../providers/ka/ka_node.h"

#define NAME_LEN	(VIPL_PROVIDER_LEN + VIPL_REST_LEN)

static const char *last_component(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* The number of a name that old programs use, or -1 for any other name. */
static int legacy_index(const char *base)
{
	static const char *const family[] = {
		"via_eth", "eth", "clanvi", "nic", "vinic", "via",
	};
	size_t i, n;
	const char *p;

	if (!*base || !strcmp(base, "default"))
		return 0;
	for (i = 0; i < sizeof(family) / sizeof(family[0]); i++) {
		n = strlen(family[i]);
		if (strncasecmp(base, family[i], n))
			continue;
		p = base + n;
		if (!*p && !strcmp(family[i], "vinic"))
			return 0;
		if (*p && strspn(p, "0123456789") == strlen(p) &&
		    strlen(p) < 4)
			return atoi(p);
	}
	return -1;
}

/* The rest of a text that begins with "NAME:", else NULL. */
static const char *split_provider(const char *device,
				  char name[VIPL_PROVIDER_LEN])
{
	size_t n = strspn(device, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (!n || n >= VIPL_PROVIDER_LEN || device[n] != ':')
		return NULL;
	memcpy(name, device, n);
	name[n] = '\0';
	return device + n + 1;
}

enum found {
	NONSENSE,	/* names nothing, and out is as it was */
	MISSING,	/* a node that is not there */
	THERE,		/* or with a provider that has to know */
	WRONG,		/* a message has the reason */
};

#define BY_ENV	"VIPL_NIC"
#define BY_CONF	"\"default\" in vipl.conf"

/* Providers whose names are given without a colon. */
static const struct {
	const char *provider, *nic;
} networks[] = {
	{ "shm", "shm:0" },
	{ "ofi", "ofi:tcp" },
};

static enum found to_device(const char *name, struct vipl_device *out)
{
	char provider[VIPL_PROVIDER_LEN];
	const char *rest = split_provider(name, provider);
	const char *base = last_component(name);
	size_t i;

	if (rest) {
		if (strlen(rest) >= sizeof(out->rest))
			return NONSENSE;
		strcpy(out->provider, provider);
		strcpy(out->rest, rest);
		return THERE;
	}
	if (!*base || !ka_node_well_formed(base))
		return NONSENSE;
	strcpy(out->provider, "ka");
	if (ka_node_find(base, out->rest))
		return THERE;
	for (i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
		if (!strcmp(base, networks[i].provider)) {
			vipl_msg(MSG_PROVIDER_NAME, base, networks[i].nic);
			return WRONG;
		}
	return MISSING;
}

static int is_alias(const char *name, char *device)
{
	char provider[VIPL_PROVIDER_LEN];
	const char *base = last_component(name);

	if (!vipl_conf_lookup("alias", name, device, NAME_LEN))
		return 1;
	/* A '/' that a provider is to open is no path's. */
	return base != name && !split_provider(name, provider) &&
	       !vipl_conf_lookup("alias", base, device, NAME_LEN);
}

static enum found by_alias(const char *name, struct vipl_device *out)
{
	char alias[NAME_LEN];

	return to_device(is_alias(name, alias) ? alias : name, out);
}

/* A text without a meaning is no reason to take another NIC than that. */
static enum found by_choice(const char *name, const char *by,
			    struct vipl_device *out)
{
	enum found r = by_alias(name, out);

	out->by = by;
	if (r == WRONG)
		vipl_note(MSG_CHOSEN, "", "", name, by);
	if (r != NONSENSE)
		return r;
	vipl_msg(MSG_BAD_CHOICE, by, name);
	return WRONG;
}

/* The NIC that stands for all the old names; a missing one is an answer. */
static enum found by_default(struct vipl_device *out)
{
	const char *env = secure_getenv("VIPL_NIC");
	char conf[NAME_LEN];
	enum found r;

	if (env && *env) {
		r = by_choice(env, BY_ENV, out);
		return r == MISSING ? THERE : r;
	}
	if (vipl_conf_lookup("default", NULL, conf, sizeof(conf)))
		return NONSENSE;
	return by_choice(conf, BY_CONF, out);
}

static enum found by_old_name(const char *base, int n, struct vipl_device *out)
{
	enum found r = by_default(out);
	char node[KA_NODE_LEN];

	if (r != NONSENSE || !*base || ka_node_nth(n, node))
		return r;
	strcpy(out->provider, "ka");
	strcpy(out->rest, node);
	return THERE;
}

static int use_fallback(const char *name, struct vipl_device *out)
{
	struct vipl_device other = { .by = NULL };
	char device[NAME_LEN];

	if (vipl_conf_lookup("fallback", NULL, device, sizeof(device)) ||
	    to_device(device, &other) != THERE)
		return -1;
	*out = other;
	vipl_note(MSG_FALLBACK, name, device);
	return 0;
}

static int refuse_name(const char *name)
{
	vipl_msg(MSG_NOT_A_NAME, name);
	return -1;
}

static int no_old_name(const char *base, int n)
{
	char line[256], remedy[KA_REMEDY_LEN];

	if (!*base || !strcmp(base, "default")) {
		ka_none(line, sizeof(line));
		vipl_msg("%s", line);
	} else {
		vipl_msg(MSG_NO_OLD_NAME, base, n,
			 ka_remedy("INTERFACE", remedy));
	}
	return -1;
}

/* Of those two a node may have the name that the old ones mean otherwise. */
static int is_node_name(const char *base)
{
	return !strncmp(base, "via_", 4) || !strncmp(base, "eth", 3);
}

int vipl_device_resolve(const char *name, struct vipl_device *out)
{
	char alias[NAME_LEN];
	enum found r, old = NONSENSE;
	const char *base;
	int n;

	out->by = NULL;
	if (is_alias(name, alias))
		name = alias;
	r = to_device(name, out);
	if (r == THERE)
		return 0;
	if (r == WRONG)
		return -1;
	base = last_component(name);
	if (r == NONSENSE && *base)
		return refuse_name(name);
	n = legacy_index(base);
	if (n >= 0)
		old = by_old_name(base, n, out);
	if (old == WRONG)
		return -1;
	if (old == THERE || !use_fallback(name, out))
		return 0;
	if (old == MISSING || n < 0 || is_node_name(base))
		return 0;
	return no_old_name(base, n);
}

int vipl_device_default(struct vipl_device *out)
{
	enum found r;

	out->by = NULL;
	r = by_default(out);
	return r == THERE || r == MISSING ? 0 : -1;
}

void vipl_device_blame(const struct vipl_device *d)
{
	const char *colon = strcmp(d->provider, "ka") ? ":" : "";

	if (d->by)
		vipl_note(MSG_CHOSEN, *colon ? d->provider : "", colon, d->rest,
			  d->by);
}
