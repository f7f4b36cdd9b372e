// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Events of a provider that has no source of its own: VIs and CQs come and go
 * while it tells of them, and the NIC goes in the midst of it. The provider is
 * tests/unit/providers/toy.c.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <vipl.h>
#include <vipl_ext.h>

#define CHURNERS	3
#define SENDS		8
#define HANDLERS	4
#define ROUND_US	500000
#define ROUNDS		4

static VIP_NIC_HANDLE nic;
static _Atomic(VIP_VI_HANDLE) newest;
static _Atomic int stop;
static _Atomic long handled, told, lost;

static void on_send(VIP_PVOID ctx, VIP_NIC_HANDLE n, VIP_VI_HANDLE vi,
		    VIP_DESCRIPTOR *desc)
{
	(void)ctx;
	(void)n;
	(void)vi;
	(void)desc;
	handled++;
}

static void on_cq(VIP_PVOID ctx, VIP_NIC_HANDLE n, VIP_VI_HANDLE vi,
		  VIP_BOOLEAN recv)
{
	(void)ctx;
	(void)n;
	(void)vi;
	(void)recv;
	handled++;
}

static void on_error(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	(void)ctx;
	(void)e;
	lost++;
}

/* Once armed it must become readable, whatever the handlers take. */
static void await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, 20000) != 1) {
		printf("churn: an event of a CQ is lost\n");
		exit(1);
	}
	told++;
}

static void use(VIP_VI_HANDLE vi, VIP_CQ_HANDLE cq, VIP_DESCRIPTOR *desc,
		int by_file)
{
	int i, fd;

	by_file = by_file && VipExtCQGetFd(cq, &fd) == VIP_SUCCESS &&
		  VipExtCQArm(cq) == VIP_SUCCESS;
	for (i = 0; i < HANDLERS; i++) {
		VipSendNotify(vi, NULL, on_send);
		VipCQNotify(cq, NULL, on_cq);
	}
	for (i = 0; i < SENDS; i++)
		by_file &= VipPostSend(vi, &desc[i], 0) == VIP_SUCCESS;
	VipPostRecv(vi, &desc[0], 0);
	if (by_file && !stop)
		await(fd);
}

static void *churn(void *arg)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_UNRELIABLE, 1000, NULL, NULL,
				VIP_FALSE, VIP_FALSE };
	VIP_DESCRIPTOR desc[SENDS];
	int by_file = arg != NULL;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;

	while (!stop) {
		if (VipCreateCQ(nic, SENDS, &cq) != VIP_SUCCESS)
			continue;
		if (VipCreateVi(nic, &a, cq, NULL, &vi) == VIP_SUCCESS) {
			newest = vi;
			use(vi, cq, desc, by_file);
			VipDestroyVi(vi);
		}
		VipDestroyCQ(cq);
	}
	return NULL;
}

/* What another thread may be destroying. */
static void *poke(void *arg)
{
	VIP_DESCRIPTOR desc, *out;

	(void)arg;
	while (!stop) {
		VipPostRecv(newest, &desc, 0);
		VipSendNotify(newest, NULL, on_send);
		VipSendDone(newest, &out);
	}
	return NULL;
}

static void run_round(int close_first)
{
	pthread_t t[CHURNERS + 1];
	long i;

	stop = 0;
	if (VipOpenNic("toy:", &nic) != VIP_SUCCESS ||
	    VipErrorCallback(nic, NULL, on_error) != VIP_SUCCESS)
		exit(1);
	for (i = 0; i < CHURNERS; i++)
		/* A file that is closed under a poll() tells nothing. */
		pthread_create(&t[i], NULL, churn,
			       i && !close_first ? &nic : NULL);
	pthread_create(&t[i], NULL, poke, NULL);
	usleep(ROUND_US);
	stop = 1;
	if (close_first)
		VipCloseNic(nic);
	for (i = 0; i <= CHURNERS; i++)
		pthread_join(t[i], NULL);
	if (!close_first)
		VipCloseNic(nic);
}

int main(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		run_round(i & 1);
	printf("churn: %ld handlers, %ld files, %ld errors\n", handled, told,
	       lost);
	return !handled || !told || !lost;
}
