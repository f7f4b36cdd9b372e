// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The peer knows nothing about tests: it keeps tables of objects and carries
 * out commands, most of which are one VIPL call.
 */
#include "peer.h"
#include "ctl.h"
#include "harness.h"
#include "nic.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_VIS	32
#define PEER_REGIONS	16
#define PEER_PTAGS	8
#define PEER_CONNS	128

struct region {
	uint8_t *base;
	VIP_MEM_HANDLE h;
};

struct task {
	pthread_t thread;
	struct ctl_msg m;
	bool running;
};

static struct nic nic;
static VIP_VI_HANDLE vis[PEER_VIS];
static struct region regions[PEER_REGIONS];
static VIP_PROTECTION_HANDLE ptags[PEER_PTAGS];
static VIP_CONN_HANDLE conns[PEER_CONNS];
static unsigned int n_vis, n_regions, n_ptags, n_conns;
static struct task tasks[CTL_SLOTS];
static bool quit;

static VIP_PROTECTION_HANDLE ptag_of(int32_t index)
{
	if (index == CTL_MAIN_PTAG)
		return nic.ptag;
	return index >= 0 && index < PEER_PTAGS ? ptags[index] : NULL;
}

static void do_hello(struct ctl_msg *m)
{
	m->addr = (uintptr_t)nic.arena;
	m->handle = nic.arena_h;
	m->len = nic.arena_len;
	m->rc = VIP_SUCCESS;
}

/* After a group; the client ends the session when it fails. */
static void do_reset(struct ctl_msg *m)
{
	unsigned int i;

	m->rc = VIP_INVALID_STATE;
	for (i = 0; i < CTL_SLOTS; i++) {
		if (tasks[i].running &&
		    pthread_tryjoin_np(tasks[i].thread, NULL))
			return;
		tasks[i].running = false;
	}
	if (!ledger_clean() || pages_used() > PAGES_MAX)
		return;
	n_vis = n_regions = n_ptags = n_conns = 0;
	m->rc = nic_listen(&nic);
}

static void do_ptag(struct ctl_msg *m)
{
	m->obj = n_ptags++ % PEER_PTAGS;
	m->rc = VipCreatePtag(nic.h, &ptags[m->obj]);
}

static void do_region(struct ctl_msg *m)
{
	VIP_MEM_ATTRIBUTES a = { ptag_of(m->ptag), !!(m->rdma & CTL_WRITE),
				 !!(m->rdma & CTL_READ) };
	struct region *r;

	m->obj = n_regions++ % PEER_REGIONS;
	r = &regions[m->obj];
	r->base = pages(m->len + m->off);
	m->rc = VIP_ERROR_RESOURCE;
	if (!r->base)
		return;
	r->base += m->off;
	m->addr = (uintptr_t)r->base;
	m->rc = VipRegisterMem(nic.h, r->base, m->len,
			       m->ptag == CTL_NO_PTAG ? NULL : &a, &r->h);
	m->handle = r->h;
}

static void do_dereg(struct ctl_msg *m)
{
	struct region *r = &regions[m->obj % PEER_REGIONS];

	m->rc = VipDeregisterMem(nic.h, r->base, r->h);
}

static void do_vi(struct ctl_msg *m)
{
	VIP_VI_ATTRIBUTES a = { m->level, m->mtu, NULL, ptag_of(m->ptag),
				!!(m->rdma & CTL_WRITE),
				!!(m->rdma & CTL_READ) };

	m->obj = __atomic_fetch_add(&n_vis, 1, __ATOMIC_RELAXED) % PEER_VIS;
	m->rc = VipCreateVi(nic.h, &a, NULL, NULL, &vis[m->obj]);
}

