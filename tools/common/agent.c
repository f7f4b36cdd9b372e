// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../vipl/messages.h"
#include "agent.h"
#include "msg.h"

bool agent_loaded(void)
{
	return !access("/sys/module/via_ka", F_OK) ||
	       !access("/sys/class/via", F_OK);
}

/* Whether modprobe would find it, by depmod's list for this kernel. */
static bool agent_installed(void)
{
	char path[sizeof(((struct utsname *)0)->release) + 32], line[4096];
	bool found = false;
	struct utsname u;
	FILE *f;

	if (uname(&u))
		return false;
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", u.release);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, "/via_ka.ko");
	fclose(f);
	return found;
}

void agent_need(void)
{
	if (agent_loaded())
		return;
	if (agent_installed())
		die(MSG_NO_AGENT);
	die(MSG_NO_MODULES, MSG_AS_ROOT_MODULES);
}
