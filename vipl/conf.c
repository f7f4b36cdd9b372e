// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "conf.h"
#include "msg.h"

#define BLANK	" \t\r\n"

static int parse(char *line, const char *keyword, const char *name,
		 char *value, size_t size, int number)
{
	char *save, *word, *key, *val;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANK, &save);
	if (!word)
		return -1;
	if (strcmp(word, "alias") && strcmp(word, "default")) {
		vipl_msg(VIPL_CONF ":%d: unknown keyword '%s' ignored (know: alias, default)",
			 number, word);
		return -1;
	}
	if (strcmp(word, keyword))
		return -1;
	key = name ? strtok_r(NULL, BLANK, &save) : NULL;
	if (name && (!key || strcmp(key, name)))
		return -1;
	val = strtok_r(NULL, BLANK, &save);
	if (!val || strlen(val) >= size) {
		vipl_msg(VIPL_CONF ":%d: '%s' without a usable device name ignored",
			 number, keyword);
		return -1;
	}
	strcpy(value, val);
	return 0;
}

int vipl_conf_lookup(const char *keyword, const char *name, char *value,
		     size_t size)
{
	char line[512];
	int number = 0;
	int r = -1;
	FILE *f = fopen(VIPL_CONF, "re");

	if (!f)
		return -1;
	while (r && fgets(line, sizeof(line), f))
		r = parse(line, keyword, name, value, size, ++number);
	fclose(f);
	return r;
}
