// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via dev: VI NICs, attaching interfaces. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/msg.h"
#include "out.h"
#include "via.h"
#include "uapi/via.h"

const char *addr_str(const void *addr, unsigned int len)
{
	static char s[3 * VIA_NL_ADDR_MAX + 1];
	const unsigned char *byte = addr;

	*s = '\0';
	for (unsigned int i = 0; i < len && i < VIA_NL_ADDR_MAX; i++)
		sprintf(s + strlen(s), "%s%02x", i ? ":" : "", byte[i]);
	return s;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool parse_addr(const char *text, struct addr *a)
{
	for (a->len = 0; a->len < VIA_NL_ADDR_MAX; text += 3) {
		int high = digit(text[0]);
		int low = high < 0 ? -1 : digit(text[1]);

		if (low < 0)
			return false;
		a->byte[a->len++] = high << 4 | low;
		if (!text[2])
			return a->len > 1;
		if (text[2] != ':')
			return false;
	}
	return false;
}

static void take_str(char *to, size_t size, const struct nlattr *attr)
{
	snprintf(to, size, "%s", attr ? mnl_attr_get_str(attr) : "");
}

static uint32_t take_u32(const struct nlattr *attr)
{
	return attr ? mnl_attr_get_u32(attr) : 0;
}

void nic_take(struct nic *nic, struct nlattr **attrs)
{
	const struct nlattr *addr = attrs[VIA_NL_A_ADDR];

	memset(nic, 0, sizeof(*nic));
	take_str(nic->name, sizeof(nic->name), attrs[VIA_NL_A_NIC]);
	take_str(nic->driver, sizeof(nic->driver), attrs[VIA_NL_A_DRIVER]);
	nic->ifindex = take_u32(attrs[VIA_NL_A_IFINDEX]);
	nic->type = take_u32(attrs[VIA_NL_A_TYPE]);
	nic->mtu = take_u32(attrs[VIA_NL_A_MTU]);
	nic->vis = take_u32(attrs[VIA_NL_A_VIS]);
	nic->listed = attrs[VIA_NL_A_LISTED];
	nic->peers = take_u32(attrs[VIA_NL_A_LISTED]);
	if (addr && mnl_attr_get_payload_len(addr) <= VIA_NL_ADDR_MAX) {
		nic->addr.len = mnl_attr_get_payload_len(addr);
		memcpy(nic->addr.byte, mnl_attr_get_payload(addr),
		       nic->addr.len);
	}
	if (nic->ifindex && !if_indextoname(nic->ifindex, nic->ifname))
		nic->ifname[0] = '\0';
}

struct search {
	const char	*what;
	struct nic	*nic;
	bool		found;
};

static void match(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	struct search *s = arg;
	struct nic nic;

	(void)cmd;
	nic_take(&nic, attrs);
	/* An interface may be called as the NIC of another one: it comes first. */
	if (!strcmp(nic.ifname, s->what) ||
	    (!s->found && !strcmp(nic.name, s->what))) {
		*s->nic = nic;
		s->found = true;
	}
}

bool nic_find(const char *what, struct nic *nic)
{
	const char *slash = strrchr(what, '/');
	struct search s = { slash ? slash + 1 : what, nic, false };
	int ret;

	nl_need();
	ret = nl_call(nl_message(VIA_NL_CMD_NIC_GET, NLM_F_DUMP), match, &s);
	if (ret)
		die("cannot list the VI NICs: %s", nl_error(ret));
	return s.found;
}

void nic_need(const char *what, struct nic *nic)
{
	if (!nic_find(what, nic))
		die("there is no VI NIC %s in this network namespace%s", what,
		    if_nametoindex(what) ? ": via dev attach makes one" : "");
}

static void show_json(const struct nic *nic)
{
	out_object();
	out_str("nic", nic->name);
	if (nic->ifindex) {
		out_str("ifname", nic->ifname);
		out_num("ifindex", nic->ifindex);
	}
	out_str("type", nic->type == VIA_NIC_LOOPBACK ? "loopback" :
			"ethernet");
	out_str("address", addr_str(nic->addr.byte, nic->addr.len));
	out_str("driver", nic->driver);
	out_num("mtu", nic->mtu);
	out_num("vis", nic->vis);
	if (nic->listed)
		out_num("peers", nic->peers);
	else
		out_str("peers", "all");
	out_object_end();
}

static void show_text(const struct nic *nic)
{
	printf("%s: ", nic->name);
	if (nic->ifindex)
		printf("interface %s ", *nic->ifname ? nic->ifname : "?");
	printf("address %s driver %s mtu %u vis %u",
	       addr_str(nic->addr.byte, nic->addr.len), nic->driver, nic->mtu,
	       nic->vis);
	if (nic->type == VIA_NIC_LOOPBACK)
		printf("\n");
	else if (nic->listed)
		printf(" peers %u\n", nic->peers);
	else
		printf(" peers all\n");
}

static void show_one(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	struct nic nic;

	(void)cmd;
	(void)arg;
	nic_take(&nic, attrs);
	if (out_json)
		show_json(&nic);
	else
		show_text(&nic);
}

static int show(struct words *w)
{
	const char *what = next_word(w);
	struct nlmsghdr *nlh;
	struct nic nic;
	int ret = 0;

	no_more_words(w);
	if (what)
		nic_need(what, &nic);
	out_begin();
	if (nl_open()) {
		nlh = nl_message(VIA_NL_CMD_NIC_GET, what ? 0 : NLM_F_DUMP);
		if (what)
			mnl_attr_put_strz(nlh, VIA_NL_A_NIC, nic.name);
		ret = nl_call(nlh, show_one, NULL);
	}
	out_end();
	if (ret)
		die("cannot show %s: %s", what ? what : "the VI NICs",
		    nl_error(ret));
	return DONE;
}

/* The module is loaded if it can be: others are told by what fails next. */
static void load(const char *module)
{
	pid_t pid;

	if (geteuid())
		return;
	pid = fork();
	if (!pid) {
		execlp("modprobe", "modprobe", "-q", "--", module, NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static int attach_once(uint32_t ifindex, const char *driver)
{
	struct nlmsghdr *nlh;

	nl_need();
	nlh = nl_message(VIA_NL_CMD_ATTACH, 0);
	mnl_attr_put_u32(nlh, VIA_NL_A_IFINDEX, ifindex);
	if (driver)
		mnl_attr_put_strz(nlh, VIA_NL_A_DRIVER, driver);
	return nl_call(nlh, NULL, NULL);
}

int dev_attach(const char *ifname, const char *driver)
{
	const char *module = driver ? driver : "via_netdev";
	uint32_t ifindex = if_nametoindex(ifname);
	int ret;

	if (!ifindex) {
		warn_msg("cannot attach %s: no such interface in this network namespace",
			 ifname);
		return -ENODEV;
	}
	if (!nl_open())
		load(module);
	ret = attach_once(ifindex, driver);
	if (ret == -EPROTONOSUPPORT) {
		load(module);
		ret = attach_once(ifindex, driver);
	}
	if (ret)
		warn_msg("cannot attach %s: %s", ifname, nl_error(ret));
	return ret;
}

static int attach(struct words *w)
{
	const char *ifname = need_word(w, "the interface");
	const char *driver = NULL, *word = next_word(w);

	if (word) {
		if (strncmp("driver", word, strlen(word)) || !*word)
			usage_error("what is '%s'?", word);
		driver = need_word(w, "the module");
	}
	no_more_words(w);
	if (strlen(ifname) >= IF_NAMESIZE ||
	    (driver && strlen(driver) > VIA_NL_DRIVER_MAX))
		usage_error("a name that is too long");
	return dev_attach(ifname, driver) ? REFUSED : DONE;
}

static int detach(struct words *w)
{
	const char *what = need_word(w, "the VI NIC");
	struct nlmsghdr *nlh;
	struct nic nic;
	int ret;

	no_more_words(w);
	nic_need(what, &nic);
	nlh = nl_message(VIA_NL_CMD_DETACH, 0);
	mnl_attr_put_strz(nlh, VIA_NL_A_NIC, nic.name);
	ret = nl_call(nlh, NULL, NULL);
	if (!ret)
		return DONE;
	warn_msg("cannot detach %s: %s", nic.name, nl_error(ret));
	return REFUSED;
}

int do_dev(struct words *w)
{
	static const struct command list[] = {
		{ "show", show },
		{ "attach", attach },
		{ "detach", detach },
		{ "list", show },
		{ 0 }
	};

	return run_command(list, "command of dev", w);
}
