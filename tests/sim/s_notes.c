// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Notes of SENDs (VIA_CTL_KERNEL_*), between a consumer in the kernel and a host that is
 * nothing but frames: on the wire byte by byte, where both ends have agreed on them, and
 * where they have not; and programs, which have none.
 */
#include "consumer.h"
#include "raw.h"

#define PORT		"\1port-20051"
#define BYTES		100
#define STAG		0xabcd1234u

static struct raw_host r;

static struct {
	struct via_file *f;
	struct via_vi *vi;
	struct consumer_port port;
	u16 control[8];			/* of sends */
	u32 posted[2], done[2];
	struct via_kernel_done last[2];
	u8 *in, *out;
	bool ready, over, ends;
} s;

static void load(struct via_vi *vi, bool recv, u32 index, struct via_desc *d)
{
	d->control = recv ? 0 : s.control[index];
	d->immediate = STAG;
	d->seg[0].addr = (uintptr_t)(recv ? s.in : s.out);
	d->seg[0].len = BYTES;
	d->nsegs = 1;
	d->length = BYTES;
}

static void complete(struct via_vi *vi, bool recv,
		     const struct via_kernel_done *done)
{
	s.last[recv] = *done;
	WRITE_ONCE(s.done[recv], s.done[recv] + 1);
}

static void moved(struct via_vi *vi, u32 from)
{
	if (from == VIA_STATE_CONNECTED)
		WRITE_ONCE(s.over, true);
}

static const struct via_kernel_ops hooks = {
	.load = load,
	.complete = complete,
	.settle = consumer_settle,
	.moved = moved,
	.gone = consumer_gone,
};

static void serve(void *arg)
{
	s.in = kmalloc(BYTES, GFP_KERNEL);
	s.out = kzalloc(BYTES, GFP_KERNEL);
	sim_expect(s.in && s.out, "");
	s.vi = consumer_open(&s.f, "via_a", &hooks, NULL);
	s.posted[1] = 4;
	via_kernel_post(s.vi, true, 4);
	consumer_listen(&s.port, s.f, PORT);
	WRITE_ONCE(s.ready, true);
	consumer_await(&s.port);
	sim_ok(via_kernel_accept(s.vi, s.port.asked, NULL, 0));
	sim_await(READ_ONCE(s.ends), 100000);
	consumer_close(s.f, s.vi, &s.port);
	sim_expect(s.done[0] == s.posted[0] && s.done[1] == s.posted[1], "");
	kfree(s.in);
	kfree(s.out);
	s.f = NULL;
}

static void send(u16 control)
{
	s.control[s.posted[0]++] = control;
	via_kernel_post(s.vi, false, 1);
	via_kernel_ring(s.vi, false);
}

/* The next SEND of the consumer's, and the same again, as it was not acknowledged. */
static void leaves(u16 control, u16 notes)
{
	const struct via_wire_data *d;
	const struct raw_frame *f;
	u32 n;

	send(control);
	for (n = 0; n < 2; n++) {
		f = raw_await(&r, VIA_WIRE_SEND, SEC);
		sim_expect(f, "nothing was sent");
		d = raw_data_of(f);
		sim_expect(be32_to_cpu(d->seq) == r.ack, "");
		sim_expect(be16_to_cpu(d->reads) == notes &&
			   be32_to_cpu(d->immediate) == STAG &&
			   !(raw_wire(f)->flags & VIA_WIRE_IMMEDIATE),
			   "notes %#x, not %#x", be16_to_cpu(d->reads), notes);
	}
	r.ack++;
	raw_send_ack(&r, 0);
	sim_await(READ_ONCE(s.done[0]) == s.posted[0], 100000);
	sim_expect(!(s.last[0].status & VIA_ST_ERROR_MASK), "");
}

/* A SEND with such notes comes. */
static void comes(u16 notes)
{
	struct raw_data d = {
		.type = VIA_WIRE_SEND, .flags = VIA_WIRE_PUSH, .seq = r.seq++,
		.msg_len = BYTES, .payload = s.out, .len = BYTES,
		.reads = notes, .immediate = STAG,
	};

	raw_send_data(&r, &d);
}

static void taken(u16 notes)
{
	u32 n = s.done[1];

	comes(notes);
	sim_await(READ_ONCE(s.done[1]) != n || READ_ONCE(s.over), 100000);
	sim_expect(!s.over && s.last[1].status == VIA_ST_OP_RECEIVE &&
		   s.last[1].length == BYTES &&
		   s.last[1].solicited == !!(notes & VIA_WIRE_N_SOLICITED) &&
		   s.last[1].invalidate == !!(notes & VIA_WIRE_N_INVALIDATE),
		   "status %#x, %d, %d", s.last[1].status, s.last[1].solicited,
		   s.last[1].invalidate);
	if (notes & VIA_WIRE_N_INVALIDATE)
		sim_expect(s.last[1].immediate == STAG, "");
}

