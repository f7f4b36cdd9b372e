// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Names of hosts and of devices. The files in /etc, /dev and /sys are the
 * test's own: fopen, faccessat and opendir are wrapped and look below a folder.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../vipl/conf.h"
#include "../../../vipl/device.h"
#include "../../../vipl/hosts.h"
#include "../../../providers/ka/ka.h"
#include "../../../providers/ka/ka_node.h"
#include "unit.h"

static char root[] = "/tmp/names-XXXXXX";

FILE *__real_fopen64(const char *path, const char *mode);
long __real_syscall(long nr, ...);
DIR *__real_opendir(const char *path);
FILE *__wrap_fopen64(const char *path, const char *mode);
long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f);
DIR *__wrap_opendir(const char *path);

static const char *below(const char *path)
{
	static char buf[512];

	snprintf(buf, sizeof(buf), "%s%s", root, path);
	return buf;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	return __real_fopen64(below(path), mode);
}

long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	if (nr == SYS_faccessat)
		b = (long)below((const char *)b);
	return __real_syscall(nr, a, b, c, d, e, f);
}

DIR *__wrap_opendir(const char *path)
{
	return __real_opendir(below(path));
}

int __real_scandir64(const char *path, struct dirent ***list,
		     int (*filter)(const struct dirent *),
		     int (*order)(const struct dirent **,
				  const struct dirent **));
int __wrap_scandir64(const char *path, struct dirent ***list,
		     int (*filter)(const struct dirent *),
		     int (*order)(const struct dirent **,
				  const struct dirent **));

int __wrap_scandir64(const char *path, struct dirent ***list,
		     int (*filter)(const struct dirent *),
		     int (*order)(const struct dirent **,
				  const struct dirent **))
{
	return __real_scandir64(below(path), list, filter, order);
}

static void put(const char *path, const char *text)
{
	char dir[512], *p;
	FILE *f;

	snprintf(dir, sizeof(dir), "%s", below(path));
	for (p = dir + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(dir, 0755);
	}
	f = __real_fopen64(below(path), "w");
	CU_ASSERT_FATAL(f != NULL);
	fputs(text, f);
	fclose(f);
}

static void node(const char *name, const char *ifindex)
{
	char path[256];

	snprintf(path, sizeof(path), "/dev/%s", name);
	put(path, "");
	snprintf(path, sizeof(path), "/sys/class/via/%s/ifindex", name);
	put(path, ifindex);
}

/* An empty world; the lines about what is missing go nowhere. */
static void fresh(void)
{
	strcpy(root, "/tmp/names-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(root) != NULL);
	unsetenv("VIPL_NIC");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	setenv("VIPL_QUIET", "1", 1);
}

static void wipe(void)
{
	char cmd[64];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	CU_ASSERT_EQUAL(system(cmd), 0);
}

static const char *resolve(const char *name)
{
	static struct vipl_device out;

	if (vipl_device_resolve(name, &out))
		return "none";
	CU_ASSERT_STRING_EQUAL(out.provider, "ka");
	return out.rest;
}

static void literals(void)
{
	static const char *const bad[] = {
		"", "52", "52:54:00:00:00", "52:54:00:00:00:", "node1",
		"52:54:00:00:00:0g", "52:54:00:00:00:011", "52.54.00.00.00.01",
		"5:54:00:00:00:01", "52:54:00:00:00:01 ",
	};
	uint8_t mac[6];
	size_t i;

	CU_ASSERT_EQUAL(ka_mac_parse("52:54:00:aB:cD:eF", mac), 0);
	CU_ASSERT_EQUAL(memcmp(mac, "\x52\x54\0\xab\xcd\xef", 6), 0);
	CU_ASSERT_EQUAL(ka_mac_parse("00-11-22-33-44-55", mac), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_NOT_EQUAL(ka_mac_parse(bad[i], mac), 0);
}

static void qualified(void)
{
	CU_ASSERT(vipl_name_match("node2", "node2"));
	CU_ASSERT(vipl_name_match("NODE2", "node2"));
	CU_ASSERT(vipl_name_match("node2", "node2.example.org"));
	CU_ASSERT(vipl_name_match("node2.example.org", "node2"));
	CU_ASSERT(!vipl_name_match("node2.example.org", "node2.example.com"));
	CU_ASSERT(!vipl_name_match("node", "node2"));
	CU_ASSERT(!vipl_name_match("node2", "node"));
}

static void hosts_file(void)
{
	struct vipl_hosts h = {
		.file = "/h",
		.parse = ka_addr_parse,
		.len = KA_MAC_LEN,
		.example = "52:54:00:00:00:01",
	};
	struct vipl_hosts none = h;
	char name[16];
	uint8_t mac[6];

	none.file = "/none";
	fresh();
	put("/h", "# a comment\n\n"
		  "52:54:00:00:00:01 node1 n1 # not n3\n"
		  "rubbish line\n52:54:00:00:00\n"
		  "52:54:00:00:00:02\tnode2.example.org\tn2\r\n"
		  "52:54:00:00:00:03 node1\n"
		  "52:54:00:00:00:04 a-name-that-does-not-fit short\n"
		  "52:54:00:00:00:05 last");
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "n1", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 1);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "node1", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 1);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "node1", 1, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 3);
	/* Past the last: the file knows the name, and no host is asked. */
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "node1", 2, mac), -3);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "node1", ~0ul, mac), -3);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "node2", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 2);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "last", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 5);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "n3", 0, mac), -1);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "line", 0, mac), -1);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&none, "n1", 0, mac), -1);

	memcpy(mac, "\x52\x54\0\0\0\x01", 6);
	CU_ASSERT_EQUAL(vipl_hosts_by_addr(&h, mac, name, 16), 0);
	CU_ASSERT_STRING_EQUAL(name, "node1");
	mac[5] = 4;
	CU_ASSERT_EQUAL(vipl_hosts_by_addr(&h, mac, name, 16), -1);
	mac[5] = 9;
	CU_ASSERT_EQUAL(vipl_hosts_by_addr(&h, mac, name, 16), -1);
	wipe();
}

