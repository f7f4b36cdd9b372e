// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The library against a kernel agent that the test plays itself: what is
 * written when, what handles survive, what may be called from where.
 */
#include <ifaddrs.h>
#include <netpacket/packet.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pthread.h>
#include <vipl_ext.h>

#include "fake.h"
#include "unit.h"

#define MEM	77u		/* a memory handle */

static VIP_NIC_HANDLE nic;
static VIP_VI_HANDLE vi;
static VIP_CQ_HANDLE cq;
static VIP_VI_ATTRIBUTES attrs = { VIP_SERVICE_RELIABLE_DELIVERY, 4096, NULL,
				   NULL, VIP_FALSE, VIP_FALSE };

static void setup(int with_cq)
{
	CU_ASSERT_EQUAL_FATAL(VipOpenNic(FAKE_NODE, &nic), VIP_SUCCESS);
	cq = NULL;
	if (with_cq)
		CU_ASSERT_EQUAL_FATAL(VipCreateCQ(nic, 4, &cq), VIP_SUCCESS);
	CU_ASSERT_EQUAL_FATAL(VipCreateVi(nic, &attrs, NULL, cq, &vi),
			      VIP_SUCCESS);
}

static void teardown(void)
{
	CU_ASSERT_EQUAL(VipCloseNic(nic), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipCloseNic(nic), VIP_INVALID_PARAMETER);
	close(fake.event_fd);
}

static VIP_DESCRIPTOR *descriptor(unsigned int segs)
{
	VIP_DESCRIPTOR *d = aligned_alloc(64, 64);

	memset(d, 0xee, 64);
	d->CS.SegCount = (VIP_UINT16)segs;
	d->CS.Control = 0;
	return d;
}

/* A descriptor of SegCount 0 or 1 is only 32 or 48 bytes long. */
static void short_descriptors(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	VIP_DESCRIPTOR *d, *out;
	unsigned int segs;

	CU_ASSERT_FATAL(p != MAP_FAILED);
	CU_ASSERT_EQUAL_FATAL(mprotect(p + page, page, PROT_NONE), 0);
	setup(0);
	for (segs = 0; segs < 3; segs++) {
		d = (VIP_DESCRIPTOR *)(p + page - 32 - 16 * segs);
		memset(d, 0x11 * (segs + 1), 32 + 16 * segs);
		d->CS.SegCount = (VIP_UINT16)segs;
		CU_ASSERT_EQUAL(VipPostRecv(vi, d, MEM), VIP_SUCCESS);
		CU_ASSERT_EQUAL(d->CS.Status, 0);
		CU_ASSERT_EQUAL(fake_slot(1, segs)->desc, (uintptr_t)d);
		CU_ASSERT_EQUAL(fake_slot(1, segs)->desc_handle, MEM);
		CU_ASSERT_EQUAL(fake_slot(1, segs)->seg_count, segs);
		CU_ASSERT_EQUAL(memcmp(fake_slot(1, segs)->seg, d->DS,
				       16 * segs), 0);
		fake_complete(1, VIA_ST_OP_RECEIVE, 0, 0);
		CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_SUCCESS);
		CU_ASSERT_PTR_EQUAL(out, d);
	}
	teardown();
	munmap(p, 2 * page);
}

/* Status, Length and ImmediateData change when Done returns, no earlier. */
static void written_at_done(void)
{
	VIP_DESCRIPTOR *d = descriptor(2), *out, before;

	setup(0);
	d->CS.Status = VIP_STATUS_DONE;
	d->CS.ImmediateData = 0x12345678;
	CU_ASSERT_EQUAL(VipPostRecv(vi, d, MEM), VIP_SUCCESS);
	CU_ASSERT_EQUAL(d->CS.Status, 0);
	before = *d;
	fake_complete(1, VIA_ST_OP_RECEIVE, 99, 0xabcd);
	CU_ASSERT_EQUAL(memcmp(&before, d, 64), 0);
	CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_SUCCESS);
	CU_ASSERT_EQUAL(d->CS.Status, VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
	CU_ASSERT_EQUAL(d->CS.Length, 99);
	/* No immediate data came: the consumer's own value stays. */
	CU_ASSERT_EQUAL(d->CS.ImmediateData, 0x12345678);
	CU_ASSERT_EQUAL(memcmp(before.DS, d->DS, 32), 0);

	CU_ASSERT_EQUAL(VipPostRecv(vi, d, MEM), VIP_SUCCESS);
	fake_complete(1, VIA_ST_OP_RECEIVE | VIA_ST_IMMEDIATE, 1, 0xabcd);
	CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_SUCCESS);
	CU_ASSERT_EQUAL(d->CS.ImmediateData, 0xabcd);

	/* A send's immediate data is the program's, whatever its status. */
	fake_state(VIA_STATE_CONNECTED);
	d->CS.ImmediateData = 5;
	CU_ASSERT_EQUAL(VipPostSend(vi, d, MEM), VIP_SUCCESS);
	fake_complete(0, VIA_ST_IMMEDIATE, 7, 0xffff);
	CU_ASSERT_EQUAL(VipSendDone(vi, &out), VIP_SUCCESS);
	CU_ASSERT_EQUAL(d->CS.ImmediateData, 5);
	CU_ASSERT_EQUAL(d->CS.Length, 7);
	teardown();
	free(d);
}

