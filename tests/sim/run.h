/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "host.h"

/* Ends the process by sim_fail() if anything is wrong. */
void sim_run_scenario(const struct sim_scenario *s,
		      const struct sim_config *config);
u32 sim_allocations(void);

#endif
