// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses of hosts in writing: see host.h. */

#include <linux/kernel.h>
#include "host.h"

const char *via_host_text(char *text, const u8 *addr, u32 len)
{
	switch (len) {
	case 4:
		scnprintf(text, VIA_HOST_TEXT, "%pI4", addr);
		break;
	case 6:
		scnprintf(text, VIA_HOST_TEXT, "%pM", addr);
		break;
	case 16:
		scnprintf(text, VIA_HOST_TEXT, "%pI6c", addr);
		break;
	default:
		scnprintf(text, VIA_HOST_TEXT, "%*phC", (int)len, addr);
	}
	return text;
}
