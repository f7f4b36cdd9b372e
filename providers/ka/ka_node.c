// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The nodes of VI NICs in /dev, and how one comes there. */
#include <dirent.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../vipl/agent.h"
#include "../../vipl/messages.h"
#include "../../vipl/sys.h"
#include "ka_node.h"

#define SYSFS_CLASS	"/sys/class/via"

/* Node names go into paths: nothing else than these may appear. */
int ka_node_well_formed(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "0123456789_.@:-");

	return !s[n] && n < KA_NODE_LEN - sizeof("via_");
}

static int node_exists(const char *node)
{
	char path[KA_NODE_LEN + 8];

	snprintf(path, sizeof(path), "/dev/%s", node);
	return sys_exists(path);
}

int ka_node_find(const char *base, char *node)
{
	if (!strncmp(base, "via_", 4))
		snprintf(node, KA_NODE_LEN, "%s", base);
	else
		snprintf(node, KA_NODE_LEN, "via_%s", base);
	return *base && node_exists(node);
}

/* A NIC of an address: via_udp and a number, and the namespace's number. */
static int is_udp(const char *node)
{
	static const char udp[] = "via_udp";
	size_t n;

	if (strncmp(node, udp, sizeof(udp) - 1))
		return 0;
	node += sizeof(udp) - 1;
	n = strspn(node, "0123456789");
	return n && (!node[n] || node[n] == '@');
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

/* The kind of a node, in words. */
static void describe_node(const char *node, char *what, size_t size)
{
	const char *base = node + strcspn(node, "_") + 1;
	unsigned int index = node_ifindex(node);
	char ifname[IF_NAMESIZE];

	if (index)
		snprintf(what, size, "kernel agent, interface %s",
			 if_indextoname(index, ifname) ? ifname : base);
	else if (is_udp(node))
		snprintf(what, size, "kernel agent, in UDP/IP");
	else
		snprintf(what, size, "kernel agent, within this host");
}

static int is_node(const struct dirent *e)
{
	return e->d_name[0] != '.' && ka_node_well_formed(e->d_name);
}

void ka_devices(void (*each)(void *arg, const char *device, const char *what),
		void *arg)
{
	char what[KA_NODE_LEN + 32];
	struct dirent **list;
	int i, n = scandir(SYSFS_CLASS, &list, is_node, versionsort);
	const char *name;

	if (n < 0)
		return;
	for (i = 0; i < n; i++) {
		name = list[i]->d_name;
		describe_node(name, what, sizeof(what));
		each(arg, name, what);
		free(list[i]);
	}
	free(list);
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
		if (e->d_name[0] == '.' || !ka_node_well_formed(e->d_name))
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

int ka_node_nth(int n, char *node)
{
	unsigned int after = 0;

	do {
		if (next_ethernet(&after, node))
			return -1;
	} while (n--);
	return 0;
}

static int have_modules(void)
{
	return agent_loaded() || agent_installed();
}

const char *ka_remedy(const char *iface, char remedy[KA_REMEDY_LEN])
{
	if (have_modules())
		snprintf(remedy, KA_REMEDY_LEN, MSG_AS_ROOT_ATTACH, iface);
	else
		strcpy(remedy, MSG_AS_ROOT_MODULES);
	return remedy;
}

void ka_none(char *line, size_t size)
{
	char remedy[KA_REMEDY_LEN];

	snprintf(line, size, have_modules() ? MSG_NO_NIC : MSG_NO_MODULES,
		 ka_remedy("INTERFACE", remedy));
}

int ka_explain(const char *rest, char *line, size_t size)
{
	char path[KA_NODE_LEN + 8];

	if (!*rest) {
		ka_none(line, size);
		return 0;
	}
	if (!ka_node_well_formed(rest)) {
		snprintf(line, size, MSG_NOT_A_NODE, rest);
		return 0;
	}
	if (!node_exists(rest))
		return ka_node_missing(rest, line, size);
	snprintf(path, sizeof(path), "/dev/%s", rest);
	if (!syscall(SYS_faccessat, AT_FDCWD, path, R_OK | W_OK))
		return -1;
	snprintf(line, size, MSG_NO_PERMISSION, rest);
	return 0;
}

int ka_node_elsewhere(const char *node, char *line, size_t size)
{
	char path[sizeof(SYSFS_CLASS) + KA_NODE_LEN];

	snprintf(path, sizeof(path), SYSFS_CLASS "/%s", node);
	if (!sys_exists(path))
		return 0;
	snprintf(line, size, MSG_ELSEWHERE, node);
	return 1;
}

int ka_node_missing(const char *node, char *line, size_t size)
{
	const char *iface = node + strlen("via_"), *how;
	char remedy[KA_REMEDY_LEN];

	if (!have_modules())
		how = MSG_AS_ROOT_MODULES;
	else if (!strcmp(node, "via_lo"))
		how = MSG_LOAD_LO;
	else if (is_udp(node))
		how = MSG_ATTACH_UDP;
	else
		how = ka_remedy(iface, remedy);
	/* Nothing makes a NIC of an interface that is not there. */
	if (strcmp(node, "via_lo") && !is_udp(node) && !if_nametoindex(iface))
		snprintf(line, size, MSG_NO_INTERFACE, node, iface);
	else
		snprintf(line, size, MSG_NO_NODE, node, node, how);
	return 0;
}
