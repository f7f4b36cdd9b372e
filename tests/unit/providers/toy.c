// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A provider out of the tree, built with the installed headers alone. Each VI
 * is a hole: what is sent is complete at once. What else a test needs:
 *
 *	VipPostRecv		raises VIP_ERROR_CONN_LOST
 *	VipExtConnectListen	raises the event of a connection
 *	VipExtConnectRequest	makes none, and returns the private data
 *	VipExtConnectWait	a request as the discriminator says: "good",
 *				"long" for one that is longer than it may be,
 *				"later" for one of a later version
 *	toy:vi=HANDLE, toy:cq=HANDLE	are refused, and say whether the library
 *				gives that object to this provider
 *	an address		20 bytes, "toy7" for the last of them
 *
 * TOY_* make it a bad one, see run.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vipl/provider.h>

#ifndef TOY_NAME
#define TOY_NAME	"toy"
#endif
#ifndef TOY_FLAGS
#define TOY_FLAGS	0
#endif
#ifndef TOY_ABI
#define TOY_ABI		VIPL_PROVIDER_ABI
#endif

#define RING		16u

struct toy_vi {
	pthread_mutex_t lock;		/* zeroes are an unlocked one */
	VIP_VI_HANDLE handle;
	VIP_DESCRIPTOR *ring[RING];
	uint32_t posted, collected;
	int notify;
	struct vipl_cq *cq;
	struct vipl_private echo;
	int asked;
};

struct toy_cq {
	pthread_mutex_t lock;
	VIP_CQ_HANDLE handle;
	VIP_VI_HANDLE ring[RING];
	uint32_t put, got;
	int notify;
};

static const struct vipl_host *host;

static void nested(void)
{
#ifdef TOY_NESTED
	VIP_RETURN (*open_nic)(const VIP_CHAR *name, VIP_NIC_HANDLE *nic);
	VIP_NIC_HANDLE nic;

	*(void **)&open_nic = dlsym(RTLD_DEFAULT, "VipOpenNic");
	fprintf(stderr, "nested: %d\n",
		open_nic ? (int)open_nic("toy:", &nic) : -1);
#endif
}

/* A handle of any provider's object, in hexadecimal. */
static void steal(const char *rest)
{
	void *h = (void *)(uintptr_t)strtoull(rest + 3, NULL, 16);
	struct vipl_vi *vi = NULL;
	struct vipl_cq *cq = NULL;

	if (!strncmp(rest, "vi=", 3))
		vi = host->vi_get(host, h);
	else
		cq = host->cq_get(host, h);
	host->msg("%s %.2s", vi || cq ? "got the" : "no such", rest);
	if (vi)
		host->vi_put(vi);
	if (cq)
		host->cq_put(cq);
}

static VIP_RETURN toy_open(struct vipl_nic *nic, const char *rest)
{
	struct vipl_identity id = {
		.name = "a toy",
		.addr_len = 20,
		.mtu = 1000,
		.register_bytes = 1 << 30,
		.block_bytes = 1 << 20,
		.regions = 16,
		.vi = 16,
		.desc = RING,
		.segs = 2,
		.cq = 4,
		.cq_entries = RING,
		.transfer = 1000,
		.ptags = 4,
		.disc_len = 16,
		.reliability = VIP_SERVICE_UNRELIABLE,
		.features = VIP_FEATURE_CQ_FD | VIP_FEATURE_NIC_FD |
			    VIP_FEATURE_PRIVATE | VIP_FEATURE_NONBLOCKING |
			    VIP_FEATURE_LISTEN,
	};
	char speed[8];

	nested();
#ifdef TOY_LATER_IDENTITY
	id.reserved[14] = 1;
#endif
#ifdef TOY_LONG_IDENTITY
	id.addr_len = VIPL_ADDR_MAX + 1;
#endif
	if (!strncmp(rest, "vi=", 3) || !strncmp(rest, "cq=", 3)) {
		steal(rest);
		return VIP_INVALID_PARAMETER;
	}
	if (!strcmp(rest, "silent"))
		return VIP_SUCCESS;
	if (!strcmp(rest, "conf")) {
		if (host->conf("toy", "top-speed", speed, sizeof(speed)))
			strcpy(speed, "unknown");
		host->msg("the speed is %s", speed);
		return VIP_INVALID_PARAMETER;
	}
	if (!strcmp(rest, "none")) {
		host->msg("there is no such toy");
		return VIP_INVALID_PARAMETER;
	}
	id.addr[19] = 7;
	host->identify(nic, &id);
	return VIP_SUCCESS;
}

