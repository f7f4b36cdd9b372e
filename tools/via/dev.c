// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via dev: VI NICs, attaching interfaces. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"
#include "uapi/via.h"

const char *addr_str(const void *addr, unsigned int len)
{
	static char s[3 * VIA_NL_ADDR_MAX + 1];
	const unsigned char *byte = addr;

	if (len == 4 || len == 16) {
		inet_ntop(len == 4 ? AF_INET : AF_INET6, addr, s, sizeof(s));
		return s;
	}
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

static bool parse_ip(const char *text, struct addr *a)
{
	char addr[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	char *end;

	if (len >= sizeof(addr))
		return false;
	memcpy(addr, text, len);
	addr[len] = '\0';
	if (inet_pton(AF_INET, addr, a->byte) == 1)
		a->len = 4;
	else if (inet_pton(AF_INET6, addr, a->byte) == 1)
		a->len = 16;
	else
		return false;
	if (!slash)
		return true;
	if (!slash[1] || slash[1 + strspn(slash + 1, "0123456789")])
		return false;
	a->prefix = (int)strtoul(slash + 1, &end, 10);
	return strlen(slash + 1) <= 3 && a->prefix <= 8 * a->len;
}

static bool parse_mac(const char *text, struct addr *a)
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

bool parse_addr(const char *text, struct addr *a)
{
	a->prefix = -1;
	return (parse_mac(text, a) && a->len == 6) || parse_ip(text, a);
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
	if (attrs[VIA_NL_A_PORT])
		nic->port = mnl_attr_get_u16(attrs[VIA_NL_A_PORT]);
	nic->bound = take_u32(attrs[VIA_NL_A_BOUND]);
	nic->shape = take_u32(attrs[VIA_NL_A_SHAPE]);
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

static void each_nic(nl_answer *take, void *arg)
{
	int ret;

	nl_need();
	ret = nl_call(nl_message(VIA_NL_CMD_NIC_GET, NLM_F_DUMP), take, arg);
	if (ret)
		die(MSG_VIA_LIST, nl_error(ret));
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

	each_nic(match, &s);
	return s.found;
}

struct place {
	const struct addr	*addr;
	struct nic		*nic;
	bool			found;
};

static void match_addr(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	struct place *p = arg;
	struct nic nic;

	(void)cmd;
	nic_take(&nic, attrs);
	if (p->found || nic.type != VIA_NIC_UDP ||
	    nic.addr.len != p->addr->len ||
	    memcmp(nic.addr.byte, p->addr->byte, nic.addr.len))
		return;
	*p->nic = nic;
	p->found = true;
}

bool nic_at(const struct addr *a, struct nic *nic)
{
	struct place p = { a, nic, false };

	each_nic(match_addr, &p);
	return p.found;
}

void nic_need(const char *what, struct nic *nic)
{
	if (nic_find(what, nic))
		return;
	if (if_nametoindex(what))
		die(MSG_VIA_NOT_ATTACHED, what, what);
	die(MSG_VIA_NO_NIC, what);
}

struct nics {
	unsigned int	n;
	struct nic	*nic;
};

static void collect(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	struct nics *all = arg;

	(void)cmd;
	all->nic = realloc(all->nic, (all->n + 1) * sizeof(*all->nic));
	if (!all->nic)
		die(MSG_VIA_MEMORY);
	nic_take(&all->nic[all->n++], attrs);
}

struct nic *nic_list(unsigned int *n)
{
	struct nics all = { 0 };

	each_nic(collect, &all);
	*n = all.n;
	return all.nic;
}

const char *peers_unlisted(const struct nic *nic)
{
	return nic->type == VIA_NIC_UDP ? "near" : "all";
}

static void show_json(const struct nic *nic)
{
	json_object(&out);
	json_str(&out, "nic", nic->name);
	if (nic->ifindex) {
		json_str(&out, "ifname", nic->ifname);
		json_num(&out, "ifindex", nic->ifindex);
	}
	json_str(&out, "type", nic->type == VIA_NIC_LOOPBACK ? "loopback" :
			nic->type == VIA_NIC_UDP ? "udp" : "ethernet");
	json_str(&out, "address", addr_str(nic->addr.byte, nic->addr.len));
	json_str(&out, "driver", nic->driver);
	if (nic->shape == VIA_NL_SHAPE_TCP)
		json_str(&out, "shape", "tcp");
	json_num(&out, "mtu", nic->mtu);
	json_num(&out, "vis", nic->vis);
	if (nic->listed)
		json_num(&out, "peers", nic->peers);
	else
		json_str(&out, "peers", peers_unlisted(nic));
	if (*verbs_of(nic))
		json_str(&out, "verbs", verbs_of(nic));
	stats_show(nic->name, UINT32_MAX);
	json_object_end(&out);
}

static void show_text(const struct nic *nic)
{
	put(COLOR_NIC, nic->name);
	printf(": ");
	if (nic->ifindex)
		printf("interface %s ", *nic->ifname ? nic->ifname : "?");
	printf("address ");
	put_address(addr_str(nic->addr.byte, nic->addr.len));
	printf(" driver %s mtu %u vis %u", nic->driver, nic->mtu, nic->vis);
	if (nic->type != VIA_NIC_LOOPBACK && nic->listed)
		printf(" peers %u", nic->peers);
	else if (nic->type != VIA_NIC_LOOPBACK)
		printf(" peers %s", peers_unlisted(nic));
	if (nic->shape == VIA_NL_SHAPE_TCP)
		printf(" shape tcp");
	if (*verbs_of(nic))
		printf(" verbs %s", verbs_of(nic));
	stats_show(nic->name, UINT32_MAX);
	printf("\n");
}

static void show_one(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	struct nic nic;

	(void)cmd;
	(void)arg;
	nic_take(&nic, attrs);
	if (out.file)
		show_json(&nic);
	else
		show_text(&nic);
}

static int show(struct words *w)
{
	const char *what = next_word(w);
	struct nlmsghdr *nlh;
	struct nic nic;
	int ret;

	no_more_words(w);
	nl_need();
	if (what)
		nic_need(what, &nic);
	stats_read(what ? nic.name : NULL, false);
	json_begin(&out);
	nlh = nl_message(VIA_NL_CMD_NIC_GET, what ? 0 : NLM_F_DUMP);
	if (what)
		mnl_attr_put_strz(nlh, VIA_NL_A_NIC, nic.name);
	ret = nl_call(nlh, show_one, NULL);
	json_end(&out);
	if (ret)
		die(MSG_VIA_SHOW, what ? what : "the VI NICs",
		    nl_error(ret));
	return DONE;
}

void module_load(const char *module)
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

/* modprobe has been tried, if this is root. */
static void no_module(const char *what, const char *module)
{
	if (geteuid())
		warn_msg(MSG_VIA_LOAD_MODULE, what, module, module);
	else
		warn_msg(MSG_VIA_NO_MODULE, what, module);
}

static void cannot_attach(const char *ifname, const char *driver, int ret)
{
	char why[256];
	struct nic nic;

	/* A later call has an error of its own. */
	snprintf(why, sizeof(why), "%s", nl_error(ret));
	if (ret == -EPROTONOSUPPORT)
		no_module(ifname, driver ? driver : "via_netdev");
	else if ((ret == -EEXIST || ret == -EBUSY) && nic_find(ifname, &nic))
		warn_msg(MSG_VIA_ATTACHED, ifname, why, nic.name);
	else
		warn_msg(MSG_VIA_ATTACH, ifname, why);
}

int dev_attach(const char *ifname, const char *driver)
{
	const char *module = driver ? driver : "via_netdev";
	uint32_t ifindex = if_nametoindex(ifname);
	int ret;

	if (!ifindex) {
		warn_msg(MSG_VIA_NO_INTERFACE, ifname);
		return -ENODEV;
	}
	if (!nl_open())
		module_load(module);
	ret = attach_once(ifindex, driver);
	if (ret == -EPROTONOSUPPORT) {
		module_load(module);
		ret = attach_once(ifindex, driver);
	}
	if (ret)
		cannot_attach(ifname, driver, ret);
	return ret;
}

static int attach_addr_once(const struct addr *a, const struct where *w,
			    uint32_t ifindex)
{
	struct nlmsghdr *nlh;

	nl_need();
	nlh = nl_message(VIA_NL_CMD_ATTACH, 0);
	mnl_attr_put(nlh, VIA_NL_A_ADDR, a->len, a->byte);
	if (w->port)
		mnl_attr_put_u16(nlh, VIA_NL_A_PORT, w->port);
	if (w->shape)
		mnl_attr_put_u32(nlh, VIA_NL_A_SHAPE, w->shape);
	if (ifindex)
		mnl_attr_put_u32(nlh, VIA_NL_A_IFINDEX, ifindex);
	return nl_call(nlh, NULL, NULL);
}

bool parse_shape(const char *text, uint32_t *shape)
{
	*shape = strcmp(text, "tcp") ? VIA_NL_SHAPE_UDP : VIA_NL_SHAPE_TCP;
	return *shape == VIA_NL_SHAPE_TCP || !strcmp(text, "udp");
}

int dev_attach_addr(const char *addr, const struct where *w)
{
	uint32_t ifindex = w->ifname ? if_nametoindex(w->ifname) : 0;
	struct addr a;
	int ret;

	if (!parse_addr(addr, &a) || a.prefix >= 0 || a.len == 6)
		usage_error(MSG_USAGE_IP, addr);
	if (w->ifname && !ifindex) {
		warn_msg(MSG_VIA_NO_DEV, addr, w->ifname);
		return -ENODEV;
	}
	if (!nl_open())
		module_load("via_udp");
	ret = attach_addr_once(&a, w, ifindex);
	if (ret == -EPROTONOSUPPORT) {
		module_load("via_udp");
		ret = attach_addr_once(&a, w, ifindex);
	}
	if (ret == -EPROTONOSUPPORT)
		no_module(addr, "via_udp");
	else if (ret)
		warn_msg(MSG_VIA_ATTACH, addr, nl_error(ret));
	else
		warn_msg(MSG_VIA_NEAR, addr);
	return ret;
}

/* "[port N] [dev INTERFACE] [shape SHAPE]" */
static int attach_addr(const char *addr, struct words *w)
{
	struct where where = { 0 };
	const char *word;
	char *end;

	while ((word = next_word(w))) {
		if (!strcmp(word, "dev")) {
			where.ifname = need_word(w, "the interface");
		} else if (!strcmp(word, "shape")) {
			word = need_word(w, "tcp or udp");
			if (!parse_shape(word, &where.shape))
				usage_error(MSG_USAGE_SHAPE, word);
		} else if (!strcmp(word, "port")) {
			word = need_word(w, "the port");
			where.port = strtoul(word, &end, 10);
			if (*end || !where.port || where.port > 65535)
				usage_error(MSG_USAGE_PORT, word);
		} else {
			usage_error(MSG_USAGE_WORD, word);
		}
	}
	return dev_attach_addr(addr, &where) ? REFUSED : DONE;
}

static int attach(struct words *w)
{
	const char *ifname = need_word(w, "the interface, or the address");
	const char *driver = NULL, *word;
	struct addr addr;

	if (!if_nametoindex(ifname) && parse_addr(ifname, &addr) &&
	    addr.len != 6)
		return attach_addr(ifname, w);
	word = next_word(w);
	if (word) {
		if (strncmp("driver", word, strlen(word)) || !*word)
			usage_error(MSG_USAGE_WORD, word);
		driver = need_word(w, "the module");
	}
	no_more_words(w);
	if (strlen(ifname) >= IF_NAMESIZE ||
	    (driver && strlen(driver) > VIA_NL_DRIVER_MAX))
		usage_error(MSG_USAGE_LONG);
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
	warn_msg(MSG_VIA_DETACH, nic.name, nl_error(ret));
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
