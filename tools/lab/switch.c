// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * switch - an Ethernet switch for QEMU's "-netdev socket", with a bad day
 *
 *	switch PREFIX PORTS [key=value...]
 *
 * Port N listens on the unix socket PREFIX.N; PREFIX.control takes lines
 *
 *	set key=value...	change settings (impair.h) while frames flow
 *	show			the settings, as set takes them
 *	stats			one line of JSON
 *	pcap [PATH]		record what is delivered; without PATH: stop
 *
 * and answers each with one line: "ok", what was asked for, or "error WHY".
 * SIGUSR1 prints the counters to standard error, so does the end (SIGTERM).
 *
 * It learns addresses and floods what it does not know.  One thread, epoll.
 * Frames that come in with one read() go out with one writev().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "impair.h"
#include "port.h"

#define MACS		1024	/* a power of two */
#define MAX_CLIENTS	8
#define LINE		1024

/* What an epoll event is about: a kind, and which one of it. */
enum { LISTENER, PORT, CONTROL, CLIENT, SIGNAL, TIMER };

static struct {
	unsigned char mac[6];
	unsigned char known;
	unsigned char port;
} macs[MACS];

static struct client {
	int fd;
	size_t len;
	char line[LINE];
} clients[MAX_CLIENTS];

static int ep = -1, timer = -1, control = -1, signals = -1;
static FILE *pcap;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static void add(int fd, int kind, unsigned int which, uint32_t events)
{
	struct epoll_event ev = {
		.events = events, .data.u64 = (uint64_t)kind << 32 | which
	};

	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))
		die("epoll: %s", strerror(errno));
}

void watch(struct port *p, uint32_t events)
{
	struct epoll_event ev = {
		.events = events, .data.u64 = (uint64_t)PORT << 32 | p->number
	};

	if (p->waits_for >= 0)
		ev.events = events &= ~EPOLLIN;
	if (events == p->events)
		return;
	p->events = events;
	epoll_ctl(ep, EPOLL_CTL_MOD, p->fd, &ev);
}

/* Addresses */

static unsigned int mac_slot(const unsigned char *mac)
{
	return (mac[5] + mac[4] * 31 + mac[3] * 131 + mac[2] * 17) & (MACS - 1);
}

static void learn(const unsigned char *mac, unsigned int port)
{
	unsigned int i = mac_slot(mac);

	if (mac[0] & 1)
		return;
	/* A newcomer with the same hash evicts: flooding is the worst case. */
	memcpy(macs[i].mac, mac, 6);
	macs[i].known = 1;
	macs[i].port = port;
}

static int lookup(const unsigned char *mac)
{
	unsigned int i = mac_slot(mac);

	if (mac[0] & 1 || !macs[i].known || memcmp(macs[i].mac, mac, 6))
		return -1;
	return macs[i].port;
}

/* A switch that was reset, or whose table is too small, knows no address. */
static void forget(uint64_t now)
{
	static uint64_t last;

	if (now - last < wire.forget)
		return;
	last = now;
	for (unsigned int i = 0; i < MACS; i++)
		macs[i].known = 0;
}

/* Recording */

static void record(const struct frame *f)
{
	struct timespec ts;
	uint32_t head[4];

	clock_gettime(CLOCK_REALTIME, &ts);
	head[0] = ts.tv_sec;
	head[1] = ts.tv_nsec;
	head[2] = head[3] = f->len - 4;
	fwrite(head, sizeof(head), 1, pcap);
	fwrite(frame_bytes(f), f->len - 4, 1, pcap);
}

static const char *record_to(const char *path)
{
	static const uint32_t head[] = {
		0xa1b23c4d, 2 | 4 << 16, 0, 0, 262144, 1
	};

	if (pcap)
		fclose(pcap);
	pcap = NULL;
	if (!*path)
		return NULL;
	pcap = fopen(path, "we");
	if (!pcap)
		return strerror(errno);
	fwrite(head, sizeof(head), 1, pcap);
	return NULL;
}

/* Frames */

