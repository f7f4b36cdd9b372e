// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include "viatest.h"

struct scale_args scale_args = { .cqs = 4 };

static const struct choice modes[] = {
	MODE("serve", serve, "the server of kill and process"),
	MODE("kill", run_kill, "-n kills, -t processes at once, seed"),
	MODE("process", run_process, "-n rounds of fork, vfork and exec"),
	MODE("serve-vis", serve_vis, "-n VIs, -c CQs, -t connecting threads"),
	MODE("vis", run_vis, "its client; -s rounds of messages"),
	MODE("regions", run_regions,
	     "-n regions in -t processes, -v VIs beside"),
	MODE("serve-connects", serve_connects, "-n connections of -t threads"),
	MODE("connects", run_connects, "its client"),
	MODE("pair", run_pair, "-n connections from -d to -D in namespace -N"),
	MODE("races", run_races,
	     "-n rounds of each operation by each teardown"),
	MODE("held", run_held, "-n rounds of a receiver to be stopped"),
	MODE("held-send", run_held_send,
	     "its sender; -s pauses between rounds"),
	MODE("squeeze", run_squeeze, "-n rounds of all that fits"),
	{ 0 },
};

static const struct option_row options[] = {
	TEXT("-d", "NIC", "the VI NIC", args.device),
	TEXT("-D", "NIC", "that of the other end (-d)", args.peer),
	TEXT("-N", "NAME", "network namespace of that one", args.netns),
	NUMBER("-n", "N", "how many (100)", args.count),
	NUMBER("-t", "N", "threads or processes (4)", args.threads),
	NUMBER("-c", "N", "CQs (4)", scale_args.cqs),
	NUMBER("-v", "N", "VIs", scale_args.vis),
	NUMBER("-s", "N", "seconds or rounds", args.seconds),
	FLAG("-w", "vis: wait to be killed, connected", scale_args.waits),
	NUMBER("-l", "N", "ms that are too long (30000)", args.limit),
	SEED("-S", "seed (1)"),
	{ 0 },
};

static const struct command scale = {
	.usage = "scale MODE -d NIC [options] [HOST]",
	.choices = modes,
	.options = options,
	.host = true,
	.more = "HOST is where the server is: this machine without it\n",
};

int viatest_scale(int argc, char **argv)
{
	const struct choice *mode;

	args = (struct args){
		.count = 100, .threads = 4, .limit = 30000, .seed = 1,
	};
	mode = command_parse(&scale, argc, argv);
	if (!args.count || !args.threads || !scale_args.cqs)
		command_wrong(&scale, "-n, -t and -c are 1 at least");
	return last_word(mode->mode());
}
