// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Transfers over connections that may be lost. What the sender has been told
 * to be complete must have arrived; the other end must be told, too; and the
 * rest goes over a new connection.
 */
#include "stress.h"
#include "common/dice.h"
#include <stdio.h>
#include <string.h>

#define RETURN_MS	180000u	/* until there must be a wire again */
#define TOLD_MS		180000u	/* until the server must know of a loss */

/* A new connection for one that was lost. */
static int reopen(struct client *c)
{
	uint64_t end = now_ms() + RETURN_MS, reads = c->reads;
	int ret;

	client_close(c);
	while ((ret = client_open(c)) && now_ms() < end) {
		client_close(c);
		sleep_ms(50);
	}
	c->reads = reads;
	return ret;
}

/* Asks, over as many connections as it takes, until the server knows. */
static int ask(struct client *c, uint32_t id, struct msg *m, struct breaks *b)
{
	uint64_t start = now_ms();

	for (;;) {
		*m = (struct msg){ .type = MSG_ASK, .id = id };
		if (client_ask(c, m, MSG_REPORT)) {
			if (c->hung || reopen(c))
				return -1;
			b->count++;
			continue;
		}
		/* Never heard of it: not even the first message came. */
		if (!m->id)
			return 0;
		if (m->ended) {
			uint32_t ms = now_ms() - start;

			if (ms > b->told_ms)
				b->told_ms = ms;
			return 0;
		}
		if (now_ms() - start > TOLD_MS) {
			warn_msg("the server has not heard of a loss for %u s",
				 TOLD_MS / 1000);
			return -1;
		}
		sleep_ms(20);
	}
}

int client_run_on(struct client *c, uint32_t messages, uint64_t seed,
		  uint32_t *progress, struct result *r, struct breaks *b)
{
	uint32_t left = messages, completed, id, round;
	struct result part;
	uint64_t bad;
	struct msg m;

	memset(r, 0, sizeof(*r));
	for (round = 0; left; round++) {
		id = mix(seed + round) | 1;
		c->id = id;
		if (!client_run(c, left, seed + round, progress, &part)) {
			r->passed += part.passed;
			r->failed += part.failed;
			r->lost += part.lost;
			return 0;
		}
		completed = client_completed(c);
		bad = c->reads_bad;
		b->count++;
		if (c->hung) {
			warn_msg("neither progress nor an error");
			break;
		}
		if (reopen(c) || ask(c, id, &m, b))
			break;
		if (m.credit < completed || m.passed + m.failed < m.credit) {
			warn_msg("%u messages were complete, %u arrived, %u of them checked",
				 completed, m.credit, m.passed + m.failed);
			break;
		}
		r->passed += m.passed;
		r->failed += m.failed + bad;
		left -= m.credit < left ? m.credit : left;
	}
	r->failed += left;
	return left ? -1 : 0;
}

/* For another process to break: only that it goes on counts. */
int run_sacrifice(void)
{
	uint64_t end = now_ms() + (uint64_t)stress_args.sacrifice * 1000;
	uint32_t made = 0, failed = 0, messages = 0;
	struct result r;
	struct client c;

	while (now_ms() < end) {
		if (client_open(&c)) {
			failed++;
			sleep_ms(50);
		} else {
			made++;
			client_run(&c, args.count, args.seed + made,
				   &messages, &r);
		}
		client_close(&c);
	}
	printf("viatest stress: %u connections sacrificed, %u attempts failed, %u messages sent\n",
	       made, failed, messages);
	return !made;
}
