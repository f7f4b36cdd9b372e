// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The command line, the socket, and the count of what was thrown. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "viatest.h"
#include "common/msg.h"
#include "common/netns.h"
#include "common/words.h"
#include "cost.h"
#include "frames.h"

#define BATCH	64u
#define STRETCH	512u		/* frames of one class in a row, at most */
#define AWAIT_S	300u		/* for connections to be made */
#define LISTEN	32u		/* frames looked at between two batches */
#define SAMPLE	8u		/* one frame with data of so many is looked at */

struct field field = { .spare = "sacrifice" };

static struct {
	const char *ifname;
	uint64_t frames, seed, seconds, hang, wait;
	int own;			/* hang: from where there is a host */
	struct cost cost;
} opt = { .frames = 100000, .seed = 1, .seconds = 3600,
	      .cost.vis = 1 };

static struct frame batch[BATCH];
static uint64_t thrown[CLASSES];
static uint64_t refused;		/* the interface was full */
static uint64_t shouted;		/* of the target, broadcast */

static const char help[] =
	"usage: viatest frames [options] INTERFACE MAC\n"
	"  --frames N    to throw at that address (100000)\n"
	"  --seconds N   at most (3600)\n"
	"  --seed N      of all that is made (1)\n"
	"  --wait N      until so many protected connections, and one that\n"
	"                may break, have been seen being made\n"
	"  --hang N      instead make its server take N requests, of clients\n"
	"                that have all the time and do not exist\n"
	"  --own         these come from this host's address\n"
	"  --cost SET    instead what a frame of each kind of SET costs the\n"
	"                target, in exact mode: open, list, key\n"
	"  --vis N       VIs connected meanwhile (1)\n"
	"  --device, --peer, --netns, --count   see cost.h\n";

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "frames", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 'S' },
		{ "hang", required_argument, NULL, 'H' },
		{ "wait", required_argument, NULL, 'w' },
		{ "own", no_argument, &opt.own, 1 },
		{ "cost", required_argument, NULL, 'c' },
		{ "vis", required_argument, NULL, 'v' },
		{ "device", required_argument, NULL, 'd' },
		{ "peer", required_argument, NULL, 'D' },
		{ "netns", required_argument, NULL, 'N' },
		{ "count", required_argument, NULL, 'C' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static uint64_t *const numbers[128] = {
		['n'] = &opt.frames, ['t'] = &opt.seconds, ['S'] = &opt.seed,
		['H'] = &opt.hang, ['w'] = &opt.wait,
	};
	static const char **const words[128] = {
		['c'] = &opt.cost.set, ['d'] = &opt.cost.device,
		['D'] = &opt.cost.peer, ['N'] = &opt.cost.netns,
		['C'] = &opt.cost.count,
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (numbers[c]) {
			*numbers[c] = word_number(optarg, 0, c == 't' ?
						  UINT32_MAX : UINT64_MAX);
		} else if (words[c]) {
			*words[c] = optarg;
		} else if (c == 'v') {
			opt.cost.vis = word_number(optarg, 1, 100000);
		} else if (c) {
			fputs(help, c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (argc - optind != 2) {
		fputs(help, stderr);
		exit(2);
	}
	opt.ifname = argv[optind];
	word_mac(argv[optind + 1], field.target);
}

/* Sees all that the host sends and gets there, but for what goes out here. */
static int open_socket(void)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = if_nametoindex(opt.ifname) };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1, room = 4 << 20;
	int backlog = 16 << 20;
	struct ifreq r = { 0 };

	strncpy(r.ifr_name, opt.ifname, IFNAMSIZ - 1);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &r))
		goto err;
	memcpy(field.own, r.ifr_hwaddr.sa_data, 6);
	if (ioctl(fd, SIOCGIFMTU, &r))
		goto err;
	field.mtu = r.ifr_mtu;
	if (field.mtu + ETH > ROOM)
		field.mtu = ROOM - ETH;
	/* Straight to the driver. */
	if (setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &backlog,
		       sizeof(backlog)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)))
		goto err;
	return fd;
err:
	fprintf(stderr, "viatest frames: %s: %s\n", opt.ifname, strerror(errno));
	return -1;
}

void listen_to(int fd)
{
	struct sockaddr_ll from;
	static uint8_t p[ROOM];
	uint32_t i;

	for (i = 0; i < LISTEN; i++) {
		socklen_t n = sizeof(from);
		ssize_t len = recvfrom(fd, p, sizeof(p), MSG_DONTWAIT,
				       (struct sockaddr *)&from, &n);

		if (len < 0)
			return;
		if (ntohs(from.sll_protocol) != VIA_WIRE_ETHERTYPE)
			continue;
		if (from.sll_pkttype == PACKET_OUTGOING &&
		    !memcmp(p, field.target, 6))
			learn(p, len, 1);
		else if (from.sll_pkttype == PACKET_HOST &&
			 !memcmp(p + 6, field.target, 6))
			learn(p, len, 0);
		else if (from.sll_pkttype == PACKET_BROADCAST &&
			 !memcmp(p + 6, field.target, 6))
			shouted += p[ETH + 1] != VIA_WIRE_NAME_QUERY;
	}
}

