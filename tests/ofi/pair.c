// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

union address {
	VIP_NET_ADDRESS a;
	char room[128];
};

char *device;

void must(const char *call, VIP_RETURN r, VIP_RETURN want)
{
	if (r == want)
		return;
	fprintf(stderr, "%s: %d\n", call, (int)r);
	_exit(1);
}

void fail(const char *what, long n)
{
	fprintf(stderr, "%s: %ld\n", what, n);
	_exit(1);
}

static void errors(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	(void)context;
	(void)e;
}

void new_vi(struct end *e)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY,
				e->transfer ? e->transfer : SIZE, NULL, NULL,
				VIP_FALSE, VIP_FALSE };

	OK(VipCreateVi(e->nic, &a, NULL, NULL, &e->vi));
}

void open_end(struct end *e)
{
	OK(VipOpenNic(device, &e->nic));
	OK(VipErrorCallback(e->nic, NULL, errors));
	OK(VipQueryNic(e->nic, &e->attr));
	e->mem = aligned_alloc(SIZE, SIZE);
	if (!e->mem)
		fail("no memory", 0);
	memset(e->mem, 0, SIZE);
	OK(VipRegisterMem(e->nic, e->mem, SIZE, NULL, &e->mem_h));
	new_vi(e);
}

static void address(struct end *e, union address *a, const char *disc)
{
	memset(a, 0, sizeof(*a));
	a->a.HostAddressLen = e->attr.NicAddressLen;
	memcpy(a->a.HostAddress, e->attr.LocalNicAddress,
	       e->attr.NicAddressLen);
	a->a.DiscriminatorLen = strlen(disc);
	memcpy(a->a.HostAddress + a->a.HostAddressLen, disc, strlen(disc));
}

VIP_DESCRIPTOR *descriptor(struct end *e, int i)
{
	VIP_DESCRIPTOR *d = (void *)(e->mem + 64 * i);

	memset(d, 0, 64);
	return d;
}

void serve(struct end *e, const char *disc)
{
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE c;

	address(e, &local, disc);
	OK(VipConnectWait(e->nic, &local.a, VIP_INFINITE, &remote.a, &theirs,
			  &c));
	OK(VipConnectAccept(c, e->vi));
}

void request(struct end *e, const char *disc)
{
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_RETURN r;

	address(e, &local, "");
	address(e, &remote, disc);
	do {
		r = VipConnectRequest(e->vi, &local.a, &remote.a, 5000,
				      &theirs);
	} while (r == VIP_NO_MATCH);
	must("VipConnectRequest", r, VIP_SUCCESS);
}

int wait_for_child(int pid)
{
	int status, i;

	for (i = 0; i < PATIENCE_S * 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) :
						   128 + WTERMSIG(status);
		usleep(10000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}
