// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "mvia_version.h"
#include "version.h"

void print_version(const char *program)
{
	printf("%s (mvia) %s\n", program, MVIA_VERSION);
	exit(0);
}
