// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * kill -9 in the middle of transfers: the server's VI must end in Error with
 * CONN_LOST, and every page that the dead had pinned must come back.
 */
#include "common/pins.h"
#include "stress.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS	180000u	/* of what takes seconds at most */

/* Connections of ours that have ended, or will when ask() returns. */
static uint32_t opened;

static int ask(struct msg *m, uint32_t type)
{
	struct client c;
	int ret = client_open(&c);

	opened++;

	memset(m, 0, sizeof(*m));
	m->type = type;
	if (!ret)
		ret = client_ask(&c, m, MSG_REPORT);
	client_close(&c);
	return ret;
}

static void child(uint32_t *progress, uint64_t seed)
{
	struct client c;
	struct result r;

	if (client_open(&c))
		_exit(1);
	client_run(&c, ~0u >> 1, seed, progress, &r);
	_exit(2);
}

/*
 * Has the server lost all of our connections but the one that asks, each with
 * its VI in Error and a CONN_LOST? It may need a moment.
 */
static int all_lost(const struct msg *base)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	uint32_t want, lost, told, in_error;
	struct msg m;

	do {
		want = opened;
		if (ask(&m, MSG_ASK))
			return 0;
		lost = m.conns_lost - base->conns_lost;
		told = m.told - base->told;
		in_error = m.in_error - base->in_error;
		if (lost >= want && told >= want)
			break;
	} while (now_ms() < end);
	if (lost >= want && told >= want && in_error == lost)
		return 1;
	fprintf(stderr, "viatest stress: %u connections ended, the server lost %u, "
		"heard CONN_LOST %u times, saw %u VIs in Error\n", want, lost,
		told, in_error);
	return 0;
}

/* Returns 1 when the round passed. */
static int round_of(uint32_t i, uint32_t *progress, const struct msg *base,
		    long before)
{
	struct timespec tick = { 0, 1000000 };
	uint64_t end = now_ms() + PATIENCE_MS;
	int status = 0;
	long alive;
	pid_t pid;

	*progress = 0;
	pid = fork();
	if (pid < 0)
		return 0;
	if (pid == 0)
		child(progress, stress_opt.seed + i);
	/* Somewhere in the stream, at another place each round. */
	while (__atomic_load_n(progress, __ATOMIC_RELAXED) < 100 + 37 * i &&
	       now_ms() < end && !waitpid(pid, &status, WNOHANG))
		nanosleep(&tick, NULL);
	alive = pinned();
	kill(pid, SIGKILL);
	opened++;
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status)) {
		fprintf(stderr, "viatest stress: the client ended by itself\n");
		return 0;
	}
	if (*progress < 100 + 37 * i) {
		fprintf(stderr, "viatest stress: the client was too slow to kill\n");
		return 0;
	}
	if (before >= 0 && alive <= before) {
		fprintf(stderr, "viatest stress: nothing was pinned meanwhile\n");
		return 0;
	}
	return all_lost(base);
}

int run_kills(void)
{
	uint32_t *progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct timespec tick = { 0, 10000000 };
	uint64_t end;
	uint32_t i, passed = 0;
	struct msg base, m;
	long before, now;

	if (progress == MAP_FAILED || ask(&base, MSG_ASK))
		return 1;
	/* That one ended, too: what is pinned now is the server's own. */
	if (!all_lost(&base))
		return 1;
	before = pinned();
	for (i = 0; i < stress_opt.kills; i++)
		passed += round_of(i, progress, &base, before);
	end = now_ms() + PATIENCE_MS;
	/* The exits are asynchronous to their zombies. */
	do {
		now = pinned();
		if (now > before)
			nanosleep(&tick, NULL);
	} while (now > before && now_ms() < end);
	if (before >= 0)
		printf("viatest stress: pages pinned before %ld, after %ld\n",
		       before, now);
	if (stress_opt.stop)
		ask(&m, MSG_STOP);
	i = stress_opt.kills - passed + (before >= 0 && now > before);
	printf("%u passed, %u failed\n", passed, i);
	return i != 0;
}
