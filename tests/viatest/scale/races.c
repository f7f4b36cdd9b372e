// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every operation beside every teardown: a process with a connection, two
 * threads that do one thing again and again, and after a moment that is drawn
 * something is taken away from under them.  Whatever they get for an answer,
 * they get one, and the process ends.
 */
#include "scale.h"
#include "common/netdev.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RACERS		2u
#define MOMENT_US	3000u
#define SHORT_MS	2u
#define SPARE		(64u * 4096u)
#define ENDLESS_S	30u		/* the process hangs */
#define NOT_SET_UP	77		/* exit status */

static struct nic nic[2];
static struct end end[2];		/* connected; [1] has been asked */
static bool over;			/* atomic */

/* Operations */

static void op_send(uint32_t which)
{
	VIP_DESCRIPTOR *d;

	if (which)
		VipSendDone(end[0].vi, &d);
	else
		end_send(&end[0], 100);
}

static void op_send_wait(uint32_t which)
{
	VIP_DESCRIPTOR *d;

	end_send(&end[which], 4000);
	VipSendWait(end[which].vi, SHORT_MS, &d);
}

static void op_recv(uint32_t which)
{
	VIP_DESCRIPTOR *d;

	if (which)
		VipRecvDone(end[1].vi, &d);
	else
		end_repost(&end[1]);
}

static void op_recv_wait(uint32_t which)
{
	VIP_DESCRIPTOR *d;

	VipRecvWait(end[!which].vi, SHORT_MS, &d);
}

static void op_cq(uint32_t which)
{
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;

	if (which)
		VipCQWait(end[1].cq_h, SHORT_MS, &vi, &recv);
	else
		VipCQDone(end[1].cq_h, &vi, &recv);
}

static void op_notify(uint32_t which)
{
	VipRecvNotify(end[0].vi, NULL, nothing_done);
	if (which)
		end_send(&end[1], 8);
}

static void op_memory(uint32_t which)
{
	static uint8_t *spare[RACERS];
	VIP_MEM_HANDLE h;

	if (!spare[which])
		spare[which] = memory_try(SPARE);
	if (!VipRegisterMem(nic[which].h, spare[which], SPARE, NULL, &h))
		VipDeregisterMem(nic[which].h, spare[which], h);
}

static void op_ptag(uint32_t which)
{
	VIP_PROTECTION_HANDLE tag;

	if (!VipCreatePtag(nic[which].h, &tag))
		VipDestroyPtag(nic[which].h, tag);
}

static void op_vi(uint32_t which)
{
	VIP_VI_HANDLE vi;

	if (!vi_make(&nic[which], 4096, NULL, &vi))
		VipDestroyVi(vi);
}

static void op_attributes(uint32_t which)
{
	VIP_VI_ATTRIBUTES a;
	VIP_BOOLEAN s, r;
	VIP_VI_STATE st;

	if (!VipQueryVi(end[which].vi, &st, &a, &s, &r))
		VipSetViAttributes(end[which].vi, &a);
}

/* With a VI of its own, to a host that is not there, or as a server. */
static void op_connect(uint32_t which)
{
	union net_addr local, remote;
	VIP_VI_ATTRIBUTES theirs;
	struct conn_peer peer;
	VIP_VI_HANDLE vi;

	if (which) {
		conn_wait(&nic[1], DISC_NOBODY, SHORT_MS, &peer);
		return;
	}
	net_addr_local(&local, &nic[0], "", 0);
	net_addr_local(&remote, &nic[1], DISC_NOBODY "?",
		       strlen(DISC_NOBODY) + 1);
	if (vi_make(&nic[0], 4096, NULL, &vi))
		return;
	VipConnectRequest(vi, &local.a, &remote.a, SHORT_MS, &theirs);
	VipDestroyVi(vi);
}

static void op_peer(uint32_t which)
{
	union net_addr local, remote;
	VIP_VI_ATTRIBUTES a;
	VIP_VI_HANDLE vi;

	net_addr_local(&local, &nic[which], "peer", 4);
	net_addr_local(&remote, &nic[!which], "peer", 4);
	if (vi_make(&nic[which], 4096, NULL, &vi))
		return;
	if (!VipConnectPeerRequest(vi, &local.a, &remote.a, SHORT_MS))
		VipConnectPeerWait(vi, &a);
	VipDisconnect(vi);
	VipDestroyVi(vi);
}

