/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What can be done to an interface, without a program's start each time. */
#ifndef FUZZ_LINK_H
#define FUZZ_LINK_H

#include <stdint.h>

/* A socket to change interfaces of the namespace that it is made in. */
int link_socket(void);
/* Each 0 or -errno. */
int link_up(int sock, const char *name, int up);
int link_rename(int sock, const char *name, const char *other);
int link_address(int sock, const char *name, const uint8_t *mac);
int link_move(int sock, const char *name, int netns);
int link_delete(int sock, const char *name);
int link_veth(int sock, const char *name, const char *peer);

#endif
