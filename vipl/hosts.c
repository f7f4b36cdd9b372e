// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The hosts file, one line for each address:
 *
 *	52:54:00:00:00:01	node1 node1.example.org	# comment
 *
 * A name on several lines has several addresses, in the order of the lines.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hosts.h"
#include "msg.h"

#define BLANK	" \t\r\n"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int vipl_mac_parse(const char *s, uint8_t mac[VIPL_MAC_LEN])
{
	int i, hi, lo;

	for (i = 0; i < VIPL_MAC_LEN; i++) {
		hi = hex(s[0]);
		lo = hi < 0 ? -1 : hex(s[1]);
		if (lo < 0)
			return -1;
		mac[i] = (uint8_t)(hi << 4 | lo);
		s += 2;
		if (i == VIPL_MAC_LEN - 1)
			break;
		if (*s != ':' && *s != '-')
			return -1;
		s++;
	}
	return *s ? -1 : 0;
}

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
static char *parse(char *line, const char *file, int number,
		   uint8_t mac[VIPL_MAC_LEN], char **save)
{
	char *word, *name;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANK, save);
	if (!word)
		return NULL;
	name = strtok_r(NULL, BLANK, save);
	if (!name || vipl_mac_parse(word, mac)) {
		vipl_msg("%s:%d: ignored; a line is: 52:54:00:00:00:01 name [alias ...]",
			 file, number);
		return NULL;
	}
	return name;
}

int vipl_hosts_by_name(const char *file, const char *name, unsigned long n,
		       uint8_t mac[VIPL_MAC_LEN])
{
	char line[512], *word, *save;
	FILE *f = fopen(file, "re");
	uint8_t addr[VIPL_MAC_LEN];
	int number = 0, found = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		word = parse(line, file, ++number, addr, &save);
		while (word && !vipl_name_match(name, word))
			word = strtok_r(NULL, BLANK, &save);
		if (!word)
			continue;
		if ((unsigned long)found++ == n) {
			memcpy(mac, addr, VIPL_MAC_LEN);
			fclose(f);
			return 0;
		}
	}
	fclose(f);
	return -1 - found;
}

int vipl_hosts_by_addr(const char *file, const uint8_t mac[VIPL_MAC_LEN],
		       char *name, size_t size)
{
	char line[512], *word, *save;
	FILE *f = fopen(file, "re");
	uint8_t addr[VIPL_MAC_LEN];
	int number = 0;
	int r = -1;

	if (!f)
		return -1;
	while (r && fgets(line, sizeof(line), f)) {
		word = parse(line, file, ++number, addr, &save);
		if (!word || memcmp(addr, mac, VIPL_MAC_LEN) ||
		    strlen(word) >= size)
			continue;
		strcpy(name, word);
		r = 0;
	}
	fclose(f);
	return r;
}