static void do_cwait(struct ctl_msg *m)
{
	struct net_address local, remote;
	unsigned int host_len = nic.attr.NicAddressLen;
	uint8_t *bytes = remote.bytes + offsetof(VIP_NET_ADDRESS, HostAddress);
	VIP_VI_ATTRIBUTES a;
	size_t used;

	own_address(&nic, &local, m->disc, m->disc_len);
	/* Uninitialised lengths must not be trusted (section 10.6). */
	memset(&remote, XFER_GUARD, sizeof(remote));
	m->obj = __atomic_fetch_add(&n_conns, 1, __ATOMIC_RELAXED) % PEER_CONNS;
	m->rc = VipConnectWait(nic.h, &local.a, m->timeout, &remote.a, &a,
			       &conns[m->obj]);
	m->bad = 0;
	if (m->rc != VIP_SUCCESS)
		return;
	m->peer_level = a.ReliabilityLevel;
	m->peer_mtu = a.MaxTransferSize;
	m->peer_rdma = (a.EnableRdmaWrite ? CTL_WRITE : 0) |
		       (a.EnableRdmaRead ? CTL_READ : 0);
	m->peer_disc_len = remote.a.DiscriminatorLen;
	m->bad += remote.a.HostAddressLen != host_len;
	if (m->peer_disc_len > CTL_DISC_MAX) {
		m->bad++;
		return;
	}
	memcpy(m->peer_disc, bytes + host_len, m->peer_disc_len);
	used = offsetof(VIP_NET_ADDRESS, HostAddress) + host_len +
	       m->peer_disc_len;
	m->bad += bytes_other(remote.bytes + used, XFER_GUARD,
			      sizeof(remote) - used);
}

static void do_accept(struct ctl_msg *m)
{
	m->rc = VipConnectAccept(conns[m->conn % PEER_CONNS],
				 vis[m->vi % PEER_VIS]);
}

static void do_listen(struct ctl_msg *m)
{
	do_cwait(m);
	if (m->rc == VIP_SUCCESS)
		m->rc2 = VipConnectAccept(conns[m->obj],
					  vis[m->vi % PEER_VIS]);
}

static void do_request(struct ctl_msg *m)
{
	struct net_address local, remote;
	uint64_t end = now_ms() + m->count;
	VIP_VI_ATTRIBUTES a;

	own_address(&nic, &local, "peer", 4);
	net_address(&remote, m->peer_disc, m->peer_disc_len, m->disc,
		    m->disc_len);
	do {
		m->rc = VipConnectRequest(vis[m->vi % PEER_VIS], &local.a,
					  &remote.a, m->timeout, &a);
	} while (m->rc == VIP_NO_MATCH && now_ms() < end);
	m->peer_level = a.ReliabilityLevel;
}

static VIP_RETURN peer_request(const struct ctl_msg *m)
{
	struct net_address local, remote;

	own_address(&nic, &local, m->disc, m->disc_len);
	net_address(&remote, m->host, m->host_len, m->peer_disc,
		    m->peer_disc_len);
	return VipConnectPeerRequest(vis[m->vi % PEER_VIS], &local.a,
				     &remote.a, m->timeout);
}

/* bad: bytes of the attributes that were written without SUCCESS. */
static VIP_RETURN peer_result(struct ctl_msg *m, bool wait)
{
	VIP_VI_HANDLE vi = vis[m->vi % PEER_VIS];
	VIP_VI_ATTRIBUTES a;
	VIP_RETURN rc;

	memset(&a, XFER_GUARD, sizeof(a));
	rc = wait ? VipConnectPeerWait(vi, &a) : VipConnectPeerDone(vi, &a);
	m->bad = rc == VIP_SUCCESS ? 0 : bytes_other(&a, XFER_GUARD, sizeof(a));
	m->peer_level = a.ReliabilityLevel;
	m->peer_mtu = a.MaxTransferSize;
	m->peer_rdma = a.EnableRdmaWrite;
	return rc;
}

static void do_meet(struct ctl_msg *m)
{
	m->rc = peer_request(m);
	if (m->rc == VIP_SUCCESS)
		m->rc2 = peer_result(m, true);
}

static void do_post(struct ctl_msg *m)
{
	VIP_DESCRIPTOR *d = NULL;
	unsigned int i;

	m->rc = VIP_SUCCESS;
	for (i = 0; i < (m->count ? m->count : 1) && m->rc == VIP_SUCCESS; i++)
		m->rc = (i ? nic_post_again : nic_post)
			(&nic, vis[m->vi % PEER_VIS], m->queue, &m->x, &d);
	m->addr = (uintptr_t)d;
}

