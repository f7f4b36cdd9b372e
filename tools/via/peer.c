// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via peer: hosts that may talk to a VI NIC, and keys. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"
#include "uapi/via.h"

#define PEER_ROOM	96		/* bytes of a host in a message, at most */

/* A key and white space, and no more of it. */
static bool parse_key(const char *text, size_t len, uint8_t *key)
{
	unsigned int high = 0, n = 0;
	size_t i;

	for (i = 0; i < len && isxdigit((unsigned char)text[i]); i++) {
		unsigned int c = tolower((unsigned char)text[i]);
		unsigned int v = c <= '9' ? c - '0' : c - 'a' + 10;

		if (n == 2 * VIA_NL_KEY_LEN)
			return false;
		if (n++ & 1)
			key[n / 2 - 1] = high << 4 | v;
		else
			high = v;
	}
	while (i < len && isspace((unsigned char)text[i]))
		i++;
	return i == len && n == 2 * VIA_NL_KEY_LEN;
}

static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, text + len, size - len);
		if (n < 0 && errno != EINTR)
			return -1;
		len += n > 0 ? n : 0;
	} while (n && len < size);
	return len;
}

bool read_key(const char *file, uint8_t *key)
{
	char text[4 * VIA_NL_KEY_LEN];
	bool own = strcmp(file, "-") != 0;
	int fd = own ? open(file, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct stat st;
	ssize_t len;
	bool ok;

	if (fd < 0) {
		warn_msg(MSG_VIA_FILE, file, strerror(errno));
		return false;
	}
	if (own && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    st.st_mode & 0077)
		warn_msg(MSG_VIA_KEY_OPEN, file, file);
	len = read_all(fd, text, sizeof(text));
	if (own)
		close(fd);
	ok = len > 0 && parse_key(text, len, key);
	explicit_bzero(text, sizeof(text));
	if (!ok)
		warn_msg(MSG_VIA_KEY_BAD, file, 2 * VIA_NL_KEY_LEN);
	return ok;
}

static int genkey(struct words *w)
{
	uint8_t key[VIA_NL_KEY_LEN];

	no_more_words(w);
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		die(MSG_VIA_RANDOM, strerror(errno));
	if (isatty(STDOUT_FILENO))
		warn_msg(MSG_VIA_KEY_SHOWN);
	for (unsigned int i = 0; i < sizeof(key); i++)
		printf("%02x", key[i]);
	printf("\n");
	explicit_bzero(key, sizeof(key));
	return DONE;
}

bool host_take(struct nlattr **attrs, char text[HOST_TEXT], bool *keyed)
{
	struct nlattr *peer[VIA_NL_PEER_A_MAX + 1];
	const struct nlattr *addr;

	if (!attrs[VIA_NL_A_PEER])
		return false;
	nl_nest(attrs[VIA_NL_A_PEER], peer, VIA_NL_PEER_A_MAX);
	addr = peer[VIA_NL_PEER_A_ADDR];
	if (!addr)
		return false;
	snprintf(text, HOST_TEXT, "%s",
		 addr_str(mnl_attr_get_payload(addr),
			  mnl_attr_get_payload_len(addr)));
	if (peer[VIA_NL_PEER_A_PREFIX])
		snprintf(text + strlen(text), HOST_TEXT - strlen(text),
			 "/%u", mnl_attr_get_u8(peer[VIA_NL_PEER_A_PREFIX]));
	*keyed = peer[VIA_NL_PEER_A_KEYED];
	return true;
}

static void show_one(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	const struct nic *nic = arg;
	char text[HOST_TEXT];
	bool keyed;

	(void)cmd;
	if (!host_take(attrs, text, &keyed))
		return;
	json_object(&out);
	json_str(&out, "nic", nic->name);
	json_str(&out, "address", text);
	json_bool(&out, "key", keyed);
	json_object_end(&out);
	if (out.file)
		return;
	put(COLOR_NIC, nic->name);
	printf(" ");
	put_address(text);
	printf("%s\n", keyed ? " key set" : "");
}

/* False: the list changed meanwhile. */
static bool show_nic(const struct nic *nic)
{
	struct nlmsghdr *nlh = nl_message(VIA_NL_CMD_PEER_GET, NLM_F_DUMP);
	int ret;

	mnl_attr_put_strz(nlh, VIA_NL_A_NIC, nic->name);
	ret = nl_call(nlh, show_one, (void *)nic);
	if (ret == -EINTR)
		return false;
	/* It has gone, which is no failure of a list of all. */
	if (ret && ret != -ENODEV)
		die(MSG_VIA_HOSTS, nic->name, nl_error(ret));
	if (!out.file && !nic->listed)
		printf("%s %s\n", nic->name, peers_unlisted(nic));
	else if (!out.file && !nic->peers)
		printf("%s none\n", nic->name);
	return true;
}

static int show(struct words *w)
{
	const char *what = next_word(w);
	struct nic one, *nic = &one;
	unsigned int n = 1;
	bool whole = true;

	no_more_words(w);
	if (what)
		nic_need(what, &one);
	else
		nic = nic_list(&n);
	json_begin(&out);
	/* Without a wire there are no other hosts. */
	for (unsigned int i = 0; i < n; i++)
		if (what || nic[i].type != VIA_NIC_LOOPBACK)
			whole &= show_nic(&nic[i]);
	json_end(&out);
	if (!what)
		free(nic);
	if (!whole)
		die(MSG_VIA_HOSTS_CHANGED);
	return DONE;
}

static struct nlmsghdr *begin(uint8_t cmd, const struct nic *nic)
{
	struct nlmsghdr *nlh = nl_message(cmd, 0);

	mnl_attr_put_strz(nlh, VIA_NL_A_NIC, nic->name);
	return nlh;
}

static int finish(struct nlmsghdr *nlh, const struct nic *nic)
{
	int ret = nl_call(nlh, NULL, NULL);

	if (ret)
		warn_msg(MSG_VIA_HOSTS_SET, nic->name, nl_error(ret));
	return ret;
}

static void put_host(struct nlmsghdr *nlh, const struct host *host)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, VIA_NL_A_PEER);

	mnl_attr_put(nlh, VIA_NL_PEER_A_ADDR, host->addr.len, host->addr.byte);
	if (host->addr.prefix >= 0)
		mnl_attr_put_u8(nlh, VIA_NL_PEER_A_PREFIX, host->addr.prefix);
	if (host->how == KEY_SET)
		mnl_attr_put(nlh, VIA_NL_PEER_A_KEY, VIA_NL_KEY_LEN,
			     host->key);
	if (host->how == KEY_NONE)
		mnl_attr_put(nlh, VIA_NL_PEER_A_NO_KEY, 0, NULL);
	mnl_attr_nest_end(nlh, nest);
}

