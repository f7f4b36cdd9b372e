// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "msg.h"
#include "netns.h"
#include "session.h"

#define PATIENCE_MS	10000
#define CTL_DEPTH	64
#define CTL_MTU		4096
#define DATA_RX		512		/* receives of all connections */
#define CONN_RX_MIN	32		/* of one */
#define ALL_MAX		(1u << 20)	/* largest message of -a */
#define PARAMS_MAGIC	0x746c7076u	/* "vplt" */
#define PARAMS_VERSION	1

/* The client's options, in the discriminator of its own address. */
struct params {
	uint32_t	magic;
	uint8_t		version;
	uint8_t		prog;
	uint8_t		op;
	uint8_t		level;
	uint8_t		flags;
	uint8_t		conns;
	uint8_t		reserved[2];
	uint32_t	size, iters, seconds, tx, max_size;
	uint32_t	cookie;
};

#define PF_ALL		0x1
#define PF_BIDIR	0x2
#define PF_EVENTS	0x4

_Static_assert(sizeof(struct params) <= 64, "a discriminator holds it");

static void params_from_opts(struct params *p, const struct session *s)
{
	const struct opts *o = &s->o;

	*p = (struct params){
		.magic = PARAMS_MAGIC, .version = PARAMS_VERSION,
		.prog = o->prog, .op = o->op, .level = o->level,
		.flags = (o->all ? PF_ALL : 0) | (o->bidir ? PF_BIDIR : 0) |
			 (o->events ? PF_EVENTS : 0),
		.conns = o->conns, .size = o->size, .iters = o->iters, .seconds = o->seconds,
		.tx = o->tx, .max_size = s->max_size,
		.cookie = (uint32_t)now_ns() ^ (uint32_t)getpid() << 16,
	};
}

/* An RDMA Read at that level, if the operation is one. */
static bool can_read(const struct nic *nic, enum test_op op, unsigned int level)
{
	return op != OP_READ || nic->attr.RDMAReadSupport & level;
}

static const char *params_to_opts(const struct params *p, struct session *s)
{
	struct opts *o = &s->o;

	if (p->magic != PARAMS_MAGIC || p->version != PARAMS_VERSION)
		return "another version of this program";
	if (p->prog != o->prog)
		return "another program";
	if (p->max_size > s->nic.attr.MaxTransferSize)
		return "a message size over this NIC's limit";
	if (p->op > OP_READ || !can_read(&s->nic, p->op, p->level) ||
	    p->size > p->max_size ||
	    !(p->level & s->nic.attr.ReliabilityLevelSupport))
		return "an operation or level that this NIC does not offer";
	o->conns = p->conns ? p->conns : 1;
	o->op = p->op;
	o->level = p->level;
	o->all = p->flags & PF_ALL;
	o->bidir = p->flags & PF_BIDIR;
	o->events = p->flags & PF_EVENTS;
	o->size = p->size;
	o->iters = p->iters;
	o->seconds = p->seconds;
	o->tx = p->tx;
	s->max_size = p->max_size;
	return NULL;
}

static void ctl_disc(char *buf, size_t len, const struct opts *o)
{
	snprintf(buf, len, "%s.%u", o->name, o->port);
}

static void data_disc(char *buf, size_t len, const struct opts *o,
		      const struct params *p)
{
	snprintf(buf, len, "%s.%u.%08x", o->name, o->port, p->cookie);
}

static void init_ctl(struct session *s)
{
	struct chan_config c = {
		.level = VIP_SERVICE_RELIABLE_DELIVERY,
		.max_transfer = CTL_MTU,
		/* What a connection may have under way: credits, its end. */
		.tx = CTL_DEPTH, .rx = CTL_DEPTH + 8 * (s->o.conns - 1),
		.buf_len = sizeof(struct ctl_msg),
		.cq = s->cq,
	};

	chan_init(&s->ctl, &s->nic, &c);
	chan_fill_recvs(&s->ctl);
}

/* Only a bandwidth run has several queues to sleep on. */
static void init_cq(struct session *s, bool wanted)
{
	VIP_ULONG entries = 4096 + s->o.conns * (2 * s->o.tx + DATA_RX);
	VIP_RETURN rc;

	if (!wanted)
		return;
	if (s->o.conns == 1)
		entries = 4096;
	rc = VipCreateCQ(s->nic.h, s->nic.attr.MaxCQEntries < entries ?
			 s->nic.attr.MaxCQEntries : entries, &s->cq);
	if (rc != VIP_SUCCESS)
		die("cannot create a completion queue on %s: %s", s->nic.dev,
		    vip_str(rc));
}

static uint32_t conn_rx(const struct session *s)
{
	uint32_t n = DATA_RX / s->o.conns;

	return n > CONN_RX_MIN ? n : CONN_RX_MIN;
}