static void op_resize(uint32_t which)
{
	VipResizeCQ(end[1].cq_h, which ? 300 : 40);
}

static void rdma(uint32_t which, VIP_UINT16 what)
{
	VIP_DESCRIPTOR *d = (VIP_DESCRIPTOR *)end[which].mem + END_RX;
	VIP_DESCRIPTOR *done;

	desc_data(d, end[which].mem + 16384, 6000, end[which].mem_h);
	desc_rdma(d, what, (uintptr_t)(end[!which].mem + 8192),
		  end[!which].mem_h);
	VipPostSend(end[which].vi, d, end[which].mem_h);
	VipSendWait(end[which].vi, SHORT_MS, &done);
}

static void op_write(uint32_t which)
{
	rdma(which, VIP_CONTROL_OP_RDMAWRITE);
}

static void op_read(uint32_t which)
{
	rdma(which, VIP_CONTROL_OP_RDMAREAD);
}

static void op_name(uint32_t which)
{
	union net_addr a;

	if (!VipNSInit(nic[which].h, NULL)) {
		a.a.HostAddressLen = NET_ADDR_HOST;
		VipNSGetHostByName(nic[which].h, (VIP_CHAR *)"nobody", &a.a, 0);
		VipNSShutdown(nic[which].h);
	}
}

static const struct {
	const char *name;
	void (*call)(uint32_t which);
} ops[] = {
	{ "send", op_send }, { "send and wait", op_send_wait },
	{ "receive", op_recv }, { "wait", op_recv_wait }, { "CQ", op_cq },
	{ "notify", op_notify }, { "memory", op_memory }, { "tag", op_ptag },
	{ "VI", op_vi }, { "attributes", op_attributes },
	{ "connect", op_connect }, { "peer", op_peer },
	{ "resize", op_resize }, { "write", op_write }, { "read", op_read },
	{ "names", op_name },
};

#define OPS	(sizeof(ops) / sizeof(ops[0]))

/* Teardowns, in the same process */

static void t_disconnect(void)
{
	VipDisconnect(end[0].vi);
}

static void t_disconnected(void)
{
	VipDisconnect(end[1].vi);
}

static void t_destroy(void)
{
	uint32_t i;

	for (i = 0; i < 2; i++) {
		VipDisconnect(end[i].vi);
		VipDestroyVi(end[i].vi);
	}
}

static void t_deregister(void)
{
	uint32_t i;

	for (i = 0; i < 2; i++)
		VipDeregisterMem(nic[i].h, end[i].mem, end[i].mem_h);
}

static void t_cq(void)
{
	t_destroy();
	VipDestroyCQ(end[1].cq_h);
}

static void t_close(void)
{
	VipCloseNic(nic[0].h);
}

static void t_close_both(void)
{
	VipCloseNic(nic[1].h);
	VipCloseNic(nic[0].h);
}

static void t_close_files(void)
{
	char path[64], to[64];
	ssize_t n;
	int fd;

	for (fd = 3; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof(to));
		if (n > 8 && !memcmp(to, "/dev/via", 8))
			close(fd);
	}
}

/* Every other mapping: some calls go on, others are a fault of the program's. */
static void t_unmap(void)
{
	unsigned long from, to, n = 0;
	char line[256];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "/dev/via") && n++ & 1 &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			munmap((void *)from, to - from);
}

static void t_kill(void)
{
	kill(getpid(), SIGKILL);
}

static void t_exec(void)
{
	execl("/bin/true", "true", NULL);
}

static void t_exit(void)
{
	_exit(0);
}

static void t_fork(void)
{
	if (!fork()) {
		/* It inherits files, and memory that is not its to use. */
		sleep_ms(2);
		_exit(0);
	}
	_exit(0);
}

static void t_down(void)
{
	netdev_up(netdev_of(args.device), false);
}

static void t_detach(void)
{
	if (netdev_attach(netdev_of(args.device), false))
		warn_msg("cannot detach %s", args.device);
}

