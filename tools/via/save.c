// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * via save: prints the settings of this network namespace as a file that via
 * apply reads.  The kernel does not tell keys: the file of a host's key is the
 * one that a file in /etc/mvia names, or a name that the administrator is told.
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "uapi/via.h"
#include "messages.h"
#include "via.h"

#define FILES	"/etc/mvia/*.conf"

static int status;

static void print_limit(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	(void)cmd;
	(void)arg;
	if (!attrs[VIA_NL_A_LIMIT_NAME] || !attrs[VIA_NL_A_LIMIT_VALUE])
		return;
	printf("%s = %" PRIu64 "\n",
	       mnl_attr_get_str(attrs[VIA_NL_A_LIMIT_NAME]),
	       mnl_attr_get_u64(attrs[VIA_NL_A_LIMIT_VALUE]));
}

static void print_limits(void)
{
	int ret;

	printf("[limits]\n");
	ret = nl_call(nl_message(VIA_NL_CMD_LIMIT_GET, NLM_F_DUMP),
		      print_limit, NULL);
	if (ret)
		die(MSG_SAVE_LIMITS, nl_error(ret));
}

/* The section of a VI NIC, without brackets. */
static void name_section(char *text, size_t size, const struct nic *nic)
{
	if (nic->type == VIA_NIC_UDP)
		snprintf(text, size, "address %s",
			 addr_str(nic->addr.byte, nic->addr.len));
	else
		snprintf(text, size, "interface %s", nic->ifname);
}

/* The key's file that @conf names for a host of a section. */
static bool key_in(FILE *conf, const char *section, const char *host,
		   char *file, size_t size)
{
	char kind[16], name[64], addr[64], key[256], head[96] = "";
	char *line = NULL;
	bool found = false;
	size_t room = 0;

	while (!found && getline(&line, &room, conf) >= 0) {
		if (sscanf(line, " [ %15s %63[^] \t]", kind, name) == 2)
			snprintf(head, sizeof(head), "%s %s", kind, name);
		else if (!strcmp(head, section) &&
			 sscanf(line, " allow = %63s key %255s", addr,
				key) == 2)
			found = !strcmp(addr, host);
	}
	free(line);
	if (found)
		snprintf(file, size, "%s", key);
	return found;
}

static bool find_key(const char *section, const char *host, char *file,
		     size_t size)
{
	bool found = false;
	glob_t all;
	FILE *f;

	if (glob(FILES, 0, NULL, &all))
		return false;
	for (size_t i = 0; i < all.gl_pathc && !found; i++) {
		f = fopen(all.gl_pathv[i], "re");
		if (!f)
			continue;
		found = key_in(f, section, host, file, size);
		fclose(f);
	}
	globfree(&all);
	return found;
}

struct list {
	const struct nic	*nic;
	char			section[64];
};

static void print_host(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	const struct list *list = arg;
	char host[HOST_TEXT], file[256];
	bool keyed;

	(void)cmd;
	if (!host_take(attrs, host, &keyed))
		return;
	printf("allow = %s", host);
	/* A key is of one host: no prefix stands behind it. */
	if (keyed) {
		if (!find_key(list->section, host, file, sizeof(file))) {
			snprintf(file, sizeof(file), "%s-%s.key",
				 list->nic->name, host);
			warn_msg(MSG_SAVE_KEY, list->nic->name, host, file);
			status = REFUSED;
		}
		printf(" key %s", file);
	}
	printf("\n");
}

static void print_hosts(const struct list *list)
{
	struct nlmsghdr *nlh;
	int ret;

	if (!list->nic->listed) {
		printf("allow = all\n");
		return;
	}
	/* The hosts that follow are on it; without any it is empty. */
	printf("allow = none\n");
	nlh = nl_message(VIA_NL_CMD_PEER_GET, NLM_F_DUMP);
	mnl_attr_put_strz(nlh, VIA_NL_A_NIC, list->nic->name);
	ret = nl_call(nlh, print_host, (void *)list);
	if (ret == -EINTR)
		die(MSG_SAVE_CHANGED, list->nic->name);
	if (ret)
		die(MSG_VIA_HOSTS, list->nic->name, nl_error(ret));
}

static void print_nic(const struct nic *nic)
{
	struct list list = { .nic = nic };
	char bound[IF_NAMESIZE];

	if (nic->type == VIA_NIC_LOOPBACK)
		return;
	if (nic->type != VIA_NIC_UDP && !*nic->ifname) {
		warn_msg(MSG_SAVE_LEFT_OUT, nic->name);
		status = REFUSED;
		return;
	}
	name_section(list.section, sizeof(list.section), nic);
	printf("\n[%s]\n", list.section);
	if (nic->type == VIA_NIC_UDP) {
		if (nic->port)
			printf("port = %u\n", nic->port);
		if (nic->bound && if_indextoname(nic->bound, bound))
			printf("dev = %s\n", bound);
		if (nic->shape == VIA_NL_SHAPE_TCP)
			printf("shape = tcp\n");
	} else if (strcmp(nic->driver, "via_netdev")) {
		printf("driver = native\n");
	}
	print_hosts(&list);
	if (*verbs_of(nic))
		printf("rdma = yes\n");
}

int do_save(struct words *w)
{
	struct nic *all;
	unsigned int n;

	no_more_words(w);
	if (out.file)
		usage_error(MSG_USAGE_SAVE);
	all = nic_list(&n);
	printf("# Written by via save: see mvia.conf(5).\n");
	print_limits();
	for (unsigned int i = 0; i < n; i++)
		print_nic(&all[i]);
	free(all);
	return status;
}
