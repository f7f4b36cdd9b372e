// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Device names. In this order:
 *
 *  1. an alias of /etc/vipl.conf;
 *  2. a node, by its name or any path that ends in it, with or without "via_";
 *  3. for the names that old programs carry (nic0, VINIC, clanvi0, via_eth0),
 *     and for "" and "default", the NIC that VIPL_NIC names;
 *  4. for these names again, the Nth Ethernet VI NIC by interface index.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "device.h"
#include "msg.h"
#include "sys.h"

#define SYSFS_CLASS	"/sys/class/via"
#define NETDEV_MODULE	"/sys/module/via_netdev"

static const char *last_component(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* Node names go into paths: nothing else than these may appear. */
static int well_formed(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "0123456789_.@:-");

	return !s[n] && n < VIPL_NODE_LEN - sizeof("via_");
}

static int exists(const char *node)
{
	char path[VIPL_NODE_LEN + 8];

	snprintf(path, sizeof(path), "/dev/%s", node);
	return sys_exists(path);
}

static int find_node(const char *base, char *node)
{
	if (!strncmp(base, "via_", 4))
		snprintf(node, VIPL_NODE_LEN, "%s", base);
	else
		snprintf(node, VIPL_NODE_LEN, "via_%s", base);
	return *base && exists(node);
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

static unsigned int node_ifindex(const char *node)
{
	char path[sizeof(SYSFS_CLASS) + 256 + 16];
	unsigned int ifindex = 0;
	FILE *f;

	snprintf(path, sizeof(path), SYSFS_CLASS "/%.255s/ifindex", node);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u", &ifindex) != 1)
		ifindex = 0;
	fclose(f);
	return ifindex;
}

/*
 * The node with the smallest interface index above *after, which becomes its
 * index. Returns 0, or -1 when there is none.
 */
static int next_ethernet(unsigned int *after, char *node)
{
	unsigned int best = 0, ifindex;
	struct dirent *e;
	DIR *d = opendir(SYSFS_CLASS);

	if (!d)
		return -1;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || !well_formed(e->d_name))
			continue;
		ifindex = node_ifindex(e->d_name);
		if (ifindex <= *after || (best && ifindex >= best))
			continue;
		best = ifindex;
		memcpy(node, e->d_name, strlen(e->d_name) + 1);
	}
	closedir(d);
	if (!best)
		return -1;
	*after = best;
	return 0;
}

static int nth_ethernet(int n, char *node)
{
	unsigned int after = 0;

	do {
		if (next_ethernet(&after, node))
			return -1;
	} while (n--);
	return 0;
}

static int by_default(char *node)
{
	const char *env = secure_getenv("VIPL_NIC");
	char buf[VIPL_NODE_LEN];

	if (env && *env) {
		env = last_component(env);
	} else {
		if (vipl_conf_lookup("default", NULL, buf, sizeof(buf)))
			return -1;
		env = last_component(buf);
	}
	if (!*env || !well_formed(env))
		return -1;
	find_node(env, node);
	return 0;
}

/* How to make an interface a VI NIC, now. */
static const char *attach_command(const char *iface, char *cmd, size_t size)
{
	if (!sys_exists(NETDEV_MODULE))
		snprintf(cmd, size, "modprobe via_netdev attach=%s", iface);
	else
		snprintf(cmd, size, "echo %s >" NETDEV_MODULE
			 "/parameters/attach", iface);
	return cmd;
}

static int refuse(const char *name)
{
	vipl_msg("'%.64s' names no VI NIC; those there are: ls /dev/via_*",
		 name);
	return -1;
}

int vipl_device_resolve(const char *name, char *node)
{
	const char *base = last_component(name);
	char alias[VIPL_NODE_LEN], cmd[VIPL_NODE_LEN + 64];
	int n;

	if (!well_formed(base))
		return refuse(name);
	if (!vipl_conf_lookup("alias", base, alias, sizeof(alias))) {
		base = last_component(alias);
		if (!*base || !well_formed(base))
			return refuse(alias);
	}
	if (find_node(base, node))
		return 0;
	n = legacy_index(base);
	if (n < 0)
		return *base ? 0 : refuse(name);
	if (!by_default(node) || (*base && !nth_ethernet(n, node)))
		return 0;
	if (!strncmp(base, "via_", 4) || !strncmp(base, "eth", 3))
		return find_node(base, node), 0;
	if (!*base || !strcmp(base, "default"))
		vipl_msg("no default VI NIC: name one in VIPL_NIC or in %s",
			 VIPL_CONF);
	else
		vipl_msg("'%s' means Ethernet VI NIC number %d, and there is none; attach one with: %s",
			 base, n, attach_command("eth0", cmd, sizeof(cmd)));
	return -1;
}

void vipl_device_missing(const char *node)
{
	char cmd[VIPL_NODE_LEN + 64];

	if (!strcmp(node, "via_lo"))
		vipl_msg("no VI NIC via_lo: node /dev/via_lo is missing; load it with: modprobe via_lo");
	else
		vipl_msg("no VI NIC %s: node /dev/%s is missing; attach the interface with: %s",
			 node, node, attach_command(node + strlen("via_"), cmd,
						    sizeof(cmd)));
}
