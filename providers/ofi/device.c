// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../vipl/sys.h"
#include "../messages.h"
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
	  MSG_OFI_NO_TCP },
	{ "verbs", "verbs;ofi_rxm", "InfiniBand or RoCE", 1, NULL },
	{ "psm2", "psm2", "Omni-Path, untested", 0,
	  MSG_OFI_NO_PSM2 },
	{ "efa", "efa", "EFA, untested", 0,
	  MSG_OFI_NO_EFA },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* Others of libfabric's, and why they are not served. */
static const struct {
	const char *word, *why;
} refused[] = {
	{ "via", MSG_OFI_VIA },
	{ "shm", MSG_OFI_SHM },
	{ "net", MSG_OFI_NET },
	{ "sockets", MSG_OFI_SOCKETS },
	{ "udp", MSG_OFI_UDP },
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
	snprintf(why, size, "%s", MSG_OFI_NO_KIND);
	return -1;
}

/* The port: one for each user and kind, or as configured. */
static int find_port(struct ofi_device *w, char *why, size_t size)
{
	unsigned long port = PORT_BASE + geteuid() % PORT_USERS * KINDS;
	char value[16], *stop;

	if (!ofi_host->conf("ofi", "port", value, sizeof(value))) {
		port = strtoul(value, &stop, 10);
		if (*stop || !port || port + KINDS > 65535) {
			snprintf(why, size, MSG_OFI_PORT, value);
			return -1;
		}
	}
	port += (unsigned int)w->number;
	snprintf(w->space, sizeof(w->space), "%s-%lu", w->word, port);
	w->host.port[0] = (uint8_t)(port >> 8);
	w->host.port[1] = (uint8_t)port;
	return 0;
}

/* The name of an address for fi_getinfo(). */
static void name_node(struct ofi_device *w)
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
static int use_every_address(struct ofi_device *w, char *why, size_t size)
{
	int fd = sys_socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	w->only4 = fd < 0;
	snprintf(w->node, sizeof(w->node), "%s", w->only4 ? "0.0.0.0" : "::");
	if (!ofi_addr_own(&w->host, NULL, ofi_addr_port(&w->host)))
		return 0;
	snprintf(why, size, "%s", MSG_OFI_NO_ADDRESS);
	return -1;
}

static int one_place(struct ofi_device *w, const char *place, char *why,
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
		snprintf(why, size, MSG_OFI_PLACE, place);
		return -1;
	}
	snprintf(w->domain, sizeof(w->domain), "%.63s", place);
	return 0;
}

int ofi_device_parse(struct ofi_device *w, const char *rest, char *why,
		     size_t size)
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
		rc = use_every_address(w, why, size);
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

static void explain_absent(const struct ofi_device *w, char *line, size_t size)
{
	const char *none = kinds[w->number].none;

	if (w->node[0] || w->domain[0])
		snprintf(line, size, MSG_OFI_NOT_AT, w->provider,
			 w->node[0] ? w->node : w->domain);
	else if (none)
		snprintf(line, size, "%s", none);
	else if (no_rdma_device())
		snprintf(line, size, "%s", MSG_OFI_NO_RDMA);
	else
		snprintf(line, size, "%s", MSG_OFI_NO_VERBS);
}

int ofi_absent(const char *rest, char *line, size_t size)
{
	const struct ofi_lib *lib;
	struct fi_info *info = NULL;
	struct fab_device at;
	struct ofi_device w;
	int err;

	if (ofi_device_parse(&w, rest, line, size))
		return 0;
	lib = ofi_load(line, size);
	if (!lib)
		return 0;
	at.provider = w.provider;
	at.node = w.node[0] ? w.node : NULL;
	at.domain = w.domain[0] ? w.domain : NULL;
	err = fab_info(lib, &at, &info);
	if (err) {
		explain_absent(&w, line, size);
		return 0;
	}
	lib->freeinfo(info);
	return -1;
}

int ofi_explain(const char *rest, char *line, size_t size)
{
	int ret = ofi_absent(rest, line, size);
	char *remedy = ret ? NULL : strchr(line, '\n');

	/* One line, as the interface has it. */
	if (remedy)
		*remedy = ';';
	return ret;
}

static void device_ip(void (*each)(void *arg, const char *device,
				   const char *what), void *arg)
{
	char why[200], address[96], what[160];
	struct ofi_device w;

	if (ofi_device_parse(&w, "tcp", why, sizeof(why)))
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
	struct fab_device at = { .provider = k->provider };
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
