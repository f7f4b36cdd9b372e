// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Shared objects of providers: where they are, and what is wrong with one. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "msg.h"
#include "sys.h"

#ifndef VIPL_PLUGINDIR
#define VIPL_PLUGINDIR	"/usr/local/lib/vipl"
#endif

/* Looks at the program itself, which comes first. */
static int has_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*(int *)arg = 1;
	return 1;
}

/*
 * A program without the dynamic linker would get a C library of its own for
 * the plug-in, and two of those in one process end badly.
 */
static int is_static(void)
{
	int dynamic = 0;

	dl_iterate_phdr(has_loader, &dynamic);
	return !dynamic;
}

int vipl_plugin_dir(char *dir, size_t size)
{
	/* NULL for set-user-id: what is loaded runs with its rights. */
	const char *env = secure_getenv("VIPL_PROVIDERS");
	const char *from = env && *env ? env : VIPL_PLUGINDIR;
	char *path = realpath(from, NULL);
	int fits;

	fits = snprintf(dir, size, "%s", path ? path : from) < (int)size;
	free(path);
	return fits && *dir == '/' ? 0 : -1;
}

/* With the package's plug-ins there, or another name, the name is wrong. */
static const char *no_plugin_remedy(const char *dir, const char *name)
{
	char path[PATH_MAX + sizeof("/shm.so")];

	snprintf(path, sizeof(path), "%s/shm.so", dir);
	if (sys_exists(path))
		return MSG_VIAINFO;
	return !strcmp(name, "shm") || !strcmp(name, "ofi") ?
	       MSG_PLUGINS : MSG_OTHER_PLUGINS;
}

vipl_provider_entry *vipl_plugin(const char *name)
{
	char dir[PATH_MAX], path[PATH_MAX + VIPL_PROVIDER_LEN + 8];
	vipl_provider_entry *entry = NULL;
	const char *why;
	void *so;

	if (is_static()) {
		vipl_msg(MSG_STATIC, name);
		return NULL;
	}
	if (vipl_plugin_dir(dir, sizeof(dir))) {
		vipl_msg(MSG_NO_PLUGIN_DIR, name);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/%s.so", dir, name);
	if (!sys_exists(path)) {
		vipl_msg(MSG_NO_PLUGIN, name, path, no_plugin_remedy(dir, name));
		return NULL;
	}
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (so)
		*(void **)&entry = dlsym(so, VIPL_PROVIDER_ENTRY);
	if (entry) {
		vipl_log(VIPL_DEBUG, "provider %s: %s is loaded", name, path);
		return entry;
	}
	why = dlerror();
	vipl_msg(MSG_BAD_PLUGIN, name, why ? why : path);
	if (so)
		dlclose(so);
	return NULL;
}
