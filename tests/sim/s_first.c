// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host.h"

static void user(void *arg)
{
	struct file *f = sim_open("via_lo");
	struct via_hello h = { .abi = VIA_ABI_VERSION };

	if (IS_ERR(f))
		return;
	sim_ioctl(f, VIA_IOC_HELLO, &h);
	sim_close(f);
}

static void hello(void)
{
	struct sim_proc *p = sim_proc_new("hello", 0);

	sim_thread(p, "hello", user, NULL);
	sim_proc_wait(p);
}

SIM_SCENARIO(hello, .name = "hello", .what = "open, hello, close",
	     .run = hello)
