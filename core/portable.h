/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that are the same in the kernel and in user space, for sources that are
 * compiled in both.  The files of core/ are part of via_ka and of the engine of
 * user-space providers.  Those of devices/ether/proto/ are part of via_ether, and
 * run in user space under test: most know nothing of the kernel; auth.[ch],
 * ratelimit.[ch] and token.[ch] know only what tests/unit/kernel has.
 */
#ifndef _VIA_PORTABLE_H
#define _VIA_PORTABLE_H

#ifdef __KERNEL__

#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#else /* user space */

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define __packed		__attribute__((__packed__))
#define __aligned(x)		__attribute__((__aligned__(x)))
#define __uninitialized
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define cpu_to_be16(x)		htobe16(x)
#define cpu_to_be32(x)		htobe32(x)
#define cpu_to_be64(x)		htobe64(x)
#define be16_to_cpu(x)		be16toh(x)
#define be32_to_cpu(x)		be32toh(x)
#define be64_to_cpu(x)		be64toh(x)
#define hweight64(x)		((unsigned int)__builtin_popcountll(x))
#define __ffs64(x)		((unsigned long)__builtin_ctzll(x))
#define fls64(x)		(64 - __builtin_clzll(x))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define div64_u64(a, b)		((u64)(a) / (b))
#ifndef static_assert
#define static_assert		_Static_assert
#endif

#endif /* __KERNEL__ */

#endif /* _VIA_PORTABLE_H */
