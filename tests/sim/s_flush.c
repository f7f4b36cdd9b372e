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
	sim_expect(!prog_accept(&w.v[1], "flush", 10 * SEC), "no request");
}

static void opens(void *arg)
{
	const char *node = arg;
	int ret;

	sim_expect(!prog_open(&w.n, node, 16 << 10), "no NIC");
	w.buffer = (u8 *)prog_buffer(&w.n, 8192);
	sim_expect(!prog_vi(&w.v[0], &w.n, VIA_RELIABLE_DELIVERY, 0, 0) &&
		   !prog_vi(&w.v[1], &w.n, VIA_RELIABLE_DELIVERY, 0, 0),
		   "no VIs");
	sim_thread(current->proc, "server", server, NULL);
	do {
		sim_sleep(MS);
		ret = prog_request(&w.v[0], w.n.hello.addr, "flush", 10 * SEC);
	} while (ret == VIA_R_NO_MATCH);
	sim_expect(!ret, "(%d)", ret);
	sim_thread(current->proc, "posts", posts, NULL);
	if (w.peer_ends)
		sim_thread(current->proc, "ends", ends, NULL);
	WRITE_ONCE(w.connected, true);
}

static void flush(void)
{
	struct sim_nic *nic = NULL;
	struct sim_proc *p;

	memset(&w, 0, sizeof(w));
	w.receives = sim_dice(2);
	w.posts = 1 + sim_dice(w.receives ? RECEIVES : POSTS);
	w.before_ns = sim_dice(2) ? 0 : sim_dice(2000);
	w.peer_ends = sim_dice(4) != 0;
	if (!w.peer_ends || sim_dice(2))
		nic = sim_nic_up("a", 1);
	p = sim_proc_new("posts", 0);
	sim_thread(p, "opens", opens, nic ? "via_a" : "via_lo");
	while (!w.peer_ends && !READ_ONCE(w.connected))
		sim_pause(MS);
	if (!w.peer_ends) {
		sim_nic_down(nic);
		nic = NULL;
	}
	sim_proc_wait(p);
	if (nic)
		sim_nic_down(nic);
}

SIM_SCENARIO(.name = "flush", .run = flush, .runs = 2000,
	     .what = "posts beside the end of a connection are flushed")
