// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define LEDGER_ITSELF
#include "ledger.h"
#include <pthread.h>
#include <stdint.h>

/* More than this is not remembered, and the process not used again. */
#define ENTRIES_MAX	2048

/* In the order in which they are destroyed. */
enum kind { CONN, VI, CQ, MEM, PTAG, NS, NIC, KINDS };

struct entry {
	enum kind kind;
	bool stays;		/* from before the mark */
	uintptr_t handle;
	VIP_NIC_HANDLE nic;
	VIP_PVOID addr;		/* of a region */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* All under the lock. */
static struct entry entries[ENTRIES_MAX];
static unsigned int used;
static bool overflowed, harmed;

static void hold(void)
{
	pthread_mutex_lock(&lock);
}

static void let_go(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child forked beside other threads must not find the lock taken. */
__attribute__((constructor)) static void across_forks(void)
{
	pthread_atfork(hold, let_go, let_go);
}

static void add(enum kind kind, uintptr_t handle, VIP_NIC_HANDLE nic,
		VIP_PVOID addr)
{
	pthread_mutex_lock(&lock);
	if (used < ENTRIES_MAX)
		entries[used++] = (struct entry){ kind, false, handle, nic,
						  addr };
	else
		overflowed = true;
	pthread_mutex_unlock(&lock);
}

static void drop_at(unsigned int i)
{
	harmed |= entries[i].stays;
	entries[i] = entries[--used];
}

static void drop(enum kind kind, uintptr_t handle, VIP_NIC_HANDLE nic)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	/* After an overflow the process is lost anyhow. */
	for (i = overflowed ? 0 : used; i-- > 0;) {
		if (entries[i].kind == kind && entries[i].handle == handle &&
		    (!nic || entries[i].nic == nic)) {
			drop_at(i);
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

/* A NIC handle takes all its objects with it. */
static void drop_nic(VIP_NIC_HANDLE nic)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = used; i-- > 0;)
		if (entries[i].nic == nic)
			drop_at(i);
	pthread_mutex_unlock(&lock);
}

void ledger_mark(void)
{
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < used; i++)
		entries[i].stays = true;
	pthread_mutex_unlock(&lock);
}

static bool destroy(const struct entry *e)
{
	void *h = (void *)e->handle;

	switch (e->kind) {
	case CONN:
		/* It may have become invalid with its request. */
		VipConnectReject(h);
		return true;
	case VI:
		return VipDisconnect(h) == VIP_SUCCESS &&
		       VipDestroyVi(h) == VIP_SUCCESS;
	case CQ:
		return VipDestroyCQ(h) == VIP_SUCCESS;
	case MEM:
		return VipDeregisterMem(e->nic, e->addr, e->handle) ==
		       VIP_SUCCESS;
	case PTAG:
		return VipDestroyPtag(e->nic, h) == VIP_SUCCESS;
	case NS:
		/* One call ends it, however many began it. */
		VipNSShutdown(e->nic);
		return true;
	case NIC:
		return VipCloseNic(h) == VIP_SUCCESS;
	case KINDS:
		break;
	}
	return false;
}

bool ledger_clean(void)
{
	unsigned int i, kind;
	bool ok = true;

	/* No thread makes objects any more; destroying may call handlers. */
	for (kind = 0; ok && kind < KINDS; kind++) {
		for (i = used; ok && i-- > 0;) {
			struct entry e = entries[i];

			if (e.stays || e.kind != kind)
				continue;
			ok = destroy(&e);
			entries[i] = entries[--used];
		}
	}
	return ok && !overflowed && !harmed;
}

/* What a call that makes, or destroys, an object has returned, noted. */
static VIP_RETURN made(VIP_RETURN rc, enum kind kind, VIP_PVOID *object,
		       VIP_NIC_HANDLE nic)
{
	if (rc == VIP_SUCCESS)
		add(kind, (uintptr_t)*object, nic ? nic : *object, NULL);
	return rc;
}

static VIP_RETURN ended(VIP_RETURN rc, enum kind kind, VIP_PVOID object,
			VIP_NIC_HANDLE nic)
{
	if (rc == VIP_SUCCESS)
		drop(kind, (uintptr_t)object, nic);
	return rc;
}

VIP_RETURN ledger_open_nic(const VIP_CHAR *name, VIP_NIC_HANDLE *nic)
{
	return made(VipOpenNic(name, nic), NIC, nic, NULL);
}

VIP_RETURN ledger_close_nic(VIP_NIC_HANDLE nic)
{
	VIP_RETURN rc = VipCloseNic(nic);

	if (rc == VIP_SUCCESS)
		drop_nic(nic);
	return rc;
}

VIP_RETURN ledger_create_vi(VIP_NIC_HANDLE nic, VIP_VI_ATTRIBUTES *a,
			    VIP_CQ_HANDLE send_cq, VIP_CQ_HANDLE recv_cq,
			    VIP_VI_HANDLE *vi)
{
	return made(VipCreateVi(nic, a, send_cq, recv_cq, vi), VI, vi, nic);
}

VIP_RETURN ledger_destroy_vi(VIP_VI_HANDLE vi)
{
	return ended(VipDestroyVi(vi), VI, vi, NULL);
}

VIP_RETURN ledger_create_ptag(VIP_NIC_HANDLE nic, VIP_PROTECTION_HANDLE *ptag)
{
	return made(VipCreatePtag(nic, ptag), PTAG, ptag, nic);
}

VIP_RETURN ledger_destroy_ptag(VIP_NIC_HANDLE nic, VIP_PROTECTION_HANDLE ptag)
{
	return ended(VipDestroyPtag(nic, ptag), PTAG, ptag, nic);
}

VIP_RETURN ledger_register(VIP_NIC_HANDLE nic, VIP_PVOID p, VIP_ULONG len,
			   VIP_MEM_ATTRIBUTES *a, VIP_MEM_HANDLE *h)
{
	VIP_RETURN rc = VipRegisterMem(nic, p, len, a, h);

	if (rc == VIP_SUCCESS)
		add(MEM, *h, nic, p);
	return rc;
}

VIP_RETURN ledger_deregister(VIP_NIC_HANDLE nic, VIP_PVOID p, VIP_MEM_HANDLE h)
{
	VIP_RETURN rc = VipDeregisterMem(nic, p, h);

	if (rc == VIP_SUCCESS)
		drop(MEM, h, nic);
	return rc;
}

VIP_RETURN ledger_create_cq(VIP_NIC_HANDLE nic, VIP_ULONG entries_,
			    VIP_CQ_HANDLE *cq)
{
	return made(VipCreateCQ(nic, entries_, cq), CQ, cq, nic);
}

VIP_RETURN ledger_destroy_cq(VIP_CQ_HANDLE cq)
{
	return ended(VipDestroyCQ(cq), CQ, cq, NULL);
}

VIP_RETURN ledger_connect_wait(VIP_NIC_HANDLE nic, VIP_NET_ADDRESS *local,
			       VIP_ULONG timeout, VIP_NET_ADDRESS *remote,
			       VIP_VI_ATTRIBUTES *theirs,
			       VIP_CONN_HANDLE *conn)
{
	return made(VipConnectWait(nic, local, timeout, remote, theirs, conn),
		    CONN, conn, nic);
}

VIP_RETURN ledger_accept(VIP_CONN_HANDLE conn, VIP_VI_HANDLE vi)
{
	return ended(VipConnectAccept(conn, vi), CONN, conn, NULL);
}

VIP_RETURN ledger_reject(VIP_CONN_HANDLE conn)
{
	return ended(VipConnectReject(conn), CONN, conn, NULL);
}

VIP_RETURN ledger_ns_init(VIP_NIC_HANDLE nic, VIP_PVOID info)
{
	return made(VipNSInit(nic, info), NS, &nic, nic);
}

VIP_RETURN ledger_ns_shutdown(VIP_NIC_HANDLE nic)
{
	return ended(VipNSShutdown(nic), NS, nic, nic);
}
