/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_AGENT_H
#define TOOLS_AGENT_H

/* Ends with status 1, the fault and its remedy if it is not. */
void agent_need(void);

#endif /* TOOLS_AGENT_H */
