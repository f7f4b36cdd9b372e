// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Every kind of memory: what may be registered then carries a message, there
 * and back; what may not is refused with the documented code, and pins nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uapi/via.h>
#include <vipl.h>
#include "abi.h"
#include "common/fuse.h"
#include "kinds.h"
#include "ledger.h"

#define HUGE		(2u << 20)
#define DROPS		300u	/* at most, */
#define DROPS_LEAST	20u	/* and at least, */
#define DROPS_S		5	/* s: on a debug kernel each is slow */
#define WAIT_MS		20000
#define ANON		(MAP_PRIVATE | MAP_ANONYMOUS)

struct kind {
	const char *name;
	struct piece (*make)(void);
	int want;		/* VIA_R_* */
};

static struct {
	int fd;			/* raw, beside the library */
	uint64_t max_block;
	VIP_NIC_HANDLE nic;
	VIP_PROTECTION_HANDLE tag;
	VIP_VI_HANDLE vi[2];
	VIP_MEM_HANDLE handle;	/* of mem */
	uint8_t *mem;		/* descriptors, a buffer to send, one to get */
	struct piece queues;	/* mapped: it keeps the file */
} t;

struct piece piece(void *p, uint64_t len)
{
	if (!p || p == MAP_FAILED)
		return (struct piece){ 0, 0 };
	return (struct piece){ (uintptr_t)p, len };
}

struct piece mapped(int prot, int flags, int fd, uint64_t len)
{
	return piece(mmap(NULL, len, prot, flags, fd, 0), len);
}

/* A file of AREA bytes there, open for both. */
static int file_in(const char *folder)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/viatest-fuzz.%d", folder, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return fd;
	unlink(path);
	if (ftruncate(fd, AREA)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int memfd(unsigned int flags, uint64_t len)
{
	int fd = memfd_create("viatest-fuzz", flags);

	if (fd >= 0 && ftruncate(fd, len)) {
		close(fd);
		return -1;
	}
	return fd;
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

struct piece anonymous(void)
{
	return mapped(RW, ANON, -1, AREA);
}

static struct piece one_byte(void)
{
	struct piece p = anonymous();

	p.addr += 3 * PAGE - 1;
	p.len = 1;
	return p;
}

static struct piece write_only(void)
{
	return mapped(PROT_WRITE, ANON, -1, AREA);
}

static struct piece no_reserve(void)
{
	return mapped(RW, ANON | MAP_NORESERVE, -1, AREA);
}

static struct piece grows_down(void)
{
	return mapped(RW, ANON | MAP_GROWSDOWN, -1, AREA);
}

/* It would grow if it were touched: pinning touches only what is mapped. */
static struct piece below_grows_down(void)
{
	struct piece p = grows_down();

	p.addr -= PAGE;
	return p;
}

static struct piece shared_anonymous(void)
{
	return mapped(RW, MAP_SHARED | MAP_ANONYMOUS, -1, AREA);
}

static struct piece zero_private(void)
{
	return mapped(RW, MAP_PRIVATE, open("/dev/zero", O_RDWR), AREA);
}

static struct piece zero_shared(void)
{
	return mapped(RW, MAP_SHARED, open("/dev/zero", O_RDWR), AREA);
}

static struct piece file_private(void)
{
	return mapped(RW, MAP_PRIVATE, ramfs(), AREA);
}

static struct piece file_shared(void)
{
	return mapped(RW, MAP_SHARED, ramfs(), AREA);
}

struct piece memfd_shared(void)
{
	return mapped(RW, MAP_SHARED, memfd(0, AREA), AREA);
}

static struct piece memfd_behind_end(void)
{
	int fd = memfd(0, AREA);
	struct piece p = mapped(RW, MAP_SHARED, fd, AREA);

	return ftruncate(fd, PAGE) ? piece(NULL, 0) : p;
}

static struct piece memfd_sealed(void)
{
	int fd = memfd(MFD_ALLOW_SEALING, AREA);

	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE);
	return mapped(PROT_READ, MAP_SHARED, fd, AREA);
}

static struct piece huge_private(void)
{
	return mapped(RW, ANON | MAP_HUGETLB, -1, HUGE);
}

static struct piece huge_shared(void)
{
	return mapped(RW, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, HUGE);
}

static struct piece huge_file(void)
{
	return mapped(RW, MAP_SHARED, memfd(MFD_HUGETLB, HUGE), HUGE);
}

static struct piece secret(void)
{
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0 || ftruncate(fd, AREA))
		return piece(NULL, 0);
	return mapped(RW, MAP_SHARED, fd, AREA);
}

