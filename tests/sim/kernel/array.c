// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* xarray and idr as plain arrays, trees without balance, hashes, strings. */
#include <stdio.h>
#include "mm.h"
#include "../engine.h"
#include "model.h"

/* A reserved place is not empty, but loads as NULL. */
static char zero_entry;

static bool grow(void ***slots, unsigned long *n, unsigned long index)
{
	unsigned long more = *n ? *n : 16;
	void **s;

	if (index < *n)
		return true;
	if (sim_alloc_fails())
		return false;
	while (more <= index)
		more *= 2;
	s = realloc(*slots, more * sizeof(*s));
	if (!s)
		sim_fail("no memory");
	memset(s + *n, 0, (more - *n) * sizeof(*s));
	*slots = s;
	*n = more;
	return true;
}

void *xa_load(struct xarray *xa, unsigned long index)
{
	void *p;

	sim_yield();
	p = index < xa->n ? xa->slots[index] : NULL;
	return p == &zero_entry ? NULL : p;
}

void *xa_store(struct xarray *xa, unsigned long index, void *p, gfp_t gfp)
{
	void *was;

	xa_lock(xa);
	if (!grow(&xa->slots, &xa->n, index)) {
		xa_unlock(xa);
		return ERR_PTR(-ENOMEM);
	}
	was = xa->slots[index];
	xa->slots[index] = p;
	xa_unlock(xa);
	return was == &zero_entry ? NULL : was;
}

int xa_err(void *p)
{
	return IS_ERR(p) ? PTR_ERR(p) : 0;
}

void *xa_erase(struct xarray *xa, unsigned long index)
{
	void *was = NULL;

	xa_lock(xa);
	if (index < xa->n) {
		was = xa->slots[index];
		xa->slots[index] = NULL;
	}
	xa_unlock(xa);
	return was == &zero_entry ? NULL : was;
}

/* 1: it began again from the lower limit. */
int xa_alloc_cyclic(struct xarray *xa, u32 *index, void *p,
		    struct xa_limit limit, u32 *next, gfp_t gfp)
{
	u32 from = max(*next, limit.min), i;
	u64 n = (u64)limit.max - limit.min + 1, k;
	int ret = -EBUSY;

	if (from > limit.max)
		from = limit.min;
	xa_lock(xa);
	for (k = 0; k < n; k++) {
		i = limit.min + (from - limit.min + k) % n;
		if (i < xa->n && xa->slots[i])
			continue;
		if (!grow(&xa->slots, &xa->n, i)) {
			ret = -ENOMEM;
			break;
		}
		xa->slots[i] = p ? p : &zero_entry;
		*index = i;
		*next = i + 1;
		ret = i < from || (k && i == limit.min);
		break;
	}
	xa_unlock(xa);
	return ret;
}

void xa_destroy(struct xarray *xa)
{
	xa_lock(xa);
	free(xa->slots);
	xa->slots = NULL;
	xa->n = 0;
	xa_unlock(xa);
}

void *sim_xa_next(struct xarray *xa, unsigned long *index)
{
	unsigned long i;

	sim_yield();
	for (i = *index; i < xa->n; i++)
		if (xa->slots[i] && xa->slots[i] != &zero_entry) {
			*index = i;
			return xa->slots[i];
		}
	return NULL;
}

bool sim_xa_empty(struct xarray *xa)
{
	unsigned long i = 0;

	return !sim_xa_next(xa, &i);
}

int idr_alloc(struct idr *idr, void *p, int start, int end, gfp_t gfp)
{
	unsigned long n = idr->n;
	int i;

	for (i = start; i < end; i++) {
		if (i < idr->n && idr->slots[i])
			continue;
		if (!grow(&idr->slots, &n, i))
			return -ENOMEM;
		idr->n = n;
		idr->slots[i] = p ? p : &zero_entry;
		return i;
	}
	return -ENOSPC;
}

