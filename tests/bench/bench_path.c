// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Instructions of a message, by stepping: what one end of a ping-pong of
 * 4 bytes executes for the message that it sends and the one that it receives,
 * in libvipl, in the plug-in and in what they call, one by one.
 *
 *	bench_path DEVICE	a device of one host, such as shm:0
 *
 * One process has both ends, on two NIC handles, and one thread plays them in
 * turn, so that a poll finds what it looks for; one that does not is counted
 * as idle and nowhere else. The parent steps that thread from mark to mark and
 * stops all others: the progress threads would take packets instead of the
 * polls. Instructions of this program itself, which load arguments, are left
 * out. The mean of 256 rounds: what is done once in so many polls has its part
 * in it.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/chan.h"
#include "common/msg.h"
#include "emit.h"

#define ROUNDS	256
#define FIRST	16		/* not counted: progress threads are let go */
#define SIZE	4u		/* bytes of a message */
#define PORT	"path"

/* What is counted, in the order of an end's round. */
enum op { POST_SEND, SEND_DONE, RECV_DONE, POST_RECV, OPS };

static const char *const names[OPS] = {
	"VipPostSend", "VipSendDone", "VipRecvDone", "VipPostRecv",
};

/* Where an instruction is. */
enum part { LIBRARY, PLUGIN, OTHERS, OWN, PARTS };

/* Between begin() and end() the parent counts; idle is for a poll in vain. */
__attribute__((noinline)) static void begin(enum op op)
{
	__asm__ volatile("" : : "r" (op));
}

__attribute__((noinline)) static void end(int idle)
{
	__asm__ volatile("" : : "r" (idle));
}

/* One end. */
struct side {
	struct nic nic;
	VIP_VI_HANDLE vi;
	struct region mem;
	VIP_DESCRIPTOR *send, *recv;
};

static struct side sides[2];

static void describe(const struct side *s, VIP_DESCRIPTOR *d, uint32_t at)
{
	memset(d, 0, sizeof(*d));
	d->CS.SegCount = 1;
	d->CS.Length = SIZE;
	d->DS[0].Local.Data.Address = s->mem.p + at;
	d->DS[0].Local.Handle = s->mem.handle;
	d->DS[0].Local.Length = SIZE;
}

static void must(VIP_RETURN rc, const char *what)
{
	if (rc != VIP_SUCCESS)
		die("%s: %s", what, vip_str(rc));
}

static void open_side(struct side *s, const char *device)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = 4096,
	};

	nic_open(&s->nic, device);
	must(VipCreateVi(s->nic.h, &a, NULL, NULL, &s->vi), "VipCreateVi");
	region_alloc(&s->nic, &s->mem, 4096, true);
	s->send = (VIP_DESCRIPTOR *)s->mem.p;
	s->recv = s->send + 1;
	describe(s, s->send, 1024);
	describe(s, s->recv, 2048);
	must(VipPostRecv(s->vi, s->recv, s->mem.handle), "VipPostRecv");
}

/* Room for a host address and a discriminator. */
union address {
	VIP_NET_ADDRESS a;
	char room[4 + 32 + 64];
};

static void here(const struct side *s, union address *to)
{
	char *bytes = to->room + 4;

	memset(to, 0, sizeof(*to));
	to->a.HostAddressLen = s->nic.attr.NicAddressLen;
	to->a.DiscriminatorLen = sizeof(PORT) - 1;
	memcpy(bytes, s->nic.attr.LocalNicAddress, to->a.HostAddressLen);
	memcpy(bytes + to->a.HostAddressLen, PORT, sizeof(PORT) - 1);
}

static void *serve(void *arg)
{
	struct side *s = arg;
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE conn;

	here(s, &local);
	must(VipConnectWait(s->nic.h, &local.a, 10000, &remote.a, &theirs,
			    &conn), "VipConnectWait");
	must(VipConnectAccept(conn, s->vi), "VipConnectAccept");
	return NULL;
}

static void connect_sides(void)
{
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	pthread_t server;
	VIP_RETURN rc;

	if (pthread_create(&server, NULL, serve, &sides[1]))
		die("cannot start a thread");
	here(&sides[0], &local);
	here(&sides[0], &remote);
	do {
		rc = VipConnectRequest(sides[0].vi, &local.a, &remote.a, 10000,
				       &theirs);
	} while (rc == VIP_NO_MATCH);
	must(rc, "VipConnectRequest");
	pthread_join(server, NULL);
}

static void ping(struct side *s)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	begin(POST_SEND);
	rc = VipPostSend(s->vi, s->send, s->mem.handle);
	end(0);
	must(rc, "VipPostSend");
	do {
		begin(SEND_DONE);
		rc = VipSendDone(s->vi, &d);
		end(rc != VIP_SUCCESS);
	} while (rc == VIP_NOT_DONE);
	must(rc, "VipSendDone");
}

