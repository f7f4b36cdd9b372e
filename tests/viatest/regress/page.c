// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A page that is being registered and does not come: private memory over a
 * file whose server answers no read.  This holds up the call that wants it,
 * and nothing else: not the handle's other calls, not its end, not the NIC's,
 * not the network's configuration.  Where the page comes after all, its
 * registration came too late.
 */
#include "regress.h"
#include "common/fuse.h"
#include "common/proc.h"
#include "common/netdev.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE		4096u
#define PATIENCE	20000u		/* ms, for what is no matter here */

enum step { STEP_CALLS, STEP_SHUTDOWN, STEPS };

static struct {
	uint32_t begun;			/* all atomic */
	uint32_t ended;			/* the registration */
	int verdict;
	uint32_t go[STEPS], done[STEPS];
} *shared;

/* The client */

struct client {
	struct handle h;
	void *page, *spare;
};

static void *registering(void *arg)
{
	struct client *c = arg;
	uint32_t handle;

	store_release(&shared->begun, 1);
	shared->verdict = mem_register(&c->h, c->page, PAGE, &handle);
	store_release(&shared->ended, 1);
	return NULL;
}

static void other_calls(struct client *c)
{
	struct via_mem_attrs q = { .addr = (uintptr_t)c->spare };
	uint32_t vi = vi_new(&c->h, MOST_BYTES, 0).vi;

	if (mem_register(&c->h, c->spare, PAGE, &q.handle) ||
	    ioctl(c->h.fd, VIA_IOC_MEM_QUERY, &q) ||
	    mem_deregister(&c->h, c->spare, q.handle) ||
	    vi_state(&c->h, vi) != VIA_STATE_IDLE)
		_exit(3);
	vi_end(&c->h, vi);
}

static int client(void *file)
{
	struct client c;
	pthread_t t;

	c.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE,
		      *(int *)file, 0);
	if (c.page == MAP_FAILED)
		die("no file of ours: %s", strerror(errno));
	c.spare = memory(PAGE);
	handle_open(&c.h, args.device);
	t = thread_start(registering, &c);
	while (!load_acquire(&shared->go[STEP_CALLS]) &&
	       !load_acquire(&shared->go[STEP_SHUTDOWN]) &&
	       !load_acquire(&shared->ended))
		sleep_ms(1);
	if (load_acquire(&shared->go[STEP_CALLS])) {
		other_calls(&c);
		store_release(&shared->done[STEP_CALLS], 1);
	} else if (load_acquire(&shared->go[STEP_SHUTDOWN])) {
		ioctl(c.h.fd, VIA_IOC_SHUTDOWN);
		store_release(&shared->done[STEP_SHUTDOWN], 1);
	}
	pthread_join(t, NULL);
	return 0;
}

/* The observer */

struct scene {
	int file;			/* whose first page does not come */
	pid_t client;
	bool gone;			/* the client, and waited for */
	uint32_t wrong;
};

static bool gone(struct scene *s)
{
	s->gone |= waitpid(s->client, NULL, WNOHANG) == s->client;
	return s->gone;
}

/* In milliseconds; @ms is too long: all that is known then. */
static double until(const uint32_t *p, struct scene *s, uint32_t ms)
{
	uint64_t begin = now_ns();

	while (p ? !load_acquire(p) : !gone(s)) {
		if (ms_since(begin) > ms)
			return ms;
		sleep_ns(200000);
	}
	return ms_since(begin);
}

static void judge(struct scene *s, const char *what, double ms)
{
	printf("%s_ms %.1f\n", what, ms);
	if (ms < args.limit)
		return;
	warn_msg("beside a page that does not come, %s takes over %u ms", what,
		 args.limit);
	s->wrong++;
}

static void begin(struct scene *s, bool async)
{
	memset(s, 0, sizeof(*s));
	memset(shared, 0, sizeof(*shared));
	s->file = fuse_file(NEVER, async);
	if (s->file < 0)
		die("no FUSE: %s", strerror(errno));
	s->client = child_start(client, &s->file);
	for (uint32_t ms = 0; !fuse_asked(); ms++) {
		if (load_acquire(&shared->ended))
			die("the registration ended before its page was wanted: %d",
			    shared->verdict);
		if (ms > PATIENCE || gone(s))
			die("the page is not wanted");
		sleep_ms(1);
	}
	/* It sleeps now, and for good. */
	sleep_ms(20);
}

