// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A server waits at an address that a name of this host has, and a client asks
 * for the same one.
 *
 *	local DEVICE HOST yes|no	no: it is not the NIC's
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pair.h"

#define DISC	"local"

union address {
	VIP_NET_ADDRESS a;
	char room[128];
};

static void resolve(struct end *e, union address *at, const char *host)
{
	memset(at, 0, sizeof(*at));
	at->a.HostAddressLen = e->attr.NicAddressLen;
	OK(VipNSGetHostByName(e->nic, (char *)host, &at->a, 0));
	at->a.DiscriminatorLen = strlen(DISC);
	memcpy(at->a.HostAddress + at->a.HostAddressLen, DISC, strlen(DISC));
}

static void server(const char *host, int yes)
{
	union address here, from = { 0 };
	VIP_VI_ATTRIBUTES theirs;
	struct end e = { 0 };
	VIP_CONN_HANDLE c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_end(&e);
	resolve(&e, &here, host);
	from.a.HostAddressLen = e.attr.NicAddressLen;
	from.a.DiscriminatorLen = e.attr.MaxDiscriminatorLen;
	must("VipConnectWait", VipConnectWait(e.nic, &here.a, 15000, &from.a,
					      &theirs, &c),
	     yes ? VIP_SUCCESS : VIP_INVALID_PARAMETER);
	if (yes)
		OK(VipConnectAccept(c, e.vi));
	OK(VipDisconnect(e.vi));
	OK(VipCloseNic(e.nic));
	exit(0);
}

static void client(const char *host)
{
	union address to, own = { 0 };
	VIP_VI_ATTRIBUTES theirs;
	struct end e = { 0 };
	VIP_RETURN r;

	open_end(&e);
	resolve(&e, &to, host);
	own.a.HostAddressLen = e.attr.NicAddressLen;
	memcpy(own.a.HostAddress, e.attr.LocalNicAddress,
	       e.attr.NicAddressLen);
	do {
		r = VipConnectRequest(e.vi, &own.a, &to.a, 5000, &theirs);
	} while (r == VIP_NO_MATCH || r == VIP_NOT_REACHABLE);
	must("VipConnectRequest", r, VIP_SUCCESS);
	OK(VipDisconnect(e.vi));
	OK(VipCloseNic(e.nic));
	exit(0);
}

int main(int argc, char **argv)
{
	int yes = argc == 4 && !strcmp(argv[3], "yes"), bad, pid[2] = { 0, 0 };

	if (argc != 4) {
		fprintf(stderr, "usage: local DEVICE HOST yes|no\n");
		return 2;
	}
	device = argv[1];
	pid[0] = fork();
	if (!pid[0])
		server(argv[2], yes);
	if (yes)
		pid[1] = fork();
	if (yes && !pid[1])
		client(argv[2]);
	bad = wait_for_child(pid[0]);
	if (yes && bad)
		kill(pid[1], SIGKILL);
	if (yes)
		bad |= wait_for_child(pid[1]);
	return bad != 0;
}
