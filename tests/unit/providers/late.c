// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A library that opens a NIC at its loading, as plug-ins of programs do. */
#include <stdlib.h>
#include <unistd.h>
#include <vipl.h>

__attribute__((constructor)) static void loaded(void)
{
	VIP_NIC_HANDLE nic;

	usleep(300000);
	if (VipOpenNic(getenv("LATE_OPENS"), &nic) != VIP_SUCCESS)
		abort();
}
