// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The VI NICs of this machine, by provider, and what each can do. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <vipl_ext.h>

#include "common/json.h"
#include "common/msg.h"
#include "common/nic.h"
#include "common/version.h"

struct how {
	bool		verbose, wire;
	unsigned int	shown, failed;
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

/* Printable one-line attributes that the kernel shows beside the API's. */
static void print_sysfs(const char *name)
{
	char path[PATH_MAX], line[256];
	struct dirent **list;
	FILE *f;
	int n;

	snprintf(path, sizeof(path), NIC_CLASS_DIR "/%s", name);
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), NIC_CLASS_DIR "/%s/%s", name,
			 list[i]->d_name);
		f = list[i]->d_type == DT_REG ? fopen(path, "re") : NULL;
		if (f && fgets(line, sizeof(line), f) && isprint(line[0]))
			printf("    %-24s %.*s\n", list[i]->d_name,
			       (int)strcspn(line, "\n"), line);
		if (f)
			fclose(f);
	}
}

static void show_text(const struct nic *nic, VIP_UINT64 can,
		      const struct how *how)
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
	if (how->verbose)
		print_sysfs(nic->dev);
}

static void show_json(const struct nic *nic, VIP_UINT64 can, struct json *j)
{
	struct field f[MAX_FIELDS];
	unsigned int n = list_fields(&nic->attr, f);

	json_object(j);
	json_str(j, "nic", nic->dev);
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
	VIP_UINT64 can;
	VIP_RETURN rc;

	rc = VipOpenNic(name, &nic.h);
	if (rc != VIP_SUCCESS) {
		warn_msg("cannot open VI NIC %s: %s", name, vip_str(rc));
		how->failed++;
		return;
	}
	rc = VipQueryNic(nic.h, &nic.attr);
	if (rc == VIP_SUCCESS)
		rc = VipExtQueryFeatures(nic.h, &can);
	if (rc != VIP_SUCCESS)
		die("VipQueryNic %s: %s", name, vip_str(rc));
	if (how->json.file)
		show_json(&nic, can, &how->json);
	else
		show_text(&nic, can, how);
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
		printf("no NIC of provider %s: %s\n", provider, what);
	if (!device)
		return;
	if (!how->json.file)
		printf("# %s: %s\n", provider, what);
	show(device, how);
}

static void enumerate(struct how *how)
{
	VIP_RETURN rc = VipExtEnumDevices(each, how);

	if (rc != VIP_SUCCESS)
		die("VipExtEnumDevices: %s", vip_str(rc));
}

static void usage(void)
{
	printf("Usage: viainfo [-d NIC] [-v] [-w] [--json]\n\n"
	       "  -d, --dev NIC   this VI NIC only (default: all)\n"
	       "  -v, --verbose   what the kernel says beside the API, too\n"
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
