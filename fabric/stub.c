// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Calls that the provider does not serve.  libfabric and ofi_rxm make some of
 * them without looking whether there is one.
 */
#include "fab.h"

/*
 * Stands for every such call, by a cast.  Every calling convention of Linux
 * lets a function be called with arguments that it does not take, and the
 * lower half of this result is the same error as an int.
 */
ssize_t via_no(void)
{
	return -FI_ENOSYS;
}

#define NO(op)	.op = VIA_NO

struct fi_ops_tagged via_no_tagged = {
	.size = sizeof(struct fi_ops_tagged),
	NO(recv), NO(recvv), NO(recvmsg), NO(send), NO(sendv), NO(sendmsg),
	NO(inject), NO(senddata), NO(injectdata),
};

struct fi_ops_atomic via_no_atomic = {
	.size = sizeof(struct fi_ops_atomic),
	NO(write), NO(writev), NO(writemsg), NO(inject), NO(readwrite),
	NO(readwritev), NO(readwritemsg), NO(compwrite), NO(compwritev),
	NO(compwritemsg), NO(writevalid), NO(readwritevalid),
	NO(compwritevalid),
};

struct fi_ops_collective via_no_collective = {
	.size = sizeof(struct fi_ops_collective),
	NO(barrier), NO(broadcast), NO(alltoall), NO(allreduce),
	NO(allgather), NO(reduce_scatter), NO(reduce), NO(scatter),
	NO(gather), NO(msg), NO(barrier2),
};

struct fi_ops_cm via_no_cm = {
	.size = sizeof(struct fi_ops_cm),
	NO(setname), NO(getname), NO(getpeer), NO(connect), NO(listen),
	NO(accept), NO(reject), NO(shutdown), NO(join),
};
