// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * verbsfuzz - a hostile program beside an honest one, on the same device
 *
 * Rounds of a number of calls, each in a process of its own which may die of
 * what it does to itself.  Meanwhile two ends send to each other and look at
 * every byte.  At the end the device still connects and carries messages.  The
 * same seed draws the same calls.
 */
#include "fuzz.h"
#include "pair.h"
#include <fcntl.h>
#include <getopt.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS		200	/* calls of a round */
#define ROUND_S		30
#define HONEST_LEN	3000u

void dice_seed(struct dice *d, uint64_t seed)
{
	d->state = seed * 0x9e3779b97f4a7c15ull + 0x2545f4914f6cdd1dull;
	if (!d->state)
		d->state = 1;
}

uint64_t dice(struct dice *d)
{
	d->state ^= d->state >> 12;
	d->state ^= d->state << 25;
	d->state ^= d->state >> 27;
	return d->state * 0x2545f4914f6cdd1dull;
}

uint32_t draw(struct dice *d, uint32_t n)
{
	return n ? (dice(d) >> 32) % n : 0;
}

bool once_in(struct dice *d, uint32_t n)
{
	return !draw(d, n);
}

uint32_t odd_number(struct dice *d)
{
	static const uint32_t odd[] = {
		0, 1, 2, 3, 5, 79, 80, 81, 127, 128, 255, 256, 4095, 4096,
		4097, 0x7fff, 0xffff, 0x10000, 0x100000, 0x7fffffff,
		0x80000000, 0xfffffff8, 0xffffffff,
	};

	return once_in(d, 4) ? dice(d) : odd[draw(d, ARRAY_SIZE(odd))];
}

/* One message there, whose bytes are as they were sent. */
static bool message(struct pair *p, uint32_t seed)
{
	struct order fill = { .op = OP_FILL, .mr = p->mr[0], .seed = seed,
			      .len = HONEST_LEN };
	struct order same = { .op = OP_CHECK, .mr = p->mr[1], .seed = seed,
			      .off = HONEST_LEN, .len = HONEST_LEN };
	struct order send = { .op = OP_SEND, .conn = p->conn[0], .n = 1 };
	struct order recv = { .op = OP_RECV, .conn = p->conn[1], .n = 1 };
	struct order done = { .op = OP_POLL, .n = 1, .ms = 20000 };
	struct answer a;

	send.work = recv.work = (struct work){
		.opcode = IBV_WR_SEND, .flags = IBV_SEND_SIGNALED, .n_sge = 1,
		.sge = { { .len = HONEST_LEN } },
	};
	send.work.sge[0].mr = p->mr[0];
	recv.work.sge[0].mr = p->mr[1];
	recv.work.sge[0].off = HONEST_LEN;
	end_do(p->end[0], &fill, &a);
	end_do(p->end[1], &recv, &a);
	if (a.rc)
		return false;
	end_do(p->end[0], &send, &a);
	if (a.rc)
		return false;
	done.conn = p->conn[0];
	done.which = SQ;
	end_do(p->end[0], &done, &a);
	if (a.rc || a.done[0].status != IBV_WC_SUCCESS)
		return false;
	done.conn = p->conn[1];
	done.which = RQ;
	end_do(p->end[1], &done, &a);
	if (a.rc || a.done[0].status != IBV_WC_SUCCESS)
		return false;
	end_do(p->end[1], &same, &a);
	return !a.rc && a.v[0] == HONEST_LEN;
}

static bool honest_pair(struct pair *p, const char *near, const char *far)
{
	struct queues q = { .send_wr = 8, .recv_wr = 8, .sge = 1, .cqe = 16 };

	return pair_open(p, near, far, &q, 4 * HONEST_LEN);
}

static volatile sig_atomic_t over;

static void finish(int sig)
{
	(void)sig;
	over = 1;
}

/* Messages until it is told that it is over. */
static void neighbour(const char *near, const char *far, int ready)
{
	static struct pair p;
	uint32_t n = 0;
	char yes = 1;

	signal(SIGTERM, finish);
	if (!honest_pair(&p, near, far) || write(ready, &yes, 1) != 1)
		_exit(2);
	while (!over) {
		if (!message(&p, n++)) {
			fprintf(stderr, "verbsfuzz: the neighbour's message "
				"%u did not arrive as it was sent\n", n);
			_exit(1);
		}
		usleep(20000);
	}
	_exit(0);
}

/* Its wait status; -1 for one that does not even die. */
static int end_of(pid_t pid, int seconds, bool *late)
{
	int fd = syscall(SYS_pidfd_open, pid, 0), status = -1;

	*late = !end_wait(fd, seconds * 1000);
	if (*late)
		kill(pid, SIGKILL);
	if (end_wait(fd, 60000))
		waitpid(pid, &status, 0);
	close(fd);
	return status;
}

struct target {
	const char *near, *far;
	char path[80];
	uint32_t driver;
	bool rings, calls;
};

/* Where the device of an address is; an ABI that is not siw's has other rings. */
static bool find_target(struct target *t)
{
	struct ibv_context *c;
	struct pair p;
	bool siw;

	if (!honest_pair(&p, t->near, t->far) || !message(&p, 1))
		return false;
	c = p.end[0]->conn[0].id->verbs;
	snprintf(t->path, sizeof(t->path), "/dev/infiniband/%s",
		 c->device->dev_name);
	/* By number there are ours, for programs without librdmacm. */
	siw = p.limits.iwarp || end_is_number(t->near);
	t->driver = siw ? RDMA_DRIVER_SIW : RDMA_DRIVER_RXE;
	if (!siw && t->rings) {
		printf("verbsfuzz: %s has other rings than siw: calls only\n",
		       p.limits.device);
		t->rings = false;
		t->calls = true;
	}
	pair_close(&p);
	return true;
}

