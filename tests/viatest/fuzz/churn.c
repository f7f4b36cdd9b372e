// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viatest fuzz --churn: a NIC comes and goes, in every way in which an
 * interface takes one away, beside programs that call it and its dead handles.
 * Most of all they read counters, which any handle may at any time, also one
 * that was shut down and keeps nothing else.
 *
 * The interfaces are a pair of its own.  A process beside all this works on
 * the NIC that -d names, and must not notice.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/abi.h"
#include "common/memory.h"
#include "common/netdev.h"
#include "common/proc.h"
#include "fuzz.h"
#include "link.h"

#define ONE		"vfuzz0"
#define TWO		"vfuzz1"
#define OTHER		"vfuzz9"	/* its name for a while */
#define NODE		"/dev/via_" ONE
#define PAUSE_US	3000u		/* between the halves of a churn */
#define COUNTERS	2u		/* processes that read counters */
#define READERS		2u		/* threads of each */
#define ENDLESS_S	240u		/* a churn that takes longer hangs */
#define PATIENCE_S	120u

struct churn {
	const char *name;
	void (*away)(void);
	void (*back)(void);
};

static struct {
	struct rng r;
	int sock, there;		/* of home, and of the other namespace */
	int home_ns, other_ns;
	struct score *score;
	uint64_t done;
} c;

/* Shared with the process that watches. */
static struct progress {
	uint64_t done;
	char now[32];
	uint32_t failed;
} *progress;

static void must(const char *what, int ret)
{
	if (!ret)
		return;
	printf("viatest fuzz: churn %llu, %s: %s: %s\n",
	       (unsigned long long)progress->done, progress->now, what,
	       strerror(-ret));
	fflush(stdout);
	__atomic_store_n(&progress->failed, 1, __ATOMIC_RELEASE);
	_exit(1);
}

static void detach(void)
{
	must("detach", netdev_attach(ONE, false));
}

static void attach(void)
{
	must("attach", netdev_attach(ONE, true));
}

static void down(void)
{
	must("down", link_up(c.sock, ONE, 0));
}

static void up(void)
{
	must("up", link_up(c.sock, ONE, 1));
}

/* Older kernels rename only what is down. */
static void rename_away(void)
{
	down();
	must("rename", link_rename(c.sock, ONE, OTHER));
	must("up renamed", link_up(c.sock, OTHER, 1));
}

static void rename_back(void)
{
	must("down renamed", link_up(c.sock, OTHER, 0));
	must("rename back", link_rename(c.sock, OTHER, ONE));
	up();
}

/* By the name that it has then; it comes back under its own. */
static void detach_renamed(void)
{
	rename_away();
	must("detach renamed", netdev_attach(OTHER, false));
}

static void attach_renamed(void)
{
	rename_back();
	attach();
}

static void move_away(void)
{
	must("move away", link_move(c.sock, ONE, c.other_ns));
	must("up there", link_up(c.there, ONE, 1));
}

static void move_back(void)
{
	must("move back", link_move(c.there, ONE, c.home_ns));
	up();
}

/* A new address makes a new NIC; so it does twice. */
static void readdress(void)
{
	uint8_t mac[6] = { 2, 'f', 'u', 'z', 'z', rng_below(&c.r, 256) };

	must("address", link_address(c.sock, ONE, mac));
}

static void delete(void)
{
	must("delete", link_delete(c.sock, ONE));
}

static void make(void)
{
	must("make", link_veth(c.sock, ONE, TWO));
	must("up", link_up(c.sock, TWO, 1));
	up();
	attach();
	must("attach " TWO, netdev_attach(TWO, true));
}

static const struct churn churns[] = {
	{ "detach", detach, attach },
	{ "detach", detach, attach },
	{ "rename", rename_away, rename_back },
	{ "detach renamed", detach_renamed, attach_renamed },
	{ "down", down, up },
	{ "move", move_away, move_back },
	{ "address", readdress, readdress },
	{ "delete", delete, make },
};

static void pause_for(void)
{
	usleep(rng_below(&c.r, PAUSE_US));
}

static void churner(uint64_t count)
{
	const struct churn *what;

	for (; progress->done < count; progress->done++) {
		what = &churns[rng_below(&c.r, sizeof(churns) /
					 sizeof(churns[0]))];
		strcpy(progress->now, what->name);
		what->away();
		pause_for();
		what->back();
		pause_for();
	}
	_exit(0);
}

/* One kind of counters, for a while; what for is told by the kernel's log. */
static void read_counters(int fd, struct rng *r)
{
	struct via_stat out[128];
	unsigned int n = 1 + rng_below(r, 2000);
	struct via_stats s;

	do {
		s = (struct via_stats){ .kind = rng_below(r, 2), .count = 128,
					.stats = (uintptr_t)out };
		score_call(c.score, abi_call(fd, VIA_IOC_STATS, &s));
		__atomic_add_fetch(&c.score->ops, 1, __ATOMIC_RELAXED);
	} while (--n);
}

