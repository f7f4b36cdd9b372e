// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The entry of shm.so: the engine's operations above shared memory. */
#include "../messages.h"
#include "nic.h"
#include "shm.h"

const struct vipl_host *shm_host;

static void part_peer(struct eng_peer *peer)
{
	/* Packets in its ring arrive; releasing it sends DISCONNECT. */
	(void)peer;
}

static const struct eng_transport transport = {
	.name = "shm",
	.nic_size = sizeof(struct shm_nic),
	.peer_size = sizeof(struct shm_peer),
	.eager = RING_EAGER,
	.flags = ENG_ARRIVED | ENG_LAST_APART,
	.open = shm_open_nic,
	.close = shm_close_nic,
	.handshake = shm_handshake,
	.waiting = shm_waiting,
	.part = part_peer,
	.peer_release = shm_peer_release,
	.xmit = shm_xmit,
	.export_mem = shm_export_mem,
	.unexport_mem = shm_unexport_mem,
	.pull = shm_pull,
	.progress = shm_progress,
	.arm = shm_arm,
	.disarm = shm_disarm,
	.wait = shm_wait,
	.wake = shm_wake,
};

static struct vipl_provider provider;

const struct vipl_provider *vipl_provider_init(uint32_t abi,
					       const struct vipl_host *host,
					       const char **why)
{
	if (abi != VIPL_PROVIDER_ABI) {
		*why = MSG_SHM_VERSION;
		return NULL;
	}
	shm_host = host;
	eng_provider(&provider, &transport, host);
	provider.post_send = shm_post_send;
	provider.post_recv = shm_post_recv;
	provider.send_done = shm_send_done;
	provider.recv_done = shm_recv_done;
	provider.name = "shm";
	provider.version = VIPL_RELEASE;
	shm_provider_names(&provider);
	provider.fork_child = link_fork_child;
	return &provider;
}
