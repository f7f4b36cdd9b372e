// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Questions for names on a wire of many hosts, of which each answers what it
 * likes: a query gets the names that fit, each host once, 64 at most
 * (docs/reference/wire.md, "Names"), as often as it asks, and holds up no NIC.
 */
#include <strings.h>
#include "prog.h"
#include "../../devices/ether/proto/wire.h"

#define HOSTS	100
#define KEPT	64
#define ASKED	40			/* more than may ask at once */


struct reply {
	struct ethhdr eth;
	struct via_wire w;
	struct via_wire_name n;
	u8 seal[VIA_WIRE_SEAL_LEN];
} __packed;

static const char *const names[] = {
	"node1", "node10", "node", "node1.lab", "NODE1", "node1.home",
	"node10.lab", "other",
};

static struct {
	u32 hosts;			/* that answer */
	bool asked;
} w;

static const char *name_of(u32 host)
{
	return names[host % ARRAY_SIZE(names)];
}

/* Case does not matter, nor a domain that only one of them has. */
static bool fits(const char *want, const char *have)
{
	const char *a = strchr(want, '.'), *b = strchr(have, '.');
	size_t n = a ? a - want : strlen(want);

	if (a && b)
		return !strcasecmp(want, have);
	return n == (b ? b - have : strlen(have)) &&
	       !strncasecmp(want, have, n);
}

static void answer(u32 host, const struct reply *q)
{
	struct reply r;

	memset(&r, 0, sizeof(r));
	memcpy(r.eth.h_dest, q->eth.h_source, ETH_ALEN);
	r.eth.h_source[0] = 2;
	r.eth.h_source[5] = host;
	r.eth.h_proto = cpu_to_be16(VIA_WIRE_ETHERTYPE);
	r.w.version = VIA_WIRE_VERSION;
	r.w.type = VIA_WIRE_NAME_REPLY;
	r.n.nonce = q->n.nonce;
	r.n.name_len = strlen(name_of(host));
	memcpy(r.n.name, name_of(host), r.n.name_len);
	sim_seal(&r, sizeof(r), 0);
	sim_nic_inject(host_nic(0), &r, sizeof(r));
}

/* The other hosts. */
static bool hosts(void *arg, u8 *frame, u32 *len)
{
	const struct reply *q = (const void *)frame;
	u32 i;

	if (q->w.type != VIA_WIRE_NAME_QUERY)
		return true;
	w.asked = true;
	for (i = 1; i <= w.hosts; i++)
		if (is_multicast_ether_addr(q->eth.h_dest) ||
		    q->eth.h_dest[5] == i)
			answer(i, q);
	return true;
}

static void check(const struct via_name_query *q,
		  const struct via_name_answer *a)
{
	u32 i, k, wanted = fits(q->name, "host");

	for (i = 1; i <= w.hosts; i++)
		wanted += !q->name[0] || fits(q->name, name_of(i));
	if (!q->name[0])
		wanted = w.hosts + 1;
	sim_expect(q->count == min(wanted, (u32)KEPT), "%u answers of %u",
		   q->count, wanted);
	for (i = 0; i < q->count; i++) {
		sim_expect(!q->name[0] || fits(q->name, a[i].name),
			   "%s is asked for, %s answers", q->name, a[i].name);
		for (k = 0; k < i; k++)
			sim_expect(memcmp(a[i].addr, a[k].addr, ETH_ALEN),
				   "a host is told twice");
	}
}

static void asks(void *arg)
{
	struct via_name_answer a[HOSTS + 1];
	struct via_name_query q = { .answers = (uintptr_t)a };
	struct prog_nic n;
	u32 i;
	int ret;

	sim_ok(prog_open(&n, "via_a", 0));
	for (i = 0; i < 2; i++) {
		q.count = ARRAY_SIZE(a);
		memset(q.name, 0, sizeof(q.name));
		if (sim_dice(2))
			strcpy(q.name, names[sim_dice(ARRAY_SIZE(names))]);
		sim_ok(sim_ioctl(n.file, VIA_IOC_NAME_QUERY, &q));
		check(&q, a);
	}
	/* To one host, which answers at once. */
	memset(q.name, 0, sizeof(q.name));
	q.addr_len = ETH_ALEN;
	memcpy(q.addr, "\2\0\0\0\0\1", ETH_ALEN);
	for (i = 0; i < ASKED; i++) {
		q.count = ARRAY_SIZE(a);
		ret = sim_ioctl(n.file, VIA_IOC_NAME_QUERY, &q);
		sim_expect(!ret && q.count == 1, "question %u: %d, %u answers",
			   i, ret, q.count);
	}
	prog_close(&n);
}

/* For a name that there is not, until the NIC has gone. */
static void asks_on(void *arg)
{
	struct via_name_answer a[4];
	struct via_name_query q = { .answers = (uintptr_t)a, .count = 4 };
	struct prog_nic n;

	sim_ok(prog_open(&n, "via_a", 0));
	if (sim_dice(2))
		strcpy(q.name, "nobody");
	sim_ioctl(n.file, VIA_IOC_NAME_QUERY, &q);
	prog_close(&n);
}

static void discover(void)
{
	bool goes = !sim_dice(3);
	u64 from;

	hosts_up(1);
	w.hosts = goes ? 0 : sim_dice(2) ? HOSTS : 1 + sim_dice(16);
	sim_wire.meddle = hosts;
	host_run(0, "asks", goes ? asks_on : asks, NULL);
	if (goes) {
		sim_await(w.asked, 100000);
		sim_pause(1 + sim_dice(5 * MS));
		from = sim_clock;
		host_down(0);
		sim_expect(sim_clock < from + 2 * MS,
			   "the NIC's end waits for a question: %llu us",
			   (unsigned long long)((sim_clock - from) / 1000));
	}
	hosts_down();
}

SIM_SCENARIO(.name = "discover", .run = discover, .runs = 200, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "questions for names among many hosts")
