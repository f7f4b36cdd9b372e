// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See link.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "link.h"

#define HELLO_VERSION	3u
#define CONNECT_SECONDS	60

struct hello {
	uint32_t version, serves;	/* serves: it can be read by RDMA */
	uint32_t handle, zero;
	uint64_t memory, bytes;
};

/* A host address and a discriminator follow the two lengths of a. */
union address {
	VIP_NET_ADDRESS a;
	VIP_UINT8 room[256];
};

static void must(VIP_RETURN r, const char *call)
{
	const char *why = VipExtLastError(), *remedy = strchr(why, '\n');

	if (r == VIP_SUCCESS)
		return;
	if (!*why)
		why = VipExtReturnText(r);
	die(remedy ? remedy + 1 : NULL, "%s: %.*s", call,
	    (int)strcspn(why, "\n"), why);
}

static void describe(VIP_DESCRIPTOR *d, void *data, VIP_UINT32 len,
		     VIP_MEM_HANDLE handle)
{
	memset(d, 0, sizeof(*d));
	d->CS.Length = len;
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = data;
	d->DS[0].Local.Handle = handle;
	d->DS[0].Local.Length = len;
}

static void describe_rdma(VIP_DESCRIPTOR *d, VIP_UINT16 op, void *data,
			  VIP_UINT32 len, const struct net_link *l,
			  VIP_MEM_HANDLE handle, size_t offset)
{
	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 2;
	d->CS.Control = op;
	d->CS.Length = len;
	d->DS[0].Remote.Data.AddressBits = l->memory + offset;
	d->DS[0].Remote.Handle = l->handle;
	d->DS[1].Local.Data.Address = data;
	d->DS[1].Local.Handle = handle;
	d->DS[1].Local.Length = len;
}

/* A broken VI takes descriptors; their completions have the error. */
static void post(struct net_link *l, VIP_DESCRIPTOR *d, VIP_MEM_HANDLE handle)
{
	VIP_RETURN r = VipPostSend(l->vi, d, handle);

	if (r != VIP_SUCCESS && r != VIP_INVALID_STATE && !l->bye)
		must(r, "VipPostSend");
}

void link_post_send(struct net *n, struct net_link *l, struct net_slot *s)
{
	describe(&s->d, s->msg, sizeof(*s->msg) + s->msg->len,
		 n->buffer_handle);
	post(l, &s->d, n->buffer_handle);
}

void link_post_recv(struct net *n, struct net_link *l, struct net_slot *s)
{
	VIP_RETURN r;

	describe(&s->d, s->msg, DSM_MSG, n->buffer_handle);
	r = VipPostRecv(l->vi, &s->d, n->buffer_handle);
	if (r != VIP_SUCCESS && r != VIP_INVALID_STATE && !l->bye)
		must(r, "VipPostRecv");
}

/* The first byte of all buffers is 1. */
void link_post_read(struct net *n, struct net_link *l, struct net_read *f)
{
	size_t at = (size_t)f->page * DSM_PAGE;

	describe_rdma(&f->flag, VIP_CONTROL_OP_RDMAWRITE, n->buffer, 1, l,
		      n->buffer_handle, n->bytes + f->page);
	describe_rdma(&f->read, VIP_CONTROL_OP_RDMAREAD, n->memory + at, DSM_PAGE,
		      l, n->memory_handle, at);
	post(l, &f->flag, n->buffer_handle);
	post(l, &f->read, n->buffer_handle);
}

void link_greeted(struct net *n, struct net_link *l, const struct dsm_msg *m)
{
	struct hello h;

	memcpy(&h, m->data, sizeof(h));
	if (m->len != sizeof(h) || h.version != HELLO_VERSION)
		die("Install one version on all hosts.",
		    "node %d has another version of libviadsm",
		    (int)(l - n->link));
	if (h.bytes != n->bytes)
		die("Give all nodes one VIADSM_MEMORY, or start them by viadsm.",
		    "node %d shares %llu bytes, this node %zu",
		    (int)(l - n->link), (unsigned long long)h.bytes, n->bytes);
	if (n->by_read && !h.serves)
		die("Start all nodes with --fetch ask, or all with --fetch read.",
		    "node %d has no RDMA Reads of its pages",
		    (int)(l - n->link));
	l->memory = h.memory;
	l->handle = h.handle;
	l->greeted = true;
}

