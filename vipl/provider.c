// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "provider.h"

static const struct vipl_provider_ops *const providers[] = {
	&vipl_ka_ops,
};

/* The provider for a node, or NULL: the first that speaks our ABI and will. */
const struct vipl_provider_ops *vipl_provider_find(const char *node)
{
	const struct vipl_provider_ops *p;
	size_t i;

	for (i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
		p = providers[i];
		if (p->abi_min <= VIPL_PROVIDER_ABI &&
		    p->abi_max >= VIPL_PROVIDER_ABI && p->match(node))
			return p;
	}
	return NULL;
}
