// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Patterns in which programs exchange messages, over VIA, UDP, TCP and RC.
 * A server and a client, which meet by TCP, or both ends in this program.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vipl.h>

#include "common/json.h"
#include "common/msg.h"
#include "common/netns.h"
#include "common/opts.h"
#include "pattern.h"

#define ASK_MAGIC	0x74617031u
#define PATIENCE_NS	10000000000ull
#define SLOW_NS		1000000u	/* a sample above it is of a mode */
#define ALONE		"127.0.0.1"
#define UNSET		UINT32_MAX

struct options {
	const char	*host, *dev, *peer_dev, *peer_netns;
	enum pattern	pattern;
	enum proto	proto;
	uint32_t	size, iters, clients, think, think_server, burst;
	uint16_t	port, level;
	bool		block, json, persist, exact, named;
};

static const char *const proto_names[] = { "via", "udp", "tcp", "rc" };
static const char *const level_names[] = { "unreliable", "rd", "rr" };

static const struct kind {
	const char	*name;
	uint32_t	size, iters, clients;
	uint32_t	think;		/* us */
	const char	*help;
} kinds[NR_PATTERNS] = {
	[P_REQUEST] = { "request", 4, 1000, 1, 0,
		"a request and its answer" },
	[P_IDLE] = { "idle", 4, 10, 1, 1000000,
		"the same after a second of silence" },
	[P_TURN] = { "turn", 4, 1000, 8, 0,
		"clients ask in turn; the server waits until each answer's\n"
		"send has completed" },
	[P_BOTH] = { "both", 4, 1000, 1, 0,
		"one thread has both ends: a message each way, and both\n"
		"sends complete; one way (needs --exact)" },
	[P_WRITE] = { "write", 4096, 1000, 1, 0,
		"an RDMA Write and its completion" },
	[P_WRITE_SEND] = { "write-send", 4096, 1000, 1, 0,
		"an RDMA Write, a message of 4 bytes, both completions" },
	[P_BURST] = { "burst", 1024, 50, 1, 20000,
		"messages at once, all completions, then silence" },
	[P_TAIL] = { "tail", 3500, 50, 1, 20000,
		"one message and its completion, then silence; the wire\n"
		"may lose the last frame of it" },
	[P_FANOUT] = { "fanout", 1024, 1000, 8, 0,
		"a message to each client, which all answer at once" },
};

enum {
	O_THINK = 256, O_THINK_SERVER, O_BURST, O_JSON, O_PERSIST, O_EXACT,
	O_PEER_DEV, O_PEER_NETNS, O_PROTO,
};

