/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the model tell each other, and the simulator. */
#ifndef SIM_KERNEL_MODEL_H
#define SIM_KERNEL_MODEL_H

#include "mm.h"
#include "sched.h"

/* Softirqs: the work is done by a context of some CPU, in order of raising. */
struct sim_softirq {
	struct list_head link;
	void (*fn)(struct sim_softirq *s);
	bool raised;
};

void sim_raise(struct sim_softirq *s, void (*fn)(struct sim_softirq *s));

int sim_wake_task(struct task_struct *t, unsigned int mode);
u64 sim_rcu_now(void);
void sim_rcu_quiet(void);
void sim_locks_reset(void);
void sim_time_reset(void);
void sim_rcu_reset(void);
void sim_work_reset(void);
void sim_work_begin(void);
void sim_work_end(void);
void sim_time_begin(void);
void sim_time_end(void);
void sim_mm_reset(void);
/* Workers and softirq contexts begin; all that they wait for is theirs. */
void sim_model_begin(void);
/* Every context that waits for work ends. */
void sim_model_end(void);

#endif