static void nodes(void)
{
	fresh();
	node("via_lo", "0");
	node("via_enp3s0", "7");
	CU_ASSERT_STRING_EQUAL(resolve("/dev/via_lo"), "via_lo");
	CU_ASSERT_STRING_EQUAL(resolve("/some/where/via_lo"), "via_lo");
	CU_ASSERT_STRING_EQUAL(resolve("via_lo"), "via_lo");
	CU_ASSERT_STRING_EQUAL(resolve("lo"), "via_lo");
	CU_ASSERT_STRING_EQUAL(resolve("enp3s0"), "via_enp3s0");
	/* The node need not exist, but the name must be one. */
	CU_ASSERT_STRING_EQUAL(resolve("via_other"), "via_other");
	CU_ASSERT_STRING_EQUAL(resolve("/dev/"), "none");
	CU_ASSERT_STRING_EQUAL(resolve(""), "none");
	CU_ASSERT_STRING_EQUAL(resolve("a name"), "none");
	CU_ASSERT_STRING_EQUAL(resolve("via_$(reboot)"), "none");
	CU_ASSERT_STRING_EQUAL(resolve(
		"via_0123456789012345678901234567890123456789"
		"01234567890123456789"), "none");
	wipe();
}

static void old_names(void)
{
	fresh();
	node("via_lo", "0");
	node("via_wlan0", "12");
	node("via_enp3s0", "3");
	node("via_enp4s0", "4");
	CU_ASSERT_STRING_EQUAL(resolve("/dev/via_eth0"), "via_enp3s0");
	CU_ASSERT_STRING_EQUAL(resolve("nic1"), "via_enp4s0");
	CU_ASSERT_STRING_EQUAL(resolve("VINIC"), "via_enp3s0");
	CU_ASSERT_STRING_EQUAL(resolve("VINIC2"), "via_wlan0");
	CU_ASSERT_STRING_EQUAL(resolve("/dev/clanvi0"), "via_enp3s0");
	CU_ASSERT_STRING_EQUAL(resolve("nic3"), "none");
	CU_ASSERT_STRING_EQUAL(resolve("via_eth3"), "via_eth3");
	CU_ASSERT_STRING_EQUAL(resolve("nosuch0"), "via_nosuch0");
	CU_ASSERT_STRING_EQUAL(resolve("nic"), "via_nic");
	/* A node of that very name wins over the count. */
	node("via_eth0", "20");
	CU_ASSERT_STRING_EQUAL(resolve("via_eth0"), "via_eth0");
	wipe();
}