/* The consumer has made a descriptor that there is not: it ends the connection. */
static void is_wrong(u16 control)
{
	send(control);
	sim_await(READ_ONCE(s.over), 100000);
	sim_expect((s.last[0].status & VIA_ST_ERROR_MASK) ==
		   VIA_ST_FORMAT_ERROR, "status %#x", s.last[0].status);
}

static void wrong(void)
{
	static const u16 controls[] = {
		VIA_CTL_KERNEL_INVALIDATE | VIA_CTL_IMMEDIATE,
		VIA_CTL_KERNEL_SOLICITED | VIA_CTL_OP_RDMAWRITE,
		VIA_CTL_KERNEL_INVALIDATE | VIA_CTL_OP_RDMAREAD,
		0x0010, 0x8000 | VIA_CTL_KERNEL_SOLICITED,
	};

	is_wrong(controls[sim_dice(ARRAY_SIZE(controls))]);
}

static void connects(u32 options)
{
	const struct raw_frame *f = NULL;

	r.options = options;
	sim_await(READ_ONCE(s.ready), 100000);
	while (!f) {
		raw_request(&r, PORT);
		f = raw_await(&r, VIA_WIRE_ACCEPT, 20 * MS);
	}
	sim_expect(be32_to_cpu(raw_conn_of(f)->options) == options,
		   "options %#x", be32_to_cpu(raw_conn_of(f)->options));
	raw_know(&r, f);
	raw_send_answer(&r, VIA_WIRE_CONFIRM, 0);
	sim_pause(10 * MS);
	raw_forget(&r);
}

static void notes(void)
{
	bool agreed = sim_dice(2);

	hosts_up(1);
	raw_begin(&r, host_nic(0), 1);
	r.level = VIA_RELIABLE_DELIVERY;
	sim_kthread("server", serve, NULL);
	connects(agreed ? VIA_WIRE_O_NOTES : 0);
	leaves(0, 0);
	taken(0);
	if (agreed) {
		leaves(VIA_CTL_KERNEL_SOLICITED, VIA_WIRE_N_SOLICITED);
		leaves(VIA_CTL_KERNEL_INVALIDATE | VIA_CTL_KERNEL_SOLICITED,
		       VIA_WIRE_NOTES);
		taken(VIA_WIRE_N_INVALIDATE);
		taken(VIA_WIRE_N_SOLICITED);
		taken(VIA_WIRE_NOTES);
		wrong();
	} else {
		leaves(VIA_CTL_KERNEL_SOLICITED, 0);
		if (sim_dice(2)) {
			is_wrong(VIA_CTL_KERNEL_INVALIDATE);
		} else {
			comes(VIA_WIRE_N_SOLICITED);
			sim_expect(raw_await(&r, VIA_WIRE_DISCONNECT, SEC), "");
			sim_await(READ_ONCE(s.over), 100000);
			sim_expect(s.last[1].status &
				   VIA_ST_DESC_FLUSHED_ERROR, "");
		}
	}
	s.ends = true;
	sim_await(!READ_ONCE(s.f), MS);
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-notes", .run = notes, .runs = 40, .max_vi = 4,
	     SIM_STATE(s),
	     .what = "SENDs with notes, of ends that have agreed on them or not")

/* A program can neither send a note nor get one. */
static void program(void *arg)
{
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	u8 *p;

	prog_open_vi(&n, &v, "via_a", 16 << 10, VIA_RELIABLE_DELIVERY);
	prog_buffer(&n, 8192);
	p = prog_buffer(&n, BYTES);
	prog_post_recv(&v, p, BYTES);
	prog_connect(&v, NULL, PORT, 5 * SEC);
	if (s.ends) {
		prog_post(&v, false, sim_dice(2) ? VIA_CTL_KERNEL_SOLICITED :
						   VIA_CTL_KERNEL_INVALIDATE,
			  p, BYTES, n.handle, 0, 0);
		sim_expect(!prog_wait(&v, false, SEC, &d) &&
			   d.status & VIA_ST_FORMAT_ERROR, "status %#x",
			   d.status);
	}
	sim_expect(!prog_wait(&v, true, SEC, &d) &&
		   d.status & VIA_ST_DESC_FLUSHED_ERROR, "status %#x",
		   d.status);
	prog_close(&n);
	WRITE_ONCE(s.over, true);
}

static void programs(void)
{
	u8 byte = 1;

	s.ends = sim_dice(2);
	s.out = &byte;
	hosts_up(1);
	raw_begin(&r, host_nic(0), 1);
	r.level = VIA_RELIABLE_DELIVERY;
	r.options = VIA_WIRE_O_NOTES;
	host_run(0, "server", program, NULL);
	sim_expect(raw_connect(&r, PORT, true), "");
	sim_pause(10 * MS);
	if (!s.ends) {
		struct raw_data d = {
			.type = VIA_WIRE_SEND, .seq = r.seq++, .msg_len = 1,
			.payload = &byte, .len = 1,
			.reads = VIA_WIRE_N_SOLICITED,
		};

		raw_send_data(&r, &d);
	}
	programs_wait();
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "notes-programs", .run = programs, .runs = 20, .max_vi = 4,
	     SIM_STATE(s),
	     .what = "programs and SENDs with notes")
