// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Malformed frames of our EtherType, past the driver under test. */
#include "stress.h"
#include "common/content.h"
#include "common/dice.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ETHERTYPE	0x88b5
#define BURST		16u

/* How a frame with data begins; see docs/reference/wire.md. */
struct head {
	uint8_t version, type, flags, marks;
	uint32_t dst;
	uint64_t cookie;
	uint32_t seq, ack, msg_len, offset;
	uint16_t len, reads;
};

/* One frame: truncated, of every type, half right or wholly random. */
static size_t make(uint8_t *p, uint64_t r, uint64_t n)
{
	struct head h;
	size_t len, body;

	content(p, r, 1500);
	len = r % 3 ? r % 120 : r % 1500;
	if (r >> 62 == 0)
		return len;
	memcpy(&h, p, sizeof(h));
	h.version = 2;
	h.type = n;
	h.flags &= 3;
	h.marks = 0;
	h.dst = htonl(ntohl(h.dst) % 16);
	body = len > sizeof(h) ? len - sizeof(h) : 0;
	if (r >> 61 & 1)
		h.len = htons(body > 4 ? body - 4 : 0);
	if (r >> 60 & 1)
		h.reads = 0;
	if (r >> 59 & 1)
		h.seq = htonl(ntohl(h.seq) % 64);
	memcpy(p, &h, sizeof(h));
	return len;
}

static void *garbage_main(void *arg)
{
	struct garbage *g = arg;
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = 6,
				  .sll_protocol = htons(ETHERTYPE),
				  .sll_ifindex = g->ifindex };
	uint8_t frame[1500];
	unsigned int i;
	uint64_t r;

	memcpy(to.sll_addr, g->mac, 6);
	while (!load_acquire(&g->stop)) {
		for (i = 0; i < BURST; i++) {
			r = mix(args.seed ^ mix(g->thrown));
			if (sendto(g->sock, frame,
				   make(frame, r, g->thrown), 0,
				   (struct sockaddr *)&to, sizeof(to)) >= 0)
				g->thrown++;
		}
		/* So that the wire has room for what is to get through. */
		sleep_ms(1);
	}
	return NULL;
}

int garbage_start(struct garbage *g, const char *ifname, const uint8_t *mac)
{
	memset(g, 0, sizeof(*g));
	memcpy(g->mac, mac, 6);
	g->ifindex = if_nametoindex(ifname);
	if (!g->ifindex) {
		warn_msg("no interface %s", ifname);
		return -1;
	}
	g->sock = socket(AF_PACKET, SOCK_DGRAM, 0);
	if (g->sock < 0) {
		warn_msg("AF_PACKET: %s", strerror(errno));
		return -1;
	}
	g->thread = thread_start(garbage_main, g);
	return 0;
}

void garbage_stop(struct garbage *g)
{
	store_release(&g->stop, 1);
	pthread_join(g->thread, NULL);
	close(g->sock);
}
