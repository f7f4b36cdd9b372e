// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The provider as all of it names it, in messages too; init.c adds its calls. */
#include "fab.h"

struct via_param via_param = {
	.connect_ms = 30000,
};

struct fi_provider via_prov = {
	.version = FI_VERSION(1, 0),
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "via",
};
