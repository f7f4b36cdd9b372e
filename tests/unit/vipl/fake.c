// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fake.h"

#define OFFSET_VI	0x100000
#define OFFSET_CQ	0x200000
#define OFFSET_SPARE	0x300000

struct fake fake;
static pthread_mutex_t cq_lock = PTHREAD_MUTEX_INITIALIZER;

int __real_open64(const char *path, int flags, ...);
void *__real_mmap64(void *addr, size_t len, int prot, int flags, int fd,
		    off_t off);
int __real_ioctl(int fd, unsigned long cmd, ...);
int __wrap_open64(const char *path, int flags, ...);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd,
		    off_t off);
int __wrap_ioctl(int fd, unsigned long cmd, ...);

int __wrap_open64(const char *path, int flags, ...)
{
	int pair[2];

	if (strcmp(path, "/dev/" FAKE_NODE))
		return __real_open64(path, flags);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	fake.fd = pair[0];
	fake.event_fd = pair[1];
	fake.opens++;
	return pair[0];
}

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd,
		    off_t off)
{
	void *p;

	if (fd < 0 || fd != fake.fd)
		return __real_mmap64(addr, len, prot, flags, fd, off);
	if (off == OFFSET_SPARE && fake.no_spare) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	p = __real_mmap64(addr, len, PROT_READ | PROT_WRITE,
			  flags | MAP_ANONYMOUS, -1, 0);
	if (off == VIA_MMAP_CTL)
		((struct via_ctl *)p)->abi = fake.abi ? : VIA_ABI_VERSION;
	if (off == OFFSET_VI)
		fake.vi = p;
	if (off == OFFSET_CQ) {
		fake.cq = p;
		fake.ring = (void *)((char *)p + VIA_CQ_HDR_SIZE);
	}
	if (off == OFFSET_SPARE)
		fake.spare = p;
	return p;
}

static int hello(struct via_hello *h)
{
	if (h->abi != VIA_ABI_VERSION || fake.abi) {
		errno = EINVAL;
		return -1;
	}
	memset(h, 0, sizeof(*h));
	strcpy(h->name, FAKE_NODE);
	memcpy(h->addr, "\x02\0\0\0\0\x7f", 6);
	h->addr_len = 6;
	h->type = fake.ifindex ? VIA_NIC_ETHERNET : VIA_NIC_LOOPBACK;
	h->ifindex = fake.ifindex;
	h->max_disc_len = VIA_DISC_MAX;
	h->max_vi = 4096;
	h->max_desc = FAKE_ENTRIES;
	h->max_segs = VIA_SEG_MAX;
	h->max_cq = 16;
	h->max_cq_entries = 65536;
	h->max_transfer = 1 << 20;
	h->max_ptags = 16;
	h->max_regions = 16;
	h->max_register_bytes = 1ull << 32;
	h->max_block_bytes = 1ull << 30;
	h->reliability = 3;
	return 0;
}

static const _Atomic uint32_t *wait_word(const struct via_wait *w)
{
	const uint32_t *p = &fake.vi->send_kern.done;	/* of the newest VI */

	if (w->kind == VIA_WAIT_RECV)
		p = &fake.vi->recv_kern.done;
	if (w->kind == VIA_WAIT_CQ)
		p = &fake.cq->tail;
	return (const _Atomic uint32_t *)p;
}

/* Nothing wakes it, so it looks; a test must not depend on how fast. */
static int do_wait(const struct via_wait *w)
{
	const struct timespec tick = { .tv_nsec = 100000 };
	uint64_t waited = 0;

	fake.waits++;
	if (fake.eintr > 0) {
		fake.eintr--;
		errno = EINTR;
		return -1;
	}
	while (atomic_load(wait_word(w)) == w->seen) {
		if (waited >= w->timeout)
			return VIA_R_TIMEOUT;
		nanosleep(&tick, NULL);
		waited += 100000;
	}
	return 0;
}

