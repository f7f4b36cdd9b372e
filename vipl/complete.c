// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <string.h>

#include "loader.h"

/*
 * Stands for every operation that a provider does not have, so that no call
 * has to look. Every calling convention of Linux lets a function be called
 * with arguments that it does not take, and its result be dropped; as the
 * answer of queue_empty it is a yes.
 */
static VIP_RETURN no_operation(void)
{
	return VIP_ERROR_NOT_SUPPORTED;
}

#define OP(name)	offsetof(struct vipl_provider, name)

/* Whose absence means something else. */
static const size_t optional[] = {
	OP(devices), OP(explain), OP(addr_parse), OP(addr_format), OP(resolve),
	OP(name_of), OP(event_wait), OP(event_wake), OP(fork_child),
	OP(vi_reserve),
};

static int is_optional(size_t op)
{
	size_t i;

	for (i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
		if (optional[i] == op)
			return 1;
	return 0;
}

void vipl_complete(struct vipl_driver *d)
{
	VIP_RETURN (*const stub)(void) = no_operation;
	char *ops = (char *)&d->ops;
	void *have;
	size_t op;

	for (op = OP(devices); op < sizeof(d->ops); op += sizeof(have)) {
		memcpy(&have, ops + op, sizeof(have));
		if (!have && !is_optional(op))
			memcpy(ops + op, &stub, sizeof(stub));
	}
	if (!d->ops.event_wake)
		d->ops.event_wait = NULL;
}
