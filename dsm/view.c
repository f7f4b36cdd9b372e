// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* See view.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "die.h"
#include "guard.h"
#include "view.h"

#define VIEW_AT		((void *)0x200000000000)

static size_t whole_pages(size_t bytes)
{
	return (bytes + DSM_PAGE - 1) / DSM_PAGE * DSM_PAGE;
}

/* A child of fork() has neither mapping. */
static void *map(void *at, size_t bytes, int prot, int flags, int fd)
{
	void *p = mmap(at, bytes, prot, MAP_SHARED | flags, fd, 0);

	if (p == MAP_FAILED || madvise(p, bytes, MADV_DONTFORK))
		die("Ask for less: viadsm -m, or VIADSM_MEMORY.",
		    "no %zu bytes of shared memory: %s", bytes, strerror(errno));
	if (at && p != at)
		die(NULL, "shared memory has no room at %p", at);
	return p;
}

void view_open(struct view *v, size_t bytes, enum view_method method)
{
	int fd = memfd_create("viadsm", MFD_CLOEXEC);

	if (sysconf(_SC_PAGESIZE) != DSM_PAGE)
		die("Use a kernel with such pages.",
		    "this kernel's pages are not of %u bytes", DSM_PAGE);
	memset(v, 0, sizeof(*v));
	v->method = method;
	v->bytes = whole_pages(bytes);
	v->all = v->bytes + whole_pages(v->bytes / DSM_PAGE + 8);
	if (fd < 0 || ftruncate(fd, v->all))
		die("Ask for less: viadsm -m, or VIADSM_MEMORY.",
		    "no file of %zu bytes of memory: %s", v->all,
		    strerror(errno));
	v->memory = map(NULL, v->all, PROT_READ | PROT_WRITE, 0, fd);
	v->program = map(VIEW_AT, v->bytes,
			 method == BY_MPROTECT ? PROT_NONE :
						 PROT_READ | PROT_WRITE,
			 MAP_FIXED_NOREPLACE, fd);
	close(fd);
	v->uffd = -1;
	if (method == BY_USERFAULTFD)
		v->uffd = guard_open(v->program, v->memory, v->bytes);
}

void view_close(struct view *v)
{
	munmap(v->program, v->bytes);
	munmap(v->memory, v->all);
	if (v->uffd >= 0)
		close(v->uffd);
}

void view_protect(const struct view *v, uint32_t first, uint32_t count,
		  enum page_view view)
{
	static const int prot[] = {
		PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE,
	};
	uint8_t *at = v->program + (size_t)first * DSM_PAGE;
	size_t bytes = (size_t)count * DSM_PAGE;

	if (v->method == BY_USERFAULTFD) {
		guard_set(v->uffd, at, bytes, view);
		return;
	}
	if (mprotect(at, bytes, prot[view]))
		die("Raise it: sysctl vm.max_map_count=262144.",
		    "protection of shared memory: %s; vm.max_map_count limits how many pieces there are",
		    strerror(errno));
}
