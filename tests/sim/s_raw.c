// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program beside a host that is nothing but frames: what docs/reference/wire.md says
 * of each frame, said once, and what the program sees of it.
 */
#include "raw.h"
#include "s_forge.h"
#include "../../devices/ether/vi.h"
#include "../../devices/ether/param.h"


#define DISC		"raw"
#define BUFFERS		4
#define BYTES		40000u		/* of a buffer: more than MOST */
#define MOST		32768u		/* MaxTransferSize */
#define AT_ONCE		(100 * MS)	/* no timer of seconds is in it */
#define ROUNDS		3
#define READS		32		/* that a target remembers */
#define READS_OUT	16		/* that an initiator has open */

static struct raw_host r;

/* What the program has, and is asked to do. */
static struct {
	void (*todo)(void);
	struct list_head idle, asking;	/* it, and its client */
	bool over;
	struct prog_nic nic;
	struct prog_vi vi;
	u8 *in[BUFFERS], *out;
	u32 rights, handle;		/* of a region of its own: 0, none */
	int ret;
	struct prog_done done;
} p;

static void program_begins(void)
{
}

static void program(void *arg)
{
	u32 i;

	sim_ok(prog_open(&p.nic, "via_a", (BUFFERS + 2) * BYTES));
	prog_buffer(&p.nic, 8192);
	for (i = 0; i < BUFFERS; i++)
		p.in[i] = prog_buffer(&p.nic, BYTES);
	p.out = prog_buffer(&p.nic, BYTES);
	for (;;) {
		p.todo = NULL;
		sim_wake_list(&p.asking);
		while (!p.todo && !p.over)
			sim_block(&p.idle);
		if (p.over)
			break;
		p.todo();
	}
	prog_close(&p.nic);
}

static void finished(void)
{
	while (p.todo)
		sim_block(&p.asking);
}

static void begin(void (*what)(void))
{
	p.todo = what;
	sim_wake_list(&p.idle);
}

static void ask(void (*what)(void))
{
	begin(what);
	finished();
}

/* What the program is asked to do */

static void serve(void)
{
	u32 i;

	sim_ok(prog_vi(&p.vi, &p.nic, r.level, 0, 0));
	for (i = 0; i < BUFFERS; i++) {
		memset(p.in[i], 0, BYTES);
		prog_post_recv(&p.vi, p.in[i], BYTES);
	}
	p.ret = prog_accept(&p.vi, DISC, 10 * SEC);
}

static void leave(void)
{
	struct prog_done d;
	struct via_event ev;

	sim_ok(prog_disconnect(&p.vi));
	while (prog_done(&p.vi, true, &d) || prog_done(&p.vi, false, &d))
		;
	sim_ok(prog_vi_destroy(&p.vi));
	while (!prog_event(&p.nic, &ev))
		;
}

static void receive(void)
{
	p.ret = prog_wait(&p.vi, true, AT_ONCE, &p.done);
}

static void sent(void)
{
	p.ret = prog_wait(&p.vi, false, SEC, &p.done);
}

static void send_some(void)
{
	prog_fill(p.out, 1000, 1, 1);
	prog_post_send(&p.vi, p.out, 1000);
}

static u32 connect_with(u32 level)
{
	r.level = level;
	raw_forget(&r);
	begin(serve);
	sim_expect(raw_connect(&r, DISC, true), "");
	finished();
	sim_expect(!p.ret, "(%d)", p.ret);
	raw_forget(&r);
	return level;
}

static u32 reliable(void)
{
	return connect_with(sim_dice(2) ? VIA_RELIABLE_DELIVERY :
					  VIA_RELIABLE_RECEPTION);
}

static void stands(void)
{
	sim_expect(prog_state(&p.vi) == VIA_STATE_CONNECTED, "(%u)",
		   prog_state(&p.vi));
}

/* A message of ours is received, and it is the next one. */
static void message(u32 number)
{
	u32 len = 1 + sim_dice(RAW_SEND);
	u8 m[RAW_SEND];

	prog_fill(m, len, 2, number);
	raw_send(&r, m, len);
	ask(receive);
	sim_expect(!p.ret && p.done.status == (VIA_ST_DONE |
					       VIA_ST_OP_RECEIVE) &&
		   p.done.length == len, "(%d, %#x)", p.ret, p.done.status);
	sim_expect(prog_filled(p.in[(p.vi.q[1].collected - 1) % BUFFERS], len,
			       2, number), "");
}

