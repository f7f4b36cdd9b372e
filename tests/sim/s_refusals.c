// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A consumer's RDMA is refused by another one, whose memory is off.  Whatever is lost,
 * comes twice, late or in another order: the refused one completes with the error of an
 * access, once, the one behind it is flushed, and both ends know why; but where all that
 * said so was lost until the connection was given up.  What was read before has come, so
 * the end of its memory ends nothing, though the acknowledgement may be lost.
 */
#include "consumer.h"
#include "../../devices/ether/proto/wire.h"

#define PAGES	2
#define BYTES	3000
#define START	(0x10000ull + 100)
#define POSTS	8
#define UNDER_WAY	4		/* reads while the memory goes */
#define PORT	"\1port-20061"
#define LATEST	(15 * SEC)		/* from the refused one to its end */
#define ENDS	3			/* lost before LIST ends a connection */

struct post {
	u16 control;
	u32 handle;
	enum via_status status;
};

static struct side {
	struct via_file *f;
	struct via_vi *vi;
	struct consumer_port port;
	struct via_kernel_mem *mem, *stays;
	struct page *pages[PAGES];
	u32 ptag;
	struct post post[POSTS];
	u32 posted, done;
	u8 *buf;
	enum via_kernel_fault fault;
	bool up, over;
} side[2];			/* the target, the initiator */

static struct {
	u32 loss;			/* of 10,000 frames */
	u32 lose;			/* DISCONNECTs that are lost, the first ones */
	u32 ends_lost;			/* that were, and what asks for one */
	u64 deaf;			/* the initiator's acknowledgements are, until then */
	bool listens, ended;
} w;

static bool meddle(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (void *)frame;
	const struct via_wire *h = (void *)(eth + 1);
	const struct via_wire_data *d = (void *)(h + 1);
	bool lost;

	sim_log("%llu us: from %c type %#x, seq %u, ack %u, msg_len %u",
		sim_now() / 1000, eth->h_source[5] == host_mac(1)[5] ? 'b' : 'a',
		h->type, be32_to_cpu(d->seq), be32_to_cpu(d->ack),
		be32_to_cpu(d->msg_len));
	lost = sim_dice(10000) < w.loss;
	if (h->type == VIA_WIRE_DISCONNECT) {
		lost |= w.ends_lost < w.lose;
		w.ends_lost += lost;
	} else if (h->type == VIA_WIRE_ACK && h->flags & VIA_WIRE_ACK_NOW) {
		w.ends_lost += lost;
	}
	return !lost && (h->type != VIA_WIRE_ACK || sim_now() >= w.deaf ||
			 memcmp(eth->h_source, host_mac(1), ETH_ALEN));
}

static void load(struct via_vi *vi, bool recv, u32 index, struct via_desc *d)
{
	struct side *s = via_kernel_vi_priv(vi);
	const struct post *p = &s->post[index];

	d->seg[0].addr = (uintptr_t)s->buf;
	d->seg[0].len = BYTES;
	d->nsegs = 1;
	d->length = BYTES;
	if (recv)
		return;
	d->control = p->control;
	d->rhandle = p->handle;
	d->raddr = START;
}

static void complete(struct via_vi *vi, bool recv,
		     const struct via_kernel_done *done)
{
	struct side *s = via_kernel_vi_priv(vi);

	if (recv)
		return;
	sim_expect(done->index == s->done && s->done < s->posted, "%u",
		   done->index);
	s->post[s->done].status = done->status & VIA_ST_ERROR_MASK;
	/* Pairs with await(). */
	smp_store_release(&s->done, s->done + 1);
}

static void moved(struct via_vi *vi, u32 from)
{
	struct side *s = via_kernel_vi_priv(vi);

	if (vi->state == VIA_STATE_CONNECTED)
		WRITE_ONCE(s->up, true);
	if (from != VIA_STATE_CONNECTED)
		return;
	s->fault = via_kernel_fault_of(vi);
	smp_store_release(&s->over, true);
}

static const struct via_kernel_ops hooks = {
	.load = load,
	.complete = complete,
	.settle = consumer_settle,
	.moved = moved,
	.gone = consumer_gone,
};

