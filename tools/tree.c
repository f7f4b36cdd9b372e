// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Linked into the programs of a build tree, and not into what is installed:
 * they load the plug-ins of that tree unless VIPL_PROVIDERS says otherwise.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void __attribute__((constructor)) own_plugins(void)
{
	static const char folder[] = "/providers";
	const char *chosen = getenv("VIPL_PROVIDERS");
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path,
			       sizeof(path) - sizeof(folder));
	int up;

	if (len <= 0 || (chosen && *chosen))
		return;
	path[len] = '\0';
	/* The program is in a folder of the build folder. */
	for (up = 0; up < 2; up++) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return;
		*slash = '\0';
	}
	strcat(path, folder);
	if (!access(path, X_OK))
		setenv("VIPL_PROVIDERS", path, 1);
}
