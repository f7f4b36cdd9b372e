// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The sending end. */
#include "stress.h"
#include "plan.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Memory: send descriptors (three a slot), the control send's, the receives for
 * control messages with their buffers, then WINDOW data buffers, and as many
 * for what is read back.
 */
#define RECVS		16u
#define SEND_DESCS	(3 * WINDOW + 1)
#define CTL_BUF		((SEND_DESCS + RECVS) * 64u)
#define DATA		((CTL_BUF + (RECVS + 1) * SMALL + 4095u) & ~4095u)
#define PATIENCE_MS	200u	/* until a lossy wire is taken to have lost */

static VIP_DESCRIPTOR *desc(struct client *c, unsigned int i)
{
	return (VIP_DESCRIPTOR *)c->mem + i;
}

static uint8_t *ctl_buf(struct client *c, unsigned int i)
{
	return c->mem + CTL_BUF + i * SMALL;
}

static size_t mem_len(const struct client *c)
{
	return DATA + (size_t)2 * WINDOW * c->stride;
}

static int complain(const char *what, VIP_RETURN rc)
{
	warn_msg("%s: %s", what, vip_str(rc));
	return -1;
}

static VIP_RETURN post_ctl_recv(struct client *c, unsigned int i)
{
	VIP_DESCRIPTOR *d = desc(c, SEND_DESCS + i);

	desc_data(d, ctl_buf(c, i), SMALL, c->mem_h);
	return VipPostRecv(c->vi, d, c->mem_h);
}

VIP_RETURN client_connect(struct client *c, uint32_t tries_ms)
{
	uint64_t end = now_ms() + tries_ms;
	union net_addr local, remote;
	static union net_addr host;
	VIP_VI_ATTRIBUTES theirs;
	VIP_RETURN rc;
	size_t disc = strlen(stress_args.disc);

	/* Once, before there are threads: it ends the program if it fails. */
	if (!host.a.HostAddressLen)
		peer_address(&host, &c->nic);
	net_addr_local(&local, &c->nic, stress_args.disc, disc);
	net_addr_set(&remote, host.a.HostAddress, host.a.HostAddressLen,
		     stress_args.disc, disc);
	for (;;) {
		rc = VipConnectRequest(c->vi, &local.a, &remote.a, 2000,
				       &theirs);
		if ((rc != VIP_NO_MATCH && rc != VIP_TIMEOUT) || now_ms() > end)
			return rc;
		/* The server is between two waits, or not up yet. */
		sleep_ms(2);
	}
}

int client_prepare(struct client *c)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = stress_args.level,
		.EnableRdmaWrite = VIP_TRUE,
	};
	unsigned int i;
	VIP_RETURN rc;
	size_t len;

	memset(c, 0, sizeof(*c));
	rc = nic_try(&c->nic, args.device);
	if (rc != VIP_SUCCESS)
		return complain(args.device, rc);
	c->lossy = stress_args.level == VIP_SERVICE_UNRELIABLE;
	c->max = stress_args.max_size > SMALL ? stress_args.max_size : SMALL;
	if (c->max > c->nic.attr.MaxTransferSize) {
		warn_msg("--max-size is at most %lu here",
			 c->nic.attr.MaxTransferSize);
		return -1;
	}
	/* An odd start now and then: the stride is no multiple of a page. */
	c->stride = (c->max + 127) & ~63u;
	len = mem_len(c);
	c->mem = memory_try(len);
	if (!c->mem)
		return complain("memory", VIP_ERROR_RESOURCE);
	a.MaxTransferSize = c->max;
	rc = VipRegisterMem(c->nic.h, c->mem, len, NULL, &c->mem_h);
	if (rc == VIP_SUCCESS)
		rc = VipCreateVi(c->nic.h, &a, NULL, NULL, &c->vi);
	for (i = 0; rc == VIP_SUCCESS && i < RECVS; i++)
		rc = post_ctl_recv(c, i);
	return rc == VIP_SUCCESS ? 0 : complain("setting up", rc);
}

int client_open(struct client *c)
{
	VIP_RETURN rc;

	if (client_prepare(c))
		return -1;
	rc = client_connect(c, args.limit);
	return rc == VIP_SUCCESS ? 0 : complain("connecting", rc);
}

void client_close(struct client *c)
{
	if (c->nic.h)
		VipCloseNic(c->nic.h);
	if (c->mem)
		munmap(c->mem, mem_len(c));
}