static const struct {
	const char *name;
	void (*call)(void);
	int signal;		/* that may end the process */
	bool netdev;		/* an interface is needed, and mended */
} teardowns[] = {
	{ "disconnect", t_disconnect, 0, false },
	{ "being disconnected", t_disconnected, 0, false },
	{ "destroy VIs", t_destroy, 0, false },
	{ "deregister", t_deregister, 0, false },
	{ "destroy CQ", t_cq, 0, false },
	{ "close NIC", t_close, 0, false },
	{ "close both NICs", t_close_both, 0, false },
	{ "close(2)", t_close_files, 0, false },
	{ "munmap", t_unmap, SIGSEGV, false },
	{ "kill -9", t_kill, SIGKILL, false },
	{ "exec", t_exec, 0, false },
	{ "exit", t_exit, 0, false },
	{ "fork", t_fork, 0, false },
	{ "interface down", t_down, 0, true },
	{ "detach", t_detach, 0, true },
};

#define TEARDOWNS	(sizeof(teardowns) / sizeof(teardowns[0]))

struct racer {
	uint32_t op, which;
	pthread_t thread;
};

static void *race(void *arg)
{
	struct racer *r = arg;

	while (!load_acquire(&over))
		ops[r->op].call(r->which);
	return NULL;
}

static void set_up(void)
{
	char disc[32];

	snprintf(disc, sizeof(disc), DISC "-race-%d", getpid());
	if (nic_try(&nic[0], args.device) ||
	    nic_try(&nic[1], args.peer ?: args.device) ||
	    end_open(&end[0], &nic[0], false) ||
	    end_open(&end[1], &nic[1], true) ||
	    end_join(&end[0], &end[1], disc, 5000))
		_exit(NOT_SET_UP);
}

struct case_of {
	uint32_t op, teardown;
	uint64_t seed;
};

/* The process that has it taken away. */
static int one(void *arg)
{
	struct case_of *c = arg;
	struct racer r[RACERS];
	uint32_t i;

	/* It kills a process that hangs, which is told. */
	alarm(ENDLESS_S * (args.limit / 30000 ? args.limit / 30000 : 1));
	set_up();
	for (i = 0; i < RACERS; i++) {
		r[i] = (struct racer){ .op = c->op, .which = i };
		r[i].thread = thread_start(race, &r[i]);
	}
	sleep_ns(dice_roll(&c->seed) % MOMENT_US * 1000);
	teardowns[c->teardown].call();
	sleep_ns(dice_roll(&c->seed) % MOMENT_US * 200);
	store_release(&over, true);
	for (i = 0; i < RACERS; i++)
		pthread_join(r[i].thread, NULL);
	return 0;
}

static void mend(uint32_t teardown)
{
	if (teardowns[teardown].call == t_down)
		netdev_up(netdev_of(args.device), true);
	else if (teardowns[teardown].call == t_detach &&
		 netdev_attach(netdev_of(args.device), true))
		warn_msg("cannot attach %s", args.device);
}

struct count {
	uint32_t done, not_set_up, wrong;
};

static void tried(struct case_of *a, struct count *c)
{
	int status = child_wait(child_start(one, a));

	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_SET_UP) {
		c->not_set_up++;
	} else if ((WIFEXITED(status) && !WEXITSTATUS(status)) ||
		   (WIFSIGNALED(status) &&
		    WTERMSIG(status) == teardowns[a->teardown].signal)) {
		c->done++;
	} else {
		c->wrong++;
		warn_msg("%s beside %s: %s (status %#x)", ops[a->op].name,
			 teardowns[a->teardown].name,
			 WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "it hangs" : "it died",
			 status);
	}
	if (teardowns[a->teardown].netdev)
		mend(a->teardown);
}

int run_races(void)
{
	struct count c = { 0 };
	struct case_of a;
	uint32_t n;

	for (n = 0; n < args.count; n++)
		for (a.teardown = 0; a.teardown < TEARDOWNS; a.teardown++)
			for (a.op = 0; a.op < OPS; a.op++) {
				if (teardowns[a.teardown].netdev && !args.peer)
					continue;
				a.seed = dice_seed(args.seed, n << 16 |
						   a.teardown << 8 | a.op);
				tried(&a, &c);
			}
	printf("races %u not_set_up %u wrong %u\n", c.done, c.not_set_up,
	       c.wrong);
	if (!c.done)
		warn_msg("no two NICs were opened and connected");
	return c.wrong || c.not_set_up > c.done / 10;
}
