// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The ledger: objects made and gone, of each kind. */

#include <linux/moduleparam.h>
#include <linux/printk.h>
#include "ledger.h"

struct via_ledger via_made, via_gone;

/* made/gone of each kind of object, in /sys/module/via_ka/parameters/. */
static int via_ledger_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE,
		"files %ld %ld\nvis %ld %ld\ncqs %ld %ld\nrings %ld %ld\nregions %ld %ld\npages %ld %ld\nconns %ld %ld\n",
		atomic_long_read(&via_made.files),
		atomic_long_read(&via_gone.files),
		atomic_long_read(&via_made.vis),
		atomic_long_read(&via_gone.vis),
		atomic_long_read(&via_made.cqs),
		atomic_long_read(&via_gone.cqs),
		atomic_long_read(&via_made.rings),
		atomic_long_read(&via_gone.rings),
		atomic_long_read(&via_made.regions),
		atomic_long_read(&via_gone.regions),
		atomic_long_read(&via_made.pages),
		atomic_long_read(&via_gone.pages),
		atomic_long_read(&via_made.conns),
		atomic_long_read(&via_gone.conns));
}

static const struct kernel_param_ops via_ledger_ops = {
	.get = via_ledger_get,
};
module_param_cb(ledger, &via_ledger_ops, NULL, 0444);
MODULE_PARM_DESC(ledger, "Objects made and gone, of each kind");

#define VIA_LEDGER_CHECK(what)						\
	do {								\
		long left = atomic_long_read(&via_made.what) -		\
			    atomic_long_read(&via_gone.what);		\
									\
		if (left)						\
			pr_warn("via_ka: BUG: %ld %s leaked\n", left,	\
				#what);					\
	} while (0)

void via_ledger_report(void)
{
	VIA_LEDGER_CHECK(files);
	VIA_LEDGER_CHECK(vis);
	VIA_LEDGER_CHECK(cqs);
	VIA_LEDGER_CHECK(rings);
	VIA_LEDGER_CHECK(regions);
	VIA_LEDGER_CHECK(pages);
	VIA_LEDGER_CHECK(conns);
}