static const struct option longs[] = {
	{ "pattern", 1, NULL, 'P' }, { "proto", 1, NULL, O_PROTO },
	{ "dev", 1, NULL, 'd' }, { "level", 1, NULL, 'l' },
	{ "size", 1, NULL, 's' }, { "iters", 1, NULL, 'n' },
	{ "clients", 1, NULL, 'c' }, { "events", 0, NULL, 'e' },
	{ "think", 1, NULL, O_THINK },
	{ "think-server", 1, NULL, O_THINK_SERVER },
	{ "burst", 1, NULL, O_BURST }, { "port", 1, NULL, 'p' },
	{ "json", 0, NULL, O_JSON }, { "persist", 0, NULL, O_PERSIST },
	{ "exact", 0, NULL, O_EXACT }, { "peer-dev", 1, NULL, O_PEER_DEV },
	{ "peer-netns", 1, NULL, O_PEER_NETNS }, { "help", 0, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static const char help[] =
"Usage: via_patterns [OPTIONS]               (server)\n"
"       via_patterns [OPTIONS] HOST          (client; an IPv4 address)\n"
"       via_patterns --exact [OPTIONS] [HOST]  (both; HOST is the other end)\n"
"\n"
"  -P, --pattern NAME      what to measure:\n";

static const char help_options[] =
"      --proto PROTO       via, udp, tcp or rc (through libibverbs)\n"
"  -d, --dev NIC           VI NIC or RDMA device (default: the first one)\n"
"  -l, --level LEVEL       via: unreliable, rd or rr\n"
"  -s, --size BYTES        size of a message\n"
"  -n, --iters N           rounds\n"
"  -c, --clients N         connections of turn and fanout, 1 to 8\n"
"  -e, --events            sleep until something arrives or completes\n"
"                          instead of polling\n"
"      --think US          pause of the client before each round\n"
"      --think-server US   pause of the server before each answer; the\n"
"                          figures are without it\n"
"      --burst N           messages of a burst, 1 to 128\n"
"  -p, --port PORT         of the control connection\n"
"      --json              one JSON object on standard output, nothing else\n"
"      --persist           server: go on after the first client\n"
"      --exact             both ends on this machine\n"
"      --peer-dev NIC      NIC of the other end, if its name differs\n"
"      --peer-netns NETNS  with --exact: network namespace of the other end\n"
"  -h, --help              show this text\n"
"\n"
"The client's options rule the run; the server needs only -p.\n"
"Times are in microseconds. Where a completed send does not tell that the\n"
"message has arrived (udp, tcp, unreliable), an answer of 4 bytes does.\n";

static void usage(void)
{
	fputs(help, stdout);
	for (int i = 0; i < NR_PATTERNS; i++) {
		const char *text = kinds[i].help;
		const char *eol = strchr(text, '\n');

		printf("        %-11s %.*s\n", kinds[i].name,
		       eol ? (int)(eol - text) : (int)strlen(text), text);
		if (eol)
			printf("        %-11s %s\n", "", eol + 1);
	}
	fputs(help_options, stdout);
	exit(0);
}

static int pick(const char *what, const char *s, const char *const *names,
		size_t step, int n)
{
	char list[128] = "";

	for (int i = 0; i < n; i++) {
		const char *name = *(const char *const *)
				   ((const char *)names + i * step);

		if (!strcmp(s, name))
			return i;
		snprintf(list + strlen(list), sizeof(list) - strlen(list),
			 "%s%s", i ? ", " : "", name);
	}
	die_usage("%s: '%s' is not one of %s", what, s, list);
}

#define PICK(what, s, names) \
	pick(what, s, names, sizeof((names)[0]), \
	     sizeof(names) / sizeof((names)[0]))

static void set_option(struct options *o, int c, const char *arg)
{
	switch (c) {
	case 'P':
		o->pattern = pick("-P", arg, &kinds[0].name, sizeof(kinds[0]),
				  NR_PATTERNS);
		o->named = true;
		break;
	case O_PROTO: o->proto = PICK("--proto", arg, proto_names); break;
	case 'd': o->dev = arg; break;
	case 'l': o->level = 1 << PICK("-l", arg, level_names); break;
	case 's':
		o->size = parse_number("-s", arg, sizeof(uint32_t), MAX_SIZE);
		break;
	case 'n': o->iters = parse_number("-n", arg, 1, 1u << 24); break;
	case 'c': o->clients = parse_number("-c", arg, 1, MAX_CONNS); break;
	case 'e': o->block = true; break;
	case O_THINK:
		o->think = parse_number("--think", arg, 0, 60000000);
		break;
	case O_THINK_SERVER:
		o->think_server = parse_number("--think-server", arg, 0,
					       3000000);
		break;
	case O_BURST: o->burst = parse_number("--burst", arg, 1, 128); break;
	case 'p': o->port = parse_number("-p", arg, 1, 65535); break;
	case O_JSON: o->json = true; break;
	case O_PERSIST: o->persist = true; break;
	case O_EXACT: o->exact = true; break;
	case O_PEER_DEV: o->peer_dev = arg; break;
	case O_PEER_NETNS: o->peer_netns = arg; break;
	case 'h': usage(); break;
	default: die_usage("see via_patterns -h");
	}
}

static void check_options(struct options *o)
{
	const struct kind *k = &kinds[o->pattern];

	if (!o->host && !o->exact) {
		if (o->named || o->json)
			die_usage("the server measures nothing: give HOST or --exact");
		return;
	}
	if (o->peer_netns && !o->exact)
		die_usage("--peer-netns needs --exact");
	if (!o->named)
		die_usage("what is to be measured? Give -P, see via_patterns -h");
	if (o->persist)
		die_usage("--persist is for the server");
	if (o->pattern == P_BOTH && !o->exact)
		die_usage("-P both: one thread has both ends, add --exact");
	if (o->clients != UNSET && k->clients == 1 && o->clients != 1)
		die_usage("-P %s has one client", k->name);
	if ((o->pattern == P_WRITE || o->pattern == P_WRITE_SEND) &&
	    o->proto == PAT_VIA && o->level == VIP_SERVICE_UNRELIABLE)
		die_usage("-P %s: completed at level unreliable says nothing",
		    k->name);
	if (o->dev && strlen(o->dev) >= sizeof(((struct ask *)0)->dev))
		die_usage("-d: '%s' is too long", o->dev);
	if (o->peer_dev &&
	    strlen(o->peer_dev) >= sizeof(((struct ask *)0)->dev))
		die_usage("--peer-dev: '%s' is too long", o->peer_dev);
	o->size = o->size == UNSET ? k->size : o->size;
	o->iters = o->iters == UNSET ? k->iters : o->iters;
	o->clients = o->clients == UNSET ? k->clients : o->clients;
	o->think = o->think == UNSET ? k->think : o->think;
}

static void parse(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "P:d:l:s:n:c:ep:h", longs,
				NULL)) != -1)
		set_option(o, c, optarg);
	if (optind < argc)
		o->host = argv[optind++];
	if (optind < argc)
		die_usage("one host at most: what is '%s'? See via_patterns -h",
		    argv[optind]);
	check_options(o);
}