static void deliver(struct port *from, struct frame *f, uint64_t number,
		    uint64_t now)
{
	int known = lookup(frame_bytes(f));
	int hurt = wire.reorder > 0 &&
		   dice_hit(wire.reorder, from->number, number, REORDER);
	unsigned int behind = 1;

	if (hurt && wire.gap)
		behind += dice_roll(from->number, number, REORDER_BY) %
			  wire.gap;
	if (pcap)
		record(f);
	for (unsigned int i = 0; i < nports; i++) {
		if (i == from->number || (known >= 0 && known != (int)i))
			continue;
		if ((wire.cut | wire.deaf) >> i & 1) {
			ports[i].count.cut_drops++;
			continue;
		}
		chunk_get(f->chunk);
		from->fed |= 1ull << i;
		if (hurt)
			port_hold(&ports[i], *f, behind, now);
		else
			port_queue(&ports[i], *f, now);
	}
	from->count.reordered += hurt;
}

static int selected(const unsigned char *frame, uint32_t len)
{
	if (len < wire.least || (wire.most && len > wire.most))
		return 0;
	return !wire.only || (uint64_t)(frame[12] << 8 | frame[13]) ==
			     wire.only;
}

static void flip(struct frame *f, struct port *from, uint64_t number)
{
	uint64_t die = dice_roll(from->number, number, SLIP_WHERE);
	uint32_t body = f->len - 4 - 14;

	if (!body || frame_unshare(f))
		return;
	frame_bytes(f)[14 + (die >> 3) % body] ^= 1 << (die & 7);
	from->count.slipped++;
}

/* Once the die falls, the next ones go with it. */
static int lost(struct port *from, uint64_t number)
{
	if (wire.each && from->counted++ % wire.each == 0)
		return 1;
	if (from->doomed) {
		from->doomed--;
		return 1;
	}
	if (!dice_hit(wire.loss, from->number, number, LOSS))
		return 0;
	from->doomed = wire.burst ? wire.burst - 1 : 0;
	return 1;
}

void switch_frame(struct port *from, struct chunk *chunk, uint32_t off,
		  uint32_t len, uint64_t now)
{
	struct frame f = { .chunk = chunk, .off = off, .len = len };
	uint64_t n = from->seen++;
	unsigned int port = from->number;

	from->count.in_frames++;
	from->count.in_bytes += len - 4;
	if (len < 4 + 14) {
		from->count.malformed++;
		return;
	}
	if ((wire.cut | wire.mute) >> port & 1) {
		from->count.cut_drops++;
		return;
	}
	learn(frame_bytes(&f) + 6, port);
	if (wire.forget)
		forget(now);
	chunk_get(chunk);
	if (!selected(frame_bytes(&f), len - 4)) {
		double reorder = wire.reorder;

		wire.reorder = 0;
		deliver(from, &f, n, now);
		wire.reorder = reorder;
	} else if (lost(from, n)) {
		from->count.lost++;
	} else if (dice_hit(wire.corrupt, port, n, CORRUPT)) {
		from->count.corrupted++;
	} else {
		if (dice_hit(wire.slip, port, n, SLIP))
			flip(&f, from, n);
		deliver(from, &f, n, now);
		if (dice_hit(wire.dup, port, n, DUP)) {
			from->count.duplicated++;
			deliver(from, &f, n + (1ull << 63), now);
		}
	}
	chunk_put(f.chunk);
}

/* Control */

static size_t put_counters(char *to, size_t size, const struct counters *c)
{
	return snprintf(to, size,
		"\"in_frames\":%lu,\"in_bytes\":%lu,\"out_frames\":%lu,"
		"\"out_bytes\":%lu,\"lost\":%lu,\"corrupted\":%lu,"
		"\"slipped\":%lu,\"duplicated\":%lu,\"reordered\":%lu,"
		"\"queue_drops\":%lu,\"stuck_drops\":%lu,\"cut_drops\":%lu,"
		"\"malformed\":%lu", c->in_frames, c->in_bytes, c->out_frames,
		c->out_bytes, c->lost, c->corrupted, c->slipped, c->duplicated,
		c->reordered, c->queue_drops, c->stuck_drops, c->cut_drops,
		c->malformed);
}

