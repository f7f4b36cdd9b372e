// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One message, written at once. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "die.h"

static int self = -1;
static atomic_int dying;

void die_node(int node)
{
	self = node;
}

void die(const char *remedy, const char *fault, ...)
{
	static char text[8192];		/* a path fits into it */
	size_t len = 0;
	va_list ap;

	/* Another thread is saying why. */
	if (atomic_exchange(&dying, 1))
		for (;;)
			pause();
	len = snprintf(text, sizeof(text), "viadsm: ");
	if (self >= 0)
		len += snprintf(text + len, sizeof(text) - len, "node %d: ",
				self);
	va_start(ap, fault);
	vsnprintf(text + len, sizeof(text) - len - 1, fault, ap);
	va_end(ap);
	len = strlen(text);
	if (remedy)
		snprintf(text + len, sizeof(text) - len - 1, "\n        %s",
			 remedy);
	len = strlen(text);
	text[len++] = '\n';
	if (write(STDERR_FILENO, text, len) < 0)
		_exit(3);
	_exit(2);
}
