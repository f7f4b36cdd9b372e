// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "msg.h"
#include "progress.h"

#define SILENCE_NS	2000000000u	/* a shorter run says nothing */
#define REDRAW_NS	500000000u
#define NEVER		UINT64_MAX

volatile sig_atomic_t progress_over, progress_sleeping;
uint64_t progress_next = NEVER;

static const struct progress_calls *calls;
static void *calls_arg;
static uint64_t began, shown_until, interval_ns, next_interval, next_line;
static bool line_there;

static const int ends[] = { SIGINT, SIGTERM };
#define NR_ENDS (sizeof(ends) / sizeof(ends[0]))
static struct sigaction before[NR_ENDS];

/* Before anything else is printed: a line of progress may be there. */
static void progress_clear(void)
{
	if (!line_there)
		return;
	line_there = false;
	fputs("\r\033[K", stderr);
}

/* What came after the last interval that was whole. */
static void print_rest(void)
{
	uint64_t now = now_ns();

	if (calls && interval_ns && now > shown_until)
		calls->interval(calls_arg, shown_until, now);
}

static void print_partial(const char *why)
{
	const struct progress_calls *c = calls;

	/* What fails while this is printed is not to come here again. */
	msg_last = NULL;
	if (!c)
		return;
	progress_clear();
	print_rest();
	calls = NULL;
	progress_next = NEVER;
	c->partial(calls_arg, progress_over ? "interrupted" : why);
}

void progress_interrupted(void)
{
	int sig = progress_over;

	print_partial(NULL);
	fflush(NULL);
	/* The shell is to see what ended it; the handler is gone. */
	raise(sig);
	_exit(128 + sig);
}

static void on_signal(int sig)
{
	sigset_t set;

	progress_over = sig;
	if (!progress_sleeping)
		return;
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	progress_interrupted();
}

void progress_watch(const struct opts *o, const struct progress_calls *c,
		    void *arg, uint64_t start)
{
	struct sigaction sa = {
		.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_RESTART,
	};

	calls = c;
	calls_arg = arg;
	began = shown_until = start;
	interval_ns = o->interval_ns;
	next_interval = interval_ns ? start + interval_ns : NEVER;
	next_line = isatty(STDERR_FILENO) ? start + SILENCE_NS : NEVER;
	progress_next = next_interval < next_line ? next_interval : next_line;
	msg_before = progress_clear;
	msg_last = print_partial;
	for (size_t i = 0; i < NR_ENDS; i++) {
		sigaction(ends[i], NULL, &before[i]);
		/* A shell's job in the background ignores what the user types. */
		if (before[i].sa_handler == SIG_DFL)
			sigaction(ends[i], &sa, NULL);
	}
}

void progress_done(void)
{
	progress_clear();
	print_rest();
	progress_next = NEVER;
	msg_last = NULL;
	calls = NULL;
	for (size_t i = 0; i < NR_ENDS; i++)
		sigaction(ends[i], &before[i], NULL);
	if (progress_over)
		raise(progress_over);
}

static void draw(uint64_t now)
{
	double part, left;
	char text[128] = "";

	part = calls->done(calls_arg, text, sizeof(text));
	left = part > 0 ? (double)(now - began) / 1e9 * (1 - part) / part : 0;
	fprintf(stderr, "\r\033[K%s: %.0f %%", text, 100 * part);
	if (part > 0)
		fprintf(stderr, ", %.0f s left", left);
	fflush(stderr);
	line_there = true;
}

void progress_tick(uint64_t now)
{
	if (!calls)
		return;
	if (now >= next_interval) {
		progress_clear();
		calls->interval(calls_arg, shown_until, now);
		shown_until = now;
		/* Those that passed in a call that slept are one. */
		while (next_interval <= now)
			next_interval += interval_ns;
	}
	if (now >= next_line) {
		draw(now);
		next_line = now + REDRAW_NS;
	}
	progress_next = next_interval < next_line ? next_interval : next_line;
}
