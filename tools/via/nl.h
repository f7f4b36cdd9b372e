/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_VIA_NL_H
#define TOOLS_VIA_NL_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include "via_netlink.h"

/* An answer: its command and its attributes. */
typedef void nl_answer(uint8_t cmd, struct nlattr **attrs, void *arg);

/* Find the family; false: the kernel has none, via_ka is not loaded. */
bool nl_open(void);
/* The same; a program that cannot go on without ends here. */
void nl_need(void);
void nl_close(void);

/* A message to the family, in one buffer of this module. */
struct nlmsghdr *nl_message(uint8_t cmd, uint16_t flags);
/* Bytes that it may have still. */
size_t nl_room(const struct nlmsghdr *nlh);

/*
 * Send it and take the answers.  0, or -errno with what the kernel says for
 * nl_error().
 */
int nl_call(struct nlmsghdr *nlh, nl_answer *answer, void *arg);
/* What went wrong, in one line: the kernel's reason, or errno's. */
const char *nl_error(int err);

/* -errno if the group cannot be joined, -ENOENT if there is none. */
int nl_join(const char *group);
/* Events, for ever; -errno. */
int nl_events(nl_answer *answer, void (*lost)(void), void *arg);

/* The attributes of a nest, of @max + 1 entries. */
void nl_nest(const struct nlattr *nest, struct nlattr **attrs, uint16_t max);

#endif
