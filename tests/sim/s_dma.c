// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Streams between NICs that read the bytes of frames themselves, some time
 * after they were told: what is complete belongs to the program again, and is
 * not read any more, or only by a frame that the peer drops.
 */
#include "s_forge.h"
#include "stream.h"

#define STREAMS_MAX	2
#define REGIONS		6

static void run(u32 level, u32 loss, bool checksum)
{
	struct stream *s[STREAMS_MAX];
	struct sim_nic *nic[2];
	struct stream_plan p;
	u32 n = 1 + sim_dice(STREAMS_MAX), i;

	sim_nics_dma();
	/* Short messages, too, in some runs. */
	sim_param_set("dma_min", sim_dice(2) ? 512 : 1 + sim_dice(64));
	sim_param_set("checksum", checksum);
	sim_wire.loss = loss;
	sim_config.max_time = sim_clock + 2000 * SEC;
	stream_draw(&p, level);
	p.big = sim_dice(2);
	nic[0] = sim_nic_up("a", 1);
	nic[1] = sim_nic_up("b", 2);
	for (i = 0; i < n; i++)
		s[i] = stream_begin(&p, i, "via_a", "via_b",
				    sim_nic_mac(nic[1]));
	for (i = 0; i < n; i++)
		stream_end(s[i]);
	sim_nic_down(nic[0]);
	sim_nic_down(nic[1]);
}

/* Memory is deregistered while its NIC goes. */

static struct {
	struct prog_nic n;
	u32 threads;
	bool ready;
	char *mem;
	u32 handle[REGIONS];
} w;

static void deregister(void *arg)
{
	u32 from = (uintptr_t)arg, i;
	int ret;

	while (!READ_ONCE(w.ready))
		sim_sleep(1000);
	for (i = from; i < REGIONS; i += 2) {
		if (sim_dice(2))
			sim_sleep(sim_dice(20000));
		ret = prog_deregister(&w.n, w.mem + i * PAGE_SIZE, w.handle[i]);
		sim_expect(!ret, "(%d)", ret);
	}
	w.threads--;
}

static void registers(void *arg)
{
	u32 i;
	int ret;

	sim_expect(!prog_open(&w.n, "via_a", 0), "no NIC");
	w.mem = sim_memory(REGIONS * PAGE_SIZE);
	for (i = 0; i < REGIONS; i++) {
		ret = prog_register(&w.n, w.mem + i * PAGE_SIZE, 64, 0,
				    &w.handle[i]);
		sim_expect(!ret, "(%d)", ret);
	}
	w.threads = 2;
	for (i = 0; i < w.threads; i++)
		sim_thread(current->proc, "deregister", deregister,
			   (void *)(uintptr_t)i);
	WRITE_ONCE(w.ready, true);
	while (w.threads)
		sim_sleep(10000);
	prog_close(&w.n);
}

static void goes(void)
{
	struct sim_proc *p;
	struct sim_nic *nic;

	memset(&w, 0, sizeof(w));
	sim_nics_dma();
	nic = sim_nic_up("a", 1);
	p = sim_proc_new("registers", 1000);
	sim_thread(p, "registers", registers, NULL);
	while (!READ_ONCE(w.ready))
		sim_pause(1000);
	sim_pause(1 + sim_dice(50000));
	sim_nic_down(nic);
	sim_proc_wait(p);
}

/* What is complete is the program's again, at once. */

#define MESSAGES	20
#define BYTES		3000

static struct {
	u32 level;
	bool over;
} r;

static u32 bytes_of(u32 i)
{
	return 1 + i * 977 % BYTES;
}

