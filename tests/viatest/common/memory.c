// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "memory.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void *mapped(size_t len, int flags)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("viatest: no memory");
		_exit(2);
	}
	return p;
}

void *memory_new(size_t len)
{
	return mapped(len, MAP_PRIVATE);
}

void *memory_shared(size_t len)
{
	return mapped(len, MAP_SHARED);
}
