// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "msg.h"

#define BLANK	" \t\r\n"

struct wanted {
	const char *keyword;
	const char *name;		/* NULL: the keyword has none */
	char *value;			/* out */
	size_t size;			/* bytes of it */
};

/* "shm.group" belongs to a provider, which may not be loaded. */
static int is_known(const char *word)
{
	return !strcmp(word, "alias") || !strcmp(word, "default") ||
	       !strcmp(word, "fallback") || strchr(word, '.');
}

/* Returns 0 when the line is the one, else -1. */
static int parse(char *line, const struct wanted *w, const char *file,
		 int number)
{
	char *save, *word, *key, *val;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANK, &save);
	if (!word)
		return -1;
	if (!is_known(word)) {
		vipl_msg("%s:%d: unknown keyword '%s' ignored (know: alias, default, fallback, PROVIDER.KEY)",
			 file, number, word);
		return -1;
	}
	if (strcmp(word, w->keyword))
		return -1;
	key = w->name ? strtok_r(NULL, BLANK, &save) : NULL;
	if (w->name && (!key || strcmp(key, w->name)))
		return -1;
	val = strtok_r(NULL, BLANK, &save);
	if (!val || strlen(val) >= w->size) {
		vipl_msg("%s:%d: '%s' without a usable value ignored", file,
			 number, w->keyword);
		return -1;
	}
	strcpy(w->value, val);
	return 0;
}

/* What follows a cut line would be read as one that the file has not. */
int vipl_conf_line(FILE *f, char line[VIPL_LINE_LEN], const char *file,
		   int number)
{
	char rest[VIPL_LINE_LEN];
	size_t n;

	if (!fgets(line, VIPL_LINE_LEN, f))
		return -1;
	n = strlen(line);
	if (n < VIPL_LINE_LEN - 1 || line[n - 1] == '\n' ||
	    !fgets(rest, sizeof(rest), f))
		return 0;
	while (strlen(rest) == sizeof(rest) - 1 &&
	       rest[sizeof(rest) - 2] != '\n' && fgets(rest, sizeof(rest), f))
		;
	vipl_msg("%s:%d: ignored; a line has at most %d bytes", file, number,
		 VIPL_LINE_LEN - 2);
	line[0] = '\0';
	return 0;
}

static int look(const char *file, const struct wanted *w)
{
	char line[VIPL_LINE_LEN];
	int number = 0;
	int r = -1;
	FILE *f = fopen(file, "re");

	if (!f)
		return -1;
	while (r && !vipl_conf_line(f, line, file, ++number))
		r = parse(line, w, file, number);
	fclose(f);
	return r;
}

/* The user's own file; 0, or -1: none, as for set-user-id programs. */
static int own_file(char *path, size_t size)
{
	const char *dir = secure_getenv("XDG_CONFIG_HOME");
	int n;

	if (dir && *dir == '/') {
		n = snprintf(path, size, "%s/vipl.conf", dir);
	} else {
		dir = secure_getenv("HOME");
		if (!dir || *dir != '/')
			return -1;
		n = snprintf(path, size, "%s/.config/vipl.conf", dir);
	}
	return n > 0 && (size_t)n < size ? 0 : -1;
}

int vipl_conf_lookup(const char *keyword, const char *name, char *value,
		     size_t size)
{
	const struct wanted w = { keyword, name, value, size };
	char own[512];

	if (!own_file(own, sizeof(own)) && !look(own, &w))
		return 0;
	return look(VIPL_CONF, &w);
}
