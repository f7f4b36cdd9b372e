/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory to be registered, of each kind. */
#ifndef FUZZ_KINDS_H
#define FUZZ_KINDS_H

#include <stdint.h>
#include <sys/mman.h>
#include "common/abi.h"

#define PAGE		4096u
#define AREA		(4 * PAGE)	/* of most kinds */
#define RW		(PROT_READ | PROT_WRITE)

/* What to register; addr 0: this system has none of it. */
struct piece {
	uint64_t addr, len;
};

/* Made by a function, or at an address, or mapped. */
struct kind {
	const char *name;
	int want;			/* VIA_R_* */
	struct piece (*make)(void);
	const struct piece *at;
	struct {
		int prot, flags;
		int (*file)(void);	/* NULL: none */
		uint64_t size;
	} map;
	unsigned int gone_at, gone;	/* pages of it that are unmapped */
	const struct piece *part;	/* of it: offset and bytes */
};

extern const struct kind kinds[];
extern const unsigned int kinds_number;

/* A handle beside the library's, and a mapping that keeps its file. */
extern struct raw {
	struct abi a;
	struct piece queues;
} raw;

struct piece kind_make(const struct kind *k);
/* It has the file, or -1, for itself. */
struct piece mapped(int prot, int flags, int fd, uint64_t len);

#endif
