/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TEST_ENGINE_H
#define TEST_ENGINE_H

/* As much of an engine as the transport needs; it writes down what it hears. */
#include "shm.h"
#include "nic.h"

struct eng_nic {
	struct shm_nic shm;
	struct eng_peer *peers;
	void (*rx)(struct eng_peer *p, const struct eng_header *h,
		   const uint8_t *data, size_t len);
};

struct eng_peer {
	struct shm_peer shm;
	struct eng_nic *nic;
	struct eng_peer *next;
	struct eng_peer *same;
	int up, down, err, room, came;
	uint64_t got, bytes;		/* packets, payload */
	uint64_t sent;
};

struct eng_nic *nic_new(const char *rest);
void nic_free(struct eng_nic *n);
struct eng_peer *peer_new(struct eng_nic *n);
/* Meets the NIC that waits for disc. */
struct eng_peer *nic_handshake(struct eng_nic *n, const char *disc);
void nic_wait_for(struct eng_nic *n, const char *disc);

/* Pulls that ended, and how the last one did. */
extern unsigned int pulls_ended;
extern int pull_err;
/* How that one of the last 64 did; 1: it has not ended. */
int pull_ended(const struct eng_pull *pull);
extern const char *conf_pull;

#endif /* TEST_ENGINE_H */
