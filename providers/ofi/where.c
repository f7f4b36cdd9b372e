// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../vipl/sys.h"
#include "fab.h"
#include "ofi.h"

/* Below Linux's ephemeral ports; four for each user, by the uid. */
#define PORT_BASE	28000
#define PORT_USERS	900

struct kind {
	const char *word, *provider, *text;
	int ip;
	const char *none;		/* what to do where there is none */
};

static const struct kind kinds[] = {
	{ "tcp", "tcp;ofi_rxm", "TCP", 1,
	  "libfabric was built without its provider tcp" },
	{ "verbs", "verbs;ofi_rxm", "InfiniBand or RoCE", 1, NULL },
	{ "psm2", "psm2", "Omni-Path, untested", 0,
	  "no Omni-Path adapter (/dev/hfi1*)" },
	{ "efa", "efa", "EFA, untested", 0,
	  "no EFA adapter, or package ibverbs-providers is missing" },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* Others of libfabric's, and why they are not served. */
static const struct {
	const char *word, *why;
} refused[] = {
	{ "via", "libfabric's provider via runs on libvipl itself" },
	{ "shm", "libfabric's shm cannot sleep and does not notice a peer's death: use shm:0" },
	{ "net", "libfabric's net wakes sleepers without cause: use ofi:tcp" },
	{ "sockets", "libfabric's sockets is superseded: use ofi:tcp" },
	{ "udp", "libfabric's udp loses messages: use ofi:tcp" },
};

static const struct kind *find_kind(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		if (strlen(kinds[i].word) == len &&
		    !strncmp(kinds[i].word, word, len))
			return &kinds[i];
	return NULL;
}

static int no_such(const char *rest, int len, char *why, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (!strncmp(refused[i].word, rest, (size_t)len) &&
		    !refused[i].word[len]) {
			snprintf(why, size, "%s", refused[i].why);
			return -1;
		}
	snprintf(why, size,
		 "there is no ofi:%.*s: ofi:tcp, ofi:verbs, ofi:psm2 and ofi:efa, with an address, interface or device behind a comma",
		 len < 32 ? len : 32, rest);
	return -1;
}

/* The directory's port: one for each user and kind, or as configured. */
static int find_port(struct ofi_where *w, char *why, size_t size)
{
	unsigned long port = PORT_BASE + geteuid() % PORT_USERS * KINDS;
	char value[16], *stop;

	if (!ofi_host->conf("ofi", "port", value, sizeof(value))) {
		port = strtoul(value, &stop, 10);
		if (*stop || !port || port + KINDS > 65535) {
			snprintf(why, size,
				 "ofi.port (VIPL_OFI_PORT) '%s' is not the number of a port",
				 value);
			return -1;
		}
	}
	port += (unsigned int)w->number;
	snprintf(w->space, sizeof(w->space), "%s-%lu", w->word, port);
	w->host.port[0] = (uint8_t)(port >> 8);
	w->host.port[1] = (uint8_t)port;
	return 0;
}

/* What fi_getinfo() calls an address. */
static void name_node(struct ofi_where *w)
{
	char text[96];

	ofi_addr_format(&w->host, ofi_addr_port(&w->host), text, sizeof(text));
	if (text[0] == '[') {
		text[strcspn(text, "]")] = 0;
		memmove(text, text + 1, strlen(text));
	}
	snprintf(w->node, sizeof(w->node), "%.63s", text);
}

/* Every address of this host, where the kernel has IPv6 of both kinds. */
static int everywhere(struct ofi_where *w, char *why, size_t size)
{
	int fd = sys_socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	w->only4 = fd < 0;
	snprintf(w->node, sizeof(w->node), "%s", w->only4 ? "0.0.0.0" : "::");
	if (!ofi_addr_own(&w->host, NULL, ofi_addr_port(&w->host)))
		return 0;
	snprintf(why, size, "this host has no IP address: ip link set lo up");
	return -1;
}

static int one_place(struct ofi_where *w, const char *place, char *why,
		     size_t size)
{
	uint16_t port = ofi_addr_port(&w->host);
	struct ofi_host h;

	if (w->ip && (!ofi_addr_parse(&h, place, port) ||
		      !ofi_addr_own(&h, place, port))) {
		w->host = h;
		w->bound = 1;
		name_node(w);
		return 0;
	}
	if (!strcmp(w->word, "tcp")) {
		snprintf(why, size,
			 "'%.64s' is neither an address nor an interface that is up and has one: ip address",
			 place);
		return -1;
	}
	snprintf(w->domain, sizeof(w->domain), "%.63s", place);
	return 0;
}

int ofi_where(struct ofi_where *w, const char *rest, char *why, size_t size)
{
	size_t len = strcspn(rest, ",");
	const struct kind *k = len ? find_kind(rest, len) : &kinds[0];
	int rc = 0;

	memset(w, 0, sizeof(*w));
	if (!k)
		return no_such(rest, (int)len, why, size);
	w->word = k->word;
	w->provider = k->provider;
	w->text = k->text;
	w->ip = k->ip;
	w->number = (int)(k - kinds);
	if (find_port(w, why, size))
		return -1;
	if (rest[len])
		rc = one_place(w, rest + len + 1, why, size);
	else if (k == &kinds[0])
		rc = everywhere(w, why, size);
	return rc;
}

static int no_rdma_device(void)
{
	DIR *d = opendir("/sys/class/infiniband");
	struct dirent *e;
	int found = 0;

	if (!d)
		return 1;
	while ((e = readdir(d)))
		found |= e->d_name[0] != '.';
	closedir(d);
	return !found;
}

static void absent(const struct ofi_where *w, char *line, size_t size)
{
	const char *none = kinds[w->number].none;

	if (w->node[0] || w->domain[0])
		snprintf(line, size, "libfabric has no %s at %s", w->provider,
			 w->node[0] ? w->node : w->domain);
	else if (none)
		snprintf(line, size, "%s", none);
	else if (no_rdma_device())
		snprintf(line, size,
			 "no RDMA device; one in software: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0");
	else
		snprintf(line, size,
			 "libfabric finds no RDMA device that it can use: is package ibverbs-providers installed, and does its interface have an address?");
}

int ofi_explain(const char *rest, char *line, size_t size)
{
	const struct ofi_lib *lib;
	struct fi_info *info = NULL;
	struct fab_where at;
	struct ofi_where w;
	int err;

	if (ofi_where(&w, rest, line, size))
		return 0;
	lib = ofi_load(line, size);
	if (!lib)
		return 0;
	at.provider = w.provider;
	at.node = w.node[0] ? w.node : NULL;
	at.domain = w.domain[0] ? w.domain : NULL;
	err = fab_info(lib, &at, &info);
	if (err) {
		absent(&w, line, size);
		return 0;
	}
	lib->freeinfo(info);
	return -1;
}

static void device_ip(void (*each)(void *arg, const char *device,
				   const char *what), void *arg)
{
	char why[200], address[96], what[160];
	struct ofi_where w;

	if (ofi_where(&w, "tcp", why, sizeof(why)))
		return;
	ofi_addr_format(&w.host, ofi_addr_port(&w.host), address,
			sizeof(address));
	snprintf(what, sizeof(what), "TCP, every address of this host; it is known as %s",
		 address);
	each(arg, "ofi:tcp", what);
}

/* One line for each domain: libfabric names one several times. */
static void devices_of(const struct ofi_lib *lib, const struct kind *k,
		       void (*each)(void *arg, const char *device,
				    const char *what), void *arg)
{
	struct fab_where at = { .provider = k->provider };
	struct fi_info *info = NULL, *i, *j;
	char device[96], what[96];

	if (fab_info(lib, &at, &info))
		return;
	for (i = info; i; i = i->next) {
		for (j = info; j != i; j = j->next)
			if (!strcmp(j->domain_attr->name, i->domain_attr->name))
				break;
		if (j != i)
			continue;
		snprintf(device, sizeof(device), "ofi:%s,%.63s", k->word,
			 i->domain_attr->name);
		snprintf(what, sizeof(what), "%s over %s", k->text,
			 k->provider);
		each(arg, device, what);
	}
	lib->freeinfo(info);
}

void ofi_devices(void (*each)(void *arg, const char *device,
			      const char *what), void *arg)
{
	const struct ofi_lib *lib = ofi_load(NULL, 0);
	size_t i;

	if (!lib)
		return;
	device_ip(each, arg);
	for (i = 1; i < KINDS; i++)
		devices_of(lib, &kinds[i], each, arg);
}
