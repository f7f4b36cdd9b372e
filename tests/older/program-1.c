// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * program-1 DEVICE: what a library of 1.0 asks of the modules, by the header
 * that it was compiled with, via-1.h.  Both files stay as they are: newer
 * modules of version 1 of the interface serve them (docs/reference/stability.md).
 *
 * Two VIs of this process are connected with each other, in both ways there
 * are.  Prints "N calls", or what is not as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "via-1.h"

#define ROUND		2500u		/* twice around a ring of 1,024 */
#define BYTES		3000u
#define SECOND		1000000000ull
#define MEMORY		(64u * 4096)
/* In the registered memory. */
#define TO_SEND		4096u
#define TO_RECEIVE	(16u * 4096)
#define TARGET		(32u * 4096)

struct vi {
	uint32_t id, entries;
	struct via_vi_shared *shared;
	struct via_slot *slot[2];	/* send, receive */
	struct via_completion *done[2];
	uint32_t tail[2], collected[2];
};

static _Thread_local int last;		/* verdict, or -errno */

static struct {
	int fd;
	_Atomic unsigned int calls;
	struct via_hello hello;
	struct via_ctl *ctl;
	uint8_t *memory;
	uint32_t tag, handle, cq, cq_entries, cq_head;
	struct via_cq_shared *cq_shared;
	struct via_cq_entry *cq_ring;
	struct vi vi[2];
} n;

#define must(what, is) \
	do { \
		if (!(is)) { \
			printf("%s (line %d): the last call was %d\n", what, \
			       __LINE__, last); \
			exit(1); \
		} \
	} while (0)

/* The call's verdict, or -errno. */
static int call(unsigned long request, void *arg)
{
	int ret = ioctl(n.fd, request, arg);

	n.calls++;
	last = ret < 0 ? -errno : ret;
	return last;
}

static off_t trap(uint32_t op, uint32_t id)
{
	off_t more;

	do {
		more = lseek(n.fd, via_trap_arg(op, id), VIA_TRAP_WHENCE);
		n.calls++;
	} while (more == VIA_TRAP_MORE);
	return more;
}

static void *map(uint64_t size, uint64_t offset)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, n.fd,
		       offset);

	must("a ring is mapped", p != MAP_FAILED);
	return p;
}

static void open_nic(const char *device)
{
	char path[80];

	snprintf(path, sizeof(path), "/dev/%s", device);
	n.fd = open(path, O_RDWR | O_CLOEXEC);
	must(path, n.fd >= 0);
	n.hello.abi = VIA_ABI_VERSION + 1;
	must("another version is refused",
	     call(VIA_IOC_HELLO, &n.hello) == -EINVAL);
	n.hello = (struct via_hello){ .abi = VIA_ABI_VERSION };
	must("HELLO", !call(VIA_IOC_HELLO, &n.hello));
	must("HELLO tells the node", !strcmp(n.hello.name, device));
	must("HELLO tells limits", n.hello.max_desc && n.hello.max_vi > 1 &&
	     n.hello.max_cq && n.hello.max_transfer >= BYTES);
	n.ctl = mmap(NULL, 4096, PROT_READ, MAP_SHARED, n.fd, VIA_MMAP_CTL);
	must("the control page", n.ctl != MAP_FAILED &&
	     n.ctl->abi == VIA_ABI_VERSION && !(n.ctl->flags & VIA_CTL_DEAD));
}

static void make_memory(void)
{
	struct via_mem_register m = { .len = MEMORY };
	struct via_mem_attrs a = { 0 };
	struct via_ptag_arg tag = { 0 };

	must("PTAG_CREATE", !call(VIA_IOC_PTAG_CREATE, &tag) && tag.ptag);
	n.tag = tag.ptag;
	n.memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must("memory", n.memory != MAP_FAILED);
	m.addr = a.addr = (uintptr_t)n.memory;
	m.ptag = n.tag;
	must("MEM_REGISTER", !call(VIA_IOC_MEM_REGISTER, &m) && m.handle);
	n.handle = a.handle = m.handle;
	must("MEM_QUERY", !call(VIA_IOC_MEM_QUERY, &a) && a.ptag == n.tag &&
	     !a.rights);
	a.rights = VIA_RDMA_WRITE | VIA_RDMA_READ;
	must("MEM_SET", !call(VIA_IOC_MEM_SET, &a));
}

