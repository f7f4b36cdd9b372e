/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_VIA_MESSAGES_H
#define TOOLS_VIA_MESSAGES_H

/*
 * Messages of via(8). As those of vipl/messages.h: the fault and, after a
 * newline, one remedy; each line fits 80 columns with "via: " before it
 * (tests/said/messages.py), and docs/reference/errors.md has all of them. A
 * "%s" at the end of a fault is a reason of at most 44 columns, of the kernel.
 * "via help" follows a MSG_USAGE_, file and line precede a MSG_LINE_.
 */
#include "../../vipl/messages.h"

/* Command lines */
#define MSG_SEE_HELP		"see via help"
#define MSG_USAGE_MISSING	"%s is missing"
#define MSG_USAGE_WORD		"unexpected word '%.48s'"
#define MSG_USAGE_MANY		"'%.32s' may be more than one %s\nmatches: %s"
#define MSG_USAGE_NONE		"'%.32s' is no %s\nknown: %s"
#define MSG_USAGE_NO_CARD	"'%.48s' is no card"
#define MSG_USAGE_SAME_CARD	"'%.48s' is the same card"
#define MSG_USAGE_LIMIT		"%.24s %.24s: a limit is a number"
#define MSG_USAGE_IP		"'%.48s' is no address of IPv4 or IPv6"
#define MSG_USAGE_SHAPE		"'%.48s' is no shape\ngive tcp or udp"
#define MSG_USAGE_PORT		"'%.48s' is no port\ngive a number from 1 to 65535"
#define MSG_USAGE_LONG		"a name that is too long"
#define MSG_USAGE_HOST		"'%.48s' is no address\n" \
				"such as 52:54:00:00:00:01, 192.0.2.1 or 2001:db8::/32"
#define MSG_USAGE_HOSTS		"the hosts are missing: addresses, or all"
#define MSG_USAGE_COLOR		"-c takes always, auto or never, not '%.24s'"
#define MSG_USAGE_SAVE		"via save prints a file, not JSON\n" \
				"for JSON: via -j dev, via -j peer or via -j limit"

/* The kernel agent */
#define MSG_VIA_MEMORY		"out of memory"
#define MSG_VIA_OLD_AGENT	"the loaded kernel agent is older than this program\n" \
				MSG_TOOLS_RELEASE
#define MSG_VIA_NETLINK		"no netlink socket: %s"
#define MSG_VIA_FAMILY		"no netlink family: %s"
#define MSG_VIA_DENIED		"%s\nrun the command as root"
#define MSG_VIA_WRITE		"cannot write: %s"

/* VI NICs */
#define MSG_VIA_LIST		"cannot list the VI NICs: %s"
#define MSG_VIA_SHOW		"cannot show %s: %s"
#define MSG_VIA_NO_NIC		"no VI NIC %.24s in this network namespace\n" \
				"via dev lists those that it has"
#define MSG_VIA_NOT_ATTACHED	"no VI NIC %.24s in this network namespace\n" \
				"as root: via dev attach %.24s"
#define MSG_VIA_ATTACH		"cannot attach %s: %s"
#define MSG_VIA_ATTACHED	"cannot attach %s: %s\n" \
				"its VI NIC is %s"
#define MSG_VIA_NO_MODULE	"cannot attach %s: module %s is missing\n" \
				MSG_AS_ROOT_MODULES
#define MSG_VIA_LOAD_MODULE	"cannot attach %s: module %s is not loaded\n" \
				"as root: modprobe %s"
#define MSG_VIA_NO_INTERFACE	"cannot attach %s: no such interface here\n" \
				"ip link lists those of this network namespace"
#define MSG_VIA_NO_DEV		"cannot attach %s: no interface %s here\n" \
				"ip link lists those of this network namespace"
#define MSG_VIA_NEAR		"%s: only hosts of its subnets may use it\n" \
				"for others, as root: via peer allow DEV HOST"
#define MSG_VIA_DETACH		"cannot detach %s: %s"

/* Hosts and their keys */
#define MSG_VIA_HOSTS		"hosts of %s: %s"
#define MSG_VIA_HOSTS_CHANGED	"a list of hosts changed while it was read\n" \
				"try again: hosts may be missing, or there twice"
#define MSG_VIA_HOSTS_SET	"hosts of %s unchanged: %s"
#define MSG_VIA_HOSTS_ONLY	"%s has a list of hosts now: no others may use it\n" \
				"to end the list, as root: via peer allow %s all"
#define MSG_VIA_FILE		"%s: %s"
#define MSG_VIA_KEY_OPEN	"%s: other users may read this key\n" \
				"chmod 600 %s"
#define MSG_VIA_KEY_BAD		"%s: no key: %d hexadecimal digits\n" \
				"make one: umask 077; via peer genkey >FILE"
#define MSG_VIA_KEY_SHOWN	"the key is on a terminal\n" \
				"keep one in a file: umask 077; via peer genkey >FILE"
