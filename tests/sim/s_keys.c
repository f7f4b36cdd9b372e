// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The list of hosts of a NIC and their keys (docs/explain/security.md, "On the wire"):
 * what changes make of it, and that no key stays in memory that is given back.
 */
#include <stdio.h>
#include "prog.h"
#include "../../devices/ether/allow.h"
#include "../../devices/ether/vi.h"
#include "../../devices/ether/session.h"

#define MAC1	"52:54:00:00:01:01"
#define MAC2	"52:54:00:00:01:02"
#define MAC3	"52:54:00:00:01:03"	/* never on the list */
/* Each eight bytes of it are the same, so that any part is found. */
#define EIGHT	"9d3ac1760e5bf248"
#define KEY	EIGHT EIGHT EIGHT EIGHT

static const u8 eight[SIM_SECRET] = {
	0x9d, 0x3a, 0xc1, 0x76, 0x0e, 0x5b, 0xf2, 0x48
};

static const struct {
	int how;
	const char *text;
	int ret;
} refused[] = {
	{ VIA_PEERS_ADD, "01:00:5e:00:00:01", -EINVAL },
	{ VIA_PEERS_ADD, "00:00:00:00:00:00", -EINVAL },
	{ VIA_PEERS_ONLY, "ff:ff:ff:ff:ff:ff", -EINVAL },
	/* Which of the two holds? */
	{ VIA_PEERS_ADD, MAC1 " key=" KEY " " MAC1, -EINVAL },
	{ VIA_PEERS_ONLY, MAC1 " " MAC2 " " MAC1, -EINVAL },
	{ VIA_PEERS_DEL, MAC3, -ENOENT },
	{ VIA_PEERS_DEL, MAC1 " " MAC2 " " MAC3, -ENOENT },
};

static const char * const macs[] = { MAC1, MAC2 };
static const u8 mac_of[][ETH_ALEN] __aligned(2) = {
	{ 0x52, 0x54, 0, 0, 1, 1 }, { 0x52, 0x54, 0, 0, 1, 2 },
};

/* What frames are to be signed with: of the host that has it, and no other. */
static void key_of(const char *list)
{
	struct via_ether_nic *nic = sim_nic_ether(host_nic(0));
	bool keyed = strstr(list, MAC1 " key=set");
	const struct via_ether_secret *secret;
	u32 i;

	rcu_read_lock();
	secret = via_secret_of(nic, mac_of[0]);
	sim_expect(!secret == !keyed, "(%s)", list);
	for (i = 0; keyed && i < VIA_AUTH_KEY_LEN; i++)
		sim_expect(secret->key.key[i] == eight[i % 8], "");
	sim_expect(!via_secret_of(nic, mac_of[1]), "");
	rcu_read_unlock();
}

/* What a list should be: hosts in their order. */
struct model {
	bool listed;
	u32 n;
	struct {
		u32 mac;		/* in macs[] */
		bool keyed;
	} host[2];
};

static void drop(struct model *m, u32 mac)
{
	u32 i, n = 0;

	for (i = 0; i < m->n; i++)
		if (m->host[i].mac != mac)
			m->host[n++] = m->host[i];
	m->n = n;
}

static bool was_keyed(const struct model *m, u32 mac)
{
	u32 i;

	for (i = 0; i < m->n; i++)
		if (m->host[i].mac == mac)
			return m->host[i].keyed;
	return false;
}

static bool on_list(const struct model *m, u32 mac)
{
	u32 i;

	for (i = 0; i < m->n; i++)
		if (m->host[i].mac == mac)
			return true;
	return false;
}