static void done_table(void)
{
	VIP_DESCRIPTOR *d = descriptor(0), *out;

	setup(0);
	fake_state(VIA_STATE_CONNECTED);
	out = d;
	CU_ASSERT_EQUAL(VipSendDone(vi, &out), VIP_DESCRIPTOR_ERROR);
	CU_ASSERT_PTR_NULL(out);
	out = d;
	CU_ASSERT_EQUAL(VipSendWait(vi, 5, &out), VIP_DESCRIPTOR_ERROR);
	CU_ASSERT_PTR_NULL(out);
	CU_ASSERT_EQUAL(VipPostSend(vi, d, MEM), VIP_SUCCESS);
	out = d;
	CU_ASSERT_EQUAL(VipSendDone(vi, &out), VIP_NOT_DONE);
	CU_ASSERT_PTR_NULL(out);
	out = d;
	CU_ASSERT_EQUAL(VipSendWait(vi, 0, &out), VIP_TIMEOUT);
	CU_ASSERT_PTR_NULL(out);
	fake_complete(0, VIA_ST_PROTECTION_ERROR, 0, 0);
	CU_ASSERT_EQUAL(VipSendDone(vi, &out), VIP_DESCRIPTOR_ERROR);
	CU_ASSERT_PTR_EQUAL(out, d);
	CU_ASSERT_EQUAL(VipSendDone(vi, NULL), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipPostSend(vi, NULL, MEM), VIP_INVALID_PARAMETER);
	fake_state(VIA_STATE_IDLE);
	CU_ASSERT_EQUAL(VipPostSend(vi, d, MEM), VIP_INVALID_STATE);
	fake_state(VIA_STATE_PENDING);
	CU_ASSERT_EQUAL(VipPostSend(vi, d, MEM), VIP_INVALID_STATE);
	teardown();
	free(d);
}

/* More than a ring's worth, so that every slot is used again. */
static void rings_wrap(void)
{
	VIP_DESCRIPTOR *d[3], *out;
	unsigned int i, j;

	setup(0);
	for (j = 0; j < 3; j++)
		d[j] = descriptor(j);
	for (i = 0; i < 3 * FAKE_ENTRIES; i += 3) {
		for (j = 0; j < 3; j++)
			VipPostRecv(vi, d[j], i + j + 1);
		CU_ASSERT_EQUAL(fake.vi->recv_user.tail, i + 3);
		for (j = 0; j < 3; j++) {
			CU_ASSERT_EQUAL(fake_slot(1, i + j)->desc_handle,
					i + j + 1);
			fake_complete(1, 0, i + j, 0);
		}
		for (j = 0; j < 3; j++) {
			CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_SUCCESS);
			CU_ASSERT_PTR_EQUAL(out, d[j]);
			CU_ASSERT_EQUAL(out->CS.Length, i + j);
		}
		CU_ASSERT_EQUAL(fake.vi->recv_user.collected, i + 3);
	}
	teardown();
	for (j = 0; j < 3; j++)
		free(d[j]);
}

/*
 * A queue has few slots until a post wants more.  Where there are none nothing is
 * posted, and the post can be made again.
 */
static void rings_grow(void)
{
	VIP_DESCRIPTOR *d = descriptor(1), *out;
	unsigned int i, done = 0;

	fake.few = 1;
	fake.grown = 0;
	setup(0);
	for (i = 0; i < VIA_VI_FEW; i++)
		CU_ASSERT_EQUAL(VipPostRecv(vi, d, i + 1), VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.grown, 0);
	fake_complete(1, 0, done++, 0);
	CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_SUCCESS);
	fake_complete(1, 0, done, 0);
	CU_ASSERT_EQUAL(VipPostRecv(vi, d, ++i), VIP_SUCCESS);
	fake.no_growth = 1;
	CU_ASSERT_EQUAL(VipPostRecv(vi, d, i + 1), VIP_ERROR_RESOURCE);
	CU_ASSERT_EQUAL(VipPostRecv(vi, d, i + 1), VIP_ERROR_RESOURCE);
	CU_ASSERT_EQUAL(fake.vi->recv_user.tail, i);
	fake.no_growth = 0;
	for (; i < FAKE_ENTRIES; i++)
		CU_ASSERT_EQUAL(VipPostRecv(vi, d, i + 1), VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.grown, 5);
	CU_ASSERT_EQUAL(fake.entries[0], VIA_VI_FEW);
	for (; done < i; done++) {
		CU_ASSERT_EQUAL(fake_slot(1, done)->desc_handle, done + 1);
		if (done > 1)
			fake_complete(1, 0, done, 0);
		CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_SUCCESS);
		CU_ASSERT_EQUAL(out->CS.Length, done);
	}
	CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_DESCRIPTOR_ERROR);
	fake.few = 0;
	teardown();
	free(d);
}

