// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../../vipl/messages.h"
#include "../../vipl/sys.h"
#include "ka.h"
#include "ka_node.h"

vipl_provider_entry vipl_ka_init;

#define POLL_MAX_MS	64	/* between two looks for a verdict */

static VIP_RETURN open_failed(const char *node)
{
	char line[256];

	switch (errno) {
	case ENXIO:
		if (ka_node_elsewhere(node, line, sizeof(line))) {
			ka_host->msg("%s", line);
			break;
		}
		/* fallthrough */
	case ENOENT:
	case ENODEV:
		ka_node_missing(node, line, sizeof(line));
		ka_host->msg("%s", line);
		break;
	case EACCES:
	case EPERM:
		ka_host->msg(MSG_NO_PERMISSION, node);
		break;
	case EMFILE:
		ka_host->msg(MSG_OPEN_FILES, node);
		return VIP_ERROR_RESOURCE;
	case ENFILE:
	case ENOMEM:
		ka_host->msg(MSG_CANNOT_OPEN, node, strerror(errno));
		return VIP_ERROR_RESOURCE;
	default:
		ka_host->msg(MSG_CANNOT_OPEN, node, strerror(errno));
	}
	return VIP_INVALID_PARAMETER;
}

/* Keep off 0, 1 and 2: a program may reopen those behind our back. */
static int open_node(const char *node)
{
	char path[KA_NODE_LEN + 8];
	int fd, high;

	snprintf(path, sizeof(path), "/dev/%s", node);
	/* An event may vanish between poll() and read(). */
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fd > 2)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return high;
}

static void fill_identity(struct vipl_nic *nic, const struct via_hello *h)
{
	struct vipl_identity id = {
		.addr_len = h->addr_len,
		.mtu = h->native_mtu,
		.register_bytes = h->max_register_bytes,
		.block_bytes = h->max_block_bytes,
		.regions = h->max_regions,
		.vi = h->max_vi,
		.desc = h->max_desc,
		.segs = h->max_segs,
		.cq = h->max_cq,
		.cq_entries = h->max_cq_entries,
		.transfer = h->max_transfer,
		.ptags = h->max_ptags,
		.disc_len = h->max_disc_len,
		.hw_version = h->hw_version,
		.provider_version = h->drv_version,
		.reliability = h->reliability,
		.rdma_read = h->rdma_read,
		.features = VIP_FEATURE_CQ_FD | VIP_FEATURE_NIC_FD |
			    VIP_FEATURE_NONBLOCKING | VIP_FEATURE_LISTEN |
			    VIP_FEATURE_MEMLOCK | VIP_FEATURE_ONE_SIDED |
			    (h->type == VIA_NIC_LOOPBACK ? 0 :
			     VIP_FEATURE_REMOTE),
		.files = 2,
		.file = { ka_nic_priv(nic)->fd, ka_nic_priv(nic)->wake_fd },
	};

	_Static_assert(sizeof(h->name) == sizeof(id.name), "name length");
	memcpy(id.name, h->name, sizeof(id.name));
	memcpy(id.addr, h->addr, sizeof(h->addr));
	ka_host->identify(nic, &id);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Which version a node speaks; 0 if that cannot be told. */
static uint32_t abi_of_node(const struct ka_nic *nic)
{
	struct via_ctl *ctl = mmap(NULL, page_size(), PROT_READ, MAP_SHARED,
				   nic->fd, VIA_MMAP_CTL);
	uint32_t abi;

	if (ctl == MAP_FAILED)
		return 0;
	abi = ctl->abi;
	munmap(ctl, page_size());
	return abi;
}

static VIP_RETURN exchange_hello(struct vipl_nic *n, const char *node)
{
	struct via_hello h = { .abi = VIA_ABI_VERSION };
	struct ka_nic *nic = ka_nic_priv(n);
	uint32_t abi;

	if (ka_ioctl(nic, VIA_IOC_HELLO, &h)) {
		if (errno == ENODEV || errno == EFAULT)
			return open_failed(node);
		abi = abi_of_node(nic);
		if (abi == VIA_ABI_VERSION)
			ka_host->msg(MSG_OTHER_LAYOUT, node, abi);
		else
			ka_host->msg(MSG_OTHER_VERSION, node, abi,
				     VIA_ABI_VERSION);
		return VIP_INVALID_PARAMETER;
	}
	nic->ifindex = h.ifindex;
	nic->desc = h.max_desc;
	nic->type = h.type;
	nic->addr_len = h.addr_len;
	memcpy(nic->addr, h.addr, sizeof(nic->addr));
	fill_identity(n, &h);
	return VIP_SUCCESS;
}

static VIP_RETURN map_ctl(struct ka_nic *nic, const char *node)
{
	void *p = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, nic->fd,
		       VIA_MMAP_CTL);

	if (p != MAP_FAILED) {
		nic->ctl = p;
		return VIP_SUCCESS;
	}
	ka_host->msg(MSG_CANNOT_MAP, node, strerror(errno));
	return VIP_ERROR_RESOURCE;
}