static void do_done(struct ctl_msg *m)
{
	const struct xfer *x;
	struct done r;

	if (m->cmd == P_WAIT)
		r = wait_done(vis[m->vi % PEER_VIS], m->queue, m->timeout);
	else
		r = poll_done(vis[m->vi % PEER_VIS], m->queue);
	m->rc = r.rc;
	m->addr = (uintptr_t)r.d;
	m->status = r.status;
	m->length = r.length;
	m->immediate = r.immediate;
	x = nic_posted(&nic, r.d);
	if (!x)
		return;
	m->x = *x;
	m->intact = xfer_intact(r.d, x, XFER_DESC_SIZE);
	if (m->verify)
		m->bad = xfer_wrong(x, m->verify > 1 ? 0 : r.length);
}

static void do_query(struct ctl_msg *m)
{
	VIP_BOOLEAN send_empty = 7, recv_empty = 7;
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state;

	m->rc = VipQueryVi(vis[m->vi % PEER_VIS], &state, &a, &send_empty,
			   &recv_empty);
	m->state = state;
	m->send_empty = send_empty;
	m->recv_empty = recv_empty;
}

static void do_errors(struct ctl_msg *m)
{
	VIP_VI_HANDLE vi = vis[m->vi % PEER_VIS];

	m->count = m->timeout ?
		nic_error_wait(&nic, vi, m->code, m->count, m->timeout,
			       NULL) :
		nic_errors(&nic, vi, m->code);
	m->rc = VIP_SUCCESS;
}

/* Looks at memory alone for the end of an RDMA Write, then at all of it. */
static void do_watch(struct ctl_msg *m)
{
	volatile uint8_t *last = (uint8_t *)(uintptr_t)m->addr + m->len - 1;
	uint64_t end = now_ms() + m->timeout;
	uint8_t want;

	pattern(&want, m->seed, m->len - 1, 1);
	m->rc = VIP_TIMEOUT;
	while (*last != want) {
		if (now_ms() > end)
			return;
		/* The writer may need this processor. */
		sched_yield();
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	m->bad = pattern_wrong((void *)(uintptr_t)m->addr, m->seed, 0, m->len);
	m->rc = VIP_SUCCESS;
}

static void execute(struct ctl_msg *m)
{
	void *p = (void *)(uintptr_t)m->addr;

	switch (m->cmd) {
	case P_HELLO:
		return do_hello(m);
	case P_RESET:
		return do_reset(m);
	case P_PTAG:
		return do_ptag(m);
	case P_REGION:
		return do_region(m);
	case P_DEREG:
		return do_dereg(m);
	case P_VI:
		return do_vi(m);
	case P_DESTROY:
		m->rc = VipDestroyVi(vis[m->vi % PEER_VIS]);
		return;
	case P_CWAIT:
		return do_cwait(m);
	case P_ACCEPT:
		return do_accept(m);
	case P_REJECT:
		m->rc = VipConnectReject(conns[m->conn % PEER_CONNS]);
		return;
	case P_LISTEN:
		return do_listen(m);
	case P_REQUEST:
		return do_request(m);
	case P_PEER_REQUEST:
		m->rc = peer_request(m);
		return;
	case P_PEER_RESULT:
		m->rc = peer_result(m, m->count);
		return;
	case P_MEET:
		return do_meet(m);
	case P_DISCONNECT:
		m->rc = VipDisconnect(vis[m->vi % PEER_VIS]);
		return;
	case P_POST:
		return do_post(m);
	case P_DONE:
	case P_WAIT:
		return do_done(m);
	case P_QUERY:
		return do_query(m);
	case P_ERRORS:
		return do_errors(m);
	case P_FILL:
		memset(p, m->value, m->len);
		break;
	case P_OTHER:
		m->bad = bytes_other(p, m->value, m->len);
		break;
	case P_WRONG:
		m->bad = pattern_wrong(p, m->seed, 0, m->len);
		break;
	case P_CHECK:
		m->bad = xfer_wrong_after_loss(&m->x, m->len);
		break;
	case P_PUT:
		pattern(p, m->seed, 0, m->len);
		break;
	case P_WATCH:
		return do_watch(m);
	case P_DIE:
		kill(getpid(), SIGKILL);
		break;
	case P_EXIT:
		exit(0);
	case P_QUIT:
		quit = true;
		break;
	default:
		m->rc = VIP_ERROR_NOT_SUPPORTED;
		return;
	}
	m->rc = VIP_SUCCESS;
}

static void *task_main(void *arg)
{
	execute(&((struct task *)arg)->m);
	return NULL;
}

static void spawn(struct ctl_msg *m)
{
	struct task *t = &tasks[m->slot % CTL_SLOTS];

	m->rc = VIP_ERROR_RESOURCE;
	if (t->running)
		return;
	t->m = *m;
	t->running = !pthread_create(&t->thread, NULL, task_main, t);
	if (t->running)
		m->rc = VIP_SUCCESS;
}

static void join(struct ctl_msg *m)
{
	struct task *t = &tasks[m->slot % CTL_SLOTS];

	m->rc = VIP_INVALID_STATE;
	if (!t->running)
		return;
	pthread_join(t->thread, NULL);
	t->running = false;
	*m = t->m;
}

/* Exit codes of a session that ends the serving. */
#define SESSION_HOPELESS 2
#define SESSION_QUIT	3

int peer_session(const char *device, const char *disc, int begun)
{
	struct ctl ctl;
	struct ctl_msg m;
	VIP_RETURN rc;

	rc = nic_open(&nic, device, 5);
	if (rc == VIP_SUCCESS)
		rc = ctl_serve(&ctl, device, disc);
	if (rc != VIP_SUCCESS) {
		fprintf(stderr, "viaconform: the peer cannot serve on %s: %s\n",
			device, rc_name(rc));
		return SESSION_HOPELESS;
	}
	ledger_mark();
	if (begun >= 0 && write(begun, "", 1) != 1)
		perror("viaconform: pipe");
	while (ctl_recv(&ctl, &m, VIP_INFINITE)) {
		if (m.cmd == P_JOIN)
			join(&m);
		else if (m.spawn)
			spawn(&m);
		else
			execute(&m);
		if (!ctl_send(&ctl, &m))
			break;
	}
	return quit ? SESSION_QUIT : 0;
}

static int session_start(const char *device, const char *disc, int begun)
{
	sigset_t none;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		_exit(peer_session(device, disc, begun));
	}
	if (pid < 0)
		perror("viaconform: fork");
	return pid;
}