static VIP_RETURN toy_vi_create(struct vipl_vi *v,
				const VIP_VI_ATTRIBUTES *attrs, uint32_t ptag,
				struct vipl_cq *send_cq,
				struct vipl_cq *recv_cq)
{
	struct toy_vi *vi = vipl_priv(v);

	(void)attrs;
	(void)ptag;
	(void)recv_cq;
	vi->posted = 0;
	vi->collected = 0;
	vi->notify = 0;
	vi->cq = send_cq;
	return VIP_SUCCESS;
}

static void toy_vi_live(struct vipl_vi *v, VIP_VI_HANDLE h)
{
	struct toy_vi *vi = vipl_priv(v);

	pthread_mutex_lock(&vi->lock);
	vi->handle = h;
	pthread_mutex_unlock(&vi->lock);
}

static VIP_RETURN toy_vi_retire(struct vipl_vi *v)
{
	toy_vi_live(v, NULL);
	return VIP_SUCCESS;
}

static VIP_RETURN toy_vi_destroy(struct vipl_vi *v)
{
	(void)v;
	return VIP_SUCCESS;
}

static VIP_RETURN toy_vi_query(struct vipl_vi *v, VIP_VI_STATE *state,
			       VIP_VI_ATTRIBUTES *attrs)
{
	(void)v;
	*state = VIP_STATE_IDLE;
	memset(attrs, 0, sizeof(*attrs));
	return VIP_SUCCESS;
}

static VIP_RETURN toy_cq_create(struct vipl_cq *c, VIP_ULONG entries)
{
	struct toy_cq *cq = vipl_priv(c);

	(void)entries;
	cq->put = 0;
	cq->got = 0;
	cq->notify = 0;
	return VIP_SUCCESS;
}

static void toy_cq_live(struct vipl_cq *c, VIP_CQ_HANDLE h)
{
	struct toy_cq *cq = vipl_priv(c);

	pthread_mutex_lock(&cq->lock);
	cq->handle = h;
	pthread_mutex_unlock(&cq->lock);
}

static VIP_RETURN toy_cq_destroy(struct vipl_cq *c)
{
	(void)c;
	return VIP_SUCCESS;
}

/* The lock is held: an event may be told under any lock of ours. */
static void tell_cq(struct vipl_cq *c)
{
	struct toy_cq *cq = vipl_priv(c);
	const struct vipl_event ev = {
		.kind = VIPL_EVENT_CQ,
		.cq = cq->handle,
	};

	if (!cq->notify || cq->put == cq->got)
		return;
	cq->notify = 0;
	host->event(vipl_nic_of(c), &ev);
}

static void tell_vi(struct vipl_vi *v)
{
	struct toy_vi *vi = vipl_priv(v);
	const struct vipl_event ev = {
		.kind = VIPL_EVENT_SEND,
		.vi = vi->handle,
	};

	if (!vi->notify || vi->posted == vi->collected)
		return;
	vi->notify = 0;
	host->event(vipl_nic_of(v), &ev);
}

static void put_cq(struct vipl_cq *c, VIP_VI_HANDLE h)
{
	struct toy_cq *cq = vipl_priv(c);

	pthread_mutex_lock(&cq->lock);
	cq->ring[cq->put++ % RING] = h;
	tell_cq(c);
	pthread_mutex_unlock(&cq->lock);
}

static VIP_RETURN toy_post_send(struct vipl_vi *v, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct toy_vi *vi = vipl_priv(v);

	(void)mem;
	pthread_mutex_lock(&vi->lock);
	if (vi->handle == h && vi->posted - vi->collected < RING) {
		desc->CS.Status = VIP_STATUS_DONE;
		vi->ring[vi->posted++ % RING] = desc;
		tell_vi(v);
		if (vi->cq)
			put_cq(vi->cq, h);
		r = VIP_SUCCESS;
	}
	pthread_mutex_unlock(&vi->lock);
	return r;
}

static VIP_RETURN toy_send_done(struct vipl_vi *v, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR **desc)
{
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct toy_vi *vi = vipl_priv(v);

	pthread_mutex_lock(&vi->lock);
	if (vi->handle == h) {
		r = VIP_NOT_DONE;
		if (vi->posted != vi->collected) {
			*desc = vi->ring[vi->collected++ % RING];
			r = VIP_SUCCESS;
		}
	}
	pthread_mutex_unlock(&vi->lock);
	return r;
}