static void make_cq(void)
{
	struct via_cq_create c = { .entries = 64 };

	must("CQ_CREATE", !call(VIA_IOC_CQ_CREATE, &c) && c.cq &&
	     c.entries >= 64 && c.mmap_size >= VIA_CQ_SIZE(c.entries));
	n.cq = c.cq;
	n.cq_entries = c.entries;
	n.cq_shared = map(c.mmap_size, c.mmap_offset);
	n.cq_ring = (void *)((char *)n.cq_shared + VIA_CQ_HDR_SIZE);
	must("the queue tells its size", n.cq_shared->entries == c.entries);
}

/* Another ring for it, as long as it is empty. */
static void resize_cq(void)
{
	struct via_cq_resize r = { .cq = n.cq, .step = VIA_CQ_PREPARE,
				   .entries = 4 * n.cq_entries };

	must("CQ_RESIZE", !call(VIA_IOC_CQ_RESIZE, &r) &&
	     r.entries >= 4 * n.cq_entries);
	n.cq_ring = map(r.mmap_size, r.mmap_offset);
	n.cq_entries = r.entries;
	r = (struct via_cq_resize){ .cq = n.cq, .step = VIA_CQ_COMMIT };
	must("CQ_RESIZE, commit", !call(VIA_IOC_CQ_RESIZE, &r));
}

static void make_vi(struct vi *v, uint32_t recv_cq)
{
	struct via_vi_attrs attrs = { VIA_RELIABLE_DELIVERY, n.tag, BYTES,
				      VIA_RDMA_WRITE | VIA_RDMA_READ };
	struct via_vi_create c = { .attrs = attrs, .recv_cq = recv_cq };
	struct via_vi_query q = { 0 };
	char *area;

	must("VI_CREATE", !call(VIA_IOC_VI_CREATE, &c) && c.vi &&
	     c.mmap_size >= VIA_VI_SIZE(c.entries));
	v->id = q.vi = c.vi;
	v->entries = c.entries;
	area = map(c.mmap_size, c.mmap_offset);
	v->shared = (void *)area;
	v->slot[0] = (void *)(area + VIA_VI_SEND_SLOTS);
	v->slot[1] = (void *)(area + VIA_VI_RECV_SLOTS(c.entries));
	v->done[0] = (void *)(area + VIA_VI_SEND_COMP(c.entries));
	v->done[1] = (void *)(area + VIA_VI_RECV_COMP(c.entries));
	must("VI_QUERY", !call(VIA_IOC_VI_QUERY, &q) &&
	     q.state == VIA_STATE_IDLE && q.recv_cq == recv_cq &&
	     !q.send_cq && !memcmp(&q.attrs, &attrs, sizeof(attrs)));
}

static void post(struct vi *v, bool recv, struct via_slot *s, uint32_t at,
		 uint32_t len)
{
	struct via_queue_user *user = recv ? &v->shared->recv_user :
					     &v->shared->send_user;
	uint32_t i = s->seg_count++;

	s->desc = (uintptr_t)n.memory;
	s->desc_handle = n.handle;
	s->length = len;
	s->seg[i] = (struct via_seg){ (uintptr_t)n.memory + at, n.handle,
				      len };
	v->slot[recv][v->tail[recv]++ & (v->entries - 1)] = *s;
	__atomic_store_n(&user->tail, v->tail[recv], __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!recv && !(__atomic_load_n(&v->shared->send_kern.flags,
				       __ATOMIC_RELAXED) & VIA_Q_BUSY))
		must("the trap of a send", !trap(VIA_OP_SEND, v->id));
}