static void begin(struct side *s, const char *nic)
{
	static const struct via_kernel_limits limits = { .vis = 1, .pages = 2 * PAGES };
	struct via_vi_attrs attrs = {
		.reliability = VIA_RELIABLE_DELIVERY,
		.max_transfer = 32768,
		.rights = VIA_RDMA_WRITE | VIA_RDMA_READ,
	};
	u32 i;

	s->buf = kzalloc(BYTES, GFP_KERNEL);
	s->f = via_kernel_open(&init_net, nic, 0, &hooks, &limits, s);
	sim_expect(s->buf && !IS_ERR(s->f), "");
	sim_ok(via_kernel_ptag_make(s->f, &s->ptag));
	s->mem = via_kernel_mem_make(s->f, s->ptag, PAGES);
	s->stays = via_kernel_mem_make(s->f, s->ptag, PAGES);
	sim_expect(!IS_ERR(s->mem) && !IS_ERR(s->stays), "");
	for (i = 0; i < PAGES; i++) {
		s->pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		sim_expect(s->pages[i], "");
	}
	attrs.ptag = s->ptag;
	s->vi = via_kernel_vi_make(s->f, &attrs, s);
	sim_expect(!IS_ERR(s->vi), "");
	via_kernel_post(s->vi, true, 1);
}

static void end(struct side *s)
{
	u32 i;

	via_kernel_vi_destroy(s->vi);
	via_kernel_mem_free(s->mem);
	via_kernel_mem_free(s->stays);
	sim_ok(via_kernel_ptag_unmake(s->f, s->ptag));
	via_kernel_close(s->f);
	for (i = 0; i < PAGES; i++)
		__free_page(s->pages[i]);
	kfree(s->buf);
}

static u32 turn_on(struct side *s, struct via_kernel_mem *mem)
{
	struct via_kernel_span span = {
		.handle = via_kernel_mem_handle(mem) + 7,
		.rights = VIA_RDMA_WRITE | VIA_RDMA_READ,
		.start = START,
		.len = BYTES,
		.pages = s->pages,
		.npages = 1 + (100 + BYTES - 1) / PAGE_SIZE,
	};

	sim_ok(via_kernel_mem_on(mem, &span));
	return span.handle;
}

static void target(void *arg)
{
	struct side *s = &side[0];

	begin(s, "via_a");
	consumer_listen(&s->port, s->f, PORT);
	WRITE_ONCE(w.listens, true);
	consumer_await(&s->port);
	sim_ok(via_kernel_accept(s->vi, s->port.asked, NULL, 0));
	sim_await(smp_load_acquire(&s->over) && READ_ONCE(side[1].over),
		  100000);
	via_kernel_unlisten(&s->port.listener);
	end(s);
	via_conn_put(s->port.asked);
	WRITE_ONCE(w.ended, true);
}

static void post(struct side *s, u16 control, u32 handle)
{
	s->post[s->posted++] = (struct post) {
		.control = control,
		.handle = handle,
	};
	via_kernel_post(s->vi, false, 1);
	via_kernel_ring(s->vi, false);
}

/* All that was posted is complete; how the one of that number ended. */
static enum via_status await(struct side *s, u32 n)
{
	u64 until = sim_now() + LATEST;

	while (smp_load_acquire(&s->done) != s->posted) {
		sim_expect(sim_now() < until, "%u of %u", s->done, s->posted);
		sim_pause(sim_dice(2) ? 1000 : 100000);
	}
	return s->post[n].status;
}

static void connect(struct side *s)
{
	consumer_ask(s->vi, host_mac(0), PORT);
	sim_await(READ_ONCE(s->up), 100000);
}

/*
 * What was read is here, so its memory may go, by whatever word the target has of it.
 * How many are posted.
 */
