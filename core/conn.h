/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connecting: the attributes that two VIs must have in common, and the tie-break
 * of peer-to-peer.
 */
#ifndef _VIA_CONN_RULES_H
#define _VIA_CONN_RULES_H

#include "../include/uapi/via.h"
#include "portable.h"

/**
 * enum via_verdict - how a call, or an attempt to connect, has ended
 * @VIA_VERDICT_NONE: of an attempt: there was none, or it was told
 *
 * Else VIA_R_* of uapi/via.h; 0 is VIA_R_SUCCESS.  Never an errno.
 */
enum via_verdict {
	VIA_VERDICT_NONE = 0xffffffffu
};

/* May VIs of these attributes be connected?  Symmetric.  Any context. */
static inline enum via_verdict
via_attrs_compare(const struct via_vi_attrs *a, const struct via_vi_attrs *b)
{
	if (a->reliability != b->reliability)
		return VIA_R_INVALID_RELIABILITY_LEVEL;
	if (a->max_transfer != b->max_transfer)
		return VIA_R_INVALID_MTU;
	return 0;
}

/*
 * Two that look for each other both ask: the one with the lesser name goes on, and
 * the other one serves.  The names have @len bytes, and differ.
 */
static inline bool via_asks_first(const void *own, const void *other,
				  size_t len)
{
	return memcmp(own, other, len) < 0;
}

#endif /* _VIA_CONN_RULES_H */
