// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * ping over VIA: unreliable messages, so that what the wire loses is seen,
 * echoed by a responder ("viaping -l") on the other machine.
 */
#include <endian.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/chan.h"
#include "common/conn.h"
#include "common/json.h"
#include "common/msg.h"
#include "common/opts.h"
#include "common/samples.h"
#include "common/version.h"

#define PING_DISC	"viaping"
#define PING_MTU	65536	/* the longest message; both ends agree on it */
#define PING_DEPTH	16
#define PING_SIZE	56
#define PING_TAG	"ping"
#define GONE_NS		500000000u
#define ACCEPT_MS	10000
#define LAST_NS		2000000000ull	/* for the last answers, without -W */
#define FLOOD_NS	10000000ull	/* -f: a hundred messages a second at least */
#define FLOOD_USER_NS	2000000ull	/* -f of users: between two messages */
#define CONNECT_MS	1000

/* Opens each message; the rest is filling. */
struct ping_hdr {
	uint32_t	seq;
	uint32_t	reserved;
	uint64_t	sent_ns;
};

/* The client's discriminator: how long its messages are. */
struct ping_tag {
	char		name[4];
	uint32_t	size;		/* little endian */
};

struct ping {
	struct nic	nic;
	struct chan	ch;
	const char	*host;
	uint32_t	size, count;
	uint64_t	interval_ns;
	uint64_t	wait_ns;	/* for answers to the last message */
	uint32_t	sent, received;
	uint32_t	dots;		/* -f: on the terminal's line */
	bool		quiet, flood;
	bool		root;		/* -f goes as fast as the answers come */
	struct json	json;		/* -j */
	struct samples	rtt;
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* @size: of the client's messages: so much memory is pinned, and no more. */
static void init_chan(struct chan *ch, struct nic *nic, uint32_t size)
{
	struct chan_config c = {
		.level = VIP_SERVICE_UNRELIABLE, .max_transfer = PING_MTU,
		.tx = PING_DEPTH, .rx = PING_DEPTH, .buf_len = size,
		.share = false,
	};

	chan_init(ch, nic, &c);
	chan_fill_recvs(ch);
}

/* What the client says of its messages; one of an older version says nothing. */
static uint32_t size_of(const struct conn_peer *peer)
{
	struct ping_tag tag = { .size = 0 };
	uint32_t size;

	if (peer->addr.a.DiscriminatorLen == sizeof(tag))
		memcpy(&tag, net_addr_disc(&peer->addr), sizeof(tag));
	if (memcmp(tag.name, PING_TAG, sizeof(tag.name)))
		return PING_MTU;
	size = le32toh(tag.size);
	return size >= sizeof(struct ping_hdr) && size <= PING_MTU ? size :
								     PING_MTU;
}

/* Whether memory for such messages may be pinned. */
static bool can_serve(struct nic *nic, uint32_t size)
{
	VIP_MEM_ATTRIBUTES attr = { 0 };
	size_t len = 2 * PING_DEPTH * ((size_t)size + sizeof(VIP_DESCRIPTOR));
	VIP_MEM_HANDLE handle;
	VIP_RETURN rc;
	void *p;

	len = (len + 3 * 4096) & ~(size_t)4095;
	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	if (p == MAP_FAILED)
		return false;
	rc = VipRegisterMem(nic->h, p, len, &attr, &handle);
	if (rc == VIP_SUCCESS)
		VipDeregisterMem(nic->h, p, handle);
	munmap(p, len);
	return rc == VIP_SUCCESS;
}

/* Echo from the receive buffer itself; false once the client has gone. */
static bool echo_one(struct chan *ch)
{
	VIP_DESCRIPTOR *d, *s;
	VIP_RETURN rc;

	rc = VipRecvWait(ch->vi, 0xffffffff, &d);
	if (rc != VIP_SUCCESS)
		return false;
	ch->rdone++;
	s = chan_next_send(ch);
	memset(s, 0, sizeof(*s));
	s->CS.Length = d->CS.Length;
	s->CS.SegCount = 1;
	s->DS[0].Local = d->DS[0].Local;
	s->DS[0].Local.Length = d->CS.Length;
	if (VipPostSend(ch->vi, s, ch->mem.handle) != VIP_SUCCESS)
		return false;
	/* The buffer is the sender's until then. */
	rc = VipSendWait(ch->vi, 0xffffffff, &s);
	if (rc != VIP_SUCCESS)
		return false;
	ch->sposted++;
	ch->sdone++;
	chan_post_recv(ch);
	return true;
}

static void *echo_thread(void *arg)
{
	struct chan *ch = arg;

	while (echo_one(ch))
		;
	chan_fini(ch);
	free(ch);
	return NULL;
}

static void answer(struct nic *nic, struct conn_peer *peer)
{
	struct chan *ch;
	pthread_t t;

	/* The others are served nonetheless. */
	if (!can_serve(nic, size_of(peer))) {
		warn_msg("a client's messages of %u bytes are too much memory to pin",
			 size_of(peer));
		VipConnectReject(peer->conn);
		return;
	}
	ch = xcalloc(1, sizeof(*ch));
	init_chan(ch, nic, size_of(peer));
	if (VipConnectAccept(peer->conn, ch->vi) != VIP_SUCCESS) {
		VipConnectReject(peer->conn);
		chan_fini(ch);
		free(ch);
		return;
	}
	if (pthread_create(&t, NULL, echo_thread, ch))
		die("cannot start a thread for a client");
	pthread_detach(t);
}

static int respond(const char *dev)
{
	struct conn_peer peer;
	struct nic nic;
	VIP_RETURN rc;

	nic_open(&nic, dev);
	if (!can_serve(&nic, PING_SIZE))
		die("cannot answer on %s: no memory may be pinned for it",
		    nic.dev);
	printf("viaping: answering on %s (%s)\n", nic.dev,
	       nic_addr(&nic));
	fflush(stdout);
	while (!stop) {
		rc = conn_wait(&nic, PING_DISC, ACCEPT_MS, &peer);
		if (rc == VIP_SUCCESS)
			answer(&nic, &peer);
		if (rc == VIP_SUCCESS || rc == VIP_TIMEOUT)
			continue;
		/* That the NIC has gone ends us by its error handler. */
		sleep_ns(GONE_NS);
		die("cannot wait for clients on %s: %s", nic.dev, vip_str(rc));
	}
	return 0;
}

static void connect_to(struct ping *p)
{
	struct ping_tag tag;
	union net_addr host;
	VIP_RETURN rc;

	net_addr_resolve(&host, &p->nic, p->host);
	init_chan(&p->ch, &p->nic, p->size);
	memcpy(tag.name, PING_TAG, sizeof(tag.name));
	tag.size = htole32(p->size);
	rc = conn_request(&p->nic, p->ch.vi, &host, PING_DISC, &tag,
			  sizeof(tag), CONNECT_MS);
	if (rc == VIP_NO_MATCH)
		die("%s is there, but has no responder\nstart one there: viaping -l -d NIC",
		    p->host);
	if (rc == VIP_TIMEOUT || rc == VIP_NOT_REACHABLE)
		conn_unanswered(&p->nic, p->host, rc);
	if (rc != VIP_SUCCESS)
		die("cannot connect to %s: %s", p->host, vip_str(rc));
	if (p->json.file)
		return;
	printf("VIAPING %s (%s) from %s: %u bytes\n", p->host,
	       addr_text(&p->nic, host.a.HostAddress, host.a.HostAddressLen),
	       p->nic.dev, p->size);
	fflush(stdout);
}

static void send_one(struct ping *p, unsigned char *msg)
{
	struct ping_hdr h = { .seq = p->sent + 1, .sent_ns = now_ns() };

	memcpy(msg, &h, sizeof(h));
	chan_send_msg(&p->ch, msg, p->size, false, 0);
	p->sent++;
	if (p->flood && !p->quiet && !p->json.file) {
		putchar('.');
		p->dots++;
		fflush(stdout);
	}
}

static void print_answer(struct ping *p, uint32_t bytes, uint32_t seq,
			 uint64_t ns)
{
	if (p->json.file) {
		json_object(&p->json);
		json_num(&p->json, "seq", seq);
		json_num(&p->json, "bytes", bytes);
		json_real(&p->json, "rtt_ms", (double)ns / 1e6, 6);
		json_object_end(&p->json);
	} else if (p->flood) {
		/* A dot that stays is a message without an answer. */
		if (p->dots) {
			fputs("\b \b", stdout);
			p->dots--;
		}
	} else {
		printf("%u bytes from %s: seq=%u time=%.3f ms\n", bytes,
		       p->host, seq, (double)ns / 1e6);
	}
	fflush(stdout);
}

static void got_one(struct ping *p, const VIP_DESCRIPTOR *d)
{
	uint64_t now = now_ns();
	struct ping_hdr h;

	if (d->CS.Length < sizeof(h))
		die("an answer of %u bytes", d->CS.Length);
	memcpy(&h, chan_recv_buf(&p->ch, d), sizeof(h));
	if (!p->quiet)
		print_answer(p, d->CS.Length, h.seq, now - h.sent_ns);
	samples_add(&p->rtt, now - h.sent_ns);
	p->received++;
	chan_post_recv(&p->ch);
}

/* Take answers until all are received or the time is up. */
static void listen_until(struct ping *p, uint64_t until, bool all_in)
{
	VIP_DESCRIPTOR *d;
	uint64_t now;

	while (!stop && (now = now_ns()) < until) {
		if (all_in && p->received == p->sent)
			break;
		/* Short steps, for the sake of an interrupt key. */
		now = until - now > 200000000 ? 200000000 : until - now;
		d = chan_recv_wait(&p->ch, (now + 999999) / 1000000);
		if (d)
			got_one(p, d);
	}
}

static void summary(struct ping *p)
{
	double loss = p->sent ? 100.0 * (p->sent - p->received) / p->sent : 0;
	struct lat_summary s = { 0 };

	if (p->rtt.n)
		samples_summary(&p->rtt, &s);
	if (p->json.file) {
		json_object(&p->json);
		json_str(&p->json, "host", p->host);
		json_num(&p->json, "sent", p->sent);
		json_num(&p->json, "received", p->received);
		json_real(&p->json, "loss_percent", loss, 4);
		/* The summary is of half round trips, us. */
		json_real(&p->json, "rtt_min_ms", s.min / 500, 6);
		json_real(&p->json, "rtt_avg_ms", s.avg / 500, 6);
		json_real(&p->json, "rtt_max_ms", s.max / 500, 6);
		json_real(&p->json, "rtt_mdev_ms", s.stdev / 500, 6);
		json_object_end(&p->json);
		return;
	}
	printf("\n--- %s viaping statistics ---\n"
	       "%u sent, %u received, %.4g%% loss\n", p->host, p->sent,
	       p->received, loss);
	if (p->rtt.n)
		printf("rtt min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n",
		       s.min / 500, s.avg / 500, s.max / 500, s.stdev / 500);
}

static int ping(struct ping *p, const char *dev)
{
	unsigned char *msg;
	uint64_t next;

	nic_open(&p->nic, dev);
	connect_to(p);
	msg = xcalloc(1, PING_MTU);
	next = now_ns();
	while (!stop && (!p->count || p->sent < p->count)) {
		send_one(p, msg);
		next += p->interval_ns;
		if (p->sent == p->count)
			listen_until(p, now_ns() + p->wait_ns, true);
		else
			listen_until(p, next, p->flood && p->root);
		/* A flood does not send in a burst for time that it lost. */
		if (p->flood)
			next = now_ns();
	}
	summary(p);
	chan_fini(&p->ch);
	nic_close(&p->nic);
	free(msg);
	return p->received ? 0 : 1;
}

static void usage(void)
{
	printf("Usage: viaping [OPTIONS] HOST    (a name or an address)\n"
	       "       viaping -l [-d NIC]       (the responder)\n\n"
	       "  -d, --dev NIC           VI NIC to use: via_eth0, shm:0, ofi:tcp...\n"
	       "  -c, --count N           stop after N messages\n"
	       "  -s, --size BYTES        size of a message (56)\n"
	       "  -i, --interval SECONDS  time between two messages (1)\n"
	       "  -W, --wait SECONDS      time for the last answers to arrive (2)\n"
	       "  -q, --quiet             print the summary only\n"
	       "  -f, --flood             send when an answer arrives; print a dot for a\n"
	       "                          message, delete one for an answer. Without root:\n"
	       "                          500 messages a second at most\n"
	       "  -j, --json              one JSON object for each answer, one at the end\n"
	       "  -l, --listen            answer others\n"
	       "  -h, --help              show this text\n"
	       "  -V, --version           " VERSION_HELP "\n");
}

static uint64_t parse_seconds(char option, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end || !(v >= 0 && v <= 3600))
		die_usage("-%c: '%s' is not a number of seconds from 0 to 3600",
			  option, s);
	return v * 1e9;
}