#define MSG_VIA_RANDOM		"no random numbers: %s"

/* Limits */
#define MSG_VIA_LIMITS		"cannot show the limits: %s"
#define MSG_VIA_NO_LIMIT	"no limit '%.32s'\n" \
				"via limit lists those that there are"
#define MSG_VIA_LIMIT		"cannot set limit %s: %s"

/* Verbs devices */
#define MSG_VERBS_MAKE		"no verbs device of %s: %s"
#define MSG_VERBS_NAME		"another RDMA device has its name"
#define MSG_VERBS_NO_MODULE	"no verbs device of %s: module via_rdma is missing\n" \
				"as root: apt-get install mvia-dkms; needs CONFIG_INFINIBAND"
#define MSG_VERBS_LOAD		"no verbs device of %s: via_rdma is not loaded\n" \
				"as root: modprobe via_rdma"
#define MSG_VERBS_INTERFACE	"no verbs device of %s: no interface has its address\n" \
				"give one, as root: ip address add ADDRESS dev INTERFACE"
#define MSG_VERBS_OTHER		"no verbs device of %s: %s has one, of another VI NIC\n" \
				"remove it, as root: rdma link delete DEVICE"
#define MSG_VERBS_REMOVE	"cannot remove %s: %s"

/* Drivers, self-tests, events, objects, via top */
#define MSG_VIA_BIND		"cannot run via-bind: %s"
#define MSG_VIA_BIND_SAYS	"cannot read the line of via-bind: %.40s\n" \
				"as root: install mvia-tools again"
#define MSG_VIA_PIPE		"no pipe: %s"
#define MSG_VIA_SOCKET		"no socket: %s"
#define MSG_TEST_NONE		"the driver of %s has no tests of its card\n" \
				"viaping tests the path to another host"
#define MSG_TEST_CARD		"cannot test %s: %s"
#define MSG_TEST_FRAMES		"cannot send on %s: %s"
#define MSG_TEST_PING		"cannot run viaping: %s"
#define MSG_EVENTS		"cannot wait for events: %s"
#define MSG_EVENTS_HOSTS	"no events of hosts: %s"
#define MSG_EVENTS_LOST		"some events are lost: there were too many"
#define MSG_VIA_OBJECTS		"cannot show objects: %s"
#define MSG_TOP_BUILT		"built without ncurses\n" \
				"as root: apt-get install libncurses-dev; then build again"
#define MSG_TOP_TERMINAL	"via top needs a terminal\n" \
				"via stat -i 1 prints lines"
#define MSG_TOP_TYPE		"the terminal's type is unknown: TERM=%.40s\n" \
				"as root: apt-get install ncurses-term"

/* Files of /etc/mvia */
#define MSG_CONF_LINE		"%s:%d: %s"
#define MSG_CONF_ABSENT		"%s:%d: no interface %s here: left out"
#define MSG_CONF_NOT_YET	"%s is no VI NIC yet"
#define MSG_LINE_ALLOW		"allow is all, none, ADDRESS or ADDRESS key FILE"
#define MSG_LINE_HOSTS		"too many hosts"
#define MSG_LINE_KEY		"the key cannot be read"
#define MSG_LINE_LIMIT		"a limit is a number"
#define MSG_LINE_LIMITS		"too many limits"
#define MSG_LINE_NO_LIMIT	"no such limit\nknown: "
#define MSG_LINE_RDMA		"rdma is \"yes\" or \"no\""
#define MSG_LINE_INTERFACE	"not the name of an interface"
#define MSG_LINE_SETTING_ADDR	"no such setting: allow, dev, port, rdma, shape"
#define MSG_LINE_SETTING	"no such setting: allow, driver, rdma"
#define MSG_LINE_SHAPE		"not a shape: tcp, udp"
#define MSG_LINE_PORT		"not a port"
#define MSG_LINE_EQUALS		"not NAME = VALUE, nor [SECTION]"
#define MSG_LINE_DRIVER		"driver is \"native\" or \"via_netdev\""
#define MSG_LINE_BRACKET	"no \"]\" at the end"
#define MSG_LINE_IP		"not an address of IPv4 or IPv6"
#define MSG_LINE_SECTION	"no such section\n" \
				"known: [interface NAME], [address ADDRESS], [limits]"
#define MSG_LINE_FIRST		"a setting before the first [SECTION]"
#define MSG_LINE_ALL		"\"allow = all\" beside others"

/* via save */
#define MSG_SAVE_LIMITS		"cannot read the limits: %s"
#define MSG_SAVE_KEY		"%s: the kernel keeps the key of %s\n" \
				"put the key into /etc/mvia/%s"
#define MSG_SAVE_CHANGED	"the list of %s changed while it was read\n" \
				"try again"
#define MSG_SAVE_LEFT_OUT	"%s is left out: its interface is not here\n" \
				"run via save in that network namespace"

#endif /* TOOLS_VIA_MESSAGES_H */
