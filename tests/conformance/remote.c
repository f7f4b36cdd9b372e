// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "remote.h"
#include "inside.h"
#include "residue.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct env env;

/* Of this worker: it keeps what it has for all its groups. */
static struct {
	bool nic, peer;
	const uint8_t *host;	/* as given; a group may change env.host */
} have;

static void start_peer(void)
{
	struct ctl_msg m;
	const char *why = NULL;
	VIP_RETURN rc;

	if (env.inside)
		why = inside_start(env.inside, env.device, env.disc);
	if (why)
		fprintf(stderr, "viaconform: %s\n", why);
	REQUIRE(!why);
	rc = ctl_connect(&env.ctl, env.device, env.host, env.host_len,
			 env.disc, LONG_MS);
	REQUIRE_RC(rc, VIP_SUCCESS);
	m = peer_do((struct ctl_msg){ .cmd = P_HELLO });
	REQUIRE(m.rc == VIP_SUCCESS && m.len >= 1 << 20);
	env.p_arena = m.addr;
	env.p_arena_h = m.handle;
	env.p_arena_len = m.len;
	have.peer = true;
}

void env_start(const struct group *g, VIP_RELIABILITY_LEVEL level)
{
	VIP_RETURN rc;

	env.level = level;
	if (!(g->flags & G_BARE) && !have.nic) {
		have.host = env.host;
		rc = nic_open(&env.nic, env.device, 0);
		REQUIRE_RC(rc, VIP_SUCCESS);
		have.nic = true;
	} else if (have.nic) {
		env.host = have.host;
		rc = nic_listen(&env.nic);
		REQUIRE_RC(rc, VIP_SUCCESS);
	}
	if ((g->flags & G_PEER) && !have.peer)
		start_peer();
	ledger_mark();
	residue_mark();
}

bool env_finish(const struct group *g)
{
	const char *why = NULL;

	if (g->flags & (G_OWN | G_BARE))
		return false;
	if (!ledger_clean())
		why = "objects";
	else if (!residue_none())
		why = "threads, files or limits";
	else if (pages_used() > PAGES_MAX)
		why = "much memory";
	else if ((g->flags & G_PEER) &&
		 peer_do((struct ctl_msg){ .cmd = P_RESET }).rc)
		why = "things at the peer";
	if (why && env.verbose)
		fprintf(stderr, "viaconform: %s has left %s behind\n",
			g->name, why);
	return !why;
}

struct ctl_msg peer_do(struct ctl_msg m)
{
	m.magic = CTL_MAGIC;
	if (!ctl_send(&env.ctl, &m) ||
	    !ctl_recv(&env.ctl, &m, 4 * LONG_MS)) {
		check_(false, "the peer answers", __FILE__, m.cmd);
		give_up();
	}
	return m;
}

void peer_order(uint32_t cmd)
{
	struct ctl_msg m = { .magic = CTL_MAGIC, .cmd = cmd };

	ctl_send(&env.ctl, &m);
}

void peer_spawn(struct ctl_msg m, unsigned int slot)
{
	m.spawn = 1;
	m.slot = slot;
	REQUIRE_RC(peer_do(m).rc, VIP_SUCCESS);
}

struct ctl_msg peer_join(unsigned int slot)
{
	return peer_do((struct ctl_msg){ .cmd = P_JOIN, .slot = slot });
}

unsigned int peer_vi(const VIP_VI_ATTRIBUTES *a, int32_t ptag)
{
	struct ctl_msg m = { .cmd = P_VI, .ptag = ptag };

	m.level = a->ReliabilityLevel;
	m.mtu = a->MaxTransferSize;
	m.rdma = (a->EnableRdmaWrite ? CTL_WRITE : 0) |
		 (a->EnableRdmaRead ? CTL_READ : 0);
	m = peer_do(m);
	REQUIRE_RC(m.rc, VIP_SUCCESS);
	return m.obj;
}

VIP_RETURN peer_post_many(unsigned int vi, enum queue q, const struct xfer *x,
			  unsigned int n)
{
	return peer_do((struct ctl_msg){ .cmd = P_POST, .vi = vi, .queue = q,
					 .x = *x, .count = n }).rc;
}

