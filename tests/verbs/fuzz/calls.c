// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Calls of uverbs, by write() and by ioctl(): as a library makes them, with
 * numbers of objects that may be there, and then with sizes, counts, pointers
 * and flags that are not right.
 */
#include "fuzz.h"
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <rdma/siw-abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER		4096u
#define WORK		(64u << 10)	/* registered, mapped, answered into */
#define HANDLES		16

static struct dice d;
static uint8_t *area;
static int device = -1;
static uint32_t driver, handle[HANDLES];
static unsigned int handles;

static uint32_t some_handle(void)
{
	if (once_in(&d, 12))
		return odd_number(&d);
	if (once_in(&d, 3) && handles)
		return handle[draw(&d, handles < HANDLES ? handles : HANDLES)];
	return draw(&d, 4);
}

static uint64_t some_pointer(void)
{
	switch (draw(&d, 16)) {
	case 0: return 0;
	case 1: return dice(&d);
	case 2: return (uintptr_t)area + WORK - draw(&d, 16);
	case 3: return 0xffffffff81000000ull + draw(&d, 1 << 24);
	default: return (uintptr_t)area + draw(&d, WORK / 2);
	}
}

/* Each fills the body of a call and returns its length. */
static size_t get_context(void *p)
{
	struct ib_uverbs_get_context *c = p;

	c->response = (uintptr_t)area;
	return sizeof(*c);
}

static size_t only_response(void *p)
{
	*(uint64_t *)p = some_pointer();
	return 8;
}

static size_t query_port(void *p)
{
	struct ib_uverbs_query_port *c = p;

	c->response = some_pointer();
	c->port_num = once_in(&d, 4) ? dice(&d) : 1;
	return sizeof(*c);
}

static size_t only_handle(void *p)
{
	*(uint32_t *)p = some_handle();
	return 4;
}

static size_t response_handle(void *p)
{
	*(uint64_t *)p = some_pointer();
	((uint32_t *)p)[2] = some_handle();
	return 16;
}

static size_t reg_mr(void *p)
{
	struct ib_uverbs_reg_mr *c = p;

	c->response = some_pointer();
	c->start = once_in(&d, 5) ? some_pointer() : (uintptr_t)area;
	c->length = once_in(&d, 5) ? odd_number(&d) : draw(&d, WORK);
	if (once_in(&d, 20))
		c->length = dice(&d);
	c->hca_va = once_in(&d, 5) ? dice(&d) : c->start;
	c->pd_handle = some_handle();
	c->access_flags = once_in(&d, 5) ? dice(&d) : draw(&d, 16);
	return sizeof(*c) + sizeof(struct siw_ureq_reg_mr);
}

static size_t create_cq(void *p)
{
	struct ib_uverbs_create_cq *c = p;

	c->response = some_pointer();
	c->user_handle = dice(&d);
	c->cqe = once_in(&d, 4) ? odd_number(&d) : draw(&d, 300);
	c->comp_vector = once_in(&d, 6) ? dice(&d) : 0;
	c->comp_channel = once_in(&d, 3) ? (int)some_handle() : -1;
	return sizeof(*c);
}

static size_t create_qp(void *p)
{
	struct ib_uverbs_create_qp *c = p;

	c->response = some_pointer();
	c->user_handle = dice(&d);
	c->pd_handle = some_handle();
	c->send_cq_handle = some_handle();
	c->recv_cq_handle = some_handle();
	c->srq_handle = some_handle();
	c->max_send_wr = once_in(&d, 5) ? odd_number(&d) : draw(&d, 100);
	c->max_recv_wr = once_in(&d, 5) ? odd_number(&d) : draw(&d, 100);
	c->max_send_sge = once_in(&d, 5) ? odd_number(&d) : draw(&d, 7);
	c->max_recv_sge = once_in(&d, 5) ? odd_number(&d) : draw(&d, 7);
	c->max_inline_data = once_in(&d, 5) ? odd_number(&d) : draw(&d, 80);
	c->sq_sig_all = draw(&d, 2);
	c->qp_type = once_in(&d, 4) ? dice(&d) : 2;
	c->is_srq = once_in(&d, 6);
	return sizeof(*c);
}