/* Its oldest completion, which comes. */
static struct via_completion collect(struct vi *v, bool recv)
{
	struct via_queue_user *user = recv ? &v->shared->recv_user :
					     &v->shared->send_user;
	struct via_queue_kern *kern = recv ? &v->shared->recv_kern :
					     &v->shared->send_kern;
	struct via_wait w = { .kind = recv ? VIA_WAIT_RECV : VIA_WAIT_SEND,
			      .id = v->id, .seen = v->collected[recv],
			      .timeout = 10 * SECOND };
	struct via_completion c;

	if (__atomic_load_n(&kern->done, __ATOMIC_ACQUIRE) ==
	    v->collected[recv])
		must("WAIT", !call(VIA_IOC_WAIT, &w));
	must("done moves", __atomic_load_n(&kern->done, __ATOMIC_ACQUIRE) !=
			   v->collected[recv]);
	c = v->done[recv][v->collected[recv]++ & (v->entries - 1)];
	__atomic_store_n(&user->collected, v->collected[recv],
			 __ATOMIC_RELEASE);
	must("a descriptor completes", c.status & VIA_ST_DONE);
	return c;
}

/* The notice of VI 1's receive queue. */
static void notice(void)
{
	struct via_wait w = { .kind = VIA_WAIT_CQ, .id = n.cq,
			      .seen = n.cq_head, .timeout = 10 * SECOND };
	struct via_cq_entry e;

	if (__atomic_load_n(&n.cq_shared->tail, __ATOMIC_ACQUIRE) == n.cq_head)
		must("WAIT for a queue", !call(VIA_IOC_WAIT, &w));
	e = n.cq_ring[n.cq_head++ & (n.cq_entries - 1)];
	__atomic_store_n(&n.cq_shared->head, n.cq_head, __ATOMIC_RELEASE);
	must("a notice", e.vi == n.vi[1].id && e.recv == 1);
}

static struct via_net_addr address(const char *disc)
{
	struct via_net_addr a = { .host_len = n.hello.addr_len,
				  .disc_len = strlen(disc) };

	memcpy(a.host, n.hello.addr, sizeof(a.host));
	memcpy(a.disc, disc, a.disc_len);
	return a;
}

static void connected(void)
{
	struct via_vi_query q = { 0 };
	int i;

	for (i = 0; i < 2; i++) {
		q.vi = n.vi[i].id;
		must("CONNECTED", n.vi[i].shared->state ==
		     VIA_STATE_CONNECTED && !call(VIA_IOC_VI_QUERY, &q) &&
		     q.state == VIA_STATE_CONNECTED);
	}
}

static int verdict(struct vi *v, uint32_t flags)
{
	struct via_conn_result r = { .vi = v->id, .flags = flags };

	return call(VIA_IOC_CONN_RESULT, &r);
}

static void disconnect(void)
{
	struct via_vi_arg a;
	int i;

	for (i = 0; i < 2; i++) {
		a = (struct via_vi_arg){ .vi = n.vi[i].id };
		must("DISCONNECT", !call(VIA_IOC_DISCONNECT, &a));
		must("IDLE", n.vi[i].shared->state == VIA_STATE_IDLE);
	}
}

static uint32_t waited(void)
{
	struct via_conn_wait w = { .timeout = 10 * SECOND,
				   .local = address("older") };

	must("CONN_WAIT", !call(VIA_IOC_CONN_WAIT, &w) && w.conn);
	must("CONN_WAIT tells the client", w.attrs.max_transfer == BYTES &&
	     w.remote.disc_len == 6 && !memcmp(w.remote.disc, "client", 6));
	return w.conn;
}

/* One that is rejected, one that is accepted. */
static void *server(void *arg)
{
	struct via_conn_reject no = { .conn = waited() };
	struct via_conn_accept yes = { .vi = n.vi[1].id };

	must("CONN_REJECT", !call(VIA_IOC_CONN_REJECT, &no));
	yes.conn = waited();
	must("CONN_ACCEPT", !call(VIA_IOC_CONN_ACCEPT, &yes));
	must("a server is told", !verdict(&n.vi[1], 0));
	return arg;
}

