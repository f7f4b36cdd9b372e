// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Handles that are NULL, stale, or of another kind: section 10. */
#include "remote.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void no_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	(void)context;
	(void)e;
}

static void no_vi(VIP_PVOID context, VIP_NIC_HANDLE n, VIP_VI_HANDLE v,
		  VIP_DESCRIPTOR *d)
{
	(void)context;
	(void)n;
	(void)v;
	(void)d;
}

static void no_cq(VIP_PVOID context, VIP_NIC_HANDLE n, VIP_VI_HANDLE v,
		  VIP_BOOLEAN recv)
{
	(void)context;
	(void)n;
	(void)v;
	(void)recv;
}

/* Every call that takes a NIC, with all else in order. */
static void with_nic(VIP_NIC_HANDLE n)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level), theirs;
	struct net_address addr, remote;
	VIP_AUTODISCOVERY_LIST found;
	VIP_PROTECTION_HANDLE ptag;
	VIP_MEM_ATTRIBUTES ma;
	VIP_NIC_ATTRIBUTES na;
	VIP_ULONG len = 64;
	VIP_CONN_HANDLE conn;
	VIP_MEM_HANDLE h;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	char name[64];

	own_address(&env.nic, &addr, "h", 1);
	CHECK_INVALID(VipQueryNic(n, &na));
	CHECK_INVALID(VipCreateVi(n, &a, NULL, NULL, &vi));
	CHECK_INVALID(VipCreatePtag(n, &ptag));
	CHECK_INVALID(VipDestroyPtag(n, env.nic.ptag));
	CHECK_INVALID(VipRegisterMem(n, env.nic.arena, 64, NULL, &h));
	CHECK_INVALID(VipDeregisterMem(n, env.nic.arena, env.nic.arena_h));
	CHECK_INVALID(VipQueryMem(n, env.nic.arena, env.nic.arena_h, &ma));
	ma = (VIP_MEM_ATTRIBUTES){ NULL, VIP_FALSE, VIP_FALSE };
	CHECK_INVALID(VipSetMemAttributes(n, env.nic.arena, env.nic.arena_h,
					  &ma));
	CHECK_INVALID(VipQuerySystemManagementInfo(n, VIP_SMI_AUTODISCOVERY,
						   &found));
	CHECK_INVALID(VipCreateCQ(n, 4, &cq));
	CHECK_INVALID(VipConnectWait(n, &addr.a, 0, &remote.a, &theirs, &conn));
	CHECK_INVALID(VipErrorCallback(n, NULL, NULL));
	CHECK_INVALID(VipErrorCallback(n, NULL, no_error));
	CHECK_INVALID(VipNSInit(n, NULL));
	CHECK_INVALID(VipNSGetHostByName(n, "localhost", &remote.a, 0));
	CHECK_INVALID(VipNSGetHostByAddr(n, &addr.a, name, &len));
	CHECK_INVALID(VipNSShutdown(n));
	CHECK_INVALID(VipCloseNic(n));
}

static void with_vi(VIP_VI_HANDLE v)
{
	struct net_address local, remote;
	VIP_DESCRIPTOR *d = nic_slot(&env.nic), *out;
	VIP_VI_ATTRIBUTES a;
	VIP_BOOLEAN se, re;
	VIP_VI_STATE state;

	own_address(&env.nic, &local, "h", 1);
	own_address(&env.nic, &remote, "i", 1);
	CHECK_INVALID(VipDestroyVi(v));
	CHECK_INVALID(VipQueryVi(v, &state, &a, &se, &re));
	CHECK_INVALID(VipPostSend(v, d, env.nic.slots_h));
	CHECK_INVALID(VipPostRecv(v, d, env.nic.slots_h));
	CHECK_INVALID(VipSendDone(v, &out));
	CHECK_INVALID(VipRecvDone(v, &out));
	CHECK_INVALID(VipSendWait(v, 0, &out));
	CHECK_INVALID(VipRecvWait(v, VIP_INFINITE, &out));
	CHECK_INVALID(VipConnectRequest(v, &local.a, &remote.a, 10, &a));
	CHECK_INVALID(VipConnectPeerRequest(v, &local.a, &remote.a, 10));
	CHECK_INVALID(VipConnectPeerDone(v, &a));
	CHECK_INVALID(VipConnectPeerWait(v, &a));
	CHECK_INVALID(VipSendNotify(v, NULL, no_vi));
	CHECK_INVALID(VipRecvNotify(v, NULL, no_vi));
	a = vi_attributes(&env.nic, env.level);
	CHECK_INVALID(VipSetViAttributes(v, &a));
	CHECK_INVALID(VipDisconnect(v));
}

static void with_cq(VIP_CQ_HANDLE c)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;

	CHECK_INVALID(VipDestroyCQ(c));
	CHECK_INVALID(VipResizeCQ(c, 8));
	CHECK_INVALID(VipCQNotify(c, NULL, no_cq));
	CHECK_INVALID(VipCQDone(c, &vi, &recv));
	CHECK_INVALID(VipCQWait(c, 0, &vi, &recv));
	CHECK_INVALID(VipCQWait(c, VIP_INFINITE, &vi, &recv));
	if (!c)		/* which means none there */
		return;
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, c, NULL, &vi));
	CHECK_INVALID(VipCreateVi(env.nic.h, &a, NULL, c, &vi));
}

