// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One run of a scenario: modules in, scenario, modules out, nothing left. */
#include <stdio.h>
#include <unistd.h>
#include "hosts.h"
#include "kernel/model.h"
#include "run.h"

int sim_init_via_ka(void);
void sim_exit_via_ka(void);
int sim_init_via_ether(void);
void sim_exit_via_ether(void);
int sim_init_via_lo(void);
void sim_exit_via_lo(void);
struct module via_ka = { .name = "via_ka" };
struct module via_ether = { .name = "via_ether" };
struct module via_lo = { .name = "via_lo" };

void sim_nics_reset(void);
bool sim_nics_idle(void);
void sim_mm_check(void);
void sim_hosts_end(void);

static const struct sim_scenario *scenario;

int sim_load(void)
{
	int ret = sim_init_via_ka();

	if (ret)
		return ret;
	ret = sim_init_via_ether();
	if (ret)
		goto err_ka;
	ret = sim_init_via_lo();
	if (ret)
		goto err_ether;
	return 0;
err_ether:
	sim_exit_via_ether();
err_ka:
	sim_exit_via_ka();
	return ret;
}

void sim_unload(void)
{
	if (atomic_read(&via_lo.users) || atomic_read(&sim_no_module.users))
		sim_fail("modules are in use at the end: via_lo %d, NICs %d",
			 via_lo.users.counter, sim_no_module.users.counter);
	sim_exit_via_lo();
	sim_exit_via_ether();
	sim_nics_over();
	sim_exit_via_ka();
}

static void run(void)
{
	if (scenario->seconds)
		sim_config.max_time = sim_clock +
				      scenario->seconds * NSEC_PER_SEC;
	if (scenario->state)
		memset(scenario->state, 0, scenario->state_bytes);
	if (scenario->run_as)
		scenario->run_as(scenario->as);
	else
		scenario->run();
}

static void main_ctx(void *arg)
{
	/* Walks over all VIs are many steps of no interest. */
	sim_param_set("max_vi", scenario->max_vi ? scenario->max_vi : 32);
	if (scenario->unloaded) {
		run();
	} else if (!sim_load()) {
		run();
		sim_unload();
	} else if (!sim_config.fail_alloc) {
		sim_fail("the modules do not load");
	}
	while (!sim_nics_idle())
		msleep(1);
	rcu_barrier();
	sim_model_end();
}

static void hang(void)
{
	char line[1024];
	struct sim_ctx *c;
	int n = 0;

	list_for_each_entry(c, &sim_all, link)
		if (n < 900)
			n += snprintf(line + n, sizeof(line) - n, "%s%s",
				      n ? ", " : "", c->name);
	sim_fail("a hang: nothing is left to happen for %s", line);
}

void sim_run_scenario(const struct sim_scenario *s,
		      const struct sim_config *config)
{
	scenario = s;
	sim_begin(config);
	sim_model_begin();
	sim_nics_reset();
	hosts_reset();
	sim_wire.loss = s->loss;
	sim_kthread("main", main_ctx, NULL);
	sim_run(NULL, NULL);
	sim_log("with preemption off at most %u steps, %u visits", sim_most_steps,
		sim_most_visits);
	if (!list_empty(&sim_all))
		hang();
	sim_mm_check();
	sim_hosts_end();
}
