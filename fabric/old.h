/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values that programs for older libfabric pass, and a provider has to know.
 * libfabric 2 warns of their names, or has them no longer; the values stay, as
 * a part of its ABI.
 */
#ifndef VIA_FABRIC_OLD_H
#define VIA_FABRIC_OLD_H

#define OLD_PROV_SPECIFIC	(1u << 31)	/* FI_PROV_SPECIFIC */
#define OLD_MR_UNSPEC		0		/* FI_MR_UNSPEC */
#define OLD_MR_BASIC		(1 << 0)	/* FI_MR_BASIC */
#define OLD_LOCAL_MR		(1ULL << 55)	/* FI_LOCAL_MR */
#define OLD_ORDER_STRICT	0x1ffULL	/* FI_ORDER_STRICT */
#define OLD_ORDER_DATA		(1ULL << 16)	/* FI_ORDER_DATA */

#endif /* VIA_FABRIC_OLD_H */