VIP_RETURN peer_post(unsigned int vi, enum queue q, const struct xfer *x)
{
	return peer_post_many(vi, q, x, 1);
}

struct ctl_msg peer_wait_verify(unsigned int vi, enum queue q, unsigned int ms,
				unsigned int verify)
{
	return peer_do((struct ctl_msg){ .cmd = P_WAIT, .vi = vi, .queue = q,
					 .timeout = ms, .verify = verify });
}

struct ctl_msg peer_wait(unsigned int vi, enum queue q, unsigned int ms)
{
	return peer_wait_verify(vi, q, ms, 0);
}

void peer_sends(unsigned int vi, const struct xfer *x)
{
	CHECK_RC(peer_post(vi, SENDQ, x), VIP_SUCCESS);
	CHECK_RC(peer_wait(vi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
}

VIP_VI_STATE peer_state(unsigned int vi)
{
	struct ctl_msg m = peer_do((struct ctl_msg){ .cmd = P_QUERY,
						     .vi = vi });

	CHECK_RC(m.rc, VIP_SUCCESS);
	return m.state;
}

unsigned int peer_errors(unsigned int vi, VIP_ERROR_CODE code,
			 unsigned int want)
{
	return peer_error_wait(vi, code, want, want ? LONG_MS : 0);
}

unsigned int peer_error_wait(unsigned int vi, VIP_ERROR_CODE code,
			     unsigned int want, unsigned int ms)
{
	return peer_do((struct ctl_msg){ .cmd = P_ERRORS, .vi = vi,
					 .code = code, .count = want,
					 .timeout = ms }).count;
}

size_t peer_wrong_after_loss(const struct xfer *x, size_t len)
{
	return peer_do((struct ctl_msg){ .cmd = P_CHECK, .x = *x,
					 .len = len }).bad;
}

void peer_disconnect(unsigned int vi)
{
	CHECK_RC(peer_do((struct ctl_msg){ .cmd = P_DISCONNECT, .vi = vi }).rc,
		 VIP_SUCCESS);
}

void peer_destroy(unsigned int vi)
{
	CHECK_RC(peer_do((struct ctl_msg){ .cmd = P_DESTROY, .vi = vi }).rc,
		 VIP_SUCCESS);
}

void peer_drain(unsigned int vi, enum queue q)
{
	struct ctl_msg m = { .cmd = P_DONE, .vi = vi, .queue = q };

	while (peer_do(m).addr)
		;
}

void peer_fill(uint64_t addr, size_t len, uint8_t value)
{
	peer_do((struct ctl_msg){ .cmd = P_FILL, .addr = addr, .len = len,
				  .value = value });
}

size_t peer_other(uint64_t addr, size_t len, uint8_t value)
{
	return peer_do((struct ctl_msg){ .cmd = P_OTHER, .addr = addr,
					 .len = len, .value = value }).bad;
}

void peer_put(uint64_t addr, size_t len, uint32_t seed)
{
	peer_do((struct ctl_msg){ .cmd = P_PUT, .addr = addr, .len = len,
				  .seed = seed });
}

size_t peer_wrong(uint64_t addr, size_t len, uint32_t seed)
{
	return peer_do((struct ctl_msg){ .cmd = P_WRONG, .addr = addr,
					 .len = len, .seed = seed }).bad;
}

struct peer_region peer_region_rights(size_t len, int32_t ptag,
				      unsigned int rights)
{
	struct ctl_msg m = peer_do((struct ctl_msg){
		.cmd = P_REGION, .len = len, .ptag = ptag, .rdma = rights });

	REQUIRE_RC(m.rc, VIP_SUCCESS);
	return (struct peer_region){ m.obj, m.addr, m.handle };
}

struct peer_region peer_region(size_t len, int32_t ptag, bool rdma_write)
{
	return peer_region_rights(len, ptag, rdma_write ? CTL_WRITE : 0);
}

void peer_deregister(unsigned int obj)
{
	CHECK_RC(peer_do((struct ctl_msg){ .cmd = P_DEREG, .obj = obj }).rc,
		 VIP_SUCCESS);
}

struct peer_region peer_bad_handles(uint32_t bad[4], unsigned int rights)
{
	struct peer_region gone;

	gone = peer_region_rights(100, CTL_MAIN_PTAG, rights);
	peer_deregister(gone.obj);
	bad[0] = 0;
	bad[1] = gone.handle;
	bad[2] = ~0u;
	bad[3] = env.p_arena_h ^ 0x80000000;
	return gone;
}

struct disc new_disc(void)
{
	static unsigned int count;
	struct disc d;

	d.len = snprintf((char *)d.bytes, sizeof(d.bytes), "t%d.%u",
			 (int)getpid(), ++count);
	return d;
}

void to_peer(struct net_address *a, const struct disc *d)
{
	if (env.host)
		net_address(a, env.host, env.host_len, d->bytes, d->len);
	else
		own_address(&env.nic, a, d->bytes, d->len);
}

VIP_RETURN request(VIP_VI_HANDLE vi, const struct disc *d, VIP_ULONG timeout)
{
	struct net_address local, remote;
	VIP_VI_ATTRIBUTES a;

	own_address(&env.nic, &local, "driver", 6);
	to_peer(&remote, d);
	return VipConnectRequest(vi, &local.a, &remote.a, timeout, &a);
}

VIP_RETURN connect_peer(VIP_VI_HANDLE vi, const struct disc *d,
			VIP_ULONG timeout, VIP_VI_ATTRIBUTES *theirs)
{
	struct net_address local, remote;
	VIP_VI_ATTRIBUTES unused;
	uint64_t end = now_ms() + LONG_MS;
	VIP_RETURN rc;

	own_address(&env.nic, &local, "driver", 6);
	to_peer(&remote, d);
	do {
		rc = VipConnectRequest(vi, &local.a, &remote.a, timeout,
				       theirs ? theirs : &unused);
	} while (rc == VIP_NO_MATCH && now_ms() < end);
	return rc;
}

void peer_listen(unsigned int pvi, const struct disc *d, unsigned int slot)
{
	struct ctl_msg m = { .cmd = P_LISTEN, .vi = pvi, .timeout = LONG_MS };

	memcpy(m.disc, d->bytes, d->len);
	m.disc_len = d->len;
	peer_spawn(m, slot);
}

void peer_cwait(const struct disc *d, unsigned int timeout_ms,
		unsigned int slot)
{
	struct ctl_msg m = { .cmd = P_CWAIT, .timeout = timeout_ms };

	memcpy(m.disc, d->bytes, d->len);
	m.disc_len = d->len;
	peer_spawn(m, slot);
}

VIP_RETURN peer_accept(unsigned int conn, unsigned int pvi)
{
	return peer_do((struct ctl_msg){ .cmd = P_ACCEPT, .conn = conn,
					 .vi = pvi }).rc;
}

VIP_RETURN peer_reject(unsigned int conn)
{
	return peer_do((struct ctl_msg){ .cmd = P_REJECT, .conn = conn }).rc;
}

static void *ask_main(void *arg)
{
	struct asker *k = arg;
	uint64_t end = now_ms() + k->seek_ms, start;
	struct net_address local, remote;

	own_address(&env.nic, &local, "driver", 6);
	to_peer(&remote, &k->d);
	do {
		start = now_ms();
		k->rc = VipConnectRequest(k->vi, &local.a, &remote.a,
					  k->timeout, &k->theirs);
		k->took_ms = now_ms() - start;
	} while (k->rc == VIP_NO_MATCH && now_ms() < end);
	return NULL;
}

void ask_briefly(struct asker *k, VIP_VI_HANDLE vi, const struct disc *d,
		 VIP_ULONG timeout, VIP_ULONG seek_ms)
{
	k->vi = vi;
	k->d = *d;
	k->timeout = timeout;
	k->seek_ms = seek_ms;
	REQUIRE(!pthread_create(&k->thread, NULL, ask_main, k));
}

void ask_start(struct asker *k, VIP_VI_HANDLE vi, const struct disc *d,
	       VIP_ULONG timeout)
{
	ask_briefly(k, vi, d, timeout, LONG_MS);
}

VIP_RETURN ask_join(struct asker *k)
{
	pthread_join(k->thread, NULL);
	return k->rc;
}

struct ctl_msg ask_pending(struct asker *k, VIP_VI_HANDLE vi,
			   VIP_ULONG timeout)
{
	for (;; timeout *= 4) {
		struct disc d = new_disc();
		struct ctl_msg m;

		/*
		 * On a busy machine a short time may be over before it came;
		 * the peer need not wait much longer for what is over.
		 */
		peer_cwait(&d, timeout < LONG_MS / 8 ? LONG_MS / 4 : LONG_MS,
			   1);
		ask_start(k, vi, &d, timeout);
		m = peer_join(1);
		if (m.rc != VIP_TIMEOUT || timeout > LONG_MS / 2) {
			REQUIRE_RC(m.rc, VIP_SUCCESS);
			return m;
		}
		REQUIRE_RC(ask_join(k), VIP_TIMEOUT);
	}
}

VIP_VI_STATE vi_state(VIP_VI_HANDLE vi)
{
	VIP_BOOLEAN send_empty, recv_empty;
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state = 99;

	CHECK_RC(VipQueryVi(vi, &state, &a, &send_empty, &recv_empty),
		 VIP_SUCCESS);
	return state;
}

VIP_VI_STATE vi_state_wait(VIP_VI_HANDLE vi, VIP_VI_STATE wanted)
{
	uint64_t end = now_ms() + LONG_MS;
	VIP_VI_STATE s;

	while ((s = vi_state(vi)) != wanted && now_ms() < end)
		pause_ms(1);
	return s;
}

VIP_VI_STATE peer_state_wait(unsigned int vi, VIP_VI_STATE wanted)
{
	uint64_t end = now_ms() + LONG_MS;
	VIP_VI_STATE s;

	while ((s = peer_state(vi)) != wanted && now_ms() < end)
		pause_ms(1);
	return s;
}

#ifdef __SANITIZE_ADDRESS__
/* A thread of this process other than the caller that runs, or could. */
static bool other_runs(pid_t self)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *t;
	bool runs = false;

	while (tasks && !runs && (t = readdir(tasks))) {
		char path[300], state = 'S';
		FILE *stat;

		if (t->d_name[0] == '.' || atoi(t->d_name) == self)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat",
			 t->d_name);
		stat = fopen(path, "r");
		if (!stat)
			continue;
		if (fscanf(stat, "%*d (%*[^)]) %c", &state) == 1)
			runs = state == 'R';
		fclose(stat);
	}
	if (tasks)
		closedir(tasks);
	return runs;
}