static void defaults(void)
{
	fresh();
	node("via_lo", "0");
	node("via_enp3s0", "3");
	node("via_enp4s0", "4");
	setenv("VIPL_NIC", "/dev/via_enp4s0", 1);
	CU_ASSERT_STRING_EQUAL(resolve("nic0"), "via_enp4s0");
	CU_ASSERT_STRING_EQUAL(resolve(""), "via_enp4s0");
	CU_ASSERT_STRING_EQUAL(resolve("default"), "via_enp4s0");
	/* It is a default, not an order. */
	CU_ASSERT_STRING_EQUAL(resolve("via_lo"), "via_lo");
	CU_ASSERT_STRING_EQUAL(resolve("via_enp3s0"), "via_enp3s0");
	unsetenv("VIPL_NIC");
	put("/etc/vipl.conf", "# x\nalias clanvi0 via_enp4s0 # y\nnonsense\n"
			      "alias only\ndefault\tlo\n");
	CU_ASSERT_STRING_EQUAL(resolve("/dev/clanvi0"), "via_enp4s0");
	CU_ASSERT_STRING_EQUAL(resolve("nic0"), "via_lo");
	CU_ASSERT_STRING_EQUAL(resolve(""), "via_lo");
	setenv("VIPL_NIC", "via_enp3s0", 1);
	CU_ASSERT_STRING_EQUAL(resolve(""), "via_enp3s0");
	/* What names nothing is not passed over, nor is there a fallback. */
	setenv("VIPL_NIC", "a name", 1);
	CU_ASSERT_STRING_EQUAL(resolve("nic0"), "none");
	CU_ASSERT_STRING_EQUAL(resolve(""), "none");
	CU_ASSERT_STRING_EQUAL(resolve("via_lo"), "via_lo");
	unsetenv("VIPL_NIC");
	put("/etc/vipl.conf", "default x$y\nfallback via_lo\n");
	CU_ASSERT_STRING_EQUAL(resolve("nic0"), "none");
	CU_ASSERT_STRING_EQUAL(resolve("via_enp4s0"), "via_enp4s0");
	wipe();
}

