// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Each call that libfabric's provider "via" serves, and each that it refuses.
 * Both ends are in this process, on the VI NIC that FI_VIA_DEVICES names
 * (shm:0 by default), except where one of them has to die.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define SLOW_S	60
#define BIG	(3u << 20)

static void die(int line, const char *what, long got)
{
	fprintf(stderr, "fabric.c:%d: %s: got %ld (%s)\n", line, what, got,
		fi_strerror((int)labs(got)));
	exit(1);
}

#define IS(expr, want) do { \
	long got_ = (long)(expr); \
	if (got_ != (long)(want)) \
		die(__LINE__, #expr " is not " #want, got_); \
} while (0)
#define OK(expr)	IS(expr, 0)
/* A call that may have to wait for the peer's receive to be known. */
#define GOES(expr) do { \
	double end_ = now() + SLOW_S; \
	long got_; \
	while ((got_ = (long)(expr)) == -FI_EAGAIN && now() < end_) \
		look(); \
	if (got_) \
		die(__LINE__, #expr, got_); \
} while (0)
#define TRUE(expr)	IS(!!(expr), 1)

static void look(void);

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One side: all that a program has. */
struct side {
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_eq		*eq;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	struct fid_pep		*pep;
	struct fid_mr		*mr;
	unsigned char		*buf;
};

static struct side *sides[2];	/* of the pair there is */

static void look(void)
{
	fi_cq_read(sides[0]->cq, NULL, 0);
	fi_cq_read(sides[1]->cq, NULL, 0);
}

static struct fi_info *hints_new(void)
{
	struct fi_info *h = fi_allocinfo();

	h->caps = FI_MSG | FI_RMA;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_MSG;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				  FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	h->fabric_attr->prov_name = strdup("via");
	return h;
}

static int query(const char *node, const char *service, uint64_t flags,
		 struct fi_info *hints, struct fi_info **info)
{
	return fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints,
			  info);
}

static void open_side_cq(struct side *s, enum fi_cq_format format,
			 enum fi_wait_obj wait)
{
	struct fi_cq_attr cq = { .format = format, .wait_obj = wait };
	struct fi_eq_attr eq = { .wait_obj = wait, .flags = FI_WRITE };
	struct fi_info *h = hints_new();

	memset(s, 0, sizeof(*s));
	OK(query(NULL, NULL, 0, h, &s->info));
	fi_freeinfo(h);
	OK(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	OK(fi_domain(s->fabric, s->info, &s->domain, NULL));
	OK(fi_eq_open(s->fabric, &eq, &s->eq, NULL));
	OK(fi_cq_open(s->domain, &cq, &s->cq, NULL));
	s->buf = calloc(1, BIG);
	OK(fi_mr_reg(s->domain, s->buf, BIG, FI_SEND | FI_RECV | FI_READ |
		     FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0,
		     &s->mr, NULL));
}

static void open_side(struct side *s)
{
	open_side_cq(s, FI_CQ_FORMAT_DATA, FI_WAIT_FD);
}

static void open_ep(struct side *s, struct fi_info *info, uint64_t cq_flags)
{
	OK(fi_endpoint(s->domain, info, &s->ep, s));
	OK(fi_ep_bind(s->ep, &s->eq->fid, 0));
	OK(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV | cq_flags));
	OK(fi_enable(s->ep));
}

static void listen_on(struct side *s, struct sockaddr_in *addr)
{
	size_t len = sizeof(*addr);

	OK(fi_passive_ep(s->fabric, s->info, &s->pep, s));
	OK(fi_pep_bind(s->pep, &s->eq->fid, 0));
	OK(fi_listen(s->pep));
	OK(fi_getname(&s->pep->fid, addr, &len));
	IS(len, sizeof(*addr));
	TRUE(addr->sin_port);
}

static void close_side(struct side *s)
{
	if (s->ep)
		OK(fi_close(&s->ep->fid));
	if (s->pep)
		OK(fi_close(&s->pep->fid));
	OK(fi_close(&s->mr->fid));
	OK(fi_close(&s->cq->fid));
	OK(fi_close(&s->eq->fid));
	OK(fi_close(&s->domain->fid));
	OK(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
	free(s->buf);
}

/* The event that has to come next; the other side makes progress, too. */
static ssize_t event(struct side *s, struct side *other, uint32_t want,
		     void *buf, size_t len)
{
	double end = now() + SLOW_S;
	struct fi_eq_err_entry err = { 0 };
	uint32_t e = ~0u;
	ssize_t n;

	do {
		n = fi_eq_read(s->eq, &e, buf, len, 0);
		if (n == -FI_EAGAIN && other) {
			uint32_t none;
			char peek[256];

			fi_eq_read(other->eq, &none, peek, sizeof(peek),
				   FI_PEEK);
			fi_cq_read(other->cq, NULL, 0);
		}
	} while (n == -FI_EAGAIN && now() < end);
	if (n == -FI_EAVAIL) {
		fi_eq_readerr(s->eq, &err, 0);
		die(__LINE__, "an error on the EQ", err.err);
	}
	TRUE(n > 0);
	IS(e, want);
	return n;
}

static int eq_error(struct side *s, struct side *other, char *data,
		    size_t *len)
{
	double end = now() + SLOW_S;
	struct fi_eq_err_entry err = { 0 };
	char buf[256], none[256];
	uint32_t e;
	ssize_t n;

	do {
		n = fi_eq_read(s->eq, &e, buf, sizeof(buf), 0);
		if (n == -FI_EAGAIN && other)
			fi_eq_read(other->eq, &e, none, sizeof(none), FI_PEEK);
	} while (n == -FI_EAGAIN && now() < end);
	IS(n, -FI_EAVAIL);
	IS(fi_eq_readerr(s->eq, &err, 0), sizeof(err));
	TRUE(err.fid == &s->ep->fid && err.context == s);
	TRUE(strlen(fi_eq_strerror(s->eq, err.prov_errno, NULL, buf,
				   sizeof(buf))));
	if (data) {
		TRUE(err.err_data_size <= *len);
		*len = err.err_data_size;
		memcpy(data, err.err_data, *len);
	}
	return err.err;
}

union cm {
	struct fi_eq_cm_entry	e;
	char			room[sizeof(struct fi_eq_cm_entry) + 64];
};

static struct fi_info *connreq(struct side *b, struct side *a,
			       union cm *cm, size_t *len)
{
	ssize_t n = event(b, a, FI_CONNREQ, cm, sizeof(*cm));

	TRUE(cm->e.fid == &b->pep->fid && cm->e.info && cm->e.info->handle);
	*len = (size_t)n - sizeof(cm->e);
	return cm->e.info;
}

/* a calls, b answers. */
static void join(struct side *a, struct side *b, uint64_t a_flags)
{
	struct sockaddr_in addr;
	struct fi_info *info;
	union cm cm;
	size_t len;

	sides[0] = a;
	sides[1] = b;
	if (!b->pep) {
		listen_on(b, &addr);
	} else {
		len = sizeof(addr);
		OK(fi_getname(&b->pep->fid, &addr, &len));
	}
	open_ep(a, a->info, a_flags);
	OK(fi_connect(a->ep, &addr, "hello, server", 14));
	info = connreq(b, a, &cm, &len);
	IS(len, 14);
	OK(memcmp(cm.e.data, "hello, server", 14));
	open_ep(b, info, 0);
	fi_freeinfo(info);
	OK(fi_accept(b->ep, "hello, client", 14));
	IS(event(b, a, FI_CONNECTED, &cm, sizeof(cm)), sizeof(cm.e));
	TRUE(cm.e.fid == &b->ep->fid);
	IS(event(a, b, FI_CONNECTED, &cm, sizeof(cm)), sizeof(cm.e) + 14);
	TRUE(cm.e.fid == &a->ep->fid);
	OK(memcmp(cm.e.data, "hello, client", 14));
}

static void pair(struct side *a, struct side *b)
{
	open_side(a);
	open_side(b);
	join(a, b, 0);
}

static void unpair(struct side *a, struct side *b)
{
	close_side(a);
	close_side(b);
}

/* One completion of s; the other side's calls make progress as well. */
static ssize_t entry(struct side *s, struct side *other,
		     struct fi_cq_data_entry *e)
{
	double end = now() + SLOW_S;
	ssize_t n;

	do {
		n = fi_cq_read(s->cq, e, 1);
		if (n == -FI_EAGAIN && other)
			fi_cq_read(other->cq, NULL, 0);
	} while (n == -FI_EAGAIN && now() < end);
	return n;
}

static struct fi_cq_data_entry good(struct side *s, struct side *other)
{
	struct fi_cq_data_entry e;
	struct fi_cq_err_entry err = { 0 };
	ssize_t n = entry(s, other, &e);

	if (n == -FI_EAVAIL) {
		fi_cq_readerr(s->cq, &err, 0);
		die(__LINE__, "an error on the CQ", err.err);
	}
	IS(n, 1);
	return e;
}

static struct fi_cq_err_entry bad(struct side *s, struct side *other)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry e;
	char text[128];

	IS(entry(s, other, &e), -FI_EAVAIL);
	IS(fi_cq_readerr(s->cq, &err, 0), 1);
	TRUE(strlen(fi_cq_strerror(s->cq, err.prov_errno, NULL, text,
				   sizeof(text))));
	return err;
}