/* Idle for the scheduler: whatever wakes takes its CPU, in a call or not. */
static void *reader(void *arg)
{
	struct sched_param zero = { 0 };
	struct rng *r = arg;
	uint32_t vi;
	void *ctl;
	int fd;

	sched_setscheduler(0, SCHED_IDLE, &zero);
	while (!score_stop(c.score)) {
		fd = open(NODE, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			usleep(200);
			continue;
		}
		ctl = abi_ctl(fd);
		/* VIs that are there to be counted. */
		abi_vi_create(fd, VIA_UNRELIABLE, 4096, &vi);
		abi_vi_create(fd, VIA_UNRELIABLE, 4096, &vi);
		if (!rng_one_in(r, 4))
			abi_call(fd, VIA_IOC_SHUTDOWN, NULL);
		read_counters(fd, r);
		if (ctl != MAP_FAILED)
			munmap(ctl, sizeof(struct via_ctl));
		close(fd);
	}
	return NULL;
}

static pid_t counter(uint64_t seed)
{
	struct rng r[READERS];
	pthread_t id[READERS];
	pid_t pid = proc_fork();
	unsigned int i;

	if (pid)
		return pid;
	for (i = 0; i < READERS; i++) {
		r[i].s = seed * 7 + i;
		if (pthread_create(&id[i], NULL, reader, &r[i]))
			_exit(2);
	}
	for (i = 0; i < READERS; i++)
		pthread_join(id[i], NULL);
	_exit(0);
}

/* One in three lives where the interface goes now and then. */
static void attacker(uint64_t seed, struct score *score)
{
	if (seed % 3 == 0)
		setns(c.other_ns, CLONE_NEWNET);
	attack(NODE, seed, 2, score);
}

static void set_up(void)
{
	pid_t pid;
	int go[2], there[2];
	char byte, path[64];

	c.home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	c.sock = link_socket();
	if (pipe2(go, O_CLOEXEC) || pipe2(there, O_CLOEXEC))
		must("pipe", -errno);
	/* A namespace needs a process only until it is opened. */
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNET) || write(there[1], "", 1) != 1)
			_exit(1);
		_exit(read(go[0], &byte, 1) != 1);
	}
	close(there[1]);
	if (read(there[0], &byte, 1) != 1)
		must("a network namespace", -EPERM);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	c.other_ns = open(path, O_RDONLY | O_CLOEXEC);
	if (write(go[1], "", 1) != 1)
		must("pipe", -errno);
	waitpid(pid, NULL, 0);
	must("the other namespace", setns(c.other_ns, CLONE_NEWNET) ? -errno :
								      0);
	c.there = link_socket();
	must("home", setns(c.home_ns, CLONE_NEWNET) ? -errno : 0);
	link_delete(c.sock, ONE);
	make();
}

/* Where it hangs, its stack says why. */
static void hung(pid_t pid)
{
	char path[64], text[2048];

	printf("viatest fuzz: churn %llu, %s: hangs for %u s\n",
	       (unsigned long long)progress->done, progress->now, ENDLESS_S);
	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	proc_read(path, text, sizeof(text));
	printf("%s\n", text);
	fflush(stdout);
	_exit(3);
}

static void say(const char *verdict)
{
	printf("viatest fuzz: %llu churns, ", (unsigned long long)progress->done);
	score_print(c.score, verdict);
}

/* Until the churner has ended; attackers die on the way, and others come. */
static int watch(pid_t pid)
{
	pid_t one = attacker_start(attacker, &c.r, c.score);
	unsigned int still = 0, ticks = 0;
	uint64_t last = ~0ull;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		usleep(20000);
		if (ticks++ % 500 == 499)
			say(NULL);
		if (progress->done != last) {
			last = progress->done;
			still = 0;
		} else if (++still > ENDLESS_S * 50) {
			hung(pid);
		}
		attacker_tend(&one, attacker, &c.r, c.score);
	}
	score_end(c.score);
	kill(one, SIGKILL);
	waitpid(one, NULL, 0);
	return status;
}

int churn(const char *device, uint64_t seed, uint64_t count,
	  struct score *score)
{
	struct ledger before = ledger_read();
	pid_t pid, counters[COUNTERS], watched;
	unsigned int i;
	int bad, status;
	const char *left;

	/* Before an interface is made: no machine without it is touched. */
	if (access("/sys/module/via_netdev", F_OK) || access(device, R_OK | W_OK)) {
		fprintf(stderr, "viatest fuzz: --churn wants via_netdev and %s: %s\n",
			device, strerror(errno));
		return 1;
	}
	progress = memory_shared(sizeof(*progress));
	c.r.s = seed;
	c.score = score;
	score->comes_and_goes = 1;
	set_up();
	watched = victim(device, score);
	for (i = 0; i < COUNTERS; i++)
		counters[i] = counter(rng_next(&c.r));
	pid = proc_fork();
	if (!pid)
		churner(count);
	bad = watch(pid);
	for (i = 0; i < COUNTERS; i++)
		waitpid(counters[i], NULL, 0);
	waitpid(watched, &status, 0);
	bad = bad || status || score->wrong;
	/* Also after a failure, under whichever name it has then. */
	if (link_delete(c.sock, ONE) && link_delete(c.sock, OTHER))
		link_delete(c.there, ONE);
	/* Handles that were passed on and never taken. */
	close(score->post[0]);
	close(score->post[1]);
	left = ledger_left(&before, PATIENCE_S);
	if (left)
		printf("viatest fuzz: left over: %s\n", left);
	say(bad || left ? "FAILED" : "ok");
	return bad || left;
}
