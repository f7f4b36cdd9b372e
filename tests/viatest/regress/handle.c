// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The calls of the device node, one by one. */
#include "regress.h"
#include "common/netdev.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

void handle_open(struct handle *h, const char *device)
{
	char path[80];

	snprintf(path, sizeof(path), "/dev/%s", device);
	memset(h, 0, sizeof(*h));
	h->hello.abi = VIA_ABI_VERSION;
	h->fd = open(path, O_RDWR | O_CLOEXEC);
	if (h->fd < 0 || ioctl(h->fd, VIA_IOC_HELLO, &h->hello))
		die("%s: %s", path, strerror(errno));
	h->ctl = mmap(NULL, sizeof(struct via_ctl), PROT_READ, MAP_SHARED,
		      h->fd, VIA_MMAP_CTL);
	if (h->ctl == MAP_FAILED)
		die("%s: no control page: %s", path, strerror(errno));
}

void handle_close(struct handle *h)
{
	munmap(h->ctl, sizeof(struct via_ctl));
	close(h->fd);
}

static void *map(const struct handle *h, uint64_t bytes, uint64_t at)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, at);
}

struct via_cq_shared *cq_new(const struct handle *h, struct via_cq_create *c,
			     uint32_t bytes)
{
	void *p = MAP_FAILED;

	if (ioctl(h->fd, VIA_IOC_CQ_CREATE, c))
		die("no completion queue: %s", strerror(errno));
	if (bytes)
		p = map(h, bytes, c->mmap_offset);
	if (p == MAP_FAILED)
		p = map(h, c->mmap_size, c->mmap_offset);
	if (p == MAP_FAILED)
		die("a completion queue cannot be mapped: %s", strerror(errno));
	return p;
}

struct via_vi_create vi_new(const struct handle *h, uint32_t bytes,
			    uint32_t cq)
{
	struct via_vi_create c = {
		.attrs.reliability = VIA_RELIABLE_DELIVERY,
		.attrs.max_transfer = bytes,
		.send_cq = cq,
		.recv_cq = cq,
	};
	int rc = ioctl(h->fd, VIA_IOC_VI_CREATE, &c);

	if (rc)
		die("no VI: %d, %s", rc, strerror(errno));
	return c;
}

struct via_vi_shared *vi_map(const struct handle *h,
			     const struct via_vi_create *c)
{
	void *p = map(h, c->mmap_size, c->mmap_offset);

	if (p == MAP_FAILED)
		die("a VI cannot be mapped: %s", strerror(errno));
	return p;
}

int vi_do(const struct handle *h, unsigned long call, uint32_t vi)
{
	struct via_vi_arg a = { .vi = vi };

	return ioctl(h->fd, call, &a);
}

void vi_end(const struct handle *h, uint32_t vi)
{
	int rc;

	vi_do(h, VIA_IOC_DISCONNECT, vi);
	rc = vi_do(h, VIA_IOC_VI_DESTROY, vi);
	if (rc)
		die("a VI that was left cannot be destroyed: %d, state %u", rc,
		    vi_state(h, vi));
}

uint32_t vi_state(const struct handle *h, uint32_t vi)
{
	struct via_vi_query q = { .vi = vi };

	return ioctl(h->fd, VIA_IOC_VI_QUERY, &q) ? ~0u : q.state;
}

static void disc_set(struct via_net_addr *a, const char *disc)
{
	a->disc_len = strlen(disc);
	memcpy(a->disc, disc, a->disc_len);
}

struct via_conn_request to_ask(uint32_t vi, uint64_t ns, const char *from,
			       const struct handle *to, const char *disc)
{
	struct via_conn_request r = { .vi = vi, .timeout = ns };

	disc_set(&r.local, from);
	disc_set(&r.remote, disc);
	r.remote.host_len = to->hello.addr_len;
	memcpy(r.remote.host, to->hello.addr, to->hello.addr_len);
	return r;
}

int ask(const struct handle *h, unsigned long call,
	const struct via_conn_request *r)
{
	return ioctl(h->fd, call, r);
}

int await(const struct handle *h, const char *disc, uint64_t ns,
	  struct via_conn_wait *w)
{
	*w = (struct via_conn_wait){ .timeout = ns };
	disc_set(&w->local, disc);
	return ioctl(h->fd, VIA_IOC_CONN_WAIT, w);
}

int verdict(const struct handle *h, uint32_t vi, uint32_t flags)
{
	struct via_conn_result r = { .vi = vi, .flags = flags };

	return ioctl(h->fd, VIA_IOC_CONN_RESULT, &r);
}

int mem_register(const struct handle *h, const void *p, uint64_t len,
		 uint32_t *handle)
{
	struct via_mem_register r = { .addr = (uintptr_t)p, .len = len };
	int rc = ioctl(h->fd, VIA_IOC_MEM_REGISTER, &r);

	*handle = r.handle;
	return rc;
}

int mem_deregister(const struct handle *h, const void *p, uint32_t handle)
{
	struct via_mem_deregister d = {
		.addr = (uintptr_t)p,
		.handle = handle,
	};

	return ioctl(h->fd, VIA_IOC_MEM_DEREGISTER, &d);
}

uint64_t detach(void)
{
	uint64_t begin = now_ns();

	if (netdev_attach(netdev_of(args.device), false))
		die("detach: %s", strerror(errno));
	return now_ns() - begin;
}

void attach(void)
{
	if (netdev_attach(netdev_of(args.device), true))
		die("attach: %s", strerror(errno));
}

/* Of via_vb; tests/check/steps/regress.py makes them. */
#define BRIDGE	"br0"
#define PORT	"ub"

bool cut(bool off)
{
	struct ifreq r = { .ifr_ifindex = if_nametoindex(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	strcpy(r.ifr_name, BRIDGE);
	rc = ioctl(fd, off ? SIOCBRDELIF : SIOCBRADDIF, &r);
	close(fd);
	return !rc;
}