static void init_data(struct session *s)
{
	struct chan_config c = {
		.level = s->o.level,
		.max_transfer = s->max_size > CTL_MTU ? s->max_size : CTL_MTU,
		.tx = s->o.tx,
		.rx = s->o.prog == OPT_BW ? conn_rx(s) : 16,
		.buf_len = s->max_size ? s->max_size : 1,
		.share = true,
		.cq = s->cq,
	};

	if (s->o.conns > 1) {
		s->more = xcalloc(s->o.conns - 1, sizeof(*s->more));
		s->more_remote = xcalloc(s->o.conns - 1,
					 sizeof(*s->more_remote));
	}
	for (uint32_t i = 0; i < s->o.conns; i++) {
		chan_init(session_data(s, i), &s->nic, &c);
		chan_fill_recvs(session_data(s, i));
	}
}

/* Wait for a message of this type; the program ends after ten seconds. */
static void session_expect(struct session *s, enum ctl_type type, struct ctl_msg *m)
{
	VIP_DESCRIPTOR *d = chan_recv_wait(&s->ctl, PATIENCE_MS);

	if (!d)
		die("the other end has been silent for %u s",
		    PATIENCE_MS / 1000);
	session_take(s, d, m);
	if (m->type != type)
		die("control message %u where %u was due", m->type, type);
}

static void hello(struct session *s)
{
	struct remote_buf *remote;
	struct ctl_msg m;
	struct chan *ch;

	for (uint32_t i = 0; i < s->o.conns; i++) {
		ch = session_data(s, i);
		session_send_of(s, i, CTL_HELLO, (uintptr_t)ch->rbuf,
				(uint64_t)ch->mem.handle << 32 | ch->cfg.rx);
	}
	for (uint32_t i = 0; i < s->o.conns; i++) {
		session_expect(s, CTL_HELLO, &m);
		remote = session_remote(s, i);
		remote->addr = m.a;
		remote->handle = m.b >> 32;
		s->peer_rx = (uint32_t)m.b;
	}
}

static void check_connect(const struct nic *nic, VIP_RETURN rc,
			  const struct opts *o)
{
	switch (rc) {
	case VIP_SUCCESS:
		return;
	case VIP_NO_MATCH:
		die("no %s server at %s on port %u\nstart one there: %s -d NIC",
		    o->name, o->host ? o->host : "the other end", o->port,
		    o->name);
	case VIP_TIMEOUT:
	case VIP_NOT_REACHABLE:
		conn_unanswered(nic, o->host ? o->host : "the other end", rc);
	case VIP_REJECT:
		die("the server refused the run: it says why on its standard error");
	default:
		die("connect: %s", vip_str(rc));
	}
}

/*
 * The other end waits for our last message, and VipDisconnect() throws away
 * what is not acknowledged: a frame that was lost is sent again before.
 */
static void session_end(struct session *s)
{
	session_barrier(s);
	chan_settle(&s->ctl);
	for (uint32_t i = 0; i < s->o.conns; i++)
		chan_fini(session_data(s, i));
	free(s->more);
	free(s->more_remote);
	chan_fini(&s->ctl);
	nic_close(&s->nic);
	free(s);
}

static void run_client(const struct opts *o, session_fn fn,
		       const union net_addr *host)
{
	struct session *s = xcalloc(1, sizeof(*s));
	union net_addr peer;
	struct params p;
	char disc[64];

	s->o = *o;
	nic_open(&s->nic, o->dev);
	nic_need_level(&s->nic, o->level);
	if (!can_read(&s->nic, o->op, o->level))
		die("%s has no RDMA Read at level %s", s->nic.dev,
		    level_str(o->level));
	s->max_size = o->size;
	if (o->all)
		s->max_size = s->nic.attr.MaxTransferSize < ALL_MAX ?
			      s->nic.attr.MaxTransferSize : ALL_MAX;
	if (s->max_size > s->nic.attr.MaxTransferSize)
		die("-s: the longest message of %s is %lu bytes", s->nic.dev,
		    s->nic.attr.MaxTransferSize);
	if (host)
		peer = *host;
	else
		net_addr_resolve(&peer, &s->nic, o->host);
	init_cq(s, o->prog == OPT_BW && o->events);
	init_ctl(s);
	init_data(s);
	params_from_opts(&p, s);
	ctl_disc(disc, sizeof(disc), o);
	check_connect(&s->nic, conn_request(&s->nic, s->ctl.vi, &peer, disc,
					    &p, sizeof(p), PATIENCE_MS), o);
	data_disc(disc, sizeof(disc), o, &p);
	for (uint32_t i = 0; i < o->conns; i++)
		check_connect(&s->nic,
			      conn_request(&s->nic, session_data(s, i)->vi,
					   &peer, disc, &p, sizeof(p),
					   PATIENCE_MS), o);
	hello(s);
	fn(s);
	session_end(s);
}

static void accept_on(struct conn_peer *peer, struct chan *ch)
{
	VIP_RETURN rc = VipConnectAccept(peer->conn, ch->vi);

	if (rc == VIP_SUCCESS)
		return;
	VipConnectReject(peer->conn);
	die("cannot accept the client: %s", vip_str(rc));
}

static bool get_params(struct session *s, const struct conn_peer *peer,
		       struct params *p)
{
	const char *why = "another program";

