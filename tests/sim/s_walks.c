// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What others fill is not walked: a request finds its waiter, and an administrator
 * is told of one, past a thousand others as past one.
 */
#include "prog.h"
#include "../../devices/ether/vi.h"
#include "../../devices/ether/share.h"
#include "../../kernel/connect.h"
#include "../../kernel/file.h"
#include "../../kernel/nic.h"

#define MANY	900u			/* waiters of one handle: 1,024 at most */
#define SPARE	400u			/* steps: a tree is deeper, lists are shared */

static struct {
	struct prog_nic n;
	u32 left[MANY];			/* ids of waiters that nothing sleeps on */
} w;

/* A waiter that a signal leaves behind; with one name, or one of its own. */
static void leave_waiter(u32 i, bool same)
{
	char disc[16];

	scnprintf(disc, sizeof(disc), same ? "waiter" : "waiter%u", i);
	w.left[i] = prog_leave_waiter(&w.n, disc);
}

/* Steps of a request that no waiter is there for. */
static u64 unmatched(struct prog_vi *v)
{
	u64 from = sim_steps;

	sim_expect(prog_request(v, w.n.hello.addr, "none", SEC) ==
		   VIA_R_NO_MATCH, "");
	return sim_steps - from;
}

/* Steps of an administrator's look at the last one. */
static u64 told(struct via_nic *nic, u32 id)
{
	u64 from = sim_steps;
	struct via_conn_view view;

	sim_expect(via_waiter_next(nic, (kuid_t){ -1u }, id - 1, &view) &&
		   view.id == id, "");
	via_file_put(view.file);
	return sim_steps - from;
}

static void waits(void *arg)
{
	struct via_conn_wait a = { .timeout = MS };
	struct via_nic *nic;
	bool same = arg;
	struct prog_vi v;
	u64 few, many;
	u32 i;

	prog_open_vi(&w.n, &v, "via_lo", 4096, VIA_RELIABLE_DELIVERY);
	nic = ((struct via_file *)w.n.file->private_data)->nic;
	leave_waiter(0, same);
	unmatched(&v);
	few = unmatched(&v);
	for (i = 1; i < MANY; i++)
		leave_waiter(i, same);
	many = unmatched(&v);
	sim_expect(many < few + SPARE, "%llu steps past one, %llu past %u",
		   few, many, MANY);
	few = told(nic, w.left[0]);
	many = told(nic, w.left[MANY - 1]);
	sim_expect(many < few + SPARE, "told: %llu steps, %llu", few, many);
	/* Those of one name are matched in the order of the calls. */
	sim_ok(prog_request_start(&v, w.n.hello.addr, same ? "waiter" :
				  "waiter0", SEC, false));
	a.waiter = w.left[0];
	sim_expect(!sim_ioctl(w.n.file, VIA_IOC_CONN_WAIT, &a) &&
		   !prog_reject(&w.n, a.conn) &&
		   prog_result(&v, 0) == VIA_R_REJECT, "");
	prog_close(&w.n);
}

static void run(void (*fn)(void *arg), void *arg)
{
	host_run(0, "program", fn, arg);
	hosts_down();
}

static void walks(void)
{
	run(waits, sim_dice(2) ? NULL : &w);
}

