// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * kill -9 in the middle of transfers: the server's VI must end in Error with
 * CONN_LOST, and every page that the dead had pinned must come back.
 */
#include "stress.h"
#include "common/child.h"
#include "common/pins.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define PATIENCE_MS	180000u	/* of what takes seconds at most */
#define SPOILT_MAX	3u	/* rounds in all that are begun anew */

/*
 * The server's time to accept may be over when the client is connected: both
 * are without a processor for long.  Then it asks anew.
 */
static int ask(struct msg *m)
{
	uint32_t tries = 0;
	struct client c;
	int ret, opened;

	do {
		opened = !client_open(&c);
		*m = (struct msg){ .type = MSG_ASK };
		ret = opened ? client_ask(&c, m, MSG_REPORT) : -1;
		client_close(&c);
	} while (ret && opened && !c.hung && ++tries <= SPOILT_MAX);
	return ret;
}

struct sender {
	uint32_t *progress;
	uint64_t seed;
};

static int sending(void *arg)
{
	struct sender *s = arg;
	struct client c;
	struct result r;

	if (client_open(&c))
		return 1;
	client_run(&c, ~0u >> 1, s->seed, s->progress, &r);
	return 2;
}

/*
 * Has the server lost all connections since @base but the one that asks, each
 * with its VI in Error and a CONN_LOST? It may need a moment.  Of those that it
 * accepted in vain, because its time was over, it knows nothing.
 */
static int all_lost(const struct msg *base)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	uint32_t want, lost, told, in_error;
	struct msg m;

	do {
		if (ask(&m))
			return 0;
		/* Less the one that asks, and with the one that asked then. */
		want = m.conns_taken - base->conns_taken;
		lost = m.conns_lost - base->conns_lost;
		told = m.told - base->told;
		in_error = m.in_error - base->in_error;
		if (lost >= want && told >= want)
			break;
	} while (now_ms() < end);
	if (lost >= want && told >= want && in_error == lost)
		return 1;
	warn_msg("%u connections ended, the server lost %u, heard CONN_LOST %u times, saw %u VIs in Error",
		 want, lost, told, in_error);
	return 0;
}

enum verdict {
	PASSED,
	FAILED,
	SPOILT,		/* the connection broke before the client was killed */
};

static enum verdict round_of(uint32_t i, uint32_t *progress,
			     const struct msg *base, long before)
{
	struct sender sender = { progress, args.seed + i };
	uint64_t end = now_ms() + PATIENCE_MS;
	bool ended = false;
	long alive;
	pid_t pid;

	*progress = 0;
	pid = child_start(sending, &sender);
	/* Somewhere in the stream, at another place each round. */
	while (load_acquire(progress) < 100 + 37 * i && now_ms() < end &&
	       !ended) {
		sleep_ms(1);
		ended = waitpid(pid, NULL, WNOHANG) != 0;
	}
	alive = pinned();
	if (ended || !WIFSIGNALED(child_kill(pid))) {
		warn_msg("the client ended by itself");
		return SPOILT;
	}
	if (*progress < 100 + 37 * i) {
		warn_msg("the client was too slow to kill");
		return FAILED;
	}
	if (before >= 0 && alive <= before) {
		warn_msg("nothing was pinned meanwhile");
		return FAILED;
	}
	return all_lost(base) ? PASSED : FAILED;
}

int run_kills(void)
{
	uint32_t *progress = memory_shared(sizeof(*progress));
	uint32_t i, passed = 0, spoilt = 0;
	enum verdict verdict;
	struct msg base;
	long before, now;

	/* That one ended, too: what is pinned then is the server's own. */
	if (ask(&base) || !all_lost(&base))
		return 1;
	/* Of the providers, the built-in one alone pins pages. */
	before = strchr(args.device, ':') ? -1 : pinned();
	for (i = 0; i < stress_args.kills; i++) {
		/* Ends that get no processor lose each other: a few times. */
		do
			verdict = round_of(i, progress, &base, before);
		while (verdict == SPOILT && ++spoilt <= SPOILT_MAX);
		passed += verdict == PASSED;
	}
	/* The exits are asynchronous to their zombies. */
	now = before < 0 ? 0 : pinned_after(before, PATIENCE_MS);
	if (before >= 0)
		printf("viatest stress: pages pinned before %ld, after %ld\n",
		       before, now);
	i = stress_args.kills - passed + (before >= 0 && now > before);
	printf("%u passed, %u failed\n", passed, i);
	return i != 0;
}
