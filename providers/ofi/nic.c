// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A NIC handle: its endpoint, its link, and how both are looked after. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "../messages.h"
#include "ofi.h"

#define LINK_EVERY	32		/* rounds of progress, where they spin */
#define EXIT_NAP_NS	10000000	/* threads of a process that exits */
#define PEERS_MAX	4096

uint64_t ofi_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Where the kernel has none, the time is better than zero. */
void ofi_random(void *buf, size_t len)
{
	uint64_t now;

	if (getrandom(buf, len, 0) == (ssize_t)len)
		return;
	now = ofi_now();
	memcpy(buf, &now, len < sizeof(now) ? len : sizeof(now));
}

/*
 * libfabric opens sockets at any time, under the lowest number that is free. A
 * program without standard output would print into one: numbers that are free
 * now lead nowhere from here on.
 */
static void occupy_stdio(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd < 3);
	if (fd >= 0)
		close(fd);
}

static int open_fab(struct ofi_nic *n, char *why, size_t size)
{
	static const struct fab_events events = {
		ofi_message, ofi_read_done, ofi_send_failed,
	};
	struct fab_device at = {
		.provider = n->device.provider,
		.node = n->device.node[0] ? n->device.node : NULL,
		.domain = n->device.domain[0] ? n->device.domain : NULL,
	};
	const struct ofi_lib *lib = ofi_load(why, size);
	int err;

	if (!lib)
		return -ENOENT;
	n->max = lib->universe && n->device.number ? lib->universe : PEERS_MAX;
	occupy_stdio();
	err = fab_open(&n->fab, lib, &at, &events, n, why, size);
	if (err == -FI_ENODATA)
		ofi_absent(n->device.word, why, size);
	return err;
}

/* The address that is the host's: the one asked for, or the device's. */
static int find_host(struct ofi_nic *n, char *why, size_t size)
{
	const struct fi_info *info = n->fab.info;
	struct ofi_host *h = &n->device.host;
	uint16_t port = ofi_addr_port(h);

	if (!h->version && info->src_addr &&
	    info->addr_format <= FI_SOCKADDR_IN6)
		ofi_addr_set(h, info->src_addr, port);
	if (!h->version && ofi_addr_own(h, NULL, port)) {
		snprintf(why, size, "%s", MSG_OFI_NO_ADDRESS);
		return -EADDRNOTAVAIL;
	}
	n->host = *h;
	n->port = port;
	return 0;
}

/* The control sockets: at one address, or at all. */
static socklen_t link_address(struct ofi_nic *n, struct sockaddr_storage *sa)
{
	struct ofi_host any = n->host;

	if (n->device.bound)
		return ofi_addr_get(&n->host, AF_UNSPEC, sa);
	memset(any.ip, 0, sizeof(any.ip));
	memset(any.scope, 0, sizeof(any.scope));
	any.version = n->device.only4 ? 4 : 6;
	return ofi_addr_get(&any, AF_UNSPEC, sa);
}

static int open_link(struct ofi_nic *n, char *why, size_t size)
{
	struct link_conf *c = &n->conf;
	int err = 0;

	if (gethostname(n->host_name, sizeof(n->host_name) - 1))
		n->host_name[0] = 0;
	c->family = LINK_TCP;
	c->provider = "ofi";
	c->space = n->device.space;
	c->name = n->host_name;
	c->version = OFI_VERSION;
	c->addr_len = link_address(n, &c->addr);
	c->ops = &ofi_link_ops;
	c->nic = n;
	c->msg = ofi_host->msg;
	n->link = link_open(c, &err);
	if (!n->link) {
		snprintf(why, size, MSG_OFI_CONTROL, strerror(-err));
		return err;
	}
	err = link_watch(n->link, n->fab.fd);
	if (err)
		snprintf(why, size, MSG_OFI_WAIT,
			 strerror(-err));
	return err;
}

static void fill_identity(struct ofi_nic *n, struct vipl_identity *id)
{
	snprintf(id->name, sizeof(id->name), "ofi:%s", n->device.word);
	memset(id->addr, 0, sizeof(id->addr));
	memcpy(id->addr, &n->host, sizeof(n->host));
	id->addr_len = OFI_HOST_LEN;
	id->mtu = OFI_EAGER;
	id->features = VIP_FEATURE_CQ_FD | VIP_FEATURE_NIC_FD |
		       VIP_FEATURE_NONBLOCKING | VIP_FEATURE_LISTEN |
		       VIP_FEATURE_PRIVATE | VIP_FEATURE_REMOTE;
}

static int open_parts(struct ofi_nic *n, char *why, size_t size)
{
	int err = open_fab(n, why, size);

	if (!err)
		err = find_host(n, why, size);
	if (!err)
		err = open_link(n, why, size);
	return err;
}

static VIP_RETURN ofi_open(struct eng_nic *nic, const char *rest,
			   struct vipl_identity *id)
{
	struct ofi_nic *n = ofi_nic_of(nic);
	char why[256] = "no memory";
	int err;

	n->eng = nic;
	n->fab.fd = -1;
	ofi_pulls_init(n);
	atomic_store(&n->nap, UINT64_MAX);
	if (ofi_device_parse(&n->device, rest, why, sizeof(why))) {
		ofi_host->msg(MSG_OFI_NIC, rest, why);
		return VIP_INVALID_PARAMETER;
	}
	if (ofi_guard_open(n))
		return VIP_ERROR_RESOURCE;
	err = -ESHUTDOWN;
	if (ofi_enter(n)) {
		err = open_parts(n, why, sizeof(why));
		ofi_leave(n);
	}
	if (err) {
		if (err == -EMFILE || err == -ENFILE)
			link_why(err, why, sizeof(why));
		ofi_host->msg(MSG_OFI_NIC, rest, why);
		return VIP_ERROR_RESOURCE;
	}
	n->open = 1;
	fill_identity(n, id);
	return VIP_SUCCESS;
}

