// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A program that opens providers: use WHAT [DEVICE]. */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vipl.h>
#include <vipl_ext.h>

#define CHECK(x) do {							\
	if (!(x)) {							\
		printf("use.c:%d: not so: %s\n", __LINE__, #x);		\
		failed = 1;						\
	}								\
} while (0)

static int failed;
static VIP_NIC_HANDLE nic;

static VIP_VI_HANDLE new_vi(VIP_CQ_HANDLE cq)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_UNRELIABLE, 1000, 0, 0, 0, 0 };
	VIP_VI_HANDLE vi = NULL;

	CHECK(VipCreateVi(nic, &a, cq, NULL, &vi) == VIP_SUCCESS);
	return vi;
}

static int fd_of_nic(void)
{
	int fd = -1;

	CHECK(VipExtNicGetFd(nic, &fd) == VIP_SUCCESS);
	return fd;
}

static int readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

static void no_such_ops(void)
{
	VIP_MEM_HANDLE mem;
	VIP_PROTECTION_HANDLE ptag;
	VIP_CQ_HANDLE cq;
	char buf[16];

	CHECK(VipCreatePtag(nic, &ptag) == VIP_ERROR_NOT_SUPPORTED);
	CHECK(VipRegisterMem(nic, buf, 16, NULL, &mem) ==
	      VIP_ERROR_NOT_SUPPORTED);
	CHECK(VipCreateCQ(nic, 4, &cq) == VIP_ERROR_NOT_SUPPORTED);
}

static void cq_fd(void)
{
	VIP_DESCRIPTOR desc[3], *out;
	VIP_VI_HANDLE vi, from;
	VIP_CQ_HANDLE cq;
	VIP_BOOLEAN recv;
	int fd, again, i;

	CHECK(VipCreateCQ(nic, 8, &cq) == VIP_SUCCESS);
	vi = new_vi(cq);
	CHECK(VipExtCQArm(cq) == VIP_INVALID_PARAMETER);
	CHECK(VipExtCQGetFd(cq, &fd) == VIP_SUCCESS && fd > 2);
	CHECK(VipExtCQGetFd(cq, &again) == VIP_SUCCESS && again == fd);
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(!readable(fd, 0));
	CHECK(VipPostSend(vi, &desc[0], 0) == VIP_SUCCESS);
	CHECK(!readable(fd, 0));
	/* What is there already; and once for each time. */
	CHECK(VipExtCQArm(cq) == VIP_SUCCESS);
	CHECK(readable(fd, 5000));
	CHECK(VipCQDone(cq, &from, &recv) == VIP_SUCCESS && from == vi);
	CHECK(VipCQDone(cq, &from, &recv) == VIP_NOT_DONE);
	CHECK(VipExtCQArm(cq) == VIP_SUCCESS);
	CHECK(!readable(fd, 50));
	for (i = 1; i < 3; i++)
		CHECK(VipPostSend(vi, &desc[i], 0) == VIP_SUCCESS);
	CHECK(readable(fd, 5000));
	for (i = 0; i < 3; i++)
		CHECK(VipSendDone(vi, &out) == VIP_SUCCESS);
	CHECK(VipDestroyVi(vi) == VIP_SUCCESS);
	CHECK(VipDestroyCQ(cq) == VIP_SUCCESS);
	CHECK(VipExtCQArm(cq) == VIP_INVALID_PARAMETER);
	CHECK(fcntl(fd, F_GETFD) < 0);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int sent, noticed, lost;

static void count(int *n)
{
	pthread_mutex_lock(&lock);
	++*n;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
}

static void until(int *n, int want)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 10;
	pthread_mutex_lock(&lock);
	while (*n < want && !pthread_cond_timedwait(&cond, &lock, &end))
		;
	CHECK(*n == want);
	pthread_mutex_unlock(&lock);
}

static void on_send(VIP_PVOID ctx, VIP_NIC_HANDLE n, VIP_VI_HANDLE vi,
		    VIP_DESCRIPTOR *desc)
{
	(void)ctx;
	(void)vi;
	(void)desc;
	CHECK(n == nic);
	count(&sent);
}

static void on_cq(VIP_PVOID ctx, VIP_NIC_HANDLE n, VIP_VI_HANDLE vi,
		  VIP_BOOLEAN recv)
{
	(void)ctx;
	(void)n;
	(void)vi;
	(void)recv;
	count(&noticed);
}

static void on_error(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	CHECK(e->ErrorCode == VIP_ERROR_CONN_LOST && e->ViHandle == ctx &&
	      e->ResourceCode == VIP_RESOURCE_VI && e->NicHandle == nic);
	count(&lost);
}