static int do_register(struct via_mem_register *m)
{
	if (fake.reason) {
		m->reason = fake.reason;
		fake.reason = 0;
		return VIA_R_ERROR_RESOURCE;
	}
	m->handle = ++fake.next_id;
	return 0;
}

static void vi_create(struct via_vi_create *v)
{
	v->vi = fake.vi_id = ++fake.next_id;
	v->entries = fake.few && v->entries == VIA_VI_FEW ? VIA_VI_FEW :
							    FAKE_ENTRIES;
	fake.entries[0] = fake.entries[1] = v->entries;
	v->mmap_offset = OFFSET_VI;
	v->mmap_size = VIA_VI_SIZE(FAKE_ENTRIES);
}

static struct via_completion *completions(struct via_vi_shared *vi, int recv)
{
	char *base = (char *)vi;

	if (fake.entries[recv] == VIA_VI_FEW)
		return (void *)(base + (recv ? VIA_VI_FEW_RECV_COMP :
					VIA_VI_FEW_SEND_COMP));
	return (void *)(base + (recv ? VIA_VI_RECV_COMP(FAKE_ENTRIES) :
				VIA_VI_SEND_COMP(FAKE_ENTRIES)));
}

/* What the old ring has goes along, by its index. */
static int vi_grow(struct via_vi_grow *g)
{
	struct via_queue_kern *k = g->recv ? &fake.vi->recv_kern :
					     &fake.vi->send_kern;
	struct via_queue_user *u = g->recv ? &fake.vi->recv_user :
					     &fake.vi->send_user;
	uint32_t i, old = fake.entries[g->recv], n = 4 * VIA_VI_FEW;
	static struct via_slot slots[FAKE_ENTRIES];
	static struct via_completion comps[FAKE_ENTRIES];

	if (fake.no_growth)
		return VIA_R_ERROR_RESOURCE;
	while (n < g->entries)
		n *= 2;
	for (i = 1; i <= old; i++) {
		slots[old - i] = *fake_slot(g->recv, u->tail - i);
		comps[old - i] = completions(fake.vi, g->recv)[(k->done - i) &
							       (old - 1)];
	}
	g->entries = fake.entries[g->recv] = n;
	for (i = 1; i <= old; i++) {
		*fake_slot(g->recv, u->tail - i) = slots[old - i];
		completions(fake.vi, g->recv)[(k->done - i) & (n - 1)] =
			comps[old - i];
	}
	fake.grown++;
	return 0;
}

static void cq_create(struct via_cq_create *c)
{
	uint32_t n = 1;

	while (n < c->entries)
		n *= 2;
	c->entries = fake.cq_entries = n;
	c->cq = fake.cq_id = ++fake.next_id;
	c->mmap_offset = OFFSET_CQ;
	c->mmap_size = (VIA_CQ_SIZE(n) + 4095) & ~4095ull;
}