static uint32_t finish(struct scene *s)
{
	fuse_end();
	close(s->file);
	if (!gone(s) && until(NULL, s, PATIENCE) >= PATIENCE)
		die("the client outlives the page's server");
	return s->wrong;
}

/* Its handle was ended, or its NIC, before the page came. */
static void too_late(struct scene *s, const char *what)
{
	fuse_answer();
	if (until(&shared->ended, s, PATIENCE) >= PATIENCE)
		die("the page came and the registration does not end");
	if (shared->verdict)
		return;
	warn_msg("memory was registered after %s", what);
	s->wrong++;
}

static uint32_t calls_and_kill(void)
{
	struct scene s;

	begin(&s, true);
	store_release(&shared->go[STEP_CALLS], 1);
	judge(&s, "other_calls", until(&shared->done[STEP_CALLS], &s,
				       args.limit));
	kill(s.client, SIGKILL);
	judge(&s, "sigkill", until(NULL, &s, args.limit));
	return finish(&s);
}

static uint32_t shut_down(void)
{
	struct scene s;

	begin(&s, false);
	store_release(&shared->go[STEP_SHUTDOWN], 1);
	judge(&s, "shutdown", until(&shared->done[STEP_SHUTDOWN], &s,
				    args.limit));
	too_late(&s, "the end of its handle");
	return finish(&s);
}

/* Any change of an interface wants the lock of all. */
static void *configuring(void *arg)
{
	/* The detaching has begun. */
	sleep_ms(50);
	if (netdev_up("lo", true))
		die("lo: %s", strerror(errno));
	store_release((uint32_t *)arg, 1);
	return NULL;
}

static void *detaching(void *arg)
{
	detach();
	store_release((uint32_t *)arg, 1);
	return NULL;
}

static uint32_t detached(void)
{
	uint32_t detached = 0, configured = 0;
	pthread_t t[2];
	struct scene s;
	double ms;

	begin(&s, false);
	t[0] = thread_start(detaching, &detached);
	t[1] = thread_start(configuring, &configured);
	ms = until(&detached, &s, args.limit);
	judge(&s, "detach", ms);
	judge(&s, "configuration", ms + until(&configured, &s,
					      args.limit - ms));
	too_late(&s, "the end of its NIC");
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	attach();
	return finish(&s);
}

int run_page(void)
{
	uint32_t wrong;

	shared = memory_shared(sizeof(*shared));
	wrong = calls_and_kill();
	wrong += shut_down();
	if (strcmp(args.device, "via_lo"))
		wrong += detached();
	return wrong != 0;
}

/* Memory of a process that hardly gets a CPU. */

#define BYTES		(256u << 20)
#define QUOTA		"1000 100000"	/* us of so many */
#define ALLOWED_NS	2000000000ull
#define TRIES		5u

static int registering_all(void *arg)
{
	struct handle h;
	uint32_t handle;
	char path[200], pid[20];
	void *p = memory(BYTES);

	(void)arg;
	handle_open(&h, args.device);
	snprintf(path, sizeof(path), "%s/cgroup.procs", args.group);
	snprintf(pid, sizeof(pid), "%d", getpid());
	if (proc_write(path, pid))
		die("%s: %s", path, strerror(errno));
	store_release(&shared->begun, 1);
	while (!mem_register(&h, p, BYTES, &handle))
		mem_deregister(&h, p, handle);
	/* Its NIC is gone. */
	pause();
	return 0;
}

int run_throttled(void)
{
	uint32_t n, rounds = args.count > TRIES ? args.count : TRIES;
	char path[200];
	uint64_t ns, least = ~0ull;
	pid_t pid;

	shared = memory_shared(sizeof(*shared));
	snprintf(path, sizeof(path), "%s/cpu.max", args.group);
	/* The least of a few: a busy host makes it longer, never shorter. */
	for (n = 0; n < rounds && (n < args.count || least > ALLOWED_NS); n++) {
		shared->begun = 0;
		if (proc_write(path, QUOTA))
			die("%s: %s", path, strerror(errno));
		pid = child_start(registering_all, NULL);
		while (!load_acquire(&shared->begun))
			sleep_ms(1);
		sleep_ms(300);
		ns = detach();
		least = ns < least ? ns : least;
		printf("detach_ms %.1f\n", ns / 1e6);
		proc_write(path, "max");
		child_kill(pid);
		attach();
	}
	if (least <= ALLOWED_NS)
		return 0;
	warn_msg("detaching waits %.0f ms for a process without a CPU",
		 least / 1e6);
	return 1;
}
