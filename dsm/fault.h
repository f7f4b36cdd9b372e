/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DSM_FAULT_H
#define DSM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

void fault_install(void);
void fault_remove(void);

/* As the handler does, without a fault; may_serve as of run_until(). */
void fault_page(uint32_t page, bool write, bool may_serve);

#endif
