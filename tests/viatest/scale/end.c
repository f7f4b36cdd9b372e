// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include <string.h>
#include <sys/mman.h>

static VIP_DESCRIPTOR *desc(struct end *e, uint32_t i)
{
	return (VIP_DESCRIPTOR *)e->mem + i;
}

static uint8_t *buffer(struct end *e, uint32_t i)
{
	return e->mem + END_DESCS + i * END_BYTES;
}

static int post(struct end *e, uint32_t i)
{
	desc_data(desc(e, i), buffer(e, i), END_BYTES, e->mem_h);
	return VipPostRecv(e->vi, desc(e, i), e->mem_h) == VIP_SUCCESS ? 0 : -1;
}

int end_open(struct end *e, const struct nic *nic, bool cq)
{
	uint32_t i;

	memset(e, 0, sizeof(*e));
	e->nic = nic;
	e->mem = memory_try(END_LEN);
	if (!e->mem)
		return -1;
	if (VipRegisterMem(nic->h, e->mem, END_LEN, NULL, &e->mem_h))
		goto err_map;
	if (cq && VipCreateCQ(nic->h, 2 * END_RX, &e->cq_h))
		goto err_mem;
	e->cq = cq;
	if (vi_make(nic, END_BYTES, e->cq_h, &e->vi))
		goto err_cq;
	for (i = 0; i < END_RX; i++)
		if (post(e, i))
			return -1;
	return 0;

err_cq:
	if (cq)
		VipDestroyCQ(e->cq_h);
err_mem:
	VipDeregisterMem(nic->h, e->mem, e->mem_h);
err_map:
	munmap(e->mem, END_LEN);
	return -1;
}

int end_close(struct end *e)
{
	int bad = 0;

	bad |= VipDisconnect(e->vi) != VIP_SUCCESS;
	bad |= VipDestroyVi(e->vi) != VIP_SUCCESS;
	if (e->cq)
		bad |= VipDestroyCQ(e->cq_h) != VIP_SUCCESS;
	bad |= VipDeregisterMem(e->nic->h, e->mem, e->mem_h) != VIP_SUCCESS;
	munmap(e->mem, END_LEN);
	return bad;
}

void end_begin(struct end *e, const struct nic *nic, bool cq)
{
	if (end_open(e, nic, cq))
		die("no resources");
}

void end_finish(struct end *e)
{
	if (end_close(e))
		die("a VI does not go");
}

struct joined {
	struct end *to;
	const char *disc;
	uint32_t ms;
	VIP_RETURN rc;
};

static void *accepting(void *arg)
{
	struct joined *j = arg;

	j->rc = conn_accept(j->to->nic, j->disc, j->to->vi, j->ms);
	return NULL;
}

VIP_RETURN end_join(struct end *from, struct end *to, const char *disc,
		    uint32_t ms)
{
	struct joined j = { .to = to, .disc = disc, .ms = ms };
	pthread_t t = thread_start(accepting, &j);
	union net_addr host;
	VIP_RETURN rc;

	net_addr_local(&host, to->nic, "", 0);
	rc = conn_request(from->nic, from->vi, &host, disc, "", 0, ms);
	pthread_join(t, NULL);
	return rc == VIP_SUCCESS ? j.rc : rc;
}

VIP_RETURN end_connect(struct end *e, const char *disc, uint32_t ms)
{
	union net_addr host;

	peer_address(&host, e->nic);
	return conn_request(e->nic, e->vi, &host, disc, "", 0, ms);
}

uint8_t *end_tx(struct end *e)
{
	VIP_DESCRIPTOR *d;

	if (e->sent - e->reaped == END_TX) {
		if (VipSendWait(e->vi, args.limit, &d) != VIP_SUCCESS)
			return NULL;
		e->reaped++;
	}
	return buffer(e, END_RX + e->sent % END_TX);
}

int end_send(struct end *e, uint32_t len)
{
	uint32_t i = END_RX + e->sent % END_TX;

	desc_data(desc(e, i), buffer(e, i), len, e->mem_h);
	e->sent++;
	return VipPostSend(e->vi, desc(e, i), e->mem_h) == VIP_SUCCESS ? 0 : -1;
}

uint8_t *end_recv(struct end *e, VIP_ULONG ms, uint32_t *len, VIP_RETURN *rc)
{
	VIP_DESCRIPTOR *d = NULL;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;

	if (e->cq) {
		*rc = VipCQWait(e->cq_h, ms, &vi, &recv);
		if (*rc == VIP_SUCCESS)
			*rc = VipRecvDone(e->vi, &d);
	} else {
		*rc = VipRecvWait(e->vi, ms, &d);
	}
	if (*rc != VIP_SUCCESS)
		return NULL;
	if (d != desc(e, e->next % END_RX)) {
		*rc = VIP_INVALID_STATE;
		return NULL;
	}
	*len = d->CS.Length;
	return buffer(e, e->next % END_RX);
}

int end_repost(struct end *e)
{
	return post(e, e->next++ % END_RX);
}

void nothing_done(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		  VIP_DESCRIPTOR *d)
{
	(void)context;
	(void)nic;
	(void)vi;
	(void)d;
}