static void reuses(void *arg)
{
	static const u8 mac[] = { 0x52, 0x54, 0, 0, 1, 2 };
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	char *out;
	u32 i;
	int ret;

	sim_expect(!prog_open(&n, "via_a", 16 << 10), "no NIC");
	prog_buffer(&n, 4096);
	out = prog_buffer(&n, BYTES);
	sim_expect(!prog_vi(&v, &n, r.level, 0, 0), "no VI");
	do {
		sim_sleep(MS);
		ret = prog_request(&v, mac, "reuse", 5 * SEC);
	} while (ret == VIA_R_NO_MATCH);
	sim_expect(!ret, "(%d)", ret);
	for (i = 0; i < MESSAGES; i++) {
		prog_fill(out, bytes_of(i), r.level, i);
		prog_post_send(&v, out, bytes_of(i));
		ret = prog_wait(&v, false, 60 * SEC, &d);
		sim_expect(!ret && !(d.status & VIA_ST_ERROR_MASK),
			   "send %u: %d, status %#x", i, ret, d.status);
		memset(out, 0x5a, BYTES);
	}
	while (!READ_ONCE(r.over))
		sim_sleep(MS);
	prog_close(&n);
}

static void takes(void *arg)
{
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	char *in;
	u32 i;
	int ret;

	sim_expect(!prog_open(&n, "via_b", 4096 + MESSAGES * BYTES), "no NIC");
	prog_buffer(&n, 4096);
	in = prog_buffer(&n, MESSAGES * BYTES);
	sim_expect(!prog_vi(&v, &n, r.level, 0, 0), "no VI");
	for (i = 0; i < MESSAGES; i++)
		prog_post_recv(&v, in + i * BYTES, BYTES);
	ret = prog_accept(&v, "reuse", 10 * SEC);
	sim_expect(!ret, "(%d)", ret);
	/* A good wire loses nothing, and there is room for all. */
	for (i = 0; i < MESSAGES; i++) {
		ret = prog_wait(&v, true, 60 * SEC, &d);
		sim_expect(!ret && !(d.status & VIA_ST_ERROR_MASK),
			   "receive %u: %d, status %#x", i, ret, d.status);
		sim_expect(d.length == bytes_of(i) &&
			   prog_filled(in + i * BYTES, d.length, r.level, i),
			   "message %u is not what was sent", i);
	}
	WRITE_ONCE(r.over, true);
	sim_sleep(SEC);
	prog_close(&n);
}

static void reuse(void)
{
	static const u32 levels[] = { VIA_UNRELIABLE, VIA_RELIABLE_DELIVERY,
				      VIA_RELIABLE_RECEPTION };
	struct sim_nic *nic[2];
	struct sim_proc *p[2];
	u32 i;

	memset(&r, 0, sizeof(r));
	sim_nics_dma();
	sim_config.max_time = sim_clock + 100 * SEC;
	r.level = levels[sim_dice(3)];
	for (i = 0; i < 2; i++)
		nic[i] = sim_nic_up(i ? "b" : "a", 1 + i);
	for (i = 0; i < 2; i++) {
		p[i] = sim_proc_new(i ? "takes" : "reuses", 1000 + i);
		sim_thread(p[i], i ? "takes" : "reuses", i ? takes : reuses,
			   NULL);
	}
	for (i = 0; i < 2; i++)
		sim_proc_wait(p[i]);
	for (i = 0; i < 2; i++)
		sim_nic_down(nic[i]);
}

/*
 * A message is acknowledged, and so complete, while a frame of it that was sent
 * again is in the ring.  What the program writes from then on leaves in no frame.
 */

#define AFTER		0xa5

static struct {
	struct sim_nic *nic[2];
	u8 ack[256];			/* the last of its message */
	u32 ack_len;
	u32 sends;			/* frames of data that have left */
	bool deaf;			/* acknowledgements are kept from it */
	bool wrote, over;
} t;

static bool tap(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = forged_wire(frame);
	u32 at = ETH_HLEN + (h->type == VIA_WIRE_WRITE ? VIA_WIRE_WRITE_HDR :
							 VIA_WIRE_SEND_HDR);

	if (h->type == VIA_WIRE_SEND || h->type == VIA_WIRE_WRITE) {
		t.sends++;
		sim_expect(*len > at && frame[at] != AFTER &&
			   frame[*len - 1] != AFTER,
			   "what was written after the completion leaves");
	}
	if (h->type != VIA_WIRE_ACK || !t.deaf)
		return true;
	if (t.sends && *len <= sizeof(t.ack)) {
		memcpy(t.ack, frame, *len);
		t.ack_len = *len;
	}
	return false;
}