static void quiet(struct side *s, struct side *other)
{
	double end = now() + 0.05;
	struct fi_cq_data_entry e;

	do {
		IS(fi_cq_read(s->cq, &e, 1), -FI_EAGAIN);
		fi_cq_read(other->cq, NULL, 0);
	} while (now() < end);
}

static void fill(unsigned char *p, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (unsigned char)(seed + i * 13 + (i >> 8));
}

static void same(const unsigned char *p, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != (unsigned char)(seed + i * 13 + (i >> 8)))
			die(__LINE__, "wrong byte", (long)i);
}

static void refused_hint(struct fi_info *h)
{
	struct fi_info *info = NULL;

	IS(query(NULL, NULL, 0, h, &info), -FI_ENODATA);
	fi_freeinfo(h);
}

#define REFUSED(...) do { \
	struct fi_info *h = hints_new(); \
	__VA_ARGS__; \
	refused_hint(h); \
} while (0)

/* A NIC that reaches this host alone has all its addresses, and no others. */
static void test_local(struct fi_info *h)
{
	struct sockaddr_in *in;
	struct fi_info *i;

	OK(query("127.0.0.1", "5000", FI_SOURCE, h, &i));
	in = i->src_addr;
	IS(ntohs(in->sin_port), 5000);
	IS(ntohl(in->sin_addr.s_addr), INADDR_LOOPBACK);
	fi_freeinfo(i);
	OK(query("127.0.0.1", "5001", 0, h, &i));
	in = i->dest_addr;
	IS(ntohs(in->sin_port), 5001);
	fi_freeinfo(i);
	IS(query("198.51.100.7", "1", 0, h, &i), -FI_ENODATA);
	IS(query("198.51.100.7", "1", FI_SOURCE, h, &i), -FI_ENODATA);
}

/* main() sets it where it is not there. */
static bool is_shm(void)
{
	return !strncmp(getenv("FI_VIA_DEVICES"), "shm:", 4);
}

static void test_info(void)
{
	struct fi_info *h = hints_new(), *i;
	struct sockaddr_in *in;

	OK(query(NULL, NULL, 0, h, &i));
	IS(i->ep_attr->type, FI_EP_MSG);
	IS(i->domain_attr->mr_key_size, 4);
	IS(i->domain_attr->cq_data_size, 4);
	IS(i->addr_format, FI_SOCKADDR_IN);
	in = i->src_addr;
	TRUE(in->sin_addr.s_addr != INADDR_ANY);
	OK(strcmp(i->fabric_attr->prov_name, "via"));
	fi_freeinfo(i);
	if (is_shm())
		test_local(h);
	fi_freeinfo(h);
	/* Messages alone: the maximum is theirs, and holds. */
	h = hints_new();
	h->caps = FI_MSG;
	OK(query(NULL, NULL, 0, h, &i));
	TRUE(i->ep_attr->max_msg_size < BIG && !(i->caps & FI_RMA));
	fi_freeinfo(i);
	/* Memory that nothing remote reaches has no key. */
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED;
	OK(query(NULL, NULL, 0, h, &i));
	IS(i->domain_attr->mr_mode, h->domain_attr->mr_mode);
	fi_freeinfo(i);
	fi_freeinfo(h);
	REFUSED(h->caps = FI_MSG; h->domain_attr->mr_mode = FI_MR_ALLOCATED);
	REFUSED(h->caps = FI_MSG; h->ep_attr->max_msg_size = BIG);
	REFUSED(h->ep_attr->type = FI_EP_DGRAM);
	REFUSED(h->caps |= FI_TAGGED);
	REFUSED(h->caps |= FI_ATOMIC);
	REFUSED(h->caps |= FI_MULTI_RECV);
	REFUSED(h->domain_attr->mr_mode = 0);
	REFUSED(h->domain_attr->mr_mode &= ~FI_MR_LOCAL);
	/* FI_LOCAL_MR of libfabric before 1.5. */
	REFUSED(h->domain_attr->mr_mode &= ~FI_MR_LOCAL; h->mode = 1ull << 55);
	REFUSED(h->domain_attr->mr_mode &= ~FI_MR_PROV_KEY);
	REFUSED(h->domain_attr->data_progress = FI_PROGRESS_AUTO);
	REFUSED(h->domain_attr->control_progress = FI_PROGRESS_AUTO);
	REFUSED(h->domain_attr->cq_data_size = 8);
	REFUSED(h->domain_attr->mr_key_size = 2);
	REFUSED(h->domain_attr->mr_iov_limit = 2);
	REFUSED(h->domain_attr->cntr_cnt = 1);
	REFUSED(h->domain_attr->name = strdup("nonesuch"));
	REFUSED(h->fabric_attr->name = strdup("nonesuch"));
	REFUSED(h->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT);
	REFUSED(h->ep_attr->tx_ctx_cnt = 2);
	REFUSED(h->ep_attr->max_order_war_size = 1);
	REFUSED(h->tx_attr->inject_size = 257);
	REFUSED(h->tx_attr->size = 100000);
	REFUSED(h->tx_attr->iov_limit = 5);
	REFUSED(h->tx_attr->rma_iov_limit = 2);
	REFUSED(h->tx_attr->msg_order = FI_ORDER_SAR);
	REFUSED(h->tx_attr->op_flags = FI_FENCE);
	REFUSED(h->rx_attr->size = 100000);
	REFUSED(h->rx_attr->op_flags = FI_MULTI_RECV);
	REFUSED(h->rx_attr->total_buffered_recv = 1);
	REFUSED(h->addr_format = FI_SOCKADDR_IN6);
}

static size_t max_message(void)
{
	struct fi_info *h = hints_new(), *i;
	size_t len;

	h->caps = FI_MSG;
	OK(query(NULL, NULL, 0, h, &i));
	len = i->ep_attr->max_msg_size;
	fi_freeinfo(i);
	fi_freeinfo(h);
	return len;
}

