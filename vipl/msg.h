/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_MSG_H
#define VIPL_MSG_H

#include <stddef.h>

/* Calls stay visible, whichever header comes first. */
#pragma GCC visibility push(default)
#include <vipl_ext.h>
#pragma GCC visibility pop

#include "messages.h"

/*
 * VIPL_LOG in the environment is the least important level that is printed:
 * "debug", "info", "warn", "error" or "none". Without it: "warn", and "none"
 * where VIPL_QUIET is set and not 0.
 */
enum vipl_level {
	VIPL_NONE,
	VIPL_ERROR,	/* a call fails, or a connection ends */
	VIPL_WARN,	/* the program goes on, and not as it was told */
	VIPL_INFO,	/* which NIC is opened, by which provider */
	VIPL_DEBUG,	/* names, files, connections */
};

/*
 * A message on standard error for what has to be put right: the fault, and
 * after a newline its remedy. Each line gets "vipl: " before it. It also is the
 * reason of the call that the thread is in, should that fail. VIPL_ERROR.
 */
void vipl_msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The reason of the call alone: nothing is printed. */
void vipl_reason(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whether the call has one already, from its provider. */
int vipl_has_reason(void);

/* VIPL_WARN, printed alone: the call may succeed, or has its reason already. */
void vipl_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As vipl_note, to that file; VIPL_ERROR. */
void vipl_msg_fd(int fd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* As vipl_note, with a level. errno stays as it is, here and above. */
void vipl_log(enum vipl_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Is that level printed? For callers that have to make the text first. */
int vipl_logs(enum vipl_level level);

/*
 * From here on the thread's errors and warnings go into that buffer, the newest
 * one instead of those before it, whatever VIPL_LOG and VIPL_QUIET are; other
 * levels go nowhere. NULL: as ever.
 */
void vipl_msg_into(char *line, size_t size);

/*
 * Around a public call: what it gives as a reason becomes VipExtLastError()
 * if it fails; one that fails without a reason leaves "". NOT_DONE is no
 * failure. Calls that post, poll and wait for completions do without.
 */
void vipl_call_begin(void);
VIP_RETURN vipl_call_end(VIP_RETURN r);

#define VIPL_CALL(expr)	(vipl_call_begin(), vipl_call_end(expr))

#endif /* VIPL_MSG_H */
