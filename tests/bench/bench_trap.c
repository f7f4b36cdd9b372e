// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What it costs to enter the kernel: a null system call, an empty trap, an
 * ioctl; in a program with one thread, and with a second one, which makes
 * every file operation dearer.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/msg.h"
#include "emit.h"
#include "via.h"

#define BATCHES 40
#define ROUNDS 500

static int fd;

/* The trap's arguments, unused: only what the kernel does shall differ. */
static void do_getppid(void)
{
	syscall(SYS_getppid, fd, via_trap_arg(VIA_OP_NOP, 0), VIA_TRAP_WHENCE);
}

static void do_trap(void)
{
	syscall(SYS_lseek, fd, via_trap_arg(VIA_OP_NOP, 0), VIA_TRAP_WHENCE);
}

static void do_ioctl(void)
{
	struct via_trap t = { .arg = via_trap_arg(VIA_OP_NOP, 0) };

	syscall(SYS_ioctl, fd, VIA_IOC_TRAP, &t);
}

/* The best of some short batches is one without a timer tick in it. */
static double cost(void (*fn)(void))
{
	double best = 1e9;

	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = now_ns();
		double v;

		for (int i = 0; i < ROUNDS; i++)
			fn();
		v = (double)(now_ns() - start) / ROUNDS;
		if (v < best)
			best = v;
	}
	return best;
}

static void run(const char *suffix)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} calls[] = {
		{ "getppid", do_getppid },
		{ "trap", do_trap },
		{ "ioctl", do_ioctl },
	};
	double v[3];
	char path[32];

	for (int i = 0; i < 3; i++) {
		v[i] = cost(calls[i].fn);
		snprintf(path, sizeof(path), "%s%s", calls[i].name, suffix);
		emit("trap", path, "-", "-", 0, "ns", v[i]);
	}
	snprintf(path, sizeof(path), "trap/getppid%s", suffix);
	emit("trap", path, "-", "-", 0, "ratio", v[1] / v[0]);
}

static void *idle(void *arg)
{
	pause();
	return arg;
}

int main(int argc, char **argv)
{
	const char *dev = argc > 1 ? argv[1] : "/dev/via_lo";
	struct via_hello hello = { .abi = VIA_ABI_VERSION };
	pthread_t t;

	fd = open(dev, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s (usage: bench_trap [NODE])", dev, strerror(errno));
	if (ioctl(fd, VIA_IOC_HELLO, &hello) ||
	    mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd,
		 VIA_MMAP_CTL) == MAP_FAILED)
		die("%s: not a VI NIC of this version", dev);
	if (syscall(SYS_lseek, fd, via_trap_arg(VIA_OP_NOP, 0),
		    VIA_TRAP_WHENCE))
		die("%s: the empty trap fails: %s", dev, strerror(errno));
	run("");
	if (pthread_create(&t, NULL, idle, NULL))
		die("cannot start a second thread");
	run("-2threads");
	return 0;
}