/* The verdict of a request that has found a server. */
static int request(struct vi *v)
{
	struct via_conn_request r = { .vi = v->id, .timeout = 10 * SECOND,
				      .local = address("client"),
				      .remote = address("older") };
	int ret, tries = 0;

	do {
		usleep(1000);
		must("CONN_REQUEST", !call(VIA_IOC_CONN_REQUEST, &r));
		ret = verdict(v, 0);
	} while (ret == VIA_R_NO_MATCH && ++tries < 10000);
	return ret;
}

static void serve(void)
{
	pthread_t thread;

	must("a thread", !pthread_create(&thread, NULL, server, NULL));
	must("a client is rejected", request(&n.vi[0]) == VIA_R_REJECT);
	must("a client is accepted", !request(&n.vi[0]));
	pthread_join(thread, NULL);
	connected();
}

static void meet(void)
{
	struct via_conn_request r = { .timeout = 10 * SECOND };
	int i;

	for (i = 0; i < 2; i++) {
		r.vi = n.vi[i].id;
		r.local = address(i ? "older2" : "older1");
		r.remote = address(i ? "older1" : "older2");
		must("PEER_REQUEST", !call(VIA_IOC_PEER_REQUEST, &r));
	}
	for (i = 0; i < 2; i++)
		must("of peers", !verdict(&n.vi[i], VIA_CONN_PEER));
	connected();
}

static void messages(void)
{
	uint8_t *from = n.memory + TO_SEND, *to = n.memory + TO_RECEIVE;
	struct via_completion c;
	struct via_slot s;
	uint32_t i, k, len;

	for (i = 0; i < ROUND; i++) {
		len = i % (BYTES + 1);
		for (k = 0; k < len; k++)
			from[k] = i + 7 * k;
		memset(to, 0, BYTES);
		s = (struct via_slot){ 0 };
		post(&n.vi[1], true, &s, TO_RECEIVE, BYTES);
		s = (struct via_slot){ .control = VIA_CTL_IMMEDIATE,
				       .immediate = ~i };
		post(&n.vi[0], false, &s, TO_SEND, len);
		c = collect(&n.vi[0], false);
		must("a send", c.status == VIA_ST_DONE && c.length == len);
		notice();
		c = collect(&n.vi[1], true);
		must("a receive", c.status == (VIA_ST_DONE |
		     VIA_ST_OP_RECEIVE | VIA_ST_IMMEDIATE) &&
		     c.length == len && c.immediate == ~i);
		must("its bytes", !memcmp(from, to, len));
	}
}

static void rdma(void)
{
	static const struct {
		uint16_t op;
		uint32_t from, to, status;
	} way[] = {
		{ VIA_CTL_OP_RDMAWRITE, TO_SEND, TARGET,
		  VIA_ST_OP_RDMA_WRITE },
		{ VIA_CTL_OP_RDMAREAD, TARGET, TO_RECEIVE,
		  VIA_ST_OP_RDMA_READ },
	};
	struct via_completion c;
	struct via_slot s;
	unsigned int i;
	bool write;

	for (i = 0; i < 2; i++) {
		write = way[i].op == VIA_CTL_OP_RDMAWRITE;
		if (!write && !(n.hello.rdma_read & VIA_RELIABLE_DELIVERY))
			continue;
		memset(n.memory + way[i].from, 0x5a + i, BYTES);
		s = (struct via_slot){ .control = way[i].op, .seg_count = 1 };
		s.seg[0].addr = (uintptr_t)n.memory +
				(write ? way[i].to : way[i].from);
		s.seg[0].handle = n.handle;
		post(&n.vi[0], false, &s, write ? way[i].from : way[i].to,
		     BYTES);
		c = collect(&n.vi[0], false);
		must(write ? "RDMA Write" : "RDMA Read",
		     c.status == (VIA_ST_DONE | way[i].status) &&
		     c.length == BYTES &&
		     !memcmp(n.memory + way[i].from, n.memory + way[i].to,
			     BYTES));
	}
}

