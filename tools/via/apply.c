// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * via apply: does what /etc/mvia/NAME.conf say, as far as the interfaces are
 * there.  A file is read as a whole before anything of it is done; a section
 * with a mistake is left out, and no other one.  Each mistake is told.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"

#define FOLDER		"/etc/mvia"
#define HOSTS_MAX	VIA_NL_PEERS_MAX
#define LIMITS_MAX	16

struct section {
	char		ifname[IF_NAMESIZE];	/* "" are the limits */
	char		addr[48];		/* or this address; ifname: bound to */
	unsigned long	port;			/* of it, or 0 */
	uint32_t	shape;			/* of it: VIA_NL_SHAPE_* */
	const char	*file;
	int		line;
	bool		bad;			/* is not done */
	bool		astray;			/* what it is of is not known */
	bool		native;
	bool		any, listed;		/* allow = all; others */
	enum { RDMA_AS_IT_IS, RDMA_YES, RDMA_NO } rdma;
	unsigned int	n;
	struct host	*host;
	char		*limit[LIMITS_MAX], *value[LIMITS_MAX];
};

static const char *only;			/* this interface, or NULL */
static bool check;				/* read, and do nothing */
static int status;

static void worse(int than)
{
	if (than > status)
		status = than;
}

/* With "dev", a mistake in another section is not told and no failure. */
static void mistake(struct section *s, int line, const char *what)
{
	s->bad = true;
	if (only && strcmp(only, s->ifname))
		return;
	warn_msg(MSG_CONF_LINE, s->file, line, what);
	worse(USAGE);
}

static char *strip(char *s)
{
	char *end;

	s += strspn(s, " \t");
	end = s + strlen(s);
	while (end > s && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	return s;
}

static void section_end(struct section *s)
{
	if (s->host)
		explicit_bzero(s->host, s->n * sizeof(*s->host));
	free(s->host);
	for (int i = 0; i < LIMITS_MAX && s->limit[i]; i++) {
		free(s->limit[i]);
		free(s->value[i]);
	}
}

static bool key_of(const char *name, uint8_t *key)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : FOLDER "/",
		 name);
	return read_key(path, key);
}

/* "all", "none", or "ADDRESS" with "key FILE" behind it. */
static void take_allow(struct section *s, char *value, int line)
{
	char *addr = strtok(value, " \t"), *word = strtok(NULL, " \t");
	char *file = strtok(NULL, " \t"), *more = strtok(NULL, " \t");
	struct host *h;

	if (addr && !word && (!strcmp(addr, "all") || !strcmp(addr, "none"))) {
		s->any |= !strcmp(addr, "all");
		s->listed |= !strcmp(addr, "none");
		return;
	}
	s->host = realloc(s->host, (s->n + 1) * sizeof(*s->host));
	if (!s->host)
		die(MSG_VIA_MEMORY);
	h = &s->host[s->n];
	memset(h, 0, sizeof(*h));
	h->how = KEY_NONE;
	s->listed = true;
	if (!addr || !parse_addr(addr, &h->addr) || more ||
	    (word && (strcmp(word, "key") || !file)))
		return mistake(s, line, MSG_LINE_ALLOW);
	if (s->n == HOSTS_MAX)
		return mistake(s, line, MSG_LINE_HOSTS);
	s->n++;
	if (!file)
		return;
	h->how = KEY_SET;
	if (!check && !key_of(file, h->key))
		mistake(s, line, MSG_LINE_KEY);
}

static void take_limit(struct section *s, const char *name, const char *value,
		       int line)
{
	int i = 0;

	while (i < LIMITS_MAX && s->limit[i])
		i++;
	if (!*value || value[strspn(value, "0123456789")])
		return mistake(s, line, MSG_LINE_LIMIT);
	if (i == LIMITS_MAX)
		return mistake(s, line, MSG_LINE_LIMITS);
	if (!limit_known(name))
		return mistake(s, line, MSG_LINE_NO_LIMIT LIMIT_NAMES);
	s->limit[i] = strdup(name);
	s->value[i] = strdup(value);
	if (!s->limit[i] || !s->value[i])
		die(MSG_VIA_MEMORY);
}

