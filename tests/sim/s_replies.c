// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What a consumer in the kernel says with its answer goes to consumers in the kernel
 * alone.  A host that is nothing but frames asks with and without the option for it,
 * and answers a program with it.
 */
#include "consumer.h"
#include "raw.h"

#define PORT		"\1port-20050"
#define REPLY		100

static struct raw_host r;

static struct {
	struct via_file *f;
	struct via_vi *vi;
	struct consumer_port port;
	u8 reply[REPLY];
	bool refuses, ready, over;
} s;

static void load(struct via_vi *vi, bool recv, u32 index, struct via_desc *d)
{
	sim_expect(false, "nothing was posted");
}

static void complete(struct via_vi *vi, bool recv,
		     const struct via_kernel_done *done)
{
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
	s.vi = consumer_open(&s.f, "via_a", &hooks, NULL);
	consumer_listen(&s.port, s.f, PORT);
	WRITE_ONCE(s.ready, true);
	consumer_await(&s.port);
	if (s.refuses)
		via_kernel_reject(s.f, s.port.asked, s.reply, REPLY);
	else
		via_kernel_accept(s.vi, s.port.asked, s.reply, REPLY);
	sim_await(READ_ONCE(s.over), 100000);
	consumer_close(s.f, s.vi, &s.port);
	s.f = NULL;
}

/* The answer of that type; the host asks until there is one. */
static const struct raw_frame *answer(u8 type)
{
	const struct raw_frame *f;
	u32 n;

	for (n = 0; n < 100; n++) {
		raw_request(&r, PORT);
		f = raw_await(&r, type, 20 * MS);
		if (f)
			return f;
	}
	sim_expect(false, "no answer of type %#x", type);
	return NULL;
}

/* As the wire has it: where addresses were, and how long. */
static void sees_accept(const struct raw_frame *f, bool takes)
{
	const struct via_wire_conn *c = raw_conn_of(f);
	u32 n = c->client.disc_len;

	sim_expect(be32_to_cpu(c->options) == (takes ? VIA_WIRE_O_REPLY : 0),
		   "options %#x", be32_to_cpu(c->options));
	if (takes) {
		sim_expect(n + c->server.disc_len == REPLY &&
			   !memcmp(c->client.disc, s.reply, n) &&
			   !memcmp(c->server.disc, s.reply + n, REPLY - n), "");
		return;
	}
	sim_expect(n == strlen(PORT) && !memcmp(c->client.disc, PORT, n) &&
		   c->server.disc_len == n && !memcmp(c->server.disc, PORT, n),
		   "an address that was not asked for");
}

static void sees_refuse(const struct raw_frame *f, bool takes)
{
	const struct via_wire_answer *a = (const void *)(raw_wire(f) + 1);
	u32 n = takes ? REPLY : 0;
	u32 len = ETH_HLEN + VIA_WIRE_ANSWER_LEN + n + VIA_WIRE_SEAL_LEN;

	sim_expect(a->len == n && f->len == max(len, (u32)ETH_ZLEN),
		   "%u bytes, a reply of %u", f->len, a->len);
	sim_expect(!memcmp(a + 1, s.reply, n), "");
}

static void replies(void)
{
	bool takes = sim_dice(2);
	const struct raw_frame *f;

	s.refuses = sim_dice(2);
	prog_fill(s.reply, REPLY, 1, 2);
	hosts_up(1);
	raw_begin(&r, host_nic(0), 1);
	r.level = VIA_RELIABLE_DELIVERY;
	r.options = takes ? VIA_WIRE_O_REPLY : 0;
	sim_kthread("server", serve, NULL);
	sim_await(READ_ONCE(s.ready), 100000);
	if (s.refuses) {
		/* Once more: it is remembered. */
		sees_refuse(answer(VIA_WIRE_REFUSE), takes);
		sees_refuse(answer(VIA_WIRE_REFUSE), takes);
		s.over = true;
	} else {
		f = answer(VIA_WIRE_ACCEPT);
		sees_accept(f, takes);
		raw_know(&r, f);
		/* Once more: nothing has confirmed it. */
		sees_accept(raw_await(&r, VIA_WIRE_ACCEPT, SEC), takes);
		raw_send_answer(&r, VIA_WIRE_CONFIRM, 0);
		sim_pause(MS);
		raw_send_end(&r, VIA_WIRE_DISCONNECT, r.seq, r.ack);
	}
	sim_await(!READ_ONCE(s.f), MS);
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-replies", .run = replies, .runs = 40, .max_vi = 4,
	     SIM_STATE(s),
	     .what = "a consumer's reply, and a host that takes none")

/* A program's address is the one that it asked for, whatever the answer has. */
static void program(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	int ret;

	prog_open_vi(&n, &v, "via_a", 16 << 10, VIA_RELIABLE_DELIVERY);
	ret = prog_request(&v, r.mac, "raw", 5 * SEC);
	sim_expect(ret == (s.refuses ? VIA_R_REJECT : 0), "(%d)", ret);
	if (!ret)
		sim_ok(prog_disconnect(&v));
	prog_close(&n);
	WRITE_ONCE(s.over, true);
}

static void unasked(void)
{
	const struct raw_frame *f;

	s.refuses = sim_dice(2);
	hosts_up(1);
	raw_begin(&r, host_nic(0), 1);
	host_run(0, "client", program, NULL);
	f = raw_await(&r, VIA_WIRE_REQUEST, SEC);
	sim_expect(f && !raw_conn_of(f)->options, "a program asks for a reply");
	r.options = VIA_WIRE_O_REPLY;
	if (s.refuses)
		raw_refuse(&r, f, "0123456789", 10);
	else
		raw_accept(&r, f);
	programs_wait();
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "replies-unasked", .run = unasked, .runs = 20, .max_vi = 4,
	     SIM_STATE(s),
	     .what = "a program whose answer has a reply that it did not ask for")