/* The NIC ends the connection, and says that reason. */
static void ends(u32 reason)
{
	const struct raw_frame *f = raw_await(&r, VIA_WIRE_DISCONNECT, AT_ONCE);

	sim_expect(f && be32_to_cpu(raw_end_of(f)->reason) == reason, "(%d)",
		   f ? (int)be32_to_cpu(raw_end_of(f)->reason) : -1);
	sim_pause(100000);
	sim_expect(prog_state(&p.vi) == VIA_STATE_ERROR, "");
}

static bool clear(const u8 *at, u32 n)
{
	while (n && !*at) {
		at++;
		n--;
	}
	return !n;
}

/* An ACK of what has come so far, within @ns. */
static const struct raw_frame *acked(u64 ns)
{
	const struct raw_frame *f;

	do {
		f = raw_await(&r, VIA_WIRE_ACK, ns);
	} while (f && be32_to_cpu(raw_ack_of(f)->ack) != r.seq);
	return f;
}

/* What is tried */

/* A frame that comes twice is received once, and acknowledged at once. */
static void twice(void)
{
	const struct raw_frame *f;

	reliable();
	message(0);
	sim_expect(acked(AT_ONCE), "");
	sim_pause(20 * MS);
	raw_forget(&r);
	r.seq--;
	raw_send(&r, p.in, 1);
	f = acked(AT_ONCE);
	sim_expect(f, "a duplicate is not answered");
	sim_expect(raw_wire(f)->flags & VIA_WIRE_DSACK &&
		   be32_to_cpu(raw_ack_of(f)->dsack) == r.seq - 1, "");
	ask(receive);
	sim_expect(p.ret == VIA_R_TIMEOUT, "");
	message(1);
}

/*
 * What lies behind a hole is told in sack, kept, and received behind it; or the
 * connection ends before that.
 */
static void hole(void)
{
	u32 n = 2 + sim_dice(BUFFERS - 1), i, first;
	struct raw_data d = { .type = VIA_WIRE_SEND };
	const struct raw_frame *f;
	u8 m[RAW_SEND];
	u64 sack = 0;

	reliable();
	first = r.seq;
	for (i = 1; i <= n; i++) {
		d.seq = first + i % n;
		d.len = 1400 - i % n;
		d.msg_len = d.len;
		prog_fill(m, d.len, 2, i % n);
		d.payload = m;
		raw_send_data(&r, &d);
		sack |= i < n ? 1ull << (i - 1) : 0;
		f = raw_await(&r, VIA_WIRE_ACK, 3 * MS);
		sim_expect(f, "a frame out of order is not answered");
		sim_expect(be32_to_cpu(raw_ack_of(f)->ack) ==
			   first + (i < n ? 0 : n) &&
			   raw_sack(f) == (i < n ? sack : 0), "");
		if (!sim_dice(8))
			return;
	}
	r.seq += n;
	for (i = 0; i < n; i++) {
		ask(receive);
		sim_expect(!p.ret && p.done.length == 1400 - i &&
			   prog_filled(p.in[i], p.done.length, 2, i), "(%d)",
			   p.ret);
	}
}

/* A train comes while one of its frames is held, which was sent again by itself. */
static void train(void)
{
	const struct raw_frame *f;
	u8 m[1400];
	struct raw_data d = {
		.type = VIA_WIRE_SEND, .msg_len = sizeof(m), .payload = m,
		.len = sizeof(m), .train = 400,
	};
	struct raw_data one = d;
	u32 k = 1 + sim_dice(3);

	reliable();
	prog_fill(m, sizeof(m), 2, 0);
	d.seq = r.seq;
	one.train = 0;
	one.seq = r.seq + k;
	one.offset = k * 400;
	one.payload = m + one.offset;
	one.len = min(400u, (u32)sizeof(m) - one.offset);
	raw_send_data(&r, &one);
	f = raw_await(&r, VIA_WIRE_ACK, 3 * MS);
	sim_expect(f && raw_sack(f), "a frame out of order is not answered");
	raw_send_data(&r, &d);
	f = raw_await(&r, VIA_WIRE_ACK, 3 * MS);
	sim_expect(f && be32_to_cpu(raw_ack_of(f)->ack) == r.seq + 4 &&
		   !raw_sack(f), "");
	r.seq += 4;
	ask(receive);
	sim_expect(!p.ret && p.done.length == sizeof(m) &&
		   prog_filled(p.in[0], sizeof(m), 2, 0), "(%d)", p.ret);
	message(1);
}

