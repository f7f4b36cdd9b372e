/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The other end of every test: does what it is told over the control VI. */
#ifndef CONFORMANCE_PEER_H
#define CONFORMANCE_PEER_H

/*
 * peer_serve() - serve sessions, each in a process of its own
 *
 * Returns the exit status when it cannot go on, or when a client said P_QUIT.
 */
int peer_serve(const char *device, const char *disc, int verbose);

/*
 * peer_session() - one session, with which the process ends
 *
 * @begun: a pipe that is told when it has begun, or -1. Returns an exit status.
 */
int peer_session(const char *device, const char *disc, int begun);

#endif