static void test_messages(void)
{
	size_t sizes[] = { 0, 1, 31, 32, 256, 4096, 65536, 200000 };
	struct fi_cq_data_entry e;
	struct iovec in[3], out[4];
	void *in_desc[3], *out_desc[4];
	struct side a, b;
	struct fi_msg m;
	unsigned int i;
	size_t len;

	pair(&a, &b);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		len = sizes[i];
		fill(a.buf, len, i);
		memset(b.buf, 0xee, len + 1);
		OK(fi_recv(b.ep, b.buf, len + 1, fi_mr_desc(b.mr), 0, &b));
		OK(fi_send(a.ep, a.buf, len, fi_mr_desc(a.mr), 0, &a));
		e = good(&a, &b);
		TRUE(e.op_context == &a && e.flags == (FI_SEND | FI_MSG));
		e = good(&b, &a);
		TRUE(e.op_context == &b && e.flags == (FI_RECV | FI_MSG));
		IS(e.len, len);
		same(b.buf, len, i);
		IS(b.buf[len], 0xee);
	}
	/* Data with a message; pieces. */
	for (i = 0; i < 3; i++)
		in[i] = (struct iovec){ b.buf + i * 5000, 100 + i };
	for (i = 0; i < 4; i++)
		out[i] = (struct iovec){ a.buf + i * 3000, 75 };
	for (i = 0; i < 4; i++)
		out_desc[i] = fi_mr_desc(a.mr);
	for (i = 0; i < 3; i++)
		in_desc[i] = fi_mr_desc(b.mr);
	fill(a.buf, 20000, 5);
	OK(fi_recvv(b.ep, in, in_desc, 3, 0, &b));
	m = (struct fi_msg){ .msg_iov = out, .desc = out_desc, .iov_count = 4,
			     .context = &a, .data = 0xfedcba98 };
	OK(fi_sendmsg(a.ep, &m, FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE));
	good(&a, &b);
	e = good(&b, &a);
	IS(e.len, 300);
	IS(e.data, 0xfedcba98);
	TRUE(e.flags & FI_REMOTE_CQ_DATA);
	OK(memcmp(b.buf, a.buf, 75));
	OK(memcmp(b.buf + 75, a.buf + 3000, 25));
	OK(memcmp(b.buf + 5000, a.buf + 3025, 50));
	OK(memcmp(b.buf + 5050, a.buf + 6000, 51));
	/* Injected: no completion, the buffer is ours at once, no desc. */
	OK(fi_recv(b.ep, b.buf, 512, fi_mr_desc(b.mr), 0, &b));
	fill(a.buf, 256, 9);
	GOES(fi_injectdata(a.ep, a.buf, 256, 77, 0));
	memset(a.buf, 0, 256);
	e = good(&b, &a);
	IS(e.data, 77);
	same(b.buf, 256, 9);
	OK(fi_recv(b.ep, b.buf, 512, fi_mr_desc(b.mr), 0, &b));
	GOES(fi_inject(a.ep, "x", 1, 0));
	e = good(&b, &a);
	IS(e.len, 1);
	quiet(&a, &b);
	IS(fi_inject(a.ep, a.buf, 257, 0), -FI_EMSGSIZE);
	/* The longest, and one byte more. */
	len = max_message();
	fill(a.buf, len, 11);
	OK(fi_recv(b.ep, b.buf, BIG, fi_mr_desc(b.mr), 0, &b));
	IS(fi_send(a.ep, a.buf, len + 1, fi_mr_desc(a.mr), 0, &a),
	   -FI_EMSGSIZE);
	OK(fi_send(a.ep, a.buf, len, fi_mr_desc(a.mr), 0, &a));
	e = good(&b, &a);
	IS(e.len, len);
	same(b.buf, len, 11);
	good(&a, &b);
	/* Refused: no registration, too many pieces, unknown flags. */
	IS(fi_send(a.ep, a.buf, 8, NULL, 0, NULL), -FI_EINVAL);
	IS(fi_recv(a.ep, a.buf, 8, NULL, 0, NULL), -FI_EINVAL);
	m.iov_count = 5;
	IS(fi_sendmsg(a.ep, &m, 0), -FI_EINVAL);
	m.iov_count = 1;
	IS(fi_sendmsg(a.ep, &m, FI_FENCE), -FI_EINVAL);
	IS(fi_recvmsg(a.ep, &m, FI_MULTI_RECV), -FI_EINVAL);
	unpair(&a, &b);
}

/* More messages than receives: none is lost, no connection breaks. */
static void test_credits(void)
{
	enum { N = 1000 };
	struct fi_cq_data_entry e;
	uint32_t *out, *in;
	int sent = 0, got = 0, posted = 0, done = 0;
	struct side a, b;
	double end;
	ssize_t r;

	pair(&a, &b);
	out = (uint32_t *)(void *)a.buf;
	in = (uint32_t *)(void *)b.buf;
	while (sent < N) {
		out[sent] = (uint32_t)sent * 7;
		r = fi_send(a.ep, &out[sent], 4, fi_mr_desc(a.mr), 0, &a);
		if (r == -FI_EAGAIN)
			break;
		OK(r);
		sent++;
	}
	/* No receive was posted: what the queue has room for. */
	IS(sent, a.info->tx_attr->size);
	quiet(&a, &b);
	for (end = now() + SLOW_S; got < N && now() < end;) {
		while (posted < N && !fi_recv(b.ep, &in[posted], 4,
					      fi_mr_desc(b.mr), 0, &b))
			posted++;
		while (sent < N) {
			out[sent] = (uint32_t)sent * 7;
			r = fi_send(a.ep, &out[sent], 4, fi_mr_desc(a.mr), 0,
				    &a);
			if (r == -FI_EAGAIN)
				break;
			OK(r);
			sent++;
		}
		while (fi_cq_read(a.cq, &e, 1) == 1)
			done++;
		while (fi_cq_read(b.cq, &e, 1) == 1)
			got++;
	}
	IS(got, N);
	for (got = 0; got < N; got++)
		IS(in[got], got * 7);
	while (done < N && now() < end)
		done += fi_cq_read(a.cq, &e, 1) == 1;
	IS(done, N);
	unpair(&a, &b);
}

