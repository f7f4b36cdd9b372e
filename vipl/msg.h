/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_MSG_H
#define VIPL_MSG_H

#include <stddef.h>

/* Calls stay visible, whichever header comes first. */
#pragma GCC visibility push(default)
#include <vipl_ext.h>
#pragma GCC visibility pop

#include "level.h"
#include "messages.h"

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

/*
 * Printed alone, where that level is: the call may succeed, or has its reason
 * already. errno stays as it is, here and in all others.
 */
void vipl_log(enum vipl_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
#define vipl_note(...)	vipl_log(VIPL_WARN, __VA_ARGS__)

/* The same to that file; VIPL_ERROR. */
void vipl_msg_fd(int fd, const char *fmt, ...)
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