/* Entries beyond the new ring would be lost: tests keep within it. */
static int cq_resize(struct via_cq_resize *r)
{
	uint32_t i, n = 1;

	switch (r->step) {
	case VIA_CQ_PREPARE:
		while (n < r->entries)
			n *= 2;
		r->entries = fake.spare_entries = n;
		r->mmap_offset = OFFSET_SPARE;
		r->mmap_size = (n * sizeof(struct via_cq_entry) + 4095) &
			       ~4095ull;
		return 0;
	case VIA_CQ_COMMIT:
		pthread_mutex_lock(&cq_lock);
		for (i = fake.cq->head; i != fake.cq->tail; i++)
			fake.spare[i & (fake.spare_entries - 1)] =
				fake.ring[i & (fake.cq_entries - 1)];
		fake.ring = fake.spare;
		fake.cq_entries = fake.spare_entries;
		pthread_mutex_unlock(&cq_lock);
		return 0;
	default:
		fake.spare = NULL;
		return 0;
	}
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd != fake.fd)
		return __real_ioctl(fd, cmd, arg);
	switch (cmd) {
	case VIA_IOC_HELLO:
		return hello(arg);
	case VIA_IOC_SHUTDOWN:
		return shutdown(fake.event_fd, SHUT_RDWR);
	case VIA_IOC_PTAG_CREATE:
		((struct via_ptag_arg *)arg)->ptag = ++fake.next_id;
		return 0;
	case VIA_IOC_MEM_REGISTER:
		return do_register(arg);
	case VIA_IOC_VI_CREATE:
		vi_create(arg);
		return 0;
	case VIA_IOC_VI_GROW:
		return vi_grow(arg);
	case VIA_IOC_CQ_CREATE:
		cq_create(arg);
		return 0;
	case VIA_IOC_CQ_RESIZE:
		if (fake.older)
			break;
		return cq_resize(arg);
	case VIA_IOC_VI_QUERY:
		((struct via_vi_query *)arg)->state = fake.vi->state;
		return 0;
	case VIA_IOC_VI_OVERRUN:
		fake.overruns++;
		fake.last_overrun = ((struct via_overrun *)arg)->desc;
		return 0;
	case VIA_IOC_WAIT:
		return do_wait(arg);
	case VIA_IOC_VI_DESTROY:
	case VIA_IOC_CQ_DESTROY:
	case VIA_IOC_PTAG_DESTROY:
	case VIA_IOC_MEM_DEREGISTER:
	case VIA_IOC_CONN_RESULT:
		return 0;
	case VIA_IOC_CONN_REQUEST:
		fake.request_ns = ((struct via_conn_request *)arg)->timeout;
		return 0;
	}
	errno = ENOTTY;
	return -1;
}

void fake_state(uint32_t state)
{
	atomic_store((_Atomic uint32_t *)&fake.vi->state, state);
}

struct via_slot *fake_slot(int recv, uint32_t index)
{
	char *base = (char *)fake.vi;

	if (fake.entries[!!recv] == VIA_VI_FEW)
		base += recv ? VIA_VI_FEW_RECV_SLOTS : VIA_VI_FEW_SEND_SLOTS;
	else
		base += recv ? VIA_VI_RECV_SLOTS(FAKE_ENTRIES) :
			       VIA_VI_SEND_SLOTS;
	return (struct via_slot *)base + (index & (fake.entries[!!recv] - 1));
}

void fake_complete_on(struct via_vi_shared *vi, int recv, uint32_t status,
		      uint32_t length, uint32_t immediate)
{
	struct via_queue_kern *k = recv ? &vi->recv_kern : &vi->send_kern;
	struct via_completion *c = completions(vi, !!recv);

	c += k->done & (fake.entries[!!recv] - 1);
	c->status = status | VIA_ST_DONE;
	c->length = length;
	c->immediate = immediate;
	atomic_fetch_add((_Atomic uint32_t *)&k->done, 1);
}

void fake_complete(int recv, uint32_t status, uint32_t length,
		   uint32_t immediate)
{
	fake_complete_on(fake.vi, recv, status, length, immediate);
}

void fake_cq_put(uint32_t vi, int recv)
{
	struct via_cq_entry *e;

	pthread_mutex_lock(&cq_lock);
	e = &fake.ring[fake.cq->tail & (fake.cq_entries - 1)];
	e->vi = vi;
	e->recv = recv;
	atomic_fetch_add((_Atomic uint32_t *)&fake.cq->tail, 1);
	pthread_mutex_unlock(&cq_lock);
}

void fake_event(uint32_t code, uint32_t vi, uint64_t desc)
{
	struct via_event ev = {
		.code = code,
		.vi = vi,
		.desc = desc,
		.flags = fake.event_flags,
		.resource = desc ? VIA_RES_DESCRIPTOR : VIA_RES_VI,
	};

	if (write(fake.event_fd, &ev, sizeof(ev)) != sizeof(ev))
		abort();
}

int fake_unread(void)
{
	char c;

	return recv(fake.fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}
