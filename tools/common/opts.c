// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The command line of the measuring programs: perftest's, as far as it makes
 * sense here. One table gives the parser and the help text.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vipl.h>

#include "msg.h"
#include "opts.h"
#include "version.h"

#define LONG_ONLY 256
#define CONNS_MAX 64		/* their messages fit the control channel */
#define ALL_PROGS (OPT_LAT | OPT_BW | OPT_SOCK)
#define VIA_PROGS (OPT_LAT | OPT_BW)

enum {
	O_OP = LONG_ONLY, O_JSON, O_PERSIST, O_EXACT, O_PEER_DEV, O_PEER_NETNS,
	O_PROTO, O_SPIN, O_BW, O_POLL, O_CPUS, O_HISTOGRAM,
};

static const struct optdef {
	int		val;
	const char	*name;
	const char	*arg;
	unsigned int	progs;
	const char	*help;
} defs[] = {
	{ 'd', "dev", "NIC", VIA_PROGS, "VI NIC (default: $VIPL_NIC, else the first one)" },
	{ 's', "size", "BYTES", ALL_PROGS, "size of a message" },
	{ 'a', "all", NULL, ALL_PROGS, "run all sizes from 2 to the largest" },
	{ 'n', "iters", "N", ALL_PROGS, "number of messages" },
	{ 'D', "duration", "SECONDS", VIA_PROGS,
	  "run for a time instead of -n" },
	{ 'b', "bidirectional", NULL, OPT_BW, "send both ways at once" },
	{ 'e', "events", NULL, VIA_PROGS,
	  "sleep until something completes instead of polling" },
	{ 'p', "port", "PORT", ALL_PROGS, "port (part of the discriminator)" },
	{ 'l', "level", "LEVEL", VIA_PROGS,
	  "reliability: unreliable, rd or rr" },
	{ 't', "tx-depth", "N", VIA_PROGS, "sends in flight" },
	{ 'q', "connections", "N", OPT_BW,
	  "connections at once; -n and -t are of each" },
	{ O_OP, "op", "OP", VIA_PROGS, "send, or by RDMA: write, write_imm, read" },
	{ O_PROTO, "proto", "PROTO", OPT_SOCK, "udp, tcp, unix or pipe" },
	{ O_SPIN, "spin", NULL, OPT_SOCK,
	  "with --exact: one process polls both sockets" },
	{ O_BW, "bw", NULL, OPT_SOCK, "bandwidth instead of latency" },
	{ O_POLL, "poll", NULL, OPT_SOCK,
	  "never sleep in a call (not udp); at both ends" },
	{ O_CPUS, "cpus", "A[,B]", ALL_PROGS,
	  "run on processor A; with --exact the other end on B" },
	{ O_JSON, "json", "FILE", ALL_PROGS,
	  "results as lines of JSON, too; -: these alone, here" },
	{ O_HISTOGRAM, "histogram", "FILE", OPT_LAT | OPT_SOCK,
	  "write the times as HdrHistogram's interval log" },
	{ 'i', "interval", "SECONDS", VIA_PROGS,
	  "print a line that often while it runs" },
	{ O_PERSIST, "persist", NULL, ALL_PROGS,
	  "server: go on after the first client" },
	{ O_EXACT, "exact", NULL, ALL_PROGS,
	  "both ends on this machine, to count instructions" },
	{ O_PEER_DEV, "peer-dev", "NIC", VIA_PROGS,
	  "with --exact: NIC of the other end" },
	{ O_PEER_NETNS, "peer-netns", "NETNS", ALL_PROGS,
	  "with --exact: its network namespace, name or path" },
	{ 'h', "help", NULL, ALL_PROGS, "show this text" },
	{ OPT_VERSION, "version", NULL, ALL_PROGS, VERSION_HELP },
};

#define NR_DEFS (sizeof(defs) / sizeof(defs[0]))