static void overrun(void)
{
	VIP_DESCRIPTOR *d = descriptor(0), *out;
	unsigned int i;

	setup(0);
	fake.overruns = 0;
	for (i = 0; i < FAKE_ENTRIES; i++)
		CU_ASSERT_EQUAL(VipPostRecv(vi, d, MEM), VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.overruns, 0);
	CU_ASSERT_EQUAL(VipPostRecv(vi, d, MEM), VIP_SUCCESS);
	CU_ASSERT_EQUAL(fake.overruns, 1);
	CU_ASSERT_EQUAL(fake.last_overrun, (uintptr_t)d);
	CU_ASSERT_EQUAL(fake.vi->recv_user.tail, FAKE_ENTRIES);
	/* Completed but uncollected still fills its slot. */
	fake_complete(1, 0, 0, 0);
	VipPostRecv(vi, d, MEM);
	CU_ASSERT_EQUAL(fake.overruns, 2);
	CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_SUCCESS);
	VipPostRecv(vi, d, MEM);
	CU_ASSERT_EQUAL(fake.overruns, 2);
	teardown();
	free(d);
}

/* A new ring takes over what is unread; one that cannot be mapped does not. */
static void cq_resize(void)
{
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE v;
	int i;

	setup(1);
	for (i = 0; i < 3; i++)
		fake_cq_put(fake.vi_id, 1);
	CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipResizeCQ(cq, 0), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipResizeCQ(NULL, 4), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipResizeCQ(cq, 65537), VIP_ERROR_RESOURCE);
	fake.no_spare = 1;
	CU_ASSERT_EQUAL(VipResizeCQ(cq, 16), VIP_ERROR_RESOURCE);
	CU_ASSERT_PTR_NULL(fake.spare);
	fake.no_spare = 0;
	for (i = 8; i <= 64; i *= 2) {
		CU_ASSERT_EQUAL(VipResizeCQ(cq, i), VIP_SUCCESS);
		CU_ASSERT_EQUAL(fake.cq_entries, (uint32_t)i);
		fake_cq_put(fake.vi_id, 1);
		CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_SUCCESS);
		CU_ASSERT_EQUAL(v, vi);
	}
	CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_NOT_DONE);
	teardown();
}

static void cq_notices(void)
{
	VIP_VI_HANDLE v, old;
	VIP_BOOLEAN recv;
	uint32_t old_id;

	setup(1);
	CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_NOT_DONE);
	CU_ASSERT_EQUAL(VipCQWait(cq, 0, &v, &recv), VIP_TIMEOUT);
	fake_cq_put(fake.vi_id, 7);
	recv = 99;
	CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_SUCCESS);
	CU_ASSERT_PTR_EQUAL(v, vi);
	CU_ASSERT_EQUAL(recv, VIP_TRUE);
	/* Notices of a VI that is gone are passed over. */
	old = vi;
	old_id = fake.vi_id;
	CU_ASSERT_EQUAL(VipDestroyVi(old), VIP_SUCCESS);
	CU_ASSERT_EQUAL_FATAL(VipCreateVi(nic, &attrs, NULL, cq, &vi),
			      VIP_SUCCESS);
	fake_cq_put(old_id, 1);
	fake_cq_put(fake.vi_id, 0);
	fake_cq_put(old_id, 1);
	CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_SUCCESS);
	CU_ASSERT_PTR_EQUAL(v, vi);
	CU_ASSERT_EQUAL(recv, VIP_FALSE);
	CU_ASSERT_EQUAL(VipCQDone(cq, &v, &recv), VIP_NOT_DONE);
	CU_ASSERT_EQUAL(fake.cq->head, fake.cq->tail);
	teardown();
}