void *idr_find(struct idr *idr, unsigned long id)
{
	void *p = id < (unsigned long)idr->n ? idr->slots[id] : NULL;

	return p == &zero_entry ? NULL : p;
}

void *idr_replace(struct idr *idr, void *p, unsigned long id)
{
	void *was = idr_find(idr, id);

	idr->slots[id] = p ? p : &zero_entry;
	return was;
}

void *idr_remove(struct idr *idr, unsigned long id)
{
	void *was = idr_find(idr, id);

	if (id < (unsigned long)idr->n)
		idr->slots[id] = NULL;
	return was;
}

void idr_destroy(struct idr *idr)
{
	free(idr->slots);
	idr->slots = NULL;
	idr->n = 0;
}

/*
 * Trees: balanced by chance (Seidel and Aragon, 1996), which is the same in each
 * run, so that steps are.
 */

static void replace(struct rb_node *n, struct rb_node *by, struct rb_root *root)
{
	if (!n->parent)
		root->rb_node = by;
	else if (n->parent->rb_left == n)
		n->parent->rb_left = by;
	else
		n->parent->rb_right = by;
	if (by)
		by->parent = n->parent;
}

/* The node takes the place of its parent, which is below it then. */
static void rotate(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *p = n->parent, *over;

	replace(p, n, root);
	if (p->rb_left == n) {
		over = n->rb_right;
		p->rb_left = over;
		n->rb_right = p;
	} else {
		over = n->rb_left;
		p->rb_right = over;
		n->rb_left = p;
	}
	p->parent = n;
	if (over)
		over->parent = p;
}

void rb_insert_at(struct rb_node *n, struct rb_root *root,
		  bool (*less)(struct rb_node *, const struct rb_node *))
{
	struct rb_node **at = &root->rb_node, *parent = NULL;

	while (*at) {
		parent = *at;
		at = less(n, parent) ? &parent->rb_left : &parent->rb_right;
	}
	*n = (struct rb_node){
		.parent = parent,
		.rank = hash_32(++root->added, 32),
	};
	*at = n;
	while (n->parent && n->parent->rank < n->rank)
		rotate(n, root);
}

void rb_erase(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *l, *r;

	while (n->rb_left && n->rb_right) {
		l = n->rb_left;
		r = n->rb_right;
		rotate(l->rank > r->rank ? l : r, root);
	}
	replace(n, n->rb_left ? n->rb_left : n->rb_right, root);
}

struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *n = root->rb_node;

	while (n && n->rb_left)
		n = n->rb_left;
	return n;
}

struct rb_node *rb_next(const struct rb_node *n)
{
	struct rb_node *p;

	if (n->rb_right) {
		for (p = n->rb_right; p->rb_left; p = p->rb_left)
			;
		return p;
	}
	for (p = n->parent; p && n == p->rb_right; p = p->parent)
		n = p;
	return p;
}

/* Numbers and strings */

u32 (*sim_random)(void);

u32 get_random_u32(void)
{
	return sim_random ? sim_random() : sim_dice64();
}

u64 get_random_u64(void)
{
	u32 high = get_random_u32();

	return (u64)high << 32 | get_random_u32();
}

void get_random_bytes(void *p, size_t n)
{
	u8 *b = p;

	while (n--)
		*b++ = get_random_u32();
}

int hex2bin(u8 *dst, const char *src, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const char *high, *low;

	for (; n; n--, src += 2) {
		if (!src[0] || !src[1])
			return -EINVAL;
		high = strchr(digits, tolower(src[0]));
		low = strchr(digits, tolower(src[1]));
		if (!high || !low)
			return -EINVAL;
		*dst++ = (high - digits) << 4 | (low - digits);
	}
	return 0;
}

