// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * See guard.h. VIEW_NONE is a page that the page table lacks though the file
 * has it, so every page of the file is made at first; VIEW_READ is one that is
 * write-protected.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "die.h"
#include "guard.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY	1
#endif
/* Linux 6.4; of older headers neither the bit nor the mode is defined. */
#define CONTINUE_WP		2u

#define OTHERWISE	"Use --faults mprotect."

int guard_open(void *program, uint8_t *memory, size_t bytes)
{
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM |
			    UFFD_FEATURE_PAGEFAULT_FLAG_WP |
			    UFFD_FEATURE_WP_HUGETLBFS_SHMEM,
	};
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)program, .len = bytes },
		.mode = UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_continue first = {
		.range = { .start = (uintptr_t)program, .len = DSM_PAGE },
		.mode = CONTINUE_WP,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		die(OTHERWISE, "userfaultfd: %s", strerror(errno));
	for (size_t at = 0; at < bytes; at += DSM_PAGE)
		*(volatile uint8_t *)(memory + at) = 0;
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		die(OTHERWISE, "userfaultfd has no SIGBUS, minor faults or write protection of shared memory here: %s",
		    strerror(errno));
	if (ioctl(fd, UFFDIO_CONTINUE, &first))
		die(OTHERWISE, "userfaultfd cannot map a page that is protected (Linux 6.4): %s",
		    strerror(errno));
	guard_set(fd, program, DSM_PAGE, VIEW_NONE);
	return fd;
}

/* Pages that are there already are EEXIST: then the protection is to change. */
static void open_page(int uffd, uintptr_t at, enum page_view view)
{
	struct uffdio_continue c = {
		.range = { .start = at, .len = DSM_PAGE },
		.mode = view == VIEW_READ ? CONTINUE_WP : 0,
	};
	struct uffdio_writeprotect wp = {
		.range = { .start = at, .len = DSM_PAGE },
		.mode = view == VIEW_READ ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	while (ioctl(uffd, UFFDIO_CONTINUE, &c)) {
		if (errno == EAGAIN)
			continue;
		if (errno == EEXIST && !ioctl(uffd, UFFDIO_WRITEPROTECT, &wp))
			break;
		if (errno != EAGAIN)
			die(OTHERWISE, "userfaultfd: %s", strerror(errno));
	}
}

void guard_set(int uffd, void *at, size_t bytes, enum page_view view)
{
	if (view == VIEW_NONE) {
		if (madvise(at, bytes, MADV_DONTNEED))
			die(OTHERWISE, "madvise: %s", strerror(errno));
		return;
	}
	for (size_t done = 0; done < bytes; done += DSM_PAGE)
		open_page(uffd, (uintptr_t)at + done, view);
}
