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
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE	0x0010
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL		0x0008U
#endif

static void *map_file(int file, size_t size, int prot)
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

/*
 * Beyond RLIMIT_FSIZE the kernel sends SIGXFSZ, whose default ends the process:
 * the signal is held back here, and taken if it was sent.
 */
static int set_size(int file, size_t size)
{
	struct timespec none = { 0, 0 };
	sigset_t one, before, pending;
	int err;

	sigemptyset(&one);
	sigaddset(&one, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &one, &before);
	sigpending(&pending);
	err = ftruncate(file, (off_t)size) ? -errno : 0;
	if (err == -EFBIG && !sigismember(&pending, SIGXFSZ))
		sigtimedwait(&one, NULL, &none);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

int shm_map_new(const char *name, size_t size, int read_only, void **out)
{
	int file = memory_file(name), seals = F_SEAL_SHRINK | F_SEAL_GROW, err;

	if (file < 0)
		return file;
	*out = NULL;
	err = set_size(file, size);
	if (!err) {
		*out = map_file(file, size, PROT_READ | PROT_WRITE);
		err = *out ? 0 : -ENOMEM;
	}
	/* Kernels without it: peers could write what they should not. */
	if (*out && read_only &&
	    fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) && errno != EINVAL)
		err = -errno;
	if (!err && fcntl(file, F_ADD_SEALS, seals | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		return file;
	shm_unmap(*out, size);
	link_file_close(file);
	return err;
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
	return map_file(file, size,
			read_only ? PROT_READ : PROT_READ | PROT_WRITE);
}

void shm_unmap(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}
