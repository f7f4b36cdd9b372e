// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Hosts that speak different versions of the wire (docs/reference/wire.md, "What all
 * versions have in common"): a program that asks such a host hears at once that
 * it is not reachable, and a frame of another version is answered with the
 * versions that are spoken, as often as strangers are answered, and no more.
 */
#include "raw.h"
#include "s_forge.h"

#define OTHER		3		/* the version of the other host */
#define FRAMES		300u
#define ANSWERS		64u		/* to one host at once */

static struct raw_host r;

/* The other host's answer to a request. */
static bool answer(struct raw_host *host, const struct raw_frame *f)
{
	u8 type = raw_wire(f)->type;
	struct via_wire_version *v;
	struct forged a;

	if (type != VIA_WIRE_REQUEST && type != VIA_WIRE_PEER_REQUEST)
		return true;
	forge(&a, host->mac, sim_nic_mac(host->nic), VIA_WIRE_VERSIONS);
	a.len = ETH_HLEN + VIA_WIRE_VERSION_LEN;
	v = (void *)forged_wire(a.data);
	v->version = OTHER;
	v->lowest = OTHER;
	v->about = raw_wire(f)->version;
	memcpy(v->quote, raw_wire(f), sizeof(v->quote));
	sim_nic_inject(host->nic, a.data, a.len);
	return true;
}

static void asks(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u64 from;
	int ret;

	prog_open_vi(&n, &v, "via_a", 4096, VIA_RELIABLE_DELIVERY);
	from = sim_now();
	ret = sim_dice(2) ? prog_request(&v, r.mac, "other", 5 * SEC) :
			    prog_p2p(&v, r.mac, "other", 5 * SEC);
	sim_expect(ret == VIA_R_NOT_REACHABLE, "(%d)", ret);
	sim_expect(sim_now() < from + 100 * MS, "(%llu ms)",
		   (sim_now() - from) / MS);
	prog_close(&n);
}

/* What comes of @n frames of version @version and type @type. */
static u32 thrown(u32 n, u8 version, u8 type, u32 len)
{
	const struct via_wire_version *v;
	const struct raw_frame *f;
	struct forged q;
	u32 i, answers = 0;

	for (i = 0; i < n; i++) {
		forge(&q, r.mac, sim_nic_mac(r.nic), type);
		forged_wire(q.data)->version = version;
		forged_wire(q.data)->flags = sim_dice(version + 1);
		forged_wire(q.data)->dst = sim_dice64();
		forged_wire(q.data)->cookie = sim_dice64();
		q.len = ETH_HLEN + len;
		sim_nic_inject(r.nic, q.data, q.len);
		sim_pause(1000);
		while ((f = raw_next(&r, n > 1 ? 0 : 5 * MS))) {
			v = (const void *)raw_wire(f);
			sim_expect(!v->type && v->version == VIA_WIRE_VERSION &&
				   v->lowest == VIA_WIRE_VERSION_MIN &&
				   v->about == version, "type %#x", v->type);
			sim_expect(n > 1 || !memcmp(v->quote, q.data + ETH_HLEN,
						    VIA_WIRE_QUOTE), "");
			sim_expect(!memcmp(f->data, r.mac, ETH_ALEN), "");
			answers++;
		}
	}
	return answers;
}

static void versions(void)
{
	u32 n;

	hosts_up(1);
	raw_begin(&r, host_nic(0), 1 + sim_dice(2));
	/* Of two peers the one with the higher address answers. */
	if (sim_dice(2))
		r.mac[0] = 0xfe;
	r.answer = answer;
	host_run(0, "asks", asks, NULL);
	programs_wait();
	r.answer = NULL;
	raw_forget(&r);

	sim_expect(thrown(1, OTHER, sim_dice(2) ? VIA_WIRE_REQUEST : 0xff,
			  VIA_WIRE_VERSION_LEN + sim_dice(50)) == 1, "");
	sim_expect(thrown(1, 1, 1 + sim_dice(255), 46) == 1, "");
	sim_expect(!thrown(1, sim_dice(256), VIA_WIRE_VERSIONS, 46),
		   "VERSION is answered");
	n = thrown(FRAMES, OTHER, VIA_WIRE_SEND, 46);
	sim_expect(n && n <= ANSWERS + 1, "%u of %u frames are answered", n,
		   FRAMES);
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "versions", .run = versions, .runs = 100, .max_vi = 4,
	     .seconds = 60,
	     .what = "hosts of different versions of the wire")
