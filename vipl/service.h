/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_SERVICE_H
#define VIPL_SERVICE_H

#include "object.h"

int vipl_service_start(struct vipl_nic *nic, int shared_files);
void vipl_service_end(struct vipl_nic *nic);

/* For service.serve: an event of the provider's. */
void vipl_serve(struct vipl_nic *nic, const struct vipl_event *ev);

/* Service thread: the program's handler, or a line on standard error. */
void vipl_error_deliver(struct vipl_nic *nic, const struct vipl_event *ev);

#endif /* VIPL_SERVICE_H */
