/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef CONFORMANCE_INSIDE_H
#define CONFORMANCE_INSIDE_H

/*
 * A peer in this process, for providers that reach no other: a second copy of
 * the suite, as a shared object with variables of its own, and a thread that
 * serves one session. NULL, or why there is none.
 */
const char *inside_start(const char *object, const char *device,
			 const char *disc);

#endif
