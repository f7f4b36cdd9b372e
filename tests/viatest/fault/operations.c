// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The VIPL operations, each with every one of its allocations failing. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "common/ledger.h"
#include "common/memory.h"
#include "common/twins.h"
#include "fault.h"

#define PAGE		4096u
#define LARGE		(4u << 20)
#define WAIT_MS		TWINS_MS
#define TRY_MS		300	/* of a connection under faults */
#define KINDS_LEAST	5	/* of what the ledger tells */
#define BALANCE_S	60

/*
 * An operation: run() under faults, undo() what it did where it succeeded.
 * also: a verdict beside ERROR_RESOURCE that is right when memory is short.
 */
struct operation {
	const char *name;
	VIP_RETURN (*run)(void);
	void (*undo)(void);
	VIP_RETURN also;
};

static struct {
	const char *device;
	struct twins pair;
	VIP_NIC_HANDLE other_nic;
	VIP_PROTECTION_HANDLE other_tag;
	VIP_VI_HANDLE other_vi;
	VIP_CQ_HANDLE cq, other_cq;
	VIP_MEM_HANDLE handle, other_handle;
	uint8_t *mem, *fresh;	/* descriptors and buffers; what is new */
	size_t fresh_len;	/* bytes */
	pthread_t helper;
	VIP_RETURN (*help)(void);
	int helping;
	volatile int notified;
} t;

static void must(const char *what, VIP_RETURN rc)
{
	if (rc == VIP_SUCCESS)
		return;
	printf("viatest fault: %s without a fault: %d\n", what, rc);
	exit(1);
}

static VIP_RETURN open_run(void)
{
	return VipOpenNic(t.device, &t.other_nic);
}

static void open_undo(void)
{
	must("VipCloseNic", VipCloseNic(t.other_nic));
}

static VIP_RETURN ptag_run(void)
{
	return VipCreatePtag(t.pair.nic, &t.other_tag);
}

static void ptag_undo(void)
{
	must("VipDestroyPtag", VipDestroyPtag(t.pair.nic, t.other_tag));
}

static VIP_RETURN mem_run(void)
{
	VIP_MEM_ATTRIBUTES attr = { t.pair.tag, VIP_TRUE, VIP_TRUE };
	VIP_RETURN rc;

	/* The pages do not exist yet either. */
	t.fresh = mmap(NULL, t.fresh_len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t.fresh == MAP_FAILED)
		return VIP_ERROR_RESOURCE;
	rc = VipRegisterMem(t.pair.nic, t.fresh, t.fresh_len, &attr,
			    &t.other_handle);
	if (rc != VIP_SUCCESS)
		munmap(t.fresh, t.fresh_len);
	return rc;
}

static void mem_undo(void)
{
	must("VipDeregisterMem", VipDeregisterMem(t.pair.nic, t.fresh,
						  t.other_handle));
	munmap(t.fresh, t.fresh_len);
}

static VIP_RETURN page_run(void)
{
	t.fresh_len = PAGE;
	return mem_run();
}

static VIP_RETURN large_run(void)
{
	t.fresh_len = LARGE;
	return mem_run();
}

static VIP_RETURN vi_run(void)
{
	return twins_vi(&t.pair, &t.other_vi);
}

static void vi_undo(void)
{
	must("VipDestroyVi", VipDestroyVi(t.other_vi));
}

static VIP_RETURN cq_run(void)
{
	return VipCreateCQ(t.pair.nic, 1000, &t.other_cq);
}

static void cq_undo(void)
{
	must("VipDestroyCQ", VipDestroyCQ(t.other_cq));
}

static VIP_RETURN resize_run(void)
{
	return VipResizeCQ(t.cq, 3000);
}

static void resize_undo(void)
{
	must("VipResizeCQ", VipResizeCQ(t.cq, 10));
}

static VIP_RETURN query_run(void)
{
	VIP_VI_ATTRIBUTES attr;
	VIP_NIC_ATTRIBUTES nic;
	VIP_MEM_ATTRIBUTES mem;
	VIP_BOOLEAN a, b;
	VIP_VI_STATE s;

	return VipQueryNic(t.pair.nic, &nic) ?:
	       VipQueryVi(t.pair.vi[0], &s, &attr, &a, &b) ?:
	       VipQueryMem(t.pair.nic, t.mem, t.handle, &mem) ?:
	       VipSetMemAttributes(t.pair.nic, t.mem, t.handle, &mem);
}

static VIP_RETURN names_run(void)
{
	union net_addr a = { 0 };
	VIP_RETURN rc = VipNSInit(t.pair.nic, NULL);

	if (rc != VIP_SUCCESS)
		return rc;
	a.a.HostAddressLen = 8;
	rc = VipNSGetHostByName(t.pair.nic, (VIP_CHAR *)"localhost", &a.a, 0);
	VipNSShutdown(t.pair.nic);
	/* It need not be known; what counts is that asking does no harm. */
	return rc == VIP_ERROR_NAMESERVICE ? VIP_SUCCESS : rc;
}

static void disconnect(void)
{
	twins_part(&t.pair);
}

