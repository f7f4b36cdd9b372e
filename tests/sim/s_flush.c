// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What is posted while a VI goes to Error comes back: posting and flushing each
 * write a word, pass a barrier and read the other's.
 */
#include "prog.h"

#define POSTS	6
#define RECEIVES 40		/* where nothing is sent */

static struct {
	struct prog_nic n;
	struct prog_vi v[2];
	u8 *buffer;
	bool connected;
	bool peer_ends;			/* the other VI disconnects, or the NIC goes */
	bool receives;			/* only: a send ends it by itself */
	u32 posts;
	u64 before_ns;
} w;

static void posts(void *arg)
{
	struct prog_done d;
	u32 i, sends = 0, recvs = 0;

	for (i = 0; i < w.posts; i++) {
		if (w.receives || sim_dice(3)) {
			prog_post_recv(&w.v[0], w.buffer, 64);
			recvs++;
		} else {
			prog_post_send(&w.v[0], w.buffer, 8);
			sends++;
		}
	}
	while (recvs--)
		sim_expect(!prog_wait(&w.v[0], true, 20 * SEC, &d),
			   "a receive is not flushed");
	while (sends--)
		sim_expect(!prog_wait(&w.v[0], false, 20 * SEC, &d),
			   "a send is not flushed");
}

static void ends(void *arg)
{
	if (w.before_ns)
		sim_sleep(w.before_ns);
	prog_disconnect(&w.v[1]);
}

static void server(void *arg)
{
	prog_connect(&w.v[1], NULL, "flush", 10 * SEC);
}

static void opens(void *arg)
{
	sim_ok(prog_open(&w.n, host_node(0), 16 << 10));
	w.buffer = (u8 *)prog_buffer(&w.n, 8192);
	prog_vis(w.v, 2, &w.n, VIA_RELIABLE_DELIVERY);
	sim_thread(current->proc, "server", server, NULL);
	prog_connect(&w.v[0], w.n.hello.addr, "flush", 10 * SEC);
	sim_thread(current->proc, "posts", posts, NULL);
	if (w.peer_ends)
		sim_thread(current->proc, "ends", ends, NULL);
	WRITE_ONCE(w.connected, true);
}

static void flush(void)
{
	w.receives = sim_dice(2);
	w.posts = 1 + sim_dice(w.receives ? RECEIVES : POSTS);
	w.before_ns = sim_dice(2) ? 0 : sim_dice(2000);
	w.peer_ends = sim_dice(4) != 0;
	if (!w.peer_ends || sim_dice(2))
		hosts_up(1);
	host_run_as(0, 0, "posts", opens, NULL);
	if (!w.peer_ends) {
		sim_await(READ_ONCE(w.connected), MS);
		host_down(0);
	}
	hosts_down();
}

SIM_SCENARIO(.name = "flush", .run = flush, .runs = 2000, SIM_STATE(w),
	     .what = "posts beside the end of a connection are flushed")
