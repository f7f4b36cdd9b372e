// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* fork(), exec() and the death of processes: sections 5, 10, C19. */
#include "loss.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child may not do with its parent's handles; returns the failures. */
static unsigned int touch_all(struct pair *p)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_PROTECTION_HANDLE ptag;
	VIP_DESCRIPTOR *d = nic_slot(&env.nic);
	VIP_NIC_ATTRIBUTES na;
	VIP_BOOLEAN se, re;
	VIP_VI_STATE state;
	VIP_MEM_HANDLE h;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	unsigned int bad = 0;

	bad += VipQueryNic(env.nic.h, &na) != VIP_INVALID_PARAMETER;
	bad += VipCreatePtag(env.nic.h, &ptag) != VIP_INVALID_PARAMETER;
	bad += VipCreateCQ(env.nic.h, 4, &cq) != VIP_INVALID_PARAMETER;
	bad += VipCreateVi(env.nic.h, &a, NULL, NULL, &vi) !=
	       VIP_INVALID_PARAMETER;
	bad += VipRegisterMem(env.nic.h, d, 64, NULL, &h) !=
	       VIP_INVALID_PARAMETER;
	bad += VipPostSend(p->vi, d, env.nic.slots_h) != VIP_INVALID_PARAMETER;
	bad += VipPostRecv(p->vi, d, env.nic.slots_h) != VIP_INVALID_PARAMETER;
	bad += VipRecvDone(p->vi, &d) != VIP_INVALID_PARAMETER;
	bad += VipRecvWait(p->vi, 0, &d) != VIP_INVALID_PARAMETER;
	bad += VipQueryVi(p->vi, &state, &a, &se, &re) !=
	       VIP_INVALID_PARAMETER;
	bad += VipDisconnect(p->vi) != VIP_INVALID_PARAMETER;
	bad += VipDestroyVi(p->vi) != VIP_INVALID_PARAMETER;
	bad += VipCloseNic(env.nic.h) != VIP_INVALID_PARAMETER;
	return bad;
}

static int reap(pid_t pid)
{
	int status = -1;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

static void forked(void)
{
	struct pair p;
	pid_t pid;

	pair_open(&p, NULL);
	check_alive(&p);
	about("the child's calls that were refused");
	pid = child_fork();
	if (pid == 0)
		_exit(touch_all(&p));
	CHECK_EQ(reap(pid), 0);
	about("the parent after the child's exit");
	check_alive(&p);
	pid = child_fork();
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(99);
	}
	CHECK_EQ(reap(pid), 0);
	about("the parent after the child's exec");
	check_alive(&p);
	CHECK_EQ(nic_errors(&env.nic, NULL, VIP_ERROR_CONN_LOST), 0);
	pair_close(&p);
}

/* While a child lives, both write the same pages: copies must not part us. */
static void copy_on_write(void)
{
	struct xfer rx = our_buf(0, 9000, 2), tx = peer_buf(0, 9000, 1);
	struct tries t = { 0 };
	struct done r;
	struct pair p;
	int fds[2];
	pid_t pid;
	char c;

	REQUIRE(!pipe(fds));
	pair_open(&p, NULL);
	pair_post(&p, RECVQ, &rx);
	pid = child_fork();
	if (pid == 0) {
		memset(env.nic.arena, 0xee, 16384);
		memset(env.nic.slots, 0xee, 16384);
		close(fds[1]);
		/* Stays until the parent has finished. */
		_exit(read(fds[0], &c, 1) != 0);
	}
	close(fds[0]);
	CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
	do {
		r = wait_done(p.vi, RECVQ, patience());
	} while (r.rc == VIP_TIMEOUT && peer_once_more(&t, &p, &tx));
	CHECK_RC(r.rc, VIP_SUCCESS);
	CHECK_EQ(r.length, 9000);
	CHECK_EQ(xfer_wrong(&rx, 9000), 0);
	CHECK_RC(peer_wait(p.pvi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
	check_alive(&p);
	close(fds[1]);
	CHECK_EQ(reap(pid), 0);
	pair_close(&p);
}

/* The child opens a NIC of its own and does as it likes. */
static void child_opens(void)
{
	VIP_VI_ATTRIBUTES a = { env.level, 4096, NULL, NULL, 0, 0 };
	VIP_NIC_HANDLE nic;
	VIP_VI_HANDLE vi;
	struct pair p;
	pid_t pid;

	pair_open(&p, NULL);
	pid = child_fork();
	if (pid == 0) {
		if (VipOpenNic(env.device, &nic) != VIP_SUCCESS)
			_exit(1);
		if (VipCreateVi(nic, &a, NULL, NULL, &vi) != VIP_SUCCESS)
			_exit(2);
		if (VipDestroyVi(vi) != VIP_SUCCESS)
			_exit(3);
		_exit(VipCloseNic(nic) != VIP_SUCCESS ? 4 : 0);
	}
	CHECK_EQ(reap(pid), 0);
	check_alive(&p);
	pair_close(&p);
}

static void peer_gone(uint32_t cmd)
{
	struct xfer rx = our_buf(0, 100, 1);
	VIP_DESCRIPTOR *d[2];
	struct done r;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 2; i++)
		d[i] = pair_post(&p, RECVQ, &rx);
	peer_order(cmd);
	for (i = 0; i < 2; i++) {
		r = wait_done(p.vi, RECVQ, 3 * LONG_MS);
		CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
		CHECK(r.d == d[i]);
		CHECK(r.status & VIP_STATUS_DESC_FLUSHED_ERROR);
	}
	CHECK_ERRORS(p.vi, VIP_ERROR_CONN_LOST, 1);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_ERROR);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(p.vi), VIP_SUCCESS);
}

