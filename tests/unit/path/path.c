// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * How many instructions a post and an empty poll take: counted one by one,
 * by stepping a child through the real library over the fake agent. No system
 * call may be among them.
 *
 * The child calls each operation between two marks; the parent steps from the
 * first to the second. Arguments are loaded and results dropped inside, so
 * the figure is what a caller pays, and a few instructions more.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../vipl/fake.h"

#define MEM	7u

static VIP_NIC_HANDLE nic;
static VIP_VI_HANDLE vi;
static VIP_CQ_HANDLE cq;
static VIP_DESCRIPTOR desc __attribute__((aligned(64)));
static VIP_DESCRIPTOR *out;
static VIP_VI_HANDLE cq_vi;
static VIP_BOOLEAN cq_recv;

__attribute__((noinline)) static void begin(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void end(void)
{
	__asm__ volatile("");
}

static void post_recv(void)
{
	begin();
	VipPostRecv(vi, &desc, MEM);
	end();
}

static void recv_done(void)
{
	begin();
	VipRecvDone(vi, &out);
	end();
}

static void send_done(void)
{
	begin();
	VipSendDone(vi, &out);
	end();
}

static void cq_done(void)
{
	begin();
	VipCQDone(cq, &cq_vi, &cq_recv);
	end();
}

static const struct {
	const char *name;
	void (*run)(void);
	int bar;
} ops[] = {
	{ "VipPostRecv", post_recv, 120 },
	{ "VipRecvDone, empty", recv_done, 60 },
	{ "VipSendDone, empty", send_done, 60 },
	{ "VipCQDone, empty", cq_done, 60 },
};

#define OPS	(sizeof(ops) / sizeof(ops[0]))

static void child(void)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, 4096, NULL,
				NULL, VIP_FALSE, VIP_FALSE };
	size_t i;

	desc.CS.SegCount = 2;
	if (VipOpenNic(FAKE_NODE, &nic) || VipCreateCQ(nic, 8, &cq) ||
	    VipCreateVi(nic, &a, NULL, cq, &vi))
		_exit(1);
	/* Once unseen, so that symbols are bound and pages present. */
	for (i = 0; i < OPS; i++)
		ops[i].run();
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (i = 0; i < OPS; i++)
		ops[i].run();
	_exit(0);
}

/* One step; returns 0 when the child has ended. */
static int step(pid_t pid)
{
	int status;

	ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
	return waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);
}

static int is_syscall(pid_t pid, unsigned long rip)
{
	long word = ptrace(PTRACE_PEEKTEXT, pid, (void *)rip, NULL);

	return (word & 0xffff) == 0x050f;
}

static unsigned long rip_of(pid_t pid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		exit(77);
	return regs.rip;
}

/* Instructions between begin() and end(), or -1 for a system call. */
static int count(pid_t pid)
{
	int n = 0, calls = 0;

	while (rip_of(pid) != (unsigned long)begin)
		if (!step(pid))
			return -2;
	while (rip_of(pid) != (unsigned long)end) {
		calls += is_syscall(pid, rip_of(pid));
		if (!step(pid))
			return -2;
		n++;
	}
	return calls ? -1 : n;
}

int main(void)
{
	int status, n, bad = 0;
	pid_t pid = fork();
	size_t i;

	if (!pid)
		child();
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status)) {
		printf("path: the child did not start\n");
		return 1;
	}
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL)) {
		printf("path: cannot trace: %s\n", strerror(errno));
		kill(pid, SIGKILL);
		return 77;
	}
	for (i = 0; i < OPS; i++) {
		n = count(pid);
		if (n == -2) {
			printf("path: the child ended early\n");
			return 1;
		}
		if (n == -1)
			printf("path: %s enters the kernel\n", ops[i].name);
		else
			printf("path: %-20s %3d instructions, at most %d\n",
			       ops[i].name, n, ops[i].bar);
		bad |= n < 0 || n > ops[i].bar;
	}
	kill(pid, SIGKILL);
	return bad;
}