static void pong(struct side *s)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	do {
		begin(RECV_DONE);
		rc = VipRecvDone(s->vi, &d);
		end(rc != VIP_SUCCESS);
	} while (rc == VIP_NOT_DONE);
	must(rc, "VipRecvDone");
	if (d->CS.Length != SIZE)
		die("a message of %u bytes", d->CS.Length);
	begin(POST_RECV);
	rc = VipPostRecv(s->vi, s->recv, s->mem.handle);
	end(0);
	must(rc, "VipPostRecv");
}

static void play(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		ping(&sides[0]);
		pong(&sides[1]);
		ping(&sides[1]);
		pong(&sides[0]);
	}
}

static void child(const char *device)
{
	open_side(&sides[0], device);
	open_side(&sides[1], device);
	connect_sides();
	/* Once unseen, so that symbols are bound and pages present. */
	play(1000);
	/* Meanwhile the progress threads go to sleep, without a lock. */
	usleep(50000);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	raise(SIGSTOP);
	play(FIRST + ROUNDS);
	begin(OPS);
}

/* The text of each object, as the child has it mapped. */
static struct {
	unsigned long from, to;
	enum part part;
} texts[64];
static unsigned int ntexts;

static void read_maps(pid_t pid)
{
	char path[64], line[512], perms[8], *name;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	if (!f)
		die("%s: %s", path, strerror(errno));
	while (ntexts < 64 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &texts[ntexts].from,
			   &texts[ntexts].to, perms) != 3 || perms[2] != 'x')
			continue;
		name = strrchr(line, '/');
		texts[ntexts++].part = !name ? OTHERS :
			!strncmp(name, "/libvipl.so", 11) ? LIBRARY :
			!strncmp(name, "/bench_path", 11) ? OWN :
			strstr(line, "/providers/") ||
			strstr(line, "/lib/vipl/") ? PLUGIN : OTHERS;
	}
	fclose(f);
}

static enum part part_of(unsigned long rip)
{
	for (unsigned int i = 0; i < ntexts; i++)
		if (rip >= texts[i].from && rip < texts[i].to)
			return texts[i].part;
	return OTHERS;
}

/* Every thread but the first one, which is stopped already. */
static void stop_others(pid_t pid)
{
	char path[64];
	struct dirent *e;
	pid_t tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		die("%s: %s", path, strerror(errno));
	while ((e = readdir(dir))) {
		tid = (pid_t)atoi(e->d_name);
		if (tid <= 0 || tid == pid)
			continue;
		if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_EXITKILL) ||
		    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
		    waitpid(tid, NULL, __WALL) != tid)
			die("a thread cannot be stopped: %s", strerror(errno));
	}
	closedir(dir);
}

static struct user_regs_struct regs;

/* One instruction; 0 when the child has ended. */
static int step(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ||
	    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return 0;
	return !ptrace(PTRACE_GETREGS, pid, NULL, &regs);
}

static uint64_t counts[OPS][PARTS];
static unsigned int calls[OPS], idle;

static void count(pid_t pid)
{
	uint64_t n[PARTS];
	unsigned int op;

	while (step(pid)) {
		if (regs.rip != (unsigned long)begin)
			continue;
		op = (unsigned int)regs.rdi;
		if (op >= OPS)
			return;
		memset(n, 0, sizeof(n));
		while (step(pid) && regs.rip != (unsigned long)end)
			n[part_of(regs.rip)]++;
		if (regs.rdi)
			idle++;
		else if (++calls[op] > 2 * FIRST)
			for (int i = 0; i < PARTS; i++)
				counts[op][i] += n[i];
	}
}

static void tell(void)
{
	const double n = 2 * ROUNDS;
	double sum = 0, all;

	for (int op = 0; op < OPS; op++) {
		const uint64_t *c = counts[op];

		if (calls[op] != 2 * (FIRST + ROUNDS))
			die("%s: %u calls seen", names[op], calls[op]);
		all = (double)(c[LIBRARY] + c[PLUGIN] + c[OTHERS]) / n;
		sum += all;
		printf("# %-11s %6.1f: libvipl %.1f, plug-in %.1f, others %.1f\n",
		       names[op], all, (double)c[LIBRARY] / n,
		       (double)c[PLUGIN] / n, (double)c[OTHERS] / n);
		emit("insns", names[op], "rd", "poll", SIZE, "instructions",
		     all);
	}
	printf("# %u idle polls\n", idle);
	emit("insns", "end", "rd", "poll", SIZE, "instructions", sum);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc != 2)
		die("usage: bench_path DEVICE");
	pid = fork();
	if (!pid)
		child(argv[1]);
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status)) {
		printf("cannot be traced\n");
		return WIFEXITED(status) && WEXITSTATUS(status) != 77 ? 1 : 77;
	}
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL)) {
		printf("cannot be traced: %s\n", strerror(errno));
		kill(pid, SIGKILL);
		return 77;
	}
	stop_others(pid);
	read_maps(pid);
	/* Should a thread hold a lock nevertheless. */
	alarm(120);
	count(pid);
	kill(pid, SIGKILL);
	tell();
	return 0;
}
