// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "../../vipl/agent.h"
#include "../../vipl/messages.h"
#include "agent.h"
#include "msg.h"

void agent_need(void)
{
	if (agent_loaded())
		return;
	if (agent_installed())
		die(MSG_NO_AGENT);
	die(MSG_NO_MODULES, MSG_AS_ROOT_MODULES);
}
