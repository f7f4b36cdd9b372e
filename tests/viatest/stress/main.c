// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "stress.h"
#include "viatest.h"
#include "common/child.h"
#include <string.h>

#define MAX_THREADS	64u

struct stress_args stress_args = {
	.disc = "viatest stress",
	.max_size = 65536,
};

static bool server;
static const char *level = "rd";

static const struct option_row options[] = {
	{ 'd', .value = "NIC", .help = "the VI NIC",
	  .to_text = &args.device },
	{ .name = "server", .help = "the checking end", .to_flag = &server },
	{ .name = "messages", .value = "N", .help = "in all (100000)",
	  .to_number = &args.count },
	{ .name = "level", .value = "L", .help = "unreliable, rd or rr (rd)",
	  .to_text = &level },
	{ .name = "reads",
	  .help = "read back each RDMA Write, sometimes fenced",
	  .to_flag = &stress_args.reads },
	{ .name = "max-size", .value = "N",
	  .help = "bytes of the largest (65536)",
	  .to_number = &stress_args.max_size },
	{ .name = "seed", .value = "N",
	  .help = "of sizes, kinds and contents (1)", .to_seed = &args.seed },
	{ .name = "threads", .value = "N",
	  .help = "connections, a thread each (1)",
	  .to_number = &args.threads },
	{ .name = "disc", .value = "NAME",
	  .help = "discriminator of the server (viatest stress)",
	  .to_text = &stress_args.disc },
	{ .name = "patience", .value = "MS",
	  .help = "without any progress (180000)", .to_number = &args.limit },
	{ .name = "may-break",
	  .help = "a connection that is lost is made again, and\n"
		  "                  what was complete on it must have arrived",
	  .to_flag = &stress_args.may_break },
	{ .name = "sacrifice", .value = "S",
	  .help = "for so many seconds make connections, use\n"
		  "                  them and care about nothing",
	  .to_number = &stress_args.sacrifice },
	{ .name = "connects", .value = "N",
	  .help = "connect and disconnect, tell the times",
	  .to_number = &stress_args.connects },
	{ .name = "idle", .value = "S",
	  .help = "connect and wait for the connection's loss",
	  .to_number = &stress_args.idle },
	{ .name = "kill", .value = "N",
	  .help = "kill -9 the sender in N rounds instead",
	  .to_number = &stress_args.kills },
	{ .name = "garbage", .value = "IF",
	  .help = "throw malformed frames at HOST meanwhile",
	  .to_text = &stress_args.garbage },
	{ 0 },
};

static const struct command stress = {
	.usage = "stress -d NIC --server\n"
		 "       viatest stress -d NIC [options] HOST     against a server\n"
		 "       viatest stress -d NIC [options]          both ends here",
	.options = options,
	.host = true,
};

static void take_level(void)
{
	if (!strcmp(level, "unreliable"))
		stress_args.level = VIP_SERVICE_UNRELIABLE;
	else if (!strcmp(level, "rr"))
		stress_args.level = VIP_SERVICE_RELIABLE_RECEPTION;
	else if (!strcmp(level, "rd"))
		stress_args.level = VIP_SERVICE_RELIABLE_DELIVERY;
	else
		command_wrong(&stress, "no such level: %s", level);
}

static void parse(int argc, char **argv)
{
	bool lossy;

	args = (struct args){
		.count = 100000, .threads = 1, .seed = 1, .limit = 180000,
	};
	command_parse(&stress, argc, argv);
	take_level();
	lossy = stress_args.level == VIP_SERVICE_UNRELIABLE;
	if (server && args.host)
		command_wrong(&stress, "a server takes no host");
	if (!args.threads || args.threads > MAX_THREADS)
		command_wrong(&stress, "--threads is 1 to %u", MAX_THREADS);
	if (!args.count || args.count < args.threads)
		command_wrong(&stress, "--messages is at least one a thread");
	if (stress_args.reads && lossy)
		command_wrong(&stress, "--reads needs a reliable level");
	if (stress_args.may_break && lossy)
		command_wrong(&stress, "--may-break needs a reliable level");
	if (stress_args.garbage && !args.host)
		command_wrong(&stress, "--garbage needs a host to throw at");
	if (strlen(stress_args.disc) > MAX_DISC)
		command_wrong(&stress, "--disc is too long: %s",
			      stress_args.disc);
}

static int run(void)
{
	if (stress_args.kills)
		return run_kills();
	if (stress_args.sacrifice)
		return run_sacrifice();
	if (stress_args.connects)
		return stress_connects();
	return stress_args.idle ? run_idle() : run_transfers();
}

int viatest_stress(int argc, char **argv)
{
	pid_t pid = 0;
	int ret;

	parse(argc, argv);
	if (server)
		return stress_serve(NULL);
	/* Before any NIC is opened here: the child opens its own. */
	if (!args.host)
		pid = child_start(stress_serve, NULL);
	ret = run();
	if (pid)
		child_kill(pid);
	return ret;
}
