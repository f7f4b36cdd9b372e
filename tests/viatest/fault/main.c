// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viatest fault: each allocation that an operation makes fails in turn, until
 * there are none left to fail.  Each time the operation says so or succeeds,
 * is undone or retried, and at the end nothing is left.
 *
 * Needs a kernel with fault injection (debug-6.1).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "viatest.h"
#include "common/proc.h"
#include "common/words.h"
#include "fault.h"

#define INJECT	"/sys/kernel/debug/"
#define COPIES	INJECT "fail_usercopy/times"
#define PLENTY	1000000000L	/* faults that may be injected */

unsigned int fault_stride = 1, fault_first = 1;

static int nth = -1;
static long copies_left;

static const char help[] =
	"usage: viatest fault [-d DEVICE] [-s STRIDE] [-f FIRST] [-o OPERATION]\n"
	"       viatest fault [-s STRIDE] [-f FIRST] -m MODULE.ko [PARAMETERS]\n"
	"       viatest fault [-s STRIDE] [-f FIRST] -a INTERFACE\n"
	"Makes allocation FIRST (1), FIRST + STRIDE (1) and so on fail: of the\n"
	"VIPL operations on a NIC (via_lo), of the loading of a module, of\n"
	"attaching an interface to via_netdev.\n";

static int put(const char *path, const char *text)
{
	int ret = proc_write(path, text);

	if (ret)
		fprintf(stderr, "viatest fault: %s: %s\n", path, strerror(-ret));
	return ret;
}

static long left(void)
{
	char text[32];

	if (proc_read(COPIES, text, sizeof(text)) <= 0) {
		fprintf(stderr, "viatest fault: nothing in " COPIES "\n");
		exit(2);
	}
	return strtol(text, NULL, 0);
}

int fault_init(void)
{
	char path[96], plenty[16];
	static const char *const kinds[] = { "failslab", "fail_page_alloc",
					     "fail_usercopy" };
	unsigned int i;

	snprintf(plenty, sizeof(plenty), "%ld", PLENTY);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), INJECT "%s/verbose", kinds[i]);
		if (put(path, "0"))
			return -1;
		snprintf(path, sizeof(path), INJECT "%s/times", kinds[i]);
		if (put(path, plenty))
			return -1;
	}
	/* Those that may sleep too, of any size, in any zone. */
	if (put(INJECT "failslab/ignore-gfp-wait", "N") ||
	    put(INJECT "fail_page_alloc/ignore-gfp-wait", "N") ||
	    put(INJECT "fail_page_alloc/ignore-gfp-highmem", "N") ||
	    put(INJECT "fail_page_alloc/min-order", "0"))
		return -1;
	nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	return nth < 0 ? -1 : 0;
}

void fault_arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	copies_left = left();
	if (pwrite(nth, text, len, 0) != len) {
		perror("viatest fault: fail-nth");
		exit(2);
	}
}

enum fault fault_disarm(void)
{
	char text[16] = "";
	/* The copy of this very answer may be the nth. */
	int len = pread(nth, text, sizeof(text) - 1, 0);
	int hit = len > 0 && !atoi(text);

	/* The same; then it is over as well. */
	if (pwrite(nth, "0", 1, 0) != 1 && errno != EFAULT)
		perror("viatest fault: fail-nth");
	if (!hit)
		return FAULT_NONE;
	return left() == copies_left ? FAULT_MEMORY : FAULT_COPY;
}

int viatest_fault(int argc, char **argv)
{
	const char *device = "via_lo", *only = NULL, *module = NULL,
	      *interface = NULL;
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	unsigned int bad;
	int c;

	while ((c = getopt_long(argc, argv, "d:s:f:o:m:a:h", longs,
				NULL)) != -1) {
		if (c == 'd') {
			device = optarg;
		} else if (c == 's') {
			fault_stride = word_number(optarg, 1, 1000000);
		} else if (c == 'f') {
			fault_first = word_number(optarg, 1, 1000000);
		} else if (c == 'o') {
			only = optarg;
		} else if (c == 'm') {
			module = optarg;
		} else if (c == 'a') {
			interface = optarg;
		} else {
			fputs(help, c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (fault_init())
		return 2;
	if (module)
		bad = fault_module(module, optind < argc ? argv[optind] : "");
	else if (interface)
		bad = fault_attach(interface);
	else
		bad = fault_operations(device, only);
	return bad ? 1 : 0;
}