static VIP_RETURN toy_cq_done(struct vipl_cq *c, VIP_CQ_HANDLE h,
			      VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv)
{
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct toy_cq *cq = vipl_priv(c);

	pthread_mutex_lock(&cq->lock);
	if (cq->handle == h) {
		r = VIP_NOT_DONE;
		if (cq->put != cq->got) {
			*vi = cq->ring[cq->got++ % RING];
			*recv = VIP_FALSE;
			r = VIP_SUCCESS;
		}
	}
	pthread_mutex_unlock(&cq->lock);
	return r;
}

static VIP_RETURN toy_vi_notify(struct vipl_vi *v, int queue)
{
	struct toy_vi *vi = vipl_priv(v);

	if (queue != VIPL_SENDQ)
		return VIP_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&vi->lock);
	vi->notify = 1;
	tell_vi(v);
	pthread_mutex_unlock(&vi->lock);
	return VIP_SUCCESS;
}

static VIP_RETURN toy_cq_notify(struct vipl_cq *c)
{
	struct toy_cq *cq = vipl_priv(c);

	pthread_mutex_lock(&cq->lock);
	cq->notify = 1;
	tell_cq(c);
	pthread_mutex_unlock(&cq->lock);
	return VIP_SUCCESS;
}

static VIP_RETURN toy_post_recv(struct vipl_vi *v, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	const struct vipl_event ev = {
		.kind = VIPL_EVENT_ERROR,
		.vi = h,
		.desc = (uintptr_t)desc,
		.resource = VIP_RESOURCE_VI,
		.code = VIP_ERROR_CONN_LOST,
	};
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct toy_vi *vi = vipl_priv(v);

	(void)mem;
	/* Without a reference: while it is live nothing of it goes. */
	pthread_mutex_lock(&vi->lock);
	if (vi->handle == h) {
		host->event(vipl_nic_of(v), &ev);
		r = VIP_SUCCESS;
	}
	pthread_mutex_unlock(&vi->lock);
	return r;
}

static VIP_RETURN toy_listen(struct vipl_nic *nic,
			     const struct vipl_addr *local, uint32_t backlog)
{
	struct vipl_event ev = { .kind = VIPL_EVENT_CONN };

	/* Of a later version: a kind, and a member. */
	if (local->disc_len == 5) {
		ev.kind = (enum vipl_event_kind)99;
		host->event(nic, &ev);
		ev.kind = VIPL_EVENT_CONN;
		ev.reserved[4] = 1;
	}
	if (backlog)
		host->event(nic, &ev);
	return VIP_SUCCESS;
}

static VIP_RETURN toy_conn_wait(struct vipl_nic *nic,
				const struct vipl_addr *local,
				VIP_ULONG timeout, struct vipl_request *req)
{
	static const struct vipl_request zero;

	(void)nic;
	(void)timeout;
	if (memcmp(req, &zero, sizeof(zero)))
		return VIP_NOT_REACHABLE;
	req->id = 7;
	req->remote.host_len = 20;
	memset(req->remote.host, 'h', 20);
	req->remote.disc_len = 16;
	memset(req->remote.disc, 'd', 16);
	if (!memcmp(local->disc, "longh", 5))
		req->remote.host_len = 21;
	if (!memcmp(local->disc, "longd", 5))
		req->remote.disc_len = 17;
	if (!memcmp(local->disc, "later", 5))
		req->reserved[8] = 1;
	return VIP_SUCCESS;
}

static VIP_RETURN toy_conn_reject(struct vipl_nic *nic, uint32_t conn,
				  const struct vipl_private *priv)
{
	(void)nic;
	(void)priv;
	host->msg("a toy rejects request %u", conn);
	return VIP_SUCCESS;
}

static VIP_RETURN toy_request(struct vipl_vi *v,
			      const struct vipl_addr *local,
			      const struct vipl_addr *remote,
			      VIP_ULONG timeout,
			      const struct vipl_private *priv)
{
	uint32_t i;
	struct toy_vi *vi = vipl_priv(v);

	(void)local;
	(void)remote;
	(void)timeout;
	/* What is not the program's data is not for the wire. */
	for (i = priv->len; i < sizeof(priv->data); i++)
		if (priv->data[i])
			return VIP_ERROR_RESOURCE;
	vi->echo = *priv;
	vi->asked = 2;
	return VIP_SUCCESS;
}

