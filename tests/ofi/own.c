// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program whose own functions have names of the C library's: neither libvipl
 * nor libfabric calls them.
 *
 *	own DEVICE
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "pair.h"

#define OWN(name)							\
	int name(void);							\
	int name(void)							\
	{								\
		fail("the program's own " #name "() is called", 0);	\
	}

OWN(accept)
OWN(bind)
OWN(connect)
OWN(listen)
OWN(poll)
OWN(recv)
OWN(recvmsg)
OWN(send)
OWN(sendmsg)

static struct end server, client;

static void *server_main(void *arg)
{
	serve(&server, "own");
	return arg;
}

int main(int argc, char **argv)
{
	VIP_DESCRIPTOR *d;
	pthread_t thread;

	if (argc != 2) {
		fprintf(stderr, "usage: own DEVICE\n");
		return 2;
	}
	device = argv[1];
	open_end(&server);
	open_end(&client);
	OK(VipPostRecv(server.vi, descriptor(&server, 0), server.mem_h));
	if (pthread_create(&thread, NULL, server_main, NULL))
		fail("no thread", 0);
	request(&client, "own");
	pthread_join(thread, NULL);
	OK(VipPostSend(client.vi, descriptor(&client, 0), client.mem_h));
	OK(VipRecvWait(server.vi, 5000, &d));
	OK(VipSendWait(client.vi, 5000, &d));
	OK(VipDisconnect(client.vi));
	OK(VipCloseNic(client.nic));
	OK(VipCloseNic(server.nic));
	return 0;
}
