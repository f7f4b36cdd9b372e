// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Keys in the list of peers of a NIC (docs/security.md, "On the wire"): which
 * lists are taken, what is read of them, and that no key stays in memory that
 * is given back.
 */
#include "prog.h"
#include "../../devices/ether/ether.h"

#define MAC1	"52:54:00:00:01:01"
#define MAC2	"52:54:00:00:01:02"
/* Each eight bytes of it are the same, so that any part is found. */
#define EIGHT	"9d3ac1760e5bf248"
#define KEY	EIGHT EIGHT EIGHT EIGHT
#define UPPER	"9D3AC1760E5BF248" EIGHT EIGHT EIGHT

static const u8 eight[SIM_SECRET] = {
	0x9d, 0x3a, 0xc1, 0x76, 0x0e, 0x5b, 0xf2, 0x48
};

static const struct {
	const char *text, *read;	/* NULL: it is refused */
} lists[] = {
	{ MAC1 " key=" KEY "\n", MAC1 " key=set\n" },
	{ MAC1 "\tkey=" UPPER, MAC1 " key=set\n" },
	{ MAC1 "  key=" KEY " " MAC2, MAC1 " key=set\n" MAC2 "\n" },
	{ MAC2 "\n" MAC1 " key=" KEY "\n", MAC2 "\n" MAC1 " key=set\n" },
	{ MAC1 " " MAC2 "\n", MAC1 "\n" MAC2 "\n" },
	{ "\n", "" },
	/* Behind another line, twice, before an address, alone */
	{ MAC1 "\nkey=" KEY "\n", NULL },
	{ MAC1 " key=" KEY " key=" KEY "\n", NULL },
	{ "key=" KEY " " MAC1 "\n", NULL },
	{ "key=" KEY "\n", NULL },
	/* 63 digits, 65, another one, none, no end */
	{ MAC1 " key=" EIGHT EIGHT EIGHT "9d3ac1760e5bf24\n", NULL },
	{ MAC1 " key=" KEY "0\n", NULL },
	{ MAC1 " key=" EIGHT EIGHT EIGHT "9d3ac1760e5bf24g\n", NULL },
	{ MAC1 " key=\n", NULL },
	{ MAC1 " key=" KEY "," MAC2 "\n", NULL },
	{ MAC1 " key=" KEY MAC2 "\n", NULL },
	{ MAC1 "key=" KEY "\n", NULL },
	{ MAC1 " key =" KEY "\n", NULL },
	{ MAC1 " KEY=" KEY "\n", NULL },
	{ MAC1 " key=set\n", NULL },
	/* Which of the two holds? */
	{ MAC1 " key=" KEY "\n" MAC1 "\n", NULL },
	{ MAC1 "\n" MAC1 "\n", NULL },
};

/* What frames are to be signed with: of the host that has it, and no other. */
static void key_of(struct sim_nic *nic, const char *list)
{
	const u8 mac1[] = { 0x52, 0x54, 0, 0, 1, 1 };
	const u8 mac2[] = { 0x52, 0x54, 0, 0, 1, 2 };
	bool keyed = strstr(list, MAC1 " key=set");
	const struct via_ether_secret *secret;
	u32 i;

	rcu_read_lock();
	secret = via_secret_of(sim_nic_ether(nic), mac1);
	sim_expect(!secret == !keyed, "(%s)", list);
	for (i = 0; keyed && i < VIA_AUTH_KEY_LEN; i++)
		sim_expect(secret->key.key[i] == eight[i % 8], "");
	sim_expect(!via_secret_of(sim_nic_ether(nic), mac2), "");
	rcu_read_unlock();
}

static void keys(void)
{
	struct sim_nic *nic = sim_nic_up("a", 1);
	char was[4096] = "", now[4096];
	u32 i, n;
	ssize_t ret;

	sim_secret = eight;
	for (n = 30; n; n--) {
		i = sim_dice(ARRAY_SIZE(lists));
		ret = sim_attr_store("via_a", "peers", lists[i].text);
		sim_expect(ret == (lists[i].read ? strlen(lists[i].text) :
				   -EINVAL), "(%u: %zd)", i, ret);
		if (lists[i].read)
			strcpy(was, lists[i].read);
		memset(now, 0, sizeof(now));
		ret = sim_attr_show("via_a", "peers", now);
		sim_expect(ret == strlen(was) && !strcmp(now, was),
			   "(%u: %s)", i, now);
		key_of(nic, was);
	}
	sim_nic_down(nic);
	sim_secret = NULL;
}

SIM_SCENARIO(keys, .name = "keys", .run = keys, .runs = 20,
	     .what = "keys in the list of peers")