static void usage(const struct opts *o)
{
	printf("Usage: %s [OPTIONS] [HOST]  (HOST: %s; none: a server)\n\n",
	       o->name, o->prog == OPT_SOCK ?
	       "an IPv4 address" : "a name or an address");
	for (size_t i = 0; i < NR_DEFS; i++) {
		char left[48], sh[8] = "    ";

		if (!(defs[i].progs & o->prog))
			continue;
		if (defs[i].val < LONG_ONLY)
			snprintf(sh, sizeof(sh), "-%c, ", defs[i].val);
		snprintf(left, sizeof(left), "%s--%s%s%s", sh, defs[i].name,
			 defs[i].arg ? " " : "", defs[i].arg ? defs[i].arg : "");
		printf("  %-26s %s\n", left, defs[i].help);
	}
	printf("The client's options rule the run; the server needs only %s.\n",
	       o->prog == OPT_SOCK ? "-p" : "-d and -p");
	exit(0);
}

uint64_t parse_number(const char *what, const char *s, uint64_t min,
		      uint64_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (!errno && end != s && *s != '-') {
		unsigned int shift = *end == 'k' || *end == 'K' ? 10 :
				     *end == 'M' ? 20 : *end == 'G' ? 30 : 0;

		end += shift != 0;
		if (!*end && v <= max >> shift && v << shift >= min)
			return v << shift;
	}
	die_usage("%s: '%s' is not a number from %llu to %llu", what, s,
		  (unsigned long long)min, (unsigned long long)max);
}

static int pick(const char *what, const char *s, const char *const *names,
		int n)
{
	char list[96] = "";

	for (int i = 0; i < n; i++) {
		if (!strcmp(s, names[i]))
			return i;
		snprintf(list + strlen(list), sizeof(list) - strlen(list),
			 "%s%s", i ? ", " : "", names[i]);
	}
	die_usage("%s: '%s' is not one of %s", what, s, list);
}

static const char *const op_names[] = { "send", "write", "write_imm", "read" };
static const char *const proto_names[] = { "udp", "tcp", "unix", "pipe" };
static const char *const level_names[] = { "unreliable", "rd", "rr" };

const char *op_str(enum test_op op)
{
	return op_names[op];
}

const char *proto_str(enum sock_proto proto)
{
	return proto_names[proto];
}

bool opts_local(const struct opts *o)
{
	return o->proto == PROTO_UNIX || o->proto == PROTO_PIPE;
}

/* From a hundredth of a second to a day. */
static uint64_t parse_interval(const char *arg)
{
	char *end;
	double s = strtod(arg, &end);

	if (end == arg || *end || !(s >= 0.01 && s <= 86400))
		die_usage("-i: '%s' is not a number of seconds from 0.01 to 86400",
			  arg);
	return (uint64_t)(s * 1e9);
}

static void set_cpus(struct opts *o, const char *arg)
{
	char rest[2] = "";
	int n = sscanf(arg, "%d,%d%1s", &o->cpu[0], &o->cpu[1], rest);

	if (n == 1)
		o->cpu[1] = -1;
	if (n < 1 || n > 2 || o->cpu[0] < 0 || (n == 2 && o->cpu[1] < 0) ||
	    (n == 1 && arg[strspn(arg, "0123456789")]))
		die_usage("--cpus: '%s' is not a processor or two, such as 0,1",
			  arg);
}

void use_cpu(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	if (cpu < CPU_SETSIZE)
		CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("--cpus %d: %s", cpu, strerror(errno));
}

