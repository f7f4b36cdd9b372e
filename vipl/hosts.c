// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The hosts file, one line for each address, in the form of its provider:
 *
 *	52:54:00:00:00:01	node1 node1.example.org	# comment
 *
 * A name on several lines has several addresses, in the order of the lines.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf.h"
#include "hosts.h"
#include "messages.h"

#define BLANK	" \t\r\n"

int vipl_name_match(const char *want, const char *have)
{
	size_t w = strcspn(want, "."), h = strcspn(have, ".");

	if (!strcasecmp(want, have))
		return 1;
	/* A short name stands for any domain, two full ones must agree. */
	if (want[w] && have[h])
		return 0;
	return w == h && !strncasecmp(want, have, w);
}

/* Split a line; returns its first name with the address set, or NULL. */
static char *parse_host_line(char *line, const struct vipl_hosts *h, FILE *f,
			     int number, uint8_t *host, char **save)
{
	char *word, *name;
	int bad;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANK, save);
	if (!word)
		return NULL;
	name = strtok_r(NULL, BLANK, save);
	bad = h->parse(h->nic, word, host);
	if (name && bad > 0)
		return NULL;
	if (!name || bad) {
		vipl_conf_warn(f, MSG_HOSTS_LINE, h->file, number,
			       h->example);
		return NULL;
	}
	return name;
}

int vipl_hosts_by_name(const struct vipl_hosts *h, const char *name,
		       unsigned long n, uint8_t *host)
{
	char line[VIPL_LINE_LEN], *word, *save;
	FILE *f = fopen(h->file, "re");
	uint8_t addr[VIPL_ADDR_MAX];
	int number = 0, found = 0;

	if (!f)
		return -1;
	while (!vipl_conf_line(f, line, h->file, ++number)) {
		word = parse_host_line(line, h, f, number, addr, &save);
		while (word && !vipl_name_match(name, word))
			word = strtok_r(NULL, BLANK, &save);
		if (!word)
			continue;
		if ((unsigned long)found++ == n) {
			memcpy(host, addr, h->len);
			fclose(f);
			return 0;
		}
	}
	fclose(f);
	return -1 - found;
}

int vipl_hosts_by_addr(const struct vipl_hosts *h, const uint8_t *host,
		       char *name, size_t size)
{
	char line[VIPL_LINE_LEN], *word, *save;
	FILE *f = fopen(h->file, "re");
	uint8_t addr[VIPL_ADDR_MAX];
	int number = 0;
	int r = -1;

	if (!f)
		return -1;
	while (r && !vipl_conf_line(f, line, h->file, ++number)) {
		word = parse_host_line(line, h, f, number, addr, &save);
		if (!word || memcmp(addr, host, h->len) ||
		    strlen(word) >= size)
			continue;
		strcpy(name, word);
		r = 0;
	}
	fclose(f);
	return r;
}
