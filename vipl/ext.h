/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_EXT_H
#define VIPL_EXT_H

#include "object.h"

/*
 * Files that tell a program of events: eventfds, made when they are asked for
 * first and closed with their object. -1: none.
 */
void vipl_fd_close(_Atomic int *fd);
/* Make it readable; it never blocks. */
void vipl_fd_tell(_Atomic int *fd);

/* A CQ has a notice, and its program wants to know. Any thread. */
void vipl_cq_tell(struct vipl_cq *cq);

#endif /* VIPL_EXT_H */