static void killed(void)
{
	peer_gone(P_DIE);
}

static void exited(void)
{
	peer_gone(P_EXIT);
}

/* The server dies with our request in its hands. */
static void killed_pending(void)
{
	struct asker k;
	struct pair p;
	VIP_RETURN rc;

	pair_create(&p, NULL);
	ask_pending(&k, p.vi, 10 * SHORT_MS);
	peer_order(P_DIE);
	rc = ask_join(&k);
	CHECK(rc == VIP_TIMEOUT || rc == VIP_REJECT || rc == VIP_NO_MATCH ||
	      rc == VIP_NOT_REACHABLE);
	CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
	CHECK_RC(VipDestroyVi(p.vi), VIP_SUCCESS);
}

/* Killed while it sends to us as fast as it can. */
static void killed_busy(void)
{
	struct xfer tx = peer_buf(0, 60000, 3), rx;
	struct done r;
	struct pair p;
	unsigned int i, whole = 0, partly = 0, flushed = 0;

	pair_open(&p, NULL);
	for (i = 0; i < 8; i++) {
		rx = our_buf(i * 70000, 60000, 1);
		pair_post(&p, RECVQ, &rx);
	}
	peer_spawn((struct ctl_msg){ .cmd = P_POST, .vi = p.pvi,
				     .queue = SENDQ, .x = tx, .count = 6 }, 0);
	peer_order(P_DIE);
	for (i = 0; i < 8; i++) {
		r = wait_done(p.vi, RECVQ, 3 * LONG_MS);
		if (!CHECK(r.d != NULL))
			break;
		if (lost(r.rc, r.status)) {
			partly++;
			continue;
		}
		if (r.rc != VIP_SUCCESS) {
			flushed++;
			continue;
		}
		/* What came, came whole, and before all that did not. */
		CHECK_EQ(flushed, 0);
		CHECK_EQ(r.length, 60000);
		CHECK_EQ(xfer_wrong(nic_posted(&env.nic, r.d), 60000), 0);
		whole++;
	}
	CHECK_EQ(whole + partly + flushed, 8);
	CHECK(flushed >= 2);
	CHECK_ERRORS(p.vi, VIP_ERROR_CONN_LOST, 1);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyVi(p.vi), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "process.fork", "10 a forked child inherits nothing usable", forked,
	  G_PEER | G_OWN | G_LEVELS, 0 },
	{ "process.copy_on_write", "10 fork, transfers undisturbed",
	  copy_on_write, G_PEER | G_OWN | G_LEVELS, 0 },
	{ "process.child_opens", "10, C18 a child's own NIC", child_opens,
	  G_PEER | G_OWN | G_SUNNY, 0 },
	{ "process.killed", "C19 kill -9", killed,
	  G_PEER | G_OWN | G_LEVELS, 0 },
	{ "process.exited", "C19 exit", exited,
	  G_PEER | G_OWN | G_LEVELS, 0 },
	{ "process.killed_pending", "5 Pending, C19", killed_pending,
	  G_PEER | G_OWN, 0 },
	{ "process.killed_busy", "C19 in the middle of transfers", killed_busy,
	  G_PEER | G_OWN | G_LEVELS, 0 },
};

NOUN(process, groups);