/* The control connection */

static struct sockaddr_in ctl_addr(const char *host, uint16_t port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_ANY),
	};

	if (host && inet_pton(AF_INET, host, &a.sin_addr) != 1)
		die_usage("'%s' is not an IPv4 address", host);
	return a;
}

static void no_delay(int fd)
{
	int one = 1;

	check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)),
	      "TCP_NODELAY");
}

static int ctl_listen(uint16_t port)
{
	struct sockaddr_in a = ctl_addr(NULL, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	check(fd < 0, "socket");
	check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)),
	      "SO_REUSEADDR");
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)))
		die("port %u: %s", port, strerror(errno));
	check(listen(fd, 8), "listen");
	return fd;
}

static int ctl_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	check(fd < 0, "accept");
	no_delay(fd);
	return fd;
}

static int ctl_connect(const char *host, uint16_t port)
{
	struct sockaddr_in a = ctl_addr(host, port);
	uint64_t end = now_ns() + PATIENCE_NS;

	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		check(fd < 0, "socket");
		if (!connect(fd, (struct sockaddr *)&a, sizeof(a))) {
			no_delay(fd);
			return fd;
		}
		if (errno != ECONNREFUSED || now_ns() > end)
			die("no via_patterns server at %s port %u: %s", host,
			    port, strerror(errno));
		close(fd);
		sleep_ns(20000000);
	}
}

static void tell(int fd, const void *p, size_t n)
{
	ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

	check(k < 0, "control connection");
	if ((size_t)k != n)
		die("control connection: %zd of %zu bytes sent", k, n);
}

static void hear(int fd, void *p, size_t n)
{
	ssize_t k = recv(fd, p, n, MSG_WAITALL);

	check(k < 0, "control connection");
	if ((size_t)k != n)
		die("the other end has ended; it says why on its standard error");
}

/* Both have come this far. */
static void barrier(int fd)
{
	char c = 'b';

	tell(fd, &c, 1);
	hear(fd, &c, 1);
}

/* Sets */

static void set_init(struct set *s, const struct ask *ask, const char *host,
		     int ctl)
{
	static const struct set_ops *const all[] = {
		[PAT_VIA] = &via_ops, [PAT_UDP] = &udp_ops,
		[PAT_TCP] = &tcp_ops, [PAT_RC] = &rc_ops,
	};

	*s = (struct set){
		.ops = all[ask->proto], .ask = *ask, .host = host, .ctl = ctl,
		.block = ask->block,
	};
	if (!s->ops->open)
		die("--proto rc: built without libibverbs (apt-get install libibverbs-dev)");
}

static void name_dev(struct ask *ask, const char *dev)
{
	snprintf(ask->dev, sizeof(ask->dev), "%s", dev ? dev : "");
}

static struct ask make_ask(const struct options *o)
{
	struct ask a = {
		.magic = ASK_MAGIC, .proto = o->proto, .conns = o->clients,
		.block = o->block, .wait_sent = o->pattern == P_TURN,
		.level = o->level, .port = o->port, .size = o->size,
		.answer = sizeof(uint32_t), .think = o->think_server,
		.cookie = (uint32_t)now_ns() ^ (uint32_t)getpid() << 16,
	};

