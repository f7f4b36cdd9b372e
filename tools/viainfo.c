// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The VI NICs of this machine, by provider, and what each can do. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <getopt.h>
#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vipl_ext.h>

#include "common/json.h"
#include "common/msg.h"
#include "common/nic.h"
#include "common/version.h"

struct how {
	bool		verbose, wire, heading;
	unsigned int	shown, failed;
	FILE		*none;		/* providers without a NIC, for the end */
	struct json	json;		/* --json */
};

enum kind { NUMBER, LEVELS, BOOLEAN };

struct field {
	const char	*name;
	enum kind	kind;
	unsigned long	value;
};

#define FIELD(n, k)	{ #n, k, a->n }
#define MAX_FIELDS	20

static unsigned int list_fields(const VIP_NIC_ATTRIBUTES *a, struct field *f)
{
	const struct field all[] = {
		FIELD(HardwareVersion, NUMBER),
		FIELD(ProviderVersion, NUMBER),
		FIELD(NicAddressLen, NUMBER),
		FIELD(ThreadSafe, BOOLEAN),
		FIELD(MaxDiscriminatorLen, NUMBER),
		FIELD(MaxRegisterBytes, NUMBER),
		FIELD(MaxRegisterRegions, NUMBER),
		FIELD(MaxRegisterBlockBytes, NUMBER),
		FIELD(MaxVI, NUMBER),
		FIELD(MaxDescriptorsPerQueue, NUMBER),
		FIELD(MaxSegmentsPerDesc, NUMBER),
		FIELD(MaxCQ, NUMBER),
		FIELD(MaxCQEntries, NUMBER),
		FIELD(MaxTransferSize, NUMBER),
		FIELD(NativeMTU, NUMBER),
		FIELD(MaxPtags, NUMBER),
		FIELD(ReliabilityLevelSupport, LEVELS),
		FIELD(RDMAReadSupport, LEVELS),
	};

	_Static_assert(sizeof(all) / sizeof(all[0]) <= MAX_FIELDS, "room");
	memcpy(f, all, sizeof(all));
	return sizeof(all) / sizeof(all[0]);
}

static void print_levels(unsigned long mask)
{
	bool any = false;

	printf("0x%02lx (", mask);
	for (unsigned int bit = 1; bit <= VIP_SERVICE_RELIABLE_RECEPTION;
	     bit <<= 1) {
		if (!(mask & bit))
			continue;
		printf("%s%s", any ? ", " : "", level_str(bit));
		any = true;
	}
	printf("%s)\n", any ? "" : "none");
}

static const struct {
	unsigned int	bit;
	const char	*name;
} features[] = {
	{ VIP_FEATURE_CQ_FD,		"cq-fd" },
	{ VIP_FEATURE_NIC_FD,		"nic-fd" },
	{ VIP_FEATURE_NONBLOCKING,	"nonblocking" },
	{ VIP_FEATURE_LISTEN,		"listen" },
	{ VIP_FEATURE_PRIVATE,		"private-data" },
	{ VIP_FEATURE_MEMLOCK,		"memlock" },
	{ VIP_FEATURE_ONE_SIDED,	"one-sided" },
	{ VIP_FEATURE_REMOTE,		"remote" },
};

#define NR_FEATURES	(sizeof(features) / sizeof(features[0]))

static void print_features(VIP_UINT64 mask)
{
	bool any = false;

	for (size_t i = 0; i < NR_FEATURES; i++) {
		if (!(mask & features[i].bit))
			continue;
		printf("%s%s", any ? ", " : "", features[i].name);
		any = true;
	}
}

/* One line of a file, or false. */
static bool read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

static bool kernel_attr(const char *nic, const char *attr, char *line,
			size_t size)
{
	char path[PATH_MAX];
	const char *slash = strrchr(nic, '/');

	snprintf(path, sizeof(path), NIC_CLASS_DIR "/%s/%s",
		 slash ? slash + 1 : nic, attr);
	return read_line(path, line, size);
}

static bool iface_attr(const char *iface, const char *attr, char *line,
		       size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", iface, attr);
	return read_line(path, line, size);
}

/* Whether a NIC can carry messages now, and over what. */
struct link {
	const char	*state;
	char		text[IF_NAMESIZE + 16];
};

