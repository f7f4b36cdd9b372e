// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Addresses in writing; messages and pulls of ofi with nothing below them: what
 * a peer, and what anyone else, may say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../providers/ofi/ofi.h"
#include "unit.h"

#define PORT	28000

/* What stands in for the engine, the link and libfabric. */
static struct ofi_nic nic;
static struct ofi_peer peer;
static struct ofi_peer *slots[4];
static int rx, room, pulled, pulled_err, lost, left;
static size_t rx_len;
static int send_err, read_err;
static unsigned int sends, reads;
static struct ofi_head sent_head;
static struct fab_read *under_way[64];
static uint64_t read_base[64], read_len[64];

uint64_t ofi_now(void) { return 1000; }
int ofi_enter(struct ofi_nic *n) { return n == &nic; }
void ofi_leave(struct ofi_nic *n) { (void)n; }
void *eng_peer_priv(struct eng_peer *p) { (void)p; return &peer; }
void eng_room(struct eng_peer *p) { (void)p; room++; }
void ofi_disconnecting(struct ofi_peer *p, uint64_t now)
{
	(void)p;
	(void)now;
	left++;
}


void ofi_lose(struct ofi_peer *p, int err)
{
	(void)err;
	p->state = OFI_DISCONNECTING;
	lost++;
}

void eng_rx(struct eng_peer *p, const struct eng_header *h,
	    const void *payload, size_t len)
{
	(void)p; (void)h; (void)payload;
	rx++;
	rx_len = len;
}

void eng_pulled(struct eng_peer *p, struct eng_pull *pull, int err)
{
	(void)p; (void)pull;
	pulled++;
	pulled_err = err;
}

/* The program's memory: gone, where these are 0 and an errno. */
static int may_read = 1, copy_err, pins = 1;

int eng_readable(uint64_t addr, uint64_t len)
{
	(void)addr; (void)len;
	return may_read;
}

int eng_copy_in(uint64_t addr, const void *buf, size_t len)
{
	(void)addr; (void)buf; (void)len;
	return copy_err;
}

int eng_copy_out(void *buf, uint64_t addr, size_t len)
{
	if (!copy_err)
		memcpy(buf, (void *)(uintptr_t)addr, len);
	return copy_err;
}

int fab_send(struct fab *f, fi_addr_t to, const struct iovec *iov,
	     unsigned int n, uint64_t owner)
{
	(void)f; (void)to; (void)n; (void)owner;
	memcpy(&sent_head, iov[0].iov_base, sizeof(sent_head));
	sends += !send_err;
	return send_err;
}

int fab_read_start(struct fab *f, fi_addr_t from, void *to, size_t len,
		   uint64_t base, uint64_t key, struct fab_read *read)
{
	(void)f; (void)from; (void)to; (void)key;
	if (read_err)
		return read_err;
	read_base[reads] = base;
	read_len[reads] = len;
	under_way[reads++] = read;
	return 0;
}

size_t fab_read_max(const struct fab *f) { (void)f; return 4096; }

int fab_pins(const struct fab *f) { (void)f; return pins; }

int fab_export_mem(struct fab *f, const void *addr, size_t len,
		   struct fab_mr *mr)
{
	(void)f; (void)len;
	mr->key = (uintptr_t)addr;
	mr->base = 0;
	return 0;
}

void fab_unexport_mem(struct fab_mr *mr) { mr->key = 0; left++; }

static void begin(void)
{
	ofi_pulls_free(&nic);
	memset(&nic, 0, sizeof(nic));
	memset(&peer, 0, sizeof(peer));
	ofi_pulls_init(&nic);
	nic.peer = slots;
	nic.peers = 4;
	slots[2] = &peer;
	peer.on = &nic;
	peer.index = 2;
	peer.state = OFI_UP;
	peer.nonce = 0x1234567890u;
	peer.their_nonce = 77;
	peer.theirs = 5;
	peer.grant = 8;
	peer.credits = peer.their_grant = 8;
	peer.heard = 1;
	rx = room = pulled = pulled_err = lost = left = 0;
	send_err = read_err = 0;
	sends = reads = 0;
}

/* A message as it comes; len counts from the engine's header. */
static void come(uint64_t nonce, uint32_t index, int type, uint16_t credits,
		 size_t len)
{
	static uint8_t data[FAB_MSG + 64];
	struct ofi_head head = {
		.nonce = nonce, .peer = index, .type = (uint8_t)type,
		.credits = credits,
	};
	uint8_t *exact = malloc(sizeof(head) + len);

	memcpy(data, &head, sizeof(head));
	memcpy(exact, data, sizeof(head) + len);
	ofi_message(&nic, exact, sizeof(head) + len);
	free(exact);
}

