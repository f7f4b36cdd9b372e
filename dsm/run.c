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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "link.h"
#include "page.h"
#include "run.h"

#define SPIN		4000	/* looks, where nodes have CPUs of their own */
#define HELLO_SECONDS	60
#define BYE_SECONDS	10
#define LAST_INTERVAL	0xffff0000u

struct run this_node = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

void run_unlock(void)
{
	unsigned int turn = this_node.node.events;
	bool wake = atomic_load(&this_node.turn) != turn;

	atomic_store(&this_node.turn, turn);
	pthread_mutex_unlock(&this_node.lock);
	atomic_signal_fence(memory_order_seq_cst);
	inside = false;
	if (wake && atomic_load(&this_node.sleepers))
		syscall(SYS_futex, &this_node.turn, FUTEX_WAKE_PRIVATE, INT_MAX,
			NULL, NULL, 0);
}

static void wait_turn(unsigned int seen)
{
	for (unsigned int i = 0; i < this_node.spin; i++) {
		if (atomic_load_explicit(&this_node.turn, memory_order_acquire) !=
		    seen)
			return;
#ifdef __x86_64__
		__builtin_ia32_pause();
#endif
	}
	atomic_fetch_add(&this_node.sleepers, 1);
	syscall(SYS_futex, &this_node.turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	atomic_fetch_sub(&this_node.sleepers, 1);
}

void run_until(run_call call, void *argument)
{
	unsigned int seen;

	run_lock();
	while (!call(&this_node.node, argument)) {
		seen = this_node.node.events;
		run_unlock();
		wait_turn(seen);
		run_lock();
	}
	if (this_node.node.vc[this_node.node.me] > LAST_INTERVAL)
		die("Start the program again from what it has saved.",
		    "this node has synchronised 4 billion times: no number is left");
	run_unlock();
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

static void *serve(void *argument)
{
	VIP_VI_HANDLE vi;
	bool ends = false;

	(void)argument;
	while (!ends) {
		vi = net_wait(&this_node.net, this_node.serve_spin,
			      net_waits(&this_node.net) ||
			      atomic_load(&this_node.ends) ? 1 : 20);
		run_lock();
		if (vi)
			net_handle(&this_node.net, vi);
		if (this_node.net.waiting)
			net_push(&this_node.net);
		ends = this_node.ends && net_idle(&this_node.net) &&
		       this_node.net.gone == this_node.node.size - 1;
		run_unlock();
	}
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

/* Polling pays where each thread has a CPU of its own. */
static void choose_spin(void)
{
	cpu_set_t set;
	int cpus = sched_getaffinity(0, sizeof(set), &set) ? 1 :
		   CPU_COUNT(&set);

	this_node.spin = this_node.serve_spin = this_node.config.spin;
	if (this_node.config.spin >= 0)
		return;
	this_node.spin = cpus > (int)this_node.config.size ? SPIN : SPIN / 40;
	this_node.serve_spin = cpus >= 2 * (int)this_node.config.size ? SPIN : 0;
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
	net_open(&this_node.net, c->place.device);
	if (c->by_read == 1 && !link_reads(&this_node.net))
		die("Start the nodes with --fetch ask.",
		    "this NIC has no RDMA Reads");
	this_node.net.by_read = c->by_read >= 0 ? c->by_read :
		link_reads(&this_node.net) &&
		(this_node.net.features &
		 (VIP_FEATURE_ONE_SIDED | VIP_FEATURE_REMOTE));
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