static void take_options(struct ping *p, int argc, char **argv,
			 const char **dev, bool *listen)
{
	static const struct option longs[] = {
		{ "dev", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'c' },
		{ "size", required_argument, NULL, 's' },
		{ "interval", required_argument, NULL, 'i' },
		{ "wait", required_argument, NULL, 'W' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "flood", no_argument, NULL, 'f' },
		{ "json", no_argument, NULL, 'j' },
		{ "listen", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		VERSION_LONG,
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "d:c:s:i:W:qfjlhV", longs, NULL)) !=
	       -1) {
		switch (c) {
		case 'd': *dev = optarg; break;
		case 'c': p->count = parse_number("-c", optarg, 1, 1u << 30); break;
		case 's': p->size = parse_number("-s", optarg,
						 sizeof(struct ping_hdr),
						 PING_MTU); break;
		case 'i': p->interval_ns = parse_seconds(c, optarg); break;
		case 'W': p->wait_ns = parse_seconds(c, optarg); break;
		case 'q': p->quiet = true; break;
		case 'f': p->flood = true; break;
		case 'j': p->json.file = stdout; break;
		case 'l': *listen = true; break;
		case 'h': usage(); exit(0);
		case OPT_VERSION: print_version("viaping");
		default: die_usage("see viaping -h");
		}
	}
}

int main(int argc, char **argv)
{
	struct ping p = {
		.size = PING_SIZE, .interval_ns = UINT64_MAX,
		.wait_ns = LAST_NS, .root = !geteuid(),
	};
	const char *dev = NULL;
	bool listen = false;

	take_options(&p, argc, argv, &dev, &listen);
	if (argc - optind != !listen)
		die_usage("one host, or -l for the responder: see viaping -h");
	if (p.interval_ns == UINT64_MAX)
		p.interval_ns = p.flood ? FLOOD_NS : 1000000000;
	if (p.flood && !p.root)
		p.interval_ns = FLOOD_USER_NS;
	signal(SIGINT, on_signal);
	if (listen) {
		signal(SIGINT, SIG_DFL);
		return respond(dev);
	}
	p.host = argv[optind];
	return ping(&p, dev);
}