/* One line of JSON; the caller gives room for MAX_PORTS + 1 sets. */
static void put_stats(char *to, size_t size)
{
	struct counters total = { 0 };
	uint64_t *sum = (uint64_t *)&total;
	size_t at = 0;

	for (unsigned int i = 0; i < nports; i++)
		for (size_t k = 0; k < sizeof(total) / 8; k++)
			sum[k] += ((uint64_t *)&ports[i].count)[k];
	at += snprintf(to + at, size - at, "{");
	at += put_counters(to + at, size - at, &total);
	at += snprintf(to + at, size - at, ",\"ports\":[");
	for (unsigned int i = 0; i < nports; i++) {
		at += snprintf(to + at, size - at, "%s{", i ? "," : "");
		at += put_counters(to + at, size - at, &ports[i].count);
		at += snprintf(to + at, size - at, "}");
	}
	snprintf(to + at, size - at, "]}\n");
}

static void print_stats(void)
{
	char text[8192];

	put_stats(text, sizeof(text));
	fputs(text, stderr);
	fflush(stderr);
	if (pcap)
		fflush(pcap);
}

/* Settings are all taken or none; a new seed starts the dice afresh. */
static const char *take_settings(char *words)
{
	struct settings s = wire;
	const char *why;
	int seeded = 0;

	for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) {
		why = setting_take(&s, w);
		if (why)
			return why;
		seeded |= !strncmp(w, "seed=", 5);
	}
	wire = s;
	for (unsigned int i = 0; seeded && i < nports; i++) {
		ports[i].seen = 0;
		ports[i].doomed = 0;
	}
	return NULL;
}

static void reply(int fd, const char *text)
{
	/* A client that does not read its answers only hurts itself. */
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return;
}

static void command(struct client *c, char *line)
{
	char text[8192];
	const char *why;

	if (!strcmp(line, "stats")) {
		if (pcap)
			fflush(pcap);
		put_stats(text, sizeof(text));
		reply(c->fd, text);
		return;
	}
	if (!strcmp(line, "show")) {
		strcpy(text + settings_put(text, sizeof(text) - 1, &wire),
		       "\n");
		reply(c->fd, text);
		return;
	}
	if (!strncmp(line, "set ", 4))
		why = take_settings(line + 4);
	else if (!strncmp(line, "pcap", 4) && (!line[4] || line[4] == ' '))
		why = record_to(line + 4 + !!line[4]);
	else
		why = "commands are set, show, stats, pcap";
	snprintf(text, sizeof(text), "%s%s\n", why ? "error " : "ok",
		 why ? why : "");
	reply(c->fd, text);
}

static void client_read(struct client *c)
{
	ssize_t n = read(c->fd, c->line + c->len, LINE - 1 - c->len);
	char *end;

	if (n <= 0) {
		close(c->fd);
		c->fd = -1;
		return;
	}
	c->len += n;
	c->line[c->len] = 0;
	while ((end = strchr(c->line, '\n'))) {
		*end++ = 0;
		command(c, c->line);
		c->len -= end - c->line;
		memmove(c->line, end, c->len + 1);
	}
	if (c->len == LINE - 1)
		c->len = 0;
}

static void client_new(void)
{
	int fd = accept4(control, NULL, NULL, SOCK_CLOEXEC);
	struct client *c = clients;

	if (fd < 0)
		return;
	while (c < clients + MAX_CLIENTS && c->fd >= 0)
		c++;
	if (c == clients + MAX_CLIENTS) {
		close(fd);
		return;
	}
	c->fd = fd;
	c->len = 0;
	add(fd, CLIENT, c - clients, EPOLLIN);
}

/* Sockets */