/* A file and a handler of one CQ: each gets its event. */
static void handlers(void)
{
	VIP_DESCRIPTOR desc[8], *out;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	int fd, i;

	CHECK(VipCreateCQ(nic, 8, &cq) == VIP_SUCCESS);
	vi = new_vi(cq);
	CHECK(VipExtCQGetFd(cq, &fd) == VIP_SUCCESS);
	CHECK(VipExtCQArm(cq) == VIP_SUCCESS);
	for (i = 0; i < 4; i++) {
		CHECK(VipCQNotify(cq, NULL, on_cq) == VIP_SUCCESS);
		CHECK(VipSendNotify(vi, NULL, on_send) == VIP_SUCCESS);
	}
	CHECK(VipRecvNotify(vi, NULL, on_send) == VIP_ERROR_RESOURCE);
	for (i = 0; i < 4; i++)
		CHECK(VipPostSend(vi, &desc[i], 0) == VIP_SUCCESS);
	until(&sent, 4);
	until(&noticed, 4);
	CHECK(readable(fd, 5000));
	CHECK(VipSendDone(vi, &out) == VIP_NOT_DONE);

	CHECK(VipErrorCallback(nic, vi, on_error) == VIP_SUCCESS);
	for (i = 0; i < 100; i++)
		CHECK(VipPostRecv(vi, &desc[0], 0) == VIP_SUCCESS);
	until(&lost, 100);
	CHECK(VipErrorCallback(nic, NULL, NULL) == VIP_SUCCESS);
	CHECK(VipDestroyVi(vi) == VIP_SUCCESS);
}

static void connections(void)
{
	char full[VIP_EXT_PRIVATE_MAX];
	VIP_UINT8 space[2][64] = { { 0 } };
	VIP_NET_ADDRESS *local = (void *)space[0], *remote = (void *)space[1];
	char buf[VIP_EXT_PRIVATE_MAX + 1] = "hello";
	VIP_VI_HANDLE vi = new_vi(NULL);
	VIP_ULONG len = 3;
	int fd;

	CHECK(VipExtNicGetFd(nic, &fd) == VIP_SUCCESS && fd > 2);
	/* It is, at first: there may be something from before. */
	CHECK(readable(fd, 0));
	CHECK(VipExtNicClear(nic) == VIP_SUCCESS);
	CHECK(!readable(fd, 0));
	CHECK(VipExtConnectListen(nic, local, 4) == VIP_SUCCESS);
	CHECK(readable(fd, 5000));
	CHECK(VipExtNicClear(nic) == VIP_SUCCESS && !readable(fd, 0));

	CHECK(VipExtParseAddress(nic, "toy9", remote) == VIP_SUCCESS);
	CHECK(remote->HostAddressLen == 20 && remote->HostAddress[19] == 9);
	CHECK(VipExtConnectDone(vi, NULL, NULL, NULL) == VIP_INVALID_STATE);
	CHECK(VipExtConnectRequest(vi, local, remote, 1, buf, sizeof(buf)) ==
	      VIP_INVALID_PARAMETER);
	CHECK(VipExtConnectRequest(vi, local, remote, 1, NULL, 5) ==
	      VIP_INVALID_PARAMETER);
	memset(full, 'x', sizeof(full));
	CHECK(VipExtConnectRequest(vi, local, remote, 1, full, sizeof(full)) ==
	      VIP_SUCCESS);
	CHECK(VipExtConnectRequest(vi, local, remote, 1, buf, 5) ==
	      VIP_SUCCESS);
	strcpy(buf, "xxxxxxx");
	CHECK(VipExtConnectDone(vi, NULL, buf, NULL) == VIP_INVALID_PARAMETER);
	CHECK(VipExtConnectDone(vi, NULL, buf, &len) == VIP_NOT_DONE);
	/* A longer one is cut. */
	CHECK(VipExtConnectDone(vi, NULL, buf, &len) == VIP_REJECT);
	CHECK(len == 3 && !strcmp(buf, "helxxxx"));
	CHECK(VipConnectRequest(vi, local, remote, 1,
				&(VIP_VI_ATTRIBUTES){ 0 }) ==
	      VIP_ERROR_NOT_SUPPORTED);
	CHECK(VipDestroyVi(vi) == VIP_SUCCESS);
}