static void test_rma(void)
{
	struct fi_cq_data_entry e;
	struct fi_cq_err_entry err;
	struct fi_rma_iov at;
	struct fi_msg_rma m;
	struct iovec iov[2];
	struct side a, b;
	uint64_t to, key;
	void *desc[2];
	union cm cm;

	pair(&a, &b);
	to = (uintptr_t)b.buf;
	key = fi_mr_key(b.mr);
	desc[0] = desc[1] = fi_mr_desc(a.mr);
	fill(a.buf, BIG, 1);
	OK(fi_write(a.ep, a.buf, BIG, desc[0], 0, to, key, &a));
	e = good(&a, &b);
	TRUE(e.op_context == &a && e.flags == (FI_RMA | FI_WRITE));
	same(b.buf, BIG, 1);
	fill(b.buf, BIG, 2);
	OK(fi_read(a.ep, a.buf, BIG, desc[0], 0, to, key, &b));
	e = good(&a, &b);
	TRUE(e.op_context == &b && e.flags == (FI_RMA | FI_READ));
	same(a.buf, BIG, 2);
	/* Pieces, across messages' borders. */
	iov[0] = (struct iovec){ a.buf + 1000000, 700001 };
	iov[1] = (struct iovec){ a.buf, 600007 };
	OK(fi_writev(a.ep, iov, desc, 2, 0, to + 3, key, &a));
	good(&a, &b);
	OK(memcmp(b.buf + 3, iov[0].iov_base, iov[0].iov_len));
	OK(memcmp(b.buf + 3 + 700001, iov[1].iov_base, iov[1].iov_len));
	OK(fi_readv(a.ep, iov, desc, 2, 0, to + 5, key, &a));
	good(&a, &b);
	OK(memcmp(b.buf + 5, iov[0].iov_base, iov[0].iov_len));
	OK(memcmp(b.buf + 5 + 700001, iov[1].iov_base, iov[1].iov_len));
	/* Data take none of the target's receives, and come after the bytes. */
	fill(a.buf, 5000, 3);
	OK(fi_recv(b.ep, b.buf + 100000, 4, fi_mr_desc(b.mr), 0, &b));
	OK(fi_writedata(a.ep, a.buf, 5000, desc[0], 0xdeadbeef, 0, to, key,
			&a));
	e = good(&b, &a);
	IS(e.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	IS(e.data, 0xdeadbeef);
	IS(e.len, 5000);
	same(b.buf, 5000, 3);
	good(&a, &b);
	/* More of them than the control VI has places. */
	for (unsigned int i = 0; i < 100; i++) {
		uint32_t n = i;

		while (fi_inject_writedata(a.ep, &n, 4, i, 0, to + i * 4, key))
			fi_cq_read(b.cq, NULL, 0);
	}
	for (unsigned int i = 0; i < 100; i++) {
		e = good(&b, &a);
		IS(e.data, i);
		IS(e.len, 4);
		IS(((uint32_t *)(void *)b.buf)[i], i);
	}
	GOES(fi_inject_write(a.ep, "inject", 7, 0, to + 9000, key));
	GOES(fi_inject(a.ep, "aft", 4, 0));
	e = good(&b, &a);
	IS(e.len, 4);
	OK(strcmp((char *)b.buf + 9000, "inject"));
	/* By message: lengths have to agree, flags to be known. */
	at = (struct fi_rma_iov){ .addr = to, .len = 10, .key = key };
	iov[0].iov_len = 10;
	m = (struct fi_msg_rma){ .msg_iov = iov, .desc = desc, .iov_count = 1,
				 .rma_iov = &at, .rma_iov_count = 1 };
	OK(fi_writemsg(a.ep, &m, FI_COMPLETION));
	good(&a, &b);
	OK(fi_readmsg(a.ep, &m, 0));
	good(&a, &b);
	/* ofi_rxm passes on what its endpoint's operations are to have. */
	OK(fi_readmsg(a.ep, &m, FI_DELIVERY_COMPLETE));
	good(&a, &b);
	OK(fi_writemsg(a.ep, &m, FI_DELIVERY_COMPLETE));
	good(&a, &b);
	at.len = 11;
	IS(fi_writemsg(a.ep, &m, 0), -FI_EINVAL);
	at.len = 10;
	IS(fi_readmsg(a.ep, &m, FI_INJECT), -FI_EINVAL);
	IS(fi_writemsg(a.ep, &m, FI_FENCE), -FI_EINVAL);
	IS(fi_write(a.ep, a.buf, 8, desc[0], 0, to, 1ull << 40, NULL),
	   -FI_EINVAL);
	OK(fi_write(a.ep, a.buf, 0, desc[0], 0, to, key, NULL));
	good(&a, &b);
	/* A wrong key ends the connection, and says why. */
	OK(fi_write(a.ep, a.buf, 8, desc[0], 0, to, key ^ 0x5555, &a));
	err = bad(&a, &b);
	IS(err.err, FI_EACCES);
	TRUE(err.op_context == &a);
	event(&a, &b, FI_SHUTDOWN, &cm, sizeof(cm));
	IS(fi_write(a.ep, a.buf, 8, desc[0], 0, to, key, &a), -FI_ENOTCONN);
	unpair(&a, &b);
}

/* @len bytes of addresses that are the same @piece bytes over and over. */
static unsigned char *repeated(size_t len, size_t piece)
{
	int fd = memfd_create("viafab", MFD_CLOEXEC);
	unsigned char *p;
	size_t i;

	OK(ftruncate(fd, (off_t)piece));
	p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRUE(p != MAP_FAILED);
	for (i = 0; i < len; i += piece)
		TRUE(mmap(p + i, piece, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	close(fd);
	return p;
}

#define LONG	((1ull << 32) + (8u << 20))	/* 32 bits do not hold it */
#define PIECE	(8u << 20)

/* A region, and RDMA, longer than 4 GiB, as tcp has them. */
static void test_long(void)
{
	struct fid_mr *from, *to;
	unsigned char *p, *q;
	struct side a, b;

	p = repeated(LONG, PIECE);
	q = repeated(LONG, PIECE);
	pair(&a, &b);
	IS(a.info->ep_attr->max_msg_size, SIZE_MAX);
	OK(fi_mr_reg(a.domain, p, LONG, FI_READ | FI_WRITE, 0, 0, 0, &from,
		     NULL));
	OK(fi_mr_reg(b.domain, q, LONG, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0,
		     0, &to, NULL));
	fill(p, PIECE, 1);
	OK(fi_writedata(a.ep, p + 1, LONG - 1, fi_mr_desc(from), 9, 0,
			(uintptr_t)q + 1, fi_mr_key(to), &a));
	IS(good(&b, &a).len, LONG - 1);
	good(&a, &b);
	OK(memcmp(p + 1, q + 1, PIECE));
	/* A receive may be longer than any message. */
	OK(fi_recv(b.ep, q, LONG, fi_mr_desc(to), 0, &b));
	OK(fi_send(a.ep, p, 5000, fi_mr_desc(from), 0, &a));
	IS(good(&b, &a).len, 5000);
	good(&a, &b);
	OK(fi_close(&from->fid));
	OK(fi_close(&to->fid));
	unpair(&a, &b);
	munmap(p, LONG);
	munmap(q, LONG);
}

static void test_rights(void)
{
	struct fid_mr *mr;
	struct side a, b;

	pair(&a, &b);
	OK(fi_mr_reg(b.domain, b.buf, 4096, FI_SEND | FI_RECV, 0, 0, 0, &mr,
		     NULL));
	OK(fi_read(a.ep, a.buf, 64, fi_mr_desc(a.mr), 0, (uintptr_t)b.buf,
		   fi_mr_key(mr), &a));
	IS(bad(&a, &b).err, FI_EACCES);
	OK(fi_close(&mr->fid));
	IS(fi_mr_reg(b.domain, b.buf, 8, FI_SEND, 8, 0, 0, &mr, NULL),
	   -FI_EINVAL);
	IS(fi_mr_reg(b.domain, b.buf, 8, FI_MULTICAST, 0, 0, 0, &mr, NULL),
	   -FI_EINVAL);
	IS(fi_mr_reg(b.domain, b.buf, 8, FI_SEND, 0, 0, FI_RMA_EVENT, &mr,
		     NULL), -FI_EINVAL);
	unpair(&a, &b);
}

static void test_selective(void)
{
	struct side a, b;
	struct iovec iov;
	struct fi_msg m;
	void *desc;

	open_side(&a);
	open_side(&b);
	join(&a, &b, FI_SELECTIVE_COMPLETION);
	desc = fi_mr_desc(a.mr);
	iov = (struct iovec){ a.buf, 16 };
	m = (struct fi_msg){ .msg_iov = &iov, .desc = &desc, .iov_count = 1,
			     .context = &a };
	OK(fi_recv(b.ep, b.buf, 64, fi_mr_desc(b.mr), 0, &b));
	OK(fi_recv(b.ep, b.buf, 64, fi_mr_desc(b.mr), 0, &b));
	OK(fi_sendmsg(a.ep, &m, 0));
	good(&b, &a);
	quiet(&a, &b);
	OK(fi_sendmsg(a.ep, &m, FI_COMPLETION));
	good(&b, &a);
	TRUE(good(&a, &b).op_context == &a);
	unpair(&a, &b);
}

struct later {
	struct side	*s;
	int		what;
};

static void *do_later(void *arg)
{
	struct later *l = arg;

	usleep(200000);
	switch (l->what) {
	case 0:
		GOES(fi_inject(l->s->ep, "later", 6, 0));
		break;
	case 1:
		OK(fi_cq_signal(l->s->cq));
		break;
	case 2:
		IS(fi_eq_write(l->s->eq, FI_NOTIFY, "note", 5, 0), 5);
		break;
	}
	return NULL;
}

/* Threads that wait sleep: they use no time of a CPU. */
static void test_waits(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct fi_cq_data_entry e[2];
	struct timespec cpu0, cpu1;
	double spent, start;
	struct side a, b;
	struct later l;
	struct fid *fid;
	pthread_t t;
	uint32_t event_code;
	char buf[128];
	int fd, ep;

	pair(&a, &b);
	start = now();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu0);
	OK(fi_recv(b.ep, b.buf, 64, fi_mr_desc(b.mr), 0, &b));
	l = (struct later){ &a, 0 };
	OK(pthread_create(&t, NULL, do_later, &l));
	IS(fi_cq_sread(b.cq, e, 1, NULL, SLOW_S * 1000), 1);
	OK(strcmp((char *)b.buf, "later"));
	pthread_join(t, NULL);
	IS(fi_cq_sread(b.cq, e, 1, NULL, 50), -FI_EAGAIN);
	l = (struct later){ &b, 1 };
	OK(pthread_create(&t, NULL, do_later, &l));
	IS(fi_cq_sread(b.cq, e, 1, NULL, -1), -FI_EAGAIN);
	pthread_join(t, NULL);
	l = (struct later){ &b, 2 };
	OK(pthread_create(&t, NULL, do_later, &l));
	IS(fi_eq_sread(b.eq, &event_code, buf, sizeof(buf), -1, 0), 5);
	OK(strcmp(buf, "note"));
	pthread_join(t, NULL);
	IS(fi_eq_sread(b.eq, &event_code, buf, sizeof(buf), 50, 0), -FI_EAGAIN);
	/* By epoll. */
	OK(fi_control(&b.cq->fid, FI_GETWAIT, &fd));
	ep = epoll_create1(0);
	OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	OK(fi_recv(b.ep, b.buf, 64, fi_mr_desc(b.mr), 0, &b));
	fid = &b.cq->fid;
	while (fi_trywait(b.fabric, &fid, 1) == -FI_EAGAIN)
		fi_cq_read(b.cq, NULL, 0);
	l = (struct later){ &a, 0 };
	OK(pthread_create(&t, NULL, do_later, &l));
	IS(epoll_wait(ep, &ev, 1, SLOW_S * 1000), 1);
	good(&b, &a);
	pthread_join(t, NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu1);
	spent = (double)(cpu1.tv_sec - cpu0.tv_sec) +
		(double)(cpu1.tv_nsec - cpu0.tv_nsec) / 1e9;
	if (spent > 0.7 * (now() - start))
		fprintf(stderr, "%.3f s of a CPU in %.3f s\n", spent,
			now() - start);
	TRUE(spent <= 0.7 * (now() - start));
	close(ep);
	/* What there is makes trywait refuse. */
	OK(fi_recv(b.ep, b.buf, 64, fi_mr_desc(b.mr), 0, &b));
	GOES(fi_inject(a.ep, "x", 1, 0));
	for (double end = now() + SLOW_S;
	     !fi_trywait(b.fabric, &fid, 1) && now() < end;)
		fi_cq_read(a.cq, NULL, 0);
	IS(fi_trywait(b.fabric, &fid, 1), -FI_EAGAIN);
	good(&b, &a);
	fid = &b.eq->fid;
	OK(fi_trywait(b.fabric, &fid, 1));
	fid = &b.domain->fid;
	IS(fi_trywait(b.fabric, &fid, 1), -FI_EINVAL);
	unpair(&a, &b);
}

static void test_events(void)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr cq = { .wait_obj = FI_WAIT_NONE };
	struct fid_eq *plain;
	struct fid_cq *no_wait;
	struct side s;
	uint32_t e;
	char buf[16];
	int fd;

	open_side(&s);
	IS(fi_eq_write(s.eq, 7, "one", 4, 0), 4);
	IS(fi_eq_read(s.eq, &e, buf, sizeof(buf), FI_PEEK), 4);
	IS(fi_eq_read(s.eq, &e, buf, 2, 0), -FI_ETOOSMALL);
	IS(fi_eq_read(s.eq, &e, buf, sizeof(buf), 0), 4);
	IS(e, 7);
	OK(strcmp(buf, "one"));
	IS(fi_eq_read(s.eq, &e, buf, sizeof(buf), 0), -FI_EAGAIN);
	IS(fi_eq_readerr(s.eq, NULL, 0), -FI_EAGAIN);
	OK(fi_eq_open(s.fabric, &attr, &plain, NULL));
	IS(fi_eq_write(plain, 7, "one", 4, 0), -FI_EINVAL);
	IS(fi_eq_sread(plain, &e, buf, sizeof(buf), 0, 0), -FI_ENOSYS);
	IS(fi_control(&plain->fid, FI_GETWAIT, &fd), -FI_ENODATA);
	OK(fi_close(&plain->fid));
	OK(fi_cq_open(s.domain, &cq, &no_wait, NULL));
	IS(fi_cq_sread(no_wait, buf, 1, NULL, 0), -FI_ENOSYS);
	IS(fi_cq_signal(no_wait), -FI_ENOSYS);
	OK(fi_close(&no_wait->fid));
	attr.wait_obj = FI_WAIT_MUTEX_COND;
	IS(fi_eq_open(s.fabric, &attr, &plain, NULL), -FI_ENOSYS);
	cq.wait_obj = FI_WAIT_SET;
	IS(fi_cq_open(s.domain, &cq, &no_wait, NULL), -FI_ENOSYS);
	close_side(&s);
}

static void test_refusals(void)
{
	struct sockaddr_in addr, nowhere;
	struct fi_info *info;
	struct side a, b;
	char data[64];
	union cm cm;
	size_t len;

	open_side(&a);
	open_side(&b);
	listen_on(&b, &addr);
	/* Rejected, with a reason. */
	open_ep(&a, a.info, 0);
	IS(fi_connect(a.ep, &addr, NULL, 5), -FI_EINVAL);
	OK(fi_connect(a.ep, &addr, NULL, 0));
	info = connreq(&b, &a, &cm, &len);
	IS(len, 0);
	IS(fi_reject(b.pep, NULL, NULL, 0), -FI_EINVAL);
	IS(fi_reject(b.pep, &b.pep->fid, NULL, 0), -FI_EINVAL);
	IS(fi_reject(b.pep, info->handle, NULL, 11), -FI_EINVAL);
	OK(fi_reject(b.pep, info->handle, "no, thanks", 11));
	fi_freeinfo(info);
	len = sizeof(data);
	IS(eq_error(&a, &b, data, &len), FI_ECONNREFUSED);
	IS(len, 11);
	OK(strcmp(data, "no, thanks"));
	IS(fi_connect(a.ep, &addr, NULL, 0), -FI_EOPBADSTATE);
	OK(fi_close(&a.ep->fid));
	/* Rejected, without one. */
	open_ep(&a, a.info, 0);
	OK(fi_connect(a.ep, &addr, NULL, 0));
	info = connreq(&b, &a, &cm, &len);
	OK(fi_reject(b.pep, info->handle, NULL, 0));
	fi_freeinfo(info);
	IS(eq_error(&a, &b, NULL, NULL), FI_ECONNREFUSED);
	OK(fi_close(&a.ep->fid));
	/* Nothing listens there. */
	nowhere = addr;
	nowhere.sin_port = htons(1);
	open_ep(&a, a.info, 0);
	OK(fi_connect(a.ep, &nowhere, NULL, 0));
	IS(eq_error(&a, &b, NULL, NULL), FI_ECONNREFUSED);
	OK(fi_close(&a.ep->fid));
	/* Too much to say; another kind of address. */
	open_ep(&a, a.info, 0);
	IS(fi_connect(a.ep, &addr, data, 41), -FI_EINVAL);
	nowhere.sin_family = AF_INET6;
	IS(fi_connect(a.ep, &nowhere, NULL, 0), -FI_EINVAL);
	len = sizeof(len);
	OK(fi_getopt(&a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, data,
		     &len));
	IS(*(size_t *)(void *)data, 40);
	IS(fi_send(a.ep, a.buf, 1, fi_mr_desc(a.mr), 0, NULL), -FI_EOPBADSTATE);
	IS(fi_shutdown(a.ep, 0), -FI_ENOTCONN);
	unpair(&a, &b);
}

static void test_shutdown(void)
{
	struct fi_cq_err_entry err;
	struct side a, b;
	union cm cm;
	int i;

	pair(&a, &b);
	for (i = 0; i < 3; i++)
		OK(fi_recv(b.ep, b.buf, 64, fi_mr_desc(b.mr), 0,
			   (void *)(uintptr_t)(i + 1)));
	GOES(fi_inject(a.ep, "last", 5, 0));
	/* What was sent before it arrives before it. */
	good(&b, &a);
	OK(fi_shutdown(a.ep, 0));
	event(&a, &b, FI_SHUTDOWN, &cm, sizeof(cm));
	event(&b, &a, FI_SHUTDOWN, &cm, sizeof(cm));
	TRUE(cm.e.fid == &b.ep->fid);
	for (i = 1; i < 3; i++) {
		err = bad(&b, &a);
		IS(err.err, FI_ECANCELED);
		IS((uintptr_t)err.op_context, i + 1);
	}
	IS(fi_recv(b.ep, b.buf, 64, fi_mr_desc(b.mr), 0, NULL), -FI_ENOTCONN);
	unpair(&a, &b);
}

/* What is injected has no entry, not even when it fails: it has no context. */
static void test_injected(void)
{
	struct side a, b;
	union cm cm;

	pair(&a, &b);
	/* Without a receive there it does not stay behind, unseen. */
	IS(fi_inject(a.ep, "x", 1, 0), -FI_EAGAIN);
	GOES(fi_inject_write(a.ep, "x", 1, 0, (uintptr_t)b.buf,
			     fi_mr_key(b.mr) ^ 0x5555));
	event(&a, &b, FI_SHUTDOWN, &cm, sizeof(cm));
	quiet(&a, &b);
	unpair(&a, &b);
}

static void test_lengths(void)
{
	struct side a, b;

	pair(&a, &b);
	OK(fi_recv(b.ep, b.buf, 10, fi_mr_desc(b.mr), 0, &b));
	OK(fi_send(a.ep, a.buf, 11, fi_mr_desc(a.mr), 0, &a));
	IS(bad(&b, &a).err, FI_ETRUNC);
	TRUE(bad(&a, &b).op_context == &a);
	unpair(&a, &b);
}

/* Objects closed in every state. */
static void test_lifetimes(void)
{
	struct sockaddr_in addr;
	struct fi_info *info;
	struct side a, b;
	union cm cm;
	size_t len;

	pair(&a, &b);
	IS(fi_close(&a.fabric->fid), -FI_EBUSY);
	IS(fi_close(&a.domain->fid), -FI_EBUSY);
	IS(fi_close(&a.cq->fid), -FI_EBUSY);
	IS(fi_close(&a.eq->fid), -FI_EBUSY);
	/* With operations that nothing answers. */
	OK(fi_recv(a.ep, a.buf, 64, fi_mr_desc(a.mr), 0, &a));
	OK(fi_send(a.ep, a.buf, 64, fi_mr_desc(a.mr), 0, &b));
	OK(fi_close(&a.ep->fid));
	IS(bad(&a, &b).err, FI_ECANCELED);
	IS(bad(&a, &b).err, FI_ECANCELED);
	a.ep = NULL;
	event(&b, &a, FI_SHUTDOWN, &cm, sizeof(cm));
	unpair(&a, &b);

	/* While connecting; the server finds out by accepting. */
	open_side(&a);
	open_side(&b);
	listen_on(&b, &addr);
	open_ep(&a, a.info, 0);
	OK(fi_connect(a.ep, &addr, NULL, 0));
	info = connreq(&b, &a, &cm, &len);
	OK(fi_close(&a.ep->fid));
	a.ep = NULL;
	open_ep(&b, info, 0);
	if (!fi_accept(b.ep, NULL, 0))
		TRUE(eq_error(&b, &a, NULL, NULL) != 0);
	OK(fi_close(&b.ep->fid));
	b.ep = NULL;
	fi_freeinfo(info);
	/* Before the server has looked. */
	open_ep(&a, a.info, 0);
	OK(fi_connect(a.ep, &addr, NULL, 0));
	OK(fi_close(&a.ep->fid));
	/* A request that is neither accepted nor rejected; one unread. */
	open_ep(&a, a.info, 0);
	OK(fi_connect(a.ep, &addr, NULL, 0));
	usleep(10000);
	OK(fi_close(&b.pep->fid));
	b.pep = NULL;
	IS(eq_error(&a, &b, NULL, NULL), FI_ECONNREFUSED);
	/* Enabled and no more; made and no more. */
	OK(fi_close(&a.ep->fid));
	OK(fi_endpoint(a.domain, a.info, &a.ep, NULL));
	IS(fi_enable(a.ep), -FI_ENOEQ);
	IS(fi_recv(a.ep, a.buf, 1, fi_mr_desc(a.mr), 0, NULL), -FI_EOPBADSTATE);
	unpair(&a, &b);
}

#define NOSYS(expr)	IS(expr, -FI_ENOSYS)

/*
 * A passive endpoint without an address is given one, and its name is a
 * client's by info->handle: the server sees it, and has its own.
 */
static void test_handles(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET }, name, addr, got;
	struct fi_info *h, *info;
	size_t len = sizeof(name);
	struct side a, b;
	union cm cm;

	open_side(&a);
	open_side(&b);
	sides[0] = &a;
	sides[1] = &b;
	free(a.info->src_addr);
	a.info->src_addr = NULL;
	a.info->src_addrlen = 0;
	OK(fi_passive_ep(a.fabric, a.info, &a.pep, NULL));
	any.sin_addr.s_addr = htonl(0xc6336407);	/* 198.51.100.7 */
	IS(fi_setname(&a.pep->fid, &any, sizeof(any)), -FI_EADDRNOTAVAIL);
	any.sin_addr.s_addr = INADDR_ANY;
	OK(fi_setname(&a.pep->fid, &any, sizeof(any)));
	OK(fi_getname(&a.pep->fid, &name, &len));
	TRUE(name.sin_port && name.sin_addr.s_addr != INADDR_ANY);

	h = hints_new();
	h->handle = &a.pep->fid;
	OK(query(NULL, NULL, 0, h, &info));
	TRUE(info->handle == &a.pep->fid);
	fi_freeinfo(h);
	open_ep(&a, info, 0);
	/* The name went to the endpoint, once. */
	IS(fi_endpoint(a.domain, info, &b.ep, NULL), -FI_EINVAL);
	b.ep = NULL;
	fi_freeinfo(info);
	OK(fi_close(&a.pep->fid));
	a.pep = NULL;
	OK(fi_getname(&a.ep->fid, &got, &len));
	OK(memcmp(&got, &name, sizeof(name)));

	listen_on(&b, &addr);
	OK(fi_connect(a.ep, &addr, NULL, 0));
	info = connreq(&b, &a, &cm, &len);
	OK(memcmp(info->dest_addr, &name, sizeof(name)));
	open_ep(&b, info, 0);
	fi_freeinfo(info);
	OK(fi_accept(b.ep, NULL, 0));
	event(&b, &a, FI_CONNECTED, &cm, sizeof(cm));
	event(&a, &b, FI_CONNECTED, &cm, sizeof(cm));
	len = sizeof(got);
	OK(fi_getname(&b.ep->fid, &got, &len));
	OK(memcmp(&got, &addr, sizeof(addr)));
	unpair(&a, &b);
}

