// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Processes of one machine over UCX, by messages with tags: shmrun.h has the
 * command line. WHERE is only a name; UCX_TLS selects the transports.
 */
#include <stdlib.h>
#include <string.h>

#include <ucp/api/ucp.h>

#include "shmloop.h"

#define PAGE	4096u
#define QUEUE	2048u		/* a power of two, more than are posted */

struct end {
	ucp_context_h	context;
	ucp_worker_h	worker;
	ucp_ep_h	ep[SHM_CLIENTS];
	/* Tags of arrivals that are not yet taken. */
	ucp_tag_t	got[QUEUE];
	uint32_t	taken, have;
	/* Messages are of one buffer, and go to another one. */
	unsigned char	*out, *in;
	uint32_t	size;		/* bytes of a message sent */
	uint32_t	room;		/* bytes of a receive */
	uint32_t	flying;		/* sends not done, to all */
	ucp_tag_t	tag;		/* of this end's messages */
};

static void must(ucs_status_t rc, const char *what)
{
	if (rc != UCS_OK)
		die("%s: %s", what, ucs_status_string(rc));
}

static void received(void *request, ucs_status_t status,
		     const ucp_tag_recv_info_t *info, void *arg)
{
	struct end *e = arg;

	must(status, "a receive");
	e->got[e->have++ % QUEUE] = info->sender_tag;
	ucp_request_free(request);
}

static void sent(void *request, ucs_status_t status, void *arg)
{
	struct end *e = arg;

	must(status, "a send");
	e->flying--;
	ucp_request_free(request);
}

static int end_arrived(struct end *e)
{
	if (e->taken == e->have) {
		ucp_worker_progress(e->worker);
		if (e->taken == e->have)
			return -1;
	}
	return (int)e->got[e->taken++ % QUEUE];
}

static void end_recv(struct end *e, int from)
{
	ucp_tag_recv_info_t info = { 0 };
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
				UCP_OP_ATTR_FIELD_USER_DATA |
				UCP_OP_ATTR_FIELD_RECV_INFO,
		.cb.recv = received, .user_data = e,
		.recv_info.tag_info = &info,
	};
	ucs_status_ptr_t rc;

	(void)from;
	rc = ucp_tag_recv_nbx(e->worker, e->in, e->room, 0, 0, &param);
	if (UCS_PTR_IS_ERR(rc))
		must(UCS_PTR_STATUS(rc), "ucp_tag_recv_nbx");
	if (!rc)
		e->got[e->have++ % QUEUE] = info.sender_tag;
}

static void end_send(struct end *e, int to)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
				UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = sent, .user_data = e,
	};
	ucs_status_ptr_t rc;

	rc = ucp_tag_send_nbx(e->ep[to], e->out, e->size, e->tag, &param);
	if (UCS_PTR_IS_ERR(rc))
		must(UCS_PTR_STATUS(rc), "ucp_tag_send_nbx");
	e->flying += rc != NULL;
}

static uint32_t end_sent(struct end *e, int to)
{
	(void)to;
	if (e->flying)
		ucp_worker_progress(e->worker);
	return e->flying;
}

static void end_idle(struct end *e)
{
	ucp_worker_progress(e->worker);
	sched_yield();
}

static void open_end(struct end *e)
{
	const ucp_params_t context = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_TAG,
	};
	const ucp_worker_params_t worker = {
		.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
		.thread_mode = UCS_THREAD_MODE_SINGLE,
	};

	must(ucp_init(&context, NULL, &e->context), "ucp_init");
	must(ucp_worker_create(e->context, &worker, &e->worker),
	     "ucp_worker_create");
}

static void meet(struct end *e, const struct shm_run *r, const int *fd)
{
	unsigned char theirs[SHM_ROOM];
	const ucp_ep_params_t ep = {
		.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
		.address = (const ucp_address_t *)theirs,
	};
	ucp_address_t *mine;
	size_t len;

	must(ucp_worker_get_address(e->worker, &mine, &len),
	     "ucp_worker_get_address");
	for (uint32_t i = 0; i < shm_peers(r); i++) {
		shm_swap(fd[i], mine, (uint32_t)len, theirs);
		must(ucp_ep_create(e->worker, &ep, &e->ep[i]),
		     "ucp_ep_create");
	}
	ucp_worker_release_address(e->worker, mine);
}

static double end(const struct shm_run *r, const int *fd)
{
	struct end *e = xcalloc(1, sizeof(*e));
	size_t pages = (r->size + PAGE - 1) & ~(PAGE - 1);
	double figure;

	open_end(e);
	e->out = aligned_alloc(PAGE, 2 * pages);
	if (!e->out)
		die("no memory");
	memset(e->out, 1, 2 * pages);
	e->in = e->out + pages;
	e->size = shm_sends(r);
	e->room = r->size < SHM_ANSWER ? SHM_ANSWER : r->size;
	e->tag = shm_server(r) ? 0 : (ucp_tag_t)r->me;
	meet(e, r, fd);
	for (uint32_t i = 0; i < shm_receives(r) * shm_peers(r); i++)
		end_recv(e, 0);
	figure = loop_run(e, r, fd);
	for (uint32_t i = 0; i < shm_peers(r); i++) {
		const ucp_request_param_t param = { 0 };
		ucs_status_ptr_t rc = ucp_ep_close_nbx(e->ep[i], &param);

		while (UCS_PTR_IS_PTR(rc) &&
		       ucp_request_check_status(rc) == UCS_INPROGRESS)
			ucp_worker_progress(e->worker);
		if (UCS_PTR_IS_PTR(rc))
			ucp_request_free(rc);
	}
	shm_meet(r, fd, loop_idle, e);
	ucp_worker_destroy(e->worker);
	ucp_cleanup(e->context);
	free(e->out);
	free(e);
	return figure;
}

int main(int argc, char **argv)
{
	return shm_main(argc, argv, end);
}