/* Collects sends until that many are done. */
static int reap(struct client *c, uint64_t upto)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	while (c->done < upto) {
		d = NULL;
		rc = VipSendWait(c->vi, args.limit, &d);
		if (rc != VIP_SUCCESS) {
			c->hung |= rc == VIP_TIMEOUT;
			warn_msg("send %llu: %s, status 0x%x",
				 (unsigned long long)c->done, vip_str(rc),
				 d ? d->CS.Status : 0);
			return -1;
		}
		c->done++;
	}
	return 0;
}

static int post(struct client *c, VIP_DESCRIPTOR *d)
{
	VIP_RETURN rc = VipPostSend(c->vi, d, c->mem_h);

	if (rc != VIP_SUCCESS)
		return complain("VipPostSend", rc);
	c->posted++;
	return 0;
}

/* 1: a message came into *m; 0: time-out; -1: the connection is gone. */
static int ctl_recv(struct client *c, struct msg *m, uint32_t ms)
{
	VIP_DESCRIPTOR *d = NULL;
	VIP_RETURN rc = VipRecvWait(c->vi, ms, &d);
	unsigned int i;

	if (rc == VIP_TIMEOUT)
		return 0;
	if (rc != VIP_SUCCESS || d->CS.Length < sizeof(*m))
		return complain("the connection", rc);
	i = d - desc(c, SEND_DESCS);
	memcpy(m, ctl_buf(c, i), sizeof(*m));
	rc = post_ctl_recv(c, i);
	return rc == VIP_SUCCESS ? 1 : complain("VipPostRecv", rc);
}

static void take_credit(struct client *c, const struct msg *m)
{
	if (m->type != MSG_CREDIT)
		return;
	if (m->credit > c->credit)
		c->credit = m->credit;
	c->target = m->target;
	c->target_h = m->handle;
	c->target_stride = m->stride;
}

static int send_ctl(struct client *c, const struct msg *m)
{
	VIP_DESCRIPTOR *d = desc(c, SEND_DESCS - 1);

	if (reap(c, c->posted))
		return -1;
	memcpy(ctl_buf(c, RECVS), m, sizeof(*m));
	desc_data(d, ctl_buf(c, RECVS), SMALL, c->mem_h);
	d->CS.Control = VIP_CONTROL_IMMEDIATE;
	d->CS.ImmediateData = IMM_CONTROL;
	return post(c, d);
}

int client_ask(struct client *c, struct msg *m, uint32_t answer)
{
	uint64_t end = now_ms() + args.limit;
	struct msg got;
	int ret;

	if (send_ctl(c, m))
		return -1;
	while (now_ms() < end) {
		ret = ctl_recv(c, &got, PATIENCE_MS);
		if (ret < 0)
			return -1;
		if (ret) {
			take_credit(c, &got);
			if (got.type != answer)
				continue;
			*m = got;
			return 0;
		}
		/* The question or the answer may have been lost. */
		if (c->lossy && send_ctl(c, m))
			return -1;
	}
	c->hung = 1;
	warn_msg("no answer to %u for %u ms", m->type, args.limit);
	return -1;
}

/* Makes room for message n in the window; 1 when it was taken by force. */
static int wait_credit(struct client *c, uint32_t n)
{
	uint64_t end = now_ms() + args.limit;
	struct msg m;
	int ret;

	while (n - c->credit >= WINDOW) {
		ret = ctl_recv(c, &m, PATIENCE_MS);
		if (ret < 0)
			return -1;
		if (ret) {
			take_credit(c, &m);
			continue;
		}
		/* All that was on its way is lost, or the credit was. */
		if (c->lossy)
			c->credit = n;
		else if (now_ms() > end)
			c->hung = 1;
		if (c->hung)
			return complain("no credit", VIP_TIMEOUT);
	}
	return 0;
}

static uint8_t *back_buf(struct client *c, unsigned int slot)
{
	return c->mem + DATA + (size_t)(WINDOW + slot) * c->stride;
}

/* The read of a slot is complete: are its bytes those that were written? */
static void check_back(struct client *c, unsigned int slot)
{
	size_t off, len = c->back[slot].len;

	if (!c->back[slot].valid)
		return;
	c->back[slot].valid = 0;
	c->reads++;
	off = content_wrong(back_buf(c, slot), c->back[slot].key, len);
	/* Nor is one behind them touched. */
	if (off == len && back_buf(c, slot)[len] == 0xa5)
		return;
	if (c->reads_bad++ < 20)
		warn_msg("message %u read back: wrong at %zu of %zu",
			 c->back[slot].n, off, len);
}