/* Buries sessions; counts those without hope in a row, -1: one said P_QUIT. */
static int bury(int hopeless, pid_t *waiting, int verbose)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (verbose)
			fprintf(stderr, "viaconform: session ended, status "
				"0x%x\n", status);
		if (pid == *waiting)
			*waiting = 0;
		if (!WIFEXITED(status))
			continue;
		if (WEXITSTATUS(status) == SESSION_QUIT)
			return -1;
		if (WEXITSTATUS(status) == SESSION_HOPELESS)
			hopeless++;
	}
	return hopeless;
}

int peer_serve(const char *device, const char *disc, int verbose)
{
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct signalfd_siginfo info;
	pid_t waiting = 0;
	int begun[2], hopeless = 0;
	sigset_t chld;
	char c;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	p[0].fd = signalfd(-1, &chld, SFD_CLOEXEC);
	if (p[0].fd < 0 || pipe2(begun, O_CLOEXEC)) {
		perror("viaconform: the peer");
		return 2;
	}
	p[1].fd = begun[0];
	/* While sessions go on, the next one is ready for its client. */
	while (hopeless >= 0 && hopeless < 3) {
		if (!waiting)
			waiting = session_start(device, disc, begun[1]);
		if (waiting < 0)
			return 2;
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return 2;
		if ((p[1].revents & POLLIN) && read(begun[0], &c, 1) == 1)
			waiting = hopeless = 0;
		if ((p[0].revents & POLLIN) &&
		    read(p[0].fd, &info, sizeof(info)) > 0)
			hopeless = bury(hopeless, &waiting, verbose);
	}
	return hopeless < 0 ? 0 : 2;
}