static void take_rdma(struct section *s, const char *value, int line)
{
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return mistake(s, line, MSG_LINE_RDMA);
	s->rdma = *value == 'y' ? RDMA_YES : RDMA_NO;
}

static void take_address(struct section *s, const char *text, char *value,
			 int line)
{
	char *end;

	if (!strcmp(text, "allow"))
		return take_allow(s, value, line);
	if (!strcmp(text, "rdma"))
		return take_rdma(s, value, line);
	if (!strcmp(text, "dev")) {
		if (!*value || strlen(value) >= IF_NAMESIZE)
			return mistake(s, line, MSG_LINE_INTERFACE);
		strcpy(s->ifname, value);
		return;
	}
	if (!strcmp(text, "shape")) {
		if (!parse_shape(value, &s->shape))
			mistake(s, line, MSG_LINE_SHAPE);
		return;
	}
	if (strcmp(text, "port"))
		return mistake(s, line, MSG_LINE_SETTING_ADDR);
	s->port = strtoul(value, &end, 10);
	if (!*value || *end || !s->port || s->port > 65535)
		mistake(s, line, MSG_LINE_PORT);
}

static void take_line(struct section *s, char *text, int line)
{
	char *value = strchr(text, '=');

	if (!value)
		return mistake(s, line, MSG_LINE_EQUALS);
	*value++ = '\0';
	text = strip(text);
	value = strip(value);
	if (*s->addr)
		take_address(s, text, value, line);
	else if (!*s->ifname)
		take_limit(s, text, value, line);
	else if (!strcmp(text, "allow"))
		take_allow(s, value, line);
	else if (!strcmp(text, "rdma"))
		take_rdma(s, value, line);
	else if (strcmp(text, "driver"))
		mistake(s, line, MSG_LINE_SETTING);
	else if (!strcmp(value, "native"))
		s->native = true;
	else if (strcmp(value, "via_netdev"))
		mistake(s, line, MSG_LINE_DRIVER);
}

/* "[limits]", "[interface NAME]" or "[address ADDRESS]" */
static void take_head(struct section *s, char *text, int line)
{
	char *end = strchr(text, ']'), *name = text + 1;

	if (!end || end[1])
		return mistake(s, line, MSG_LINE_BRACKET);
	*end = '\0';
	name = strip(name);
	if (!strcmp(name, "limits"))
		return;
	if (!strncmp(name, "address", 7) && name[7] &&
	    strchr(" \t", name[7])) {
		struct addr a;

		name = strip(name + 7);
		if (strlen(name) >= sizeof(s->addr) || !parse_addr(name, &a) ||
		    a.prefix >= 0 || a.len == 6)
			return mistake(s, line, MSG_LINE_IP);
		strcpy(s->addr, name);
		return;
	}
	if (strncmp(name, "interface", 9) || !strchr(" \t", name[9]))
		return mistake(s, line, MSG_LINE_SECTION);
	name = strip(name + 9);
	if (!*name || strlen(name) >= IF_NAMESIZE || strchr(name, '/') ||
	    strpbrk(name, " \t"))
		return mistake(s, line, MSG_LINE_INTERFACE);
	strcpy(s->ifname, name);
}

static void do_limits(const struct section *s)
{
	/* At boot none may be there yet that NICs, and their users, need. */
	if (!nl_open())
		module_load("via_ka");
	for (int i = 0; i < LIMITS_MAX && s->limit[i]; i++)
		if (limit_change(s->limit[i], s->value[i]))
			worse(REFUSED);
}

static void do_peers(const struct section *s, const struct nic *nic)
{
	int ret = 0;

	if (s->listed)
		ret = peers_set(nic, s->host, s->n, true);
	else if (s->any)
		ret = peers_any(nic);
	if (ret)
		worse(REFUSED);
}

/* Of a NIC as it is now, with its hosts. */
static void do_nic(const struct section *s, const struct nic *nic)
{
	do_peers(s, nic);
	if ((s->rdma == RDMA_YES && verbs_make(nic)) ||
	    (s->rdma == RDMA_NO && verbs_remove(nic)))
		worse(REFUSED);
}