/* Reads back what message n has written into its slot. */
static int post_read(struct client *c, const struct plan *p, uint32_t n)
{
	unsigned int slot = n % WINDOW;
	VIP_DESCRIPTOR *d = desc(c, 3 * slot + 1);

	c->back[slot].key = p->key;
	c->back[slot].len = p->len;
	c->back[slot].n = n;
	c->back[slot].valid = 1;
	memset(back_buf(c, slot), 0xa5, p->len + 1);
	desc_data(d, back_buf(c, slot), p->len, c->mem_h);
	desc_rdma(d, VIP_CONTROL_OP_RDMAREAD,
		  c->target + (uint64_t)slot * c->target_stride, c->target_h);
	if (n % 7 == 0)
		d->CS.Control |= VIP_CONTROL_QFENCE;
	return post(c, d);
}

static int send_message(struct client *c, const struct plan *p, uint32_t n)
{
	bool write = p->kind == K_WRITE_IMM || p->kind == K_WRITE_SEND;
	unsigned int slot = n % WINDOW;
	uint8_t *buf = c->mem + DATA + (size_t)slot * c->stride + n % 61;
	VIP_DESCRIPTOR *d = desc(c, 3 * slot);

	if (reap(c, c->slot_last[slot]))
		return -1;
	check_back(c, slot);
	content(buf, p->key, p->len);
	desc_data(d, buf, p->len, c->mem_h);
	d->CS.ImmediateData = n;
	if (p->kind == K_SEND_IMM || p->kind == K_WRITE_IMM)
		d->CS.Control = VIP_CONTROL_IMMEDIATE;
	if (write)
		desc_rdma(d, VIP_CONTROL_OP_RDMAWRITE,
			  c->target + (uint64_t)slot * c->target_stride,
			  c->target_h);
	if (post(c, d))
		return -1;
	if (stress_args.reads && write && post_read(c, p, n))
		return -1;
	if (p->kind == K_WRITE_SEND) {
		d += 2;
		desc_data(d, NULL, 0, 0);
		d->CS.Control = VIP_CONTROL_IMMEDIATE;
		if (stress_args.reads && n % 3 == 0)
			d->CS.Control |= VIP_CONTROL_QFENCE;
		d->CS.ImmediateData = n;
		if (post(c, d))
			return -1;
	}
	c->slot_last[slot] = c->posted;
	return 0;
}

uint32_t client_completed(struct client *c)
{
	uint32_t n = c->sent > WINDOW ? c->sent - WINDOW : 0;
	VIP_DESCRIPTOR *d;

	/* What had arrived when the receiving half told of the loss. */
	while (c->done < c->posted && VipSendDone(c->vi, &d) == VIP_SUCCESS)
		c->done++;
	for (; n < c->sent && c->slot_last[n % WINDOW] <= c->done; n++)
		check_back(c, n % WINDOW);
	return n;
}

int client_run(struct client *c, uint32_t messages, uint64_t seed,
	       uint32_t *progress, struct result *r)
{
	struct msg m = { .type = MSG_HELLO, .messages = messages,
			 .seed = seed, .max_size = stress_args.max_size,
			 .id = c->id };
	struct plan p;
	uint32_t n;

	memset(r, 0, sizeof(*r));
	r->failed = messages;
	c->sent = 0;
	if (client_ask(c, &m, MSG_CREDIT))
		return -1;
	for (n = 0; n < messages; n++) {
		p = plan_of(seed, n, stress_args.max_size, c->lossy);
		if (wait_credit(c, n) || send_message(c, &p, n)) {
			warn_msg("stopped at message %u", n);
			return -1;
		}
		c->sent = n + 1;
		fetch_add(progress, 1);
	}
	/* The last answers need a receive each at the other end, too. */
	while (!c->lossy && c->credit < messages - messages % CREDIT_EVERY) {
		int ret = ctl_recv(c, &m, args.limit);

		c->hung |= !ret;
		if (ret <= 0)
			return -1;
		take_credit(c, &m);
	}
	m = (struct msg){ .type = MSG_END };
	if (client_ask(c, &m, MSG_REPORT))
		return -1;
	if (reap(c, c->posted))
		return -1;
	for (n = 0; n < WINDOW; n++)
		check_back(c, n);
	r->passed = m.passed;
	r->failed = m.failed + c->reads_bad;
	r->lost = m.lost;
	return 0;
}