/* The area is as the NIC before us left it. */
static void reset_nic(struct ka_nic *nic)
{
	nic->fd = -1;
	nic->wake_fd = -1;
	nic->ctl = NULL;
	nic->ifindex = 0;
	nic->patience = 1;
	atomic_store(&nic->starts, 0);
	nic->spin = ka_host->may_spin();
	vipl_list_init(&nic->cqs);
}

static VIP_RETURN ka_open(struct vipl_nic *n, const char *node)
{
	struct ka_nic *nic = ka_nic_priv(n);
	char some[KA_NODE_LEN], line[256];
	VIP_RETURN r;

	reset_nic(nic);
	if (!*node && (!ka_node_nth(0, some) || ka_node_find("lo", some)))
		node = some;
	if (!*node && !ka_explain(node, line, sizeof(line))) {
		ka_host->msg("%s", line);
		return VIP_INVALID_PARAMETER;
	}
	if (strncmp(node, "via_", 4) || !ka_node_well_formed(node)) {
		ka_host->msg(MSG_NOT_A_NODE, node);
		return VIP_INVALID_PARAMETER;
	}
	nic->fd = open_node(node);
	if (nic->fd < 0)
		return open_failed(node);
	nic->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (nic->wake_fd < 0)
		return VIP_ERROR_RESOURCE;
	r = exchange_hello(n, node);
	return r == VIP_SUCCESS ? map_ctl(nic, node) : r;
}

static void ka_shutdown(struct vipl_nic *nic)
{
	ka_ioctl(ka_nic_priv(nic), VIA_IOC_SHUTDOWN, NULL);
}

static void ka_close(struct vipl_nic *n)
{
	struct ka_nic *nic = ka_nic_priv(n);

	if (nic->ctl)
		munmap(nic->ctl, page_size());
	nic->ctl = NULL;
	if (nic->fd >= 0)
		close(nic->fd);
	nic->fd = -1;
	if (nic->wake_fd >= 0)
		close(nic->wake_fd);
	nic->wake_fd = -1;
	ka_id_free(nic);
}

static VIP_RETURN ka_ptag_create(struct vipl_nic *nic, uint32_t *id)
{
	struct via_ptag_arg arg = { 0 };
	VIP_RETURN r = ka_call(ka_nic_priv(nic), VIA_IOC_PTAG_CREATE, &arg);

	*id = arg.ptag;
	return r;
}

static VIP_RETURN ka_ptag_destroy(struct vipl_nic *nic, uint32_t id)
{
	struct via_ptag_arg arg = { .ptag = id };

	return ka_call(ka_nic_priv(nic), VIA_IOC_PTAG_DESTROY, &arg);
}

static void explain_refusal(uint32_t reason, VIP_ULONG len)
{
	struct rlimit lim;

	if (reason == VIA_REASON_USER_QUOTA)
		ka_host->msg(MSG_PAGES_QUOTA, len);
	if (reason != VIA_REASON_MEMLOCK || getrlimit(RLIMIT_MEMLOCK, &lim))
		return;
	ka_host->msg(MSG_MEMLOCK, len,
		     (unsigned long long)lim.rlim_cur / 1024);
}