static VIP_RETURN toy_result(struct vipl_vi *v, VIP_VI_ATTRIBUTES *attrs,
			     struct vipl_private *priv)
{
	struct toy_vi *vi = vipl_priv(v);

	(void)attrs;
	if (!vi->asked)
		return VIP_INVALID_STATE;
	if (--vi->asked)
		return VIP_NOT_DONE;
	*priv = vi->echo;
	return VIP_REJECT;
}

static int toy_parse(struct vipl_nic *nic, const char *text, uint8_t *addr)
{
	int n, end = 0;

	(void)nic;
	if (sscanf(text, "toy%d%n", &n, &end) != 1 || text[end] || n < 0 ||
	    n > 255)
		return -1;
	memset(addr, 0, 20);
	addr[19] = (uint8_t)n;
	return 0;
}

static void toy_format(struct vipl_nic *nic, const uint8_t *addr, char *text,
		       size_t size)
{
	(void)nic;
	snprintf(text, size, "toy%d", addr[19]);
}

static void toy_devices(void (*each)(void *arg, const char *device,
				     const char *what), void *arg)
{
	each(arg, "toy:", "a toy to play with");
	each(arg, "toy:2", "another");
}

static void toy_forked(void)
{
	static const char text[] = "toy: forked\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
}

#ifdef TOY_SIZE_LESS
/* As built when there was nothing yet after open. */
#define TOY_SIZE	(offsetof(struct vipl_provider, shutdown))
#elif defined(TOY_SIZE_ODD)
/* No operation begins, nor is there half of one. */
#define TOY_SIZE	(offsetof(struct vipl_provider, shutdown) + 4)
#elif defined(TOY_SIZE_NONE)
#define TOY_SIZE	(offsetof(struct vipl_provider, open))
#else
#define TOY_SIZE	sizeof(toy)
#endif

/* What a later version may have has any value. */
static const struct {
	struct vipl_provider p;
#ifdef TOY_SIZE_MORE
	void *more[4];
#endif
} toy = {
	.p = {
		.abi = TOY_ABI,
		.size = TOY_SIZE,
		.name = TOY_NAME,
		.version = "1",
		.flags = TOY_FLAGS,
		.nic_size = 1,
		.vi_size = sizeof(struct toy_vi),
		.cq_size = sizeof(struct toy_cq),
		.devices = toy_devices,
		.open = toy_open,
		.vi_create = toy_vi_create,
		.vi_live = toy_vi_live,
		.vi_retire = toy_vi_retire,
		.vi_destroy = toy_vi_destroy,
		.vi_query = toy_vi_query,
		.cq_create = toy_cq_create,
		.cq_live = toy_cq_live,
		.cq_destroy = toy_cq_destroy,
		.post_send = toy_post_send,
		.post_recv = toy_post_recv,
		.send_done = toy_send_done,
		.cq_done = toy_cq_done,
		.vi_notify = toy_vi_notify,
		.cq_notify = toy_cq_notify,
		.conn_wait = toy_conn_wait,
		.conn_reject = toy_conn_reject,
		.conn_request_start = toy_request,
		.conn_result = toy_result,
		.conn_listen = toy_listen,
		.addr_parse = toy_parse,
		.addr_format = toy_format,
		.fork_child = toy_forked,
	},
#ifdef TOY_SIZE_MORE
	.more = { &host, &host, &host, &host },
#endif
};

#ifndef TOY_NO_ENTRY
const struct vipl_provider *vipl_provider_init(uint32_t abi,
					       const struct vipl_host *h,
					       const char **why)
{
	nested();
	host = h;
#ifdef TOY_LATER_HOST
	/* Built with a header that has one service more. */
	const struct {
		struct vipl_host known;
		void (*later)(void);
	} *wants = (const void *)h;

	if (h->size < sizeof(*wants)) {
		*why = VIPL_HOST_HAS(h, may_spin) ? "no service later()" :
						    "no service at all";
		return NULL;
	}
#endif
#ifdef TOY_REFUSES
	*why = "it is Sunday";
	return abi == VIPL_PROVIDER_ABI ? NULL : &toy.p;
#else
	(void)abi;
	(void)why;
	return &toy.p;
#endif
}
#endif
