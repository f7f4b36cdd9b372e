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

static void run(u32 level, u32 loss)
{
	struct stream *s[STREAMS_MAX];
	struct stream_plan p;
	u32 n = 1 + sim_dice(STREAMS_MAX), i;

	sim_nics_dma();
	/* Short messages, too, in some runs. */
	sim_param_set("dma_min", sim_dice(2) ? 512 : 1 + sim_dice(64));
	sim_param_set("checksum", !sim_dice(4));
	sim_wire.loss = loss;
	stream_draw(&p, level);
	p.big = sim_dice(2);
	hosts_up(2);
	for (i = 0; i < n; i++)
		s[i] = stream_begin(&p, i, 0, 1);
	for (i = 0; i < n; i++)
		stream_end(s[i]);
	hosts_down();
}

/* Memory is deregistered while its NIC goes. */

static struct {
	struct prog_nic n;
	bool ready;
	char *mem;
	u32 handle[REGIONS];
} w;

static void deregister(void *arg)
{
	u32 from = (uintptr_t)arg, i;

	sim_await(READ_ONCE(w.ready), 1000);
	for (i = from; i < REGIONS; i += 2) {
		if (sim_dice(2))
			sim_sleep(sim_dice(20000));
		sim_ok(prog_deregister(&w.n, w.mem + i * PAGE_SIZE,
				       w.handle[i]));
	}
}

static void registers(void *arg)
{
	u32 i;

	sim_ok(prog_open(&w.n, "via_a", 0));
	w.mem = sim_memory(REGIONS * PAGE_SIZE);
	for (i = 0; i < REGIONS; i++) {
		sim_ok(prog_register(&w.n, w.mem + i * PAGE_SIZE, 64, 0,
				     &w.handle[i]));
	}
	for (i = 0; i < 2; i++)
		sim_thread(current->proc, "deregister", deregister,
			   (void *)(uintptr_t)i);
	WRITE_ONCE(w.ready, true);
	sim_threads_wait(10000);
	prog_close(&w.n);
}

static void goes(void)
{
	sim_nics_dma();
	hosts_up(1);
	host_run(0, "registers", registers, NULL);
	sim_await(READ_ONCE(w.ready), 1000);
	sim_pause(1 + sim_dice(50000));
	host_down(0);
	hosts_down();
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
	struct prog_nic n;
	struct prog_vi v;
	char *out;
	u32 i;

	prog_open_vi(&n, &v, "via_a", 16 << 10, r.level);
	prog_buffer(&n, 4096);
	out = prog_buffer(&n, BYTES);
	prog_connect(&v, host_mac(1), "reuse", 5 * SEC);
	for (i = 0; i < MESSAGES; i++) {
		prog_fill(out, bytes_of(i), r.level, i);
		prog_post_send(&v, out, bytes_of(i));
		prog_good(&v, false, 60 * SEC);
		memset(out, 0x5a, BYTES);
	}
	sim_await(READ_ONCE(r.over), MS);
	prog_close(&n);
}

static void takes(void *arg)
{
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	char *in;
	u32 i;

	prog_open_vi(&n, &v, "via_b", 4096 + MESSAGES * BYTES, r.level);
	prog_buffer(&n, 4096);
	in = prog_buffer(&n, MESSAGES * BYTES);
	for (i = 0; i < MESSAGES; i++)
		prog_post_recv(&v, in + i * BYTES, BYTES);
	prog_connect(&v, NULL, "reuse", 10 * SEC);
	/* A good wire loses nothing, and there is room for all. */
	for (i = 0; i < MESSAGES; i++) {
		d = prog_good(&v, true, 60 * SEC);
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
	sim_nics_dma();
	r.level = prog_level();
	hosts_up(2);
	host_run(0, "reuses", reuses, NULL);
	host_run(1, "takes", takes, NULL);
	hosts_down();
}

/*
 * A message is acknowledged, and so complete, while a frame of it that was sent
 * again is in the ring.  What the program writes from then on leaves in no frame.
 */

#define AFTER		0xa5

static struct {
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
	struct prog_nic n;
	struct prog_vi v;
	char *out;

	prog_open_vi(&n, &v, "via_a", 16 << 10, VIA_RELIABLE_DELIVERY);
	out = prog_buffer(&n, BYTES);
	prog_connect(&v, host_mac(1), "after", 5 * SEC);
	sim_sleep(10 * MS);
	t.deaf = true;
	prog_post_send(&v, out, BYTES);
	prog_good(&v, false, 60 * SEC);
	memset(out, AFTER, BYTES);
	WRITE_ONCE(t.wrote, true);
	sim_await(READ_ONCE(t.over), MS);
	prog_close(&n);
}

static void takes_one(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	prog_open_vi(&n, &v, "via_b", 16 << 10, VIA_RELIABLE_DELIVERY);
	prog_post_recv(&v, prog_buffer(&n, BYTES), BYTES);
	prog_connect(&v, NULL, "after", 10 * SEC);
	sim_await(READ_ONCE(t.over), MS);
	prog_close(&n);
}

static void after(void)
{
	u32 i;

	sim_nics_dma();
	sim_param_set("dma_min", 1);
	sim_wire.meddle = tap;
	hosts_up(2);
	host_run(0, "writes", writes_after, NULL);
	host_run(1, "takes", takes_one, NULL);
	/* All of it arrives, and is acknowledged; the sender does not hear it. */
	sim_await(t.ack_len && t.sends >= 3 && !sim_nic_ring(host_nic(0)), 10000);
	sim_pause(5 * MS);
	sim_nic_hold(host_nic(0), true);
	sim_await(sim_nic_ring(host_nic(0)), 10000);
	sim_pause(sim_dice(50) * MS);
	t.deaf = false;
	sim_nic_inject(host_nic(0), t.ack, t.ack_len);
	for (i = 0; !READ_ONCE(t.wrote); i++) {
		sim_expect(i < 1000, "not complete");
		sim_pause(MS);
	}
	sim_nic_hold(host_nic(0), false);
	sim_await(!sim_nic_ring(host_nic(0)), 10000);
	sim_pause(10 * MS);
	t.over = true;
	hosts_down();
}

SIM_SCENARIO(.name = "dma-after", .run = after, .runs = 30, .seconds = 100,
	     SIM_STATE(t),
	     .what = "a frame that was sent again is in the ring as its message completes")

static void reliable(void)
{
	run(prog_reliable(), sim_dice(2) ? 0 : 200);
}

static void unreliable(void)
{
	run(VIA_UNRELIABLE, 0);
}

SIM_SCENARIO(.name = "dma", .run = reliable, .runs = 20, .seconds = 2000,
	     .what = "NICs that read the bytes of reliable messages themselves")
SIM_SCENARIO(.name = "dma-ud", .run = unreliable, .runs = 40, .seconds = 2000,
	     .what = "the same at Unreliable: what is complete is not read")
SIM_SCENARIO(.name = "dma-gone", .run = goes, .runs = 300, SIM_STATE(w),
	     .what = "memory is deregistered while its NIC goes")
SIM_SCENARIO(.name = "dma-reuse", .run = reuse, .runs = 50, .seconds = 100,
	     SIM_STATE(r),
	     .what = "NICs that read late, programs that reuse at once")
