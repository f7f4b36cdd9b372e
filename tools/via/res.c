// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via res: objects of programs, and which program has them. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"
#include "uapi/via.h"

static uint32_t number(struct nlattr **attrs, int which)
{
	return attrs[which] ? mnl_attr_get_u32(attrs[which]) : 0;
}

static uint64_t number64(struct nlattr **attrs, int which)
{
	return attrs[which] ? mnl_attr_get_u64(attrs[which]) : 0;
}

/*
 * A name and its value.  printf() took three quarters of the time for a NIC with
 * thousands of VIs.
 */
static void say(const char *name, const char *value)
{
	putc_unlocked(' ', stdout);
	fputs_unlocked(name, stdout);
	putc_unlocked(' ', stdout);
	fputs_unlocked(value, stdout);
}

static void say_number(const char *name, uint64_t value)
{
	char text[24], *p = text + sizeof(text) - 1;

	*p = 0;
	do {
		*--p = '0' + value % 10;
		value /= 10;
	} while (value);
	say(name, p);
}

/* One number of an object, if the kernel tells it. */
static void tell(struct nlattr **attrs, int which, const char *text,
		 const char *json)
{
	if (!attrs[which])
		return;
	if (out.file)
		json_num(&out, json, number(attrs, which));
	else
		say_number(text, number(attrs, which));
}

static void tell64(struct nlattr **attrs, int which, const char *name)
{
	if (!attrs[which])
		return;
	if (out.file)
		json_num(&out, name, number64(attrs, which));
	else
		say_number(name, number64(attrs, which));
}

static void tell_word(const char *name, const char *word)
{
	if (out.file)
		json_str(&out, name, word);
	else
		say(name, word);
}

static const char *state_name(uint32_t state)
{
	switch (state) {
	case VIA_STATE_IDLE: return "idle";
	case VIA_STATE_PENDING: return "pending";
	case VIA_STATE_CONNECTED: return "connected";
	case VIA_STATE_ERROR: return "error";
	default: return "unknown";
	}
}

static void tell_host(struct nlattr **attrs)
{
	const struct nlattr *a = attrs[VIA_NL_A_REMOTE];
	const char *text;

	if (!a || mnl_attr_get_payload_len(a) > VIA_NL_ADDR_MAX)
		return;
	text = addr_str(mnl_attr_get_payload(a), mnl_attr_get_payload_len(a));
	if (out.file) {
		json_str(&out, "peer", text);
	} else {
		say("peer", "");
		put_address(text);
	}
}

static void tell_state(uint32_t state)
{
	if (out.file) {
		json_str(&out, "state", state_name(state));
	} else {
		say("state", "");
		put(state == VIA_STATE_CONNECTED ? COLOR_GOOD :
		    state == VIA_STATE_ERROR ? COLOR_BAD : COLOR_NONE,
		    state_name(state));
	}
}

/*
 * Any bytes: a program, or another host, has chosen them.  Digits for JSON, and
 * for a terminal, unless they are all to be seen there and end no quotation.
 */
static void tell_disc(struct nlattr **attrs, int which, const char *name)
{
	char text[2 * VIA_DISC_MAX + 3];
	const uint8_t *byte;
	bool plain = !out.file;
	unsigned int i, n;

	if (!attrs[which])
		return;
	byte = mnl_attr_get_payload(attrs[which]);
	n = mnl_attr_get_payload_len(attrs[which]);
	if (n > VIA_DISC_MAX)
		n = VIA_DISC_MAX;
	for (i = 0; i < n; i++)
		plain = plain && byte[i] >= ' ' && byte[i] <= '~' &&
			byte[i] != '"' && byte[i] != '\\';
	if (plain) {
		snprintf(text, sizeof(text), "\"%.*s\"", (int)n,
			 (const char *)byte);
	} else {
		strcpy(text, out.file ? "" : "0x");
		for (i = 0; i < n; i++)
			sprintf(text + strlen(text), "%02x", byte[i]);
	}
	tell_word(name, text);
}

/* A program may have given itself a name that moves a cursor. */
static const char *comm_str(const struct nlattr *attr)
{
	static char text[64];

	strncpy(text, mnl_attr_get_str(attr), sizeof(text) - 1);
	for (char *c = text; *c && !out.file; c++)
		if (!isgraph((unsigned char)*c))
			*c = '?';
	return text;
}

static void tell_owner(struct nlattr **attrs)
{
	tell(attrs, VIA_NL_A_UID, "uid", "uid");
	tell(attrs, VIA_NL_A_PID, "pid", "pid");
	if (attrs[VIA_NL_A_COMM])
		tell_word("comm", comm_str(attrs[VIA_NL_A_COMM]));
}

static const char *level_name(uint32_t level)
{
	switch (level) {
	case VIA_UNRELIABLE: return "unreliable";
	case VIA_RELIABLE_DELIVERY: return "delivery";
	case VIA_RELIABLE_RECEPTION: return "reception";
	default: return "unknown";
	}
}

static const char *rights_name(uint32_t rights)
{
	switch (rights & (VIA_RDMA_WRITE | VIA_RDMA_READ)) {
	case VIA_RDMA_WRITE: return "write";
	case VIA_RDMA_READ: return "read";
	case VIA_RDMA_WRITE | VIA_RDMA_READ: return "write,read";
	default: return "none";
	}
}

static const char *conn_name(uint32_t kind)
{
	switch (kind) {
	case VIA_NL_CONN_WAIT: return "waiting";
	case VIA_NL_CONN_REQUEST: return "request";
	case VIA_NL_CONN_PENDING: return "pending";
	case VIA_NL_CONN_PEER: return "peer-to-peer";
	case VIA_NL_CONN_CONNECTED: return "connected";
	case VIA_NL_CONN_LISTEN: return "listening";
	default: return "unknown";
	}
}

