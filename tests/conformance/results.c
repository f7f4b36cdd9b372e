// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "results.h"
#include "suite.h"
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static FILE *file;

/* Names here are ours or the kernel's, but a device is the user's. */
static void text(const char *key, const char *value, const char *after)
{
	fprintf(file, "\"%s\": \"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', file);
		if ((unsigned char)*value >= ' ')
			fputc(*value, file);
	}
	fprintf(file, "\"%s", after);
}

bool results_open(const char *path, const char *device, const char *peer,
		  unsigned int levels)
{
	time_t now = time(NULL);
	struct utsname u;
	char date[32];

	file = fopen(path, "w");
	if (!file)
		return false;
	uname(&u);
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	fputc('{', file);
	text("device", device, ", ");
	text("peer", peer ? peer : "", ", ");
	text("kernel", u.release, ", ");
	text("machine", u.machine, ", ");
	text("date", date, ", ");
	fprintf(file, "\"cpus\": %ld, \"levels\": %u}\n",
		sysconf(_SC_NPROCESSORS_ONLN), levels);
	return true;
}

void results_test(const struct group *g, VIP_RELIABILITY_LEVEL level,
		  bool passed, unsigned int ms)
{
	if (!file)
		return;
	fputc('{', file);
	text("group", g->name, ", ");
	text("section", g->section, ", ");
	text("suite", suite_name(suite_of(g)), ", ");
	/* A group that does not depend on it runs once, at some level. */
	text("level", g->flags & G_LEVELS ? level_name(level) : "", ", ");
	fprintf(file, "\"passed\": %s, \"ms\": %u}\n",
		passed ? "true" : "false", ms);
	fflush(file);
}

bool results_close(unsigned int ran, unsigned int failed, unsigned int ms)
{
	bool ok;

	if (!file)
		return true;
	fprintf(file, "{\"ran\": %u, \"failed\": %u, \"ms\": %u}\n", ran,
		failed, ms);
	ok = !ferror(file);
	ok &= !fclose(file);
	file = NULL;
	return ok;
}
