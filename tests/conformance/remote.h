/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tests' side: their environment, the peer, and pairs of VIs. */
#ifndef CONFORMANCE_REMOTE_H
#define CONFORMANCE_REMOTE_H

#include "ctl.h"
#include "harness.h"
#include "nic.h"

struct env {
	const char *device;
	const uint8_t *host;		/* NULL: the device's own address */
	unsigned int host_len;
	const char *disc;		/* of the control connection */
	VIP_RELIABILITY_LEVEL level;
	unsigned int scale;		/* of all time-outs */
	uint32_t seed;
	bool verbose;
	const char *inside;		/* NULL, or the peer's shared object */

	struct nic nic;
	struct ctl ctl;
	uint64_t p_arena;		/* the peer's arena */
	uint32_t p_arena_h;
	uint64_t p_arena_len;
};

extern struct env env;

/* How long to wait for what has to come, and for what must not come. */
#define LONG_MS		(5000u * env.scale)
#define SHORT_MS	(30u * env.scale)

static inline bool reliable(void)
{
	return env.level != VIP_SERVICE_UNRELIABLE;
}

/* Prepares a worker for a group. */
void env_start(const struct group *g, VIP_RELIABILITY_LEVEL level);
/* Cleans up after it, here and at the peer; false when that failed. */
bool env_finish(const struct group *g);

/* Sends the command, returns the answer; the group ends if none comes. */
struct ctl_msg peer_do(struct ctl_msg m);
/* Sends it to a peer that may be dead before that is acknowledged. */
void peer_order(uint32_t cmd);
/* Starts the command in a thread of the peer; peer_join() has its answer. */
void peer_spawn(struct ctl_msg m, unsigned int slot);
struct ctl_msg peer_join(unsigned int slot);

/* Common commands. */
unsigned int peer_vi(const VIP_VI_ATTRIBUTES *a, int32_t ptag);
VIP_RETURN peer_post(unsigned int vi, enum queue q, const struct xfer *x);
VIP_RETURN peer_post_many(unsigned int vi, enum queue q, const struct xfer *x,
			  unsigned int n);
struct ctl_msg peer_wait(unsigned int vi, enum queue q, unsigned int ms);
/* The same, and the buffers are checked: 1 for the content, 2 for guards. */
struct ctl_msg peer_wait_verify(unsigned int vi, enum queue q, unsigned int ms,
				unsigned int verify);
/* Posts a send or an RDMA Write, which is good. */
void peer_sends(unsigned int vi, const struct xfer *x);
VIP_VI_STATE peer_state(unsigned int vi);
/* How many it has heard of; waits for that many unless it is 0. */
unsigned int peer_errors(unsigned int vi, VIP_ERROR_CODE code,
			 unsigned int want);
/* Waits no longer than that. */
unsigned int peer_error_wait(unsigned int vi, VIP_ERROR_CODE code,
			     unsigned int want, unsigned int ms);
void peer_disconnect(unsigned int vi);
void peer_destroy(unsigned int vi);
/* Collects all that is left there, whatever its status. */
void peer_drain(unsigned int vi, enum queue q);
/* xfer_wrong_after_loss() of a buffer there. */
size_t peer_wrong_after_loss(const struct xfer *x, size_t len);
void peer_fill(uint64_t addr, size_t len, uint8_t value);
size_t peer_other(uint64_t addr, size_t len, uint8_t value);
void peer_put(uint64_t addr, size_t len, uint32_t seed);
size_t peer_wrong(uint64_t addr, size_t len, uint32_t seed);

struct peer_region {
	unsigned int obj;
	uint64_t addr;
	uint32_t handle;
};

struct peer_region peer_region(size_t len, int32_t ptag, bool rdma_write);
/* CTL_WRITE, CTL_READ */
struct peer_region peer_region_rights(size_t len, int32_t ptag,
				      unsigned int rights);

void peer_deregister(unsigned int obj);
/* Handles that name no region of the peer; returns the one of bad[1], gone. */
struct peer_region peer_bad_handles(uint32_t bad[4], unsigned int rights);

/* A fresh discriminator of this session. */
struct disc {
	uint8_t bytes[CTL_DISC_MAX];
	unsigned int len;
};

struct disc new_disc(void);
void to_peer(struct net_address *a, const struct disc *d);

/* One request, of a server that has to be there. */
VIP_RETURN request(VIP_VI_HANDLE vi, const struct disc *d, VIP_ULONG timeout);
/* Requests until a server waits; every other answer is the answer. */
VIP_RETURN connect_peer(VIP_VI_HANDLE vi, const struct disc *d,
			VIP_ULONG timeout, VIP_VI_ATTRIBUTES *theirs);
void peer_listen(unsigned int pvi, const struct disc *d, unsigned int slot);

/* The peer waits for a request, to be joined: answer.obj is P_ACCEPT's conn. */
void peer_cwait(const struct disc *d, unsigned int timeout_ms,
		unsigned int slot);
VIP_RETURN peer_accept(unsigned int conn, unsigned int pvi);
VIP_RETURN peer_reject(unsigned int conn);

