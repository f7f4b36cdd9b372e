// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The class of packet networks: NICs. */

#include <linux/if_ether.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "acks.h"
#include "allow.h"
#include "conn.h"
#include "end.h"
#include "keepalive.h"
#include "name.h"
#include "owed.h"
#include "param.h"
#include "request.h"
#include "retransmit.h"
#include "run.h"
#include "send.h"
#include "share.h"
#include "stats.h"
#include "timer.h"
#include "timewait.h"
#include "vi.h"

/* Until it is noticed that no program looks for what lies in the ring. */
#define RING_TICK	(500 * NSEC_PER_USEC)
/*
 * The same where frames interrupt, and only what no other host waits for is left
 * to the programs' clock (timer.c).  A tick is an interrupt, which in a virtual
 * machine costs as much as a message.
 */
#define ALARM_TICK	(4 * NSEC_PER_MSEC)

static void nic_busy_poll(struct via_nic *ka)
{
	struct via_ether_nic *nic = ka->priv;

	nic->ops->busy_poll(nic);
	via_ether_alarm_poll(nic);
}

static bool nic_busy_poll_mode(struct via_nic *ka, enum via_busy_poll_step step)
{
	struct via_ether_nic *nic = ka->priv;

	if (!nic->ops->busy_poll_mode(nic, step))
		return false;
	via_ether_ack_deadlines(nic, step != VIA_BUSY_POLL_END);
	via_ether_alarm_mode(nic, step);
	return true;
}

/* The same for a NIC that has no ring to look into. */
static void nic_alarm_poll(struct via_nic *ka)
{
	via_ether_alarm_poll(ka->priv);
}

static bool nic_alarm_mode(struct via_nic *ka, enum via_busy_poll_step step)
{
	via_ether_ack_deadlines(ka->priv, step != VIA_BUSY_POLL_END);
	via_ether_alarm_mode(ka->priv, step);
	return true;
}

void via_ether_busy_poll_stop(struct via_ether_nic *nic)
{
	via_nic_busy_poll_stop(nic->ka);
}
EXPORT_SYMBOL_GPL(via_ether_busy_poll_stop);

static void nic_mem_map(struct via_nic *ka, struct via_mem_map *map,
			struct page **pages, u32 npages)
{
	struct via_ether_nic *nic = ka->priv;

	nic->ops->mem_map(nic, map, pages, npages);
}

static void nic_mem_unmap(struct via_nic *ka, struct via_mem_map *map,
			  struct page **pages, u32 npages)
{
	struct via_ether_nic *nic = ka->priv;

	nic->ops->mem_unmap(nic, map, pages, npages);
}

static int vi_create(struct via_vi *vi)
{
	via_ether_visit_init(vi->priv);
	return via_ether_vi_create(vi);
}

static const struct via_transport_ops transport = {
	.send = via_ether_send,
	.disconnect = via_ether_disconnect,
};

static const struct via_device_ops device_ops = {
	.vi_priv_size = sizeof(struct via_ether_vi),
	.vi_create = vi_create,
	.vi_forget = via_ether_vi_forget,
	.connect = via_ether_connect,
	.p2p_connect = via_ether_p2p_connect,
	.accept = via_ether_accept,
	.reject = via_ether_reject,
	.resolve = via_ether_resolve,
	.peers_edit = via_ether_peers_edit,
	.peers_read = via_ether_peers_read,
	.busy_poll = nic_alarm_poll,
	.busy_poll_tick = ALARM_TICK,
	.busy_poll_mode = nic_alarm_mode,
	.transport = &transport,
	.stats = via_ether_nic_stats,
	.vi_stats = via_ether_vi_stats,
};

static DEFINE_MUTEX(ops_mutex);		/* guards ops->ka until it is filled in */

/*
 * In the NIC module's memory: open files may outlive the NIC.  Once for all
 * NICs of the module, since those that are there already read it.
 */
static void fill_ops(struct via_ether_ops *ops)
{
	struct via_device_ops *ka = &ops->ka;

	mutex_lock(&ops_mutex);
	if (!ka->transport) {
		*ka = device_ops;
		ka->owner = ops->owner;
		if (ops->busy_poll) {
			ka->busy_poll = nic_busy_poll;
			ka->busy_poll_tick = RING_TICK;
			ka->busy_poll_mode = nic_busy_poll_mode;
		}
		if (ops->tx_put_frags) {
			ka->mem_map = nic_mem_map;
			ka->mem_unmap = nic_mem_unmap;
		}
	}
	mutex_unlock(&ops_mutex);
}

/* Attempts first: what they end is seen by the others. */
static const struct via_tick_job tick_jobs[] = {
	{ via_ether_tries_wanted, via_ether_tries_run, .every_tick = true },
	{ via_keepalive_wanted, via_keepalive_run },
	{ via_timewait_wanted, via_timewait_run },
	{ via_ether_reqs_wanted, via_ether_reqs_expire },
	{ via_peers_wanted, via_peers_expire },
	{}
};

