// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * "Calls into the device" in kernel/via_ka.h is what a driver may rely on: but
 * for the operations that it names, each is called in an SRCU read side of the
 * NIC, so that none is under way when the device's memory goes.
 */
#include "../../kernel/via_conn.h"
#include "engine.h"
#include "watch.h"

static struct via_device_ops real;

static void check(const struct via_nic *nic, const char *what)
{
	if (sim_self->srcu != &nic->srcu)
		sim_fail("%s() of a device outside of a read side of its NIC",
			 what);
}

static int vi_create(struct via_vi *vi)
{
	check(vi->nic, __func__);
	return real.vi_create(vi);
}

static enum via_verdict connect(struct via_vi *vi)
{
	check(vi->nic, __func__);
	return real.connect(vi);
}

static enum via_verdict accept(struct via_conn *conn, struct via_vi *vi)
{
	check(conn->nic, __func__);
	return real.accept(conn, vi);
}

static enum via_verdict p2p_connect(struct via_vi *vi)
{
	check(vi->nic, __func__);
	return real.p2p_connect(vi);
}

static void reject(struct via_conn *conn)
{
	check(conn->nic, __func__);
	real.reject(conn);
}

static int resolve(struct via_nic *nic, struct via_names *q)
{
	check(nic, __func__);
	return real.resolve(nic, q);
}

static void stats(struct via_nic *nic, struct via_stats_sink *sink)
{
	check(nic, __func__);
	real.stats(nic, sink);
}

static void vi_stats(struct via_vi *vi, struct via_stats_sink *sink)
{
	check(vi->nic, __func__);
	real.vi_stats(vi, sink);
}

void sim_watch(struct via_device_ops *ops)
{
	if (ops->connect == connect)
		return;
	real = *ops;
	ops->vi_create = vi_create;
	ops->connect = connect;
	ops->accept = accept;
	ops->p2p_connect = p2p_connect;
	ops->reject = reject;
	ops->resolve = resolve;
	ops->stats = stats;
	ops->vi_stats = vi_stats;
}
