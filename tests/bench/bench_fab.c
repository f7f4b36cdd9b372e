// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Instructions of a message of MPI, by stepping (step.h): what one end of a
 * ping-pong of 8 bytes executes in libfabric, as Open MPI's mtl ofi calls it:
 * fi_trecv, fi_tinject and fi_cq_read on an endpoint of via;ofi_rxm.
 *
 *	bench_fab	on the VI NIC of FI_VIA_DEVICES, which reaches this host
 *
 * A fi_cq_read that finds no entry is not counted. Both ends are on one thread,
 * so there are next to none of those, which is printed.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "common/chan.h"
#include "common/msg.h"
#include "emit.h"
#include "step.h"

#define ROUNDS	64	/* news of receives go once in as many */
#define FIRST	8
#define SIZE	8u
#define TAG	7u

/* An end's round. */
enum op { TRECV, TINJECT, CQ_READ, OPS };
static const char *const names[OPS] = { "fi_trecv", "fi_tinject", "fi_cq_read" };

enum part { PROVIDER, LIBRARY, PLUGIN, LIBFABRIC, OTHERS, OWN = -1 };

struct side {
	struct fid_fabric	*fabric;
	struct fid_domain	*domain;
	struct fid_av		*av;
	struct fid_cq		*cq;
	struct fid_ep		*ep;
	fi_addr_t		peer;
	struct fi_context	context;
	char			buf[64];
};

static struct side sides[2];

static void must(long rc, const char *what)
{
	if (rc)
		die("%s: %s", what, fi_strerror((int)-rc));
}

static struct fi_info *query(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	if (!hints)
		die("no memory");
	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup("via;ofi_rxm");
	must(fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &info),
	     "fi_getinfo: via;ofi_rxm");
	fi_freeinfo(hints);
	return info;
}

static void open_side(struct side *s, struct fi_info *info)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { .type = FI_AV_TABLE };

	must(fi_fabric(info->fabric_attr, &s->fabric, NULL), "fi_fabric");
	must(fi_domain(s->fabric, info, &s->domain, NULL), "fi_domain");
	must(fi_av_open(s->domain, &av, &s->av, NULL), "fi_av_open");
	must(fi_cq_open(s->domain, &cq, &s->cq, NULL), "fi_cq_open");
	must(fi_endpoint(s->domain, info, &s->ep, NULL), "fi_endpoint");
	must(fi_ep_bind(s->ep, &s->av->fid, 0), "fi_ep_bind");
	must(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV),
	     "fi_ep_bind");
	must(fi_enable(s->ep), "fi_enable");
}

static void meet(struct side *s, const struct side *other)
{
	char name[64];
	size_t len = sizeof(name);

	must(fi_getname(&other->ep->fid, name, &len), "fi_getname");
	if (fi_av_insert(s->av, name, 1, &s->peer, 0, NULL) != 1)
		die("fi_av_insert");
}

static void post(struct side *s)
{
	long rc;

	step_begin(TRECV);
	rc = fi_trecv(s->ep, s->buf, SIZE, NULL, s->peer, TAG, 0, &s->context);
	step_end(0);
	must(rc, "fi_trecv");
}

static long look(struct side *s)
{
	struct fi_cq_tagged_entry e;
	long rc;

	step_begin(CQ_READ);
	rc = fi_cq_read(s->cq, &e, 1);
	step_end(rc != 1);
	if (rc != 1 && rc != -FI_EAGAIN)
		must(rc, "fi_cq_read");
	return rc;
}

static void ping(struct side *s)
{
	long rc;

	for (;;) {
		step_begin(TINJECT);
		rc = fi_tinject(s->ep, s->buf, SIZE, s->peer, TAG);
		step_end(rc != 0);
		if (rc != -FI_EAGAIN)
			break;
		/* A connection is made by both. */
		look(&sides[0]);
		look(&sides[1]);
	}
	must(rc, "fi_tinject");
}

static void pong(struct side *s)
{
	while (look(s) != 1)
		;
}

static void play(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		post(&sides[1]);
		ping(&sides[0]);
		pong(&sides[1]);
		post(&sides[0]);
		ping(&sides[1]);
		pong(&sides[0]);
	}
}

static void child(const struct step *s, void *arg)
{
	struct fi_info *info = query();

	(void)arg;
	open_side(&sides[0], info);
	open_side(&sides[1], info);
	meet(&sides[0], &sides[1]);
	meet(&sides[1], &sides[0]);
	/* Once unseen: connections, symbols, pages. */
	play(1000);
	step_ready();
	play(FIRST + ROUNDS);
	step_over(s);
}

static int part(const char *path)
{
	const char *name = strrchr(path, '/');

	return !name ? OTHERS :
	       !strncmp(name, "/libvia-fi.so", 13) ? PROVIDER :
	       !strncmp(name, "/libvipl.so", 11) ? LIBRARY :
	       !strncmp(name, "/libfabric.so", 13) ? LIBFABRIC :
	       !strncmp(name, "/bench_fab", 10) ? OWN :
	       strstr(path, "/providers/") || strstr(path, "/lib/vipl/") ?
			PLUGIN : OTHERS;
}

static void tell(const struct step *s)
{
	const double n = 2 * ROUNDS;
	double sum[STEP_PARTS] = { 0 };

	for (int op = 0; op < OPS; op++) {
		const uint64_t *c = s->counts[op];

		if (s->calls[op] < 2 * (FIRST + ROUNDS))
			die("%s: %u calls seen", names[op], s->calls[op]);
		printf("# %-10s %u calls: libvia-fi %.1f, libvipl %.1f, plug-in %.1f, libfabric %.1f, others %.1f\n",
		       names[op], s->calls[op], (double)c[PROVIDER] / n,
		       (double)c[LIBRARY] / n, (double)c[PLUGIN] / n,
		       (double)c[LIBFABRIC] / n, (double)c[OTHERS] / n);
		for (int i = 0; i < STEP_PARTS; i++)
			sum[i] += (double)c[i] / n;
	}
	printf("# %u idle polls\n", s->idle);
	emit("insns", "mpi: libvia-fi", "-", "poll", SIZE, "instructions",
	     sum[PROVIDER]);
	emit("insns", "mpi: libvipl and plug-in", "-", "poll", SIZE,
	     "instructions", sum[LIBRARY] + sum[PLUGIN]);
	emit("insns", "mpi: libfabric", "-", "poll", SIZE, "instructions",
	     sum[LIBFABRIC]);
	emit("insns", "mpi: an end", "-", "poll", SIZE, "instructions",
	     sum[PROVIDER] + sum[LIBRARY] + sum[PLUGIN] + sum[LIBFABRIC] +
	     sum[OTHERS]);
}

int main(void)
{
	struct step s = { .ops = OPS, .first = 2 * FIRST, .part = part };
	int status = step_run(&s, child, NULL);

	if (!status)
		tell(&s);
	return status;
}