SIM_SCENARIO(.name = "walks", .run = walks, .runs = 10, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a request finds its waiter past 900 others")

/*
 * An administrator's dump goes on from the NIC handle that it has come to, past
 * many others as past none.
 */
#define HANDLES		60u		/* that a process has open here */
#define SPARE_HANDLES	100u		/* steps */

/* Steps to the handle behind that number, and its number. */
static u64 next_handle(struct via_nic *nic, u64 *serial)
{
	u64 from = sim_steps;
	struct via_file *f = via_nic_next_file(nic, *serial);

	from = sim_steps - from;
	sim_expect(f && f->serial > *serial, "");
	*serial = f->serial;
	via_file_put(f);
	return from;
}

static void opens_many(void *arg)
{
	static struct prog_nic n[HANDLES];
	u64 first = 0, last, few, many;
	struct via_nic *nic;
	u32 i;

	for (i = 0; i < HANDLES; i++)
		sim_expect(!prog_open(&n[i], "via_lo", 0), "(%u)", i);
	nic = ((struct via_file *)n[0].file->private_data)->nic;
	few = next_handle(nic, &first);
	last = first;
	for (i = 1; i < HANDLES; i++)
		many = next_handle(nic, &last);
	sim_expect(many < few + SPARE_HANDLES,
		   "%llu steps to the first, %llu past %u", few, many, HANDLES);
	/* One in the middle leaves: the next one is found from its number. */
	prog_close(&n[HANDLES / 2]);
	first = 0;
	for (i = 1; i < HANDLES; i++)
		next_handle(nic, &first);
	sim_expect(first == last && !via_nic_next_file(nic, last), "");
	for (i = 0; i < HANDLES; i++)
		if (i != HANDLES / 2)
			prog_close(&n[i]);
}

static void handles(void)
{
	run(opens_many, NULL);
}

SIM_SCENARIO(.name = "handles", .run = handles, .runs = 10, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a dump goes on from a handle past 60 others")

/*
 * Addresses of one IPv4 /16 that meet where a hash has no secret: once the product that
 * links of UDP were found by, else the table's with a seed of 0.
 */
static u32 chosen(u32 *addr, u32 most, bool product)
{
	const struct via_table seedless = { .bits = 12 };
	u8 host[4] = { 10, 7 };
	u32 i, n = 0, h, key;

	for (i = 0; i < 0x10000 && n < most; i++) {
		host[2] = i >> 8;
		host[3] = i;
		memcpy(&key, host, sizeof(key));
		h = product ? hash_32(key, 6) :
		    via_table_hash(&seedless, host, sizeof(host)) >> 20;
		if (!h)
			addr[n++] = key;
	}
	return n;
}

static void spreads(void)
{
	static u32 addr[1024];
	struct via_table t = {};
	bool product = sim_dice(2), words = sim_dice(2);
	u32 i, n, h, *len, longest = 0;

	n = chosen(addr, ARRAY_SIZE(addr), product);
	sim_expect(n > (product ? 900 : 8), "%u", n);
	sim_expect(!via_table_init(&t, 12), "");
	len = calloc(1u << t.bits, sizeof(*len));
	for (i = 0; i < n; i++) {
		h = words ? via_table_hash_word(&t, addr[i]) :
			    via_table_hash(&t, &addr[i], 4);
		len[via_table_list(&t, h) - t.lists]++;
	}
	for (i = 0; i < 1u << t.bits; i++)
		longest = max(longest, len[i]);
	sim_expect(longest < 8, "%u of %u addresses in one list", longest, n);
	free(len);
	via_table_free(&t);
}

SIM_SCENARIO(.name = "spreads", .run = spreads, .runs = 20,
	     .what = "addresses that are chosen do not meet in a list")

/*
 * A peer's window is shut while the end of an older pause is queued: that of the
 * new one takes its place, and the window stays shut until then.
 */
static void shuts(void)
{
	static const u8 host[] = { 0x52, 0x54, 0, 0, 1, 9 };
	struct via_ether_nic *nic = sim_nic_ether(host_up(0));
	u64 now = ktime_get_ns();
	struct via_peer *peer;

	peer = via_peer_get(nic, host, GFP_KERNEL);
	sim_expect(peer, "");
	local_bh_disable();
	rcu_read_lock();
	sim_expect(via_ether_open_at(peer, now + SEC), "");
	sim_expect(via_ether_open_at(peer, now + 2 * SEC), "not shut again");
	sim_expect(peer->opening.node.expires == (s64)(now + 2 * SEC), "");
	via_peer_put(peer);
	rcu_read_unlock();
	local_bh_enable();
	hosts_down();
}

SIM_SCENARIO(.name = "shuts", .run = shuts, .runs = 10,
	     .what = "a window is shut while the end of an older pause is queued")
