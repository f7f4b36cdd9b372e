/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Types, compiler attributes, arithmetic and strings, as the kernel names them. */
#ifndef SIM_KERNEL_BASE_H
#define SIM_KERNEL_BASE_H

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __s8 s8;
typedef __u8 u8;
typedef __s16 s16;
typedef __u16 u16;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef u16 __le16, __be16;
typedef u32 __le32, __be32, __wsum;
typedef u64 __le64, __be64;
typedef u16 umode_t;
typedef unsigned int gfp_t;
typedef unsigned int __poll_t;
typedef u64 dma_addr_t, phys_addr_t;
typedef s64 ktime_t;

#define __user
#define __iomem
#define __percpu
#define __rcu
#define __force
#define __bitwise
#define __init
#define __exit
#define __ro_after_init
#define __read_mostly
#define __must_check		__attribute__((__warn_unused_result__))
#define __must_hold(x)
#define __acquires(x)
#define __releases(x)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)
#define __maybe_unused		__attribute__((__unused__))
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#define noinline		__attribute__((__noinline__))
#define __packed		__attribute__((__packed__))
#define __aligned(x)		__attribute__((__aligned__(x)))
#define __printf(a, b)		__attribute__((__format__(printf, a, b)))
#define __cold			__attribute__((__cold__))
#define fallthrough		__attribute__((__fallthrough__))
#define ____cacheline_aligned	__aligned(64)
#define ____cacheline_aligned_in_smp __aligned(64)

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ volatile("" ::: "memory")
#define prefetch(x)		((void)(x))
#define prefetchw(x)		((void)(x))
#define cpu_relax()		sim_yield()
void sim_visit(void);
#define via_work_seen()		sim_visit()

#define LINUX_VERSION_CODE	0x0703ff
#define KERNEL_VERSION(a, b, c)	(((a) << 16) + ((b) << 8) + (c))
/* No option of a debug kernel and no highmem. */
#define sim_second(a, b, ...)	b
#define sim_enabled_1		0,
#define sim_is_one(x)		sim_second(x 1, 0, 0)
#define sim_enabled(v)		sim_is_one(sim_enabled_##v)
#define IS_ENABLED(x)		sim_enabled(x)
#undef static_assert
#define static_assert(x, ...)	_Static_assert(x, #x)
#define BUILD_BUG_ON(x)		_Static_assert(!(x), #x)
#define BUILD_BUG_ON_ZERO(x)	(0 * sizeof(char[1 - 2 * !!(x)]))

void sim_yield(void);
void sim_fail(const char *fmt, ...) __printf(1, 2)
	__attribute__((__noreturn__));

#define BUG_ON(x) \
	do { if (x) sim_fail("BUG at %s:%d: %s", __FILE__, __LINE__, #x); } \
	while (0)
#define BUG()			BUG_ON(1)
#define WARN(x, ...)							\
({									\
	if (x)								\
		sim_fail("WARN at %s:%d: %s", __FILE__, __LINE__, #x);	\
	0;								\
})
#define WARN_ON(x)		WARN(x, "")
#define WARN_ON_ONCE(x)		WARN(x, "")
#define WARN_ONCE(x, ...)	WARN(x, "")

#undef offsetof
#define offsetof(t, m)		__builtin_offsetof(t, m)
#define container_of(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))
#define typeof			__typeof__
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define sizeof_field(t, m)	sizeof(((t *)0)->m)
#define offsetofend(t, m)	(offsetof(t, m) + sizeof_field(t, m))
#define memset_after(obj, v, m) \
	memset((char *)(obj) + offsetofend(typeof(*(obj)), m), v, \
	       sizeof(*(obj)) - offsetofend(typeof(*(obj)), m))

#define min(a, b)	({ __auto_type _a = (a); __auto_type _b = (b); \
			   _a < _b ? _a : _b; })
#define max(a, b)	({ __auto_type _a = (a); __auto_type _b = (b); \
			   _a > _b ? _a : _b; })
#define min_t(t, a, b)	({ t _a = (a); t _b = (b); _a < _b ? _a : _b; })
#define max_t(t, a, b)	({ t _a = (a); t _b = (b); _a > _b ? _a : _b; })
#define min3(a, b, c)	min(min(a, b), c)
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define clamp_t(t, v, lo, hi) min_t(t, max_t(t, v, lo), hi)
#define swap(a, b)	do { __auto_type _s = (a); (a) = (b); (b) = _s; } while (0)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define ALIGN(x, a)	(((x) + (a) - 1) & ~((typeof(x))(a) - 1))
#define round_up(x, y)	ALIGN(x, y)
#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define BITS_PER_LONG	64
#define U8_MAX		((u8)~0)
#define U16_MAX		((u16)~0)
#define U32_MAX		(~0u)
#define U64_MAX		(~0ull)
#define S32_MAX		0x7fffffff
#define S64_MAX		0x7fffffffffffffffll
#ifndef ULONG_MAX
#define ULONG_MAX	(~0ul)
#endif

