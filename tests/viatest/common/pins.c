// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "pins.h"
#include "clock.h"
#include <stdio.h>
#include <string.h>

long pinned(void)
{
	long value, acquired = -1, released = -1;
	char name[64];
	FILE *f;

	/* The counters are batched per CPU until this is written. */
	f = fopen("/proc/sys/vm/stat_refresh", "we");
	if (f) {
		fputs("1\n", f);
		fclose(f);
	}
	f = fopen("/proc/vmstat", "re");
	if (!f)
		return -1;
	while (fscanf(f, "%63s %ld", name, &value) == 2) {
		if (!strcmp(name, "nr_foll_pin_acquired"))
			acquired = value;
		if (!strcmp(name, "nr_foll_pin_released"))
			released = value;
	}
	fclose(f);
	return acquired < 0 || released < 0 ? -1 : acquired - released;
}

long pinned_after(long before, uint32_t ms)
{
	uint64_t begin = now_ns();
	long now;

	while ((now = pinned()) > before && ms_since(begin) < ms)
		sleep_ms(5);
	return now;
}
