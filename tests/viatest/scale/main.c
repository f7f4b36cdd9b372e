// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include "viatest.h"

struct scale_args scale_args = { .cqs = 4 };

static const struct choice modes[] = {
	{ "serve", serve, .help = "the server of kill and process" },
	{ "kill", run_kill, .help = "-n kills, -t processes at once, seed" },
	{ "process", run_process,
	  .help = "-n rounds of fork, vfork and exec" },
	{ "serve-vis", serve_vis,
	  .help = "-n VIs, -c CQs, -t connecting threads" },
	{ "vis", run_vis, .help = "its client; -s rounds of messages" },
	{ "regions", run_regions,
	  .help = "-n regions in -t processes, -v VIs beside" },
	{ "serve-connects", serve_connects,
	  .help = "-n connections of -t threads" },
	{ "connects", run_connects, .help = "its client" },
	{ "pair", run_pair,
	  .help = "-n connections from -d to -D in namespace -N" },
	{ "races", run_races,
	  .help = "-n rounds of each operation by each teardown" },
	{ "held", run_held, .help = "-n rounds of a receiver to be stopped" },
	{ "held-send", run_held_send,
	  .help = "its sender; -s pauses between rounds" },
	{ "squeeze", run_squeeze, .help = "-n rounds of all that fits" },
	{ 0 },
};

static const struct option_row options[] = {
	{ 'd', .value = "NIC", .help = "the VI NIC",
	  .to_text = &args.device },
	{ 'D', .value = "NIC", .help = "that of the other end (-d)",
	  .to_text = &args.peer },
	{ 'N', .value = "NAME", .help = "network namespace of that one",
	  .to_text = &args.netns },
	{ 'n', .value = "N", .help = "how many (100)",
	  .to_number = &args.count },
	{ 't', .value = "N", .help = "threads or processes (4)",
	  .to_number = &args.threads },
	{ 'c', .value = "N", .help = "CQs (4)", .to_number = &scale_args.cqs },
	{ 'v', .value = "N", .help = "VIs", .to_number = &scale_args.vis },
	{ 's', .value = "N", .help = "seconds or rounds",
	  .to_number = &args.seconds },
	{ 'l', .value = "N", .help = "ms that are too long (30000)",
	  .to_number = &args.limit },
	{ 'S', .value = "N", .help = "seed (1)", .to_seed = &args.seed },
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