/* A region of no bytes is one. */
static void test_empty(void)
{
	struct fid_mr *mr;
	struct side a, b;

	pair(&a, &b);
	OK(fi_mr_reg(a.domain, a.buf, 0, FI_SEND, 0, 0, 0, &mr, NULL));
	OK(fi_recv(b.ep, b.buf, 1, fi_mr_desc(b.mr), 0, NULL));
	GOES(fi_send(a.ep, a.buf, 0, fi_mr_desc(mr), 0, NULL));
	IS(good(&b, &a).len, 0);
	good(&a, &b);
	OK(fi_close(&mr->fid));
	unpair(&a, &b);
}

/* A table of calls has no empty place: libfabric does not look. */
static void full(const void *table)
{
	void *const *op = table;
	size_t n = *(const size_t *)table / sizeof(*op);

	while (--n)
		TRUE(op[n]);
}

static void test_absent(void)
{
	struct fi_cntr_attr cntr = { 0 };
	struct fi_av_attr av = { 0 };
	struct fid_cntr *c;
	struct fid_stx *stx;
	struct fid_av *v;
	struct fid_ep *e;
	struct side a, b;
	size_t n;
	void *p;

	pair(&a, &b);
	full(a.ep->fid.ops);
	full(a.ep->tagged);
	full(a.ep->atomic);
	full(a.ep->collective);
	full(a.ep->cm);
	full(b.pep->cm);
	NOSYS(fi_tsend(a.ep, a.buf, 1, NULL, 0, 1, NULL));
	NOSYS(fi_trecv(a.ep, a.buf, 1, NULL, 0, 1, 0, NULL));
	NOSYS(fi_tinject(a.ep, a.buf, 1, 0, 1));
	NOSYS(fi_atomic(a.ep, a.buf, 1, NULL, 0, 0, 0, FI_INT32, FI_SUM, NULL));
	NOSYS(fi_atomicvalid(a.ep, FI_INT32, FI_SUM, &n));
	NOSYS(fi_cancel(&a.ep->fid, NULL));
	NOSYS(fi_listen((struct fid_pep *)(void *)a.ep));
	NOSYS(fi_connect((struct fid_ep *)(void *)b.pep, NULL, NULL, 0));
	NOSYS(fi_accept((struct fid_ep *)(void *)b.pep, NULL, 0));
	NOSYS(fi_cntr_open(a.domain, &cntr, &c, NULL));
	NOSYS(fi_av_open(a.domain, &av, &v, NULL));
	NOSYS(fi_srx_context(a.domain, NULL, &e, NULL));
	NOSYS(fi_stx_context(a.domain, NULL, &stx, NULL));
	NOSYS(fi_scalable_ep(a.domain, a.info, &e, NULL));
	NOSYS(fi_tx_context(a.ep, 0, NULL, &e, NULL));
	NOSYS(fi_rx_context(a.ep, 0, NULL, &e, NULL));
	NOSYS(fi_query_atomic(a.domain, FI_INT32, FI_SUM, NULL, 0));
	NOSYS(fi_domain_bind(a.domain, &a.eq->fid, 0));
	NOSYS(fi_open_ops(&a.domain->fid, "x", 0, &p, NULL));
	NOSYS(fi_open_ops(&a.fabric->fid, "x", 0, &p, NULL));
	NOSYS(fi_control(&a.domain->fid, FI_QUEUE_WORK, NULL));
	NOSYS(fi_control(&a.mr->fid, FI_REFRESH, NULL));
	IS(fi_setopt(&a.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &n,
		     sizeof(n)), -FI_ENOPROTOOPT);
	IS(fi_enable(a.ep), -FI_EOPBADSTATE);
	IS(fi_accept(a.ep, NULL, 0), -FI_EINVAL);
	IS(fi_listen(b.pep), -FI_EOPBADSTATE);
	unpair(&a, &b);
}

