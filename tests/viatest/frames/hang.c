// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Requests that a server takes, and whose clients are never heard of again.
 * A server takes none without a token of its sender's address, so each is
 * asked twice: the address is there as long as the question is.
 */
#include "frames.h"
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "viatest.h"
#include "common/clock.h"

#define ANSWER_MS	100u	/* until a question is repeated */
#define TAKEN_MS	20000u	/* until a server must have taken it */

/* Frames to an address that is not the interface's own. */
static int hear_all(int fd, const char *ifname)
{
	struct packet_mreq m = {
		.mr_ifindex = if_nametoindex(ifname),
		.mr_type = PACKET_MR_PROMISC,
	};

	return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m));
}

static void request(struct frame *f, struct rng *d, uint32_t number, int own)
{
	struct via_wire_hello *h = (void *)(wire_of(f) + 1);
	struct via_wire_conn *c = conn_of(wire_of(f));

	make(f, REQUESTS, d);
	memcpy(f->b + 6, field.own, 6);
	if (!own) {
		f->b[6] = 2;
		f->b[11] = number;
	}
	h->token = 0;
	/* Another one would say that this host was started again. */
	if (own)
		h->epoch = learnt.epoch;
	c->reliability = htonl(2);
	c->max_transfer = htonl(256);
	c->timeout_ms = htonl(VIA_WIRE_FOREVER);
	c->server.disc_len = strlen(field.spare);
	memcpy(c->server.disc, field.spare, c->server.disc_len);
}

/* Is it the target's answer to that request? */
static int answers(const struct frame *a, ssize_t len, const struct frame *f)
{
	const struct via_wire *w = (const void *)(a->b + ETH);

	return len >= (ssize_t)(ETH + VIA_WIRE_ACK_LEN) &&
	       a->b[12] == VIA_WIRE_ETHERTYPE >> 8 &&
	       a->b[13] == (VIA_WIRE_ETHERTYPE & 255) &&
	       !memcmp(a->b, f->b + 6, 6) && !memcmp(a->b + 6, f->b, 6) &&
	       w->version == VIA_WIRE_VERSION &&
	       w->cookie == ((const struct via_wire *)(f->b + ETH))->cookie;
}

/* The type of the answer; 0: none has come. */
static uint8_t asked(int fd, struct frame *f, struct frame *a)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = now_ms() + ANSWER_MS;
	ssize_t len;

	seal(f);
	if (send(fd, f->b, f->len, 0) < 0)
		return 0;
	while (now_ms() < end) {
		poll(&p, 1, 1);
		len = recv(fd, a->b, sizeof(a->b), MSG_DONTWAIT);
		if (answers(a, len, f))
			return wire_of(a)->type;
	}
	return 0;
}

/* One that a server has taken; false: there is none that takes it. */
static int taken(int fd, struct rng *d, uint32_t number, int own)
{
	static struct frame f, a;
	struct via_wire_hello *mine = (void *)(wire_of(&f) + 1);
	const struct via_wire_hello *theirs = (void *)(wire_of(&a) + 1);
	uint64_t end = now_ms() + TAKEN_MS;

	request(&f, d, number, own);
	while (now_ms() < end) {
		switch (asked(fd, &f, &a)) {
		case VIA_WIRE_CHALLENGE:
			mine->token = theirs->token;
			break;
		case VIA_WIRE_WAIT:
		case VIA_WIRE_ACCEPT:
			return 1;
		case VIA_WIRE_REFUSE:
			/* The server is between two waits: another request. */
			usleep(2000);
			request(&f, d, number, own);
		}
	}
	return 0;
}

int hang(int fd, const char *ifname, uint64_t seed, uint32_t count, int own)
{
	struct rng d = { .s = seed * 0x2545f4914f6cdd1dull };
	uint32_t i;

	if (hear_all(fd, ifname)) {
		perror("viatest frames");
		return 1;
	}
	if (own) {
		puts("viatest frames: ready");
		fflush(stdout);
	}
	/* A request of this host tells its epoch. */
	while (own && !learnt.epoch) {
		usleep(1000);
		listen_to(fd);
	}
	for (i = 0; i < count; i++) {
		if (!taken(fd, &d, i, own)) {
			fprintf(stderr, "viatest frames: no server takes a "
				"request for %s\n", field.spare);
			return 1;
		}
	}
	printf("viatest frames: %u requests without a client\n", count);
	return 0;
}