static VIP_RETURN peer_run(void)
{
	VIP_RETURN rc = twins_join(&t.pair, TRY_MS);

	if (rc != VIP_SUCCESS)
		disconnect();
	return rc;
}

/* Each is called beside a helper that does the other: see prepare(). */
static VIP_RETURN request_run(void)
{
	VIP_VI_ATTRIBUTES theirs;
	VIP_RETURN rc;
	unsigned int i;

	for (i = 0; i < TRY_MS / 2; i++) {
		rc = VipConnectRequest(t.pair.vi[0], &t.pair.addr[0].a,
				       &t.pair.addr[1].a, TRY_MS, &theirs);
		if (rc != VIP_NO_MATCH)
			break;
		usleep(1000);
	}
	return rc;
}

static VIP_RETURN accept_run(void)
{
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE conn;
	union net_addr from;
	VIP_RETURN rc;

	rc = VipConnectWait(t.pair.nic, &t.pair.addr[1].a, TRY_MS, &from.a,
			    &theirs, &conn);
	if (rc != VIP_SUCCESS)
		return rc;
	rc = VipConnectAccept(conn, t.pair.vi[1]);
	if (rc != VIP_SUCCESS)
		VipConnectReject(conn);
	return rc;
}

static void *help(void *unused)
{
	(void)unused;
	t.help();
	return NULL;
}

static void help_with(VIP_RETURN (*what)(void))
{
	t.help = what;
	t.helping = !pthread_create(&t.helper, NULL, help, NULL);
	if (!t.helping)
		must("a thread", VIP_ERROR_RESOURCE);
}

static void helped(void)
{
	if (t.helping)
		pthread_join(t.helper, NULL);
	t.helping = 0;
}

static VIP_DESCRIPTOR *describe(unsigned int i, VIP_UINT16 control,
				unsigned int len)
{
	uintptr_t at = (uintptr_t)t.mem;
	VIP_DESCRIPTOR *d = twins_describe(t.mem + i * 256, at + (1 + i) * PAGE,
					   t.handle, len);

	if (control == VIP_CONTROL_OP_SENDRECV)
		return d;
	d->Control.Control = control;
	d->Control.SegCount = 2;
	d->DS[1] = d->DS[0];
	d->DS[0].Remote.Data.AddressBits = at + 3 * PAGE;
	d->DS[0].Remote.Handle = t.handle;
	d->DS[0].Remote.Reserved = 0;
	return d;
}

static void notice(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		   VIP_DESCRIPTOR *d)
{
	(void)context, (void)nic, (void)vi, (void)d;
	t.notified = 1;
}

/* Two connected VIs again, and nothing on them. */
static void pair_up(void)
{
	VIP_BOOLEAN sends, receives;
	VIP_VI_ATTRIBUTES attr;
	VIP_VI_STATE s[2];
	unsigned int i;

	for (i = 0; i < 2; i++)
		must("VipQueryVi", VipQueryVi(t.pair.vi[i], &s[i], &attr,
					      &sends, &receives));
	if (s[0] == VIP_STATE_CONNECTED && s[1] == VIP_STATE_CONNECTED)
		return;
	disconnect();
	must("connecting", peer_run());
}

static VIP_RETURN sent(VIP_UINT16 control)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	rc = VipPostSend(t.pair.vi[0], describe(0, control, 3000), t.handle) ?:
	     VipSendWait(t.pair.vi[0], WAIT_MS, &d);
	if (rc == VIP_SUCCESS && d->Control.Status & VIP_STATUS_ERROR_MASK)
		rc = VIP_ERROR_RESOURCE;
	return rc;
}

/* Sent to a receive, which is not collected. */
static VIP_RETURN received(void)
{
	return VipPostRecv(t.pair.vi[1],
			   describe(1, VIP_CONTROL_OP_SENDRECV, 3000),
			   t.handle) ?:
	       sent(VIP_CONTROL_OP_SENDRECV);
}

static VIP_RETURN send_run(void)
{
	VIP_DESCRIPTOR *d;

	return received() ?: VipRecvWait(t.pair.vi[1], WAIT_MS, &d);
}

static VIP_RETURN write_run(void)
{
	return sent(VIP_CONTROL_OP_RDMAWRITE);
}

static VIP_RETURN read_run(void)
{
	return sent(VIP_CONTROL_OP_RDMAREAD);
}

static VIP_RETURN notify_run(void)
{
	VIP_RETURN rc = VipRecvNotify(t.pair.vi[1], NULL, notice);
	unsigned int i;

	t.notified = 0;
	rc = rc ?: received();
	for (i = 0; rc == VIP_SUCCESS && !t.notified; i++) {
		if (i == WAIT_MS)
			return VIP_TIMEOUT;
		usleep(1000);
	}
	return rc;
}