static void set_option(struct opts *o, int c, const char *arg)
{
	switch (c) {
	case 'd': o->dev = arg; break;
	case 's': o->size = parse_number("-s", arg, 0, 1u << 30); break;
	case 'a': o->all = true; break;
	case 'n': o->iters = parse_number("-n", arg, 1, 1u << 30); break;
	case 'D': o->seconds = parse_number("-D", arg, 1, 86400); break;
	case 'b': o->bidir = true; break;
	case 'e': o->events = true; break;
	case 'p': o->port = parse_number("-p", arg, 1, 65535); break;
	case 'l': o->level = 1 << pick("-l", arg, level_names, 3); break;
	case 't': o->tx = parse_number("-t", arg, 1, 65536); break;
	case 'q': o->conns = parse_number("-q", arg, 1, CONNS_MAX); break;
	case O_OP: o->op = pick("--op", arg, op_names, 4); break;
	case O_PROTO: o->proto = pick("--proto", arg, proto_names, 4); break;
	case O_SPIN: o->spin = true; break;
	case O_BW: o->bw = true; break;
	case O_POLL: o->poll = true; break;
	case O_CPUS: set_cpus(o, arg); break;
	case O_JSON: o->json = arg; break;
	case O_HISTOGRAM: o->histogram = arg; break;
	case 'i': o->interval_ns = parse_interval(arg); break;
	case O_PERSIST: o->persist = true; break;
	case O_EXACT: o->exact = true; break;
	case O_PEER_DEV: o->peer_dev = arg; break;
	case O_PEER_NETNS: o->peer_netns = arg; break;
	case 'h': usage(o); break;
	case OPT_VERSION: print_version(o->name);
	default: die_usage("see %s -h", o->name);
	}
}

static void check(const struct opts *o)
{
	if (!o->exact && (o->peer_dev || o->peer_netns || o->spin))
		die_usage("--peer-dev, --peer-netns and --spin need --exact");
	if (o->prog == OPT_SOCK) {
		if (opts_local(o) && !o->exact)
			die_usage("--proto %s works on one machine only: add --exact",
				  proto_str(o->proto));
		if (o->poll && (o->spin || o->proto == PROTO_UDP))
			die_usage("--poll is for tcp, unix and pipe, without --spin");
		return;
	}
	if (o->exact && o->host)
		die_usage("--exact runs both ends here: leave out the host '%s'",
			  o->host);
	if (o->prog == OPT_LAT && o->op == OP_WRITE && o->events)
		die_usage("a plain RDMA Write wakes no thread: use -e with --op write_imm");
	if ((o->op == OP_WRITE || o->op == OP_READ) && !o->size)
		die_usage("--op %s needs at least one byte (-s)", op_str(o->op));
	if (o->op == OP_READ && o->level == VIP_SERVICE_UNRELIABLE)
		die_usage("--op read needs a reliable level: -l rd or rr");
	if (o->op == OP_READ && o->exact && !o->events)
		die_usage("--exact with --op read has two processes: add -e");
	if (o->conns > 1 && o->exact && !o->events)
		die_usage("--exact with -q has two processes: add -e");
	if (o->cpu[1] >= 0 && !o->exact)
		die_usage("--cpus: a second processor needs --exact");
}

void opts_parse(struct opts *o, int argc, char **argv)
{
	struct option longs[NR_DEFS + 1];
	char shorts[2 * NR_DEFS + 1] = "";
	int n = 0, c;

	o->cpu[0] = o->cpu[1] = -1;
	o->conns = 1;
	memset(longs, 0, sizeof(longs));
	for (size_t i = 0; i < NR_DEFS; i++) {
		if (!(defs[i].progs & o->prog))
			continue;
		longs[n].name = defs[i].name;
		longs[n].has_arg = defs[i].arg ? required_argument : no_argument;
		longs[n++].val = defs[i].val;
		if (defs[i].val < LONG_ONLY) {
			char s[3] = { (char)defs[i].val,
				      defs[i].arg ? ':' : 0, 0 };

			strcat(shorts, s);
		}
	}
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
		set_option(o, c, optarg);
	if (optind < argc)
		o->host = argv[optind++];
	if (optind < argc)
		die_usage("one host at most: what is '%s'? See %s -h", argv[optind],
			  o->name);
	check(o);
}

uint32_t opts_first_size(const struct opts *o)
{
	return o->all ? 2 : o->size;
}

uint32_t opts_next_size(const struct opts *o, uint32_t size, uint32_t max)
{
	return o->all && size * 2 <= max ? size * 2 : 0;
}