static void tell_vi(struct nlattr **attrs)
{
	tell(attrs, VIA_NL_A_VI, "vi", "vi");
	tell_state(number(attrs, VIA_NL_A_STATE));
	tell_word("level", level_name(number(attrs, VIA_NL_A_LEVEL)));
	tell_host(attrs);
	tell(attrs, VIA_NL_A_SEND_POSTED, "send", "send_posted");
	tell(attrs, VIA_NL_A_SEND_IN_FLIGHT, "in-flight", "send_in_flight");
	tell(attrs, VIA_NL_A_RECV_POSTED, "recv", "recv_posted");
	tell(attrs, VIA_NL_A_SEND_CQ, "send-cq", "send_cq");
	tell(attrs, VIA_NL_A_RECV_CQ, "recv-cq", "recv_cq");
	tell(attrs, VIA_NL_A_PTAG, "ptag", "ptag");
}

static void tell_mr(struct nlattr **attrs)
{
	tell(attrs, VIA_NL_A_MR, "mr", "mr");
	tell64(attrs, VIA_NL_A_LENGTH, "length");
	tell(attrs, VIA_NL_A_PAGES, "pages", "pages");
	tell_word("rights", rights_name(number(attrs, VIA_NL_A_RIGHTS)));
	tell(attrs, VIA_NL_A_PTAG, "ptag", "ptag");
}

static void tell_cq(struct nlattr **attrs)
{
	tell(attrs, VIA_NL_A_CQ, "cq", "cq");
	tell(attrs, VIA_NL_A_ENTRIES, "entries", "entries");
	tell(attrs, VIA_NL_A_USED, "used", "used");
	tell(attrs, VIA_NL_A_QUEUES, "queues", "queues");
}

static void tell_conn(struct nlattr **attrs)
{
	tell_word("state", conn_name(number(attrs, VIA_NL_A_CONN)));
	tell(attrs, VIA_NL_A_VI, "vi", "vi");
	tell_disc(attrs, VIA_NL_A_LOCAL_DISC, "local");
	tell_host(attrs);
	tell_disc(attrs, VIA_NL_A_REMOTE_DISC, "remote");
	tell(attrs, VIA_NL_A_ENTRIES, "backlog", "backlog");
	tell(attrs, VIA_NL_A_USED, "kept", "kept");
}

static const struct kind {
	const char	*name;
	uint8_t		cmd;
	void		(*tell)(struct nlattr **attrs);
} kinds[] = {
	{ "vi", VIA_NL_CMD_RES_VI, tell_vi },
	{ "mr", VIA_NL_CMD_RES_MR, tell_mr },
	{ "cq", VIA_NL_CMD_RES_CQ, tell_cq },
	{ "conn", VIA_NL_CMD_RES_CONN, tell_conn },
	{ 0 }
};

static void show_one(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	const struct kind *k = arg;
	const char *nic = attrs[VIA_NL_A_NIC] ?
			  mnl_attr_get_str(attrs[VIA_NL_A_NIC]) : "?";

	if (cmd != k->cmd)
		return;
	json_object(&out);
	if (out.file) {
		json_str(&out, "res", k->name);
		json_str(&out, "nic", nic);
	} else {
		fputs_unlocked(k->name, stdout);
		putc_unlocked(' ', stdout);
		put(COLOR_NIC, nic);
	}
	tell64(attrs, VIA_NL_A_HANDLE, "handle");
	k->tell(attrs);
	tell_owner(attrs);
	if (k->tell == tell_vi)
		stats_show(nic, number(attrs, VIA_NL_A_VI));
	json_object_end(&out);
	if (!out.file)
		putc_unlocked('\n', stdout);
}

/* All of one kind, or (NULL) of each. */
static int show(const char *name, struct words *w)
{
	const char *what = next_word(w);
	const struct kind *k;
	struct nlmsghdr *nlh;
	struct nic nic;
	int ret = 0;

	no_more_words(w);
	nl_need();
	if (what)
		nic_need(what, &nic);
	if (!name || !strcmp(name, "vi"))
		stats_read(what ? nic.name : NULL, true);
	json_begin(&out);
	for (k = kinds; k->name && !ret; k++) {
		if (name && strcmp(name, k->name))
			continue;
		nlh = nl_message(k->cmd, NLM_F_DUMP);
		if (what)
			mnl_attr_put_strz(nlh, VIA_NL_A_NIC, nic.name);
		ret = nl_call(nlh, show_one, (void *)k);
	}
	json_end(&out);
	if (ret == -EOPNOTSUPP)
		die(MSG_VIA_OLD_AGENT);
	if (ret)
		die(MSG_VIA_OBJECTS, nl_error(ret));
	return DONE;
}

static int show_all(struct words *w)
{
	return show(NULL, w);
}

static int show_vi(struct words *w)
{
	return show("vi", w);
}

static int show_mr(struct words *w)
{
	return show("mr", w);
}

static int show_cq(struct words *w)
{
	return show("cq", w);
}

static int show_conn(struct words *w)
{
	return show("conn", w);
}

int do_res(struct words *w)
{
	static const struct command list[] = {
		{ "all", show_all },
		{ "vi", show_vi },
		{ "mr", show_mr },
		{ "cq", show_cq },
		{ "conn", show_conn },
		{ 0 }
	};

	return run_command(list, "kind of object", w);
}
