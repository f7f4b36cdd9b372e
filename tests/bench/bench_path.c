// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Instructions of a message, by stepping: what one end of a ping-pong of
 * 4 bytes executes for the message that it sends and the one that it receives,
 * in libvipl, in the plug-in and in what they call, one by one.
 *
 *	bench_path DEVICE	a device of one host, such as shm:0
 *
 * One process has both ends, on two NIC handles, and one thread plays them in
 * turn (step.h); a poll in vain is counted as idle and nowhere else. The mean
 * of 256 rounds: what is done once in so many polls has its part in it.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/chan.h"
#include "common/msg.h"
#include "emit.h"
#include "step.h"

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
enum part { LIBRARY, PLUGIN, OTHERS, OWN = -1 };

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

	step_begin(POST_SEND);
	rc = VipPostSend(s->vi, s->send, s->mem.handle);
	step_end(0);
	must(rc, "VipPostSend");
	do {
		step_begin(SEND_DONE);
		rc = VipSendDone(s->vi, &d);
		step_end(rc != VIP_SUCCESS);
	} while (rc == VIP_NOT_DONE);
	must(rc, "VipSendDone");
}

static void pong(struct side *s)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	do {
		step_begin(RECV_DONE);
		rc = VipRecvDone(s->vi, &d);
		step_end(rc != VIP_SUCCESS);
	} while (rc == VIP_NOT_DONE);
	must(rc, "VipRecvDone");
	if (d->CS.Length != SIZE)
		die("a message of %u bytes", d->CS.Length);
	step_begin(POST_RECV);
	rc = VipPostRecv(s->vi, s->recv, s->mem.handle);
	step_end(0);
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

static void child(const struct step *s, void *arg)
{
	const char *device = arg;

	open_side(&sides[0], device);
	open_side(&sides[1], device);
	connect_sides();
	/* Once unseen, so that symbols are bound and pages present. */
	play(1000);
	step_ready();
	play(FIRST + ROUNDS);
	step_over(s);
}

static int part(const char *path)
{
	const char *name = strrchr(path, '/');

	return !name ? OTHERS :
	       !strncmp(name, "/libvipl.so", 11) ? LIBRARY :
	       !strncmp(name, "/bench_path", 11) ? OWN :
	       strstr(path, "/providers/") || strstr(path, "/lib/vipl/") ?
			PLUGIN : OTHERS;
}

static void tell(const struct step *s)
{
	const double n = 2 * ROUNDS;
	double sum = 0, all;

	for (int op = 0; op < OPS; op++) {
		const uint64_t *c = s->counts[op];

		if (s->calls[op] != 2 * (FIRST + ROUNDS))
			die("%s: %u calls seen", names[op], s->calls[op]);
		all = (double)(c[LIBRARY] + c[PLUGIN] + c[OTHERS]) / n;
		sum += all;
		printf("# %-11s %6.1f: libvipl %.1f, plug-in %.1f, others %.1f\n",
		       names[op], all, (double)c[LIBRARY] / n,
		       (double)c[PLUGIN] / n, (double)c[OTHERS] / n);
		emit("insns", names[op], "rd", "poll", SIZE, "instructions",
		     all);
	}
	printf("# %u idle polls\n", s->idle);
	emit("insns", "end", "rd", "poll", SIZE, "instructions", sum);
}

int main(int argc, char **argv)
{
	struct step s = { .ops = OPS, .first = 2 * FIRST, .part = part };
	int status;

	if (argc != 2)
		die("usage: bench_path DEVICE");
	status = step_run(&s, child, argv[1]);
	if (!status)
		tell(&s);
	return status;
}