static void writes_after(void *arg)
{
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	char *out;
	int ret;

	sim_expect(!prog_open(&n, "via_a", 16 << 10), "no NIC");
	out = prog_buffer(&n, BYTES);
	sim_expect(!prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0), "no VI");
	do {
		sim_sleep(MS);
		ret = prog_request(&v, sim_nic_mac(t.nic[1]), "after", 5 * SEC);
	} while (ret == VIA_R_NO_MATCH);
	sim_expect(!ret, "(%d)", ret);
	sim_sleep(10 * MS);
	t.deaf = true;
	prog_post_send(&v, out, BYTES);
	ret = prog_wait(&v, false, 60 * SEC, &d);
	sim_expect(!ret && !(d.status & VIA_ST_ERROR_MASK), "%d, %#x", ret,
		   d.status);
	memset(out, AFTER, BYTES);
	WRITE_ONCE(t.wrote, true);
	while (!READ_ONCE(t.over))
		sim_sleep(MS);
	prog_close(&n);
}

static void takes_one(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	int ret;

	sim_expect(!prog_open(&n, "via_b", 16 << 10), "no NIC");
	sim_expect(!prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0), "no VI");
	prog_post_recv(&v, prog_buffer(&n, BYTES), BYTES);
	ret = prog_accept(&v, "after", 10 * SEC);
	sim_expect(!ret, "(%d)", ret);
	while (!READ_ONCE(t.over))
		sim_sleep(MS);
	prog_close(&n);
}

static void after(void)
{
	struct sim_proc *p[2];
	u32 i;

	memset(&t, 0, sizeof(t));
	sim_nics_dma();
	sim_param_set("dma_min", 1);
	sim_wire.meddle = tap;
	sim_config.max_time = sim_clock + 100 * SEC;
	for (i = 0; i < 2; i++)
		t.nic[i] = sim_nic_up(i ? "b" : "a", 1 + i);
	p[0] = sim_proc_new("writes", 1000);
	p[1] = sim_proc_new("takes", 1001);
	sim_thread(p[0], "writes", writes_after, NULL);
	sim_thread(p[1], "takes", takes_one, NULL);
	/* All of it arrives, and is acknowledged; the sender does not hear it. */
	while (!t.ack_len || t.sends < 3 || sim_nic_ring(t.nic[0]))
		sim_pause(10000);
	sim_pause(5 * MS);
	sim_nic_hold(t.nic[0], true);
	while (!sim_nic_ring(t.nic[0]))
		sim_pause(10000);
	sim_pause(sim_dice(50) * MS);
	t.deaf = false;
	sim_nic_inject(t.nic[0], t.ack, t.ack_len);
	for (i = 0; !READ_ONCE(t.wrote); i++) {
		sim_expect(i < 1000, "not complete");
		sim_pause(MS);
	}
	sim_nic_hold(t.nic[0], false);
	while (sim_nic_ring(t.nic[0]))
		sim_pause(10000);
	sim_pause(10 * MS);
	t.over = true;
	for (i = 0; i < 2; i++)
		sim_proc_wait(p[i]);
	for (i = 0; i < 2; i++)
		sim_nic_down(t.nic[i]);
}

SIM_SCENARIO(.name = "dma-after", .run = after, .runs = 30,
	     .what = "a frame that was sent again is in the ring as its message completes")

static void reliable(void)
{
	run(sim_dice(2) ? VIA_RELIABLE_DELIVERY : VIA_RELIABLE_RECEPTION,
	    sim_dice(2) ? 0 : 200, !sim_dice(4));
}

static void unreliable(void)
{
	run(VIA_UNRELIABLE, 0, !sim_dice(4));
}

SIM_SCENARIO(.name = "dma", .run = reliable, .runs = 20,
	     .what = "NICs that read the bytes of reliable messages themselves")
SIM_SCENARIO(.name = "dma-ud", .run = unreliable, .runs = 40,
	     .what = "the same at Unreliable: what is complete is not read")
SIM_SCENARIO(.name = "dma-gone", .run = goes, .runs = 300,
	     .what = "memory is deregistered while its NIC goes")
SIM_SCENARIO(.name = "dma-reuse", .run = reuse, .runs = 50,
	     .what = "NICs that read late, programs that reuse at once")
