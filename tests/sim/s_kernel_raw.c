// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A consumer in the kernel beside a host that is nothing but frames: RDMA with
 * handles that are guessed, bounds that are not those of the memory, and rights
 * that are not given.  Nothing is written, nothing is read, the connection ends
 * and the consumer hears why.
 */
#include "consumer.h"
#include "raw.h"

#define DISC	"kern-raw"
#define PAGES	2
#define START	(0x10000ull + 100)
#define BYTES	3000u
#define ROUNDS	4
#define AT_ONCE	(100 * MS)

static struct raw_host r;

static struct {
	struct via_file *f;
	struct via_vi *vi;
	struct consumer_port port;
	struct via_kernel_mem *mem;
	struct page *pages[PAGES];
	u32 ptag, handle;
	enum via_kernel_fault fault;
	bool ended, stop, stopped;
} k;

static void load(struct via_vi *vi, bool recv, u32 index, struct via_desc *d)
{
	sim_expect(false, "nothing is posted");
}

static void complete(struct via_vi *vi, bool recv,
		     const struct via_kernel_done *done)
{
	sim_expect(false, "nothing is posted");
}

static void moved(struct via_vi *vi, u32 from)
{
	if (from != VIA_STATE_CONNECTED)
		return;
	k.fault = via_kernel_fault_of(vi);
	WRITE_ONCE(k.ended, true);
}

static const struct via_kernel_ops hooks = {
	.load = load,
	.complete = complete,
	.settle = consumer_settle,
	.moved = moved,
	.gone = consumer_gone,
};

/* Accepts whatever is asked. */
static void serve(void *arg)
{
	struct via_conn *conn;

	while (!READ_ONCE(k.stop)) {
		conn = READ_ONCE(k.port.asked);
		if (conn) {
			via_kernel_accept(k.vi, conn, NULL, 0);
			WRITE_ONCE(k.port.asked, NULL);
			via_conn_put(conn);
		}
		sim_pause(100000);
	}
	WRITE_ONCE(k.stopped, true);
}

static u8 byte_of(u32 i)
{
	return i * 7 + 3;
}

static void fill_pages(void)
{
	u32 i;

	for (i = 0; i < PAGES * PAGE_SIZE; i++)
		((u8 *)page_address(k.pages[i / PAGE_SIZE]))[i % PAGE_SIZE] =
			byte_of(i);
}

/* But for so many bytes of the region, from its start. */
static bool untouched(u32 but)
{
	u32 i;

	for (i = 0; i < PAGES * PAGE_SIZE; i++)
		if ((i < 100 || i >= 100 + but) &&
		    ((u8 *)page_address(k.pages[i / PAGE_SIZE]))[i % PAGE_SIZE]
		    != byte_of(i))
			return false;
	return true;
}

static void turn_on(u32 rights)
{
	struct via_kernel_span span = {
		.handle = (via_kernel_mem_handle(k.mem) & ~0xffu) |
			  sim_dice(256),
		.rights = rights,
		.start = START,
		.len = BYTES,
		.pages = k.pages,
		.npages = PAGES,
	};

	/* A region of one page and a bit has no more than it needs. */
	span.npages = 1 + (100 + BYTES - 1) / PAGE_SIZE;
	sim_ok(via_kernel_mem_on(k.mem, &span));
	k.handle = span.handle;
}

/* A connection of a VI of its own. */
static void connected(void)
{
	const struct via_vi_attrs attrs = {
		.reliability = VIA_RELIABLE_DELIVERY,
		.max_transfer = 32768,
		.rights = VIA_RDMA_WRITE | VIA_RDMA_READ,
		.ptag = k.ptag,
	};
	struct via_vi *vi = via_kernel_vi_make(k.f, &attrs, &k);

	sim_expect(!IS_ERR(vi), "(%ld)", PTR_ERR(vi));
	k.ended = false;
	/* A request that comes before the server is done with the last one is lost. */
	sim_await(!READ_ONCE(k.port.asked), 100000);
	WRITE_ONCE(k.vi, vi);
	r.level = VIA_RELIABLE_DELIVERY;
	raw_forget(&r);
	sim_expect(raw_connect(&r, DISC, true), "");
	sim_await(READ_ONCE(k.vi->state) == VIA_STATE_CONNECTED, 100000);
	raw_forget(&r);
}

static const u8 data[1400] = { 1, 2, 3 };

/* The first frame of it, which says how long all of it is. */
static void request(bool read, u32 handle, u64 addr, u32 len)
{
	struct raw_data d = {
		.type = read ? VIA_WIRE_READ : VIA_WIRE_WRITE,
		.flags = VIA_WIRE_PUSH, .seq = r.seq++, .msg_len = len,
		.raddr = addr, .rhandle = handle, .payload = data,
		.len = read ? 0 : min_t(u32, len, sizeof(data)),
	};

	raw_send_data(&r, &d);
}

