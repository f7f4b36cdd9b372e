// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See boot.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "die.h"

#define MEMORY_DEFAULT	64	/* MiB */
#define MEMORY_MOST	(64 * 1024)

static long number(const char *name, long otherwise, long least, long most)
{
	const char *text = getenv(name);
	char *end;
	long n;

	if (!text || !*text)
		return otherwise;
	n = strtol(text, &end, 10);
	if (*end || n < least || n > most)
		die("Start the program by viadsm.",
		    "%s is %s: it is a number from %ld to %ld", name, text,
		    least, most);
	return n;
}

static int choice(const char *name, const char *no, const char *yes,
		  int otherwise)
{
	const char *text = getenv(name);

	if (!text || !*text)
		return otherwise;
	if (strcmp(text, no) && strcmp(text, yes))
		die("Start the program by viadsm.", "%s is %s: it is %s or %s",
		    name, text, no, yes);
	return !strcmp(text, yes);
}

/* Names with commas between them. */
static void hosts(struct net_place *place, unsigned int size)
{
	const char *text = getenv("VIADSM_HOSTS");
	char *list = text && *text ? strdup(text) : NULL, *name;
	unsigned int i = 0;

	place->list = list;
	for (name = list ? strtok(list, ",") : NULL; name && i < size;
	     name = strtok(NULL, ","))
		place->host[i++] = name;
	if (list && i < size)
		die("Start the program by viadsm.",
		    "VIADSM_HOSTS has %u hosts for %u nodes", i, size);
}

/* Hosts are told apart by the names that they have in the list. */
static unsigned int nodes_here(const struct run_config *c)
{
	const char *const *host = c->place.host;
	unsigned int here = 0;

	for (unsigned int i = 0; i < c->size; i++)
		here += !c->place.list || !strcmp(host[i], host[c->me]);
	return here;
}

/* A program that a node starts is not that node. */
static void forget(const struct run_config *c)
{
	static const char *const names[] = {
		"VIADSM_SIZE", "VIADSM_RANK", "VIADSM_JOB", "VIADSM_HOSTS",
		"VIADSM_STATS_FD",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
	if (c->stats_fd >= 0)
		fcntl(c->stats_fd, F_SETFD, FD_CLOEXEC);
}

void boot_read(struct run_config *c)
{
	const char *job;

	memset(c, 0, sizeof(*c));
	c->size = number("VIADSM_SIZE", 1, 1, DSM_NODES);
	c->me = number("VIADSM_RANK", 0, 0, c->size - 1);
	if (c->size > 1)
		die_node(c->me);
	c->memory = (size_t)number("VIADSM_MEMORY", MEMORY_DEFAULT, 1,
				   MEMORY_MOST) << 20;
	c->method = choice("VIADSM_FAULTS", "mprotect", "userfaultfd", 0) ?
		    BY_USERFAULTFD : BY_MPROTECT;
	c->by_read = choice("VIADSM_FETCH", "ask", "read", -1);
	c->spin = number("VIADSM_SPIN", -1, 0, 100000000);
	c->stats_fd = number("VIADSM_STATS_FD", -1, 0, 65535);
	c->place.device = getenv("VIADSM_NIC");
	job = getenv("VIADSM_JOB");
	if (c->size > 1 && !job)
		die("Start the program by viadsm.", "VIADSM_JOB is not set");
	if (job && strlen(job) >= sizeof(c->place.job))
		die("Start the program by viadsm.", "VIADSM_JOB is too long");
	strcpy(c->place.job, job ? job : "");
	hosts(&c->place, c->size);
	c->here = nodes_here(c);
	forget(c);
}
