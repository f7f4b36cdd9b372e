// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What dsmfew calls in the place of VipPostRecv(): a node that is slow to post
 * a receive again, and must not have told of it before.
 */
#include <unistd.h>
#include <vipl.h>

__typeof__(VipPostRecv) slow_post_recv;

VIP_RETURN slow_post_recv(VIP_VI_HANDLE vi, VIP_DESCRIPTOR *d,
			  VIP_MEM_HANDLE handle)
{
	usleep(300);
	return VipPostRecv(vi, d, handle);
}
