/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_NETNS_H
#define TOOLS_NETNS_H

/*
 * Move this thread into a network namespace given by name (of "ip netns") or
 * path, and back. A NULL name changes nothing.
 */
int netns_enter(const char *name);
void netns_leave(int cookie);

#endif
