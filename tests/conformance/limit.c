// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The agent's limits of users, by the administrator's command, via(8). */
#include "limit.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool limit_get(const char *name, uint64_t *value)
{
	FILE *f = popen("via limit show 2>/dev/null", "re");
	char line[128], word[32];
	bool found = false;
	uint64_t n;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%31s %" SCNu64, word, &n) == 2 &&
		    !strcmp(word, name)) {
			*value = n;
			found = true;
		}
	}
	if (f)
		pclose(f);
	return found;
}

bool limit_set(const char *name, uint64_t value)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "via limit set %s %" PRIu64 " 2>/dev/null", name, value);
	return !system(command);
}