static const struct via_run_ops run_ops = {
	.resume = via_ether_resume,
	.acks = via_ether_pay,
	.visits = via_ether_share_visits,
};

struct via_ether_nic *via_ether_alloc(struct via_ether_ops *ops)
{
	struct via_ether_nic *nic = kzalloc(sizeof(*nic), GFP_KERNEL);

	if (!nic)
		return NULL;
	nic->counters = alloc_percpu(struct via_ether_counters);
	if (!nic->counters)
		goto err_counters;
	if (via_ether_acks_init(nic))
		goto err_acks;
	if (via_ether_run_init(nic, &run_ops))
		goto err_run;
	if (via_peers_init(nic))
		goto err_peers;
	fill_ops(ops);
	nic->ka = via_nic_alloc(&ops->ka);
	if (!nic->ka)
		goto err_ka;
	nic->ka->priv = nic;
	nic->ka->type = VIA_NIC_ETHERNET;
	nic->ops = ops;
	spin_lock_init(&nic->lock);
	via_order_init(&nic->connecting);
	via_order_init(&nic->reqs);
	INIT_LIST_HEAD(&nic->asks);
	via_limit_init(&nic->limit, HZ);
	spin_lock_init(&nic->token_lock);
	via_token_init(&nic->token, ktime_get_seconds());
	via_ether_share_init(nic);
	via_ether_timer_init(nic, tick_jobs);
	return nic;
err_ka:
	via_peers_free(nic);
err_peers:
	via_ether_run_free(nic);
err_run:
	via_owed_free(nic);
err_acks:
	free_percpu(nic->counters);
err_counters:
	kfree(nic);
	return NULL;
}
EXPORT_SYMBOL_GPL(via_ether_alloc);

int via_ether_register(struct via_ether_nic *nic)
{
	struct via_nic *ka = nic->ka;

	do {
		nic->epoch = get_random_u64();
	} while (!nic->epoch);
	memcpy(ka->addr, nic->host.addr, nic->host.len);
	ka->addr_len = nic->host.len;
	via_ether_set_mtu(nic, nic->mtu);
	return via_nic_register(ka);
}
EXPORT_SYMBOL_GPL(via_ether_register);

void via_ether_attach_register(struct via_attach_ops *ops)
{
	via_attach_register(ops);
}
EXPORT_SYMBOL_GPL(via_ether_attach_register);

void via_ether_attach_unregister(struct via_attach_ops *ops)
{
	via_attach_unregister(ops);
}
EXPORT_SYMBOL_GPL(via_ether_attach_unregister);

void via_ether_break(struct via_ether_nic *nic)
{
	via_ether_end_some(nic, NULL, VIA_WIRE_R_LINK, true);
}
EXPORT_SYMBOL_GPL(via_ether_break);

void via_ether_break_atomic(struct via_ether_nic *nic)
{
	via_ether_end_some(nic, NULL, VIA_WIRE_R_LINK, false);
}
EXPORT_SYMBOL_GPL(via_ether_break_atomic);

void via_ether_unregister(struct via_ether_nic *nic)
{
	/* RTNL may be held: what can be waited for is cut short. */
	via_ether_names_end(nic);
	via_nic_unregister(nic->ka);
	via_ether_timer_stop(nic);
	via_ether_run_stop(nic);
	via_owed_stop(nic);
	via_ether_reqs_end(nic);
	via_ether_allow_end(nic);
	via_timewait_stop(nic);
	via_peers_end(nic);
}
EXPORT_SYMBOL_GPL(via_ether_unregister);

void via_ether_free(struct via_ether_nic *nic)
{
	via_nic_drain(nic->ka);
	/* Never registered: it may have a list of hosts, though. */
	if (!nic->stopping) {
		via_ether_timer_stop(nic);
		via_ether_run_stop(nic);
		via_owed_stop(nic);
		via_ether_allow_end(nic);
		via_peers_end(nic);
	}
	via_nic_put(nic->ka);
	via_peers_free(nic);
	via_ether_run_free(nic);
	via_owed_free(nic);
	free_percpu(nic->counters);
	kfree(nic);
}
EXPORT_SYMBOL_GPL(via_ether_free);

static int __init via_ether_init(void)
{
	if (via_ether_type < ETH_P_802_3_MIN) {
		pr_err("via_ether: ethertype %#x is a length; give 0x600 or more\n",
		       via_ether_type);
		return -EINVAL;
	}
	return 0;
}

static void __exit via_ether_exit(void)
{
	/* Sessions of hosts with keys are wiped by callbacks. */
	rcu_barrier();
}

module_init(via_ether_init);
module_exit(via_ether_exit);

MODULE_DESCRIPTION("VI Architecture over packet networks");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