/* Anonymous and shmem, side by side. */
static struct piece two_kinds(void)
{
	struct piece p = anonymous();

	mmap((void *)(uintptr_t)(p.addr + 2 * PAGE), 2 * PAGE, RW,
	     MAP_SHARED | MAP_FIXED, memfd(0, AREA), 0);
	return p;
}

static struct piece read_only(void)
{
	return mapped(PROT_READ, ANON, -1, AREA);
}

static struct piece no_access(void)
{
	return mapped(PROT_NONE, ANON, -1, AREA);
}

static struct piece half_read_only(void)
{
	struct piece p = anonymous();

	mprotect((void *)(uintptr_t)(p.addr + 2 * PAGE), PAGE, PROT_READ);
	return p;
}

static struct piece half_unmapped(void)
{
	struct piece p = anonymous();

	munmap((void *)(uintptr_t)(p.addr + 2 * PAGE), 2 * PAGE);
	return p;
}

static struct piece hole(void)
{
	struct piece p = anonymous();

	munmap((void *)(uintptr_t)(p.addr + PAGE), PAGE);
	return p;
}

static struct piece begins_unmapped(void)
{
	struct piece p = anonymous();

	munmap((void *)(uintptr_t)p.addr, PAGE);
	return p;
}

static struct piece unmapped(void)
{
	struct piece p = anonymous();

	munmap((void *)(uintptr_t)p.addr, AREA);
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

static struct piece vsyscall(void)
{
	return (struct piece){ 0xffffffffff600000ull, PAGE };
}

static struct piece device(void)
{
	return mapped(RW, MAP_SHARED, open("/dev/mem", O_RDWR), PAGE);
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
	/* Of the raw handle, which has it behind the buffers. */
	return piece(t.mem + 5 * PAGE, PAGE);
}

static struct piece queues(void)
{
	struct via_vi_create v = { .attrs = { VIA_UNRELIABLE, 0, 4096, 0 } };
	void *p;

	if (ioctl(t.fd, VIA_IOC_VI_CREATE, &v))
		return piece(NULL, 0);
	p = mmap(NULL, v.mmap_size, RW, MAP_SHARED, t.fd, v.mmap_offset);
	return t.queues = piece(p, v.mmap_size);
}

static struct piece length(uint64_t len)
{
	struct piece p = anonymous();

