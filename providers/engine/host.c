// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The engine's host and clock. */
#include <sys/syscall.h>
#include <unistd.h>

#include "eng.h"

const struct vipl_host *eng_host;
const struct eng_transport *eng_transport;

void *eng_nic_priv(struct eng_nic *nic)
{
	return (char *)nic + ENG_NIC_BYTES;
}

uint64_t eng_random(void)
{
	uint64_t v = 0;

	/* 0 means none. A failure leaves the clock, which is new each time. */
	while (!v)
		if (syscall(SYS_getrandom, &v, sizeof(v), 0) != sizeof(v))
			v = eng_now() * 0x9e3779b97f4a7c15u;
	return v;
}

void eng_event(struct eng_vi *v, uint32_t code, uint32_t opcode, uint64_t desc,
	       int orderly)
{
	struct vipl_event ev = {
		.kind = VIPL_EVENT_ERROR,
		.vi = (VIP_VI_HANDLE)atomic_load(&v->handle),
		.desc = desc,
		.opcode = opcode,
		.resource = code == VIP_ERROR_POST_DESC ?
			    VIP_RESOURCE_DESCRIPTOR : VIP_RESOURCE_VI,
		.code = code,
		.orderly = !!orderly,
	};

	if (ev.vi)
		eng_host->event(eng_vi_nic(v)->obj, &ev);
}

/* Have the VI looked at then; ENG_FOREVER: not at all. */
void eng_time(struct eng_nic *nic, struct eng_vi *v, uint64_t when)
{
	vipl_list_del(&v->timed);
	v->when = when;
	if (when == ENG_FOREVER)
		return;
	vipl_list_add_tail(&v->timed, &nic->timed);
	if (when >= nic->next_time)
		return;
	nic->next_time = when;
	/* A thread that sleeps has to wake earlier now. */
	if (nic->armed) {
		nic->t->wake(nic);
	} else if (!nic->leader && eng_get(&nic->tick) == TICK_PARKED) {
		atomic_store(&nic->tick, TICK_ON);
		eng_futex_wake(&nic->tick);
	}
}
