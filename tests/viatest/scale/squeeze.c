// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Make as much of each kind as there is memory for, in rounds; an error is as
 * good as success, and what was made goes. Run where memory is short.
 */
#include "scale.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define KINDS	4u
#define MANY	4096u
#define BLOCK	(256u << 10)

static struct nic nic;
static VIP_VI_HANDLE vi[MANY];
static VIP_CQ_HANDLE cq[MANY];
static VIP_MEM_HANDLE mem[MANY];
static uint8_t *block[MANY];

static VIP_RETURN make(uint32_t kind, uint32_t i)
{
	switch (kind) {
	case 0:
		return vi_make(&nic, 4096, NULL, &vi[i]);
	case 1:
		return VipCreateCQ(nic.h, 4096, &cq[i]);
	case 2:
		/* One page, many regions: it is the kernel's memory. */
		block[i] = block[0] ? block[0] : aligned_alloc(4096, 4096);
		return VipRegisterMem(nic.h, block[i], 4096, NULL, &mem[i]);
	default:
		block[i] = memory_try(BLOCK);
		if (!block[i])
			return VIP_ERROR_RESOURCE;
		return VipRegisterMem(nic.h, block[i], BLOCK, NULL, &mem[i]);
	}
}

static void unmake(uint32_t kind, uint32_t i)
{
	VIP_RETURN rc;

	if (kind == 0)
		rc = VipDestroyVi(vi[i]);
	else if (kind == 1)
		rc = VipDestroyCQ(cq[i]);
	else
		rc = VipDeregisterMem(nic.h, block[i], mem[i]);
	if (kind == 3)
		munmap(block[i], BLOCK);
	if (rc)
		die("what was made of kind %u does not go: %s", kind,
		    vip_str(rc));
}

int run_squeeze(void)
{
	uint32_t made[KINDS] = { 0 }, refused[KINDS] = { 0 }, r, kind, i, n;
	VIP_RETURN rc;

	nic_open(&nic, args.device);
	for (r = 0; r < args.count; r++) {
		for (kind = 0; kind < KINDS; kind++) {
			for (n = 0; n < MANY; n++) {
				rc = make(kind, n);
				if (rc == VIP_SUCCESS)
					continue;
				if (rc != VIP_ERROR_RESOURCE)
					die("kind %u, number %u: %s", kind, n,
					    vip_str(rc));
				refused[kind]++;
				if (kind == 3 && block[n])
					munmap(block[n], BLOCK);
				break;
			}
			for (i = 0; i < n; i++)
				unmake(kind, i);
			if (kind == 2)
				free(block[0]);
			block[0] = NULL;
			made[kind] += n;
			printf("kind %u made %u refused %u\n", kind,
			       made[kind], refused[kind]);
		}
	}
	nic_close(&nic);
	return 0;
}
