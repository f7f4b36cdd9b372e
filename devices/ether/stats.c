// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is counted of a NIC, by name. */

#include "stats.h"
#include "vi.h"

#define NAMED(id, name) \
	[VIA_C_##id] = name,
static const char * const count_names[VIA_C_MAX] = {
	VIA_COUNTERS(NAMED, NAMED)
};

static u64 count_of(const struct via_ether_nic *nic, u32 which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(nic->counters, cpu)->c[which];
	return sum;
}

u32 via_ether_counts(void)
{
	return VIA_NIC_COUNTS + VIA_C_MAX;
}
EXPORT_SYMBOL_GPL(via_ether_counts);

const char *via_ether_count_name(u32 which)
{
	return which < VIA_NIC_COUNTS ? via_nic_count_name(which) :
					count_names[which - VIA_NIC_COUNTS];
}
EXPORT_SYMBOL_GPL(via_ether_count_name);

void via_ether_count_read(struct via_ether_nic *nic, u64 *value)
{
	u32 i;

	via_nic_counts(nic->ka, value);
	for (i = 0; i < VIA_C_MAX; i++)
		value[VIA_NIC_COUNTS + i] = count_of(nic, i);
}
EXPORT_SYMBOL_GPL(via_ether_count_read);

void via_ether_nic_stats(struct via_nic *ka, struct via_stats_sink *sink)
{
	struct via_ether_nic *nic = ka->priv;
	u32 i;

	for (i = 0; i < VIA_C_MAX; i++)
		via_stat(sink, count_names[i], count_of(nic, i));
	if (nic->ops->stats)
		nic->ops->stats(nic, sink);
}