static void stale_handles(void)
{
	VIP_DESCRIPTOR *d = descriptor(0), *out;
	VIP_VI_HANDLE old, wrong;
	VIP_NIC_ATTRIBUTES na;
	VIP_BOOLEAN recv;

	CU_ASSERT_EQUAL(VipRecvDone(NULL, &out), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipRecvDone((void *)~0ul, &out),
			VIP_INVALID_PARAMETER);
	setup(1);
	old = vi;
	CU_ASSERT_EQUAL(VipDestroyVi(old), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipDestroyVi(old), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL_FATAL(VipCreateVi(nic, &attrs, NULL, NULL, &vi),
			      VIP_SUCCESS);
	CU_ASSERT_PTR_NOT_EQUAL(old, vi);
	CU_ASSERT_EQUAL(VipPostRecv(old, d, MEM), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipRecvWait(old, 10, &out), VIP_INVALID_PARAMETER);
	/* Each kind of handle is its own. */
	CU_ASSERT_EQUAL(VipRecvDone(nic, &out), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipRecvDone(cq, &out), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipCQDone(vi, &wrong, &recv), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipQueryNic(vi, &na), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipCloseNic(vi), VIP_INVALID_PARAMETER);
	/* Everything ends with the NIC. */
	old = vi;
	teardown();
	CU_ASSERT_EQUAL(VipPostRecv(old, d, MEM), VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipCQDone(cq, &wrong, &recv), VIP_INVALID_PARAMETER);
	free(d);
}

static void destroy_rules(void)
{
	VIP_DESCRIPTOR *d = descriptor(0);

	setup(0);
	CU_ASSERT_EQUAL(VipPostRecv(vi, d, MEM), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipDestroyVi(vi), VIP_ERROR_RESOURCE);
	fake_state(VIA_STATE_CONNECTED);
	CU_ASSERT_EQUAL(VipDestroyVi(vi), VIP_INVALID_STATE);
	fake_state(VIA_STATE_IDLE);
	/* Completed and never collected: dropped. */
	fake_complete(1, VIA_ST_DESC_FLUSHED_ERROR, 0, 0);
	CU_ASSERT_EQUAL(VipDestroyVi(vi), VIP_SUCCESS);
	teardown();
	free(d);
}

static void create_checks(void)
{
	VIP_VI_ATTRIBUTES a = attrs;
	VIP_PROTECTION_HANDLE tag;
	VIP_VI_HANDLE v;

	setup(0);
	CU_ASSERT_EQUAL(VipCreateVi(nic, NULL, NULL, NULL, &v),
			VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, NULL, NULL, NULL),
			VIP_INVALID_PARAMETER);
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, vi, NULL, &v),
			VIP_INVALID_PARAMETER);
	a.ReliabilityLevel = 3;
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, NULL, NULL, &v),
			VIP_INVALID_RELIABILITY_LEVEL);
	a.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION;
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, NULL, NULL, &v),
			VIP_INVALID_RELIABILITY_LEVEL);
	a = attrs;
	a.MaxTransferSize = 0;
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, NULL, NULL, &v), VIP_INVALID_MTU);
	a.MaxTransferSize = (1ul << 20) + 1;
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, NULL, NULL, &v), VIP_INVALID_MTU);
	a = attrs;
	a.QoS = &a;
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, NULL, NULL, &v), VIP_INVALID_QOS);
	a = attrs;
	a.EnableRdmaRead = VIP_TRUE;
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, NULL, NULL, &v),
			VIP_INVALID_RDMAREAD);
	a = attrs;
	CU_ASSERT_EQUAL(VipCreatePtag(nic, &tag), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipDestroyPtag(nic, tag), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipDestroyPtag(nic, tag), VIP_INVALID_PARAMETER);
	a.Ptag = tag;
	CU_ASSERT_EQUAL(VipCreateVi(nic, &a, NULL, NULL, &v),
			VIP_INVALID_PTAG);
	teardown();
}

/* A signal does not end a wait, and a wait that can end does. */
static void waits(void)
{
	VIP_DESCRIPTOR *d = descriptor(0), *out;

	setup(0);
	VipPostRecv(vi, d, MEM);
	fake.eintr = 3;
	fake.waits = 0;
	CU_ASSERT_EQUAL(VipRecvWait(vi, 3, &out), VIP_TIMEOUT);
	CU_ASSERT_PTR_NULL(out);
	CU_ASSERT(fake.waits >= 2);
	fake.eintr = 0;
	fake_complete(1, VIA_ST_OP_RECEIVE, 1, 0);
	CU_ASSERT_EQUAL(VipRecvWait(vi, 0xffffffff, &out), VIP_SUCCESS);
	CU_ASSERT_PTR_EQUAL(out, d);
	teardown();
	free(d);
}

static void *complete_later(void *arg)
{
	fake_complete(1, VIA_ST_OP_RECEIVE, 42, 0);
	return arg;
}

static void waits_forever(void)
{
	const VIP_ULONG forever[] = { 0xffffffff, VIP_INFINITE };
	VIP_DESCRIPTOR *d = descriptor(0), *out;
	unsigned int i;
	pthread_t t;

	setup(0);
	for (i = 0; i < 2; i++) {
		VipPostRecv(vi, d, MEM);
		pthread_create(&t, NULL, complete_later, NULL);
		CU_ASSERT_EQUAL(VipRecvWait(vi, forever[i], &out),
				VIP_SUCCESS);
		CU_ASSERT_EQUAL(d->CS.Length, 42);
		pthread_join(t, NULL);
	}
	teardown();
	free(d);
}

