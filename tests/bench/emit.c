// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>

#include "emit.h"

void emit(const char *bench, const char *path, const char *level,
	  const char *wait, unsigned long size, const char *unit,
	  double value)
{
	printf("{\"bench\":\"%s\",\"path\":\"%s\",\"level\":\"%s\","
	       "\"wait\":\"%s\",\"size\":%lu,\"unit\":\"%s\","
	       "\"value\":%.3f}\n", bench, path, level, wait, size, unit,
	       value);
	fflush(stdout);
}
