// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Memory that two processes share. A file from a peer is mapped only when it
 * cannot shrink (SIGBUS) and is of the common kind (huge pages may be missing
 * when they are touched). A child of fork() has none of it.
 */
#include "shm.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE	0x0010
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL		0x0008U
#endif

static void *map(int file, size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, file, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_DONTFORK);
	return p;
}

static int memory_file(const char *name)
{
	int file, high;

	/* Old kernels do not know the third, new ones may insist on it. */
	file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING |
				  MFD_NOEXEC_SEAL);
	if (file < 0)
		file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file < 0)
		return -errno;
	if (file < 3) {
		high = fcntl(file, F_DUPFD_CLOEXEC, 3);
		close(file);
		if (high < 0)
			return -EMFILE;
		file = high;
	}
	if (link_file_keep(file)) {
		close(file);
		return -ENOMEM;
	}
	return file;
}

int shm_map_new(const char *name, size_t size, int read_only, void **out)
{
	int file = memory_file(name), seals = F_SEAL_SHRINK | F_SEAL_GROW;

	if (file < 0)
		return file;
	*out = NULL;
	if (!ftruncate(file, (off_t)size))
		*out = map(file, size, PROT_READ | PROT_WRITE);
	/* Kernels without it: peers could write what they should not. */
	if (*out && read_only &&
	    fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) && errno != EINVAL)
		goto failed;
	if (*out && !fcntl(file, F_ADD_SEALS, seals | F_SEAL_SEAL))
		return file;
failed:
	seals = -errno;
	shm_unmap(*out, size);
	link_file_close(file);
	return seals < 0 ? seals : -ENOMEM;
}

void *shm_map_theirs(int file, size_t size, int read_only)
{
	int seals = fcntl(file, F_GET_SEALS);
	struct statfs fs;
	struct stat st;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(file, &st) ||
	    (size_t)st.st_size != size || fstatfs(file, &fs) ||
	    fs.f_type != TMPFS_MAGIC)
		return NULL;
	return map(file, size, read_only ? PROT_READ : PROT_READ | PROT_WRITE);
}

void shm_unmap(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}