static size_t modify_qp(void *p)
{
	struct ib_uverbs_modify_qp *c = p;

	c->qp_handle = some_handle();
	c->attr_mask = once_in(&d, 2) ? 1 : dice(&d);
	c->qp_state = once_in(&d, 6) ? dice(&d) : draw(&d, 8);
	c->cur_qp_state = draw(&d, 8);
	c->port_num = draw(&d, 3);
	c->path_mtu = draw(&d, 8);
	c->max_rd_atomic = dice(&d);
	c->max_dest_rd_atomic = dice(&d);
	return sizeof(*c);
}

static size_t query_qp(void *p)
{
	struct ib_uverbs_query_qp *c = p;

	c->response = some_pointer();
	c->qp_handle = some_handle();
	c->attr_mask = dice(&d);
	return sizeof(*c);
}

/* Work requests in the call itself: a device of mapped queues has others. */
static size_t post(void *p)
{
	struct ib_uverbs_post_send *c = p;
	uint32_t *w = (void *)c->send_wr;
	unsigned int i;

	c->response = some_pointer();
	c->qp_handle = some_handle();
	c->wr_count = draw(&d, 4);
	c->sge_count = draw(&d, 8);
	c->wqe_size = once_in(&d, 6) ? odd_number(&d) :
				       sizeof(struct ib_uverbs_send_wr);
	for (i = 0; i < 100; i++)
		w[i] = once_in(&d, 3) ? odd_number(&d) : draw(&d, 8);
	return sizeof(*c) + draw(&d, 100) * 4;
}

static size_t poll_cq(void *p)
{
	struct ib_uverbs_poll_cq *c = p;

	c->response = some_pointer();
	c->cq_handle = some_handle();
	c->ne = once_in(&d, 4) ? odd_number(&d) : draw(&d, 16);
	return sizeof(*c);
}

static size_t notify_cq(void *p)
{
	((uint32_t *)p)[0] = some_handle();
	((uint32_t *)p)[1] = draw(&d, 3);
	return 8;
}

static size_t create_srq(void *p)
{
	struct ib_uverbs_create_srq *c = p;

	c->response = some_pointer();
	c->user_handle = dice(&d);
	c->pd_handle = some_handle();
	c->max_wr = once_in(&d, 4) ? odd_number(&d) : draw(&d, 200);
	c->max_sge = once_in(&d, 4) ? odd_number(&d) : draw(&d, 7);
	c->srq_limit = draw(&d, 100);
	return sizeof(*c);
}

static size_t modify_srq(void *p)
{
	struct ib_uverbs_modify_srq *c = p;

	c->srq_handle = some_handle();
	c->attr_mask = once_in(&d, 4) ? dice(&d) : 2;
	c->max_wr = draw(&d, 200);
	c->srq_limit = once_in(&d, 3) ? odd_number(&d) : draw(&d, 200);
	return sizeof(*c);
}

static size_t anything(void *p)
{
	uint32_t *w = p;
	unsigned int i, n = draw(&d, 60);

	for (i = 0; i < n; i++)
		w[i] = once_in(&d, 2) ? some_handle() : odd_number(&d);
	return n * 4;
}

