// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The conformance suite's groups, one for each process. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../conformance/checks.h"
#include "../../conformance/limit.h"
#include "../../conformance/peer.h"
#include "../../conformance/remote.h"
#include "../../conformance/suite.h"
#include "programs.h"

#define DISC		"viaconform"
#define DEADLINE_S	60

static const VIP_RELIABILITY_LEVEL levels[] = {
	VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
	VIP_SERVICE_RELIABLE_RECEPTION,
};

/* What is left to machines, and why. */
static const struct {
	const char *groups;
	const char *why;
} left_out[] = {
	{ "process.fork", "fork()" },
	{ "process.copy_on_write", "fork()" },
	{ "process.child_opens", "fork()" },
	{ "handles.forked*", "fork()" },
	{ "handles.executed", "exec and posix_spawn()" },
	{ "accept.late", "fork(), SIGSTOP" },
	{ "notify.no_lock", "fork()" },
	{ "errors.handlers_exit", "fork()" },
	{ "memory.kinds", "files that are mapped" },
	{ "memory.huge", "fork(), mprotect()" },
	{ "resize.leak", "looks at /proc/self/maps" },
};

/* Netlink is the machine's: s_quotas.c and others have the limits of users. */
bool limit_get(const char *name, uint64_t *value)
{
	return false;
}

bool limit_set(const char *name, uint64_t value)
{
	return false;
}

/* More objects than the suite remembers: then only a new process is clean. */
static const char *const leave_objects[] = { "ptag.limit" };

void *conform_peer(void *arg);

static const struct group *find(unsigned int test, VIP_RELIABILITY_LEVEL *level)
{
	const struct group *g;
	unsigned int i, j, n;

	for (i = 0; i < n_nouns; i++)
		for (j = 0; j < nouns[i]->count; j++) {
			g = &nouns[i]->groups[j];
			n = g->flags & G_LEVELS ? ARRAY_SIZE(levels) : 1;
			if (test < n) {
				*level = levels[n > 1 ? test : 1];
				return g;
			}
			test -= n;
		}
	return NULL;
}

unsigned int conform_tests(void)
{
	VIP_RELIABILITY_LEVEL level;
	unsigned int n = 0;

	while (find(n, &level))
		n++;
	return n;
}

void conform_name(unsigned int test, char *name, size_t size)
{
	VIP_RELIABILITY_LEVEL level;
	const struct group *g = find(test, &level);

	snprintf(name, size, "%s%s%s", g->name,
		 g->flags & G_LEVELS ? "/" : "",
		 g->flags & G_LEVELS ? level_name(level) : "");
}

bool conform_needs_peer(unsigned int test)
{
	VIP_RELIABILITY_LEVEL level;

	return find(test, &level)->flags & G_PEER;
}

unsigned int conform_deadline(unsigned int test)
{
	VIP_RELIABILITY_LEVEL level;
	unsigned int s = find(test, &level)->deadline;

	return s > DEADLINE_S ? s : DEADLINE_S;
}

const char *conform_left_out(unsigned int test)
{
	VIP_RELIABILITY_LEVEL level;
	const char *name = find(test, &level)->name;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(left_out); i++)
		if (!fnmatch(left_out[i].groups, name, 0))
			return left_out[i].why;
	return NULL;
}

struct verdicts *conform_verdicts(void)
{
	return calloc(1, sizeof(struct verdicts));
}

bool conform_wrong(const struct verdicts *v, char *line, size_t size)
{
	if (v->failed)
		snprintf(line, size, "%s:%d: %s", v->failures[0].file,
			 v->failures[0].line, v->failures[0].text);
	else if (!v->finished)
		snprintf(line, size, "the process died after the check at %s:%u",
			 v->step_file, v->step);
	else if (!v->passed)
		snprintf(line, size, "the group checked nothing");
	else
		return false;
	return true;
}

unsigned int conform_checks(const struct verdicts *v)
{
	return v->passed;
}

void conform_step(const struct verdicts *v, char *line, size_t size)
{
	snprintf(line, size, "%s:%u", v->step_file, v->step);
}

static bool may_leave(const struct group *g)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(leave_objects); i++)
		if (!strcmp(g->name, leave_objects[i]))
			return true;
	return g->flags & (G_OWN | G_BARE);
}

void *conform_main(void *arg)
{
	const struct conform *c = arg;
	const struct group *g = find(c->test, &env.level);

	verdicts = c->verdicts;
	env.device = c->device;
	env.disc = DISC;
	env.scale = 1;
	env.seed = 1;
	env.verbose = c->verbose;
	env.host = c->host;
	env.host_len = c->host ? 6 : 0;
	checks_begin();
	env_start(g, env.level);
	g->run();
	checks_about_nothing();
	if (!env_finish(g) && !may_leave(g))
		check_(false, "the group leaves nothing behind", __FILE__,
		       __LINE__);
	verdicts->finished = 1;
	return NULL;
}

void *conform_peer(void *arg)
{
	const struct conform *c = arg;

	return (void *)(intptr_t)peer_session(c->device, DISC, -1);
}
