// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What dsmfew has beside dsmedges: VipPostRecv() of a node that is slow to post
 * a receive again, and must not have told of it before; and how many nodes are
 * on this host, which no program is told.
 */
#include <unistd.h>
#include <vipl.h>

#include "../../../dsm/run.h"
#include "few.h"

unsigned int few_here(void)
{
	return this_node.config.here;
}

__typeof__(VipPostRecv) slow_post_recv;

VIP_RETURN slow_post_recv(VIP_VI_HANDLE vi, VIP_DESCRIPTOR *d,
			  VIP_MEM_HANDLE handle)
{
	usleep(300);
	return VipPostRecv(vi, d, handle);
}