static void with_conn(VIP_CONN_HANDLE c)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_VI_HANDLE vi;

	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	CHECK_INVALID(VipConnectAccept(c, vi));
	CHECK_INVALID(VipConnectReject(c));
	CHECK_EQ(vi_state(vi), VIP_STATE_IDLE);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

struct all {
	VIP_NIC_HANDLE nic;
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;
	VIP_PROTECTION_HANDLE ptag;
};

/* The first code that is not SUCCESS; for any thread. */
static VIP_RETURN try_make(struct all *o)
{
	VIP_VI_ATTRIBUTES a = { env.level, 4096, NULL, NULL, 0, 0 };
	VIP_RETURN rc = VipOpenNic(env.device, &o->nic);

	if (rc == VIP_SUCCESS)
		rc = VipCreatePtag(o->nic, &o->ptag);
	if (rc == VIP_SUCCESS)
		rc = VipCreateCQ(o->nic, 4, &o->cq);
	if (rc == VIP_SUCCESS)
		rc = VipCreateVi(o->nic, &a, o->cq, NULL, &o->vi);
	return rc;
}

static struct all make(void)
{
	struct all o;

	REQUIRE_RC(try_make(&o), VIP_SUCCESS);
	return o;
}

static void null(void)
{
	with_nic(NULL);
	with_vi(NULL);
	with_cq(NULL);
	with_conn(NULL);
}

static void another_kind(void)
{
	struct all o = make();
	VIP_NIC_ATTRIBUTES a;

	about("a VI");
	with_nic(o.vi);
	with_cq(o.vi);
	with_conn(o.vi);
	about("a CQ");
	with_nic(o.cq);
	with_vi(o.cq);
	with_conn(o.cq);
	about("a Ptag");
	with_nic(o.ptag);
	with_vi(o.ptag);
	with_cq(o.ptag);
	with_conn(o.ptag);
	about("a NIC");
	with_vi(o.nic);
	with_cq(o.nic);
	with_conn(o.nic);
	/* None of them was harmed. */
	CHECK_EQ(vi_state(o.vi), VIP_STATE_IDLE);
	CHECK_RC(VipQueryNic(o.nic, &a), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(o.vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(o.cq), VIP_SUCCESS);
	CHECK_RC(VipDestroyPtag(o.nic, o.ptag), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(o.nic), VIP_SUCCESS);
}

/* Destroyed one by one, and then all replaced by new ones. */
static void stale(void)
{
	struct all o = make(), again;

	CHECK_RC(VipDestroyVi(o.vi), VIP_SUCCESS);
	with_vi(o.vi);
	CHECK_RC(VipDestroyCQ(o.cq), VIP_SUCCESS);
	with_cq(o.cq);
	CHECK_RC(VipCloseNic(o.nic), VIP_SUCCESS);
	with_nic(o.nic);
	again = make();
	about("after new ones were made");
	CHECK(again.nic != o.nic && again.vi != o.vi && again.cq != o.cq);
	with_nic(o.nic);
	with_vi(o.vi);
	with_cq(o.cq);
	CHECK_RC(VipCloseNic(again.nic), VIP_SUCCESS);
	about("closed with its objects");
	with_nic(again.nic);
	with_vi(again.vi);
	with_cq(again.cq);
}

/* Values that are no handles at all. */
static void made_up(void)
{
	static const uintptr_t values[] = {
		1, 2, 3, 4, 64, 4096, 0xdeadbeef, ~(uintptr_t)0,
		(uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		about("handle 0x%lx", (unsigned long)values[i]);
		with_nic((VIP_NIC_HANDLE)values[i]);
		with_vi((VIP_VI_HANDLE)values[i]);
		with_cq((VIP_CQ_HANDLE)values[i]);
		with_conn((VIP_CONN_HANDLE)values[i]);
	}
}

/* A child's verdicts are ours: they are recorded in shared memory. */
static void reap(pid_t pid)
{
	int status = -1;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

/* A request that waits for its answer, on our own NIC. */
struct offer {
	pthread_t thread;
	struct disc d;
	VIP_CONN_HANDLE conn;
	VIP_RETURN rc;
};

static void *offer_main(void *arg)
{
	struct net_address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	struct offer *o = arg;

	own_address(&env.nic, &local, o->d.bytes, o->d.len);
	o->rc = VipConnectWait(env.nic.h, &local.a, LONG_MS, &remote.a,
			       &theirs, &o->conn);
	return NULL;
}

/* All 41 calls in the child of a fork, with all that its parent had. */
static void forked(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct all o = make(), mine;
	struct offer f = { .d = new_disc() };
	struct asker k;
	VIP_VI_HANDLE vi;
	VIP_NIC_HANDLE second;
	pid_t pid;

	env.host = NULL;
	REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi), VIP_SUCCESS);
	REQUIRE(!pthread_create(&f.thread, NULL, offer_main, &f));
	ask_start(&k, vi, &f.d, LONG_MS);
	pthread_join(f.thread, NULL);
	REQUIRE_RC(f.rc, VIP_SUCCESS);
	about("in the child");
	pid = child_fork();
	if (pid == 0) {
		with_nic(o.nic);
		with_vi(o.vi);
		with_cq(o.cq);
		CHECK_INVALID(VipConnectReject(f.conn));
		/* With a NIC of its own it is no better off. */
		mine = make();
		about("in the child, with new objects");
		CHECK(mine.nic != o.nic && mine.vi != o.vi &&
		      mine.cq != o.cq && mine.ptag != o.ptag);
		with_nic(o.nic);
		with_vi(o.vi);
		with_cq(o.cq);
		CHECK_INVALID(VipConnectAccept(f.conn, mine.vi));
		CHECK_INVALID(VipDestroyPtag(mine.nic, o.ptag));
		CHECK_RC(VipCloseNic(mine.nic), VIP_SUCCESS);
		_exit(0);
	}
	reap(pid);
	about("in the parent");
	CHECK_RC(VipConnectReject(f.conn), VIP_SUCCESS);
	CHECK_RC(ask_join(&k), VIP_REJECT);
	CHECK_EQ(vi_state(o.vi), VIP_STATE_IDLE);
	CHECK_RC(VipOpenNic(env.device, &second), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(second), VIP_SUCCESS);
	CHECK_RC(VipCloseNic(o.nic), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
}

/* Calls that go on while another thread forks: their locks are held then. */
struct busy {
	pthread_t thread;
	unsigned int stop, bad;
};

static void *busy_main(void *arg)
{
	struct busy *b = arg;

	while (!__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE)) {
		VIP_DESCRIPTOR *d;
		struct all o;

		if (try_make(&o) != VIP_SUCCESS) {
			b->bad++;
			break;
		}
		b->bad += VipRecvDone(o.vi, &d) != VIP_DESCRIPTOR_ERROR;
		b->bad += VipCloseNic(o.nic) != VIP_SUCCESS;
	}
	return NULL;
}

static void forked_busy(void)
{
	struct busy b[2] = { 0 };
	unsigned int i;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(b); i++)
		REQUIRE(!pthread_create(&b[i].thread, NULL, busy_main, &b[i]));
	for (i = 0; i < 6; i++) {
		pid = fork();
		if (pid == 0) {
			struct all o = make();

			with_vi(env.nic.h);
			_exit(VipCloseNic(o.nic) != VIP_SUCCESS);
		}
		reap(pid);
	}
	for (i = 0; i < ARRAY_SIZE(b); i++) {
		__atomic_store_n(&b[i].stop, 1, __ATOMIC_RELEASE);
		pthread_join(b[i].thread, NULL);
		CHECK_EQ(b[i].bad, 0);
	}
}

