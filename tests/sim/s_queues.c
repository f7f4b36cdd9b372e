// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Frames that a NIC takes on two processors at once, beside a program that ends
 * its connection and makes the next one.  The host at the other end is nothing
 * but frames, and answers without delay.
 */
#include "raw.h"

#define TURNS		6
#define RECEIVES	4
#define BYTES		1000u

enum beside { GOODBYE, TOO_LONG, RESET, NBESIDE };

static struct raw_host r;

static struct {
	struct prog_nic nic;
	struct prog_vi vi;
	u8 *in;
} p;

static bool answer(struct raw_host *host, const struct raw_frame *f)
{
	if (raw_wire(f)->type == VIA_WIRE_REQUEST)
		raw_accept(host, f);
	return true;
}

static void drain(void)
{
	struct prog_done d;

	while (prog_done(&p.vi, true, &d) || prog_done(&p.vi, false, &d))
		;
}

static void connect_again(void)
{
	sim_ok(prog_disconnect(&p.vi));
	drain();
	sim_ok(prog_request(&p.vi, r.mac, "raw", SEC));
}

/* The old connection ends in a frame, and by the program. */
static void ended(u8 type)
{
	raw_send_end(&r, type, type == VIA_WIRE_RESET ? r.ack : r.seq,
		     type == VIA_WIRE_RESET ? 0 : r.ack);
	connect_again();
	/* What was said of the old one is not true of this one. */
	sim_sleep(sim_dice(200000));
	sim_expect(prog_state(&p.vi) == VIA_STATE_CONNECTED,
		   "the end of a connection ends the one after it");
}

/* A frame that cannot be taken, and the same once more. */
static void too_long(void)
{
	u32 bad = 0, i;
	struct prog_done d;
	struct raw_data data = {
		.type = VIA_WIRE_SEND, .seq = r.seq, .msg_len = BYTES + 1,
		.payload = p.in, .len = 100,
	};

	for (i = 0; i < RECEIVES; i++)
		prog_post_recv(&p.vi, p.in, BYTES);
	raw_send_data(&r, &data);
	raw_send_data(&r, &data);
	for (i = 0; i < RECEIVES; i++) {
		sim_expect(!prog_wait(&p.vi, true, SEC, &d), "(%u)", i);
		bad += !!(d.status & VIA_ST_LENGTH_ERROR);
	}
	sim_expect(bad == 1, "%u receives have the error of one message", bad);
	connect_again();
}

static void program(void *arg)
{
	const u32 *level = arg;
	u32 i;

	prog_open_vi(&p.nic, &p.vi, "via_a", 16 << 10, *level);
	prog_buffer(&p.nic, 8192);
	p.in = prog_buffer(&p.nic, BYTES);
	connect_again();
	for (i = 0; i < TURNS; i++)
		switch (sim_dice(NBESIDE)) {
		case GOODBYE:
			ended(VIA_WIRE_DISCONNECT);
			break;
		case RESET:
			ended(VIA_WIRE_RESET);
			break;
		default:
			too_long();
		}
	prog_close(&p.nic);
}

static void queues(void)
{
	u32 level = prog_reliable();

	hosts_up(1);
	raw_begin(&r, host_nic(0), 1);
	r.answer = answer;
	sim_nic_queues(host_nic(0));
	host_run(0, "program", program, &level);
	programs_wait();
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "raw-queues", .run = queues, .runs = 300,
	     .what = "frames on two processors, beside ends of connections")
