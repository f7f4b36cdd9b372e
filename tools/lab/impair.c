// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "impair.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings wire = { .seed = 1, .burst = 1, .gap = 3, .hold = 2000000 };

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

uint64_t dice_roll(unsigned int port, uint64_t number, enum dice kind)
{
	return mix(mix(mix(wire.seed) ^ ((uint64_t)port << 8 | kind)) ^ number);
}

int dice_hit(double share, unsigned int port, uint64_t number, enum dice kind)
{
	return share > 0 &&
	       (dice_roll(port, number, kind) >> 11) * 0x1p-53 < share;
}

static int take_share(double *to, const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= 0 && v <= 1))
		return -1;
	*to = v;
	return 0;
}

struct unit {
	const char *name;
	double factor;
};

static const struct unit plain[] = { { "", 1 }, { NULL, 0 } };
static const struct unit times[] = {
	{ "", 1e3 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	{ NULL, 0 }
};
static const struct unit rates[] = {
	{ "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { "G", 1e9 }, { NULL, 0 }
};

static int take_number(uint64_t *to, const char *text, const struct unit *u)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || !(v >= 0 && v < 1e18))
		return -1;
	for (; u->name; u++)
		if (!strcmp(end, u->name)) {
			*to = (uint64_t)llround(v * u->factor);
			return 0;
		}
	return -1;
}

static int take_ethertype(uint64_t *to, const char *text)
{
	char *end;
	unsigned long v = strtoul(text, &end, 16);

	if (end == text || *end || v > 0xffff)
		return -1;
	*to = v;
	return 0;
}

static int take_ports(uint64_t *to, const char *text)
{
	uint64_t mask = 0;

	if (!strcmp(text, "none"))
		text = "";
	while (*text) {
		if (!isdigit((unsigned char)*text))
			return -1;
		mask |= 1ull << (*text++ - '0');
		if (*text == ',')
			text++;
	}
	*to = mask;
	return 0;
}

static const struct key {
	const char *name;
	size_t at;
	const struct unit *units;
	const char *wants;
} numbers[] = {
	{ "seed", offsetof(struct settings, seed), plain,
	  "seed wants a number" },
	{ "gap", offsetof(struct settings, gap), plain,
	  "gap wants a number of frames" },
	{ "burst", offsetof(struct settings, burst), plain,
	  "burst wants a number of frames" },
	{ "hold", offsetof(struct settings, hold), times,
	  "hold wants a time: 2ms, 1s" },
	{ "forget", offsetof(struct settings, forget), times,
	  "forget wants a time: 20ms, 1ns for never to learn, 0 for off" },
	{ "delay", offsetof(struct settings, delay), times,
	  "delay wants a time: 200us, 2ms" },
	{ "jitter", offsetof(struct settings, jitter), times,
	  "jitter wants a time: 200us, 2ms" },
	{ "rate", offsetof(struct settings, rate), rates,
	  "rate wants bits a second: 40M, 1G, 0 for no limit" },
	{ "queue", offsetof(struct settings, queue), plain,
	  "queue wants a number of frames" },
	{ "least", offsetof(struct settings, least), plain,
	  "least wants a number of bytes" },
	{ "most", offsetof(struct settings, most), plain,
	  "most wants a number of bytes, 0 for no limit" },
	{ "each", offsetof(struct settings, each), plain,
	  "each wants a number of frames: 2 loses every second one, 0 none" },
	{ NULL, 0, NULL, NULL }
}, shares[] = {
	{ "loss", offsetof(struct settings, loss), NULL, NULL },
	{ "dup", offsetof(struct settings, dup), NULL, NULL },
	{ "reorder", offsetof(struct settings, reorder), NULL, NULL },
	{ "corrupt", offsetof(struct settings, corrupt), NULL, NULL },
	{ "slip", offsetof(struct settings, slip), NULL, NULL },
	{ NULL, 0, NULL, NULL }
}, masks[] = {
	{ "cut", offsetof(struct settings, cut), NULL,
	  "cut wants ports: 0,2 or none" },
	{ "deaf", offsetof(struct settings, deaf), NULL,
	  "deaf wants ports: 0,2 or none" },
	{ "mute", offsetof(struct settings, mute), NULL,
	  "mute wants ports: 0,2 or none" },
	{ NULL, 0, NULL, NULL }
};

static const struct key *find(const struct key *k, const char *word, size_t len)
{
	for (; k->name; k++)
		if (strlen(k->name) == len && !memcmp(k->name, word, len))
			return k;
	return NULL;
}

const char *setting_take(struct settings *s, const char *word)
{
	static char unknown[256];
	const char *eq = strchr(word, '=');
	const struct key *k;
	size_t len;

	if (!eq)
		return "settings are key=value";
	len = eq++ - word;
	k = find(numbers, word, len);
	if (k)
		return take_number((void *)((char *)s + k->at), eq, k->units) ?
		       k->wants : NULL;
	k = find(shares, word, len);
	if (k)
		return take_share((void *)((char *)s + k->at), eq) ?
		       "loss, dup, reorder, corrupt and slip want 0 to 1" :
		       NULL;
	if (len == 4 && !memcmp(word, "only", 4))
		return take_ethertype(&s->only, eq) ?
		       "only wants an EtherType in hex: 88b5, 0 for all" : NULL;
	k = find(masks, word, len);
	if (k)
		return take_ports((void *)((char *)s + k->at), eq) ?
		       k->wants : NULL;
	snprintf(unknown, sizeof(unknown),
		 "no setting '%.*s': there are loss burst dup reorder gap hold "
		 "corrupt slip seed delay jitter rate queue only least most "
		 "each forget cut deaf mute", len < 30 ? (int)len : 30, word);
	return unknown;
}

/* In the largest unit that leaves a whole number. */
static void put_number(char *to, size_t size, uint64_t value,
		       const struct unit *u)
{
	const struct unit *best = NULL;

	for (; u->name; u++)
		if (value % (uint64_t)u->factor == 0 &&
		    (!best || u->factor >= best->factor))
			best = u;
	snprintf(to, size, "%llu%s", best ?
		 (unsigned long long)(value / (uint64_t)best->factor) : 0ull,
		 best && value ? best->name : "");
}

static void put_ports(char *to, size_t size, uint64_t mask)
{
	size_t at = 0;

	if (!mask)
		snprintf(to, size, "none");
	for (unsigned int i = 0; mask && i < 64 && at + 4 < size; i++)
		if (mask >> i & 1)
			at += snprintf(to + at, size - at, "%s%u",
				       at ? "," : "", i);
}

size_t settings_put(char *to, size_t size, const struct settings *s)
{
	const char *base = (const char *)s;
	const struct key *k;
	char text[64];
	size_t at = 0;

	for (k = shares; k->name; k++)
		at += snprintf(to + at, size - at, "%s=%g ", k->name,
			       *(const double *)(base + k->at));
	for (k = numbers; k->name; k++) {
		put_number(text, sizeof(text),
			   *(const uint64_t *)(base + k->at), k->units);
		at += snprintf(to + at, size - at, "%s=%s ", k->name, text);
	}
	for (k = masks; k->name; k++) {
		put_ports(text, sizeof(text),
			  *(const uint64_t *)(base + k->at));
		at += snprintf(to + at, size - at, "%s=%s ", k->name, text);
	}
	return at + snprintf(to + at, size - at, "only=%llx",
			     (unsigned long long)s->only);
}
