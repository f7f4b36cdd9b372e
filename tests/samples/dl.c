/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A program that loads the library itself, looks up all of its calls by name,
 * and sends itself a message: C1.
 *
 *	dl LIBRARY [DEVICE]	without a DEVICE, only the names
 */
#include <vipl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *lib;

static const char *const names[] = {
	"OpenNic", "CloseNic", "QueryNic",
	"CreateVi", "DestroyVi", "QueryVi", "SetViAttributes",
	"CreatePtag", "DestroyPtag",
	"RegisterMem", "DeregisterMem", "QueryMem", "SetMemAttributes",
	"PostSend", "SendDone", "SendWait", "SendNotify",
	"PostRecv", "RecvDone", "RecvWait", "RecvNotify",
	"CreateCQ", "DestroyCQ", "ResizeCQ", "CQDone", "CQWait", "CQNotify",
	"ConnectWait", "ConnectAccept", "ConnectReject", "ConnectRequest",
	"Disconnect",
	"ConnectPeerRequest", "ConnectPeerDone", "ConnectPeerWait",
	"NSInit", "NSGetHostByName", "NSGetHostByAddr", "NSShutdown",
	"QuerySystemManagementInfo", "ErrorCallback",
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

static void *find(const char *name)
{
	char full[64];
	void *f;

	snprintf(full, sizeof(full), "Vip%s", name);
	f = dlsym(lib, full);
	if (!f) {
		fprintf(stderr, "dl: no %s\n", full);
		exit(1);
	}
	return f;
}

#define CALL(name, ...) \
	((__typeof__(Vip##name) *)find(#name))(__VA_ARGS__)

static void must(VIP_RETURN r, const char *what)
{
	if (r == VIP_SUCCESS)
		return;
	fprintf(stderr, "dl: %s gave %d\n", what, (int)r);
	exit(1);
}

#define MUST(name, ...) must(CALL(name, __VA_ARGS__), #name)

struct address {
	VIP_NET_ADDRESS a;
	char room[40];
};

static VIP_NIC_HANDLE nic;
static VIP_VI_HANDLE vi[2];
static struct address here;

static void *serve(void *arg)
{
	VIP_VI_ATTRIBUTES theirs;
	struct address remote;
	VIP_CONN_HANDLE conn;

	(void)arg;
	MUST(ConnectWait, nic, &here.a, VIP_INFINITE, &remote.a, &theirs,
	     &conn);
	MUST(ConnectAccept, conn, vi[1]);
	return NULL;
}

static void set_address(void)
{
	VIP_NIC_ATTRIBUTES na;
	VIP_UINT8 *bytes = (VIP_UINT8 *)&here + 4;

	MUST(QueryNic, nic, &na);
	here.a.HostAddressLen = na.NicAddressLen;
	here.a.DiscriminatorLen = 4;
	memcpy(bytes, na.LocalNicAddress, na.NicAddressLen);
	memcpy(bytes + na.NicAddressLen, "\0dl", 4);
}

static void message(void)
{
	static VIP_DESCRIPTOR d[2] __attribute__((aligned(64)));
	static char text[2][16] = { "", "hello" };
	VIP_MEM_HANDLE dh, th;
	VIP_DESCRIPTOR *done;
	int i;

	MUST(RegisterMem, nic, d, sizeof(d), NULL, &dh);
	MUST(RegisterMem, nic, text, sizeof(text), NULL, &th);
	for (i = 0; i < 2; i++) {
		d[i].CS.SegCount = 1;
		d[i].CS.Length = sizeof(text[i]);
		d[i].DS[0].Local.Data.Address = text[i];
		d[i].DS[0].Local.Handle = th;
		d[i].DS[0].Local.Length = sizeof(text[i]);
	}
	MUST(PostRecv, vi[0], &d[0], dh);
	MUST(PostSend, vi[1], &d[1], dh);
	MUST(RecvWait, vi[0], VIP_INFINITE, &done);
	MUST(SendWait, vi[1], VIP_INFINITE, &done);
	if (strcmp(text[0], "hello"))
		must(VIP_ERROR, "message");
}

static void ping(const char *device)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, 4096, NULL,
				NULL, VIP_FALSE, VIP_FALSE }, theirs;
	pthread_t thread;
	VIP_RETURN r;
	int i;

	MUST(OpenNic, device, &nic);
	set_address();
	for (i = 0; i < 2; i++)
		MUST(CreateVi, nic, &a, NULL, NULL, &vi[i]);
	if (pthread_create(&thread, NULL, serve, NULL))
		must(VIP_ERROR_RESOURCE, "pthread_create");
	do {
		r = CALL(ConnectRequest, vi[0], &here.a, &here.a, VIP_INFINITE,
			 &theirs);
	} while (r == VIP_NO_MATCH);
	must(r, "ConnectRequest");
	pthread_join(thread, NULL);
	message();
	MUST(CloseNic, nic);
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: dl LIBRARY [DEVICE]\n");
		return 2;
	}
	lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		fprintf(stderr, "dl: %s\n", dlerror());
		return 1;
	}
	for (i = 0; i < N_NAMES; i++)
		find(names[i]);
	if (N_NAMES != 41)
		return 1;
	if (argc == 3)
		ping(argv[2]);
	/* Its thread may be about: unloading must not pull the code away. */
	return dlclose(lib) != 0;
}