static int in_child(void)
{
	VIP_DESCRIPTOR d = { 0 }, *out;
	VIP_NIC_HANDLE mine;
	VIP_NIC_ATTRIBUTES na;
	VIP_VI_HANDLE v;

	if (VipQueryNic(nic, &na) != VIP_INVALID_PARAMETER ||
	    VipPostRecv(vi, &d, MEM) != VIP_INVALID_PARAMETER ||
	    VipRecvDone(vi, &out) != VIP_INVALID_PARAMETER ||
	    VipRecvWait(vi, VIP_INFINITE, &out) != VIP_INVALID_PARAMETER ||
	    VipDestroyVi(vi) != VIP_INVALID_PARAMETER ||
	    VipCreateVi(nic, &attrs, NULL, NULL, &v) !=
		VIP_INVALID_PARAMETER ||
	    VipCloseNic(nic) != VIP_INVALID_PARAMETER)
		return 1;
	/* It may open a NIC of its own, whose handles are not the parent's. */
	if (VipOpenNic(FAKE_NODE, &mine) != VIP_SUCCESS || mine == nic)
		return 2;
	if (VipQueryNic(nic, &na) != VIP_INVALID_PARAMETER)
		return 3;
	return VipCloseNic(mine) != VIP_SUCCESS;
}

static void forked_child(void)
{
	VIP_DESCRIPTOR *d = descriptor(0), *out;
	int status;
	pid_t pid;

	setup(0);
	VipPostRecv(vi, d, MEM);
	pid = fork();
	if (!pid)
		_exit(in_child());
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	fake_complete(1, 0, 0, 0);
	CU_ASSERT_EQUAL(VipRecvDone(vi, &out), VIP_SUCCESS);
	teardown();
	free(d);
}

static int pipe_fd[2];
static VIP_ERROR_DESCRIPTOR seen;

static void handler(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	seen = *e;
	if (write(pipe_fd[1], ctx, 1) != 1)
		abort();
}

static void closing_handler(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	*(VIP_RETURN *)ctx = VipCloseNic(e->NicHandle);
	if (write(pipe_fd[1], "c", 1) != 1)
		abort();
}

static char next_byte(void)
{
	char c = 0;

	CU_ASSERT_EQUAL(read(pipe_fd[0], &c, 1), 1);
	return c;
}