/* connect_peer() in a thread, for tests that look at it from outside. */
struct asker {
	pthread_t thread;
	VIP_VI_HANDLE vi;
	struct disc d;
	VIP_ULONG timeout;
	VIP_ULONG seek_ms;		/* while no server waits there */
	VIP_RETURN rc;
	uint64_t took_ms;		/* the last request alone */
	VIP_VI_ATTRIBUTES theirs;
};

void ask_start(struct asker *k, VIP_VI_HANDLE vi, const struct disc *d,
	       VIP_ULONG timeout);
/* The same for a server that need not be there: NO_MATCH after that time. */
void ask_briefly(struct asker *k, VIP_VI_HANDLE vi, const struct disc *d,
		 VIP_ULONG timeout, VIP_ULONG seek_ms);
VIP_RETURN ask_join(struct asker *k);
/* Starts to ask and returns the peer's view: a request it has not answered.
 * Asks again with more time, k->timeout, where the time is over before then.
 */
struct ctl_msg ask_pending(struct asker *k, VIP_VI_HANDLE vi,
			   VIP_ULONG timeout);

VIP_VI_STATE vi_state(VIP_VI_HANDLE vi);
/* Waits until the VI has left the Connected state, and says for which. */
VIP_VI_STATE vi_state_wait(VIP_VI_HANDLE vi, VIP_VI_STATE wanted);
VIP_VI_STATE peer_state_wait(unsigned int vi, VIP_VI_STATE wanted);

/* It has the state soon; the error is reported that often soon. */
#define CHECK_STATE(vi, s)	CHECK_EQ(vi_state_wait(vi, s), s)
#define CHECK_PEER_STATE(vi, s)	CHECK_EQ(peer_state_wait(vi, s), s)
#define CHECK_ERRORS(vi, code, n) \
	CHECK_EQ(nic_error_wait(&env.nic, vi, code, n, LONG_MS, NULL), n)

/* A connection under test. */
struct pair {
	VIP_VI_HANDLE vi;		/* ours */
	unsigned int pvi;		/* the peer's */
	VIP_VI_ATTRIBUTES attr;
};

/* Options for pair_open; zero is the usual. */
struct pair_opt {
	VIP_CQ_HANDLE send_cq;
	VIP_CQ_HANDLE recv_cq;
	VIP_ULONG mtu;
	VIP_PROTECTION_HANDLE ptag;	/* ours; NULL: the arena's */
	int32_t peer_ptag;		/* 0: the arena's */
	bool null_ptag;
	bool peer_null_ptag;
	bool peer_no_rdma;
	bool read;		/* ours may be read */
	bool peer_read;		/* the peer's may be read */
};

/* fork(), for tests whose other threads have no call under way. */
pid_t child_fork(void);

/*
 * Runs it in a child, which has opened a NIC as env.nic and waits for ever
 * afterwards. The status it exited with, -1 if it ended otherwise.
 */
int child_exit(void (*run)(void));

void pair_create(struct pair *p, const struct pair_opt *o);
void pair_connect(struct pair *p);
void pair_open(struct pair *p, const struct pair_opt *o);
/* Both VIs are Idle again, flushed and drained. */
void pair_part(struct pair *p);
/* And connected again. */
void pair_reset(struct pair *p);
void pair_close(struct pair *p);
/* Posts on our side: nic_post(), which has to succeed. */
#define pair_post(p, q, x) vi_post((p)->vi, q, x)
#define vi_post(vi, q, x) vi_post_((vi), (q), (x), __FILE__, __LINE__)
VIP_DESCRIPTOR *vi_post_(VIP_VI_HANDLE vi, enum queue q, const struct xfer *x,
			 const char *file, int line);
/* Nothing came of a Done or a Wait, for that reason. */
#define CHECK_NONE(outcome, want) do { \
		struct done none_ = (outcome); \
		CHECK_RC(none_.rc, want); \
		CHECK(none_.d == NULL); \
	} while (0)
/* Collects all that is left, whatever its status. */
unsigned int drain(VIP_VI_HANDLE vi, enum queue q);

/* A buffer of the arena for one message; ours and the peer's. */
struct xfer our_buf(size_t off, uint32_t len, unsigned int nseg);
struct xfer peer_buf(size_t off, uint32_t len, unsigned int nseg);

/*
 * deliver() - one message from us to the peer, checked at both ends
 *
 * Posts rx at the peer and tx here. An unreliable level may lose it: then it
 * is sent again, and if it is long, given up at last (loss.h). Returns the
 * peer's answer.
 */
struct ctl_msg deliver(struct pair *p, const struct xfer *tx,
		       const struct xfer *rx);
/* The same from the peer to us; returns our receive. */
struct done deliver_back(struct pair *p, const struct xfer *tx,
			 const struct xfer *rx);
/*
 * A message of one frame from the peer, to a receive that is posted already;
 * sent again when an unreliable level loses it.
 */
struct done one_arrives(struct pair *p, const struct xfer *tx);
/* The pair still carries messages, in both directions. */
void check_alive(struct pair *p);

#endif