static u32 read_and_go(struct side *s, u32 handle)
{
	u32 n = s->posted;

	w.deaf = sim_dice(3) ? sim_now() + sim_dice(400) * MS : 0;
	post(s, VIA_CTL_OP_RDMAREAD, handle);
	sim_expect(!await(s, n), "status %#x", s->post[n].status);
	sim_expect(via_kernel_mem_off(side[0].mem, handle), "");
	sim_pause(sim_dice(2) ? sim_dice(600) * MS + 1 : 1);
	sim_expect(!READ_ONCE(s->over) && !READ_ONCE(side[0].over),
		   "memory went, and with it the connection: %u, %u",
		   s->fault, side[0].fault);
	return s->posted;
}

/* @n was refused, and the next one is behind it. */
static void expect_why(const struct side *s, u32 n, bool read)
{
	enum via_status want = VIA_ST_RDMA_PROT_ERROR;
	enum via_kernel_fault fault = read ? VIA_KERNEL_FAULT_PEER_READ :
					     VIA_KERNEL_FAULT_PEER_ACCESS;

	if (w.ends_lost >= ENDS && s->fault == VIA_KERNEL_FAULT_LOST) {
		fault = s->fault;
		want = VIA_ST_DESC_FLUSHED_ERROR | VIA_ST_TRANSPORT_ERROR;
	}
	sim_expect(s->post[n].status & want, "%u: status %#x", n,
		   s->post[n].status);
	for (n++; n < s->posted; n++)
		sim_expect(s->post[n].status == VIA_ST_DESC_FLUSHED_ERROR,
			   "%u, behind it: status %#x", n, s->post[n].status);
	sim_expect(s->fault == fault &&
		   side[0].fault == VIA_KERNEL_FAULT_LOCAL_ACCESS, "%u, %u",
		   s->fault, side[0].fault);
}

/*
 * It goes while reads are under way, some of other memory: the first one that is
 * refused; the number posted: none.
 */
static u32 reads_under_way(struct side *s, u32 handle)
{
	u32 stays = turn_on(&side[0], side[0].stays);
	u32 i, n = s->posted;

	for (i = 0; i < UNDER_WAY; i++)
		post(s, VIA_CTL_OP_RDMAREAD, sim_dice(2) ? handle : stays);
	sim_pause(sim_dice(sim_dice(2) ? 200 : 20000) * 1000 + 1);
	via_kernel_mem_off(side[0].mem, handle);
	await(s, n);
	while (n < s->posted && !s->post[n].status)
		n++;
	sim_expect(n == s->posted || s->post[n].handle == handle ||
		   w.ends_lost >= ENDS, "%u: its memory has not gone", n);
	return n;
}

static void initiator(void)
{
	struct side *s = &side[1];
	bool read = sim_dice(3);
	u32 handle, n;

	begin(s, "via_b");
	connect(s);
	handle = turn_on(&side[0], side[0].mem);
	w.lose = sim_dice(ENDS + 2);
	n = 0;
	if (!sim_dice(4))
		n = reads_under_way(s, handle);
	else if (sim_dice(4))
		n = read_and_go(s, handle);
	else
		via_kernel_mem_off(side[0].mem, handle);
	if (n != s->posted) {
		read = true;
	} else {
		post(s, read ? VIA_CTL_OP_RDMAREAD : VIA_CTL_OP_RDMAWRITE,
		     handle);
		post(s, VIA_CTL_QFENCE, 0);
		await(s, n);
	}
	sim_await(smp_load_acquire(&s->over) && READ_ONCE(side[0].over),
		  100000);
	expect_why(s, n, read);
	sim_await(READ_ONCE(w.ended), 100000);
	end(s);
}

static void refusals(void)
{
	hosts_up(2);
	memset(side, 0, sizeof(side));
	w.loss = sim_dice(3) * 150;
	sim_wire.dup = sim_dice(2) * 300;
	sim_wire.reorder = sim_dice(2) * 1000;
	sim_wire.jitter_ns = (1 + sim_dice(50)) * 100000;
	sim_wire.meddle = meddle;
	sim_kthread("target", target, NULL);
	sim_await(READ_ONCE(w.listens), 100000);
	initiator();
	hosts_down();
}

SIM_SCENARIO(.name = "kernel-refusals", .run = refusals, .runs = 100,
	     .max_vi = 16, .seconds = 100, SIM_STATE(w),
	     .what = "refused RDMA, whatever is lost, and memory that goes behind a read")
