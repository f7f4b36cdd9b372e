// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The kinds of memory: how each is made, and whether it may be registered. */
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/userfaultfd.h>
#include <net/ethernet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/fuse.h"
#include "kinds.h"

#define HUGE		(2u << 20)
#define ANON		(MAP_PRIVATE | MAP_ANONYMOUS)
#define NO		VIA_R_INVALID_PARAMETER

struct raw raw;

static struct piece piece(void *p, uint64_t len)
{
	if (!p || p == MAP_FAILED)
		return (struct piece){ 0, 0 };
	return (struct piece){ (uintptr_t)p, len };
}

struct piece mapped(int prot, int flags, int fd, uint64_t len)
{
	struct piece p = piece(mmap(NULL, len, prot, flags, fd, 0), len);

	if (fd >= 0)
		close(fd);
	return p;
}

static void *page(const struct piece *p, unsigned int i)
{
	return (void *)(uintptr_t)(p->addr + i * PAGE);
}

static int sized(int fd, uint64_t len)
{
	if (fd >= 0 && ftruncate(fd, len)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A file of AREA bytes there, open for both. */
static int file_in(const char *folder)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/viatest-fuzz.%d", folder, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	unlink(path);
	return sized(fd, AREA);
}

static int memfd(void)
{
	return sized(memfd_create("viatest-fuzz", 0), AREA);
}

static int sealed(void)
{
	int fd = sized(memfd_create("viatest-fuzz", MFD_ALLOW_SEALING), AREA);

	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE);
	return fd;
}

static int huge(void)
{
	return sized(memfd_create("viatest-fuzz", MFD_HUGETLB), HUGE);
}

static int secret(void)
{
	return sized(syscall(SYS_memfd_secret, 0), AREA);
}

static int zero(void)
{
	return open("/dev/zero", O_RDWR);
}

static int dev_mem(void)
{
	return open("/dev/mem", O_RDWR);
}

/* Of a file system that is not made of memory pages of shmem: ramfs. */
static int ramfs(void)
{
	static const char at[] = "/tmp/viatest-fuzz.ramfs";
	int fd;

	mkdir(at, 0700);
	if (mount("none", at, "ramfs", 0, NULL))
		return -1;
	fd = file_in(at);
	umount2(at, MNT_DETACH);
	rmdir(at);
	return fd;
}

/* Pages that a program brings, or does not. */
static int answers(void)
{
	return fuse_file(ANSWERS, true);
}

static int is_late(void)
{
	return fuse_file(LATE, true);
}

static int never_comes(void)
{
	return fuse_file(NEVER, true);
}

static int dies(void)
{
	return fuse_file(DIES, true);
}

static struct piece stack(void)
{
	/*
	 * Far below the frames in use, and above the end of the mapping, to
	 * which this grows it first.
	 */
	volatile uint8_t deep[16 * PAGE];
	uintptr_t p = ((uintptr_t)deep + PAGE) & ~4095ul;

	deep[0] = 1;
	return piece((void *)p, AREA);
}

static struct piece heap(void)
{
	return piece(malloc(AREA), AREA);
}

static struct piece brk_heap(void)
{
	return piece(sbrk(AREA), AREA);
}

static struct piece data(void)
{
	static uint8_t some[AREA] = { 1 };

	return piece(some, AREA);
}

static struct piece anonymous(void)
{
	return mapped(RW, ANON, -1, AREA);
}

static struct piece shmem(void)
{
	return mapped(RW, MAP_SHARED, memfd(), AREA);
}

static struct piece shmem_behind_end(void)
{
	int fd = memfd(), end = dup(fd);
	struct piece p = mapped(RW, MAP_SHARED, fd, AREA);

	if (ftruncate(end, PAGE))
		p.addr = 0;
	close(end);
	return p;
}

/* Anonymous and shmem, side by side. */
static struct piece two_kinds(void)
{
	struct piece p = anonymous();
	int fd = memfd();

	mmap(page(&p, 2), 2 * PAGE, RW, MAP_SHARED | MAP_FIXED, fd, 0);
	close(fd);
	return p;
}

static struct piece half_read_only(void)
{
	struct piece p = anonymous();

