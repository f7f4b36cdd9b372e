/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_MSG_H
#define TOOLS_MSG_H

#include <stddef.h>
#include <stdint.h>
#include <vipl.h>

/* What a wrong command line ends with, in every tool. */
#define EXIT_USAGE	2

/*
 * One line on standard error, with the program's name; die() exits with 1,
 * die_usage() with EXIT_USAGE.
 */
void warn_msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
void die_usage(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/*
 * A call of the library failed: its reason, once. The library has printed it
 * already, unless VIPL_LOG or VIPL_QUIET silences it; "WHAT NAME: code" where
 * there is none.
 */
void warn_reason(const char *what, const char *name, VIP_RETURN rc);
void die_reason(const char *what, const char *name, VIP_RETURN rc)
	__attribute__((noreturn));

/*
 * Called before a line is printed, and by die() after its line, with it: the
 * last chance to print what there is. NULL: nothing.
 */
extern void (*msg_before)(void);
extern void (*msg_last)(const char *text);

/* What a call said, in words. */
const char *vip_str(VIP_RETURN rc);
const char *level_str(unsigned int level);

uint64_t now_ns(void);
void sleep_ns(uint64_t ns);

/*
 * For a loop that has found nothing to do for a while: where there is only one
 * CPU, the kernel's own threads get it, since they are what we wait for.
 */
void spin_politely(void);

/* Zeroed memory, or the end of the program. */
void *xcalloc(size_t n, size_t size);

#endif
