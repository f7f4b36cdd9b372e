// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf.h"
#include "msg.h"

#define BLANK	" \t\r\n"

struct wanted {
	const char *keyword;
	const char *name;		/* NULL: the keyword has none */
	char *value;			/* out */
	size_t size;			/* bytes of it */
};

#define WARNINGS	64		/* that are remembered */

static uint64_t hash_bytes(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	/* FNV-1a */
	while (n--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

/* A race says it twice, and so do more than WARNINGS of them. */
static int was_said(uint64_t what)
{
	static _Atomic uint64_t known[WARNINGS];
	static _Atomic uint32_t next;
	uint32_t i;

	for (i = 0; i < WARNINGS; i++)
		if (atomic_load_explicit(&known[i], memory_order_relaxed) ==
		    what)
			return 1;
	i = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
	atomic_store_explicit(&known[i % WARNINGS], what,
			      memory_order_relaxed);
	return 0;
}

void vipl_conf_warn(FILE *f, const char *fmt, ...)
{
	uint64_t h = 0xcbf29ce484222325ull;
	char line[512];
	struct stat st;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	h = hash_bytes(h, line, strlen(line));
	if (!fstat(fileno(f), &st)) {
		h = hash_bytes(h, &st.st_dev, sizeof(st.st_dev));
		h = hash_bytes(h, &st.st_ino, sizeof(st.st_ino));
		h = hash_bytes(h, &st.st_size, sizeof(st.st_size));
		h = hash_bytes(h, &st.st_mtim.tv_sec,
			       sizeof(st.st_mtim.tv_sec));
		h = hash_bytes(h, &st.st_mtim.tv_nsec,
			       sizeof(st.st_mtim.tv_nsec));
	}
	if (!was_said(h))
		vipl_note("%s", line);
}

/* "shm.group" belongs to a provider, which may not be loaded. */
static int is_known(const char *word)
{
	return !strcmp(word, "alias") || !strcmp(word, "default") ||
	       !strcmp(word, "fallback") || strchr(word, '.');
}

/* Returns 0 when the line is the one, else -1. */
static int parse_conf_line(char *line, const struct wanted *w, FILE *f,
			   const char *file, int number)
{
	char *save, *word, *key, *val;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANK, &save);
	if (!word)
		return -1;
	if (!is_known(word)) {
		vipl_conf_warn(f, MSG_CONF_KEYWORD, file, number, word);
		return -1;
	}
	if (strcmp(word, w->keyword))
		return -1;
	key = w->name ? strtok_r(NULL, BLANK, &save) : NULL;
	if (w->name && (!key || strcmp(key, w->name)))
		return -1;
	val = strtok_r(NULL, BLANK, &save);
	if (!val || strlen(val) >= w->size) {
		vipl_conf_warn(f, MSG_CONF_VALUE, file, number, w->keyword);
		return -1;
	}
	strcpy(w->value, val);
	return 0;
}

/* The rest of a cut line would be read as one that the file has not. */
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
	vipl_conf_warn(f, MSG_CONF_LENGTH, file, number, VIPL_LINE_LEN - 2);
	line[0] = '\0';
	return 0;
}

static int look_in_file(const char *file, const struct wanted *w)
{
	char line[VIPL_LINE_LEN];
	int number = 0;
	int r = -1;
	FILE *f = fopen(file, "re");

	vipl_log(VIPL_DEBUG, "%s: %s", file, f ? "read" : strerror(errno));
	if (!f)
		return -1;
	while (r && !vipl_conf_line(f, line, file, ++number))
		r = parse_conf_line(line, w, f, file, number);
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

	if (!own_file(own, sizeof(own)) && !look_in_file(own, &w))
		return 0;
	return look_in_file(VIPL_CONF, &w);
}
