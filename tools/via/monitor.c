// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via monitor: what the kernel tells of VI NICs and of hosts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"

static void stamp(void)
{
	struct timespec now;
	char text[40];
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%06ldZ", now.tv_nsec / 1000);
	json_object(&out);
	json_str(&out, "time", text);
	if (!out.file)
		printf("%s ", text);
}

static void nic_event(struct nlattr **attrs, const char *event)
{
	struct nic nic;

	nic_take(&nic, attrs);
	stamp();
	json_str(&out, "event", event);
	json_str(&out, "nic", nic.name);
	if (*nic.ifname)
		json_str(&out, "ifname", nic.ifname);
	json_str(&out, "address", addr_str(nic.addr.byte, nic.addr.len));
	json_object_end(&out);
	if (out.file)
		return;
	printf("%s ", event);
	put(COLOR_NIC, nic.name);
	printf("%s%s ", *nic.ifname ? " interface " : "", nic.ifname);
	put_address(addr_str(nic.addr.byte, nic.addr.len));
	printf("\n");
}

static void peer_event(struct nlattr **attrs)
{
	static const char * const names[] = {
		[VIA_NL_PEER_UP] = "peer-up",
		[VIA_NL_PEER_DOWN] = "peer-down",
		[VIA_NL_PEER_DENIED] = "peer-denied",
	};
	const struct nlattr *what = attrs[VIA_NL_A_EVENT];
	const struct nlattr *addr = attrs[VIA_NL_A_ADDR];
	uint32_t event = what ? mnl_attr_get_u32(what) : 0;
	const char *name, *text;

	if (!addr || !attrs[VIA_NL_A_NIC])
		return;
	name = event && event <= VIA_NL_PEER_DENIED ? names[event] : "peer-?";
	text = addr_str(mnl_attr_get_payload(addr),
			mnl_attr_get_payload_len(addr));
	stamp();
	json_str(&out, "event", name);
	json_str(&out, "nic", mnl_attr_get_str(attrs[VIA_NL_A_NIC]));
	json_str(&out, "address", text);
	json_object_end(&out);
	if (out.file)
		return;
	put(event == VIA_NL_PEER_UP ? COLOR_GOOD : COLOR_BAD, name);
	printf(" ");
	put(COLOR_NIC, mnl_attr_get_str(attrs[VIA_NL_A_NIC]));
	printf(" ");
	put_address(text);
	printf("\n");
}

static void one(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	(void)arg;
	switch (cmd) {
	case VIA_NL_CMD_NIC_NEW:
		nic_event(attrs, "attached");
		break;
	case VIA_NL_CMD_NIC_DEL:
		nic_event(attrs, "detached");
		break;
	case VIA_NL_CMD_PEER_EVENT:
		peer_event(attrs);
		break;
	}
	fflush(stdout);
}

static void lost(void)
{
	warn_msg(MSG_EVENTS_LOST);
}

static int monitor(struct words *w, bool nics, bool peers)
{
	int ret;

	no_more_words(w);
	nl_need();
	ret = nics ? nl_join(VIA_NL_GROUP_NIC) : 0;
	if (ret)
		die(MSG_EVENTS, strerror(-ret));
	ret = peers ? nl_join(VIA_NL_GROUP_PEER) : 0;
	if (ret && !nics)
		die(MSG_EVENTS_HOSTS, strerror(-ret));
	if (ret)
		warn_msg(MSG_EVENTS_HOSTS, strerror(-ret));
	out.form = JSON_LINES;
	die(MSG_EVENTS, strerror(-nl_events(one, lost, NULL)));
}

static int all(struct words *w)
{
	return monitor(w, true, true);
}

static int dev(struct words *w)
{
	return monitor(w, true, false);
}

static int peer(struct words *w)
{
	return monitor(w, false, true);
}

int do_monitor(struct words *w)
{
	static const struct command list[] = {
		{ "all", all },
		{ "dev", dev },
		{ "peer", peer },
		{ 0 }
	};

	return run_command(list, "kind of event", w);
}