/* The end of a child process's connection; it is told where to, and when its
 * requests have come. */
static void answer(struct side *b, int out, const void *data, size_t len)
{
	struct sockaddr_in addr;
	struct fi_info *info;
	union cm cm;
	size_t got;

	open_side(b);
	listen_on(b, &addr);
	IS(write(out, &addr, sizeof(addr)), sizeof(addr));
	info = connreq(b, NULL, &cm, &got);
	IS(write(out, "", 1), 1);
	open_ep(b, info, 0);
	fi_freeinfo(info);
	OK(fi_accept(b->ep, data, len));
	event(b, NULL, FI_CONNECTED, &cm, sizeof(cm));
}

/* A process that is killed: its peer is told, with nothing sent. */
static void test_death(void)
{
	struct sockaddr_in addr;
	struct side b;
	int pipes[2];
	union cm cm;
	pid_t child;

	OK(pipe(pipes));
	child = fork();
	if (!child) {
		struct side a;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(pipes[0], &addr, sizeof(addr)) != sizeof(addr))
			_exit(1);
		open_side(&a);
		open_ep(&a, a.info, 0);
		OK(fi_connect(a.ep, &addr, NULL, 0));
		event(&a, NULL, FI_CONNECTED, &cm, sizeof(cm));
		for (;;)
			pause();
	}
	answer(&b, pipes[1], NULL, 0);
	/* The child has to have seen it, too, or it dies connecting. */
	usleep(100000);
	kill(child, SIGKILL);
	event(&b, NULL, FI_SHUTDOWN, &cm, sizeof(cm));
	waitpid(child, NULL, 0);
	close_side(&b);
	close(pipes[0]);
	close(pipes[1]);
}