static const struct operation operations[] = {
	{ "open", open_run, open_undo, 0 },
	{ "tag", ptag_run, ptag_undo, 0 },
	{ "register", page_run, mem_undo, 0 },
	{ "register-large", large_run, mem_undo, 0 },
	{ "create-vi", vi_run, vi_undo, 0 },
	{ "create-cq", cq_run, cq_undo, 0 },
	{ "resize-cq", resize_run, resize_undo, 0 },
	{ "query", query_run, NULL, 0 },
	{ "names", names_run, NULL, VIP_ERROR_NAMESERVICE },
	{ "peer", peer_run, disconnect, VIP_TIMEOUT },
	{ "request", request_run, disconnect, VIP_TIMEOUT },
	{ "accept", accept_run, disconnect, VIP_TIMEOUT },
	{ "send", send_run, pair_up, 0 },
	{ "rdma-write", write_run, pair_up, 0 },
	{ "rdma-read", read_run, pair_up, 0 },
	{ "notify", notify_run, pair_up, 0 },
};

static void prepare(const struct operation *o)
{
	if (o->undo == pair_up)
		pair_up();
	if (o->run == request_run)
		help_with(accept_run);
	if (o->run == accept_run)
		help_with(request_run);
}

/* Whatever came of it. */
static void finish(const struct operation *o, VIP_RETURN rc)
{
	helped();
	if (o->run == request_run || o->run == accept_run)
		disconnect();
	else if (o->undo == pair_up && rc != VIP_SUCCESS)
		disconnect();
	else if (o->undo && rc == VIP_SUCCESS)
		o->undo();
}

static int right(const struct operation *o, enum fault what, VIP_RETURN rc)
{
	if (rc == VIP_SUCCESS || what == FAULT_COPY)
		return 1;
	return what != FAULT_NONE &&
	       (rc == VIP_ERROR_RESOURCE || (o->also && rc == o->also));
}

#define LATE		20u	/* times of what is late on a busy host only */

/* The helping thread was not run in time. */
static bool late(VIP_RETURN rc, unsigned int tries)
{
	return (rc == VIP_TIMEOUT || rc == VIP_NO_MATCH) && tries < LATE;
}

/* Returns what came of it with allocation n failing, or (0) none. */
static VIP_RETURN with(const struct operation *o, unsigned int n,
		       enum fault *what)
{
	unsigned int tries = 0;
	VIP_RETURN rc;

	do {
		prepare(o);
		if (n)
			fault_arm(n);
		rc = o->run();
		*what = n ? fault_disarm() : FAULT_NONE;
		finish(o, rc);
	} while (!right(o, *what, rc) && late(rc, ++tries));
	return rc;
}

static unsigned int each(const struct operation *o)
{
	unsigned int n, memory = 0, copies = 0, errors = 0;
	enum fault what = FAULT_MEMORY, without;
	VIP_RETURN rc;

	for (n = fault_first; what != FAULT_NONE; n += fault_stride) {
		rc = with(o, n, &what);
		memory += what == FAULT_MEMORY;
		copies += what == FAULT_COPY;
		errors += rc != VIP_SUCCESS;
		if (!right(o, what, rc)) {
			printf("viatest fault: %s: allocation %u: verdict %d\n",
			       o->name, n, rc);
			return 1;
		}
		if (rc == VIP_SUCCESS)
			continue;
		rc = with(o, 0, &without);
		if (rc != VIP_SUCCESS) {
			printf("viatest fault: %s: after allocation %u, again and without a fault: verdict %d\n",
			       o->name, n, rc);
			return 1;
		}
	}
	printf("viatest fault: %-14s %3u allocations failed, %u copies; %u errors, each retried\n",
	       o->name, memory, copies, errors);
	return 0;
}

/* Errors that come of broken connections are expected here. */
static void quiet(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *error)
{
	(void)context, (void)error;
}

static void set_up(void)
{
	t.pair = (struct twins){ .must = must, .disc = "fault",
				 .rdma = VIP_TRUE };
	twins_open(&t.pair, t.device);
	must("VipErrorCallback", VipErrorCallback(t.pair.nic, NULL, quiet));
	t.mem = memory_new(4 * PAGE);
	t.handle = twins_register(&t.pair, t.mem, 4 * PAGE);
	must("VipCreateCQ", VipCreateCQ(t.pair.nic, 10, &t.cq));
}

/*
 * Made and gone, of every kind: nothing may be between them.  VIs are freed
 * after a grace period, files by a worker.
 */
static unsigned int balance(const char *of)
{
	struct ledger none = ledger_read();
	const char *left;

	if (none.kinds < KINDS_LEAST) {
		printf("viatest fault: the ledger tells of %d kinds\n",
		       none.kinds);
		return 1;
	}
	memset(none.alive, 0, sizeof(none.alive));
	left = ledger_left(&none, BALANCE_S);
	if (left)
		printf("viatest fault: %s: %s are left\n", of, left);
	return !!left;
}

unsigned int fault_operations(const char *device, const char *only)
{
	unsigned int i, bad = 0;

	t.device = device;
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (only && strcmp(only, operations[i].name))
			continue;
		set_up();
		bad += each(&operations[i]);
		must("VipCloseNic", VipCloseNic(t.pair.nic));
		munmap(t.mem, 4 * PAGE);
		/* What one has left the others cannot be asked about. */
		if (!bad)
			bad += balance(operations[i].name);
	}
	return bad;
}