/*
 * ASan of gcc 12 does not hold its locks across fork(): a child of a process
 * whose other threads are just starting may wait for one forever.
 */
static void threads_settle(void)
{
	uint64_t end = now_ms() + LONG_MS;

	while (other_runs(gettid()) && now_ms() < end)
		pause_ms(1);
}
#else
static void threads_settle(void)
{
}
#endif

pid_t child_fork(void)
{
	fflush(NULL);
	threads_settle();
	return fork();
}

int child_exit(void (*run)(void))
{
	int status = 0;
	pid_t pid;

	pid = child_fork();
	if (pid == 0) {
		alarm(LONG_MS / 1000 + 1);
		if (nic_open(&env.nic, env.device, 0) != VIP_SUCCESS)
			_exit(1);
		run();
		for (;;)
			pause();
	}
	REQUIRE(pid > 0);
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

unsigned int drain(VIP_VI_HANDLE vi, enum queue q)
{
	unsigned int n = 0;

	while (poll_done(vi, q).d)
		n++;
	return n;
}

struct xfer our_buf(size_t off, uint32_t len, unsigned int nseg)
{
	struct xfer x = { .addr = (uintptr_t)env.nic.arena + 64 + off,
			  .handle = env.nic.arena_h, .len = len, .nseg = nseg,
			  .gap = nseg > 1 ? 3 : 0, .seed = env.seed };

	return x;
}

struct xfer peer_buf(size_t off, uint32_t len, unsigned int nseg)
{
	struct xfer x = { .addr = env.p_arena + 64 + off,
			  .handle = env.p_arena_h, .len = len, .nseg = nseg,
			  .gap = nseg > 1 ? 5 : 0, .seed = env.seed };

	return x;
}
