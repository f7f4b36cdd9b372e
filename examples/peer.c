// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Peer to peer: two programs that look for each other, neither the server.
 *
 *	peer DEVICE HOST MINE THEIRS
 *
 * The two match when each one's name is what the other looks for; either may
 * be first:
 *
 *	peer shm:0 localhost alice bob
 *	peer shm:0 localhost bob alice
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

#define TEXT_MAX	128
#define PATIENCE	20000	/* ms */

struct memory {
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR recv;
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR send;
	char in[TEXT_MAX], out[TEXT_MAX];
};

int main(int argc, char **argv)
{
	union address here, there;
	VIP_VI_ATTRIBUTES theirs;
	VIP_MEM_HANDLE handle;
	VIP_DESCRIPTOR *d;
	VIP_VI_HANDLE vi;
	struct memory *m;
	struct node n;
	VIP_RETURN r;
	int len;

	if (argc != 5)
		errx(2, "usage: peer DEVICE HOST MINE THEIRS");
	open_node(&n, argv[1]);
	vi = new_vi(&n, TEXT_MAX, NULL, NULL);
	m = new_region(&n, sizeof(*m), VIP_FALSE, &handle);
	describe(&m->recv, m->in, sizeof(m->in), handle);
	must(VipPostRecv(vi, &m->recv, handle));

	/* The request never blocks; the wait has the verdict. Between the two
	 * there is time for something else.
	 */
	own_address(&n, &here, argv[3]);
	host_address(&n, &there, argv[2], argv[4]);
	must(VipConnectPeerRequest(vi, &here.a, &there.a, PATIENCE));
	must(VipConnectPeerWait(vi, &theirs));

	len = snprintf(m->out, sizeof(m->out), "I am %s", argv[3]);
	if (len >= (int)sizeof(m->out))
		errx(1, "%s: too long a name", argv[3]);
	describe(&m->send, m->out, len, handle);
	must(VipPostSend(vi, &m->send, handle));
	r = VipSendWait(vi, VIP_INFINITE, &d);
	completed(r, d, "send");
	r = VipRecvWait(vi, VIP_INFINITE, &d);
	completed(r, d, "receive");
	printf("%s says: %.*s\n", argv[4], (int)d->CS.Length, m->in);
	must(VipDisconnect(vi));
	must(VipCloseNic(n.nic));
	return 0;
}