/* An event that is asked for, and one that comes by itself. */
static void events(void)
{
	struct via_vi_arg a = { .vi = n.vi[0].id };
	struct via_completion c;
	struct via_slot s = { 0 };
	struct via_event e;

	must("NOTIFY", !trap(VIA_OP_NOTIFY_RECV, n.vi[1].id));
	post(&n.vi[1], true, &s, TO_RECEIVE, BYTES);
	s = (struct via_slot){ 0 };
	post(&n.vi[0], false, &s, TO_SEND, 1);
	must("an event", read(n.fd, &e, sizeof(e)) == sizeof(e) &&
	     e.code == VIA_EVENT_RECV && e.vi == n.vi[1].id);
	notice();
	collect(&n.vi[1], true);
	collect(&n.vi[0], false);
	s = (struct via_slot){ 0 };
	post(&n.vi[1], true, &s, TO_RECEIVE, BYTES);
	must("DISCONNECT", !call(VIA_IOC_DISCONNECT, &a));
	must("CONN_LOST", read(n.fd, &e, sizeof(e)) == sizeof(e) &&
	     e.code == VIA_ERR_CONN_LOST && e.vi == n.vi[1].id &&
	     e.flags == VIA_EVENT_F_ORDERLY);
	notice();
	c = collect(&n.vi[1], true);
	must("what is posted is flushed",
	     c.status & VIA_ST_DESC_FLUSHED_ERROR &&
	     n.vi[1].shared->state == VIA_STATE_ERROR);
	disconnect();
}

static void ask(void)
{
	struct via_name_answer name[8];
	struct via_name_query q = { .count = 8, .answers = (uintptr_t)name };
	struct via_stat stat[64];
	struct via_stats s = { .kind = VIA_STATS_NIC, .count = 64,
			       .stats = (uintptr_t)stat };
	struct via_overrun o = { .vi = n.vi[0].id };
	struct via_event e;

	must("NAME_QUERY", !call(VIA_IOC_NAME_QUERY, &q) && q.count &&
	     q.count <= 8);
	must("STATS", !call(VIA_IOC_STATS, &s) && s.count &&
	     memchr(stat[0].name, '\0', sizeof(stat[0].name)));
	must("VI_OVERRUN", !call(VIA_IOC_VI_OVERRUN, &o));
	must("its event", read(n.fd, &e, sizeof(e)) == sizeof(e) &&
	     e.code == VIA_ERR_VI_OVERRUN && e.vi == n.vi[0].id);
}

static void end(void)
{
	struct via_mem_deregister m = { .addr = (uintptr_t)n.memory,
					.handle = n.handle };
	struct via_ptag_arg tag = { .ptag = n.tag };
	struct via_cq_arg cq = { .cq = n.cq };
	struct via_vi_set set = { .vi = n.vi[0].id, .attrs = {
		VIA_RELIABLE_RECEPTION, n.tag, 64, 0 } };
	struct via_vi_arg vi;
	int i;

	disconnect();
	must("VI_SET", !call(VIA_IOC_VI_SET, &set));
	for (i = 0; i < 2; i++) {
		vi = (struct via_vi_arg){ .vi = n.vi[i].id };
		must("VI_DESTROY", !call(VIA_IOC_VI_DESTROY, &vi));
	}
	must("CQ_DESTROY", !call(VIA_IOC_CQ_DESTROY, &cq));
	must("MEM_DEREGISTER", !call(VIA_IOC_MEM_DEREGISTER, &m));
	must("PTAG_DESTROY", !call(VIA_IOC_PTAG_DESTROY, &tag));
	must("SHUTDOWN", !call(VIA_IOC_SHUTDOWN, NULL) &&
	     n.ctl->flags & VIA_CTL_DEAD);
	must("after it", call(VIA_IOC_PTAG_CREATE, &tag) == -ESHUTDOWN);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: program-1 DEVICE\n");
		return 2;
	}
	open_nic(argv[1]);
	make_memory();
	make_cq();
	make_vi(&n.vi[0], 0);
	make_vi(&n.vi[1], n.cq);
	serve();
	messages();
	resize_cq();
	events();
	meet();
	messages();
	rdma();
	ask();
	end();
	printf("%u calls\n", n.calls);
	return 0;
}