static void count_held(void)
{
	p.ret = prog_counter(&p.nic, "ooo_held");
}

/*
 * One host does not fill the room for frames beyond holes: it has half of it.  What
 * it has is charged to the program.
 */
static void room(void)
{
	u32 most = via_ether_ooo_max, uncharged, i, n, filled = 64;
	struct raw_data d = {
		.type = VIA_WIRE_SEND, .payload = p.out,
		.len = 1000, .msg_len = 1000,
	};
	int held;

	via_ether_ooo_max = filled;
	reliable();
	ask(count_held);
	held = p.ret;
	uncharged = sim_uncharged;
	for (i = 1; i <= filled; i++) {
		d.seq = r.seq + i;
		raw_send_data(&r, &d);
		raw_await(&r, VIA_WIRE_ACK, 3 * MS);
	}
	ask(count_held);
	n = p.ret - held;
	via_ether_ooo_max = most;
	sim_expect(n >= filled / 2 && n <= filled / 2 + 1,
		   "of %u frames %u are held", filled, n);
	sim_expect(sim_uncharged < uncharged + n * d.len, "not charged");
}

/*
 * Unreliable: a gap ends the message it falls into, whose receive serves the
 * next one; what is of the other side of the gap does not go on with it.  What
 * comes late or twice is dropped.
 */
static void gap(void)
{
	struct raw_data d = {
		.type = VIA_WIRE_SEND, .msg_len = 2800, .payload = p.out,
		.len = 1400,
	};

	connect_with(VIA_UNRELIABLE);
	prog_fill(p.out, d.len, 3, 0);
	d.seq = r.seq;
	raw_send_data(&r, &d);
	/* The rest of it, and the first frame of one like it, are lost. */
	d.seq += 3;
	d.offset = 1400;
	raw_send_data(&r, &d);
	r.seq += 4;
	message(0);
	r.seq -= 1 + sim_dice(5);
	raw_send(&r, p.out, 100);
	ask(receive);
	sim_expect(p.ret == VIA_R_TIMEOUT, "(%d)", p.ret);
	r.seq += 10;
	message(1);
}

static void question(void)
{
	connect_with(1 << sim_dice(3));
	sim_pause(20 * MS);
	raw_forget(&r);
	raw_send_ack(&r, sim_dice(2) ? VIA_WIRE_ACK_NOW : VIA_WIRE_PROBE);
	sim_expect(acked(AT_ONCE), "a question is not answered");
}

/* Acknowledgements are a sign of life, as good as any. */
static void only_acks(void)
{
	const struct raw_frame *f;
	u32 i;

	connect_with(1 << sim_dice(3));
	/* It has answered once: they have the same connections. */
	sim_pause(2 * SEC);
	r.mute = true;
	for (i = 0; i < 30; i++) {
		raw_send_ack(&r, 0);
		sim_pause(500 * MS);
	}
	r.mute = false;
	stands();
	while ((f = raw_next(&r, 0)))
		sim_expect(raw_wire(f)->type != VIA_WIRE_HEARTBEAT,
			   "a peer that talks is asked whether it is there");
	message(0);
}

/* An entry of ACKS, with others beside it. */
static void send_acks(u32 ack, u64 cookie)
{
	struct via_wire_acks_entry *e;
	u32 i, at = sim_dice(3);
	struct forged f;

	e = forge_acks(&f, r.mac, sim_nic_mac(r.nic), 0, 3);
	for (i = 0; i < 3; i++) {
		e[i].dst = cpu_to_be32(i == at ? r.remote_id :
						 r.remote_id + 1 + i);
		e[i].ack = cpu_to_be32(ack);
		e[i].cookie = cpu_to_be64(cookie);
	}
	forge_throw(&f, r.nic);
}

/*
 * An entry of ACKS is as good as an ACK, from that host, with that cookie; what
 * is of another connection, or of none, has no effect and no answer.
 */