static void get_link(const struct nic *nic, VIP_UINT64 can, struct link *l)
{
	char iface[IF_NAMESIZE], line[64];

	l->state = "up";
	snprintf(l->text, sizeof(l->text), "%s",
		 can & VIP_FEATURE_REMOTE ? "network" : "this host");
	if (!kernel_attr(nic->dev, "ifindex", line, sizeof(line)) ||
	    !(can & VIP_FEATURE_REMOTE) ||
	    !if_indextoname(strtoul(line, NULL, 10), iface))
		return;
	snprintf(l->text, sizeof(l->text), "%s", iface);
	/* "unknown": an interface that does not watch its carrier. */
	if (iface_attr(iface, "operstate", line, sizeof(line)) &&
	    strcmp(line, "up") && strcmp(line, "unknown"))
		l->state = "down";
	else if (iface_attr(iface, "speed", line, sizeof(line)) &&
		 strtol(line, NULL, 10) > 0)
		snprintf(l->text, sizeof(l->text), "%s %ldMb/s", iface,
			 strtol(line, NULL, 10));
}

/* The built-in provider has the kernel's NICs, whose names have no ":". */
static const char *provider_of(const char *dev, char *buf, size_t size)
{
	const char *colon = strchr(dev, ':');

	if (colon)
		snprintf(buf, size, "%.*s", (int)(colon - dev), dev);
	else
		snprintf(buf, size, "ka");
	return buf;
}

static void row(struct how *how, const char *dev, const struct link *l,
		const char *address)
{
	char provider[32];

	if (!how->heading)
		printf("%-12s %-5s %-18s %-32s %s\n", "NIC", "STATE", "LINK",
		       "ADDRESS", "PROVIDER");
	how->heading = true;
	printf("%-12s %-5s %-18s %-32s %s\n", dev, l->state, l->text, address,
	       provider_of(dev, provider, sizeof(provider)));
}

/* Printable one-line attributes that the kernel shows beside the API's. */
static void print_sysfs(const char *name)
{
	char path[PATH_MAX], line[256];
	struct dirent **list;
	int n;

	snprintf(path, sizeof(path), NIC_CLASS_DIR "/%s", name);
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (list[i]->d_type == DT_REG &&
		    kernel_attr(name, list[i]->d_name, line, sizeof(line)) &&
		    isprint(line[0]))
			printf("    %-24s %s\n", list[i]->d_name, line);
	}
}

static void show_all(const struct nic *nic, VIP_UINT64 can)
{
	struct field f[MAX_FIELDS];
	unsigned int n = list_fields(&nic->attr, f);

	printf("%s\n", nic->dev);
	printf("    %-24s %s\n", "Name", nic->attr.Name);
	printf("    %-24s %s\n", "LocalNicAddress", nic_addr(nic));
	printf("    %-24s ", "Features");
	print_features(can);
	printf("\n");
	for (unsigned int i = 0; i < n; i++) {
		printf("    %-24s ", f[i].name);
		if (f[i].kind == LEVELS)
			print_levels(f[i].value);
		else if (f[i].kind == BOOLEAN)
			printf("%s\n", f[i].value ? "yes" : "no");
		else
			printf("%lu\n", f[i].value);
	}
	print_sysfs(nic->dev);
}

static void show_json(const struct nic *nic, VIP_UINT64 can, struct json *j)
{
	struct field f[MAX_FIELDS];
	unsigned int n = list_fields(&nic->attr, f);
	char provider[32];
	struct link l;

	get_link(nic, can, &l);
	json_object(j);
	json_str(j, "nic", nic->dev);
	json_str(j, "provider",
		 provider_of(nic->dev, provider, sizeof(provider)));
	json_str(j, "state", l.state);
	json_str(j, "link", l.text);
	json_str(j, "Name", nic->attr.Name);
	json_str(j, "LocalNicAddress", nic_addr(nic));
	for (unsigned int i = 0; i < n; i++) {
		if (f[i].kind == BOOLEAN)
			json_bool(j, f[i].name, f[i].value);
		else
			json_num(j, f[i].name, f[i].value);
	}
	json_list(j, "Features");
	for (size_t i = 0; i < NR_FEATURES; i++)
		if (can & features[i].bit)
			json_item(j, features[i].name);
	json_list_end(j);
	json_object_end(j);
}

