// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * via selftest: what a person with a card runs first, and a report to send in.
 *
 * The card's own tests are its driver's (ETHTOOL_TEST).  With another interface
 * of this host frames go both ways between the two, through packet sockets:
 * the host would give IP packets for an address of its own to itself.
 * VIA is viaping's.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"

#define FRAMES		200
#define CARRIER_MS	15000		/* a partner may take some seconds */
#define FRAME_MS	2000
#define PINGS		"20"

enum verdict { PASSED, FAILED, NOT_RUN };

static unsigned int count[3];

static void tell(const char *test, enum verdict v, const char *why)
{
	static const char *const word[] = { "passed", "failed", "not run" };
	char name[64], text[96];
	size_t i;

	count[v]++;
	snprintf(text, sizeof(text), "%s%s%s", word[v], why ? ": " : "",
		 why ? why : "");
	for (i = 0; test[i] && i < sizeof(name) - 1; i++)
		name[i] = isalnum((unsigned char)test[i]) ?
			  tolower((unsigned char)test[i]) : '_';
	name[i] = '\0';
	json_str(&out, name, text);
	if (!out.file) {
		printf("    %-24s %s\n", test, text);
		fflush(stdout);
	}
}

/* What is known of the card. */

/* A file of the interface in sysfs, "" if it is not there. */
static const char *sysfs(const char *ifname, const char *file, char *buf,
			 size_t size)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", ifname, file);
	f = fopen(path, "re");
	if (!f || !fgets(buf, size, f))
		buf[0] = '\0';
	if (f)
		fclose(f);
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

/* "8086:100e", of "device" and "vendor" with this before them. */
static void pci_id(const char *ifname, const char *which, char *id)
{
	char file[64], text[32];
	unsigned long vendor, device;

	snprintf(file, sizeof(file), "device/%svendor", which);
	vendor = strtoul(sysfs(ifname, file, text, sizeof(text)), NULL, 16);
	snprintf(file, sizeof(file), "device/%sdevice", which);
	device = strtoul(sysfs(ifname, file, text, sizeof(text)), NULL, 16);
	sprintf(id, "%04x:%04x", (unsigned int)vendor & 0xffff,
		(unsigned int)device & 0xffff);
}

static int ethtool(int fd, const char *ifname, void *request)
{
	struct ifreq ifr = { .ifr_data = request };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%.15s", ifname);
	return ioctl(fd, SIOCETHTOOL, &ifr) ? -errno : 0;
}

static void tell_card(int fd, const char *ifname)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	char id[16], sub[16], revision[32];
	struct utsname host;

	ethtool(fd, ifname, &info);
	pci_id(ifname, "", id);
	pci_id(ifname, "subsystem_", sub);
	sysfs(ifname, "device/revision", revision, sizeof(revision));
	uname(&host);
	json_str(&out, "ifname", ifname);
	json_str(&out, "id", id);
	json_str(&out, "subsystem", sub);
	json_str(&out, "revision", revision);
	json_str(&out, "pci", info.bus_info);
	json_str(&out, "driver", info.driver);
	json_str(&out, "driver_version", info.version);
	json_str(&out, "eeprom", info.fw_version);
	json_str(&out, "kernel", host.release);
	json_str(&out, "machine", host.machine);
	if (out.file)
		return;
	printf("%s: %s, subsystem %s, revision %s, at %s\n"
	       "    driver %s %s, EEPROM %s, Linux %s, %s\n", ifname, id, sub,
	       *revision ? revision : "unknown", info.bus_info, info.driver,
	       info.version, *info.fw_version ? info.fw_version : "unknown",
	       host.release, host.machine);
}

/* The driver's tests. */

static unsigned int test_count(int fd, const char *ifname)
{
	struct ethtool_sset_info *r = xcalloc(1, sizeof(*r) +
						 sizeof(r->data[0]));
	unsigned int n = 0;

	r->cmd = ETHTOOL_GSSET_INFO;
	r->sset_mask = 1ULL << ETH_SS_TEST;
	if (!ethtool(fd, ifname, r) && r->sset_mask)
		n = r->data[0];
	free(r);
	return n;
}

/* What drivers of ours mean by an error (devices/native/selftest.c). */
static const struct {
	int value;
	const char *text;
} meanings[] = {
	{ EBADMSG, "a frame came back with other bytes" },
	{ EIO, "a frame came back and no interrupt" },
	{ EISNAM, "an interrupt came while they were masked" },
	{ ENETDOWN, "the interface is down" },
	{ ENOBUFS, "the transmit ring is full and does not drain" },
	{ ENOLINK, "no carrier" },
	{ ENOSPC, "the transmit ring takes frames without end" },
	{ EOVERFLOW, "more interrupts than the time between two allows" },
	{ ERANGE, "an address is out of the chip's reach" },
	{ ETIMEDOUT, "a frame did not come back, or twice" },
};