static void do_interface(const struct section *s)
{
	struct nic nic;

	if (!if_nametoindex(s->ifname)) {
		warn_msg(MSG_CONF_ABSENT, s->file, s->line, s->ifname);
		return;
	}
	if (s->native && driver_bind(s->ifname, "native"))
		return worse(REFUSED);
	if (!nl_open() || !nic_find(s->ifname, &nic)) {
		if (!s->native && dev_attach(s->ifname, NULL))
			return worse(REFUSED);
		if (!nl_open() || !nic_find(s->ifname, &nic)) {
			warn_msg(MSG_CONF_NOT_YET, s->ifname);
			return worse(REFUSED);
		}
	}
	do_nic(s, &nic);
}

static void do_address(const struct section *s)
{
	const struct where where = {
		.port = s->port,
		.ifname = *s->ifname ? s->ifname : NULL,
		.shape = s->shape,
	};
	struct nic nic;
	struct addr a;

	parse_addr(s->addr, &a);
	if (!nl_open() || !nic_at(&a, &nic)) {
		if (dev_attach_addr(s->addr, &where))
			return worse(REFUSED);
		if (!nl_open() || !nic_at(&a, &nic)) {
			warn_msg(MSG_CONF_NOT_YET, s->addr);
			return worse(REFUSED);
		}
	}
	do_nic(s, &nic);
}

static void do_section(struct section *s)
{
	if (s->any && s->listed)
		mistake(s, s->line, MSG_LINE_ALL);
	if (!s->bad && !check) {
		if (only && strcmp(only, s->ifname))
			;	/* not of it */
		else if (*s->addr)
			do_address(s);
		else if (*s->ifname)
			do_interface(s);
		else
			do_limits(s);
	}
	section_end(s);
}

static void read_file(const char *file, FILE *f)
{
	struct section s = { .file = file, .bad = true };
	char *line = NULL, *text;
	bool any = false;
	size_t size = 0;

	for (int n = 1; getline(&line, &size, f) >= 0; n++) {
		text = strip(line);
		if (!*text || *text == '#' || *text == ';')
			continue;
		if (*text == '[') {
			if (any)
				do_section(&s);
			memset(&s, 0, sizeof(s));
			s.file = file;
			s.line = n;
			any = true;
			take_head(&s, text, n);
			s.astray = s.bad;
		} else if (!any) {
			mistake(&s, n, MSG_LINE_FIRST);
		} else if (!s.astray) {
			take_line(&s, text, n);
		}
	}
	if (any)
		do_section(&s);
	free(line);
}

static void apply_file(const char *file)
{
	FILE *f = fopen(file, "re");

	if (!f) {
		warn_msg(MSG_VIA_FILE, file, strerror(errno));
		return worse(REFUSED);
	}
	read_file(file, f);
	if (ferror(f)) {
		warn_msg(MSG_VIA_FILE, file, strerror(errno));
		worse(REFUSED);
	}
	fclose(f);
}

static void apply_all(void)
{
	glob_t all;

	if (glob(FOLDER "/*.conf", 0, NULL, &all))
		return;
	for (size_t i = 0; i < all.gl_pathc; i++)
		apply_file(all.gl_pathv[i]);
	globfree(&all);
}

/* The interface: it is named, or its VI NIC is. */
static const char *interface_of(const char *name)
{
	static struct nic nic;

	if (if_nametoindex(name) || !nl_open() || !nic_find(name, &nic) ||
	    !*nic.ifname)
		return name;
	return nic.ifname;
}

int do_apply(struct words *w)
{
	const char *word, *file = NULL;

	while ((word = next_word(w))) {
		if (!strcmp(word, "dev"))
			only = interface_of(need_word(w, "the interface"));
		else if (!strcmp(word, "check"))
			check = true;
		else if (!file)
			file = word;
		else
			usage_error(MSG_USAGE_WORD, word);
	}
	if (file)
		apply_file(file);
	else
		apply_all();
	return status;
}
