// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The client of server.c and epoll.c: sends lines and compares the answers.
 *
 *	client DEVICE HOST [COUNT]
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "echo.h"

struct memory {
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR recv;
	_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR send;
	char in[ECHO_MAX], out[ECHO_MAX];
};

int main(int argc, char **argv)
{
	unsigned long i, count = argc > 3 ? strtoul(argv[3], NULL, 0) : 10;
	VIP_MEM_HANDLE handle;
	VIP_DESCRIPTOR *d;
	VIP_VI_HANDLE vi;
	struct memory *m;
	struct node n;
	VIP_RETURN r;
	int len;

	if (argc < 3 || argc > 4)
		errx(2, "usage: client DEVICE HOST [COUNT]");
	open_node(&n, argv[1]);
	vi = new_vi(&n, ECHO_MAX, NULL, NULL);
	m = new_region(&n, sizeof(*m), VIP_FALSE, &handle);
	connect_to(&n, vi, argv[2], ECHO_DISC);
	for (i = 0; i < count; i++) {
		len = snprintf(m->out, sizeof(m->out), "message %lu of %d", i,
			       (int)getpid());
		/* The receive of an answer before the question. */
		describe(&m->recv, m->in, sizeof(m->in), handle);
		must(VipPostRecv(vi, &m->recv, handle));
		describe(&m->send, m->out, len, handle);
		must(VipPostSend(vi, &m->send, handle));
		r = VipSendWait(vi, VIP_INFINITE, &d);
		completed(r, d, "question");
		r = VipRecvWait(vi, VIP_INFINITE, &d);
		completed(r, d, "answer");
		if (d->CS.Length != (VIP_UINT32)len ||
		    memcmp(m->in, m->out, len))
			errx(1, "another answer: %.*s", (int)d->CS.Length,
			     m->in);
	}
	printf("%lu answers\n", count);
	must(VipDisconnect(vi));
	must(VipCloseNic(n.nic));
	return 0;
}