/* The pipe is opened after the first VI: the handler must reach it. */
static void error_handlers(void)
{
	VIP_RETURN closed = VIP_NOT_DONE;
	VIP_DESCRIPTOR d = { 0 };

	setup(0);
	CU_ASSERT_EQUAL_FATAL(pipe(pipe_fd), 0);
	CU_ASSERT_EQUAL(VipErrorCallback(nic, "a", handler), VIP_SUCCESS);
	fake_event(VIA_ERR_POST_DESC, fake.vi_id, (uintptr_t)&d);
	CU_ASSERT_EQUAL(next_byte(), 'a');
	CU_ASSERT_PTR_EQUAL(seen.NicHandle, nic);
	CU_ASSERT_PTR_EQUAL(seen.ViHandle, vi);
	CU_ASSERT_PTR_EQUAL(seen.CQHandle, NULL);
	CU_ASSERT_PTR_EQUAL(seen.DescriptorPtr, &d);
	CU_ASSERT_EQUAL(seen.ResourceCode, VIP_RESOURCE_DESCRIPTOR);
	CU_ASSERT_EQUAL(seen.ErrorCode, VIP_ERROR_POST_DESC);
	/* Of a VI that is gone nothing is heard any more. */
	fake_event(VIA_ERR_CONN_LOST, fake.vi_id + 1000, 0);
	CU_ASSERT_EQUAL(VipErrorCallback(nic, "b", handler), VIP_SUCCESS);
	fake_event(VIA_ERR_CONN_LOST, fake.vi_id, 0);
	CU_ASSERT_EQUAL(next_byte(), 'b');
	CU_ASSERT_EQUAL(seen.ErrorCode, VIP_ERROR_CONN_LOST);

	CU_ASSERT_EQUAL(VipErrorCallback(nic, &closed, closing_handler),
			VIP_SUCCESS);
	fake_event(VIA_ERR_CONN_LOST, fake.vi_id, 0);
	CU_ASSERT_EQUAL(next_byte(), 'c');
	CU_ASSERT_EQUAL(closed, VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipCloseNic(nic), VIP_INVALID_PARAMETER);
	close(fake.event_fd);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

/* A pipe in place of standard error. */
static int said_fd, stderr_fd;

static void listen_begin(void)
{
	int fds[2];

	stderr_fd = dup(STDERR_FILENO);
	CU_ASSERT_EQUAL_FATAL(pipe(fds), 0);
	unsetenv("VIPL_QUIET");
	CU_ASSERT_EQUAL(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	said_fd = fds[0];
}

/* It up to the end of a line. */
static const char *next_line(void)
{
	static char line[512];
	size_t n = 0;

	while (n < sizeof(line) - 1 && read(said_fd, &line[n], 1) == 1 &&
	       line[n] != '\n')
		n++;
	line[n] = '\0';
	return line;
}

static void listen_end(void)
{
	dup2(stderr_fd, STDERR_FILENO);
	close(stderr_fd);
	CU_ASSERT_STRING_EQUAL(next_line(), "");
	close(said_fd);
}

static const char *wanted(const char *fmt, ...)
{
	static char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return line;
}

/* The next line, as printf() would write it. */
#define SAYS(...) CU_ASSERT_STRING_EQUAL(next_line(), wanted(__VA_ARGS__))

/* The peer's address is that of the last connection that was made. */
static void connect_to(const char *host)
{
	char b[16] = { 6 };
	VIP_NET_ADDRESS *a = (VIP_NET_ADDRESS *)b;
	VIP_VI_ATTRIBUTES theirs;

	memcpy(b + 4, host, 6);
	CU_ASSERT_EQUAL(VipConnectRequest(vi, a, a, 1000, &theirs),
			VIP_SUCCESS);
}

/* However late it gets there: 1 ms that had passed before was none. */
static void attempt_times(void)
{
	static const struct {
		VIP_ULONG ms;
		uint64_t ns;
	} t[] = {
		{ 1, 1000000 },
		{ 4294967294u, 4294967294u * UINT64_C(1000000) },
		{ 4294967295u, VIA_FOREVER },
		{ VIP_INFINITE, VIA_FOREVER },
	};
	char b[16] = { 6 };
	VIP_NET_ADDRESS *a = (VIP_NET_ADDRESS *)b;
	VIP_VI_ATTRIBUTES theirs;
	size_t i;

	setup(0);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		fake.request_ns = 0;
		VipConnectRequest(vi, a, a, t[i].ms, &theirs);
		CU_ASSERT_EQUAL(fake.request_ns, t[i].ns);
	}
	teardown();
}

/*
 * A program without a handler: one sentence for each error, none for a peer
 * that has left by itself, and nothing at all with VIPL_QUIET.
 */
static void sentences(void)
{
	uint32_t id;

	setup(0);
	id = fake.vi_id;
	listen_begin();
	fake_event(VIA_ERR_CONN_LOST, id, 0);
	SAYS("vipl: " FAKE_NODE ": the connection of VI %p is lost", vi);
	connect_to("\x52\x54\0\0\0\x02");
	/* It says nothing of this one, so the next line is the next one's. */
	fake.event_flags = VIA_EVENT_F_ORDERLY;
	fake_event(VIA_ERR_CONN_LOST, id, 0);
	fake.event_flags = 0;
	fake_event(VIA_ERR_CONN_LOST, id, 0);
	SAYS("vipl: " FAKE_NODE ": the connection of VI %p to "
	     "52:54:00:00:00:02 is lost", vi);
	/* The flag is of no other error. */
	fake.event_flags = VIA_EVENT_F_ORDERLY;
	fake_event(VIA_ERR_POST_DESC, id, 0x1008);
	fake.event_flags = 0;
	SAYS("vipl: " FAKE_NODE ": descriptor 0x1008 is misaligned or not "
	     "registered");
	SAYS("vipl: VI %p: align it to 64 bytes, in registered memory", vi);
	fake_event(VIA_ERR_RECVQ_EMPTY, id, 0);
	SAYS("vipl: " FAKE_NODE ": VI %p dropped a message: no receive is "
	     "posted", vi);
	SAYS("vipl: post the receive before the peer sends");
	fake_event(VIA_ERR_VI_OVERRUN, id, 0x1040);
	SAYS("vipl: " FAKE_NODE ": VI %p dropped descriptor 0x1040", vi);
	SAYS("vipl: its send queue is full: collect completed ones");
	fake_event(VIA_ERR_RDMAR_PROT, id, 0);
	SAYS("vipl: " FAKE_NODE ": VI %p refused an RDMA Read of its peer", vi);
	SAYS("vipl: enable it for the VI and the region, with one tag");
	setenv("VIPL_QUIET", "1", 1);
	fake_event(VIA_ERR_CONN_LOST, id, 0);
	/* The service thread has read it when it comes to closing the NIC. */
	while (fake_unread())
		usleep(1000);
	teardown();
	listen_end();
}

#define ONE_RELEASE "vipl: as root: install mvia-dkms and libvipl1 of one " \
		    "release"

/* Modules of another version, and older ones of ours: both are told, once. */
static void other_releases(void)
{
	VIP_NIC_HANDLE none;
	VIP_CQ_HANDLE cq;

	listen_begin();
	fake.abi = 7;
	CU_ASSERT_EQUAL(VipOpenNic(FAKE_NODE, &none), VIP_INVALID_PARAMETER);
	fake.abi = 0;
	SAYS("vipl: /dev/" FAKE_NODE ": interface version 7, the library's is "
	     "1");
	SAYS(ONE_RELEASE);
	CU_ASSERT_STRING_EQUAL(VipExtLastError(),
			       "/dev/" FAKE_NODE ": interface version 7, "
			       "the library's is 1\nas root: install "
			       "mvia-dkms and libvipl1 of one release");
	fake.abi = VIA_ABI_VERSION;
	CU_ASSERT_EQUAL(VipOpenNic(FAKE_NODE, &none), VIP_INVALID_PARAMETER);
	fake.abi = 0;
	SAYS("vipl: /dev/" FAKE_NODE ": another layout of version 1 of the "
	     "interface");
	SAYS(ONE_RELEASE);
	setup(0);
	fake.older = 1;
	CU_ASSERT_EQUAL(VipCreateCQ(nic, 8, &cq), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipResizeCQ(cq, 64), VIP_ERROR_NOT_SUPPORTED);
	SAYS("vipl: the kernel modules are older and lack call 0x32");
	SAYS(ONE_RELEASE);
	CU_ASSERT_PTR_NOT_NULL(strstr(VipExtLastError(), "call 0x32\n"));
	CU_ASSERT_EQUAL(VipResizeCQ(cq, 64), VIP_ERROR_NOT_SUPPORTED);
	fake.older = 0;
	CU_ASSERT_EQUAL(VipResizeCQ(cq, 64), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipDestroyCQ(cq), VIP_SUCCESS);
	setenv("VIPL_QUIET", "1", 1);
	teardown();
	listen_end();
}

/* In a thread of its own: nothing has failed there. */
static void *other_thread(void *arg)
{
	(void)arg;
	CU_ASSERT_STRING_EQUAL(VipExtLastError(), "");
	CU_ASSERT_EQUAL(VipOpenNic(NULL, NULL), VIP_INVALID_PARAMETER);
	CU_ASSERT_STRING_EQUAL(VipExtLastError(), "");
	return NULL;
}

static void last_error(void)
{
	VIP_NET_ADDRESS addr = { 0 };
	VIP_NIC_HANDLE none;
	pthread_t t;
	VIP_CQ_HANDLE cq;

	CU_ASSERT_EQUAL(VipOpenNic("a name", &none), VIP_INVALID_PARAMETER);
	CU_ASSERT_STRING_EQUAL(VipExtLastError(),
			       "'a name' names no VI NIC\ngive a name that "
			       "viainfo lists, such as shm:0");
	/* What succeeds, and another thread, leave it. */
	setup(0);
	CU_ASSERT_EQUAL(VipCreateCQ(nic, 8, &cq), VIP_SUCCESS);
	CU_ASSERT_EQUAL(VipDestroyCQ(cq), VIP_SUCCESS);
	CU_ASSERT_EQUAL(pthread_create(&t, NULL, other_thread, NULL), 0);
	pthread_join(t, NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(VipExtLastError(), "'a name'"));
	/* A failure without a reason ends it. */
	CU_ASSERT_EQUAL(VipDestroyCQ(cq), VIP_INVALID_PARAMETER);
	CU_ASSERT_STRING_EQUAL(VipExtLastError(), "");
	CU_ASSERT_EQUAL(VipExtParseAddress(nic, "nonsense", &addr),
			VIP_INVALID_PARAMETER);
	CU_ASSERT_PTR_NOT_NULL(strstr(VipExtLastError(),
				      "'nonsense' is no address of "));
	CU_ASSERT_EQUAL(VipCreateCQ(nic, 1u << 30, &cq), VIP_ERROR_RESOURCE);
	CU_ASSERT_PTR_NOT_NULL(strstr(VipExtLastError(), "no room for a CQ"));
	teardown();
}

static const char *hosts;	/* what stands in /etc/vip_hosts */

FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
int __wrap_getifaddrs(struct ifaddrs **all);
void __wrap_freeifaddrs(struct ifaddrs *all);

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	if (strcmp(path, "/etc/vip_hosts"))
		return __real_fopen64(path, mode);
	return hosts ? fmemopen((char *)hosts, strlen(hosts), "r") : NULL;
}

