// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via stat, under its own name and without the rest of via(8). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "common/stat.h"

int main(int argc, char **argv)
{
	struct json json = { .form = JSON_ARRAY };

	stat_run("viastat", argc, argv, &json);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write: %s", strerror(errno));
	return 0;
}