	p.len = len;
	return p;
}

static struct piece zero_long(void)
{
	return length(0);
}

static struct piece half_of_all_long(void)
{
	return length(1ull << 63);
}

static struct piece all_long(void)
{
	return length(~0ull);
}

static struct piece block_and_one(void)
{
	return length(t.max_block + 1);
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

static struct piece wraps_from_the_end(void)
{
	return (struct piece){ -(uint64_t)PAGE, 2 * PAGE };
}

static struct piece kernel(void)
{
	return (struct piece){ 0xffff888000000000ull, PAGE };
}

static struct piece last_of_user(void)
{
	return (struct piece){ 0x7ffffffff000ull - PAGE, 2 * PAGE };
}

static struct piece not_canonical(void)
{
	return (struct piece){ 1ull << 55, PAGE };
}

static struct piece page_zero(void)
{
	return (struct piece){ 8, 64 };
}

#define NO VIA_R_INVALID_PARAMETER

static const struct kind kinds[] = {
	{ "stack", stack, 0 },
	{ "heap", heap, 0 },
	{ "heap by brk", brk_heap, 0 },
	{ "data of the program", data, 0 },
	{ "anonymous", anonymous, 0 },
	{ "one byte, the last of a page", one_byte, 0 },
	{ "write only", write_only, 0 },
	{ "not reserved", no_reserve, 0 },
	{ "grows down", grows_down, 0 },
	{ "below what grows down", below_grows_down, NO },
	{ "shared anonymous", shared_anonymous, 0 },
	{ "/dev/zero private", zero_private, 0 },
	{ "/dev/zero shared", zero_shared, 0 },
	{ "private of a file", file_private, 0 },
	{ "shared of a file", file_shared, NO },
	{ "shmem", memfd_shared, 0 },
	{ "shmem behind its end", memfd_behind_end, NO },
	{ "shmem sealed", memfd_sealed, NO },
	{ "huge page", huge_private, 0 },
	{ "huge page shared", huge_shared, 0 },
	{ "huge page of a file", huge_file, 0 },
	{ "secret", secret, NO },
	{ "anonymous beside shmem", two_kinds, 0 },
	{ "read only", read_only, NO },
	{ "no access", no_access, NO },
	{ "half read only", half_read_only, NO },
	{ "half unmapped", half_unmapped, NO },
	{ "a hole", hole, NO },
	{ "begins unmapped", begins_unmapped, NO },
	{ "unmapped", unmapped, NO },
	{ "text of the program", text, NO },
	{ "vdso", vdso, NO },
	{ "vvar", vvar, NO },
	{ "vsyscall", vsyscall, NO },
	{ "/dev/mem", device, NO },
	{ "ring of a packet socket", packet_ring, NO },
	{ "control page", control_page, NO },
	{ "queues of a VI", queues, NO },
	{ "userfaultfd", userfault, NO },
	{ "userfaultfd, write-protected", userfault_written, NO },
	{ "userfaultfd, minor faults", userfault_minor, NO },
	{ "FUSE, private", fuse_private, 0 },
	{ "FUSE, shared", fuse_shared, NO },
	{ "FUSE that is late", fuse_late, 0 },
	{ "FUSE that never comes, shared", fuse_never_shared, NO },
	{ "FUSE that dies", fuse_dies, NO },
	{ "no bytes", zero_long, NO },
	{ "2^63 bytes", half_of_all_long, NO },
	{ "2^64-1 bytes", all_long, NO },
	{ "a byte more than a block", block_and_one, NO },
	{ "up to the end of addresses", up_to_the_end, NO },
	{ "wraps", wraps, NO },
	{ "wraps at once", wraps_from_the_end, NO },
	{ "of the kernel", kernel, NO },
	{ "over the end of user space", last_of_user, NO },
	{ "no address at all", not_canonical, NO },
	{ "page 0", page_zero, NO },
};

static void must(const char *what, VIP_RETURN rc)
{
	if (rc == VIP_SUCCESS)
		return;
	fprintf(stderr, "viatest fuzz: %s: %d\n", what, rc);
	exit(2);
}

static VIP_DESCRIPTOR *describe(unsigned int i, uint64_t addr,
				VIP_MEM_HANDLE handle, uint32_t len)
{
	VIP_DESCRIPTOR *d = (void *)(t.mem + i * 64);

	memset(d, 0, 64);
	d->Control.Control = VIP_CONTROL_OP_SENDRECV;
	d->Control.SegCount = 1;
	d->Control.Length = len;
	d->DS[0].Local.Data.AddressBits = addr;
	d->DS[0].Local.Handle = handle;
	d->DS[0].Local.Length = len;
	return d;
}

static void one_way(uint64_t from, VIP_MEM_HANDLE hf, uint64_t to,
		    VIP_MEM_HANDLE ht, uint32_t len)
{
	VIP_DESCRIPTOR *d;

	must("VipPostRecv", VipPostRecv(t.vi[1], describe(0, to, ht, len),
					t.handle));
	must("VipPostSend", VipPostSend(t.vi[0], describe(1, from, hf, len),
					t.handle));
	must("VipSendWait", VipSendWait(t.vi[0], WAIT_MS, &d));
	must("VipRecvWait", VipRecvWait(t.vi[1], WAIT_MS, &d));
}

/* Into the memory by its address, and out of it again. */
static int carries(const struct piece *p)
{
	uint32_t len = p->len < 2 * PAGE ? p->len : 2 * PAGE, i;
	uint64_t at = p->addr + (p->len - len);	/* up to its last byte */
	uint8_t *out = t.mem + PAGE, *in = out + 2 * PAGE;
	uint8_t *there = (void *)(uintptr_t)at;
	VIP_MEM_ATTRIBUTES attr = { t.tag, VIP_FALSE, VIP_FALSE };
	VIP_MEM_HANDLE handle;

	must("VipRegisterMem", VipRegisterMem(t.nic, (void *)(uintptr_t)p->addr,
					      p->len, &attr, &handle));
	for (i = 0; i < len; i++)
		out[i] = i * 7 + (at >> 12);
	one_way((uintptr_t)out, t.handle, at, handle, len);
	i = memcmp(there, out, len);
	memset(in, 0, len);
	one_way(at, handle, (uintptr_t)in, t.handle, len);
	i |= memcmp(in, out, len);
	must("VipDeregisterMem", VipDeregisterMem(t.nic, (void *)(uintptr_t)
						  p->addr, handle));
	return !i;
}

/* Pages registered by all processes, by the module's ledger. */
static long pinned(void)
{
	FILE *f = fopen("/sys/module/via_ka/parameters/ledger", "r");
	long made, gone, n = -1;
	char line[80];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "pages %ld %ld", &made, &gone) == 2)
			n = made - gone;
	if (f)
		fclose(f);
	return n;
}