/* The hosts that answer on the NIC's wire, and their names. */
static void show_wire(const struct nic *nic)
{
	VIP_AUTODISCOVERY_LIST l = { 0 };
	VIP_NET_ADDRESS *a;
	VIP_ULONG len;
	char host[256];
	VIP_RETURN rc;

	rc = VipQuerySystemManagementInfo(nic->h, VIP_SMI_AUTODISCOVERY, &l);
	if (rc != VIP_SUCCESS) {
		warn_msg("cannot ask for the hosts on the wire: %s", vip_str(rc));
		return;
	}
	for (VIP_ULONG i = 0; i < l.NumAdAddrs; i++) {
		a = l.ADAddrArray[i];
		len = sizeof(host);
		rc = VipNSGetHostByAddr(nic->h, a, host, &len);
		printf("    %-24s %s %s\n", i ? "" : "on the wire",
		       addr_text(nic, a->HostAddress, a->HostAddressLen),
		       rc == VIP_SUCCESS ? host : "(no name)");
	}
}

/* One NIC that cannot be opened does not hide the others. */
static void show(const char *name, struct how *how)
{
	struct nic nic = { .dev = name };
	struct link l = { .state = "error", .text = "-" };
	VIP_UINT64 can;
	VIP_RETURN rc;

	rc = VipOpenNic(name, &nic.h);
	if (rc != VIP_SUCCESS) {
		if (!how->json.file && !how->verbose)
			row(how, name, &l, "-");
		fflush(stdout);
		warn_reason("cannot open VI NIC", name, rc);
		how->failed++;
		return;
	}
	rc = VipQueryNic(nic.h, &nic.attr);
	if (rc == VIP_SUCCESS)
		rc = VipExtQueryFeatures(nic.h, &can);
	if (rc != VIP_SUCCESS)
		die("VipQueryNic %s: %s", name, vip_str(rc));
	get_link(&nic, can, &l);
	if (how->json.file)
		show_json(&nic, can, &how->json);
	else if (how->verbose)
		show_all(&nic, can);
	else
		row(how, name, &l, nic_addr(&nic));
	if (how->wire && !how->json.file)
		show_wire(&nic);
	VipCloseNic(nic.h);
	how->shown++;
}

static void each(VIP_PVOID arg, const VIP_CHAR *provider,
		 const VIP_CHAR *device, const VIP_CHAR *what)
{
	struct how *how = arg;

	if (!device && !how->json.file)
		fprintf(how->none, "no NIC of provider %s: %s\n", provider,
			what);
	if (!device)
		return;
	if (!how->json.file && how->verbose)
		printf("# %s: %s\n", provider, what);
	show(device, how);
}

static void enumerate(struct how *how)
{
	char *none = NULL;
	size_t len;
	VIP_RETURN rc;

	how->none = open_memstream(&none, &len);
	if (!how->none)
		die("out of memory");
	rc = VipExtEnumDevices(each, how);
	if (rc != VIP_SUCCESS)
		die("VipExtEnumDevices: %s", vip_str(rc));
	fclose(how->none);
	printf("%s", none);
	free(none);
}

static void usage(void)
{
	printf("Usage: viainfo [-d NIC] [-v] [-w] [--json]\n\n"
	       "  -d, --dev NIC   this VI NIC only (default: all)\n"
	       "  -v, --verbose   all attributes instead of one line for each NIC\n"
	       "  -w, --wire      hosts that answer on the NIC's wire, and names\n"
	       "  -j, --json      as a JSON array\n"
	       "  -h, --help      show this text\n"
	       "  -V, --version   " VERSION_HELP "\n");
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dev", required_argument, NULL, 'd' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "wire", no_argument, NULL, 'w' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		VERSION_LONG,
		{ 0 },
	};
	struct how how = { .json.form = JSON_ROWS };
	const char *dev = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "d:vwjhV", longs, NULL)) != -1) {
		switch (c) {
		case 'd': dev = optarg; break;
		case 'v': how.verbose = true; break;
		case 'w': how.wire = true; break;
		case 'j': how.json.file = stdout; break;
		case 'h': usage(); return 0;
		case OPT_VERSION: print_version("viainfo");
		default: die_usage("see viainfo -h");
		}
	}
	if (optind < argc)
		die_usage("what is '%s'? See viainfo -h", argv[optind]);
	json_begin(&how.json);
	if (dev)
		show(dev, &how);
	else
		enumerate(&how);
	json_end(&how.json);
	return how.failed || !how.shown;
}
