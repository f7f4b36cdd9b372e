// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Loading libfabric.
 *
 * libfabric reads its environment once, with the first fi_getinfo(), and some
 * libraries below it do as they are loaded. What they need to be told is in
 * the environment only for that time, and what the program has set is left as
 * it is.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../messages.h"
#include "fab.h"
#include "load.h"
#include "../../vipl/sys.h"

#define RXE_UNIVERSE	16

_Static_assert(FAB_MSG == 8448, "FI_OFI_RXM_BUFFER_SIZE below");

static struct ofi_lib lib;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[160];		/* empty: lib is valid */

/* All of the RDMA devices of this host are soft-RoCE's, and there is one. */
static int ofi_only_rxe(void)
{
	DIR *d = opendir("/sys/class/infiniband");
	char path[320];
	struct dirent *e;
	int found = 0, other = 0;

	if (!d)
		return 0;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		/* The interface below it: no other driver has that file. */
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/parent",
			 e->d_name);
		if (sys_exists(path))
			found++;
		else
			other++;
	}
	closedir(d);
	return found && !other;
}

/* For as long as libfabric looks. */
struct setting {
	const char *name, *value;
	int set;
};

static void settings_on(struct setting *s, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!s[i].value || getenv(s[i].name))
			continue;
		s[i].set = !setenv(s[i].name, s[i].value, 0);
	}
}

static void settings_off(struct setting *s, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (s[i].set)
			unsetenv(s[i].name);
}

static void *find_symbol(void *so, const char *name, const char *version)
{
	void *p = dlvsym(so, name, version);

	if (!p)
		snprintf(problem, sizeof(problem),
			 MSG_OFI_SYMBOL, name, version);
	return p;
}

static void find_calls(void *so)
{
	uint32_t (*version)(void);

	lib.getinfo = find_symbol(so, "fi_getinfo", "FABRIC_1.3");
	lib.freeinfo = find_symbol(so, "fi_freeinfo", "FABRIC_1.3");
	lib.dupinfo = find_symbol(so, "fi_dupinfo", "FABRIC_1.3");
	lib.fabric = find_symbol(so, "fi_fabric", "FABRIC_1.1");
	lib.strerror = find_symbol(so, "fi_strerror", "FABRIC_1.0");
	version = find_symbol(so, "fi_version", "FABRIC_1.0");
	if (version)
		lib.version = version();
}

/* Which of these does the program, or what is preloaded, have of its own? */
static const char *find_replaced(void *libc, const char *const *name)
{
	for (; *name; name++)
		if (dlsym(RTLD_DEFAULT, *name) != dlsym(libc, *name))
			return *name;
	return NULL;
}

/*
 * A program may have a send() or a poll() of its own, which libfabric would
 * call instead of the C library's: RTLD_DEEPBIND. But where malloc() is another
 * one libfabric has to have that as well, since it frees what the C library has
 * allocated with it; and sanitizers do not allow RTLD_DEEPBIND. -1: both.
 */
static int dlopen_flags(void)
{
	static const char *const sanitizer[] = {
		"__asan_init", "__hwasan_init", "__msan_init", "__tsan_init",
	};
	static const char *const allocator[] = {
		"malloc", "free", "calloc", "realloc", "posix_memalign", NULL,
	};
	static const char *const call[] = {
		"accept", "bind", "close", "connect", "epoll_create",
		"epoll_ctl", "epoll_wait", "fcntl", "getsockopt", "ioctl",
		"listen", "open", "poll", "read", "recv", "recvmsg", "send",
		"sendmsg", "sendto", "setsockopt", "shutdown", "socket",
		"socketpair", "write", NULL,
	};
	const char *own, *also;
	void *libc;
	size_t i;

	for (i = 0; i < sizeof(sanitizer) / sizeof(sanitizer[0]); i++)
		if (dlsym(RTLD_DEFAULT, sanitizer[i]))
			return 0;
	libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	if (!libc)
		return 0;
	own = find_replaced(libc, allocator);
	also = own ? find_replaced(libc, call) : NULL;
	dlclose(libc);
	if (!also)
		return own ? 0 : RTLD_DEEPBIND;
	snprintf(problem, sizeof(problem), MSG_OFI_OWN_CALLS, also, own);
	return -1;
}

/*
 * The first one makes libfabric look for its providers. One of them alone is
 * asked what it has: via would open VI NICs.
 */
static void first_look(void)
{
	struct fi_info *info = NULL, *hints = lib.dupinfo(NULL);

	if (!hints)
		return;
	hints->fabric_attr->prov_name = (char *)"tcp";
	if (!lib.getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &info))
		lib.freeinfo(info);
	/* libfabric's free() may be another. */
	hints->fabric_attr->prov_name = NULL;
	lib.freeinfo(hints);
}

/* A function of the program itself, without its libraries? */
static int is_of_program(void (*handler)(int))
{
	Dl_info program, now;

	return dladdr((void *)getauxval(AT_PHDR), &program) &&
	       dladdr((void *)handler, &now) &&
	       now.dli_fbase == program.dli_fbase;
}

/*
 * Only what has changed: a call leaves its mark on the flags. A handler that
 * is a function of the program was set by another of its threads meanwhile.
 */
static void put_handlers_back(const struct sigaction *old)
{
	struct sigaction now;
	int i;

	for (i = 1; i < NSIG; i++) {
		if (old[i].sa_handler == SIG_ERR || sigaction(i, NULL, &now))
			continue;
		if (now.sa_handler != old[i].sa_handler &&
		    is_of_program(now.sa_handler))
			continue;
		if (now.sa_handler != old[i].sa_handler ||
		    now.sa_flags != old[i].sa_flags)
			sigaction(i, &old[i], NULL);
	}
}

static void load_library(void)
{
	struct setting s[] = {
		/* Or libinfinipath takes SIGINT, SIGSEGV, SIGTERM and more. */
		{ "IPATH_NO_BACKTRACE", "1", 0 },
		/* Peers go away for good: their connections with them. */
		{ "FI_AV_REMOVE_CLEANUP", "1", 0 },
		/* Of FAB_MSG bytes: a NIC handle takes 43 MB, not 75. */
		{ "FI_OFI_RXM_BUFFER_SIZE", "8448", 0 },
		/* soft-RoCE has no completion queue as large as for more. */
		{ "FI_UNIVERSE_SIZE", NULL, 0 },
	};
	unsigned int n = sizeof(s) / sizeof(s[0]);
	struct sigaction old[NSIG];
	const char *error;
	int i, how = dlopen_flags();
	void *so;

	if (how < 0)
		return;
	if (ofi_only_rxe()) {
		s[n - 1].value = "16";
		lib.universe = RXE_UNIVERSE;
	}
	for (i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &old[i]))
			old[i].sa_handler = SIG_ERR;
	settings_on(s, n);
	so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE |
					how);
	if (so) {
		find_calls(so);
		if (!problem[0])
			first_look();
	} else {
		static const char missing[] = "libfabric.so.1: cannot open "
					      "shared object file: ";

		error = dlerror();
		if (error && !strncmp(error, missing, strlen(missing)))
			error += strlen(missing);
		snprintf(problem, sizeof(problem), MSG_OFI_LOAD,
			 error ? error : "no reason given");
	}
	settings_off(s, n);
	put_handlers_back(old);
}

const struct ofi_lib *ofi_load(char *why, size_t size)
{
	pthread_once(&once, load_library);
	if (!problem[0])
		return &lib;
	if (why)
		snprintf(why, size, "%s", problem);
	return NULL;
}
