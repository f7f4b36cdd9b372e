// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The handler of faults in shared memory. The fault is in a load or store of
 * the program's, so the thread has none of this library's locks, unless a
 * signal handler of the program's has interrupted the library.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "die.h"
#include "fault.h"
#include "page.h"
#include "run.h"

#define STACK_LEAST	65536u	/* of a thread that serves the NIC */

static struct sigaction before_segv, before_bus;

static bool try_page(struct node *n, void *argument)
{
	return page_open_for(n, argument);
}

void fault_page(uint32_t page, bool write, bool may_serve)
{
	struct page_access a = { .page = page, .write = write };
	uint64_t start = run_now();

	atomic_fetch_add(write ? &this_node.write_faults : &this_node.read_faults, 1);
	run_until(try_page, &a, may_serve);
	atomic_fetch_add(&this_node.fault_ns, run_now() - start);
}

/* A page that can be read faults by writes alone. */
static bool is_write(const ucontext_t *u, uint32_t page)
{
#ifdef __x86_64__
	(void)page;
	return u->uc_mcontext.gregs[REG_ERR] & 2;
#else
	(void)u;
	return this_node.node.pages.state[page] == PAGE_CLEAN;
#endif
}

/* Calls the handler that was there before, and stays. Where there was none, the
 * default action is to come: the access faults again, or the signal is sent
 * again.
 */
static void not_ours(int sig, siginfo_t *info, void *context)
{
	struct sigaction *before = sig == SIGSEGV ? &before_segv : &before_bus;
	struct sigaction a = *before;

	if (a.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (a.sa_handler == SIG_IGN || a.sa_handler == SIG_DFL) {
		sigaction(sig, before, NULL);
		if (info->si_code <= 0)
			raise(sig);
		return;
	}
	if (a.sa_flags & (int)SA_RESETHAND)
		before->sa_handler = SIG_DFL;
	sigdelset(&a.sa_mask, SIGSEGV);
	sigdelset(&a.sa_mask, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &a.sa_mask, NULL);
	if (a.sa_flags & SA_SIGINFO)
		a.sa_sigaction(sig, info, context);
	else
		a.sa_handler(sig);
}

/* A provider's progress has taken more than 16 KiB (ofi). */
static bool has_room(void)
{
	stack_t s;

	return sigaltstack(NULL, &s) || !(s.ss_flags & SS_ONSTACK) ||
	       s.ss_size >= STACK_LEAST;
}

/* A signal that was sent has no address. */
static bool in_view(const siginfo_t *info)
{
	return info->si_code > 0 && view_has(&this_node.view, info->si_addr);
}

static void handle(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	uint32_t page;

	if (this_node.forked && in_view(info))
		die("Use it in the parent, or start another node.",
		    "a child of fork() touches shared memory");
	if (!this_node.up || this_node.forked || !in_view(info)) {
		not_ours(sig, info, context);
		return;
	}
	page = view_page(&this_node.view, info->si_addr);
	if ((size_t)page * DSM_PAGE >= this_node.used) {
		not_ours(sig, info, context);
		return;
	}
	if (run_inside())
		die("Call dsm_touch() before, or block the signal.",
		    "a signal handler touches shared memory during a call of libviadsm");
	fault_page(page, is_write(context, page), has_room());
	errno = saved;
}

void fault_install(void)
{
	struct sigaction a = {
		.sa_sigaction = handle,
		.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK,
	};

	sigaction(SIGSEGV, &a, &before_segv);
	sigaction(SIGBUS, &a, &before_bus);
}

void fault_remove(void)
{
	sigaction(SIGSEGV, &before_segv, NULL);
	sigaction(SIGBUS, &before_bus, NULL);
}