static void strangers(void)
{
	static const uint8_t noise[40] = { 1, 2, 3 };
	size_t len;

	begin();
	for (len = 0; len <= sizeof(noise); len++)
		ofi_message(&nic, noise, len);
	come(1, 2, OFI_PACKET, 0, 64);
	come(peer.nonce, 3, OFI_PACKET, 0, 64);
	come(peer.nonce, 4, OFI_PACKET, 0, 64);
	come(peer.nonce, UINT32_MAX, OFI_DISCONNECT, 8, 64);
	CU_ASSERT_EQUAL(rx, 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_EQUAL(peer.disconnected, 0);
}

static void lengths(void)
{
	begin();
	come(peer.nonce, 2, OFI_PACKET, 0, 64);
	CU_ASSERT_EQUAL(rx_len, 0);
	come(peer.nonce, 2, OFI_PACKET, 0, 64 + OFI_EAGER);
	CU_ASSERT_EQUAL(rx_len, OFI_EAGER);
	CU_ASSERT_EQUAL(rx, 2);
	come(peer.nonce, 2, OFI_PACKET, 0, 63);
	CU_ASSERT_EQUAL(lost, 1);
	begin();
	come(peer.nonce, 2, OFI_PACKET, 0, 65 + OFI_EAGER);
	CU_ASSERT_EQUAL(lost, 1);
	begin();
	come(peer.nonce, 2, 99, 0, 64);
	CU_ASSERT_EQUAL(lost, 1);
	CU_ASSERT_EQUAL(rx, 0);
}

static void credits(void)
{
	struct eng_header h = { 0 };
	unsigned int i;

	begin();
	for (i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(ofi_xmit(NULL, &h, NULL, 0), 0);
	CU_ASSERT_EQUAL(ofi_xmit(NULL, &h, NULL, 0), -EAGAIN);
	CU_ASSERT_EQUAL(sends, 8);
	CU_ASSERT_EQUAL(sent_head.nonce, 77);
	CU_ASSERT_EQUAL(sent_head.peer, 5);
	come(peer.nonce, 2, OFI_CREDIT, 3, 0);
	ofi_chores(&nic);
	CU_ASSERT_EQUAL(room, 1);
	CU_ASSERT_EQUAL(peer.credits, 3);
	/* More than were given out. */
	come(peer.nonce, 2, OFI_CREDIT, 6, 0);
	CU_ASSERT_EQUAL(lost, 1);
	CU_ASSERT_EQUAL(peer.credits, 3);
}

static void owing(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < 3; i++)
		come(peer.nonce, 2, OFI_PACKET, 0, 64);
	ofi_chores(&nic);
	CU_ASSERT_EQUAL(sends, 0);
	come(peer.nonce, 2, OFI_PACKET, 0, 64);
	ofi_chores(&nic);
	CU_ASSERT_EQUAL(sends, 1);
	CU_ASSERT_EQUAL(sent_head.type, OFI_CREDIT);
	CU_ASSERT_EQUAL(sent_head.credits, 4);
	CU_ASSERT_EQUAL(peer.owed, 0);
	/* No room for the answer: more than the grant must not come. */
	send_err = -EAGAIN;
	for (i = 0; i < 8; i++)
		come(peer.nonce, 2, OFI_PACKET, 0, 64);
	ofi_chores(&nic);
	CU_ASSERT_EQUAL(lost, 0);
	come(peer.nonce, 2, OFI_PACKET, 0, 64);
	CU_ASSERT_EQUAL(lost, 1);
}

/* The end that began says so first; the other one sends nothing before. */
static void first_word(void)
{
	struct eng_header h = { 0 };

	begin();
	peer.heard = 0;
	CU_ASSERT_EQUAL(ofi_xmit(NULL, &h, NULL, 0), -EAGAIN);
	CU_ASSERT_EQUAL(sends, 0);
	come(1, 2, OFI_CREDIT, 0, 0);
	CU_ASSERT_EQUAL(ofi_xmit(NULL, &h, NULL, 0), -EAGAIN);
	come(peer.nonce, 2, OFI_CREDIT, 0, 0);
	ofi_chores(&nic);
	CU_ASSERT_EQUAL(room, 1);
	CU_ASSERT_EQUAL(ofi_xmit(NULL, &h, NULL, 0), 0);
	begin();
	peer.hail = 1;
	send_err = -EAGAIN;
	ofi_due(&peer);
	ofi_chores(&nic);
	CU_ASSERT_EQUAL(peer.hail, 1);
	send_err = 0;
	ofi_chores(&nic);
	CU_ASSERT_EQUAL(sends, 1);
	CU_ASSERT_EQUAL(sent_head.type, OFI_CREDIT);
	CU_ASSERT_EQUAL(peer.hail, 0);
	/* Before the hello of the one that sends it. */
	begin();
	peer.state = OFI_HANDSHAKE;
	come(peer.nonce, 2, OFI_PACKET, 0, 64);
	CU_ASSERT_EQUAL(rx, 0);
	CU_ASSERT_EQUAL(lost, 1);
}

static void ends(void)
{
	begin();
	come(peer.nonce, 2, OFI_DISCONNECT, 0, 0);
	ofi_chores(&nic);
	CU_ASSERT_EQUAL(sent_head.type, OFI_DISCONNECT_ACK);
	come(peer.nonce, 2, OFI_PACKET, 0, 64);
	CU_ASSERT_EQUAL(rx, 0);
	come(peer.nonce, 2, OFI_DISCONNECT_ACK, 0, 0);
	CU_ASSERT_EQUAL(peer.disconnect_acked, 1);
	peer.state = OFI_GONE;
	come(peer.nonce, 2, 99, 0, 0);
	CU_ASSERT_EQUAL(lost, 0);
}

/* Segments that do not fit together, empty ones, and pieces of 4,096. */
static void pulls(void)
{
	static uint8_t mem[20000];
	struct eng_src src[3] = { { 100, 1, 0 }, { 1000, 2, 10000 },
				  { 50000, 3, 10000 } };
	struct iovec dst[3] = { { mem, 5000 }, { mem, 0 },
				{ mem + 5000, 15000 } };
	struct eng_pull p = { .src = src, .dst = dst, .nsrc = 3, .ndst = 3,
			      .len = 20000 };
	uint64_t sum = 0;
	unsigned int i;

	begin();
	CU_ASSERT_EQUAL(ofi_pull_start(NULL, &p), 0);
	for (i = 0; i < reads; i++)
		sum += read_len[i];
	CU_ASSERT_EQUAL(sum, 20000);
	CU_ASSERT_EQUAL(read_base[0], 1000);
	CU_ASSERT_EQUAL(read_base[1], 1000 + 4096);
	CU_ASSERT_EQUAL(read_len[1], 5000 - 4096);
	for (i = 0; i < reads; i++) {
		CU_ASSERT_EQUAL(pulled, 0);
		ofi_read_done(&nic, under_way[i], 0);
	}
	CU_ASSERT_EQUAL(pulled, 1);
	CU_ASSERT_EQUAL(pulled_err, 0);
	CU_ASSERT_EQUAL(peer.reads, 0);
}

static void bad_pulls(void)
{
	static uint8_t mem[64];
	struct eng_src src[2] = { { 0, 1, 8 }, { 0, 1, UINT64_MAX } };
	struct iovec dst[1] = { { mem, 64 } };
	struct eng_pull p = { .src = src, .dst = dst, .nsrc = 1, .ndst = 1,
			      .len = 64 };
	unsigned int i;

	/* The other end's segments are shorter than it said. */
	begin();
	CU_ASSERT_EQUAL(ofi_pull_start(NULL, &p), 0);
	CU_ASSERT_EQUAL(reads, 1);
	ofi_read_done(&nic, under_way[0], 0);
	CU_ASSERT_EQUAL(pulled, 1);
	CU_ASSERT_EQUAL(pulled_err, -EPROTO);
	/* Longer: no more is read than there is room for. */
	begin();
	p.nsrc = 2;
	CU_ASSERT_EQUAL(ofi_pull_start(NULL, &p), 0);
	CU_ASSERT_EQUAL(reads, 2);
	CU_ASSERT_EQUAL(read_len[1], 56);
	/*
	 * The other end dies meanwhile: its end is told, and what was under way
	 * ends with the connection, not with an error of its own.
	 */
	for (i = 0; i < reads; i++)
		ofi_read_done(&nic, under_way[i], -ECONNRESET);
	CU_ASSERT_EQUAL(lost, 2);
	CU_ASSERT_EQUAL(peer.reads, 0);
	CU_ASSERT_EQUAL(pulled, 0);
	/* One that is asked for then waits for the end, too. */
	CU_ASSERT_EQUAL(ofi_pull_start(NULL, &p), 0);
	CU_ASSERT_PTR_NULL(nic.pulls);
	/* The same where reading cannot begin. */
	begin();
	read_err = -ENOMEM;
	CU_ASSERT_EQUAL(ofi_pull_start(NULL, &p), 0);
	CU_ASSERT_EQUAL(lost, 1);
	CU_ASSERT_EQUAL(pulled, 0);
	/* Nothing is told of a peer that is released. */
	begin();
	CU_ASSERT_EQUAL(ofi_pull_start(NULL, &p), 0);
	ofi_pulls_forget(&peer);
	ofi_pulls_orphan(&peer);
	for (i = 0; i < reads; i++)
		ofi_read_done(&nic, under_way[i], -ECANCELED);
	CU_ASSERT_EQUAL(pulled, 0);
	/* No room in libfabric: it is kept, and goes on. */
	begin();
	read_err = -EAGAIN;
	CU_ASSERT_EQUAL(ofi_pull_start(NULL, &p), 0);
	CU_ASSERT_EQUAL(reads, 0);
	read_err = 0;
	ofi_pulls(&nic);
	CU_ASSERT_EQUAL(reads, 2);
	for (i = 0; i < reads; i++)
		ofi_read_done(&nic, under_way[i], 0);
	CU_ASSERT_EQUAL(pulled, 1);
	/* The program's memory is gone: an error of this pull alone. */
	begin();
	CU_ASSERT_EQUAL(ofi_pull_start(NULL, &p), 0);
	copy_err = -EFAULT;
	for (i = 0; i < reads; i++)
		ofi_read_done(&nic, under_way[i], 0);
	copy_err = 0;
	CU_ASSERT_EQUAL(pulled, 1);
	CU_ASSERT_EQUAL(pulled_err, -EFAULT);
	CU_ASSERT_EQUAL(lost, 0);
}

static void exported(void)
{
	struct eng_src src[3];
	unsigned int i;

	begin();
	may_read = 0;
	CU_ASSERT_EQUAL(ofi_export_mem(NULL, NULL, &src, 10, &src[0]), -EFAULT);
	may_read = 1;
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(ofi_export_mem(NULL, NULL,
					       (void *)(64ul * i + 64),
					       10 + i, &src[i]), 0);
	CU_ASSERT_EQUAL(src[1].len, 11);
	ofi_unexport_mem(NULL, &src[1]);
	ofi_unexport_mem(NULL, &src[1]);
	CU_ASSERT_EQUAL(left, 1);
	ofi_unexport_mem(NULL, &src[0]);
	ofi_unexport_mem(NULL, &src[2]);
	CU_ASSERT_EQUAL(left, 3);
}

/* Where libfabric reads the memory late: what was there, of every length. */
static void copied(void)
{
	static char mem[1 << 20];
	size_t lens[] = { 1, 256, 257, 20000, sizeof(mem) };
	struct eng_src src[5];
	const char *at[5];
	unsigned int i;

	begin();
	pins = 0;
	copy_err = -EFAULT;
	CU_ASSERT_EQUAL(ofi_export_mem(NULL, NULL, mem, 10, &src[0]), -EFAULT);
	copy_err = 0;
	for (i = 0; i < 5; i++) {
		memset(mem, 'a' + (int)i, sizeof(mem));
		CU_ASSERT_EQUAL(ofi_export_mem(NULL, NULL, mem, lens[i],
					       &src[i]),
				0);
		CU_ASSERT_EQUAL(src[i].len, lens[i]);
		at[i] = (const char *)(uintptr_t)src[i].key;
	}
	for (i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(at[i][0], 'a' + (char)i);
		CU_ASSERT_EQUAL(at[i][lens[i] - 1], 'a' + (char)i);
		ofi_unexport_mem(NULL, &src[i]);
	}
	CU_ASSERT_EQUAL(left, 5);
	/* One that is over is used again. */
	CU_ASSERT_EQUAL(ofi_export_mem(NULL, NULL, mem, sizeof(mem), &src[0]),
			0);
	CU_ASSERT_PTR_EQUAL((void *)(uintptr_t)src[0].key, at[4]);
	ofi_unexport_mem(NULL, &src[0]);
	CU_ASSERT_NOT_EQUAL(ofi_export_mem(NULL, NULL, mem, 3u << 20, &src[0]),
			    0);
	pins = 1;
}

static void same(const char *text, const char *want)
{
	struct ofi_host h;
	char out[64] = "";

	memset(&h, 0xff, sizeof(h));
	if (ofi_addr_parse(&h, text, PORT)) {
		CU_ASSERT_PTR_NULL(want);
		return;
	}
	ofi_addr_format(&h, PORT, out, sizeof(out));
	if (!want || strcmp(out, want))
		printf("\n%s: %s\n", text, out);
	CU_ASSERT(want && !strcmp(out, want));
}

static void addresses(void)
{
	static const char *const bad[] = {
		"", ":", "1.2.3", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536",
		"1.2.3.4:x", "1.2.3.4:5x", "[1.2.3.4]", "[::1", "::1]", "[::1]x",
		"[::1]:", "[::1]:-1", "fe80::1%", "fe80::1%nosuchif", "node",
		"1.2.3.4 ", "0x1.2.3.4", "[]", "%lo", "::1%lo%lo",
		"11111111111111111111111111111111111111111111111111111111111111"
		"11111111111111111111111111111111111111111111111111111111111111"
		"11111111111111",
	};
	size_t i;

	same("192.0.2.1", "192.0.2.1");
	same("192.0.2.1:28000", "192.0.2.1");
	same("192.0.2.1:9", "192.0.2.1:9");
	same("::1", "[::1]");
	same("[::1]", "[::1]");
	same("[2001:db8::1]:7", "[2001:db8::1]:7");
	same("2001:db8:0:0:0:0:0:1", "[2001:db8::1]");
	same("::ffff:192.0.2.1", "192.0.2.1");
	same("fe80::1%lo", "[fe80::1%lo]");
	same("[fe80::1%lo]:9", "[fe80::1%lo]:9");
	same("fe80::1%1", "[fe80::1%lo]");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		same(bad[i], NULL);
}

static void sockets(void)
{
	struct sockaddr_storage sa;
	struct ofi_host h, back;

	CU_ASSERT_EQUAL(ofi_addr_parse(&h, "127.0.0.1:5", PORT), 0);
	CU_ASSERT(ofi_addr_is_loopback(&h));
	CU_ASSERT_EQUAL(ofi_addr_get(&h, AF_INET, &sa),
			sizeof(struct sockaddr_in));
	CU_ASSERT_EQUAL(ofi_addr_get(&h, AF_INET6, &sa),
			sizeof(struct sockaddr_in6));
	CU_ASSERT_EQUAL(ofi_addr_set(&back, (struct sockaddr *)&sa, 5), 0);
	CU_ASSERT(!memcmp(&h, &back, sizeof(h)));
	CU_ASSERT_EQUAL(ofi_addr_parse(&h, "::1", PORT), 0);
	CU_ASSERT(ofi_addr_is_loopback(&h));
	CU_ASSERT_EQUAL(ofi_addr_get(&h, AF_INET, &sa), 0);
	h.version = 9;
	CU_ASSERT_EQUAL(ofi_addr_get(&h, AF_UNSPEC, &sa), 0);
	sa.ss_family = AF_UNIX;
	CU_ASSERT_EQUAL(ofi_addr_set(&h, (struct sockaddr *)&sa, 5), -1);
	CU_ASSERT_EQUAL(ofi_addr_own(&h, NULL, PORT), 0);
	CU_ASSERT_EQUAL(ofi_addr_own(&h, "nosuchif", PORT), -1);
	CU_ASSERT_EQUAL(ofi_addr_resolve(&h, "localhost", 0, AF_INET, PORT), 0);
	CU_ASSERT(ofi_addr_is_loopback(&h));
	CU_ASSERT_EQUAL(ofi_addr_resolve(&h, "localhost:9", 0, AF_INET, PORT),
			0);
	CU_ASSERT_EQUAL(ofi_addr_port(&h), 9);
	CU_ASSERT_EQUAL(ofi_addr_resolve(&h, "localhost", 99, AF_INET, PORT),
			-1);
}

UNIT_MAIN("ofi",
	{ "messages of strangers", strangers },
	{ "lengths and types", lengths },
	{ "credits", credits },
	{ "credits owed", owing },
	{ "the first word", first_word },
	{ "ends", ends },
	{ "pulls", pulls },
	{ "pulls that do not add up", bad_pulls },
	{ "exported ranges", exported },
	{ "copies of exported ranges", copied },
	{ "addresses in writing", addresses },
	{ "addresses of sockets", sockets },
	{ "nothing is left", begin });