	switch (o->pattern) {
	case P_REQUEST: case P_IDLE: case P_TURN: case P_BOTH: case P_FANOUT:
		a.answer = o->size;
		break;
	default:
		break;
	}
	return a;
}

static void check_ask(const struct ask *a)
{
	if (a->magic != ASK_MAGIC || a->proto > PAT_RC || !a->conns ||
	    a->conns > MAX_CONNS || a->size < sizeof(uint32_t) ||
	    a->size > MAX_SIZE || a->answer < sizeof(uint32_t) ||
	    a->answer > MAX_SIZE || !memchr(a->dev, 0, sizeof(a->dev)))
		die("the client is another program, or another version of it");
}

static bool heard(struct set *s, int ms)
{
	struct pollfd p = { .fd = s->ctl, .events = POLLIN };
	int n = poll(&p, 1, ms);

	check(n < 0, "poll");
	return n;
}

static void run_client(const struct options *o, struct run *r)
{
	struct where here[MAX_CONNS] = { 0 }, there[MAX_CONNS];
	struct ask ask = make_ask(o);
	struct set s;
	size_t bytes = ask.conns * sizeof(*here);
	char c;
	int ctl = ctl_connect(o->host, o->port);

	name_dev(&ask, o->peer_dev ? o->peer_dev : o->dev);
	tell(ctl, &ask, sizeof(ask));
	name_dev(&ask, o->dev);
	set_init(&s, &ask, o->host, ctl);
	s.heard = heard;
	s.ops->open(&s, here);
	tell(ctl, here, bytes);
	hear(ctl, there, bytes);
	s.ops->join(&s, there);
	barrier(ctl);
	run_pattern(r, &s);
	/* The server has heard the end of the run. */
	hear(ctl, &c, 1);
	barrier(ctl);
	s.ops->close(&s);
	close(ctl);
}

static void serve_one(int ctl)
{
	struct where here[MAX_CONNS] = { 0 }, there[MAX_CONNS];
	struct ask ask;
	struct set s;
	size_t bytes;

	hear(ctl, &ask, sizeof(ask));
	check_ask(&ask);
	bytes = ask.conns * sizeof(*here);
	set_init(&s, &ask, NULL, ctl);
	hear(ctl, there, bytes);
	s.ops->open(&s, here);
	tell(ctl, here, bytes);
	s.ops->join(&s, there);
	barrier(ctl);
	serve(&s);
	tell(ctl, "e", 1);
	barrier(ctl);
	s.ops->close(&s);
	close(ctl);
}

static int wait_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		check(errno != EINTR, "waitpid");
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/* A child that ends with its parent. */
static pid_t xfork(void)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	check(pid < 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			exit(1);
	}
	return pid;
}

static int server(const struct options *o)
{
	int listener = ctl_listen(o->port);

	if (!o->persist) {
		serve_one(ctl_accept(listener));
		return 0;
	}
	/* A process each: what ends one run does not end the server. */
	for (;;) {
		int ctl = ctl_accept(listener);
		pid_t pid = xfork();

		if (!pid) {
			close(listener);
			serve_one(ctl);
			exit(0);
		}
		close(ctl);
		wait_child(pid);
	}
}

/* Two processes on this machine. */
static int run_pair(struct options *o, struct run *r)
{
	int cookie = netns_enter(o->peer_netns), listener;
	pid_t pid;

	listener = ctl_listen(o->port);
	pid = xfork();
	if (!pid) {
		serve_one(ctl_accept(listener));
		exit(0);
	}
	netns_leave(cookie);
	close(listener);
	run_client(o, r);
	return wait_child(pid);
}

struct joining {
	struct set	*set;
	struct where	there;
};

static void *join_other(void *arg)
{
	struct joining *j = arg;

	j->set->ops->join(j->set, &j->there);
	return NULL;
}