static void brief_client(int in)
{
	struct pollfd come = { in, POLLIN, 0 };
	struct sockaddr_in addr;
	struct side a;
	union cm cm;
	uint32_t none;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	IS(read(in, &addr, sizeof(addr)), sizeof(addr));
	open_side(&a);
	open_ep(&a, a.info, 0);
	OK(fi_connect(a.ep, &addr, NULL, 0));
	/* Requests that met no listener just then are repeated by calls. */
	while (!poll(&come, 1, 0) &&
	       fi_eq_read(a.eq, &none, &cm, sizeof(cm), FI_PEEK) < 0)
		;
	IS(read(in, &c, 1), 1);
	/* Nothing more is called until the server has shut down. */
	IS(read(in, &c, 1), 1);
	event(&a, NULL, FI_CONNECTED, &cm, sizeof(cm));
	OK(strcmp((char *)cm.e.data, "brief"));
	event(&a, NULL, FI_SHUTDOWN, &cm, sizeof(cm));
	_exit(0);
}

/* A connection that has ended when the client looks was one nevertheless. */
static void test_brief(void)
{
	struct side b;
	int pipes[2], status;
	union cm cm;
	pid_t child;

	OK(pipe(pipes));
	child = fork();
	if (!child)
		brief_client(pipes[0]);
	answer(&b, pipes[1], "brief", 6);
	OK(fi_shutdown(b.ep, 0));
	event(&b, NULL, FI_SHUTDOWN, &cm, sizeof(cm));
	IS(write(pipes[1], "", 1), 1);
	IS(waitpid(child, &status, 0), child);
	IS(status, 0);
	close_side(&b);
	close(pipes[0]);
	close(pipes[1]);
}

