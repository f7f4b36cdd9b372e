/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DSM_INTERVAL_H
#define DSM_INTERVAL_H

#include "node.h"

/* Ends the open interval. *step is 0 at first; false: call again. True: what
 * this node wrote before is at home, and in its log.
 */
bool interval_close(struct node *n, int *step);

#endif