static int listen_at(const char *prefix, const char *name)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s.%s", prefix, name) >=
	    (int)sizeof(sa.sun_path))
		die("%s.%s: too long for a socket", prefix, name);
	unlink(sa.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    listen(fd, 4))
		die("%s: %s", sa.sun_path, strerror(errno));
	return fd;
}

/* A new plug in a port pulls the old one. */
static void plug(struct port *p)
{
	int fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int room = 4 << 20;

	if (fd < 0)
		return;
	port_close(p);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	p->fd = fd;
	p->events = EPOLLIN;
	add(fd, PORT, p->number, EPOLLIN);
}

static void port_event(struct port *p, uint32_t events)
{
	if (p->fd >= 0 && events & EPOLLOUT) {
		p->stuck = 0;
		port_flush(p, now_ns());
	}
	if (p->fd >= 0 && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		port_read(p);
}

/* Arms the timer for the earliest thing that waits for time to pass. */
static void run_timers(void)
{
	static uint64_t armed;
	uint64_t now = now_ns(), next = UINT64_MAX;
	struct itimerspec at = { 0 };

	for (unsigned int i = 0; i < nports; i++) {
		uint64_t t = port_timer(&ports[i], now);

		if (t < next)
			next = t;
	}
	if (next == UINT64_MAX)
		next = 0;
	if (next == armed && next > now)
		return;
	if (!next && !armed)
		return;
	armed = next;
	at.it_value.tv_sec = next / 1000000000;
	at.it_value.tv_nsec = next % 1000000000;
	timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void signal_event(void)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) < (ssize_t)sizeof(info))
		return;
	print_stats();
	if (info.ssi_signo == SIGUSR1)
		return;
	record_to("");
	exit(0);
}

static void dispatch(const struct epoll_event *ev)
{
	unsigned int which = (uint32_t)ev->data.u64;
	uint64_t ticks;

	switch (ev->data.u64 >> 32) {
	case LISTENER:
		plug(&ports[which]);
		break;
	case PORT:
		port_event(&ports[which], ev->events);
		break;
	case CONTROL:
		client_new();
		break;
	case CLIENT:
		client_read(&clients[which]);
		break;
	case SIGNAL:
		signal_event();
		break;
	case TIMER:
		if (read(timer, &ticks, sizeof(ticks)) < 0)
			return;
		break;
	}
}

static void set_up(const char *prefix)
{
	char name[16];
	sigset_t mask;

	ep = epoll_create1(EPOLL_CLOEXEC);
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	signals = signalfd(-1, &mask, SFD_CLOEXEC);
	if (ep < 0 || timer < 0 || signals < 0)
		die("%s", strerror(errno));
	add(timer, TIMER, 0, EPOLLIN);
	add(signals, SIGNAL, 0, EPOLLIN);
	control = listen_at(prefix, "control");
	add(control, CONTROL, 0, EPOLLIN);
	for (int i = 0; i < MAX_CLIENTS; i++)
		clients[i].fd = -1;
	for (unsigned int i = 0; i < nports; i++) {
		snprintf(name, sizeof(name), "%u", i);
		ports[i].number = i;
		ports[i].fd = -1;
		ports[i].waits_for = -1;
		ports[i].listener = listen_at(prefix, name);
		add(ports[i].listener, LISTENER, i, EPOLLIN);
	}
}

int main(int argc, char **argv)
{
	struct epoll_event events[16];
	const char *why;

	if (argc < 3)
		die("usage: switch PREFIX PORTS [key=value...]");
	nports = strtoul(argv[2], NULL, 10);
	if (nports < 1 || nports > MAX_PORTS)
		die("switch: 1 to %d ports", MAX_PORTS);
	for (int i = 3; i < argc; i++) {
		why = setting_take(&wire, argv[i]);
		if (why)
			die("switch: '%s': %s", argv[i], why);
	}
	set_up(argv[1]);
	puts("ready");
	fflush(stdout);
	for (;;) {
		int n = epoll_wait(ep, events, 16, -1);

		for (int i = 0; i < n; i++)
			dispatch(&events[i]);
		run_timers();
	}
}
