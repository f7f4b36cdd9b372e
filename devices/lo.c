// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * via_lo: the loopback VI NIC.
 *
 * It has no wire: every address but its own is unreachable, and its own is
 * what the agent joins by itself, with one copy in the sender's context.
 */

#include <linux/err.h>
#include <linux/module.h>
#include "../kernel/via_ka.h"

/* Locally administered; it never appears on a wire. */
static const u8 via_lo_addr[6] = { 0x02, 0, 0, 0, 0, 0x01 };

static struct via_nic *via_lo_nic;

static const struct via_device_ops via_lo_ops = {
	.owner = THIS_MODULE,
};

static int __init via_lo_init(void)
{
	struct via_nic *nic = via_nic_alloc(&via_lo_ops);
	int ret;

	if (!nic)
		return -ENOMEM;
	strscpy(nic->name, "via_lo", sizeof(nic->name));
	memcpy(nic->addr, via_lo_addr, sizeof(via_lo_addr));
	nic->addr_len = sizeof(via_lo_addr);
	nic->type = VIA_NIC_LOOPBACK;
	nic->limits.native_mtu = nic->limits.max_transfer;
	ret = via_nic_register(nic);
	if (ret) {
		via_nic_put(nic);
		return ret;
	}
	via_lo_nic = nic;
	return 0;
}

static void __exit via_lo_exit(void)
{
	via_nic_unregister(via_lo_nic);
	via_nic_put(via_lo_nic);
}

module_init(via_lo_init);
module_exit(via_lo_exit);
MODULE_DESCRIPTION("Virtual Interface Architecture loopback NIC");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
