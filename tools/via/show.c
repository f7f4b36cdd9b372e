// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* -s, -o and -c: counters beside objects, one line for each, colours. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/counters.h"
#include "messages.h"
#include "via.h"

#define COLUMNS	80
#define INDENT	4

bool show_stats, show_oneline;

static bool colored;
static struct readings counters;

void color_option(const char *when)
{
	/* "-c", "-c=auto", "-color=auto", "--color=auto" */
	const char *value = when ? strchr(when, '=') : NULL;
	const char *no_color = getenv("NO_COLOR");

	value = value ? value + 1 : when && strcmp(when, "olor") ? when : "auto";
	if (!strcmp(value, "always"))
		colored = true;
	else if (!strcmp(value, "never"))
		colored = false;
	else if (!strcmp(value, "auto"))
		colored = isatty(STDOUT_FILENO) && !(no_color && *no_color);
	else
		usage_error(MSG_USAGE_COLOR, value);
}

void put(enum color color, const char *text)
{
	/* Those of ip(8). */
	static const char *const codes[] = {
		[COLOR_NIC] = "36", [COLOR_MAC] = "33", [COLOR_IP4] = "35",
		[COLOR_IP6] = "34", [COLOR_GOOD] = "32", [COLOR_BAD] = "31",
	};

	if (colored && color != COLOR_NONE)
		printf("\033[%sm%s\033[0m", codes[color], text);
	else
		fputs(text, stdout);
}

void put_address(const char *text)
{
	put(strchr(text, '.') ? COLOR_IP4 :
	    strlen(text) == 17 && text[2] == ':' && text[5] == ':' ? COLOR_MAC :
	    COLOR_IP6, text);
}

void stats_read(const char *nic, bool vis)
{
	if (show_stats)
		counters_read(nic, vis, &counters);
}

static const struct reading *stats_of(const char *nic, uint32_t vi)
{
	for (unsigned int i = 0; i < counters.n; i++)
		if (counters.of[i]->vi == vi && !strcmp(counters.of[i]->nic, nic))
			return counters.of[i];
	return NULL;
}

static void stats_json(const struct reading *r)
{
	json_members(&out, "stats");
	for (unsigned int i = 0; i < r->n; i++)
		json_num(&out, r->counter[i].name, r->counter[i].value);
	json_members_end(&out);
}

/* As many in a line as fit; those of 0 are left out. */
static void stats_text(const struct reading *r)
{
	unsigned int column = 0;
	char text[64];

	for (unsigned int i = 0; i < r->n; i++) {
		unsigned int len;

		if (!r->counter[i].value)
			continue;
		len = snprintf(text, sizeof(text), "%s %" PRIu64,
			       r->counter[i].name, r->counter[i].value);
		if (!column || column + 2 + len > COLUMNS) {
			printf("%s%*s", show_oneline ? "\\" : "\n", INDENT, "");
			column = INDENT;
		} else {
			printf("  ");
			column += 2;
		}
		printf("%s", text);
		column += len;
	}
}

void stats_show(const char *nic, uint32_t vi)
{
	const struct reading *r = show_stats ? stats_of(nic, vi) : NULL;

	if (!r)
		return;
	if (out.file)
		stats_json(r);
	else
		stats_text(r);
}