/* A tunnel without an address of its own, and an Ethernet interface. */
int __wrap_getifaddrs(struct ifaddrs **all)
{
	static struct sockaddr_ll ll = {
		.sll_family = AF_PACKET, .sll_halen = 6,
	};
	static struct ifaddrs ether = { .ifa_addr = (struct sockaddr *)&ll };
	static struct ifaddrs tun = { .ifa_next = &ether };

	memcpy(ll.sll_addr, "\x52\x54\0\0\0\x01", 6);
	*all = &tun;
	return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *all)
{
	(void)all;
}

/* The last byte of a name's nth address, or the code made negative. */
static int looked_up(const char *name, VIP_ULONG n)
{
	char b[16] = { 0 };
	VIP_NET_ADDRESS *a = (VIP_NET_ADDRESS *)b;
	VIP_RETURN r = VipNSGetHostByName(nic, (char *)name, a, n);

	return r == VIP_SUCCESS ? b[9] : -(int)r;
}

#define NO_NAME	(-(int)VIP_ERROR_NAMESERVICE)

/*
 * The file has the Ethernet address of this host, whose name on the loopback
 * NIC is that NIC's own (7f); of other hosts, and on a wire, it has the say.
 */
static void names_of_this_host(void)
{
	static const char file[] = "52:54:00:00:00:02 other\n"
				   "52:54:00:00:00:01 here here2\n"
				   "52:54:00:00:00:09 here2\n"
				   "52:54:00:00:00:03 localhost\n";
	char own[256], text[600];

	CU_ASSERT_EQUAL_FATAL(gethostname(own, sizeof(own)), 0);
	own[255] = '\0';
	snprintf(text, sizeof(text), "%s52:54:00:00:00:01 %s\n", file, own);
	hosts = text;
	setup(0);
	CU_ASSERT_EQUAL(looked_up(own, 0), 0x7f);
	CU_ASSERT_EQUAL(looked_up(own, 1), NO_NAME);
	CU_ASSERT_EQUAL(looked_up("localhost", 0), 0x7f);
	CU_ASSERT_EQUAL(looked_up("here", 0), 0x7f);
	CU_ASSERT_EQUAL(looked_up("HERE.example.org", 0), 0x7f);
	CU_ASSERT_EQUAL(looked_up("here2", 0), 0x7f);
	CU_ASSERT_EQUAL(looked_up("here2", 1), NO_NAME);
	CU_ASSERT_EQUAL(looked_up("other", 0), 2);
	CU_ASSERT_EQUAL(looked_up("other", 1), NO_NAME);
	CU_ASSERT_EQUAL(looked_up("52:54:00:00:00:01", 0), 1);
	teardown();
	fake.ifindex = 4;
	setup(0);
	CU_ASSERT_EQUAL(looked_up(own, 0), 1);
	CU_ASSERT_EQUAL(looked_up("localhost", 0), 3);
	CU_ASSERT_EQUAL(looked_up("here2", 1), 9);
	teardown();
	fake.ifindex = 0;
	hosts = NULL;
}