/* Why a region that counts as locked memory was refused. */
static void refused(const struct net *n, size_t bytes, VIP_RETURN r)
{
	const char *why = VipExtLastError();
	struct rlimit limit;

	if (n->features & VIP_FEATURE_MEMLOCK &&
	    !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur < bytes)
		die(n->by_read ?
		    "Raise it (ulimit -l), ask for less (viadsm -m), or lock none (--fetch ask)." :
		    "Raise it (ulimit -l), or start fewer nodes.",
		    "%zu KiB of shared memory are more than this process may lock: %llu KiB",
		    bytes / 1024, (unsigned long long)limit.rlim_cur / 1024);
	die("Ask for less: viadsm -m, or VIADSM_MEMORY.",
	    "no registration of %zu KiB of shared memory: %s", bytes / 1024,
	    *why ? why : VipExtReturnText(r));
}

void link_post_rouser(struct net *n)
{
	VIP_DESCRIPTOR *d;

	while (VipRecvDone(n->rouser, &d) != VIP_NOT_DONE && d)
		;
	describe(n->roused, n->buffer, 1, n->buffer_handle);
	must(VipPostRecv(n->rouser, n->roused, n->buffer_handle),
	     "VipPostRecv");
	atomic_store(&n->rouses, false);
}

void link_flush_rouser(struct net *n)
{
	must(VipDisconnect(n->rouser), "VipDisconnect");
}

static void make_rouser(struct net *n)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = DSM_MSG,
	};

	must(VipCreateVi(n->nic, &a, NULL, n->cq, &n->rouser), "VipCreateVi");
	n->roused = (void *)(n->buffer + DSM_PAGE / 2);
	link_post_rouser(n);
}

static void on_error(void *context, VIP_ERROR_DESCRIPTOR *e)
{
	(void)context;
	if (e->ErrorCode == VIP_ERROR_CATASTROPHIC)
		die(NULL, "the NIC is gone");
}

/* Pages that come by messages are in no region: nothing of them is pinned. */
static void choose_fetch(struct net *n, int fetch)
{
	bool reads = n->attr.RDMAReadSupport & VIP_SERVICE_RELIABLE_DELIVERY;

	if (fetch == 1 && !reads)
		die("Start the nodes with --fetch ask.",
		    "this NIC has no RDMA Reads");
	n->by_read = fetch >= 0 ? fetch : reads &&
		(n->features & (VIP_FEATURE_ONE_SIDED | VIP_FEATURE_REMOTE));
}