/* One thread with both ends; a second one only while they connect. */
static int run_alone(const struct options *o, struct run *r)
{
	struct where here = { 0 };
	struct joining other = { 0 };
	struct ask ask = make_ask(o);
	struct set a, b;
	pthread_t thread;
	int cookie, listener, ctl[2];

	cookie = netns_enter(o->peer_netns);
	listener = ctl_listen(o->port);
	netns_leave(cookie);
	ctl[0] = ctl_connect(o->host, o->port);
	ctl[1] = ctl_accept(listener);
	close(listener);
	name_dev(&ask, o->dev);
	set_init(&a, &ask, o->host, ctl[0]);
	name_dev(&ask, o->peer_dev ? o->peer_dev : o->dev);
	set_init(&b, &ask, NULL, ctl[1]);
	a.ops->open(&a, &other.there);
	cookie = netns_enter(o->peer_netns);
	b.ops->open(&b, &here);
	netns_leave(cookie);
	other.set = &b;
	if (pthread_create(&thread, NULL, join_other, &other))
		die("cannot start a thread");
	a.ops->join(&a, &here);
	pthread_join(thread, NULL);
	/* Joined is not gone: it holds the file table for a moment. */
	sleep_ns(50000000);
	run_both(r, &a, &b);
	a.ops->close(&a);
	b.ops->close(&b);
	close(ctl[0]);
	close(ctl[1]);
	return 0;
}

/* What was found */

static void report(const struct options *o, struct run *r)
{
	/* Of both, one way; samples_summary() halves. */
	double whole = o->pattern == P_BOTH ? 1 : 2;
	const char *level = o->proto == PAT_VIA ? level_str(o->level) : "-";
	const char *path = o->proto == PAT_VIA ? (o->dev ? o->dev : "via") :
			   proto_names[o->proto];
	const char *wait = o->block ? "block" : "poll";
	struct json j = { .file = stdout };
	struct lat_summary l;
	size_t slow = 0;

	for (size_t i = 0; i < r->samples.n; i++)
		slow += r->samples.v[i] * (whole / 2) > SLOW_NS;
	samples_summary(&r->samples, &l);
	if (r->lost)
		warn_msg("%u messages were lost and sent again", r->lost);
	if (o->json) {
		json_object(&j);
		json_str(&j, "tool", "via_patterns");
		json_str(&j, "pattern", kinds[o->pattern].name);
		json_str(&j, "path", path);
		json_str(&j, "level", level);
		json_str(&j, "wait", wait);
		json_num(&j, "bytes", o->size);
		json_num(&j, "clients", o->clients);
		json_num(&j, "think_us", o->think);
		json_num(&j, "think_server_us", o->think_server);
		json_num(&j, "samples", r->samples.n);
		json_real(&j, "p50", l.typical * whole, 3);
		json_real(&j, "p99", l.p99 * whole, 3);
		json_real(&j, "max", l.max * whole, 3);
		json_real(&j, "mean", l.avg * whole, 3);
		json_real(&j, "over_1ms",
			  (double)slow / (double)r->samples.n, 4);
		json_num(&j, "lost", r->lost);
		json_object_end(&j);
		return;
	}
	printf(" #pattern   path       level      wait  #bytes #clients #rounds  p50[usec]  p99[usec]  max[usec]  mean[usec] over 1 ms\n");
	printf(" %-10s %-10s %-10s %-5s %-6u %-8u %-8zu %-10.2f %-10.2f %-10.2f %-10.2f %.1f %%\n",
	       kinds[o->pattern].name, path, level, wait, o->size, o->clients,
	       r->samples.n, l.typical * whole, l.p99 * whole, l.max * whole,
	       l.avg * whole, 100.0 * (double)slow / (double)r->samples.n);
}

int main(int argc, char **argv)
{
	struct options o = {
		.size = UNSET, .iters = UNSET, .clients = UNSET,
		.think = UNSET, .burst = 64, .port = 18519,
		.level = VIP_SERVICE_RELIABLE_DELIVERY,
	};
	struct run r = { 0 };
	int ret = 0;

	parse(&o, argc, argv);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	if (!o.host && !o.exact)
		return server(&o);
	r.pattern = o.pattern;
	r.iters = o.iters;
	r.think = o.think;
	r.burst = o.burst;
	if (!o.host)
		o.host = ALONE;
	if (o.pattern == P_BOTH)
		ret = run_alone(&o, &r);
	else if (o.exact)
		ret = run_pair(&o, &r);
	else
		run_client(&o, &r);
	report(&o, &r);
	samples_free(&r.samples);
	return ret;
}