static void exiting_handler(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	(void)ctx;
	_exit(e->ErrorCode == VIP_ERROR_CONN_LOST ? 42 : 1);
}

/* Another thread sleeps in the library meanwhile. */
static int exit_inside(void)
{
	VIP_DESCRIPTOR d = { 0 }, *out;

	if (VipOpenNic(FAKE_NODE, &nic) != VIP_SUCCESS ||
	    VipCreateVi(nic, &attrs, NULL, NULL, &vi) != VIP_SUCCESS ||
	    VipErrorCallback(nic, NULL, exiting_handler) != VIP_SUCCESS)
		return 2;
	VipPostRecv(vi, &d, MEM);
	fake_event(VIA_ERR_CONN_LOST, fake.vi_id, 0);
	VipRecvWait(vi, 20000, &out);
	return 3;
}

static void handler_exits(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(exit_inside());
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

UNIT_MAIN("vipl",
	  { "short descriptors are not read beyond their end",
	    short_descriptors },
	  { "a descriptor is written when Done returns it", written_at_done },
	  { "SendDone, SendWait: every line of the table", done_table },
	  { "rings wrap", rings_wrap },
	  { "rings become longer at a post", rings_grow },
	  { "overrun", overrun },
	  { "a CQ gets another ring", cq_resize },
	  { "CQ notices, and those of a VI that is gone", cq_notices },
	  { "stale, foreign and wrong handles", stale_handles },
	  { "what VipDestroyVi refuses and what it drops", destroy_rules },
	  { "what VipCreateVi refuses", create_checks },
	  { "time-outs and signals", waits },
	  { "both spellings of for ever", waits_forever },
	  { "the time of an attempt is the agent's to count", attempt_times },
	  { "a forked child has nothing, the parent everything",
	    forked_child },
	  { "what is said of errors without a handler", sentences },
	  { "the reason of a failure", last_error },
	  { "modules of other releases", other_releases },
	  { "names of this host on the loopback NIC", names_of_this_host },
	  { "error handlers, and closing inside one", error_handlers },
	  { "an error handler that ends the program", handler_exits });
