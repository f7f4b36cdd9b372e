// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include <string.h>
#include <sys/mman.h>

#define DESCS	4096u
#define WINDOW	8u		/* messages of a stream on their way */
#define LEN	(DESCS + (END_RX + END_TX) * END_BYTES)

static VIP_DESCRIPTOR *desc(struct end *e, uint32_t i)
{
	return (VIP_DESCRIPTOR *)e->mem + i;
}

static uint8_t *buffer(struct end *e, uint32_t i)
{
	return e->mem + DESCS + i * END_BYTES;
}

static void prepare(struct end *e, uint32_t i, uint32_t len)
{
	VIP_DESCRIPTOR *d = desc(e, i);

	memset(d, 0, sizeof(*d));
	d->CS.Length = len;
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = buffer(e, i);
	d->DS[0].Local.Handle = e->mem_h;
	d->DS[0].Local.Length = len;
}

static int post(struct end *e, uint32_t i)
{
	prepare(e, i, END_BYTES);
	return VipPostRecv(e->vi, desc(e, i), e->mem_h) == VIP_SUCCESS ? 0 : -1;
}

int end_open(struct end *e, const struct nic *nic, bool cq)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = END_BYTES,
	};
	uint32_t i;

	memset(e, 0, sizeof(*e));
	e->nic = nic;
	e->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (e->mem == MAP_FAILED)
		return -1;
	if (VipRegisterMem(nic->h, e->mem, LEN, NULL, &e->mem_h))
		goto err_map;
	if (cq && VipCreateCQ(nic->h, 2 * END_RX, &e->cq_h))
		goto err_mem;
	e->cq = cq;
	if (VipCreateVi(nic->h, &a, NULL, e->cq_h, &e->vi))
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
	munmap(e->mem, LEN);
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
	munmap(e->mem, LEN);
	return bad;
}

uint8_t *end_tx(struct end *e)
{
	VIP_DESCRIPTOR *d;

	if (e->sent - e->reaped == END_TX) {
		if (VipSendWait(e->vi, scale_opt.limit, &d) != VIP_SUCCESS)
			return NULL;
		e->reaped++;
	}
	return buffer(e, END_RX + e->sent % END_TX);
}

int end_send(struct end *e, uint32_t len)
{
	uint32_t i = END_RX + e->sent % END_TX;

	prepare(e, i, len);
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

uint32_t length_of(uint32_t id, uint32_t n)
{
	uint64_t s = dice_seed(id, n);

	return 1 + scale_dice(&s) % (n % 4 ? 200 : END_BYTES);
}

void fill(uint8_t *p, uint32_t id, uint32_t n, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = (id * 31 + n) * 7 + i + (i >> 8);
}

bool filled(const uint8_t *p, uint32_t id, uint32_t n, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (uint8_t)((id * 31 + n) * 7 + i + (i >> 8)))
			return false;
	return true;
}

static enum stream_result why(VIP_RETURN rc)
{
	return rc == VIP_TIMEOUT ? ST_SILENT :
	       rc == VIP_INVALID_STATE ? ST_WRONG : ST_ENDED;
}

/* Credits are messages of one byte: four more are taken. */
enum stream_result stream_push(struct end *e, uint32_t id, uint32_t n)
{
	uint32_t i, len;
	VIP_RETURN rc;
	uint8_t *p;

	for (i = 0; i < n || e->credit < n / 4 * 4; i++) {
		while (i - e->credit >= WINDOW || i >= n) {
			p = end_recv(e, scale_opt.limit, &len, &rc);
			if (!p)
				return why(rc);
			if (len != 1)
				return ST_WRONG;
			e->credit += 4;
			if (end_repost(e))
				return ST_ENDED;
			if (i >= n && e->credit >= n / 4 * 4)
				return ST_DONE;
		}
		p = end_tx(e);
		if (!p)
			return ST_ENDED;
		fill(p, id, i, length_of(id, i));
		if (end_send(e, length_of(id, i)))
			return ST_ENDED;
	}
	return ST_DONE;
}

enum stream_result stream_pull(struct end *e, uint32_t id, uint32_t n)
{
	uint32_t i, len;
	VIP_RETURN rc;
	uint8_t *p;

	for (i = 0; i < n; i++) {
		p = end_recv(e, scale_opt.limit, &len, &rc);
		if (!p)
			return why(rc);
		if (len != length_of(id, i) || !filled(p, id, i, len))
			return ST_WRONG;
		if (end_repost(e))
			return ST_ENDED;
		if (i % 4 == 3 && (!end_tx(e) || end_send(e, 1)))
			return ST_ENDED;
	}
	return ST_DONE;
}

int connect_to(struct end *e, const char *disc, uint32_t ms)
{
	union net_addr host;
	VIP_RETURN rc;

	peer_address(&host, e->nic);
	rc = conn_request(e->nic, e->vi, &host, disc, "", 0, ms);
	return rc == VIP_SUCCESS ? 0 : -1;
}

int order(struct end *e, const struct order *o)
{
	uint8_t *p = end_tx(e);

	if (!p)
		return -1;
	memcpy(p, o, sizeof(*o));
	return end_send(e, sizeof(*o));
}

void nothing_done(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
		  VIP_DESCRIPTOR *d)
{
	(void)context;
	(void)nic;
	(void)vi;
	(void)d;
}
