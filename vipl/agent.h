/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_AGENT_H
#define VIPL_AGENT_H

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "sys.h"

/* Is the kernel agent loaded? */
static inline int agent_loaded(void)
{
	return sys_exists("/sys/module/via_ka") || sys_exists("/sys/class/via");
}

/* Would modprobe find it, by depmod's list for this kernel? */
static inline int agent_installed(void)
{
	char path[sizeof("/lib/modules//modules.dep") +
		  sizeof(((struct utsname *)0)->release)], line[4096];
	struct utsname u;
	int found = 0;
	FILE *f;

	if (uname(&u))
		return 0;
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", u.release);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, ":")] = '\0';
		found = strstr(line, "/via_ka.ko") != NULL;
	}
	fclose(f);
	return found;
}

#endif /* VIPL_AGENT_H */
