/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef SHM_NIC_H
#define SHM_NIC_H

/* The transport's operations on a NIC: see struct eng_transport. */
#include <vipl/engine.h>

VIP_RETURN shm_open_nic(struct eng_nic *nic, const char *rest,
			struct vipl_identity *id);
void shm_close_nic(struct eng_nic *nic);
int shm_waiting(struct eng_nic *nic, const uint8_t *disc, uint32_t len,
		int now);
int shm_progress(struct eng_nic *nic, unsigned int budget);
int shm_arm(struct eng_nic *nic);
void shm_disarm(struct eng_nic *nic);
void shm_wait(struct eng_nic *nic, uint64_t ns);
void shm_wake(struct eng_nic *nic);

#endif /* SHM_NIC_H */