/* A change of some hosts: of the model, and as text. */
static int change(struct model *m, int how, char *text)
{
	static const char * const key[] = { "", " key=" KEY, " key=none" };
	struct model was = *m;
	u32 mac, is, n = 0;

	*text = '\0';
	if (how == VIA_PEERS_ANY) {
		*m = (struct model){};
		return 0;
	}
	if (how == VIA_PEERS_ONLY)
		m->n = 0;
	for (mac = 0; mac < 2; mac++) {
		if (!sim_dice(2))
			continue;
		is = mac ? 0 : sim_dice(3);
		text += sprintf(text, "%s%s ", macs[mac],
				how == VIA_PEERS_DEL ? "" : key[is]);
		if (how == VIA_PEERS_DEL && !on_list(&was, mac))
			n = 1;
		drop(m, mac);
		if (how == VIA_PEERS_DEL)
			continue;
		m->host[m->n].mac = mac;
		m->host[m->n++].keyed = is == 1 ||
					(!is && was_keyed(&was, mac));
	}
	if (how == VIA_PEERS_DEL && (n || !was.listed)) {
		*m = was;
		return -ENOENT;
	}
	m->listed = true;
	return 0;
}

static void compare(const struct model *m)
{
	char now[256], want[256] = "", *at = want;
	int listed = sim_peers_read("via_a", now);
	u32 i;

	for (i = 0; i < m->n; i++)
		at += sprintf(at, "%s%s\n", macs[m->host[i].mac],
			      m->host[i].keyed ? " key=set" : "");
	sim_expect(listed == m->listed && !strcmp(now, want), "(%d: %s, not %s)",
		   listed, now, want);
	for (i = 0; i < 2; i++)
		sim_expect(via_ether_allowed(sim_nic_ether(host_nic(0)),
					     mac_of[i]) ==
			   (!m->listed || on_list(m, i)), "(%u)", i);
	key_of(want);
}

static void keys(void)
{
	struct model m = {};
	char text[256];
	u32 i, n;
	int ret, how;

	hosts_up(1);
	sim_secret = eight;
	for (n = 40; n; n--) {
		if (sim_dice(4)) {
			how = sim_dice(16) % 5 % 4;
			ret = change(&m, how, text);
			sim_expect(sim_peers("via_a", how, text) == ret,
				   "(%d %s)", how, text);
		} else {
			i = sim_dice(ARRAY_SIZE(refused));
			ret = sim_peers("via_a", refused[i].how,
					refused[i].text);
			sim_expect(ret == refused[i].ret, "(%u: %d)", i, ret);
		}
		explicit_bzero(text, sizeof(text));
		compare(&m);
	}
	hosts_down();
	sim_secret = NULL;
}

/* A key that stays is wanted at every moment of a change of other hosts. */
static bool over;

static void wants(void *arg)
{
	struct via_ether_nic *nic = sim_nic_ether(arg);
	const struct via_peer *peer;

	while (!READ_ONCE(over)) {
		rcu_read_lock();
		peer = via_peer_find(nic, mac_of[0]);
		sim_expect(peer && READ_ONCE(peer->want_key),
			   "no key is wanted of a host that has one");
		rcu_read_unlock();
		sim_pause(sim_dice(100));
	}
	WRITE_ONCE(over, false);
}

static void stay(void)
{
	struct sim_nic *nic = sim_nic_up("a", 3);
	u32 i;

	sim_ok(sim_peers("via_a", VIA_PEERS_ADD, MAC1 " key=" KEY));
	over = false;
	sim_kthread("wants", wants, nic);
	for (i = 0; i < 20; i++)
		sim_ok(sim_peers("via_a", i % 2 ? VIA_PEERS_ONLY :
				 VIA_PEERS_ADD, i % 2 ? MAC1 :
				 MAC2 " " MAC3 " key=" KEY));
	WRITE_ONCE(over, true);
	sim_await(!READ_ONCE(over), 100);
	sim_nic_down(nic);
}

SIM_SCENARIO(.name = "keys-stay", .run = stay, .runs = 60,
	     .what = "a key that stays while the list of hosts changes")
SIM_SCENARIO(.name = "keys", .run = keys, .runs = 20,
	     .what = "the list of hosts and their keys")