	mprotect(page(&p, 2), PAGE, PROT_READ);
	return p;
}

static struct piece text(void)
{
	return piece((void *)((uintptr_t)text & ~4095ul), PAGE);
}

static struct piece vdso(void)
{
	return piece((void *)getauxval(AT_SYSINFO_EHDR), PAGE);
}

static struct piece vvar(void)
{
	return piece((void *)(getauxval(AT_SYSINFO_EHDR) - PAGE), PAGE);
}

static struct piece packet_ring(void)
{
	struct tpacket_req q = { AREA, 1, 2048, AREA / 2048 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &q,
				 sizeof(q)))
		return piece(NULL, 0);
	return mapped(RW, MAP_SHARED, fd, AREA);
}

static struct piece control_page(void)
{
	return piece(raw.a.ctl, PAGE);
}

static struct piece queues(void)
{
	struct via_vi_create v = { .attrs = { VIA_UNRELIABLE, 0, 4096, 0 } };

	if (abi_call(raw.a.fd, VIA_IOC_VI_CREATE, &v))
		return piece(NULL, 0);
	raw.queues = piece(abi_map(raw.a.fd, v.mmap_size, v.mmap_offset),
			   v.mmap_size);
	return raw.queues;
}

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

static struct piece userfault(void)
{
	return watched(anonymous(), UFFDIO_REGISTER_MODE_MISSING, 0);
}

static struct piece userfault_written(void)
{
	return watched(anonymous(), UFFDIO_REGISTER_MODE_WP, 0);
}

static struct piece userfault_minor(void)
{
	return watched(shmem(), UFFDIO_REGISTER_MODE_MINOR,
		       UFFD_FEATURE_MINOR_SHMEM);
}

static struct piece block_and_one(void)
{
	struct piece p = anonymous();

	p.len = raw.a.hello.max_block_bytes + 1;
	return p;
}

static struct piece up_to_the_end(void)
{
	struct piece p = anonymous();

	p.len = -p.addr;
	return p;
}

static struct piece wraps(void)
{
	struct piece p = anonymous();

	p.len = -p.addr + PAGE;
	return p;
}

#define MAP(...)	.map = { __VA_ARGS__ }
#define GONE(at, n)	.gone_at = at, .gone = n
#define PART(at, len)	.part = &(const struct piece){ at, len }
#define AT(addr, len)	.at = &(const struct piece){ addr, len }

