// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The VI Kernel Agent: bring-up and the way down, in reverse. */

#include <linux/init.h>
#include <linux/module.h>
#include "ends.h"
#include "file.h"
#include "kapi.h"
#include "ledger.h"
#include "netlink.h"
#include "nic.h"
#include "policy.h"
#include "quota.h"

static int __init via_ka_init(void)
{
	int ret;

	BUILD_BUG_ON(IS_ENABLED(CONFIG_HIGHMEM));
	via_quota_init();
	ret = via_ends_init();
	if (ret)
		return ret;
	ret = via_kernel_init();
	if (ret)
		goto err_ends;
	ret = via_nics_init(&via_fops, via_netlink_nic);
	if (ret)
		goto err_kernel;
	ret = via_policies_init();
	if (ret)
		goto err_nics;
	/* The last: from now on there are callers. */
	ret = via_netlink_init();
	if (ret)
		goto err_policies;
	return 0;

err_policies:
	via_policies_exit();
err_nics:
	via_nics_exit();
err_kernel:
	via_kernel_exit();
err_ends:
	via_ends_exit();
	return ret;
}

static void __exit via_ka_exit(void)
{
	via_netlink_exit();
	via_policies_exit();
	via_nics_exit();
	via_kernel_exit();
	via_ends_exit();
	/* The memory of VIs goes by RCU. */
	rcu_barrier();
	via_ledger_report();
}

module_init(via_ka_init);
module_exit(via_ka_exit);
MODULE_DESCRIPTION("Virtual Interface Architecture kernel agent");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