/* In as many messages as it takes: a first that replaces, others that add. */
static int send_hosts(uint8_t cmd, const struct nic *nic,
		      const struct host *host, unsigned int n, bool replace)
{
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	unsigned int i = 0;
	int ret;

	do {
		nlh = begin(cmd, nic);
		if (replace)
			mnl_attr_put(nlh, VIA_NL_A_ONLY, 0, NULL);
		nest = mnl_attr_nest_start(nlh, VIA_NL_A_PEERS);
		for (; i < n && nl_room(nlh) > 2 * PEER_ROOM; i++)
			put_host(nlh, &host[i]);
		mnl_attr_nest_end(nlh, nest);
		ret = finish(nlh, nic);
		replace = false;
	} while (!ret && i < n);
	return ret;
}

int peers_set(const struct nic *nic, const struct host *host, unsigned int n,
	      bool replace)
{
	return send_hosts(VIA_NL_CMD_PEER_SET, nic, host, n, replace);
}

int peers_any(const struct nic *nic)
{
	return finish(begin(VIA_NL_CMD_PEER_DEL, nic), nic);
}

static void need_addr(const char *word, struct addr *a)
{
	if (!parse_addr(word, a))
		usage_error(MSG_USAGE_HOST, word);
}

/* "all", or hosts, all of them well formed. */
static struct host *take_hosts(struct words *w, unsigned int *n)
{
	struct host *host = xcalloc(w->n + 1, sizeof(*host));

	*n = 0;
	if (!w->n)
		usage_error(MSG_USAGE_HOSTS);
	if (w->n == 1 && !strcmp(*w->word, "all")) {
		next_word(w);
		return host;
	}
	while (w->n)
		need_addr(next_word(w), &host[(*n)++].addr);
	return host;
}

static int allow(struct words *w)
{
	const char *what = need_word(w, "the VI NIC");
	struct host *host;
	struct nic nic;
	unsigned int n;
	int ret;

	host = take_hosts(w, &n);
	nic_need(what, &nic);
	ret = n ? peers_set(&nic, host, n, false) : peers_any(&nic);
	if (!ret && n && !nic.listed)
		warn_msg(MSG_VIA_HOSTS_ONLY, nic.name, nic.name);
	free(host);
	return ret ? REFUSED : DONE;
}

static int deny(struct words *w)
{
	const char *what = need_word(w, "the VI NIC");
	struct host *host;
	struct nic nic;
	unsigned int n;
	int ret;

	host = take_hosts(w, &n);
	nic_need(what, &nic);
	ret = n ? send_hosts(VIA_NL_CMD_PEER_DEL, &nic, host, n, false) :
		  peers_set(&nic, NULL, 0, true);
	free(host);
	return ret ? REFUSED : DONE;
}

static int key(struct words *w)
{
	const char *what = need_word(w, "the VI NIC"), *file;
	struct host host = { .how = KEY_NONE };
	struct nic nic;
	int ret;

	need_addr(need_word(w, "the host"), &host.addr);
	file = need_word(w, "the file of the key");
	no_more_words(w);
	nic_need(what, &nic);
	if (strcmp(file, "none")) {
		host.how = KEY_SET;
		if (!read_key(file, host.key))
			return REFUSED;
	}
	ret = peers_set(&nic, &host, 1, false);
	explicit_bzero(&host, sizeof(host));
	if (!ret && !nic.listed)
		warn_msg(MSG_VIA_HOSTS_ONLY, nic.name, nic.name);
	return ret ? REFUSED : DONE;
}

int do_peer(struct words *w)
{
	static const struct command list[] = {
		{ "show", show },
		{ "allow", allow },
		{ "deny", deny },
		{ "key", key },
		{ "genkey", genkey },
		{ "list", show },
		{ 0 }
	};

	return run_command(list, "command of peer", w);
}
