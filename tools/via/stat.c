// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via stat: counters of VI NICs, as viastat prints them. */
#include "common/stat.h"
#include "via.h"

int do_stat(struct words *w)
{
	/* "stat" stands in place of the program. */
	stat_run("via stat", w->n + 1, w->word - 1, &out);
	return DONE;
}