/* Also charged to RLIMIT_MEMLOCK. */
static long charged(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	long n = -1;
	char line[160];

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmLck: %ld", &n);
	if (f)
		fclose(f);
	return n;
}

static unsigned int tried(const struct kind *k)
{
	struct piece p = k->make();
	struct via_mem_register m = { .addr = p.addr, .len = p.len };
	struct via_mem_deregister d = { .addr = p.addr };
	long pages = pinned(), kib = charged();
	int ret;

	if (!p.addr) {
		printf("viatest fuzz: %-28s not here\n", k->name);
		return 0;
	}
	ret = ioctl(t.fd, VIA_IOC_MEM_REGISTER, &m);
	if (ret != k->want) {
		printf("viatest fuzz: %-28s verdict %d (errno %d), not %d\n",
		       k->name, ret, ret < 0 ? errno : 0, k->want);
		return 1;
	}
	d.handle = m.handle;
	if (!ret && ioctl(t.fd, VIA_IOC_MEM_DEREGISTER, &d)) {
		printf("viatest fuzz: %-28s stays registered\n", k->name);
		return 1;
	}
	if (!ret && !carries(&p)) {
		printf("viatest fuzz: %-28s carries other bytes\n", k->name);
		return 1;
	}
	if (pinned() != pages || charged() != kib) {
		printf("viatest fuzz: %-28s leaves %ld pages pinned, %ld KiB charged\n",
		       k->name, pinned() - pages, charged() - kib);
		return 1;
	}
	printf("viatest fuzz: %-28s %s\n", k->name, ret ? "refused" : "carries");
	return 0;
}

struct shrinker {
	pthread_t id;
	struct piece p;
	uint32_t over;
};

static void *shrink(void *arg)
{
	struct shrinker *s = arg;

	while (!__atomic_load_n(&s->over, __ATOMIC_RELAXED))
		madvise((void *)(uintptr_t)s->p.addr, s->p.len, MADV_DONTNEED);
	return NULL;
}

