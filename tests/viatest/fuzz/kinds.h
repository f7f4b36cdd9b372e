/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory to be registered, of each kind. */
#ifndef FUZZ_KINDS_H
#define FUZZ_KINDS_H

#include <stdint.h>
#include <sys/mman.h>

#define PAGE		4096u
#define AREA		(4 * PAGE)	/* of most kinds */
#define RW		(PROT_READ | PROT_WRITE)

/* What to register; addr 0: this system has none of it. */
struct piece {
	uint64_t addr, len;
};

struct piece piece(void *p, uint64_t len);
struct piece mapped(int prot, int flags, int fd, uint64_t len);
struct piece anonymous(void);
struct piece memfd_shared(void);

/* Whose pages a program brings. */
struct piece userfault(void);
struct piece userfault_written(void);
struct piece userfault_minor(void);
struct piece fuse_private(void);
struct piece fuse_shared(void);
struct piece fuse_late(void);
struct piece fuse_never_shared(void);
struct piece fuse_dies(void);

#endif