static void in_acks(void)
{
	const struct raw_frame *f;

	reliable();
	ask(send_some);
	f = raw_await(&r, VIA_WIRE_SEND, AT_ONCE);
	sim_expect(f, "");
	r.ack++;
	switch (sim_dice(3)) {
	case 0:
		r.mac[5] ^= 0x80;
		send_acks(r.ack, r.remote_cookie);
		r.mac[5] ^= 0x80;
		break;
	case 1:
		send_acks(r.ack, r.remote_cookie ^ 1);
		break;
	default:
		send_acks(r.ack + 1, r.remote_cookie);
	}
	f = raw_await(&r, VIA_WIRE_SEND, 200 * MS);
	sim_expect(f && be32_to_cpu(raw_data_of(f)->seq) == r.ack - 1,
		   "an entry of another is taken");
	send_acks(r.ack, r.remote_cookie);
	ask(sent);
	sim_expect(!p.ret && p.done.status == VIA_ST_DONE, "(%d, %#x)", p.ret,
		   p.done.status);
	sim_expect(!raw_await(&r, VIA_WIRE_RESET, 0), "");
	stands();
}

/*
 * A connection is of two addresses; another host only gets a RESET, or hears
 * that its own connection is not there.
 */
static void stranger(void)
{
	u8 type = sim_dice(3) ? VIA_WIRE_ACK : VIA_WIRE_DISCONNECT;

	connect_with(1 << sim_dice(3));
	sim_pause(20 * MS);
	raw_forget(&r);
	r.mac[5] ^= 0x80;
	if (sim_dice(2)) {
		raw_send(&r, p.nic.mem, 100);
		r.seq--;
		type = VIA_WIRE_SEND;
	} else {
		if (type == VIA_WIRE_ACK)
			raw_send_ack(&r, sim_dice(2) ? VIA_WIRE_ACK_NOW : 0);
		else
			raw_send_end(&r, type, r.seq, r.ack);
	}
	sim_expect(raw_await(&r, type == VIA_WIRE_DISCONNECT ?
			     VIA_WIRE_DISCONNECT_ACK : VIA_WIRE_RESET, AT_ONCE),
		   "(%#x)", type);
	r.mac[5] ^= 0x80;
	ask(receive);
	sim_expect(p.ret == VIA_R_TIMEOUT, "");
	stands();
	message(0);
}

/* No message is longer than MaxTransferSize, however long a receive is. */
static void too_long(void)
{
	struct raw_data d = {
		.type = VIA_WIRE_SEND, .msg_len = MOST + 1 + sim_dice(5000),
		.payload = p.out, .len = RAW_SEND,
	};
	u32 level = connect_with(1 << sim_dice(3));

	prog_fill(p.out, d.len, 3, 0);
	d.seq = r.seq++;
	raw_send_data(&r, &d);
	ask(receive);
	sim_expect(!p.ret && p.done.status & VIA_ST_LENGTH_ERROR, "(%d, %#x)",
		   p.ret, p.done.status);
	sim_expect(clear(p.in[0], BYTES), "");
	if (level != VIA_UNRELIABLE)
		ends(VIA_WIRE_R_RECEIVE);
	else
		message(0);
}

/* A frame that does not go on where the one before it ended. */
static void not_the_next(void)
{
	struct raw_data d = {
		.type = sim_dice(2) ? VIA_WIRE_SEND : VIA_WIRE_WRITE,
		.msg_len = 4000, .payload = p.out, .len = 1400,
	};

	reliable();
	prog_fill(p.out, d.len, 3, 0);
	d.raddr = (uintptr_t)p.in[0];
	d.rhandle = p.nic.handle;
	d.seq = r.seq++;
	raw_send_data(&r, &d);
	d.seq = r.seq++;
	d.offset = 1400;
	switch (sim_dice(4)) {
	case 0:
		d.offset += 1 + sim_dice(1000);
		break;
	case 1:
		d.offset -= 1 + sim_dice(1000);
		break;
	case 2:
		d.msg_len += 1 + sim_dice(100);
		break;
	default:
		d.type ^= VIA_WIRE_SEND ^ VIA_WIRE_WRITE;
	}
	raw_send_data(&r, &d);
	ends(VIA_WIRE_R_PROTOCOL);
	sim_expect(prog_filled(p.in[0], 1400, 3, 0) &&
		   clear(p.in[0] + 1400, BYTES - 1400), "");
}

static void post_read(void)
{
	prog_post_read(&p.vi, p.out, 3000, 0x1000, 17);
}