	if (peer->addr.a.DiscriminatorLen == sizeof(*p)) {
		memcpy(p, net_addr_disc(&peer->addr), sizeof(*p));
		why = params_to_opts(p, s);
	}
	if (why)
		warn_msg("refused %s: it asks for %s",
			 addr_text(&s->nic, peer->addr.a.HostAddress,
				   peer->addr.a.HostAddressLen), why);
	return !why;
}

static void run_server(const struct opts *o, session_fn fn, int announce)
{
	struct session *s = xcalloc(1, sizeof(*s));
	struct conn_peer peer;
	struct params p;
	VIP_RETURN rc;
	char disc[64];

	s->o = *o;
	s->server = true;
	nic_open(&s->nic, o->dev);
	if (announce >= 0) {
		union net_addr me;

		net_addr_local(&me, &s->nic, "", 0);
		if (write(announce, &me, sizeof(me)) != sizeof(me))
			die("cannot tell the other process: %s",
			    strerror(errno));
		close(announce);
	}
	ctl_disc(disc, sizeof(disc), o);
	for (;;) {
		rc = conn_wait(&s->nic, disc, 0xffffffff, &peer);
		if (rc != VIP_SUCCESS)
			die("cannot wait for clients on %s: %s", s->nic.dev,
			    vip_str(rc));
		if (get_params(s, &peer, &p))
			break;
		VipConnectReject(peer.conn);
	}
	init_cq(s, s->o.prog == OPT_BW && s->o.events);
	init_ctl(s);
	init_data(s);
	accept_on(&peer, &s->ctl);
	data_disc(disc, sizeof(disc), o, &p);
	for (uint32_t i = 0; i < s->o.conns; i++) {
		rc = conn_wait(&s->nic, disc, PATIENCE_MS, &peer);
		if (rc != VIP_SUCCESS)
			die("the client did not connect its data channel: %s",
			    vip_str(rc));
		accept_on(&peer, session_data(s, i));
	}
	hello(s);
	fn(s);
	session_end(s);
}

static int wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* A child that ends with its parent: no server is left behind a signal. */
static pid_t xfork(void)
{
	pid_t parent = getpid();
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		/* It may have died before the line above. */
		if (getppid() != parent)
			exit(1);
	}
	return pid;
}

/* A process for each client: what ends it does not end the server. */
static int serve_for_ever(const struct opts *o, session_fn fn)
{
	for (;;) {
		pid_t pid = xfork();

		if (!pid) {
			run_server(o, fn, -1);
			exit(0);
		}
		if (wait_child(pid))
			/* A missing NIC fails at once: do not spin on it. */
			sleep_ns(100000000);
	}
}

/* Two processes on this machine, the server in its own namespace. */
static int run_pair(const struct opts *o, session_fn fn)
{
	union net_addr host;
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		die("pipe: %s", strerror(errno));
	pid = xfork();
	if (!pid) {
		struct opts so = *o;

		close(fds[0]);
		netns_enter(o->peer_netns);
		so.dev = o->peer_dev ? o->peer_dev : o->dev;
		use_cpu(o->cpu[1]);
		run_server(&so, fn, fds[1]);
		exit(0);
	}
	close(fds[1]);
	use_cpu(o->cpu[0]);
	if (read(fds[0], &host, sizeof(host)) != sizeof(host)) {
		wait_child(pid);
		die("the other end did not start");
	}
	close(fds[0]);
	run_client(o, fn, &host);
	return wait_child(pid);
}

int session_main(const struct opts *o, session_fn fn)
{
	if (o->exact)
		return run_pair(o, fn);
	use_cpu(o->cpu[0]);
	if (o->host)
		run_client(o, fn, NULL);
	else if (o->persist)
		return serve_for_ever(o, fn);
	else
		run_server(o, fn, -1);
	return 0;
}

void session_send(struct session *s, enum ctl_type type, uint64_t a,
		  uint64_t b)
{
	session_send_of(s, 0, type, a, b);
}

void session_send_of(struct session *s, uint32_t conn, enum ctl_type type,
		     uint64_t a, uint64_t b)
{
	struct ctl_msg m = { .type = type, .conn = conn, .a = a, .b = b };

	chan_send_msg(&s->ctl, &m, sizeof(m), false, 0);
}

void session_take(struct session *s, const VIP_DESCRIPTOR *d,
		  struct ctl_msg *m)
{
	if (d->CS.Length != sizeof(*m))
		die("a control message of %u bytes", d->CS.Length);
	memcpy(m, chan_recv_buf(&s->ctl, d), sizeof(*m));
	chan_post_recv(&s->ctl);
}

bool session_poll(struct session *s, struct ctl_msg *m)
{
	VIP_DESCRIPTOR *d = chan_recv_done(&s->ctl);

	if (!d)
		return false;
	session_take(s, d, m);
	return true;
}

void session_barrier(struct session *s)
{
	struct ctl_msg m;

	session_send(s, CTL_READY, 0, 0);
	session_expect(s, CTL_READY, &m);
}
