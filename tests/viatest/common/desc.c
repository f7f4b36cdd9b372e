// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "desc.h"
#include <string.h>

void desc_data(VIP_DESCRIPTOR *d, void *p, uint32_t len, VIP_MEM_HANDLE h)
{
	memset(d, 0, sizeof(*d));
	d->CS.Length = len;
	if (!len)
		return;
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = p;
	d->DS[0].Local.Handle = h;
	d->DS[0].Local.Length = len;
}

void desc_rdma(VIP_DESCRIPTOR *d, VIP_UINT16 op, uint64_t addr,
	       VIP_MEM_HANDLE h)
{
	d->DS[1] = d->DS[0];
	memset(&d->DS[0], 0, sizeof(d->DS[0]));
	d->DS[0].Remote.Data.AddressBits = addr;
	d->DS[0].Remote.Handle = h;
	d->CS.Control |= op;
	d->CS.SegCount++;
}