u32 crc32c(u32 crc, const void *p, size_t n)
{
	const u8 *b = p;
	int i;

	while (n--) {
		crc ^= *b++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

static u32 rol(u32 v, u32 by)
{
	return v << by | v >> (32 - by);
}

/* Jenkins's lookup3, by the name of <linux/jhash.h>, of the same values. */
u32 jhash(const void *key, u32 length, u32 initval)
{
	u32 a = 0xdeadbeef + length + initval, b = a, c = a, w[3];
	const u8 *k = key;

	/* Then the comparison of keys is all that tells them apart. */
	if (sim_config.keys_collide)
		return 0;
	for (; length > 12; length -= 12, k += 12) {
		memcpy(w, k, sizeof(w));
		a += w[0], b += w[1], c += w[2];
		a -= c, a ^= rol(c, 4), c += b;
		b -= a, b ^= rol(a, 6), a += c;
		c -= b, c ^= rol(b, 8), b += a;
		a -= c, a ^= rol(c, 16), c += b;
		b -= a, b ^= rol(a, 19), a += c;
		c -= b, c ^= rol(b, 4), b += a;
	}
	if (!length)
		return c;
	memset(w, 0, sizeof(w));
	memcpy(w, k, length);
	a += w[0], b += w[1], c += w[2];
	c ^= b, c -= rol(b, 14);
	a ^= c, a -= rol(c, 11);
	b ^= a, b -= rol(a, 25);
	c ^= b, c -= rol(b, 16);
	a ^= c, a -= rol(c, 4);
	b ^= a, b -= rol(a, 14);
	c ^= b, c -= rol(b, 24);
	return c;
}

u32 jhash2(const u32 *k, u32 n, u32 initval)
{
	return jhash(k, n * 4, initval);
}

u32 jhash_2words(u32 a, u32 b, u32 initval)
{
	u32 k[2] = { a, b };

	return jhash(k, sizeof(k), initval);
}

ssize_t strscpy(char *dst, const char *src, size_t n)
{
	size_t len = strnlen(src, n);

	if (!n)
		return -E2BIG;
	if (len == n) {
		memcpy(dst, src, n - 1);
		dst[n - 1] = 0;
		return -E2BIG;
	}
	memcpy(dst, src, len + 1);
	return len;
}

ssize_t strscpy_pad(char *dst, const char *src, size_t n)
{
	ssize_t len = strscpy(dst, src, n);

	if (len >= 0)
		memset(dst + len, 0, n - len);
	return len;
}

char *skip_spaces(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return (char *)s;
}

bool mac_pton(const char *s, u8 *mac)
{
	unsigned int b[6];
	int i;

	if (strnlen(s, 17) < 17 ||
	    sscanf(s, "%2x:%2x:%2x:%2x:%2x:%2x", &b[0], &b[1], &b[2], &b[3],
		   &b[4], &b[5]) != 6)
		return false;
	for (i = 0; i < 6; i++)
		mac[i] = b[i];
	return true;
}

int scnprintf(char *buf, size_t n, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(buf, n, fmt, ap);
	va_end(ap);
	return len < (int)n ? len : n ? (int)n - 1 : 0;
}

/* Attributes use %pM first, and numbers, and strings. */
int sim_emit(char *buf, int at, const char *fmt, ...)
{
	const u8 *m;
	va_list ap;
	int len = 0;

	va_start(ap, fmt);
	if (!strncmp(fmt, "%pM", 3)) {
		m = va_arg(ap, const u8 *);
		len = snprintf(buf + at, PAGE_SIZE - at,
			       "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1],
			       m[2], m[3], m[4], m[5]);
		fmt += 3;
	}
	len += vsnprintf(buf + at + len, PAGE_SIZE - at - len, fmt, ap);
	va_end(ap);
	return len;
}

int sim_printk(const char *level, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	line[strcspn(line, "\n")] = 0;
	sim_log("<%s> %s", level, line);
	/* The agent's ledger, when something made has not ended. */
	if (strstr(line, "left over") || strstr(line, "leak"))
		sim_fail("the agent says: %s", line);
	return 0;
}