/* What the program has behind its buffer stays as it is. */
static void requests(void)
{
	static const struct {
		const char *disc;
		VIP_RETURN rc;
	} cases[] = {
		{ "good!", VIP_SUCCESS },
		{ "longh", VIP_ERROR_RESOURCE },
		{ "longd", VIP_ERROR_RESOURCE },
		{ "later", VIP_ERROR_RESOURCE },
	};
	VIP_UINT8 space[2][4 + 32 + 64];
	VIP_NET_ADDRESS *local = (void *)space[0], *remote = (void *)space[1];
	VIP_VI_ATTRIBUTES attrs;
	VIP_CONN_HANDLE conn;
	size_t i, n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(space, 0xaa, sizeof(space));
		local->HostAddressLen = 0;
		local->DiscriminatorLen = 5;
		memcpy(space[0] + 4, cases[i].disc, 5);
		CHECK(VipConnectWait(nic, local, 0, remote, &attrs, &conn) ==
		      cases[i].rc);
		n = cases[i].rc == VIP_SUCCESS ? 4 + 20 + 16 : 0;
		for (; n < sizeof(space[1]); n++)
			CHECK(space[1][n] == 0xaa);
	}
	/* Two events of a later version: the file is told of none. */
	CHECK(VipExtNicClear(nic) == VIP_SUCCESS);
	CHECK(VipExtConnectListen(nic, local, 1) == VIP_SUCCESS);
	CHECK(!readable(fd_of_nic(), 100));
}

/* An address is stored where there is room for those of the NIC alone. */
static void exact(void)
{
	VIP_UINT8 space[4 + 20 + 8];
	VIP_NET_ADDRESS *a = (void *)space;
	size_t i;
	int way;

	for (way = 0; way < 2; way++) {
		memset(space, 0xaa, sizeof(space));
		CHECK((way ? VipNSGetHostByName(nic, "toy3", a, 0) :
			     VipExtParseAddress(nic, "toy3", a)) ==
		      VIP_SUCCESS);
		for (i = 4 + 20; i < sizeof(space); i++)
			CHECK(space[i] == 0xaa);
	}
}

/* Another provider's objects are not given to this one. */
static void steal(const char *other)
{
	VIP_NIC_HANDLE mine = nic, theirs, none;
	VIP_CQ_HANDLE cq[2];
	VIP_VI_HANDLE vi[2];
	char name[64];
	int i;

	CHECK(VipOpenNic(other, &theirs) == VIP_SUCCESS);
	for (i = 0; i < 2; i++) {
		nic = i ? theirs : mine;
		vi[i] = new_vi(NULL);
		CHECK(VipCreateCQ(nic, 8, &cq[i]) == VIP_SUCCESS);
	}
	nic = mine;
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "toy:vi=%lx", (long)vi[i]);
		CHECK(VipOpenNic(name, &none) == VIP_INVALID_PARAMETER);
		snprintf(name, sizeof(name), "toy:cq=%lx", (long)cq[i]);
		CHECK(VipOpenNic(name, &none) == VIP_INVALID_PARAMETER);
	}
	CHECK(VipCloseNic(theirs) == VIP_SUCCESS);
}

/* Warnings about a file that stays, and then changes. */
static void again(const char *device, const char *file)
{
	VIP_NIC_HANDLE n;
	FILE *f;
	int i;

	for (i = 0; i < 6; i++) {
		if (i == 3) {
			f = fopen(file, "a");
			CHECK(f && fputs("rubbish\n", f) >= 0 && !fclose(f));
		}
		CHECK(VipOpenNic(device, &n) == VIP_SUCCESS);
		CHECK(VipCloseNic(n) == VIP_SUCCESS);
	}
}

static void addresses(void)
{
	VIP_UINT8 space[64] = { 0 };
	VIP_NET_ADDRESS *a = (void *)space;
	VIP_NIC_ATTRIBUTES attrs;
	VIP_UINT64 features;
	char text[32];

	CHECK(VipQueryNic(nic, &attrs) == VIP_SUCCESS);
	CHECK(attrs.NicAddressLen == 20 && attrs.LocalNicAddress[19] == 7);
	CHECK(VipExtQueryFeatures(nic, &features) == VIP_SUCCESS);
	CHECK(features & VIP_FEATURE_CQ_FD);
	CHECK(!(features & VIP_FEATURE_REMOTE));
	CHECK(VipExtParseAddress(nic, "toy256", a) == VIP_INVALID_PARAMETER);
	CHECK(VipExtParseAddress(nic, "toy255", a) == VIP_SUCCESS);
	CHECK(VipExtFormatAddress(nic, a, text, sizeof(text)) == VIP_SUCCESS);
	CHECK(!strcmp(text, "toy255"));
	CHECK(VipExtFormatAddress(nic, a, text, 7) == VIP_SUCCESS);
	CHECK(VipExtFormatAddress(nic, a, text, 6) == VIP_INVALID_PARAMETER);
	CHECK(VipNSGetHostByName(nic, "toy3", a, 0) == VIP_SUCCESS);
	CHECK(a->HostAddressLen == 20 && a->HostAddress[19] == 3);
	CHECK(VipNSGetHostByName(nic, "toy3", a, 1) == VIP_ERROR_NAMESERVICE);
	CHECK(VipNSGetHostByName(nic, "localhost", a, 0) == VIP_SUCCESS);
	CHECK(a->HostAddress[19] == 7);
}