static const char *why_not(const char *driver, uint64_t value, char *buf,
			   size_t size)
{
	unsigned int i;

	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (!strncmp(driver, "via_", 4) &&
		    value == (uint64_t)meanings[i].value)
			return meanings[i].text;
	if (value && value < 4096)
		snprintf(buf, size, "%s", strerror(value));
	else
		snprintf(buf, size, "code %llu", (unsigned long long)value);
	return buf;
}

static void own_tests(int fd, const char *ifname, unsigned int n)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	unsigned int i;
	struct ethtool_gstrings *names;
	struct ethtool_test *test;
	char name[ETH_GSTRING_LEN + 1], why[64];
	int ret;

	names = xcalloc(1, sizeof(*names) + n * ETH_GSTRING_LEN);
	test = xcalloc(1, sizeof(*test) + n * sizeof(test->data[0]));
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_TEST;
	names->len = n;
	test->cmd = ETHTOOL_TEST;
	test->flags = ETH_TEST_FL_OFFLINE;
	test->len = n;
	ret = ethtool(fd, ifname, names);
	if (!ret)
		ret = ethtool(fd, ifname, &info);
	if (!ret)
		ret = ethtool(fd, ifname, test);
	if (ret)
		die(MSG_TEST_CARD, ifname, strerror(-ret));
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%.*s", ETH_GSTRING_LEN,
			 (char *)names->data + i * ETH_GSTRING_LEN);
		if (!test->data[i])
			tell(name, PASSED, NULL);
		else if (test->data[i] == ECANCELED)
			tell(name, NOT_RUN, NULL);
		else
			tell(name, FAILED,
			     why_not(info.driver, test->data[i], why,
				     sizeof(why)));
	}
	/* A driver may tell it apart from the numbers. */
	if (test->flags & ETH_TEST_FL_FAILED && !count[FAILED])
		tell("driver", FAILED, NULL);
	free(names);
	free(test);
}

/* Between two ports. */

/* The test has the wire negotiated anew. */
static bool carrier(const char *ifname)
{
	char text[8];
	int ms;

	for (ms = 0; ms < CARRIER_MS; ms += 100) {
		if (!strcmp(sysfs(ifname, "carrier", text, sizeof(text)), "1"))
			return true;
		usleep(100000);
	}
	return false;
}

struct port {
	const char *ifname;
	int fd;
	struct sockaddr_ll addr;
	unsigned char mac[ETH_ALEN];
};

/* A packet socket for frames of a kind that means nothing to others. */
static int port_open(struct port *p, const char *ifname)
{
	struct ifreq ifr = { 0 };
	int err;

	p->ifname = ifname;
	p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%.15s", ifname);
	p->addr = (struct sockaddr_ll){
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETHERTYPE_LOOPBACK),
		.sll_ifindex = if_nametoindex(ifname),
	};
	if (!ioctl(p->fd, SIOCGIFHWADDR, &ifr) &&
	    !bind(p->fd, (struct sockaddr *)&p->addr, sizeof(p->addr))) {
		memcpy(p->mac, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
		return 0;
	}
	err = -errno;
	close(p->fd);
	return err;
}

static size_t make_frame(const struct port *from, const struct port *to,
			 unsigned int number, unsigned char *frame)
{
	size_t len = ETH_ZLEN + number * 97 % (ETH_FRAME_LEN - ETH_ZLEN + 1);
	size_t i;

	memcpy(frame, to->mac, ETH_ALEN);
	memcpy(frame + ETH_ALEN, from->mac, ETH_ALEN);
	frame[12] = ETHERTYPE_LOOPBACK >> 8;
	frame[13] = ETHERTYPE_LOOPBACK & 0xff;
	for (i = ETH_HLEN; i < len; i++)
		frame[i] = number + 7 * i;
	return len;
}

/* One by one; a frame of another sender is passed over. */
static bool send_frames(const struct port *from, const struct port *to,
			char *why, size_t size)
{
	unsigned char frame[ETH_FRAME_LEN], got[ETH_FRAME_LEN + 4];
	struct pollfd wait = { .fd = to->fd, .events = POLLIN };
	unsigned int i;
	ssize_t n;

	for (i = 0; i < FRAMES; i++) {
		size_t len = make_frame(from, to, i, frame);

		if (send(from->fd, frame, len, 0) != (ssize_t)len) {
			snprintf(why, size, "cannot send: %s", strerror(errno));
			return false;
		}
		do {
			if (poll(&wait, 1, FRAME_MS) <= 0) {
				snprintf(why, size, "frame %u of %u was lost",
					 i + 1, FRAMES);
				return false;
			}
			n = recv(to->fd, got, sizeof(got), MSG_TRUNC);
		} while (n < ETH_HLEN ||
			 memcmp(got + ETH_ALEN, from->mac, ETH_ALEN));
		if ((size_t)n != len || memcmp(got, frame, len)) {
			snprintf(why, size, "frame %u of %u is damaged", i + 1,
				 FRAMES);
			return false;
		}
	}
	return true;
}

