// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that uses numbers which are not its own: of another program's
 * objects, of objects that are gone, and made-up ones.  Each call with one of
 * them is refused, and the other program notices nothing.  Then it says that it
 * has posted more than a queue holds, and no call of its own takes long.
 */
#include "prog.h"

#define MESSAGES	12
#define BYTES		300
#define MAX_VI		6

static struct {
	struct prog_nic owner;
	struct prog_vi pair[2], asking;
	u32 conn;			/* of the request of asking */
	bool ready, over;
} w;

/* The owner */

static void open_pair(struct prog_nic *n, struct prog_vi *v, const char *name)
{
	prog_vis(v, 2, n, VIA_RELIABLE_DELIVERY);
	sim_ok(prog_meet(&v[0], &v[1], name));
}

static void waits(void *arg)
{
	sim_ok(prog_conn_wait(&w.owner, "server", VIA_FOREVER, &w.conn));
}

/* A request that has come and was not answered yet. */
static void ask(void)
{
	prog_vis(&w.asking, 1, &w.owner, VIA_RELIABLE_DELIVERY);
	sim_thread(current->proc, "waits", waits, NULL);
	/* The server may not wait yet. */
	do {
		sim_sleep(1000);
		sim_ok(prog_request_start(&w.asking, w.owner.hello.addr,
					  "server", 1000 * SEC, false));
	} while (prog_result(&w.asking, VIA_CONN_NOWAIT) == VIA_R_NO_MATCH);
	sim_await(w.conn, 1000);
}

static void talk(u32 i)
{
	struct prog_vi *to = &w.pair[i & 1], *from = &w.pair[!(i & 1)];
	u8 *in = (u8 *)w.owner.mem + 8192, *out = in + 4096;

	prog_fill(out, BYTES, 1, i);
	prog_post_recv(to, in, BYTES);
	prog_post_send(from, out, BYTES);
	prog_good(from, false, SEC);
	prog_good(to, true, SEC);
	sim_expect(prog_filled(in, BYTES, 1, i), "");
}

static void owner(void *arg)
{
	struct via_event ev;
	u32 i;

	sim_ok(prog_open(&w.owner, host_node(0), 16 << 10));
	open_pair(&w.owner, w.pair, "pair");
	ask();
	WRITE_ONCE(w.ready, true);
	for (i = 0; i < MESSAGES || !READ_ONCE(w.over); i++) {
		talk(i);
		sim_sleep(sim_dice(100000));
	}
	sim_expect(prog_event(&w.owner, &ev), "error %u", ev.code);
	/* The request is still its own. */
	sim_ok(prog_reject(&w.owner, w.conn));
	sim_expect(prog_result(&w.asking, 0) == VIA_R_REJECT, "");
	for (i = 0; i < 2; i++)
		sim_expect(prog_state(&w.pair[i]) == VIA_STATE_CONNECTED, "");
	prog_close(&w.owner);
}

/* The stranger */

static void refused(const char *call, u32 id, long ret)
{
	sim_expect(ret < 0 || ret == VIA_R_INVALID_PARAMETER,
		   "%s of %#x says %ld", call, id, ret);
}