static void texts(void)
{
	char text[64];
	int i;

	for (i = -1; i < 100; i++) {
		CHECK(*VipExtReturnText((VIP_RETURN)i));
		CHECK(*VipExtErrorText((VIP_ERROR_CODE)i));
		CHECK(*VipExtStateText((VIP_VI_STATE)i));
		CHECK(*VipExtStatusText(1u << (i & 31), text, sizeof(text)));
	}
	CHECK(!strcmp(VipExtReturnText(VIP_TIMEOUT), "timed out"));
	CHECK(!strcmp(VipExtReturnText((VIP_RETURN)17), "unknown"));
	CHECK(!strcmp(VipExtStateText(VIP_STATE_ERROR), "error"));
	CHECK(!strcmp(VipExtStatusText(VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE |
				       VIP_STATUS_LENGTH_ERROR, text,
				       sizeof(text)),
		      "receive, length error"));
	CHECK(!strcmp(VipExtStatusText(VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE |
				       VIP_STATUS_LENGTH_ERROR, text, 12),
		      "receive, le"));
	CHECK(!strcmp(VipExtStatusText(0, text, sizeof(text)), "not done"));
	CHECK(!*VipExtStatusText(1, NULL, 5));
}

/* The default handler, in a thread with a table of files without any. */
static void default_handler(void)
{
	VIP_VI_HANDLE vi = new_vi(NULL);
	VIP_DESCRIPTOR desc;

	CHECK(VipPostRecv(vi, &desc, 0) == VIP_SUCCESS);
	usleep(300000);
	CHECK(fcntl(0, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0);
	CHECK(VipDestroyVi(vi) == VIP_SUCCESS);
}

static void children(void)
{
	VIP_VI_HANDLE vi = new_vi(NULL);
	VIP_DESCRIPTOR desc;
	pid_t pid = fork();
	int status;

	if (!pid) {
		CHECK(VipPostSend(vi, &desc, 0) == VIP_INVALID_PARAMETER);
		CHECK(VipCloseNic(nic) == VIP_INVALID_PARAMETER);
		CHECK(VipOpenNic("toy:", &nic) == VIP_SUCCESS);
		vi = new_vi(NULL);
		CHECK(VipPostSend(vi, &desc, 0) == VIP_SUCCESS);
		CHECK(VipCloseNic(nic) == VIP_SUCCESS);
		fflush(stdout);
		_exit(failed);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(VipPostSend(vi, &desc, 0) == VIP_SUCCESS);
	CHECK(VipDestroyVi(vi) == VIP_SUCCESS);
}

static void *open_it(void *device)
{
	VIP_NIC_HANDLE n;

	CHECK(VipOpenNic(device, &n) == VIP_SUCCESS);
	return NULL;
}

static void *load_it(void *library)
{
	CHECK(dlopen(library, RTLD_NOW));
	return NULL;
}

/*
 * A library's constructor opens a NIC, under the lock of the dynamic linker,
 * while this thread is loading the provider.
 */
static void constructor(const char *device, const char *library)
{
	pthread_t t;

	alarm(20);
	setenv("LATE_OPENS", device, 1);
	CHECK(!pthread_create(&t, NULL, load_it, (void *)library));
	usleep(100000);
	open_it((void *)device);
	pthread_join(t, NULL);
}

static void show(VIP_PVOID ctx, const VIP_CHAR *provider,
		 const VIP_CHAR *device, const VIP_CHAR *what)
{
	VIP_NIC_HANDLE n;

	(void)ctx;
	printf("%s | %s | %s\n", provider, device ? device : "-", what);
	/* From within. */
	if (device && !strncmp(device, "toy:", 4))
		CHECK(VipOpenNic(device, &n) == VIP_SUCCESS &&
		      VipCloseNic(n) == VIP_SUCCESS);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *device = "toy:";

	if (argc > 2)
		device = argv[2];
	if (!strcmp(what, "secure"))
		return !getauxval(AT_SECURE);
	if (!strcmp(what, "devices"))
		return VipExtEnumDevices(show, NULL) != VIP_SUCCESS || failed;
	if (!strcmp(what, "constructor")) {
		constructor(device, argv[3]);
		return failed;
	}
	if (!strcmp(what, "again")) {
		again(device, argv[3]);
		return failed;
	}
	if (VipOpenNic(device, &nic) != VIP_SUCCESS)
		return 3;
	if (!strcmp(what, "less")) {
		no_such_ops();
	} else if (!strcmp(what, "all")) {
		cq_fd();
		handlers();
		connections();
		requests();
		addresses();
		exact();
		texts();
		children();
		default_handler();
	} else if (!strcmp(what, "steal")) {
		steal(argv[3]);
	}
	CHECK(VipCloseNic(nic) == VIP_SUCCESS);
	return failed;
}