enum { PER_THREAD = 3000 };

static void *sender(void *arg)
{
	struct side *a = arg;
	uint32_t n;

	for (n = 0; n < PER_THREAD; n++)
		while (fi_inject(a->ep, &n, 4, 0) == -FI_EAGAIN)
			fi_cq_read(a->cq, NULL, 0);
	return NULL;
}

static void *receiver(void *arg)
{
	struct fi_cq_data_entry e[8];
	struct side *b = arg;
	long got = 0;
	ssize_t n;

	/* Two of these: each takes what it gets. */
	for (double end = now() + 1; now() < end;) {
		n = fi_cq_sread(b->cq, e, 8, NULL, 100);
		for (ssize_t i = 0; i < n; i++)
			OK(fi_recv(b->ep, e[i].op_context, 4, fi_mr_desc(b->mr),
				   0, e[i].op_context));
		got += n > 0 ? n : 0;
		if (n > 0)
			end = now() + 1;
	}
	return (void *)got;
}

static void test_threads(void)
{
	pthread_t t[4];
	struct side a, b;
	void *got[2];
	int i;

	pair(&a, &b);
	for (i = 0; i < 64; i++)
		OK(fi_recv(b.ep, b.buf + i * 4, 4, fi_mr_desc(b.mr), 0,
			   b.buf + i * 4));
	for (i = 0; i < 4; i++)
		OK(pthread_create(&t[i], NULL, i < 2 ? sender : receiver,
				  i < 2 ? &a : &b));
	for (i = 0; i < 4; i++)
		pthread_join(t[i], i < 2 ? NULL : &got[i - 2]);
	IS((long)got[0] + (long)got[1], 2 * PER_THREAD);
	unpair(&a, &b);
}

/*
 * test_answers: rounds of one message, and then of some.  All receives are
 * posted before, so no news of them come between messages.
 */
enum { ANSWERED = 60, BURSTS = 10, BURST = 4 };

#define US	1e-6

/* Whether a message was done before its answer was there. */
static bool asked(struct side *a)
{
	struct fi_cq_data_entry e;
	double done;

	GOES(fi_send(a->ep, a->buf, 8, fi_mr_desc(a->mr), 0, a));
	e = good(a, NULL);
	done = now();
	good(a, NULL);
	return !(e.flags & FI_RECV) && now() - done > 40 * US;
}

static void asking_client(int in)
{
	struct sockaddr_in addr;
	struct side a;
	union cm cm;
	int alone = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	IS(read(in, &addr, sizeof(addr)), sizeof(addr));
	open_side(&a);
	sides[0] = &a;
	sides[1] = &a;
	open_ep(&a, a.info, 0);
	for (int i = 0; i < ANSWERED + BURSTS; i++)
		OK(fi_recv(a.ep, a.buf, 8, fi_mr_desc(a.mr), 0, &a));
	OK(fi_connect(a.ep, &addr, NULL, 0));
	event(&a, NULL, FI_CONNECTED, &cm, sizeof(cm));
	for (int i = 0; i < ANSWERED; i++)
		alone += asked(&a);
	/*
	 * Those that a tick of the library's thread sends are some.  A NIC of the
	 * kernel's sends them by itself.
	 */
	if (is_shm() && alone > ANSWERED * 9 / 10)
		die(__LINE__, "acknowledgements that went alone", alone);
	for (int i = 0; i < BURSTS; i++) {
		for (int j = 0; j < BURST; j++)
			GOES(fi_inject(a.ep, a.buf, 8, 0));
		asked(&a);
	}
	_exit(0);
}

/* All of a burst, of which a read has taken one: no thread may sleep. */
static void take_burst(struct side *b, bool sleeps)
{
	struct fi_cq_data_entry e[BURST];
	struct fid *fid = &b->cq->fid;
	double start = now();

	IS(fi_trywait(b->fabric, &fid, 1), -FI_EAGAIN);
	for (int got = 0; got < BURST;) {
		if (sleeps)
			got += (int)fi_cq_sread(b->cq, e, BURST, NULL,
						SLOW_S * 1000);
		else
			got += !!good(b, NULL).flags;
	}
	TRUE(now() - start < SLOW_S / 2.0);
}

/*
 * A program that answers each message gives its acknowledgement a ride.  What
 * came behind the message is there for the next call, which does not sleep.
 */
static void test_answers(void)
{
	struct side b;
	int pipes[2], status;
	pid_t child;

	OK(pipe(pipes));
	child = fork();
	if (!child)
		asking_client(pipes[0]);
	answer(&b, pipes[1], NULL, 0);
	sides[0] = &b;
	sides[1] = &b;
	for (int i = 0; i < ANSWERED + BURSTS * (1 + BURST); i++)
		OK(fi_recv(b.ep, b.buf, 8, fi_mr_desc(b.mr), 0, &b));
	for (int i = 0; i < ANSWERED + BURSTS; i++) {
		if (i >= ANSWERED)
			usleep(20000);
		good(&b, NULL);
		if (i >= ANSWERED)
			take_burst(&b, i % 2);
		/* The other end has the processor, wherever it runs. */
		usleep(50);
		GOES(fi_inject(b.ep, b.buf, 8, 0));
	}
	IS(waitpid(child, &status, 0), child);
	IS(status, 0);
	close_side(&b);
	close(pipes[0]);
	close(pipes[1]);
}

static const struct {
	const char	*name;
	void		(*run)(void);
} tests[] = {
	/* First: they fork. */
	{ "death", test_death },
	{ "brief", test_brief },
	{ "answers", test_answers },
	{ "info", test_info },
	{ "messages", test_messages },
	{ "credits", test_credits },
	{ "rma", test_rma },
	{ "long", test_long },
	{ "rights", test_rights },
	{ "selective", test_selective },
	{ "waits", test_waits },
	{ "events", test_events },
	{ "refusals", test_refusals },
	{ "shutdown", test_shutdown },
	{ "injected", test_injected },
	{ "lengths", test_lengths },
	{ "lifetimes", test_lifetimes },
	{ "handles", test_handles },
	{ "empty", test_empty },
	{ "absent", test_absent },
	{ "threads", test_threads },
};

int main(int argc, char **argv)
{
	unsigned int i, n = 0;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		printf("Usage: viafab [TEST]\n");
		for (i = 0; i < sizeof(tests) / sizeof(*tests); i++)
			printf("  %s\n", tests[i].name);
		return 0;
	}
	setenv("FI_VIA_DEVICES", "shm:0", 0);
	for (i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (argc > 1 && strcmp(argv[1], tests[i].name))
			continue;
		alarm(120);
		tests[i].run();
		printf("%s\n", tests[i].name);
		fflush(stdout);
		n++;
	}
	printf("%u passed\n", n);
	return !n;
}
