// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A NIC object goes and another one comes for its interface: the list of hosts
 * and their keys stand (kernel/policy.c).  At no moment is a stranger admitted.
 */
#include "prog.h"
#include "../../devices/ether/allow.h"
#include "../../devices/ether/vi.h"
#include "../../devices/ether/session.h"
#include "../../kernel/nic.h"

#define MAC2	"52:54:00:00:01:02"
#define MAC3	"52:54:00:00:01:03"
#define EIGHT	"6be41f90c7283da5"
#define KEY	EIGHT EIGHT EIGHT EIGHT
#define LIST	MAC2 " key=set\n" MAC3 "\n"

static const u8 eight[SIM_SECRET] = {
	0x6b, 0xe4, 0x1f, 0x90, 0xc7, 0x28, 0x3d, 0xa5
};

static const u8 mac2[] __aligned(2) = { 0x52, 0x54, 0, 0, 1, 2 };
static const u8 stranger[] __aligned(2) = { 0x52, 0x54, 0, 0, 1, 9 };

static struct {
	struct net_device dev, other;
	struct sim_nic *nic;
	bool closed;			/* a stranger is not to be admitted */
	bool over, done;
} w;

/* As soon as a NIC can be found, and as long. */
static void knock(void *arg)
{
	struct via_nic *nic;
	bool closed, in;
	int idx;

	while (!READ_ONCE(w.over)) {
		sim_pause(sim_dice(500));
		nic = via_nic_find(sim_net, "via_a", 0);
		if (!nic)
			continue;
		if (via_nic_enter(nic, &idx)) {
			/* Before and behind: it changes beside this thread. */
			closed = READ_ONCE(w.closed);
			in = via_ether_allowed(nic->priv, stranger);
			sim_expect(!(closed && in && READ_ONCE(w.closed)),
				   "a stranger is admitted");
			via_nic_leave(nic, idx);
		}
		via_nic_put(nic);
	}
	WRITE_ONCE(w.done, true);
}

/* The NIC object goes, and another one comes. */
static void renew(u8 address)
{
	sim_nic_down(w.nic);
	w.nic = sim_nic_up("a", address);
	sim_expect(w.nic || sim_config.fail_alloc, "no NIC");
}

static void expect(int listed, const char *list)
{
	const struct via_ether_secret *secret;
	char now[256];
	u32 i;

	sim_expect(sim_peers_read("via_a", now) == listed && !strcmp(now, list),
		   "(%s, not %s)", now, list);
	rcu_read_lock();
	secret = via_secret_of(sim_nic_ether(w.nic), mac2);
	sim_expect(!secret == !strstr(list, "key=set"), "");
	for (i = 0; secret && i < VIA_AUTH_KEY_LEN; i++)
		sim_expect(secret->key.key[i] == eight[i % 8], "");
	rcu_read_unlock();
}

static void begin(void)
{
	w.dev.reg_state = NETREG_REGISTERED;
	sim_netdev = &w.dev;
	sim_secret = eight;
	w.nic = sim_nic_up("a", 1);
	sim_kthread("knock", knock, NULL);
}

static void end(void)
{
	WRITE_ONCE(w.over, true);
	sim_await(READ_ONCE(w.done), 1000);
	sim_nic_down(w.nic);
	sim_netdev_gone(&w.dev);
	sim_secret = NULL;
}

static void set_list(void)
{
	sim_ok(sim_peers("via_a", VIA_PEERS_ONLY, MAC2 " key=" KEY " " MAC3));
	WRITE_ONCE(w.closed, true);
}

static void move(struct net *to)
{
	sim_nic_down(w.nic);
	sim_net = to;
	w.nic = sim_nic_up("a", 1);
}