/* The kernel takes what the process still has when it exits. */
static void ofi_close(struct eng_nic *nic)
{
	struct ofi_nic *n = ofi_nic_of(nic);

	if (!n->guarded)
		return;
	if (ofi_enter(n)) {
		if (n->link && n->fab.fd >= 0)
			link_unwatch(n->link, n->fab.fd);
		if (n->link)
			link_close(n->link);
		if (n->fab.lib)
			fab_close(&n->fab);
		ofi_leave(n);
		ofi_pulls_free(n);
	}
	ofi_guard_close(n);
	free(n->peer);
	memset(n, 0, sizeof(*n));
}

/* The link's sockets cost a system call: seldom in a spin. */
static int look_at_link(struct ofi_nic *n)
{
	if (++n->spins < LINK_EVERY)
		return 0;
	n->spins = 0;
	return link_progress(n->link);
}

int ofi_progress(struct eng_nic *nic, unsigned int budget)
{
	struct ofi_nic *n = ofi_nic_of(nic);
	int did;

	if (!ofi_enter(n))
		return 0;
	did = (int)fab_progress(&n->fab, budget);
	did += look_at_link(n);
	if (n->pulls)
		ofi_pulls(n);
	ofi_chores(n);
	ofi_leave(n);
	return did;
}

/*
 * How long a sleep may take at most. libfabric looks at connections that are
 * being made every so often only, and its file says nothing of them: for some
 * time after a peer has come this end looks by itself.
 */
static uint64_t longest_nap(struct ofi_nic *n)
{
	if (n->due || n->pulls)
		return OFI_NAP_NS;
	if (!n->fresh)
		return UINT64_MAX;
	if (ofi_now() < n->fresh)
		return OFI_NAP_NS;
	n->fresh = 0;
	return UINT64_MAX;
}

static int ofi_arm(struct eng_nic *nic)
{
	struct ofi_nic *n = ofi_nic_of(nic);
	int busy;

	if (!ofi_enter(n))
		return 0;
	busy = fab_trywait(&n->fab);
	atomic_store(&n->nap, longest_nap(n));
	/* Whatever wakes the sleeper, its first round looks at the link. */
	n->spins = LINK_EVERY;
	ofi_leave(n);
	return busy != 0;
}

static void ofi_disarm(struct eng_nic *nic)
{
	(void)nic;
}

static void ofi_wait(struct eng_nic *nic, uint64_t ns)
{
	struct ofi_nic *n = ofi_nic_of(nic);
	uint64_t most = atomic_load(&n->nap);
	struct timespec t = { 0, EXIT_NAP_NS };

	if (ofi_exiting())
		nanosleep(&t, NULL);
	else
		link_wait(n->link, ns < most ? ns : most);
}

static void ofi_wake(struct eng_nic *nic)
{
	struct ofi_nic *n = ofi_nic_of(nic);

	if (n->link)
		link_wake(n->link);
}

static int ofi_waiting(struct eng_nic *nic, const uint8_t *disc, uint32_t len,
		       int now)
{
	return link_waiting(ofi_nic_of(nic)->link, disc, len, now);
}

/* A NIC at every address of the host is reached by each of them. */
static int ofi_leads_here(struct eng_nic *nic, const uint8_t *host)
{
	struct ofi_nic *n = ofi_nic_of(nic);
	struct ofi_host h;

	memcpy(&h, host, sizeof(h));
	return !n->device.bound && ofi_addr_port(&h) == n->port &&
	       (h.version == 4 || !n->device.only4) && ofi_addr_is_own(&h);
}

/*
 * A program tells another host's one its LocalNicAddress, and the number of an
 * interface with it: a NIC at an interface's link-local address has but one.
 */
static void ofi_as_here(struct eng_nic *nic, uint8_t *host)
{
	struct ofi_nic *n = ofi_nic_of(nic);
	struct ofi_host h;

	memcpy(&h, host, sizeof(h));
	if (!n->device.bound || !ofi_addr_is_link_local(&n->host) ||
	    !ofi_addr_is_link_local(&h))
		return;
	memcpy(h.scope, n->host.scope, sizeof(h.scope));
	memcpy(host, &h, sizeof(h));
}

const struct eng_transport ofi_transport = {
	.name = "ofi",
	.nic_size = sizeof(struct ofi_nic),
	.peer_size = sizeof(struct ofi_peer),
	.eager = OFI_EAGER,
	.flags = ENG_COPIES,
	.open = ofi_open,
	.close = ofi_close,
	.handshake = ofi_handshake,
	.waiting = ofi_waiting,
	.part = ofi_part,
	.peer_release = ofi_peer_release,
	.xmit = ofi_xmit,
	.export_mem = ofi_export_mem,
	.unexport_mem = ofi_unexport_mem,
	.pull = ofi_pull_start,
	.progress = ofi_progress,
	.arm = ofi_arm,
	.disarm = ofi_disarm,
	.wait = ofi_wait,
	.wake = ofi_wake,
	.leads_here = ofi_leads_here,
	.as_here = ofi_as_here,
};
