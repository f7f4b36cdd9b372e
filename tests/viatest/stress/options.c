// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The command line. */
#include "stress.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS	64u

struct options stress_opt = {
	.disc = "viatest stress",
	.messages = 100000,
	.max_size = 65536,
	.threads = 1,
	.seed = 1,
	.patience = 180000,
	.level = VIP_SERVICE_RELIABLE_DELIVERY,
};

static void usage(FILE *f)
{
	fputs("usage: viatest stress -d DEVICE --server\n"
	      "       viatest stress -d DEVICE [options] HOST     against a server\n"
	      "       viatest stress -d DEVICE [options]          both ends here\n"
	      "  --messages N    in all (100000)\n"
	      "  --level L       unreliable, rd or rr (rd)\n"
	      "  --reads         read back each RDMA Write, sometimes fenced\n"
	      "  --max-size N    bytes of the largest (65536)\n"
	      "  --seed N        of sizes, kinds and contents (1)\n"
	      "  --threads N     connections, a thread each (1)\n"
	      "  --disc NAME     discriminator of the server (viatest stress)\n"
	      "  --patience MS   without any progress (180000)\n"
	      "  --may-break     a connection that is lost is made again, and\n"
	      "                  what was complete on it must have arrived\n"
	      "  --sacrifice S   for so many seconds make connections, use\n"
	      "                  them and care about nothing\n"
	      "  --connects N    connect and disconnect, tell the times\n"
	      "  --idle S        connect and wait for the connection's loss\n"
	      "  --kill N        kill -9 the sender in N rounds instead\n"
	      "  --garbage IF    throw malformed frames at HOST meanwhile\n"
	      "  --stop          end the server afterwards\n", f);
}

static int fail(const char *text, const char *arg)
{
	fprintf(stderr, "viatest stress: %s%s%s; see viatest stress --help\n", text,
		arg ? " " : "", arg ? arg : "");
	return 2;
}

static int check_options(void)
{
	int lossy = stress_opt.level == VIP_SERVICE_UNRELIABLE;

	if (!stress_opt.device)
		return fail("which device? -d via_lo for loopback", NULL);
	if (stress_opt.server && stress_opt.host)
		return fail("a server takes no host", NULL);
	if (!stress_opt.threads || stress_opt.threads > MAX_THREADS)
		return fail("--threads is 1 to 64", NULL);
	if (!stress_opt.messages || stress_opt.messages < stress_opt.threads)
		return fail("--messages is at least one a thread", NULL);
	if (stress_opt.reads && lossy)
		return fail("--reads needs a reliable level", NULL);
	if (stress_opt.may_break && lossy)
		return fail("--may-break needs a reliable level", NULL);
	if (stress_opt.garbage && !stress_opt.host)
		return fail("--garbage needs a host to throw at", NULL);
	if (strlen(stress_opt.disc) > MAX_DISC)
		return fail("--disc is too long:", stress_opt.disc);
	return 0;
}

/* Options with a number, and what is just said. */
static const struct {
	const char *name;
	uint32_t *to;
} numbers[] = {
	{ "messages", &stress_opt.messages },
	{ "max-size", &stress_opt.max_size },
	{ "threads", &stress_opt.threads },
	{ "kill", &stress_opt.kills },
	{ "connects", &stress_opt.connects },
	{ "sacrifice", &stress_opt.sacrifice },
	{ "idle", &stress_opt.idle },
	{ "patience", &stress_opt.patience },
};

static const struct {
	const char *name;
	int *to;
} words[] = {
	{ "server", &stress_opt.server },
	{ "reads", &stress_opt.reads },
	{ "stop", &stress_opt.stop },
	{ "may-break", &stress_opt.may_break },
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define NUMBER		256
#define TEXTS		5

static int take_level(const char *text)
{
	if (!strcmp(text, "unreliable"))
		stress_opt.level = VIP_SERVICE_UNRELIABLE;
	else if (!strcmp(text, "rr"))
		stress_opt.level = VIP_SERVICE_RELIABLE_RECEPTION;
	else if (strcmp(text, "rd"))
		return fail("no such level:", text);
	return 0;
}

static int take(int c)
{
	switch (c) {
	case 'd':
		stress_opt.device = optarg;
		return 0;
	case 'D':
		stress_opt.disc = optarg;
		return 0;
	case 'l':
		return take_level(optarg);
	case 'S':
		stress_opt.seed = strtoull(optarg, NULL, 0);
		return 0;
	case 'g':
		stress_opt.garbage = optarg;
		return 0;
	case 'h':
		usage(stdout);
		exit(0);
	case 0:
		return 0;
	}
	if (c >= NUMBER) {
		*numbers[c - NUMBER].to = strtoul(optarg, NULL, 0);
		return 0;
	}
	usage(stderr);
	return 2;
}

int parse(int argc, char **argv)
{
	struct option longs[TEXTS + COUNT(numbers) + COUNT(words) + 2] = {
		{ "device", required_argument, NULL, 'd' },
		{ "disc", required_argument, NULL, 'D' },
		{ "level", required_argument, NULL, 'l' },
		{ "seed", required_argument, NULL, 'S' },
		{ "garbage", required_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
	};
	struct option *o = longs + TEXTS + 1;
	unsigned int i;
	int c, ret;

	for (i = 0; i < COUNT(numbers); i++)
		*o++ = (struct option){ numbers[i].name, required_argument,
					NULL, NUMBER + i };
	for (i = 0; i < COUNT(words); i++)
		*o++ = (struct option){ words[i].name, no_argument,
					words[i].to, 1 };
	while ((c = getopt_long(argc, argv, "d:h", longs, NULL)) != -1) {
		ret = take(c);
		if (ret)
			return ret;
	}
	if (optind < argc)
		stress_opt.host = argv[optind++];
	if (optind < argc)
		return fail("too many arguments:", argv[optind]);
	return check_options();
}
