/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Network interfaces, and VI NICs on them by via_netdev. */
#ifndef TESTS_NETDEV_H
#define TESTS_NETDEV_H

#include <stdbool.h>

/* "eth0" of "via_eth0"; the program ends where that is on no interface. */
const char *netdev_of(const char *device);
int netdev_up(const char *name, bool up);
/* The interface becomes a VI NIC, or stops being one: 0 or -errno. */
int netdev_attach(const char *name, bool on);
/* It is one by via_netdev, not by a driver of its own. */
bool netdev_detachable(const char *name);

#endif