/* A file of the library's: a device node, or what plug-ins are made of. */
static bool is_ours(const char *file)
{
	if (!strchr(env.device, ':'))
		return !strncmp(file, "/dev/via", 8);
	return strstr(file, "[eventpoll]") || strstr(file, "[eventfd]") ||
	       strstr(file, "[timerfd]") || strstr(file, "memfd:vipl");
}

/* posix_spawn() and exec: no file of ours is left to the program. */
static void executed(void)
{
	char *argv[] = { "true", NULL }, *envp[] = { NULL };
	struct all o = make();
	char link[64], file[64];
	unsigned int fd, ours = 0;
	pid_t pid = -1;
	ssize_t len;

	for (fd = 0; fd < 256; fd++) {
		snprintf(link, sizeof(link), "/proc/self/fd/%u", fd);
		len = readlink(link, file, sizeof(file) - 1);
		if (len < 0)
			continue;
		file[len] = 0;
		if (!is_ours(file))
			continue;
		ours++;
		CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	CHECK(ours >= 2);
	CHECK_EQ(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, envp), 0);
	reap(pid);
	pid = vfork();
	if (pid == 0) {
		execve("/bin/true", argv, envp);
		_exit(99);
	}
	reap(pid);
	CHECK_EQ(vi_state(o.vi), VIP_STATE_IDLE);
	CHECK_RC(VipCloseNic(o.nic), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "handles.null", "10 common rules", null, G_EARLY, 0 },
	{ "handles.another_kind", "10 common rules", another_kind, 0, 0 },
	{ "handles.stale", "10 common rules", stale, 0, 0 },
	{ "handles.made_up", "10 common rules", made_up, 0, 0 },
	{ "handles.forked", "10 a forked child inherits nothing usable",
	  forked, 0, 0 },
	{ "handles.forked_busy", "10 fork beside calls of other threads",
	  forked_busy, 0, 0 },
	{ "handles.executed", "10 exec, posix_spawn", executed, 0, 0 },
};

NOUN(handles, groups);
