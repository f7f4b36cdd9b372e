/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of hosts on the wire.  What functions return: see via_ka.h. */
#ifndef _VIA_NAME_H
#define _VIA_NAME_H

#include "file.h"

/*
 * VIA_IOC_NAME_QUERY.  No lock held; sleeps, for a bounded time.  A call's
 * result: 0, VIA_R_ERROR_RESOURCE or -errno.
 */
long via_name_query(struct via_file *f, struct via_name_query *arg);

#endif