static const struct call {
	uint32_t command;
	size_t (*fill)(void *p);
	uint32_t out;
} calls[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, get_context, 64 },
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, only_response, 256 },
	{ IB_USER_VERBS_CMD_QUERY_PORT, query_port, 64 },
	{ IB_USER_VERBS_CMD_ALLOC_PD, only_response, 64 },
	{ IB_USER_VERBS_CMD_ALLOC_PD, only_response, 64 },
	{ IB_USER_VERBS_CMD_DEALLOC_PD, only_handle, 0 },
	{ IB_USER_VERBS_CMD_REG_MR, reg_mr, 64 },
	{ IB_USER_VERBS_CMD_REG_MR, reg_mr, 64 },
	{ IB_USER_VERBS_CMD_DEREG_MR, only_handle, 0 },
	{ IB_USER_VERBS_CMD_REREG_MR, anything, 64 },
	{ IB_USER_VERBS_CMD_ALLOC_MW, response_handle, 64 },
	{ IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, only_response, 64 },
	{ IB_USER_VERBS_CMD_CREATE_CQ, create_cq, 64 },
	{ IB_USER_VERBS_CMD_CREATE_CQ, create_cq, 64 },
	{ IB_USER_VERBS_CMD_RESIZE_CQ, create_cq, 64 },
	{ IB_USER_VERBS_CMD_DESTROY_CQ, response_handle, 64 },
	{ IB_USER_VERBS_CMD_POLL_CQ, poll_cq, 1024 },
	{ IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, notify_cq, 0 },
	{ IB_USER_VERBS_CMD_CREATE_QP, create_qp, 128 },
	{ IB_USER_VERBS_CMD_CREATE_QP, create_qp, 128 },
	{ IB_USER_VERBS_CMD_MODIFY_QP, modify_qp, 0 },
	{ IB_USER_VERBS_CMD_QUERY_QP, query_qp, 256 },
	{ IB_USER_VERBS_CMD_DESTROY_QP, response_handle, 64 },
	{ IB_USER_VERBS_CMD_POST_SEND, post, 64 },
	{ IB_USER_VERBS_CMD_POST_RECV, post, 64 },
	{ IB_USER_VERBS_CMD_CREATE_SRQ, create_srq, 64 },
	{ IB_USER_VERBS_CMD_CREATE_SRQ, create_srq, 64 },
	{ IB_USER_VERBS_CMD_MODIFY_SRQ, modify_srq, 0 },
	{ IB_USER_VERBS_CMD_QUERY_SRQ, response_handle, 64 },
	{ IB_USER_VERBS_CMD_DESTROY_SRQ, response_handle, 64 },
	{ IB_USER_VERBS_CMD_POST_SRQ_RECV, post, 64 },
	{ IB_USER_VERBS_CMD_CREATE_AH, anything, 64 },
	{ IB_USER_VERBS_CMD_OPEN_QP, anything, 64 },
	{ IB_USER_VERBS_EX_CMD_CREATE_FLOW, anything, 64 },
};

/* What a call made is the number in the first word of its answer. */
static void keep_handle(const uint64_t *response)
{
	uintptr_t at = *response;

	if (at >= (uintptr_t)area && at <= (uintptr_t)area + WORK - 4)
		handle[handles++ % HANDLES] = *(uint32_t *)at;
}

static void by_write(void)
{
	static uint8_t raw[BUFFER];
	const struct call *c = &calls[draw(&d, ARRAY_SIZE(calls))];
	struct ib_uverbs_cmd_hdr *h = (void *)raw;
	size_t n, extended = 0;

	memset(raw, 0, sizeof(raw));
	h->command = c->command;
	if (once_in(&d, 10)) {
		/* The longer form of a head, which some commands have. */
		extended = sizeof(struct ib_uverbs_ex_cmd_hdr);
		h->command |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
		*(uint64_t *)(h + 1) = some_pointer();
	}
	if (once_in(&d, 40))
		h->command = odd_number(&d);
	n = sizeof(*h) + extended + c->fill(raw + sizeof(*h) + extended);
	if (once_in(&d, 15))
		n = draw(&d, n + 64);
	h->in_words = extended ? (n - sizeof(*h) - extended) / 8 : n / 4;
	if (once_in(&d, 15))
		h->in_words = odd_number(&d);
	h->out_words = once_in(&d, 10) ? odd_number(&d) : c->out / 4;
	if (n > sizeof(raw))
		n = sizeof(raw);
	if (write(device, raw, n) == (ssize_t)n && c->out && !extended &&
	    n >= sizeof(*h) + 8)
		keep_handle((void *)(h + 1));
}