void net_open(struct net *n, const char *device, int fetch)
{
	VIP_MEM_ATTRIBUTES open = {
		.EnableRdmaWrite = VIP_TRUE, .EnableRdmaRead = VIP_TRUE,
	};
	size_t each = (NET_SENDS + NET_RECVS) * (size_t)DSM_MSG;
	VIP_MEM_ATTRIBUTES closed = { 0 };
	struct net_link *l;
	VIP_RETURN r;

	must(VipOpenNic(device, &n->nic), "VipOpenNic");
	must(VipQueryNic(n->nic, &n->attr), "VipQueryNic");
	must(VipExtQueryFeatures(n->nic, &n->features), "VipExtQueryFeatures");
	VipErrorCallback(n->nic, NULL, on_error);
	choose_fetch(n, fetch);
	if (n->by_read) {
		r = VipRegisterMem(n->nic, n->memory, n->all, &open,
				   &n->memory_handle);
		if (r != VIP_SUCCESS)
			refused(n, n->all, r);
	}
	n->buffer_bytes = DSM_PAGE + n->size * (each + sizeof(*l));
	n->buffer = mmap(NULL, n->buffer_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (n->buffer == MAP_FAILED)
		die("Start fewer nodes.", "no memory for %u nodes: %s",
		    n->size, strerror(errno));
	n->buffer[0] = 1;
	n->link = (void *)(n->buffer + DSM_PAGE + n->size * each);
	r = VipRegisterMem(n->nic, n->buffer, n->buffer_bytes, &closed,
			   &n->buffer_handle);
	if (r != VIP_SUCCESS)
		refused(n, n->buffer_bytes + (n->by_read ? n->all : 0), r);
	for (unsigned int i = 0; i < n->size; i++) {
		uint8_t *at = n->buffer + DSM_PAGE + i * each;

		l = &n->link[i];
		l->credits = NET_RECVS - 2;
		for (unsigned int k = 0; k < NET_SENDS; k++, at += DSM_MSG)
			l->slot[k].msg = (void *)at;
		for (unsigned int k = 0; k < NET_RECVS; k++, at += DSM_MSG)
			l->in[k].msg = (void *)at;
	}
	must(VipCreateCQ(n->nic, 1 + n->size * (NET_RECVS + NET_SENDS +
						2 * NET_READS), &n->cq),
	     "VipCreateCQ");
	make_rouser(n);
}

void link_make(struct net *n, struct net_link *l)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = DSM_MSG,
		.EnableRdmaWrite = n->by_read, .EnableRdmaRead = n->by_read,
	};

	must(VipCreateVi(n->nic, &a, n->by_read ? n->cq : NULL, n->cq, &l->vi),
	     "VipCreateVi");
	for (unsigned int k = 0; k < NET_RECVS; k++)
		link_post_recv(n, l, &l->in[k]);
}

static void set_address(const struct net *n, union address *to,
			const char *host, const char *disc)
{
	size_t len = strlen(disc);

	memset(to, 0, sizeof(*to));
	if (host) {
		must(VipNSGetHostByName(n->nic, (VIP_CHAR *)host, &to->a, 0),
		     host);
	} else {
		to->a.HostAddressLen = n->attr.NicAddressLen;
		memcpy(to->a.HostAddress, n->attr.LocalNicAddress,
		       n->attr.NicAddressLen);
	}
	if (len > n->attr.MaxDiscriminatorLen)
		die(NULL, "the name of the job is too long for this NIC");
	to->a.DiscriminatorLen = len;
	memcpy(to->a.HostAddress + to->a.HostAddressLen, disc, len);
}

/* The lower of two nodes waits, the other one asks until it does. */
void link_connect(struct net *n, const struct net_place *place,
		  unsigned int other)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	unsigned int low = other < n->me ? other : n->me;
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE request;
	time_t end = time(NULL) + CONNECT_SECONDS;
	char disc[64];
	VIP_RETURN r;

	snprintf(disc, sizeof(disc), "%s.%u.%u", place->job, low,
		 n->me + other - low);
	if (low == n->me) {
		set_address(n, &local, NULL, disc);
		r = VipConnectWait(n->nic, &local.a, 1000 * CONNECT_SECONDS,
				   &remote.a, &theirs, &request);
		if (r == VIP_SUCCESS)
			r = VipConnectAccept(request, n->link[other].vi);
	} else {
		set_address(n, &local, NULL, "");
		set_address(n, &remote, place->host[other] ? place->host[other] :
			"localhost", disc);
		while ((r = VipConnectRequest(n->link[other].vi, &local.a,
					      &remote.a, 5000, &theirs)) ==
		       VIP_NO_MATCH && time(NULL) < end)
			nanosleep(&pause, NULL);
	}
	if (r != VIP_SUCCESS)
		die("See that it runs, and calls dsm_init().",
		    "no connection to node %u: %s", other,
		    VipExtReturnText(r));
}

void link_greet(struct net *n, struct dsm_parcel *to)
{
	struct dsm_msg *m = parcel_msg(to);
	struct hello h = {
		.version = HELLO_VERSION, .serves = n->by_read,
		.memory = (uintptr_t)n->memory,
		.handle = n->memory_handle, .bytes = n->bytes,
	};

	memset(m, 0, sizeof(*m));
	m->type = MSG_HELLO;
	m->from = n->me;
	m->len = sizeof(h);
	memcpy(m->data, &h, sizeof(h));
}