static VIP_RETURN ka_mem_register(struct vipl_nic *nic, void *addr,
				  VIP_ULONG len, uint32_t ptag,
				  const VIP_MEM_ATTRIBUTES *attrs,
				  VIP_MEM_HANDLE *handle)
{
	struct via_mem_register arg = {
		.addr = (uintptr_t)addr,
		.len = len,
		.ptag = ptag,
		.rights = via_rights(attrs->EnableRdmaWrite,
				     attrs->EnableRdmaRead),
	};
	VIP_RETURN r = ka_call(ka_nic_priv(nic), VIA_IOC_MEM_REGISTER, &arg);

	if (r == VIP_SUCCESS)
		*handle = arg.handle;
	else if (r == VIP_ERROR_RESOURCE)
		explain_refusal(arg.reason, len);
	return r;
}

static VIP_RETURN ka_mem_deregister(struct vipl_nic *nic, void *addr,
				    VIP_MEM_HANDLE handle)
{
	struct via_mem_deregister arg = {
		.addr = (uintptr_t)addr,
		.handle = handle,
	};

	return ka_call(ka_nic_priv(nic), VIA_IOC_MEM_DEREGISTER, &arg);
}

static enum vipl_event_kind event_kind(uint32_t code)
{
	switch (code) {
	case VIA_EVENT_SEND:
		return VIPL_EVENT_SEND;
	case VIA_EVENT_RECV:
		return VIPL_EVENT_RECV;
	case VIA_EVENT_CQ:
		return VIPL_EVENT_CQ;
	case VIA_EVENT_CONN:
		return VIPL_EVENT_CONN;
	default:
		return VIPL_EVENT_ERROR;
	}
}

static VIP_RETURN ka_mem_query(struct vipl_nic *nic, void *addr,
			       VIP_MEM_HANDLE handle, uint32_t *ptag,
			       VIP_MEM_ATTRIBUTES *out)
{
	struct via_mem_attrs arg = {
		.addr = (uintptr_t)addr,
		.handle = handle,
	};
	VIP_RETURN r = ka_call(ka_nic_priv(nic), VIA_IOC_MEM_QUERY, &arg);

	*ptag = arg.ptag;
	out->EnableRdmaWrite = arg.rights & VIA_RDMA_WRITE ? VIP_TRUE :
							     VIP_FALSE;
	out->EnableRdmaRead = arg.rights & VIA_RDMA_READ ? VIP_TRUE :
							   VIP_FALSE;
	return r;
}

static VIP_RETURN ka_mem_set(struct vipl_nic *nic, void *addr,
			     VIP_MEM_HANDLE handle, uint32_t ptag,
			     const VIP_MEM_ATTRIBUTES *attrs)
{
	struct via_mem_attrs arg = {
		.addr = (uintptr_t)addr,
		.handle = handle,
		.ptag = ptag,
		.rights = via_rights(attrs->EnableRdmaWrite,
				     attrs->EnableRdmaRead),
	};

	return ka_call(ka_nic_priv(nic), VIA_IOC_MEM_SET, &arg);
}

/* Handles for ids; 0, or -1 for one that is gone. */
static int translate_ids(struct ka_nic *nic, const struct via_event *ev,
			 struct vipl_event *out)
{
	out->vi = ev->vi ? ka_vi_by_id(nic, ev->vi) : NULL;
	out->cq = ev->cq ? ka_cq_by_id(nic, ev->cq) : NULL;
	return (ev->vi && !out->vi) || (ev->cq && !out->cq) ? -1 : 0;
}

/*
 * Until an event comes, or while a connection is being made not longer than
 * that: the first look is soon, and those after it later and later.
 */
static int poll_ms(struct ka_nic *nic)
{
	if (!atomic_load(&nic->starts))
		return -1;
	if (nic->patience < POLL_MAX_MS)
		nic->patience *= 2;
	return nic->patience;
}