/* Data for a read is the next of the oldest one, and nothing else. */
static void read_wrong(void)
{
	struct raw_data d = {
		.type = VIA_WIRE_READ_DATA, .msg_len = 3000, .len = 1000,
	};
	const struct raw_frame *f;
	u8 m[RAW_SEND];

	reliable();
	memset(p.out, 0, 3000);
	prog_fill(m, d.len, 3, 0);
	d.payload = m;
	ask(post_read);
	f = raw_await(&r, VIA_WIRE_READ, AT_ONCE);
	sim_expect(f && be32_to_cpu(raw_data_of(f)->msg_len) == 3000, "");
	r.ack = be32_to_cpu(raw_data_of(f)->seq) + 1;
	d.reads = r.ack - 1;
	d.seq = r.seq++;
	raw_send_data(&r, &d);
	d.seq = r.seq++;
	d.offset = d.len;
	switch (sim_dice(4)) {
	case 0:
		d.offset += 1 + sim_dice(1000);
		break;
	case 1:
		d.offset -= 1 + sim_dice(1000);
		break;
	case 2:
		d.msg_len += 1 + sim_dice(1000);
		break;
	default:
		d.reads += 1 + sim_dice(3);
	}
	raw_send_data(&r, &d);
	ends(VIA_WIRE_R_PROTOCOL);
	sim_expect(prog_filled(p.out, 1000, 3, 0) &&
		   clear(p.out + 1000, 2000), "");
	ask(sent);
	sim_expect(!p.ret && p.done.status & VIA_ST_ERROR_MASK, "");
}

static void send_read(u32 n, u32 seq)
{
	struct raw_data d = {
		.type = VIA_WIRE_READ, .seq = seq, .msg_len = 100,
		.raddr = (uintptr_t)p.out + 100 * n, .rhandle = p.nic.handle,
	};

	raw_send_data(&r, &d);
}

/*
 * A target remembers so many reads until their data is acknowledged.  One more
 * is not taken, and not acknowledged, until there is room; each is answered
 * with its own bytes, in order.
 */
static void reads(void)
{
	u32 i, n = 0, first, seen, seq;
	const struct raw_frame *f;
	u64 until;

	reliable();
	for (i = 0; i <= READS; i++)
		prog_fill(p.out + 100 * i, 100, 3, i);
	first = r.seq;
	seen = r.ack;
	for (i = 0; i <= READS; i++)
		send_read(i, first + i);
	r.seq += READS + 1;
	while ((f = raw_next(&r, 5 * MS)))
		sim_expect((s32)(raw_acked(f) - r.seq) < 0,
			   "read %u is acknowledged", READS);
	/* All is sent again for as long as none is acknowledged. */
	for (until = sim_now() + 5 * SEC; n <= READS; ) {
		sim_expect(sim_now() < until, "(%u)", n);
		f = raw_await(&r, VIA_WIRE_READ_DATA, 500 * MS);
		if (n == READS)
			send_read(n, first + n);
		seq = f ? be32_to_cpu(raw_data_of(f)->seq) : 0;
		if (!f || seq != seen + n)
			continue;
		sim_expect(be16_to_cpu(raw_data_of(f)->reads) ==
			   (u16)(first + n), "");
		sim_expect(prog_filled(raw_payload(f), 100, 3, n), "(%u)", n);
		r.ack = seen + ++n;
		raw_send_ack(&r, 0);
	}
	stands();
}

static void post_reads(void)
{
	u32 i;

	for (i = 0; i < 2 * READS_OUT; i++)
		prog_post_read(&p.vi, p.out + 100 * i, 100, 100 * i, 17);
}

/*
 * An initiator has so many reads open, and the next one leaves when the data of
 * the oldest has come.
 */
static void reads_out(void)
{
	struct raw_data d = {
		.type = VIA_WIRE_READ_DATA, .msg_len = 100, .len = 100,
	};
	u32 i, n = 0, first;
	u8 m[100];

	reliable();
	first = r.ack;
	ask(post_reads);
	for (i = 0; i < 2 * READS_OUT; i++) {
		while (n < 2 * READS_OUT &&
		       raw_await(&r, VIA_WIRE_READ, n < READS_OUT + i ?
				 AT_ONCE : sim_dice(MS))) {
			r.ack = first + ++n;
			raw_send_ack(&r, 0);
		}
		sim_expect(n == min(READS_OUT + i, 2 * READS_OUT),
			   "%u reads are open", n - i);
		prog_fill(m, sizeof(m), 3, i);
		d.payload = m;
		d.seq = r.seq++;
		d.reads = first + i;
		raw_send_data(&r, &d);
	}
	for (i = 0; i < 2 * READS_OUT; i++) {
		ask(sent);
		sim_expect(!p.ret && !(p.done.status & VIA_ST_ERROR_MASK) &&
			   prog_filled(p.out + 100 * i, 100, 3, i), "(%u, %#x)",
			   i, p.done.status);
	}
	stands();
}