static void kept(void)
{
	begin();
	/* One that never had a list has none. */
	renew(4);
	expect(0, "");
	set_list();
	/* Another address and the old one, another name. */
	renew(5);
	expect(1, LIST);
	renew(1);
	expect(1, LIST);
	sim_ok(sim_peers("via_a", VIA_PEERS_DEL, MAC3));
	renew(5);
	expect(1, MAC2 " key=set\n");
	sim_ok(sim_peers("via_a", VIA_PEERS_DEL, MAC2));
	renew(1);
	expect(1, "");
	/* A change that is refused changes nothing. */
	sim_expect(sim_peers("via_a", VIA_PEERS_ADD, "00:00:00:00:00:00") ==
		   -EINVAL, "");
	renew(5);
	expect(1, "");
	/* The administrator removes it: it does not come back. */
	WRITE_ONCE(w.closed, false);
	sim_ok(sim_peers("via_a", VIA_PEERS_ANY, ""));
	renew(1);
	expect(0, "");
	end();
}

SIM_SCENARIO(.name = "hosts-kept", .run = kept, .runs = 60, SIM_STATE(w),
	     .what = "a list of hosts and its keys outlive the NIC object")

static void moved(void)
{
	bool opens = sim_dice(2);

	begin();
	set_list();
	/* No administrator of that namespace has said anything. */
	move(&sim_other_net);
	expect(1, "");
	renew(5);
	expect(1, "");
	if (opens) {
		WRITE_ONCE(w.closed, false);
		sim_ok(sim_peers("via_a", VIA_PEERS_ANY, ""));
		renew(1);
		expect(0, "");
		sim_nic_down(w.nic);
		WRITE_ONCE(w.closed, true);
		sim_net = &init_net;
		w.nic = sim_nic_up("a", 1);
	} else {
		sim_ok(sim_peers("via_a", VIA_PEERS_ADD, MAC3));
		renew(5);
		expect(1, MAC3 "\n");
		move(&init_net);
	}
	expect(1, LIST);
	/* What is kept there goes with the namespace: the list here stays. */
	sim_net_gone(&sim_other_net);
	renew(5);
	expect(1, LIST);
	move(&sim_other_net);
	expect(1, "");
	sim_net_gone(&init_net);
	renew(1);
	expect(1, "");
	end();
}

SIM_SCENARIO(.name = "hosts-moved", .run = moved, .runs = 60, SIM_STATE(w),
	     .what = "an interface with a list of hosts in another namespace")

/* Another interface at the same place in memory is another interface. */
static void gone(void)
{
	begin();
	set_list();
	sim_nic_down(w.nic);
	WRITE_ONCE(w.closed, false);
	sim_netdev_gone(&w.dev);
	w.dev.reg_state = NETREG_REGISTERED;
	w.nic = sim_nic_up("a", 1);
	expect(0, "");
	set_list();
	/* One beside it never had a list. */
	sim_netdev = &w.other;
	sim_nic_down(sim_nic_up("b", 6));
	w.other.reg_state = NETREG_REGISTERED;
	sim_netdev_gone(&w.other);
	sim_netdev = &w.dev;
	renew(5);
	expect(1, LIST);
	end();
}

SIM_SCENARIO(.name = "hosts-gone", .run = gone, .runs = 30, SIM_STATE(w),
	     .what = "a list of hosts goes with its interface")

#define LISTS	256			/* of a namespace */

/* Lists of a namespace are bounded; what is there can be changed. */
static void many(void)
{
	static struct net_device dev[LISTS + 1];
	struct sim_nic *nic;
	int ret;
	u32 i;

	for (i = 0; i <= LISTS; i++) {
		sim_netdev = &dev[i];
		dev[i].reg_state = NETREG_REGISTERED;
		nic = sim_nic_up("a", 1);
		ret = sim_peers("via_a", VIA_PEERS_ADD, MAC2);
		sim_expect(ret == (i < LISTS ? 0 : -ENOSPC), "(%u: %d)", i,
			   ret);
		sim_expect(i == LISTS ||
			   !sim_peers("via_a", VIA_PEERS_ADD, MAC3), "");
		sim_nic_down(nic);
	}
	for (i = 0; i <= LISTS; i++)
		sim_netdev_gone(&dev[i]);
}

SIM_SCENARIO(.name = "hosts-many", .run = many, .runs = 1, .coarse = true,
	     .what = "more lists of hosts than a namespace may have")