#define REFUSED(n, cmd, id, ...)					\
do {									\
	typeof(__VA_ARGS__) _a = __VA_ARGS__;				\
									\
	refused(#cmd, id, sim_ioctl((n)->file, cmd, &_a));		\
} while (0)

static void no_vi(struct prog_nic *n, u32 id)
{
	static const u32 ops[] = {
		VIA_OP_SEND, VIA_OP_RECV, VIA_OP_WAIT_SEND, VIA_OP_WAIT_RECV,
		VIA_OP_NOTIFY_SEND, VIA_OP_NOTIFY_RECV,
	};
	struct via_conn_request to = { .vi = id, .timeout = SEC };
	u32 i;

	prog_addr(&to.local, n->hello.addr, "x");
	prog_addr(&to.remote, n->hello.addr, "server");
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		refused("a trap", id, sim_trap(n->file, ops[i], id));
	REFUSED(n, VIA_IOC_WAIT, id, (struct via_wait){ .id = id });
	REFUSED(n, VIA_IOC_VI_QUERY, id, (struct via_vi_query){ .vi = id });
	REFUSED(n, VIA_IOC_VI_SET, id, (struct via_vi_set){
		.vi = id, .attrs = { VIA_UNRELIABLE, 0, 100, 0 } });
	REFUSED(n, VIA_IOC_VI_OVERRUN, id, (struct via_overrun){ .vi = id });
	REFUSED(n, VIA_IOC_CONN_RESULT, id, (struct via_conn_result){
		.vi = id, .flags = VIA_CONN_NOWAIT });
	REFUSED(n, VIA_IOC_CONN_REQUEST, id, to);
	REFUSED(n, VIA_IOC_PEER_REQUEST, id, to);
	REFUSED(n, VIA_IOC_DISCONNECT, id, (struct via_vi_arg){ .vi = id });
	REFUSED(n, VIA_IOC_VI_DESTROY, id, (struct via_vi_arg){ .vi = id });
}

static void no_cq(struct prog_nic *n, u32 id)
{
	refused("refill", id, sim_trap(n->file, VIA_OP_CQ, id));
	refused("wait", id, sim_trap(n->file, VIA_OP_WAIT_CQ, id));
	refused("notify", id, sim_trap(n->file, VIA_OP_NOTIFY_CQ, id));
	REFUSED(n, VIA_IOC_VI_CREATE, id, (struct via_vi_create){
		.attrs = { VIA_UNRELIABLE, 0, 100, 0 }, .send_cq = id });
	REFUSED(n, VIA_IOC_CQ_RESIZE, id, (struct via_cq_resize){
		.cq = id, .entries = 4 });
	REFUSED(n, VIA_IOC_CQ_DESTROY, id, (struct via_cq_arg){ .cq = id });
}

static void no_memory(struct prog_nic *n, void *p, u32 handle)
{
	u64 at = (uintptr_t)p;

	REFUSED(n, VIA_IOC_MEM_QUERY, handle, (struct via_mem_attrs){
		.addr = at, .handle = handle });
	REFUSED(n, VIA_IOC_MEM_SET, handle, (struct via_mem_attrs){
		.addr = at, .handle = handle });
	refused("deregister", handle, prog_deregister(n, p, handle));
}

static void no_request(struct prog_vi *v, u32 conn)
{
	refused("accept", conn, prog_accept_start(v, conn));
	refused("reject", conn, prog_reject(v->nic, conn));
}

static void no_mapping(struct prog_nic *n, u64 at, u64 size)
{
	void *p = sim_mmap(n->file, NULL, at, size, true);

	sim_expect(IS_ERR(p), "what is at %#llx is mapped",
		   (unsigned long long)at);
}

/* The id of a VI that is gone, and a VI at the same place. */
static u32 gone(struct prog_nic *n, struct prog_vi *v)
{
	struct prog_vi other;
	u32 id;

	prog_vis(&other, 1, n, VIA_RELIABLE_DELIVERY);
	id = other.id;
	do {
		sim_ok(prog_vi_destroy(&other));
		prog_vis(&other, 1, n, VIA_RELIABLE_DELIVERY);
	} while ((other.id ^ id) & 0xffff);
	*v = other;
	return id;
}

static void wrong_numbers(struct prog_nic *n, struct prog_vi *v, u32 vi_gone)
{
	char *p = n->mem + 4096;
	u32 handle;

	switch (sim_dice(9)) {
	case 0:
		no_vi(n, w.pair[sim_dice(2)].id);
		break;
	case 1:
		no_vi(n, vi_gone);
		break;
	case 2:
		no_vi(n, v->id ^ 1u << sim_dice(32));
		break;
	case 3:
		/* About the end of the table. */
		no_vi(n, 1 << 16 | (MAX_VI - sim_dice(2) + sim_dice(3)));
		no_vi(n, sim_dice64());
		break;
	case 4:
		no_cq(n, sim_dice(2) ? 1 + sim_dice(4) : sim_dice64());
		break;
	case 5:
		sim_ok(prog_register(n, p, 4096, 0, &handle));
		no_memory(n, p, handle ^ 1u << sim_dice(32));
		no_memory(n, p + 1, handle);
		sim_ok(prog_deregister(n, p, handle));
		no_memory(n, p, handle);
		break;
	case 6:
		no_request(v, w.conn);
		no_request(v, sim_dice64());
		break;
	case 7:
		no_mapping(n, w.asking.map_at, w.asking.map_size);
		break;
	default:
		/* What is there, too, is mapped in its full size only. */
		no_mapping(n, (u64)sim_dice(1u << 23) << 12, 8192);
	}
}

/* No tail makes a call long. */
static void wrong_tail(struct prog_nic *n)
{
	struct prog_vi v[2];
	u32 recv = sim_dice(2), i;
	struct prog_queue *q;

	open_pair(n, v, "tail");
	q = &v[0].q[recv];
	q->tail += v[0].shared->entries + 1 + sim_dice(1u << 31);
	smp_store_release(&q->prog->tail, q->tail);
	smp_mb();
	for (i = 0; i < 3; i++)
		sim_trap(n->file, recv ? VIA_OP_RECV : VIA_OP_SEND, v[0].id);
	if (sim_dice(2))
		prog_post_send(&v[1], n->mem, 8);
	if (sim_dice(2))
		prog_disconnect(&v[sim_dice(2)]);
}

static void stranger(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u32 i, id;

	sim_ok(prog_open(&n, host_node(0), 16 << 10));
	/* One place is left: it is the next one again. */
	id = gone(&n, &v);
	for (i = 2 + sim_dice(4); i; i--)
		wrong_numbers(&n, &v, id);
	sim_ok(prog_vi_destroy(&v));
	if (!sim_dice(3))
		wrong_tail(&n);
	prog_close(&n);
	WRITE_ONCE(w.over, true);
}

static void run(void)
{
	sim_config.max_steps = 3000000;
	hosts_up(sim_dice(2));
	host_run(0, "owner", owner, NULL);
	sim_await(READ_ONCE(w.ready), MS);
	host_run_as(0, 1000 + sim_dice(2), "stranger", stranger, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "stranger", .run = run, .runs = 100, .max_vi = MAX_VI,
	     SIM_STATE(w),
	     .what = "numbers that are another's, gone or made up are refused")