const struct kind kinds[] = {
	{ "stack", 0, .make = stack },
	{ "heap", 0, .make = heap },
	{ "heap by brk", 0, .make = brk_heap },
	{ "data of the program", 0, .make = data },
	{ "anonymous", 0, MAP(RW, ANON, NULL, AREA) },
	{ "one byte, the last of a page", 0, MAP(RW, ANON, NULL, AREA),
	  PART(3 * PAGE - 1, 1) },
	{ "write only", 0, MAP(PROT_WRITE, ANON, NULL, AREA) },
	{ "not reserved", 0, MAP(RW, ANON | MAP_NORESERVE, NULL, AREA) },
	{ "grows down", 0, MAP(RW, ANON | MAP_GROWSDOWN, NULL, AREA) },
	/* It would grow if touched: pinning touches only what is mapped. */
	{ "below what grows down", NO,
	  MAP(RW, ANON | MAP_GROWSDOWN, NULL, AREA),
	  PART(-(uint64_t)PAGE, AREA) },
	{ "shared anonymous", 0,
	  MAP(RW, MAP_SHARED | MAP_ANONYMOUS, NULL, AREA) },
	{ "/dev/zero private", 0, MAP(RW, MAP_PRIVATE, zero, AREA) },
	{ "/dev/zero shared", 0, MAP(RW, MAP_SHARED, zero, AREA) },
	{ "private of a file", 0, MAP(RW, MAP_PRIVATE, ramfs, AREA) },
	{ "shared of a file", NO, MAP(RW, MAP_SHARED, ramfs, AREA) },
	{ "shmem", 0, MAP(RW, MAP_SHARED, memfd, AREA) },
	{ "shmem behind its end", NO, .make = shmem_behind_end },
	{ "shmem sealed", NO, MAP(PROT_READ, MAP_SHARED, sealed, AREA) },
	{ "huge page", 0, MAP(RW, ANON | MAP_HUGETLB, NULL, HUGE) },
	{ "huge page shared", 0,
	  MAP(RW, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, NULL, HUGE) },
	{ "huge page of a file", 0, MAP(RW, MAP_SHARED, huge, HUGE) },
	{ "secret", NO, MAP(RW, MAP_SHARED, secret, AREA) },
	{ "anonymous beside shmem", 0, .make = two_kinds },
	{ "read only", NO, MAP(PROT_READ, ANON, NULL, AREA) },
	{ "no access", NO, MAP(PROT_NONE, ANON, NULL, AREA) },
	{ "half read only", NO, .make = half_read_only },
	{ "half unmapped", NO, MAP(RW, ANON, NULL, AREA), GONE(2, 2) },
	{ "a hole", NO, MAP(RW, ANON, NULL, AREA), GONE(1, 1) },
	{ "begins unmapped", NO, MAP(RW, ANON, NULL, AREA), GONE(0, 1) },
	{ "unmapped", NO, MAP(RW, ANON, NULL, AREA), GONE(0, 4) },
	{ "text of the program", NO, .make = text },
	{ "vdso", NO, .make = vdso },
	{ "vvar", NO, .make = vvar },
	{ "vsyscall", NO, AT(0xffffffffff600000ull, PAGE) },
	{ "/dev/mem", NO, MAP(RW, MAP_SHARED, dev_mem, PAGE) },
	{ "ring of a packet socket", NO, .make = packet_ring },
	{ "control page", NO, .make = control_page },
	{ "queues of a VI", NO, .make = queues },
	{ "userfaultfd", NO, .make = userfault },
	{ "userfaultfd, write-protected", NO, .make = userfault_written },
	{ "userfaultfd, minor faults", NO, .make = userfault_minor },
	{ "FUSE, private", 0, MAP(RW, MAP_PRIVATE, answers, FUSE_BYTES) },
	{ "FUSE, shared", NO, MAP(RW, MAP_SHARED, answers, FUSE_BYTES) },
	{ "FUSE that is late", 0, MAP(RW, MAP_PRIVATE, is_late, FUSE_BYTES) },
	{ "FUSE that never comes, shared", NO,
	  MAP(RW, MAP_SHARED, never_comes, FUSE_BYTES) },
	{ "FUSE that dies", NO, MAP(RW, MAP_PRIVATE, dies, FUSE_BYTES) },
	{ "no bytes", NO, MAP(RW, ANON, NULL, AREA), PART(0, 0) },
	{ "2^63 bytes", NO, MAP(RW, ANON, NULL, AREA), PART(0, 1ull << 63) },
	{ "2^64-1 bytes", NO, MAP(RW, ANON, NULL, AREA), PART(0, ~0ull) },
	{ "a byte more than a block", NO, .make = block_and_one },
	{ "up to the end of addresses", NO, .make = up_to_the_end },
	{ "wraps", NO, .make = wraps },
	{ "wraps at once", NO, AT(-(uint64_t)PAGE, 2 * PAGE) },
	{ "of the kernel", NO, AT(0xffff888000000000ull, PAGE) },
	{ "over the end of user space", NO,
	  AT(0x7ffffffff000ull - PAGE, 2 * PAGE) },
	{ "no address at all", NO, AT(1ull << 55, PAGE) },
	{ "page 0", NO, AT(8, 64) },
};

const unsigned int kinds_number = sizeof(kinds) / sizeof(kinds[0]);

struct piece kind_make(const struct kind *k)
{
	struct piece p;

	if (k->make)
		return k->make();
	if (k->at)
		return *k->at;
	p = mapped(k->map.prot, k->map.flags, k->map.file ? k->map.file() : -1,
		   k->map.size);
	if (p.addr && k->gone)
		munmap(page(&p, k->gone_at), k->gone * PAGE);
	if (p.addr && k->part)
		p = (struct piece){ p.addr + k->part->addr, k->part->len };
	return p;
}
