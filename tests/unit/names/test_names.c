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

#include "../../../vipl/device.h"
#include "../../../vipl/hosts.h"
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
	static char out[VIPL_NODE_LEN];

	return vipl_device_resolve(name, out) ? "none" : out;
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

	CU_ASSERT_EQUAL(vipl_mac_parse("52:54:00:aB:cD:eF", mac), 0);
	CU_ASSERT_EQUAL(memcmp(mac, "\x52\x54\0\xab\xcd\xef", 6), 0);
	CU_ASSERT_EQUAL(vipl_mac_parse("00-11-22-33-44-55", mac), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_NOT_EQUAL(vipl_mac_parse(bad[i], mac), 0);
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
	char name[16];
	uint8_t mac[6];

	fresh();
	put("/h", "# a comment\n\n"
		  "52:54:00:00:00:01 node1 n1 # not n3\n"
		  "rubbish line\n52:54:00:00:00\n"
		  "52:54:00:00:00:02\tnode2.example.org\tn2\r\n"
		  "52:54:00:00:00:03 node1\n"
		  "52:54:00:00:00:04 a-name-that-does-not-fit short\n"
		  "52:54:00:00:00:05 last");
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "n1", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 1);
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "node1", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 1);
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "node1", 1, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 3);
	/* Past the last: the file knows the name, and no host is asked. */
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "node1", 2, mac), -3);
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "node1", ~0ul, mac), -3);
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "node2", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 2);
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "last", 0, mac), 0);
	CU_ASSERT_EQUAL(mac[5], 5);
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "n3", 0, mac), -1);
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/h", "line", 0, mac), -1);
	CU_ASSERT_EQUAL(vipl_hosts_by_name("/none", "n1", 0, mac), -1);

	memcpy(mac, "\x52\x54\0\0\0\x01", 6);
	CU_ASSERT_EQUAL(vipl_hosts_by_addr("/h", mac, name, 16), 0);
	CU_ASSERT_STRING_EQUAL(name, "node1");
	mac[5] = 4;
	CU_ASSERT_EQUAL(vipl_hosts_by_addr("/h", mac, name, 16), -1);
	mac[5] = 9;
	CU_ASSERT_EQUAL(vipl_hosts_by_addr("/h", mac, name, 16), -1);
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
	wipe();
}

UNIT_MAIN("names",
	  { "hardware addresses in writing", literals },
	  { "short and full host names", qualified },
	  { "the hosts file, with rubbish in it", hosts_file },
	  { "device names that are nodes", nodes },
	  { "device names of old programs", old_names },
	  { "VIPL_NIC and vipl.conf", defaults });
