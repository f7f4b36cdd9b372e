// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See run.h. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "link.h"
#include "page.h"
#include "run.h"

#define SPIN		4000	/* looks, where nodes have CPUs of their own */
#define FOLLOW		100	/* looks at events: the server may need the CPU */
#define ROUND		8	/* looks between those at the time */
#define ALONE_NS	500u	/* at first the CPU is not given away */
#define POLL_MOST_NS	500000u
#define POLL_LEAST_NS	3000u
#define TURN_MS		20	/* of the NIC's owner; LEAD_WATCH_NS is longer */
#define LOOKS		64	/* in another's stead at a time */
#define HELLO_SECONDS	60
#define BYE_SECONDS	10
#define LAST_INTERVAL	0xffff0000u

struct run this_node = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A thread of the program owns the NIC: this one. */
static __thread bool leads __attribute__((tls_model("initial-exec")));
static __thread bool inside __attribute__((tls_model("initial-exec")));

bool run_inside(void)
{
	return inside;
}

uint64_t run_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void run_lock(void)
{
	inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	pthread_mutex_lock(&this_node.lock);
}

static void futex(atomic_uint *word, int op, unsigned int value,
		  const struct timespec *limit)
{
	syscall(SYS_futex, word, op, value, limit, NULL, 0);
}

/* Threads that wait for events wake where there were any, and so does the owner
 * of the NIC where it is called.
 */