/* What is right is done: it is not for nothing that the rest is refused. */
static void honest(bool read)
{
	const struct raw_frame *f;

	request(read, k.handle, START, 200);
	if (read) {
		f = raw_await(&r, VIA_WIRE_READ_DATA, AT_ONCE);
		sim_expect(f && raw_payload(f)[0] == byte_of(100) &&
			   raw_payload(f)[199] == byte_of(299), "");
		r.ack = be32_to_cpu(raw_data_of(f)->seq) + 1;
		raw_send_ack(&r, 0);
		sim_expect(untouched(0), "");
	} else {
		sim_pause(10 * MS);
		sim_expect(untouched(200) && !untouched(0), "");
		fill_pages();
	}
	sim_expect(!k.ended, "");
}

/* The region has the other right alone, or none. */
static void without_right(bool read)
{
	sim_expect(via_kernel_mem_off(k.mem, k.handle), "");
	turn_on(!sim_dice(3) ? 0 : read ? VIA_RDMA_WRITE : VIA_RDMA_READ);
	request(read, k.handle, START, 100);
}

static void wrong(bool read)
{
	u32 len = 1 + sim_dice(1000), handle = k.handle;
	u64 addr = START;

	switch (sim_dice(8)) {
	case 0:
		handle = sim_dice64();
		break;
	case 1:
		handle ^= 1u << sim_dice(32);
		break;
	case 2:
		addr -= 1 + sim_dice(sim_dice(2) ? 100 : 100000);
		break;
	case 3:
		addr += BYTES - len + 1 + sim_dice(5000);
		break;
	case 4:
		addr = -(u64)sim_dice(2 * len);
		break;
	case 5:
		len = BYTES + 1 + sim_dice(20000);
		break;
	case 6:
		sim_expect(via_kernel_mem_off(k.mem, k.handle), "");
		break;
	default:
		without_right(read);
		return;
	}
	rcu_read_lock();
	if (handle == k.handle && addr == START && len <= BYTES &&
	    via_kernel_mem_find(k.f, handle))
		handle ^= 0x100;
	rcu_read_unlock();
	request(read, handle, addr, len);
}

static void refused(bool read)
{
	const struct raw_frame *f;
	u8 type;

	do {
		f = raw_next(&r, AT_ONCE);
		type = f ? raw_wire(f)->type : 0;
		sim_expect(f && type != VIA_WIRE_READ_DATA, "(type %u)", type);
	} while (type != VIA_WIRE_DISCONNECT);
	sim_expect(be32_to_cpu(raw_end_of(f)->reason) ==
		   (read ? VIA_WIRE_R_READ : VIA_WIRE_R_RDMA), "(%u)",
		   be32_to_cpu(raw_end_of(f)->reason));
	sim_await(READ_ONCE(k.ended), 100000);
	sim_expect(k.fault == VIA_KERNEL_FAULT_LOCAL_ACCESS, "(%u)", k.fault);
	sim_expect(untouched(0), "bytes were written");
}

static void one_round(void)
{
	bool read = sim_dice(2);
	struct via_vi *vi;

	connected();
	if (sim_dice(2))
		honest(sim_dice(2));
	wrong(read);
	refused(read);
	vi = k.vi;
	WRITE_ONCE(k.vi, NULL);
	via_kernel_vi_destroy(vi);
	via_kernel_mem_off(k.mem, k.handle);
	turn_on(VIA_RDMA_WRITE | VIA_RDMA_READ);
}

static void guesses(void)
{
	const struct via_kernel_limits limits = { .vis = 1, .pages = PAGES };
	u32 i;

	hosts_up(1);
	raw_begin(&r, host_nic(0), 1);
	k.f = via_kernel_open(&init_net, "via_a", 0, &hooks, &limits, &k);
	sim_expect(!IS_ERR(k.f), "");
	sim_ok(via_kernel_ptag_make(k.f, &k.ptag));
	k.mem = via_kernel_mem_make(k.f, k.ptag, PAGES);
	sim_expect(!IS_ERR(k.mem), "");
	for (i = 0; i < PAGES; i++) {
		k.pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		sim_expect(k.pages[i], "");
	}
	fill_pages();
	turn_on(VIA_RDMA_WRITE | VIA_RDMA_READ);
	consumer_listen(&k.port, k.f, DISC);
	sim_kthread("server", serve, NULL);
	for (i = 0; i < ROUNDS; i++)
		one_round();
	WRITE_ONCE(k.stop, true);
	sim_await(READ_ONCE(k.stopped), 100000);
	via_kernel_unlisten(&k.port.listener);
	via_kernel_mem_free(k.mem);
	sim_ok(via_kernel_ptag_unmake(k.f, k.ptag));
	via_kernel_close(k.f);
	if (k.port.asked)
		via_conn_put(k.port.asked);
	for (i = 0; i < PAGES; i++)
		__free_page(k.pages[i]);
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-raw", .run = guesses, .runs = 200, .max_vi = 16,
	     .seconds = 200, SIM_STATE(k),
	     .what = "RDMA with guessed handles and bounds to memory of a consumer in the kernel")