static void one_round(const struct target *t, uint64_t seed,
		      unsigned int steps)
{
	struct rlimit core = { 0, 0 }, room = { 1ull << 32, 1ull << 32 };
	bool rings = t->rings && (!t->calls || seed % 2);
	int quiet = open("/dev/null", O_WRONLY);

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &core);
	setrlimit(RLIMIT_AS, &room);
	dup2(quiet, 2);
	if (rings)
		rings_round(t->near, t->far, seed, steps);
	else
		calls_round(t->path, t->driver, seed, steps);
	_exit(0);
}

struct tally {
	unsigned int rounds, died, late, unmade;
};

/* False: something is left that cannot be killed. */
static bool rounds(const struct target *t, uint64_t seed, unsigned int n,
		   struct tally *y)
{
	unsigned int steps;
	int status;
	bool late;
	pid_t pid;

	for (; n; n -= steps) {
		steps = n < STEPS ? n : STEPS;
		pid = fork();
		if (!pid)
			one_round(t, seed + y->rounds, steps);
		status = end_of(pid, ROUND_S, &late);
		kill(-pid, SIGKILL);
		if (status == -1) {
			printf("verbsfuzz: round of seed %llu cannot be "
			       "killed\n",
			       (unsigned long long)seed + y->rounds);
			return false;
		}
		y->rounds++;
		y->late += late;
		y->died += !late && WIFSIGNALED(status);
		y->unmade += WIFEXITED(status) && WEXITSTATUS(status) == 3;
	}
	return true;
}

static pid_t start_neighbour(const struct target *t)
{
	int ready[2];
	char yes = 0;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		neighbour(t->near, t->far, ready[1]);
	}
	close(ready[1]);
	if (read(ready[0], &yes, 1) != 1)
		yes = 0;
	close(ready[0]);
	return yes ? pid : -1;
}

static int fuzz(struct target *t, uint64_t seed, unsigned int n)
{
	struct tally y = { 0 };
	bool ok, late;
	struct pair p;
	pid_t pid, other;
	int status;

	/* In a child: a process that forks has no verbs of its own. */
	other = start_neighbour(t);
	if (other < 0) {
		fputs("verbsfuzz: no connection to begin with\n", stderr);
		return 2;
	}
	ok = rounds(t, seed, n, &y);
	kill(other, SIGTERM);
	status = end_of(other, 60, &late);
	if (status) {
		printf("verbsfuzz: the neighbour did not end well (%d)\n",
		       status);
		ok = false;
	}
	pid = fork();
	if (!pid)
		_exit(!honest_pair(&p, t->near, t->far) || !message(&p, 5));
	if (end_of(pid, 60, &late)) {
		puts("verbsfuzz: the device carries no messages any more");
		ok = false;
	}
	if (y.unmade > y.rounds / 2) {
		puts("verbsfuzz: most rounds found no device to work on");
		ok = false;
	}
	printf("verbsfuzz: seed %llu: %u calls in %u rounds, %u died, %u were "
	       "ended, %u had no connection: %s\n", (unsigned long long)seed, n,
	       y.rounds, y.died, y.late, y.unmade, ok ? "passed" : "FAILED");
	return !ok;
}

static void usage(FILE *f)
{
	fputs("usage: verbsfuzz [options] SEED N NEAR[,FAR]\n"
	      "N calls that a device of verbs does not expect, drawn by SEED.\n"
	      "NEAR and FAR are IP addresses of RDMA devices of this machine, or\n"
	      "a device that connects by numbers, # and the index of a GID.\n"
	      "  --rings   only in the queues that siw's ABI maps\n"
	      "  --calls   only calls of uverbs\n", f);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "rings", no_argument, NULL, 'r' },
		{ "calls", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct target t = { 0 };
	bool late;
	char *comma;
	int c, pipes[2];
	pid_t pid;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'r': t.rings = true; break;
		case 'c': t.calls = true; break;
		case 'h': usage(stdout); return 0;
		default: usage(stderr); return 2;
		}
	}
	if (argc - optind != 3 || pipe(pipes)) {
		usage(stderr);
		return 2;
	}
	if (!t.rings && !t.calls)
		t.rings = t.calls = true;
	t.near = argv[optind + 2];
	comma = strchr(argv[optind + 2], ',');
	t.far = comma ? comma + 1 : t.near;
	if (comma)
		*comma = 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("verbsfuzz: seed %s\n", argv[optind]);
	pid = fork();
	if (!pid) {
		c = !find_target(&t);
		if (write(pipes[1], &t, sizeof(t)) != sizeof(t))
			c = 1;
		_exit(c);
	}
	if (end_of(pid, 60, &late) ||
	    read(pipes[0], &t, sizeof(t)) != sizeof(t)) {
		fputs("verbsfuzz: no device that connects\n", stderr);
		return 2;
	}
	return fuzz(&t, strtoull(argv[optind], NULL, 0),
		    strtoul(argv[optind + 1], NULL, 0));
}