static int ka_event_wait(struct vipl_nic *n, struct vipl_event *out)
{
	struct ka_nic *nic = ka_nic_priv(n);
	struct pollfd p[2] = {
		{ .fd = nic->fd, .events = POLLIN },
		{ .fd = nic->wake_fd, .events = POLLIN },
	};
	struct via_event ev;
	uint64_t woken;
	ssize_t got;
	int ready;

	ready = sys_poll(p, 2, poll_ms(nic));
	if (ready < 0)
		return errno == EINTR ? 0 : -1;
	if (!ready) {
		*out = (struct vipl_event){ .kind = VIPL_EVENT_CONN };
		return 1;
	}
	if (p[1].revents)
		nic->patience = 1;
	if (!p[0].revents)
		return sys_read(nic->wake_fd, &woken, sizeof(woken)) < 0 &&
		       errno != EAGAIN && errno != EINTR ? -1 : 0;
	got = sys_read(nic->fd, &ev, sizeof(ev));
	if (got != sizeof(ev))
		return got < 0 && (errno == EINTR || errno == EAGAIN) ? 0 : -1;
	out->kind = event_kind(ev.code);
	out->desc = ev.desc;
	out->opcode = ev.opcode;
	out->resource = ev.resource;
	out->code = ev.code;
	out->orderly = ev.code == VIA_ERR_CONN_LOST &&
		       ev.flags & VIA_EVENT_F_ORDERLY;
	return translate_ids(nic, &ev, out) ? 0 : 1;
}

/* Where make does not build it, as in tests. */
#ifndef VIPL_RELEASE
#define VIPL_RELEASE	NULL
#endif

static const struct vipl_provider ka = {
	.abi = VIPL_PROVIDER_ABI,
	.size = sizeof(struct vipl_provider),
	.name = "ka",
	.version = VIPL_RELEASE,
	.nic_size = sizeof(struct ka_nic),
	.vi_size = sizeof(struct ka_vi),
	.cq_size = sizeof(struct ka_cq),
	.devices = ka_devices,
	.explain = ka_explain,
	.open = ka_open,
	.shutdown = ka_shutdown,
	.close = ka_close,
	.ptag_create = ka_ptag_create,
	.ptag_destroy = ka_ptag_destroy,
	.mem_register = ka_mem_register,
	.mem_deregister = ka_mem_deregister,
	.mem_query = ka_mem_query,
	.mem_set = ka_mem_set,
	.vi_create = ka_vi_create,
	.vi_live = ka_vi_live,
	.vi_retire = ka_vi_retire,
	.vi_destroy = ka_vi_destroy,
	.vi_release = ka_vi_release,
	.vi_query = ka_vi_query,
	.vi_set = ka_vi_set,
	.queue_empty = ka_queue_empty,
	.cq_create = ka_cq_create,
	.cq_live = ka_cq_live,
	.cq_destroy = ka_cq_destroy,
	.cq_resize = ka_cq_resize,
	.cq_release = ka_cq_release,
	.post_send = ka_post_send,
	.post_recv = ka_post_recv,
	.send_done = ka_send_done,
	.recv_done = ka_recv_done,
	.send_wait = ka_send_wait,
	.recv_wait = ka_recv_wait,
	.cq_done = ka_cq_done,
	.cq_wait = ka_cq_wait,
	.vi_notify = ka_vi_notify,
	.cq_notify = ka_cq_notify,
	.conn_wait = ka_conn_wait,
	.conn_accept = ka_conn_accept,
	.conn_reject = ka_conn_reject,
	.conn_request = ka_conn_request,
	.peer_request = ka_peer_request,
	.peer_result = ka_peer_result,
	.disconnect = ka_disconnect,
	.conn_request_start = ka_conn_request_start,
	.conn_accept_start = ka_conn_accept_start,
	.conn_result = ka_conn_result,
	.conn_listen = ka_conn_listen,
	.vi_reserve = ka_vi_reserve,
	.addr_parse = ka_addr_parse,
	.addr_format = ka_addr_format,
	.resolve = ka_resolve,
	.name_of = ka_name_of,
	.discover = ka_discover,
	.event_wait = ka_event_wait,
	.event_wake = ka_event_wake,
};

const struct vipl_provider *vipl_ka_init(uint32_t abi,
					 const struct vipl_host *host,
					 const char **why)
{
	(void)abi;
	(void)why;
	ka_host = host;
	return &ka;
}