static void drop_lock(void)
{
	unsigned int turn = this_node.node.events;
	bool wake = atomic_load(&this_node.turn) != turn, call;

	if (wake && !leads)
		lead_event(&this_node.lead);
	call = lead_calls(&this_node.lead);
	atomic_store(&this_node.turn, turn);
	pthread_mutex_unlock(&this_node.lock);
	if (wake && atomic_load(&this_node.sleepers))
		futex(&this_node.turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
	if (call && atomic_load(&this_node.lead.asleep))
		net_rouse(&this_node.net);
}

void run_unlock(void)
{
	drop_lock();
	atomic_signal_fence(memory_order_seq_cst);
	inside = false;
}

static void look_again(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

static void wait_turn(unsigned int seen)
{
	for (unsigned int i = 0; i < FOLLOW; i++) {
		if (atomic_load_explicit(&this_node.turn, memory_order_acquire) !=
		    seen)
			return;
		look_again();
	}
	atomic_fetch_add(&this_node.sleepers, 1);
	futex(&this_node.turn, FUTEX_WAIT_PRIVATE, seen, NULL);
	atomic_fetch_sub(&this_node.sleepers, 1);
}

/* Looks in rounds, and lets other threads have the CPU between them: the one that
 * is to answer may be among them. NULL: the time is over, or the owner is called.
 */
static VIP_VI_HANDLE poll_for(uint64_t ns, unsigned int seen)
{
	uint64_t start = run_now(), now;
	VIP_VI_HANDLE vi;

	do {
		for (int i = 0; i < ROUND; i++) {
			vi = net_look(&this_node.net);
			if (vi || lead_called(&this_node.lead, seen))
				return vi;
			look_again();
		}
		now = run_now();
		if (now - start > ALONE_NS)
			sched_yield();
	} while (now - start < ns);
	return NULL;
}

static VIP_VI_HANDLE poll_times(unsigned int times, unsigned int seen)
{
	VIP_VI_HANDLE vi;

	do {
		vi = net_look(&this_node.net);
		if (vi || lead_called(&this_node.lead, seen))
			return vi;
		look_again();
	} while (times--);
	return NULL;
}

/* The owner's turn in the NIC. It has the lock before and behind it. */
static void serve_once(const struct run_poll *poll, bool soon)
{
	unsigned int seen = atomic_load(&this_node.lead.call);
	VIP_VI_HANDLE vi;

	soon = soon || this_node.net.waiting;
	drop_lock();
	vi = poll->ns ? poll_for(poll->ns, seen) : poll_times(poll->times, seen);
	if (!vi) {
		lead_sleep(&this_node.lead);
		if (!lead_called(&this_node.lead, seen))
			vi = net_wait(&this_node.net, soon ? 1 : TURN_MS);
		lead_wake(&this_node.lead);
	}
	run_lock();
	this_node.lead.beats++;
	if (vi)
		net_handle(&this_node.net, vi);
	if (this_node.net.waiting)
		net_push(&this_node.net);
}

/* A wait took so long: polls twice that next time, or less. Under the lock. */
static void learn(struct run_poll *poll, uint64_t took)
{
	if (!poll->learns)
		return;
	if (took <= POLL_MOST_NS)
		poll->ns = 2 * took < POLL_MOST_NS ? 2 * took : POLL_MOST_NS;
	else
		poll->ns /= 2;
	if (poll->ns < POLL_LEAST_NS)
		poll->ns = POLL_LEAST_NS;
}

/* In the stead of an owner that does not come. */
static void stand_in(void)
{
	VIP_VI_HANDLE vi;

	for (int i = 0; i < LOOKS && (vi = net_look(&this_node.net)); i++)
		net_handle(&this_node.net, vi);
	if (this_node.net.waiting)
		net_push(&this_node.net);
}

/* Another one owns the NIC, or is to own it, or this node is alone. */
static void follow(bool may_serve)
{
	unsigned int seen = this_node.node.events;

	this_node.lead.waiters += may_serve;
	run_unlock();
	wait_turn(seen);
	run_lock();
	this_node.lead.waiters -= may_serve;
}

/* Under the lock; true: the server is to be rung. A thread that were cancelled in
 * the NIC would take it along.
 */
static bool wait_for(run_call call, void *argument, bool may_serve)
{
	bool ring;
	uint64_t start = run_now(), now;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	do {
		if (!leads && may_serve)
			leads = lead_take(&this_node.lead, run_now());
		if (leads)
			serve_once(&this_node.poll, false);
		else
			follow(may_serve);
	} while (!call(&this_node.node, argument));
	now = run_now();
	if (leads)
		learn(&this_node.poll, now - start);
	ring = lead_leave(&this_node.lead, leads, now);
	if (ring)
		atomic_fetch_add(&this_node.bell, 1);
	if (lead_orphans(&this_node.lead))		/* (3) */
		this_node.node.events++;
	leads = false;
	pthread_setcancelstate(cancel, NULL);
	return ring;
}

void run_until(run_call call, void *argument, bool may_serve)
{
	bool ring = false;

	run_lock();
	if (!call(&this_node.node, argument))
		ring = wait_for(call, argument,
				may_serve && this_node.threads_serve);
	if (this_node.node.vc[this_node.node.me] > LAST_INTERVAL)
		die("Start the program again from what it has saved.",
		    "this node has synchronised 4 billion times: no number is left");
	run_unlock();
	if (ring)
		futex(&this_node.bell, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void op_send(void *context, unsigned int to, const struct dsm_msg *m)
{
	(void)context;
	net_send(&this_node.net, to, m);
}

static void op_protect(void *context, uint32_t first, uint32_t count,
		       enum page_view view)
{
	(void)context;
	view_protect(&this_node.view, first, count, view);
}

static void op_fetch(void *context, unsigned int home, uint32_t page)
{
	(void)context;
	net_fetch(&this_node.net, home, page);
}

static const struct node_ops asking = { op_send, op_protect, NULL };
static const struct node_ops reading = { op_send, op_protect, op_fetch };

void run_wrong(void)
{
	die("All nodes make the calls of viadsm.h that they share in one order.",
	    "node %u %s", this_node.node.who, this_node.node.wrong);
}

static void received(const struct dsm_msg *m)
{
	if (!node_receive(&this_node.node, m) && !this_node.node.wrong)
		die("Install one version on all hosts.",
		    "node %u sends a message that makes no sense", m->from);
	if (this_node.node.wrong)
		run_wrong();
}

static void fetched(uint32_t page)
{
	page_came(&this_node.node, page);
}

/* The server sleeps, without the lock. */
static void rest_for(uint64_t ns)
{
	unsigned int seen = atomic_load(&this_node.bell);
	struct timespec t = { .tv_nsec = ns };

	run_unlock();
	futex(&this_node.bell, FUTEX_WAIT_PRIVATE, seen, &t);
	run_lock();
}

static bool at_end(void)
{
	return this_node.ends && net_idle(&this_node.net) &&
	       this_node.net.gone == this_node.node.size - 1;
}

static void *serve(void *argument)
{
	struct lead *l = &this_node.lead;
	enum lead_act act;
	uint64_t rest;

	(void)argument;
	prctl(PR_SET_TIMERSLACK, 1000ul);	/* else 50 us */
	run_lock();
	while (!at_end()) {
		act = lead_serve(l, run_now(), &rest);
		if (act == LEAD_STAND_IN)
			stand_in();
		if (act != LEAD_NIC) {
			rest_for(rest);
			continue;
		}
		serve_once(&this_node.serve_poll, this_node.ends);
		lead_hand(l, run_now());
		if (lead_orphans(l))		/* (3) */
			this_node.node.events++;
	}
	run_unlock();
	return NULL;
}

static void *table(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("Ask for less: viadsm -m, or VIADSM_MEMORY.",
		    "no memory for the tables of pages: %s", strerror(errno));
	return p;
}

static void make_tables(void)
{
	uint32_t count = this_node.view.bytes / DSM_PAGE;

	this_node.node.pages = (struct page_table){
		.mem = this_node.view.memory, .twin = table(this_node.view.bytes),
		.flag = this_node.view.memory + this_node.view.bytes,
		.home = table(count), .state = table(count),
		.bits = table(count), .dirty = table(4ul * count),
		.noticed = table(4ul * count), .bytes = DSM_PAGE,
		.count = count,
	};
}

static void free_tables(void)
{
	const struct page_table *t = &this_node.node.pages;

	munmap(t->twin, this_node.view.bytes);
	munmap(t->home, t->count);
	munmap(t->state, t->count);
	munmap(t->bits, t->count);
	munmap(t->dirty, 4ul * t->count);
	munmap(t->noticed, 4ul * t->count);
}

/* Polling pays where each thread has a CPU of its own: one thread of a node polls
 * at a time, and the server too, where there are CPUs for it. Where nodes share
 * CPUs, or a node has one for its server and its threads, it costs more that the
 * server gives way than that it wakes another one.
 */
static void choose_spin(void)
{
	cpu_set_t set;
	int cpus = sched_getaffinity(0, sizeof(set), &set) ? 1 :
		   CPU_COUNT(&set), here = this_node.config.here;
	unsigned int spin = cpus > here ? SPIN : SPIN / 40;
	bool shared = this_node.config.size > 1;

	this_node.threads_serve = shared && cpus > 1 && cpus >= here;
	if (this_node.config.spin >= 0) {
		spin = this_node.config.spin;
		this_node.threads_serve = shared;
	} else if (this_node.threads_serve) {
		this_node.poll.learns = true;
		this_node.poll.ns = POLL_LEAST_NS;
	}
	this_node.poll.times = spin;
	this_node.serve_poll.times = cpus >= 2 * here ? spin : 0;
}

static void start_server(void)
{
	sigset_t all, before;
	int bad;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bad = pthread_create(&this_node.server, NULL, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (bad)
		die(NULL, "no thread for messages: %s", strerror(bad));
}

/* The number of a node that has not said hello, or -1. */
static int silent(void)
{
	int who = -1;

	run_lock();
	for (unsigned int i = 0; i < this_node.node.size; i++)
		if (i != this_node.node.me && !this_node.net.link[i].greeted)
			who = i;
	run_unlock();
	return who;
}

static void await_all(void)
{
	struct timespec pause = { .tv_nsec = 200000 };
	uint64_t end = run_now() + HELLO_SECONDS * 1000000000ull;
	int who;

	while ((who = silent()) >= 0) {
		if (run_now() > end)
			die("See that it runs.",
			    "node %d is connected, but says nothing", who);
		nanosleep(&pause, NULL);
	}
}

static void start_net(void)
{
	struct run_config *c = &this_node.config;

	this_node.net.me = c->me;
	this_node.net.size = c->size;
	this_node.net.memory = this_node.view.memory;
	this_node.net.bytes = this_node.view.bytes;
	this_node.net.all = this_node.view.all;
	this_node.net.received = received;
	this_node.net.fetched = fetched;
	net_open(&this_node.net, c->place.device, c->by_read);
	if (this_node.net.by_read)
		this_node.node.ops = &reading;
	start_server();
	net_connect(&this_node.net, &c->place, run_lock, run_unlock);
}

static void child(void)
{
	this_node.forked = true;
}

void run_start(void)
{
	choose_spin();
	view_open(&this_node.view, this_node.config.memory, this_node.config.method);
	make_tables();
	this_node.node.ops = &asking;
	node_init(&this_node.node, this_node.config.me, this_node.config.size);
	pthread_atfork(NULL, NULL, child);
	if (this_node.config.size > 1) {
		start_net();
		await_all();
	}
	this_node.up = true;
}

/* Behind a barrier: no node fetches a page of this one any more. */
void run_stop(void)
{
	struct timespec pause = { .tv_nsec = 200000 };
	uint64_t end = run_now() + BYE_SECONDS * 1000000000ull;
	bool ends = this_node.config.size == 1;

	if (this_node.config.size > 1) {
		run_lock();
		net_bye(&this_node.net);
		this_node.ends = true;
		run_unlock();
		while (!ends) {
			run_lock();
			ends = this_node.net.gone == this_node.node.size - 1;
			run_unlock();
			if (!ends && run_now() > end)
				die(NULL, "nodes do not come to their end");
			nanosleep(&pause, NULL);
		}
		pthread_join(this_node.server, NULL);
		net_close(&this_node.net);
	}
	this_node.up = false;
	view_close(&this_node.view);
	free_tables();
	node_free(&this_node.node);
	free(this_node.config.place.list);
}