/* What follows byte 511 of a line is no line of its own. */
static void long_lines(void)
{
	struct vipl_hosts h = {
		.file = "/h",
		.parse = ka_addr_parse,
		.len = KA_MAC_LEN,
		.example = "52:54:00:00:00:01",
	};
	char text[1200];
	uint8_t mac[6];

	fresh();
	node("via_lo", "0");
	memset(text, ' ', sizeof(text));
	text[0] = '#';
	strcpy(text + 511, "default via_no\ndefault via_lo\n");
	put("/etc/vipl.conf", text);
	CU_ASSERT_STRING_EQUAL(resolve(""), "via_lo");
	strcpy(text + 511, "52:54:00:00:00:01 n1\n52:54:00:00:00:02 n1\n");
	put("/h", text);
	CU_ASSERT_EQUAL(vipl_hosts_by_name(&h, "n1", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 2);
	memcpy(mac, "\x52\x54\0\0\0\x01", 6);
	CU_ASSERT_EQUAL(vipl_hosts_by_addr(&h, mac, text, 16), -1);
	wipe();
}

/* "shm:0" for provider shm, and so on. */
static const char *device(const char *name)
{
	static char out[400];
	struct vipl_device d;

	if (vipl_device_resolve(name, &d))
		return "none";
	snprintf(out, sizeof(out), "%s:%s", d.provider, d.rest);
	return out;
}

static void prefixes(void)
{
	char longest[400];

	fresh();
	node("via_lo", "0");
	CU_ASSERT_STRING_EQUAL(device("shm:"), "shm:");
	CU_ASSERT_STRING_EQUAL(device("ofi:tcp/eth0:1"), "ofi:tcp/eth0:1");
	CU_ASSERT_STRING_EQUAL(device("a_0:/dev/x"), "a_0:/dev/x");
	CU_ASSERT_STRING_EQUAL(device("ka:via_eth0"), "ka:via_eth0");
	CU_ASSERT_STRING_EQUAL(device("via_lo"), "ka:via_lo");
	/* A name of a provider is short, and of these letters. */
	CU_ASSERT_STRING_EQUAL(device("../x:0"), "ka:via_x:0");
	CU_ASSERT_STRING_EQUAL(device("Shm/x y:"), "none");
	CU_ASSERT_STRING_EQUAL(device("a234567890123456789012345678901x:"),
			       "a234567890123456789012345678901x:");
	CU_ASSERT_STRING_EQUAL(device("a234567890123456789012345678901xy:"),
			       "ka:via_a234567890123456789012345678901xy:");
	memset(longest, 'x', sizeof(longest));
	longest[3] = ':';
	longest[4 + VIPL_REST_LEN] = '\0';
	CU_ASSERT_STRING_EQUAL(device(longest), "none");
	longest[4 + VIPL_REST_LEN - 1] = '\0';
	CU_ASSERT_STRING_EQUAL(device(longest), longest);
	wipe();
}

static void other_networks(void)
{
	fresh();
	node("via_enp3s0", "3");
	put("/etc/vipl.conf", "alias nic0 shm:a\nalias via_eth0 ofi:tcp\n"
			      "alias x:y shm:b\ndefault shm:c\n");
	CU_ASSERT_STRING_EQUAL(device("nic0"), "shm:a");
	CU_ASSERT_STRING_EQUAL(device("/dev/via_eth0"), "ofi:tcp");
	CU_ASSERT_STRING_EQUAL(device("x:y"), "shm:b");
	CU_ASSERT_STRING_EQUAL(device("x:z"), "x:z");
	/* A '/' of what a provider is to open is no path's. */
	CU_ASSERT_STRING_EQUAL(device("x:z/nic0"), "x:z/nic0");
	CU_ASSERT_STRING_EQUAL(device("nic1"), "shm:c");
	CU_ASSERT_STRING_EQUAL(device("via_enp3s0"), "ka:via_enp3s0");
	setenv("VIPL_NIC", "shm:d", 1);
	CU_ASSERT_STRING_EQUAL(device("nic1"), "shm:d");
	CU_ASSERT_STRING_EQUAL(device("nic0"), "shm:a");
	/* What it names may have another name. */
	setenv("VIPL_NIC", "via_eth0", 1);
	CU_ASSERT_STRING_EQUAL(device(""), "ofi:tcp");
	wipe();
}

static void fallbacks(void)
{
	fresh();
	node("via_lo", "0");
	CU_ASSERT_STRING_EQUAL(device("nic0"), "none");
	CU_ASSERT_STRING_EQUAL(device("via_enp3s0"), "ka:via_enp3s0");
	put("/etc/vipl.conf", "fallback shm:0\n");
	CU_ASSERT_STRING_EQUAL(device("nic0"), "shm:0");
	CU_ASSERT_STRING_EQUAL(device(""), "shm:0");
	CU_ASSERT_STRING_EQUAL(device("via_eth0"), "shm:0");
	CU_ASSERT_STRING_EQUAL(device("via_enp3s0"), "shm:0");
	/* Not for what is there, nor for what was ordered. */
	CU_ASSERT_STRING_EQUAL(device("lo"), "ka:via_lo");
	CU_ASSERT_STRING_EQUAL(device("ka:via_enp3s0"), "ka:via_enp3s0");
	CU_ASSERT_STRING_EQUAL(device("a name"), "none");
	setenv("VIPL_NIC", "via_enp3s0", 1);
	CU_ASSERT_STRING_EQUAL(device("nic0"), "ka:via_enp3s0");
	unsetenv("VIPL_NIC");
	node("via_enp3s0", "3");
	CU_ASSERT_STRING_EQUAL(device("nic0"), "ka:via_enp3s0");
	/* A default that is gone, too. */
	put("/etc/vipl.conf", "default enp4s0\nfallback shm:0\n");
	CU_ASSERT_STRING_EQUAL(device("nic0"), "shm:0");
	put("/etc/vipl.conf", "default enp4s0\nfallback enp5s0\n");
	CU_ASSERT_STRING_EQUAL(device("nic0"), "ka:via_enp4s0");
	wipe();
}

static void two_files(void)
{
	char value[16];

	fresh();
	put("/etc/vipl.conf", "alias a via_lo\nshm.group via\nofi.x 1\n");
	put("/home/me/.config/vipl.conf", "shm.group me # mine\n");
	put("/xdg/vipl.conf", "shm.group x\nalias a shm:a\n");
	setenv("HOME", "/home/me", 1);
	CU_ASSERT_EQUAL(vipl_conf_lookup("shm.group", NULL, value, 16), 0);
	CU_ASSERT_STRING_EQUAL(value, "me");
	CU_ASSERT_EQUAL(vipl_conf_lookup("ofi.x", NULL, value, 16), 0);
	CU_ASSERT_STRING_EQUAL(value, "1");
	CU_ASSERT_EQUAL(vipl_conf_lookup("ofi.y", NULL, value, 16), -1);
	CU_ASSERT_STRING_EQUAL(device("a"), "ka:via_lo");
	setenv("XDG_CONFIG_HOME", "/xdg", 1);
	CU_ASSERT_STRING_EQUAL(device("a"), "shm:a");
	CU_ASSERT_EQUAL(vipl_conf_lookup("shm.group", NULL, value, 16), 0);
	CU_ASSERT_STRING_EQUAL(value, "x");
	/* It has to be absolute, or does not count. */
	setenv("XDG_CONFIG_HOME", "xdg", 1);
	CU_ASSERT_EQUAL(vipl_conf_lookup("shm.group", NULL, value, 16), 0);
	CU_ASSERT_STRING_EQUAL(value, "me");
	wipe();
}

/* The line that a name leaves on standard error. */
static const char *said_of(const char *name)
{
	int fds[2], saved = dup(STDERR_FILENO);
	static char line[512];
	ssize_t n;

	CU_ASSERT_EQUAL_FATAL(pipe(fds), 0);
	CU_ASSERT_EQUAL(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	unsetenv("VIPL_QUIET");
	CU_ASSERT_STRING_EQUAL(resolve(name), "none");
	setenv("VIPL_QUIET", "1", 1);
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = read(fds[0], line, sizeof(line) - 1);
	line[n > 0 ? n : 0] = '\0';
	close(fds[0]);
	return line;
}

static int has(const char *line, const char *words)
{
	if (!strstr(line, words))
		printf("no \"%s\" in: %s", words, line);
	return strstr(line, words) != NULL;
}

/* No NIC by default: what is to be loaded, or attached. */
static void no_default(void)
{
	const char *line;

	fresh();
	line = said_of("default");
	CU_ASSERT(has(line, "vipl: no VI NIC: "));
	CU_ASSERT(has(line, "modules are not installed\n"));
	CU_ASSERT(has(line, "vipl: as root: apt-get install mvia-dkms\n"));
	put("/sys/module/via_ka/x", "");
	line = said_of("default");
	CU_ASSERT(has(line, "no VI NIC on this host\n"));
	CU_ASSERT(has(line, "as root: via dev attach INTERFACE"));
	line = said_of("shm");
	CU_ASSERT(has(line, "give a VI NIC of it: shm:0\n"));
	wipe();
}

/* What each node is, and how one that is missing comes there. */
static void told(void *arg, const char *device, const char *what)
{
	char *all = arg;

	sprintf(all + strlen(all), "%s: %s\n", device, what);
}

static void described(void)
{
	char all[512] = "", line[512];

	fresh();
	put("/sys/module/via_ka/x", "");
	put("/sys/class/via/via_eth0/ifindex", "2147483647\n");
	/* Attached as eth7, renamed since: lo has this index everywhere. */
	put("/sys/class/via/via_eth7/ifindex", "1\n");
	put("/sys/class/via/via_lo/ifindex", "0\n");
	put("/sys/class/via/via_udp0/ifindex", "0\n");
	ka_devices(told, all);
	CU_ASSERT_STRING_EQUAL(all,
			       "via_eth0: kernel agent, interface eth0\n"
			       "via_eth7: kernel agent, interface lo\n"
			       "via_lo: kernel agent, within this host\n"
			       "via_udp0: kernel agent, in UDP/IP\n");
	ka_node_missing("via_udp1", line, sizeof(line));
	CU_ASSERT(has(line, "via dev attach ADDRESS"));
	ka_node_missing("via_udp", line, sizeof(line));
	CU_ASSERT(has(line, "no interface udp"));
	ka_node_missing("via_lo", line, sizeof(line));
	CU_ASSERT(has(line, "as root: modprobe via_lo"));
	wipe();
}

UNIT_MAIN("names",
	  { "what nodes are", described },
	  { "hardware addresses in writing", literals },
	  { "short and full host names", qualified },
	  { "the hosts file, with rubbish in it", hosts_file },
	  { "device names that are nodes", nodes },
	  { "device names of old programs", old_names },
	  { "VIPL_NIC and vipl.conf", defaults },
	  { "long lines", long_lines },
	  { "names that begin with a provider", prefixes },
	  { "old names on other networks", other_networks },
	  { "no NIC by default", no_default },
	  { "fallbacks", fallbacks },
	  { "the user's vipl.conf and the system's", two_files });
