// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A user without rights has a thread in each of more handles than a workqueue runs
 * works at once.  All wait for VIs of that user to be gone when the handles end.
 * Programs of other users open, make a VI and exit meanwhile.
 */
#include "regress.h"
#include "common/abi.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GREEDY		4711u		/* users */
#define OTHER		4712u
#define ROUNDS		20u
#define STACK		32768u
#define FREED		16u		/* places that the threads have among them */

static struct handle *hogs;
static uint32_t made;

static void become(unsigned int user)
{
	char path[80];
	struct stat st;

	/* The node's group may open it. */
	snprintf(path, sizeof(path), "/dev/%s", args.device);
	if (stat(path, &st) || setgid(st.st_gid) ||
	    setresuid(user, user, user))
		die("no user %u: %s", user, strerror(errno));
}

static void *churns(void *arg)
{
	int fd = hogs[(uintptr_t)arg].fd, ret;
	uint32_t vi;

	do {
		ret = abi_vi_create(fd, VIA_RELIABLE_DELIVERY, MOST_BYTES, &vi);
		if (!ret) {
			fetch_add(&made, 1);
			ret = abi_id(fd, VIA_IOC_VI_DESTROY, vi);
		} else if (ret > 0) {
			usleep(1000);
		}
	} while (ret != -ESHUTDOWN);
	return NULL;
}

/* All that the user may have, but for some places. */
static void fill(struct handle *h)
{
	uint32_t vi[FREED], last, n = 0;
	int ret;

	handle_open(h, args.device);
	for (;;) {
		ret = abi_vi_create(h->fd, VIA_RELIABLE_DELIVERY, MOST_BYTES,
				    &last);
		if (ret)
			break;
		vi[n++ % FREED] = last;
	}
	if (ret != VIA_R_ERROR_RESOURCE || n < FREED)
		die("%u VIs fill the quota: %d", n, ret);
	for (n = 0; n < FREED; n++)
		if (abi_id(h->fd, VIA_IOC_VI_DESTROY, vi[n]))
			die("a VI stays");
}

static int hog(void *arg)
{
	int go = *(int *)arg;
	struct handle full;
	pthread_attr_t attr;
	pthread_t t;
	uint32_t i;

	become(GREEDY);
	hogs = calloc(args.count, sizeof(*hogs));
	if (!hogs || pthread_attr_init(&attr) ||
	    pthread_attr_setstacksize(&attr, STACK))
		die("no memory");
	for (i = 0; i < args.count; i++)
		handle_open(&hogs[i], args.device);
	fill(&full);
	for (i = 0; i < args.count; i++)
		if (pthread_create(&t, &attr, churns, (void *)(uintptr_t)i))
			die("no thread %u", i);
	while (load_acquire(&made) < args.count)
		usleep(1000);
	for (i = 0; i < args.count; i++)
		munmap(hogs[i].ctl, sizeof(struct via_ctl));
	if (write(go, "", 1) != 1)
		die("write");
	pause();
	return 0;
}

/* What it has ends with it. */
static int other(void *arg)
{
	struct handle h;
	uint32_t vi;

	become(OTHER);
	handle_open(&h, args.device);
	if (abi_vi_create(h.fd, VIA_RELIABLE_DELIVERY, MOST_BYTES, &vi))
		die("no VI for another user");
	return arg != NULL;
}

/* It waits for nothing, or for ever. */
static bool is_over(pid_t pid)
{
	const uint64_t begin = now_ms();
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (now_ms() - begin > args.limit)
			return false;
		usleep(2000);
	}
	return !status;
}

int run_others(void)
{
	struct rlimit most = { 4096, 4096 };
	uint32_t i;
	pid_t pid;
	int go[2];
	char c;

	if (setrlimit(RLIMIT_NOFILE, &most) || pipe(go))
		die("no descriptors: %s", strerror(errno));
	pid = child_start(hog, &go[1]);
	close(go[1]);
	if (read(go[0], &c, 1) != 1)
		die("no handles that end");
	for (i = 0; i < ROUNDS; i++) {
		if (!is_over(child_start(other, NULL))) {
			printf("viatest regress: program %u of another user does not end\n",
			       i + 1);
			return 1;
		}
	}
	child_kill(pid);
	printf("programs=%u\n", ROUNDS);
	return 0;
}
