// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "memory.h"
#include "common/msg.h"
#include <sys/mman.h>

static void *mapped(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       flags | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void *there(void *p, size_t bytes)
{
	if (!p)
		die("no memory: %zu bytes", bytes);
	return p;
}

void *memory_try(size_t bytes)
{
	return mapped(bytes, MAP_PRIVATE);
}

void *memory_new(size_t bytes)
{
	return there(mapped(bytes, MAP_PRIVATE), bytes);
}

void *memory(size_t bytes)
{
	return there(mapped(bytes, MAP_PRIVATE | MAP_POPULATE), bytes);
}

void *memory_shared(size_t bytes)
{
	return there(mapped(bytes, MAP_SHARED | MAP_POPULATE), bytes);
}