/* All of them, however long the interface takes. */
static int throw(int fd, unsigned int n)
{
	struct mmsghdr m[BATCH];
	struct iovec v[BATCH];
	uint32_t i;
	int done;

	memset(m, 0, sizeof(m));
	for (i = 0; i < n; i++) {
		v[i].iov_base = batch[i].b;
		v[i].iov_len = batch[i].len;
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	for (i = 0; i < n; i += done) {
		done = sendmmsg(fd, m + i, n - i, 0);
		if (done > 0)
			continue;
		done = 0;
		if (errno == ENOBUFS || errno == EAGAIN || errno == ENETDOWN ||
		    errno == EINTR) {
			refused++;
			usleep(50);
			continue;
		}
		fprintf(stderr, "viatest frames: a frame of %u bytes: %s\n",
			batch[i].len, strerror(errno));
		return -1;
	}
	return 0;
}

/*
 * A connection whose ACCEPT is lost here is never known, and its frames would
 * come to be attacked.  A host whose connections keep its CPUs busy fills the
 * socket with their data: of that a sample is enough.
 */
static int sample_data(int fd)
{
	enum { TYPE = ETH + offsetof(struct via_wire, type) };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, VIA_WIRE_ETHERTYPE, 0, 5),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, TYPE),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, VIA_WIRE_ACK, 2, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_RANDOM),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SAMPLE - 1, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	if (!setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
			sizeof(filter)))
		return 0;
	perror("viatest frames: SO_ATTACH_FILTER");
	return -1;
}

/* Frames that passed unseen, since the socket was full. */
static unsigned int unseen(int fd)
{
	struct tpacket_stats s = { 0 };
	socklen_t n = sizeof(s);

	getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &s, &n);
	return s.tp_drops;
}

static int await(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = now_ns() + AWAIT_S * 1000000000ull;

	puts("viatest frames: ready");
	fflush(stdout);
	while (learnt.protected < opt.wait || learnt.spare < !!opt.wait) {
		if (now_ns() > end) {
			fprintf(stderr, "viatest frames: of the connections "
				"made here %u protected and %u that may break "
				"have been seen; %u frames passed unseen\n",
				learnt.protected, learnt.spare, unseen(fd));
			return -1;
		}
		poll(&p, 1, 1000);
		listen_to(fd);
	}
	return 0;
}

static int run(int fd)
{
	struct rng d = { .s = opt.seed * 0x2545f4914f6cdd1dull };
	uint64_t start, end;
	double took;
	uint64_t total = 0;
	uint32_t n, i, left = 0;
	enum class class = 0;

	if (sample_data(fd) || await(fd))
		return 1;
	start = now_ns();
	end = start + opt.seconds * 1000000000;
	while (total < opt.frames && now_ns() < end) {
		listen_to(fd);
		n = opt.frames - total < BATCH ? opt.frames - total : BATCH;
		for (i = 0; i < n; i++) {
			if (!left--) {
				class = rng_below(&d, CLASSES);
				left = rng_below(&d, STRETCH);
			}
			/* What is not learnt yet is made up. */
			if (!make(&batch[i], class, &d))
				make(&batch[i], EDGES, &d);
			/* The socket takes no less than a header. */
			if (batch[i].len < ETH)
				batch[i].len = ETH;
			thrown[class]++;
		}
		if (throw(fd, n))
			return 1;
		total += n;
	}
	took = (now_ns() - start) / 1e9;
	printf("viatest frames: learnt %llu frames, %u connections to break, %u protected; full %llu times\n",
	       (unsigned long long)learnt.frames, learnt.spare,
	       learnt.protected, (unsigned long long)refused);
	printf("viatest frames: %llu answers to everybody\nviatest frames: {",
	       (unsigned long long)shouted);
	for (i = 0; i < CLASSES; i++)
		printf("%s\"%s\": %llu", i ? ", " : "", class_names[i],
		       (unsigned long long)thrown[i]);
	printf("}\nviatest frames: seed %llu, %llu frames in %.1f s, %.0f a second\n",
	       (unsigned long long)opt.seed, (unsigned long long)total, took,
	       total / took);
	return 0;
}

int viatest_frames(int argc, char **argv)
{
	int fd, ns;

	parse(argc, argv);
	if (opt.cost.set && (!opt.cost.device || !opt.cost.peer ||
			     !opt.cost.count)) {
		fputs(help, stderr);
		return 2;
	}
	ns = netns_enter(opt.cost.netns);
	fd = open_socket();
	netns_leave(ns);
	if (fd < 0)
		return 1;
	if (opt.cost.set)
		return cost_main(&opt.cost, fd);
	return opt.hang ? hang(fd, opt.ifname, opt.seed, opt.hang, opt.own) :
			  run(fd);
}