#define hweight32(x)	((unsigned int)__builtin_popcount(x))
#define hweight64(x)	((unsigned int)__builtin_popcountll(x))
#define __ffs(x)	((unsigned long)__builtin_ctzl(x))
#define __ffs64(x)	((unsigned long)__builtin_ctzll(x))
#define fls(x)		((x) ? 32 - __builtin_clz(x) : 0)
#define fls64(x)	((x) ? 64 - __builtin_clzll(x) : 0)
#define ilog2(x)	(63 - __builtin_clzll(x))
#define is_power_of_2(x) ((x) && !((x) & ((x) - 1)))
#define roundup_pow_of_two(x) ((x) > 1 ? 1ul << fls64((x) - 1) : 1ul)
#define rounddown_pow_of_two(x) (1ul << ilog2(x))

#define BITS_PER_LONG	64
#define BITS_TO_LONGS(n) (((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)

static inline void set_bit(unsigned long n, unsigned long *map)
{
	map[n / BITS_PER_LONG] |= 1ul << n % BITS_PER_LONG;
}

static inline void clear_bit(unsigned long n, unsigned long *map)
{
	map[n / BITS_PER_LONG] &= ~(1ul << n % BITS_PER_LONG);
}

/* The first bit that is @set at or after @n of @size; @size: none. */
static inline unsigned long next_bit(const unsigned long *map,
				     unsigned long size, unsigned long n,
				     bool set)
{
	while (n < size && (map[n / BITS_PER_LONG] >> n % BITS_PER_LONG & 1) !=
	       set)
		n++;
	return n < size ? n : size;
}

#define find_next_bit(map, size, n)		next_bit(map, size, n, true)
#define find_next_zero_bit(map, size, n)	next_bit(map, size, n, false)

#define cpu_to_be16(x)	__builtin_bswap16(x)
#define cpu_to_be32(x)	__builtin_bswap32(x)
#define cpu_to_be64(x)	__builtin_bswap64(x)
#define be16_to_cpu(x)	__builtin_bswap16(x)
#define be32_to_cpu(x)	__builtin_bswap32(x)
#define be64_to_cpu(x)	__builtin_bswap64(x)
#define cpu_to_le32(x)	(x)
#define le32_to_cpu(x)	(x)

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)
#define INT_MIN			(-0x7fffffff - 1)
#define struct_size(p, m, n)	(sizeof(*(p)) + sizeof((p)->m[0]) * (n))
#define array_size(a, b)	((size_t)(a) * (b))
#define array_index_nospec(i, n) (i)

#define MAX_ERRNO		4095
#define ERR_PTR(e)		((void *)(long)(e))
#define PTR_ERR(p)		((long)(p))
#define IS_ERR(p)		((unsigned long)(p) >= (unsigned long)-MAX_ERRNO)
#define IS_ERR_OR_NULL(p)	(!(p) || IS_ERR(p))
#define PTR_ERR_OR_ZERO(p)	(IS_ERR(p) ? PTR_ERR(p) : 0)
#define ERESTARTSYS		512
#define ENOIOCTLCMD		515

#define __NEW_UTS_LEN		64

ssize_t strscpy(char *dst, const char *src, size_t n);
ssize_t strscpy_pad(char *dst, const char *src, size_t n);
char *skip_spaces(const char *s);
int hex2bin(u8 *dst, const char *src, size_t n);
#define memzero_explicit(p, n)	explicit_bzero(p, n)
int scnprintf(char *buf, size_t n, const char *fmt, ...) __printf(3, 4);
bool mac_pton(const char *s, u8 *mac);
int sim_printk(const char *level, const char *fmt, ...);
u32 get_random_u32(void);
u64 get_random_u64(void);
void get_random_bytes(void *p, size_t n);
extern u32 (*sim_random)(void);		/* a scenario's own, for one run */
u32 crc32c(u32 crc, const void *p, size_t n);
u32 jhash(const void *key, u32 length, u32 initval);
u32 jhash_2words(u32 a, u32 b, u32 initval);
u32 jhash2(const u32 *k, u32 n, u32 initval);
#define hash_32(v, bits)	((u32)((v) * 0x61C88647u) >> (32 - (bits)))
#define hash_long(v, bits) \
	((u32)(((u64)(v) * 0x61C8864680B583EBull) >> (64 - (bits))))
#define pr_warn(...)		sim_printk("warn", __VA_ARGS__)
#define pr_err(...)		sim_printk("err", __VA_ARGS__)
#define pr_info(...)		sim_printk("info", __VA_ARGS__)
#define pr_notice(...)		sim_printk("notice", __VA_ARGS__)
#define pr_debug(...)		((void)0)
#define pr_warn_ratelimited(...) sim_printk("warn", __VA_ARGS__)
#define pr_info_ratelimited(...) sim_printk("info", __VA_ARGS__)

#endif
