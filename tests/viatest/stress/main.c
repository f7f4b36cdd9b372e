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
	TEXT("-d", "NIC", "the VI NIC", args.device),
	FLAG("--server", "the checking end", server),
	NUMBER("--messages", "N", "in all (100000)", args.count),
	TEXT("--level", "L", "unreliable, rd or rr (rd)", level),
	FLAG("--reads", "read back each RDMA Write, sometimes fenced",
	     stress_args.reads),
	NUMBER("--max-size", "N", "bytes of the largest (65536)",
	       stress_args.max_size),
	SEED("--seed", "of sizes, kinds and contents (1)"),
	NUMBER("--threads", "N", "connections, a thread each (1)",
	       args.threads),
	TEXT("--disc", "NAME", "discriminator of the server (viatest stress)",
	     stress_args.disc),
	NUMBER("--patience", "MS", "without any progress (180000)", args.limit),
	FLAG("--may-break", "a connection that is lost is made again, and\n"
	     "                  what was complete on it must have arrived",
	     stress_args.may_break),
	NUMBER("--sacrifice", "S", "for so many seconds make connections, use\n"
	       "                  them and care about nothing",
	       stress_args.sacrifice),
	NUMBER("--connects", "N", "connect and disconnect, tell the times",
	       stress_args.connects),
	NUMBER("--idle", "S", "connect and wait for the connection's loss",
	       stress_args.idle),
	NUMBER("--kill", "N", "kill -9 the sender in N rounds instead",
	       stress_args.kills),
	TEXT("--garbage", "IF", "throw malformed frames at HOST meanwhile",
	     stress_args.garbage),
	{ 0 },
};

static const struct command stress = {
	.usage = "stress -d NIC --server\n"
		 "       viatest stress -d NIC [options] HOST     against a server\n"
		 "       viatest stress -d NIC [options]          both ends here",
	.options = options,
	.host = true,
};

static VIP_RELIABILITY_LEVEL level_of(const char *name)
{
	if (!strcmp(name, "unreliable"))
		return VIP_SERVICE_UNRELIABLE;
	if (!strcmp(name, "rr"))
		return VIP_SERVICE_RELIABLE_RECEPTION;
	if (strcmp(name, "rd"))
		command_wrong(&stress, "no such level: %s", name);
	return VIP_SERVICE_RELIABLE_DELIVERY;
}

static void parse(int argc, char **argv)
{
	bool lossy;

	args = (struct args){
		.count = 100000, .threads = 1, .seed = 1, .limit = 180000,
	};
	command_parse(&stress, argc, argv);
	stress_args.level = level_of(level);
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
