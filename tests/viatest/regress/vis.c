// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * VIs that any user makes and destroys: not at the expense of the other
 * CPUs, nor of the time of the thread that waits, and without losing a place for
 * a while.
 */
#include "regress.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USER		4711u
#define TRIES		20u
#define AT_ONCE		100u
#define ALLOWED_NS	1000000u	/* of one, in the mean */

static void anybody(struct handle *h)
{
	if (setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
		die("no other user");
	handle_open(h, args.device);
}

/* Function calls that other CPUs have sent to this one. */
static uint64_t called(unsigned int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char line[512], *p;
	uint64_t n = 0;
	unsigned int i;

	while (f && fgets(line, sizeof(line), f)) {
		p = strstr(line, "CAL:");
		if (!p)
			continue;
		for (p += 4, i = 0; i <= cpu; i++)
			n = strtoull(p, &p, 10);
	}
	if (f)
		fclose(f);
	return n;
}

static bool stop;

/* A CPU that sleeps is not asked. */
static void *busy(void *arg)
{
	thread_pin(1);
	while (!load_acquire(&stop))
		;
	return arg;
}

/* Of AT_ONCE, the quickest: a busy host makes it longer, never shorter. */
static uint64_t unmade_ns(struct handle *h, uint32_t n)
{
	uint64_t ns = ~0ull, took, begin;
	uint32_t vi[AT_ONCE], i;

	while (n >= AT_ONCE) {
		for (i = 0; i < AT_ONCE; i++)
			vi[i] = vi_new(h, MOST_BYTES, 0).vi;
		begin = now_ns();
		for (i = 0; i < AT_ONCE; i++)
			if (vi_do(h, VIA_IOC_VI_DESTROY, vi[i]))
				die("an idle VI cannot be destroyed");
		took = now_ns() - begin;
		ns = took < ns ? took : ns;
		n -= AT_ONCE;
	}
	return ns;
}

/* Calls while so many are made and unmade. */
static uint64_t sent_to_other(struct handle *h, uint32_t n)
{
	uint64_t before = called(1);

	while (n--)
		vi_end(h, vi_new(h, MOST_BYTES, 0).vi);
	return called(1) - before;
}

int run_grace(void)
{
	uint32_t n = args.count, i, wrong = 0;
	uint64_t calls = ~0ull, ns, least = ~0ull;
	uint64_t allowed = (uint64_t)AT_ONCE * ALLOWED_NS;
	struct handle h;
	pthread_t t;

	anybody(&h);
	for (i = 0; i < TRIES && least > allowed; i++) {
		ns = unmade_ns(&h, n);
		least = ns < least ? ns : least;
	}
	thread_pin(0);
	t = thread_start(busy, NULL);
	sleep_ms(20);
	/* Others have their reasons, now and then. */
	for (i = 0; i < TRIES && calls > n / 4; i++) {
		ns = sent_to_other(&h, n);
		calls = ns < calls ? ns : calls;
	}
	store_release(&stop, true);
	pthread_join(t, NULL);
	handle_close(&h);
	printf("destroys %u ms %.1f interrupts %llu\n", AT_ONCE, least / 1e6,
	       (unsigned long long)calls);
	if (calls > n / 4) {
		warn_msg("%u VIs made and unmade interrupt the other CPU %llu times",
			 n, (unsigned long long)calls);
		wrong++;
	}
	if (least > allowed) {
		warn_msg("%u VIs are destroyed in %.0f ms", AT_ONCE,
			 least / 1e6);
		wrong++;
	}
	return wrong != 0;
}

/* At the limit of its user, one in the place of another, at once. */
int run_again(void)
{
	uint32_t most = args.count, i, vi;
	struct via_vi_create c;
	struct handle h;

	anybody(&h);
	for (i = 0; i < most; i++)
		vi = vi_new(&h, MOST_BYTES, 0).vi;
	c = (struct via_vi_create){
		.attrs.reliability = VIA_RELIABLE_DELIVERY,
		.attrs.max_transfer = MOST_BYTES,
	};
	if (!most || ioctl(h.fd, VIA_IOC_VI_CREATE, &c) != VIA_R_ERROR_RESOURCE)
		die("%u VIs are not the limit", most);
	for (i = 0; i < 300; i++) {
		vi_end(&h, vi);
		vi = vi_new(&h, MOST_BYTES, 0).vi;
	}
	printf("again %u\n", i);
	handle_close(&h);
	return 0;
}
