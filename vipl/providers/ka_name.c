// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <string.h>

#include "ka.h"

VIP_RETURN ka_name_query(struct vipl_nic *nic, const char *name,
			 const uint8_t *host, struct vipl_named *out,
			 uint32_t *n)
{
	struct via_name_answer answers[VIPL_NAMED_MAX];
	struct via_name_query q = {
		.count = *n < VIPL_NAMED_MAX ? *n : VIPL_NAMED_MAX,
		.answers = (uintptr_t)answers,
	};
	VIP_RETURN r;
	uint32_t i;

	_Static_assert(VIPL_NAME_MAX == VIA_NAME_MAX, "name length");
	*n = 0;
	if (name && strlen(name) > VIA_NAME_MAX)
		return VIP_SUCCESS;
	if (name)
		strcpy(q.name, name);
	if (host) {
		memcpy(q.addr, host, nic->addr_len);
		q.addr_len = nic->addr_len;
	}
	r = ka_call(nic, VIA_IOC_NAME_QUERY, &q);
	if (r != VIP_SUCCESS)
		return r;
	for (i = 0; i < q.count; i++) {
		memcpy(out[i].host, answers[i].addr, sizeof(out[i].host));
		memcpy(out[i].name, answers[i].name, VIPL_NAME_MAX);
		out[i].name[VIPL_NAME_MAX] = '\0';
	}
	*n = q.count;
	return r;
}
