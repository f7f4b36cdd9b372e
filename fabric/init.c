// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The entry point that libfabric calls when it loads the provider. */
#include <stdlib.h>

#include "fab.h"

static void via_cleanup(void)
{
}

__attribute__((visibility("default")))
struct fi_provider *fi_prov_ini(void);

struct fi_provider *fi_prov_ini(void)
{
	via_prov.getinfo = via_getinfo;
	via_prov.fabric = via_fabric_open;
	via_prov.cleanup = via_cleanup;
	fi_param_define(&via_prov, "devices", FI_PARAM_STRING,
			"VI NICs to offer, with commas between them, in place of those of the kernel agent and shm:0");
	fi_param_define(&via_prov, "connect_timeout", FI_PARAM_INT,
			"milliseconds until an attempt to connect ends (default: %d)",
			via_param.connect_ms);
	fi_param_get_str(&via_prov, "devices", &via_param.devices);
	fi_param_get_int(&via_prov, "connect_timeout", &via_param.connect_ms);
	if (via_param.connect_ms < 1)
		via_param.connect_ms = 1;
	return &via_prov;
}