static void frames_between(const char *one, const char *two)
{
	char name[64], why[64];
	struct port a, b;
	int err;

	err = port_open(&a, one);
	if (err)
		die(MSG_TEST_FRAMES, one, strerror(-err));
	err = port_open(&b, two);
	if (err)
		die(MSG_TEST_FRAMES, two, strerror(-err));
	snprintf(name, sizeof(name), "frames to %s", two);
	if (send_frames(&a, &b, why, sizeof(why)))
		tell(name, PASSED, NULL);
	else
		tell(name, FAILED, why);
	snprintf(name, sizeof(name), "frames from %s", two);
	if (send_frames(&b, &a, why, sizeof(why)))
		tell(name, PASSED, NULL);
	else
		tell(name, FAILED, why);
	close(a.fd);
	close(b.fd);
}

/* viaping, beside this program or in the path.  It says nothing here. */
static pid_t ping_start(const char *const *argv)
{
	char path[PATH_MAX];
	char *slash;
	pid_t pid;
	ssize_t n;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die(MSG_TEST_PING, strerror(errno));
	if (pid)
		return pid;
	if (!freopen("/dev/null", "w", stdout))
		_exit(REFUSED);
	n = readlink("/proc/self/exe", path, sizeof(path) - 16);
	if (n > 0) {
		path[n] = '\0';
		slash = strrchr(path, '/');
		strcpy(slash ? slash + 1 : path, "viaping");
		execv(path, (char *const *)argv);
	}
	execvp("viaping", (char *const *)argv);
	warn_msg(MSG_TEST_PING, strerror(errno));
	_exit(REFUSED);
}

static bool ping_passed(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Messages to a host that answers them. */
static void via_to(const char *nic, const char *host)
{
	const char *argv[] = { "viaping", "-d", nic, "-c", PINGS, "-i", "0.01",
			       "-s", "1400", host, NULL };
	char name[128];

	snprintf(name, sizeof(name), "VIA to %s", host);
	if (ping_passed(ping_start(argv)))
		tell(name, PASSED, NULL);
	else
		tell(name, FAILED, "viaping had no answer");
}

/* The VI NIC of an interface; false: it has none, which is told. */
static bool nic_of(const char *ifname, struct nic *nic)
{
	if (nic_find(ifname, nic))
		return true;
	tell("VIA", NOT_RUN, "no VI NIC: see via dev attach");
	return false;
}

static void via_between(const char *one, const char *two)
{
	const char *argv[] = { "viaping", "-l", "-d", NULL, NULL };
	struct nic a, b;
	pid_t server;

	if (!nic_of(one, &a) || !nic_of(two, &b))
		return;
	argv[3] = b.name;
	server = ping_start(argv);
	usleep(300000);
	via_to(a.name, addr_str(b.addr.byte, b.addr.len));
	kill(server, SIGTERM);
	ping_passed(server);
}

static void with_other(const char *ifname, const char *other)
{
	struct nic nic;

	if (!carrier(ifname)) {
		tell("frames and VIA", FAILED, "there is no carrier");
		return;
	}
	if (!if_nametoindex(other)) {
		if (nic_of(ifname, &nic))
			via_to(nic.name, other);
		return;
	}
	if (!carrier(other)) {
		tell("frames and VIA", FAILED,
		     "there is no carrier on the other one");
		return;
	}
	frames_between(ifname, other);
	via_between(ifname, other);
}

int do_selftest(struct words *w)
{
	const char *what = need_word(w, "the card, by interface or VI NIC");
	const char *other = next_word(w), *ifname = what;
	struct nic nic, peer;
	unsigned int tests;
	int fd;

	no_more_words(w);
	if (!if_nametoindex(what)) {
		nic_need(what, &nic);
		ifname = nic.ifname;
	}
	if (other && !strcmp(other, ifname))
		usage_error(MSG_USAGE_SAME_CARD, other);
	/* Here, and not in the middle of a report, if there is no agent. */
	if (other && nic_find(other, &peer) && *peer.ifname)
		other = peer.ifname;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die(MSG_VIA_SOCKET, strerror(errno));
	tests = test_count(fd, ifname);
	if (!tests)
		die(MSG_TEST_NONE, ifname);
	json_begin(&out);
	json_object(&out);
	tell_card(fd, ifname);
	own_tests(fd, ifname, tests);
	close(fd);
	if (other)
		with_other(ifname, other);
	json_num(&out, "passed", count[PASSED]);
	json_num(&out, "failed", count[FAILED]);
	json_num(&out, "not_run", count[NOT_RUN]);
	json_object_end(&out);
	json_end(&out);
	if (!out.file)
		printf("%u passed, %u failed, %u not run\n", count[PASSED],
		       count[FAILED], count[NOT_RUN]);
	return count[FAILED] ? REFUSED : DONE;
}