/* An attribute's data are in it, or where it points. */
static void attribute(struct ib_uverbs_attr *a)
{
	a->attr_id = once_in(&d, 5) ? 0x1000 + draw(&d, 4) : draw(&d, 12);
	a->len = once_in(&d, 3) ? odd_number(&d) : draw(&d, 5) * 4;
	a->flags = once_in(&d, 10) ? dice(&d) : draw(&d, 2);
	a->data = once_in(&d, 2) ? some_pointer() : some_handle();
	if (once_in(&d, 20))
		a->attr_data.reserved = dice(&d);
}

static void by_ioctl(void)
{
	static uint8_t raw[BUFFER];
	struct ib_uverbs_ioctl_hdr *h = (void *)raw;
	unsigned int i;

	memset(raw, 0, sizeof(raw));
	h->object_id = once_in(&d, 20) ? odd_number(&d) : draw(&d, 20);
	h->method_id = once_in(&d, 20) ? odd_number(&d) : draw(&d, 10);
	h->num_attrs = draw(&d, 9);
	h->driver_id = once_in(&d, 20) ? odd_number(&d) : driver;
	for (i = 0; i < h->num_attrs; i++)
		attribute(&h->attrs[i]);
	if (once_in(&d, 4) && h->num_attrs >= 2) {
		/* A command of the old kind, in an ioctl. */
		h->object_id = UVERBS_OBJECT_DEVICE;
		h->method_id = UVERBS_METHOD_INVOKE_WRITE;
		h->attrs[0].attr_id = UVERBS_ATTR_WRITE_CMD;
		h->attrs[0].len = 8;
		h->attrs[0].data = calls[draw(&d, ARRAY_SIZE(calls))].command;
	}
	h->length = sizeof(*h) + h->num_attrs * sizeof(h->attrs[0]);
	if (once_in(&d, 12))
		h->length = odd_number(&d);
	if (once_in(&d, 20))
		h->num_attrs = odd_number(&d);
	for (i = 0; i < 64; i++)
		((uint32_t *)area)[draw(&d, WORK / 4)] = once_in(&d, 2) ?
			some_handle() : odd_number(&d);
	ioctl(device, RDMA_VERBS_IOCTL, h);
}

/* Keys of mappings are small numbers, pages as they come. */
static void by_mmap(void)
{
	uint64_t key = once_in(&d, 4) ? dice(&d) : draw(&d, 64);
	size_t len = (draw(&d, 8) + 1) * 4096;
	uint8_t *p = mmap(NULL, len, once_in(&d, 3) ? PROT_READ :
			  PROT_READ | PROT_WRITE,
			  once_in(&d, 5) ? MAP_PRIVATE : MAP_SHARED, device,
			  (key & 0xfffffffffffull) << 12);

	if (p == MAP_FAILED)
		return;
	/* Some stay, until the process ends. */
	if (once_in(&d, 2))
		munmap(p, len);
	else if (once_in(&d, 3))
		mremap(p, len, len * 2, MREMAP_MAYMOVE);
}

/* The same file again, or a new one; or the process splits. */
static bool reopen(const char *path)
{
	if (device >= 0)
		close(device);
	device = open(path, O_RDWR | O_CLOEXEC);
	handles = 0;
	return device >= 0;
}

void calls_round(const char *path, uint32_t id, uint64_t seed,
		 unsigned int steps)
{
	struct {
		struct ib_uverbs_cmd_hdr head;
		struct ib_uverbs_get_context body;
	} r = { .head = { IB_USER_VERBS_CMD_GET_CONTEXT,
			  sizeof(r) / 4, 16 } };
	uint32_t n;

	dice_seed(&d, seed);
	driver = id;
	area = mmap(NULL, WORK, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || !reopen(path)) {
		perror(path);
		_exit(3);
	}
	r.body.response = (uintptr_t)area;
	if (!once_in(&d, 8) && write(device, &r, sizeof(r)) < 0)
		_exit(3);
	while (steps--) {
		n = draw(&d, 100);
		if (n < 60)
			by_write();
		else if (n < 90)
			by_ioctl();
		else if (n < 98)
			by_mmap();
		else if (once_in(&d, 10) && reopen(path) &&
			 write(device, &r, sizeof(r)) < 0)
			break;
	}
	_exit(0);
}