/* Each first copy of a frame is lost: that never adds up. */
static void first_lost(void)
{
	const struct raw_frame *f;
	u32 i, n;

	reliable();
	for (i = 0; i < 15; i++) {
		ask(send_some);
		for (n = 0; n < 2; n++) {
			f = raw_await(&r, VIA_WIRE_SEND, SEC);
			sim_expect(f && be32_to_cpu(raw_data_of(f)->seq) == r.ack,
				   "(%u, %u)", i, n);
		}
		r.ack++;
		raw_send_ack(&r, 0);
		ask(sent);
		sim_expect(!p.ret && p.done.status == VIA_ST_DONE, "(%u, %#x)",
			   i, p.done.status);
		raw_forget(&r);
	}
	stands();
}

/* What a transmitter that stands still has left goes out when it goes on. */
static void transmitter(void)
{
	u32 n = 1 + sim_dice(3), i;

	connect_with(1 << sim_dice(3));
	sim_nic_stop(r.nic, true);
	for (i = 0; i < n; i++)
		ask(send_some);
	sim_pause(sim_dice(20 * MS));
	raw_forget(&r);
	sim_nic_stop(r.nic, false);
	for (i = 0; i < n; i++)
		sim_expect(raw_await(&r, VIA_WIRE_SEND, AT_ONCE), "(%u)", i);
}

static void send_of_region(void)
{
	sim_ok(prog_register(&p.nic, p.in[0], BYTES, 0, &p.handle));
	prog_post(&p.vi, false, VIA_CTL_OP_SENDRECV, p.in[0], 3000, p.handle, 0,
		  0);
}

static void deregister(void)
{
	sim_ok(prog_deregister(&p.nic, p.in[0], p.handle));
}

/* What is to be sent again, and its memory is not registered any more. */
static void memory_gone(void)
{
	reliable();
	ask(send_of_region);
	sim_expect(raw_await(&r, VIA_WIRE_SEND, AT_ONCE), "");
	ask(deregister);
	raw_forget(&r);
	ends(VIA_WIRE_R_TRANSPORT);
	ask(sent);
	sim_expect(!p.ret && p.done.status & VIA_ST_PROTECTION_ERROR,
		   "(%d, %#x)", p.ret, p.done.status);
}

/* Data is as good as the CONFIRM before it that was lost. */
static void unconfirmed(void)
{
	u8 m[100];

	r.level = 1 << sim_dice(3);
	begin(serve);
	sim_expect(raw_connect(&r, DISC, false), "");
	raw_forget(&r);
	prog_fill(m, sizeof(m), 2, 0);
	raw_send(&r, m, sizeof(m));
	finished();
	sim_expect(!p.ret, "(%d)", p.ret);
	ask(receive);
	sim_expect(!p.ret && prog_filled(p.in[0], sizeof(m), 2, 0), "(%d)",
		   p.ret);
	sim_expect(!raw_await(&r, VIA_WIRE_RESET, 0), "");
}

static const struct {
	const char *name;
	void (*fn)(void);
} trials[] = {
	{ "twice", twice }, { "hole", hole }, { "train", train }, { "gap", gap },
	{ "room", room }, { "question", question }, { "in_acks", in_acks },
	{ "only_acks", only_acks }, { "stranger", stranger },
	{ "too_long", too_long }, { "not_the_next", not_the_next },
	{ "read_wrong", read_wrong }, { "reads", reads }, { "reads_out", reads_out },
	{ "first_lost", first_lost }, { "transmitter", transmitter },
	{ "memory_gone", memory_gone }, { "unconfirmed", unconfirmed },
};

static void raw(void)
{
	u32 i, n;

	hosts_up(1);
	INIT_LIST_HEAD(&p.idle);
	INIT_LIST_HEAD(&p.asking);
	raw_begin(&r, host_nic(0), 1);
	p.todo = program_begins;
	host_run(0, "program", program, NULL);
	finished();
	for (i = 0; i < ROUNDS; i++) {
		n = sim_dice(ARRAY_SIZE(trials));
		sim_log("trial %s", trials[n].name);
		trials[n].fn();
		ask(leave);
	}
	p.over = true;
	sim_wake_list(&p.idle);
	programs_wait();
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "raw", .run = raw, .runs = 100, SIM_STATE(p),
	     .what = "frame by frame what docs/reference/wire.md says")
