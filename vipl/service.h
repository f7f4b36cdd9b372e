/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_SERVICE_H
#define VIPL_SERVICE_H

#include "object.h"

int vipl_service_start(struct vipl_nic *nic, int shared_files);
void vipl_service_end(struct vipl_nic *nic);

/* Service thread: the program's handler, or a line on standard error. */
void vipl_error_deliver(struct vipl_nic *nic, const struct vipl_event *ev);

#endif /* VIPL_SERVICE_H */
