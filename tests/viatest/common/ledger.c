// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "ledger.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_US		10000

struct ledger ledger_read(void)
{
	FILE *f = fopen("/sys/module/via_ka/parameters/ledger", "re");
	struct ledger l = { .kinds = 0 };
	long made, gone;

	while (f && l.kinds < LEDGER_KINDS &&
	       fscanf(f, "%15s %ld %ld", l.name[l.kinds], &made, &gone) == 3)
		l.alive[l.kinds++] = made - gone;
	if (f)
		fclose(f);
	return l;
}

static int same(const struct ledger *a, const struct ledger *b)
{
	return a->kinds == b->kinds &&
	       !memcmp(a->alive, b->alive, a->kinds * sizeof(a->alive[0]));
}

long ledger_alive(const char *name)
{
	struct ledger l = ledger_read();
	int i;

	for (i = 0; i < l.kinds; i++)
		if (!strcmp(l.name[i], name))
			return l.alive[i];
	return -1;
}

const char *ledger_left(struct ledger *before, unsigned int seconds)
{
	unsigned int looks = seconds * (1000000 / LOOK_US);
	static char text[256];
	struct ledger now = ledger_read();
	size_t n = 0;
	int i;

	while (!same(before, &now) && looks--) {
		usleep(LOOK_US);
		now = ledger_read();
	}
	if (same(before, &now))
		return NULL;
	for (i = 0; i < now.kinds; i++)
		if (now.alive[i] != before->alive[i])
			n += snprintf(text + n, sizeof(text) - n, "%s%ld %s",
				      n ? ", " : "",
				      now.alive[i] - before->alive[i],
				      now.name[i]);
	*before = now;
	return text;
}
