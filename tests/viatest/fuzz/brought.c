// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Memory whose pages a program brings: over a userfaultfd, or over FUSE. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/fuse.h"
#include "kinds.h"

/* Pages that a thread of ours would have to bring: the agent does not wait. */
static struct piece watched(struct piece p, uint64_t mode, uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register r = { .mode = mode };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	r.range.start = p.addr;
	r.range.len = AREA;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &r))
		return piece(NULL, 0);
	return p;
}

struct piece userfault(void)
{
	return watched(anonymous(), UFFDIO_REGISTER_MODE_MISSING, 0);
}

struct piece userfault_written(void)
{
	return watched(anonymous(), UFFDIO_REGISTER_MODE_WP, 0);
}

struct piece userfault_minor(void)
{
	return watched(memfd_shared(), UFFDIO_REGISTER_MODE_MINOR,
		       UFFD_FEATURE_MINOR_SHMEM);
}

static struct piece served(enum fuse_way way, int flags)
{
	int fd = fuse_file(way, true);
	struct piece p;

	if (fd < 0)
		return piece(NULL, 0);
	p = mapped(RW, flags, fd, FUSE_BYTES);
	close(fd);
	return p;
}

struct piece fuse_private(void)
{
	return served(ANSWERS, MAP_PRIVATE);
}

struct piece fuse_shared(void)
{
	return served(ANSWERS, MAP_SHARED);
}

struct piece fuse_late(void)
{
	return served(LATE, MAP_PRIVATE);
}

struct piece fuse_never_shared(void)
{
	return served(NEVER, MAP_SHARED);
}

struct piece fuse_dies(void)
{
	return served(DIES, MAP_PRIVATE);
}