/* What is registered is dropped meanwhile, page by page, and read again. */
static unsigned int dropped(void)
{
	struct shrinker s = { .p = fuse_private() };
	struct via_mem_register m = { .addr = s.p.addr, .len = s.p.len };
	struct via_mem_deregister d = { .addr = s.p.addr };
	long pages = pinned(), kib = charged();
	unsigned int i, taken = 0, bad = 0;
	time_t end = time(NULL) + DROPS_S;
	int ret;

	if (!s.p.addr || pthread_create(&s.id, NULL, shrink, &s))
		return 0;
	for (i = 0; i < DROPS && (i < DROPS_LEAST || time(NULL) < end); i++) {
		ret = ioctl(t.fd, VIA_IOC_MEM_REGISTER, &m);
		d.handle = m.handle;
		taken += !ret;
		if (!ret)
			ret = ioctl(t.fd, VIA_IOC_MEM_DEREGISTER, &d);
		bad += ret && ret != NO;
	}
	__atomic_store_n(&s.over, 1, __ATOMIC_RELAXED);
	pthread_join(s.id, NULL);
	fuse_end();
	bad += pinned() != pages || charged() != kib || !taken;
	printf("viatest fuzz: FUSE, dropped meanwhile: %u of %u registered, %ld pages pinned, %ld KiB charged%s\n",
	       taken, i, pinned() - pages, charged() - kib,
	       bad ? ": WRONG" : "");
	return bad;
}

static void meet(const char *device)
{
	union {
		VIP_NET_ADDRESS a;
		uint8_t space[sizeof(VIP_NET_ADDRESS) + 96];
	} one = { 0 }, two;
	VIP_VI_ATTRIBUTES attr = { VIP_SERVICE_RELIABLE_DELIVERY, 32768, NULL,
				   NULL, VIP_FALSE, VIP_FALSE }, theirs;
	VIP_NIC_ATTRIBUTES nic;
	unsigned int i;

	must("VipOpenNic", VipOpenNic(device, &t.nic));
	must("VipCreatePtag", VipCreatePtag(t.nic, &t.tag));
	attr.Ptag = t.tag;
	for (i = 0; i < 2; i++)
		must("VipCreateVi", VipCreateVi(t.nic, &attr, NULL, NULL,
						&t.vi[i]));
	must("VipRegisterMem",
	     VipRegisterMem(t.nic, t.mem, 5 * PAGE,
			    &(VIP_MEM_ATTRIBUTES){ t.tag, VIP_FALSE,
						   VIP_FALSE }, &t.handle));
	must("VipQueryNic", VipQueryNic(t.nic, &nic));
	one.a.HostAddressLen = nic.NicAddressLen;
	memcpy(one.a.HostAddress, nic.LocalNicAddress, nic.NicAddressLen);
	one.a.DiscriminatorLen = 6;
	two = one;
	memcpy(one.a.HostAddress + nic.NicAddressLen, "kinds1", 6);
	memcpy(two.a.HostAddress + nic.NicAddressLen, "kinds2", 6);
	must("VipConnectPeerRequest",
	     VipConnectPeerRequest(t.vi[0], &one.a, &two.a, WAIT_MS));
	must("VipConnectPeerRequest",
	     VipConnectPeerRequest(t.vi[1], &two.a, &one.a, WAIT_MS));
	for (i = 0; i < 2; i++)
		must("VipConnectPeerWait", VipConnectPeerWait(t.vi[i],
							      &theirs));
}

unsigned int memory_kinds(const char *device)
{
	struct via_hello h = { .abi = VIA_ABI_VERSION };
	struct ledger before = ledger_read();
	unsigned int i, bad = 0;

	t.mem = mmap(NULL, 6 * PAGE, RW, ANON, -1, 0);
	t.fd = open(device, O_RDWR | O_CLOEXEC);
	if (t.fd < 0 || ioctl(t.fd, VIA_IOC_HELLO, &h) ||
	    mmap(t.mem + 5 * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED,
		 t.fd, VIA_MMAP_CTL) == MAP_FAILED) {
		perror(device);
		return 1;
	}
	t.max_block = h.max_block_bytes;
	meet(device);
	unshare(CLONE_NEWNS);
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		bad += tried(&kinds[i]);
	fuse_end();
	bad += dropped();
	must("VipDisconnect", VipDisconnect(t.vi[0]));
	must("VipCloseNic", VipCloseNic(t.nic));
	munmap(t.mem, 6 * PAGE);
	munmap((void *)(uintptr_t)t.queues.addr, t.queues.len);
	close(t.fd);
	bad += blocked_memory(device, &before);
	printf("viatest fuzz: %u kinds of memory, %u wrong\n", i, bad);
	return bad;
}
