// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A NIC handle of shm: opening, progress, sleeping. */
#include "../messages.h"
#include "nic.h"
#include "shm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>

#define NONCE_BYTES	(2 * sizeof(uint64_t))
#define LINK_TURN	256u	/* calls of progress between looks at sockets */
#define TURN		128u	/* polls of fast.c between calls of progress */
#define IDLE		64u	/* empty polls: a ring need not be polled */
#define SWEEP		64u	/* idle rings looked at before sleeping */
#define POLL_IDLE	64	/* packets of an idle ring at a time */

/* A page of its own: a child finds zeros there, and unmapping ends it. */
static int make_nonce(struct shm_nic *n)
{
	void *map = mmap(NULL, NONCE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return -errno;
	n->nonce = map;
	if (madvise(map, NONCE_BYTES, MADV_WIPEONFORK) ||
	    getrandom(map, NONCE_BYTES, 0) != NONCE_BYTES)
		return -errno;
	return 0;
}

static int open_shared(struct shm_nic *n)
{
	void *map;
	int err = make_nonce(n);

	if (err)
		return err;
	n->status_file = shm_map_new("vipl-status", sizeof(*n->status), 1,
				     &map);
	if (n->status_file < 0)
		return n->status_file;
	n->status = map;
	n->doorbell_file = shm_map_new("vipl-doorbell", sizeof(*n->doorbell), 0,
				       &map);
	if (n->doorbell_file < 0)
		return n->doorbell_file;
	n->doorbell = map;
	return 0;
}

static void read_conf(struct shm_nic *n)
{
	char value[32];

	if (!shm_host->conf("shm", "pull", value, sizeof(value)) &&
	    !strcmp(value, "bounce"))
		n->pull = SHM_PULL_BOUNCE;
	/* By the program's consent only: it opens it to its whole uid. */
	if (!shm_host->conf("shm", "ptracer", value, sizeof(value)) &&
	    !strcmp(value, "any"))
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

static void fill_identity(struct shm_nic *n, struct vipl_identity *id)
{
	/* The name that opens the NIC again. */
	memcpy(id->name, "shm:", 5);
	strncpy(id->name + 4, n->space, sizeof(id->name) - 5);
	memcpy(id->addr, n->addr, SHM_ADDR_LEN);
	id->addr_len = SHM_ADDR_LEN;
	id->mtu = RING_EAGER;
	id->features = VIP_FEATURE_CQ_FD | VIP_FEATURE_NIC_FD |
		       VIP_FEATURE_NONBLOCKING | VIP_FEATURE_LISTEN |
		       VIP_FEATURE_PRIVATE;
}

VIP_RETURN shm_open_nic(struct eng_nic *nic, const char *rest,
			struct vipl_identity *id)
{
	struct shm_nic *n = eng_nic_priv(nic);
	char why[96];
	int err;

	n->nic = nic;
	n->status_file = n->doorbell_file = -1;
	if (shm_names(n, rest)) {
		shm_host->msg(MSG_SHM_NAME, rest);
		return VIP_INVALID_PARAMETER;
	}
	read_conf(n);
	err = open_shared(n);
	if (err) {
		link_why(err, why, sizeof(why));
		shm_host->msg(MSG_SHM_MEMORY, n->space, why);
		return VIP_ERROR_RESOURCE;
	}
	n->conf = (struct link_conf){
		.family = LINK_UNIX, .provider = "shm", .space = n->space,
		.name = n->name, .version = SHM_VERSION,
		.ops = &shm_link_ops, .nic = n, .msg = shm_host->msg,
	};
	n->link = link_open(&n->conf, &err);
	if (!n->link) {
		link_why(err, why, sizeof(why));
		shm_host->msg(MSG_SHM_SOCKET, n->space, why);
		return VIP_ERROR_RESOURCE;
	}
	fill_identity(n, id);
	return VIP_SUCCESS;
}

void shm_close_nic(struct eng_nic *nic)
{
	struct shm_nic *n = eng_nic_priv(nic);

	if (!n->nic)
		return;
	if (n->link)
		link_close(n->link);
	n->link = NULL;
	shm_unmap(n->nonce, NONCE_BYTES);
	shm_unmap(n->status, sizeof(*n->status));
	shm_unmap(n->doorbell, sizeof(*n->doorbell));
	link_file_close(n->status_file);
	link_file_close(n->doorbell_file);
	free(n->export);
	memset(n, 0, sizeof(*n));
}

int shm_waiting(struct eng_nic *nic, const uint8_t *disc, uint32_t len,
		int now)
{
	struct shm_nic *n = eng_nic_priv(nic);

	return link_waiting(n->link, disc, len, now);
}

/* Have progress look at it. */
void shm_work(struct shm_peer *p)
{
	if (p->working)
		return;
	p->working = 1;
	p->next_work = p->n->work;
	p->n->work = p;
}

void shm_poll_stop(struct shm_peer *p)
{
	struct shm_nic *n = p->n;
	uint32_t i = 0;

	while (n->polled[i] != p)
		i++;
	n->polled[i] = n->polled[--n->npolled];
	p->is_polled = 0;
	if (!p->in.ring)
		return;
	atomic_store(&p->in.ring->idle, 1);
	/* Pairs with that of shm_ring_doorbell(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (p->up && ring_next(&p->in))
		shm_work(p);
}

/* Look at its ring all the time, if there are not too many of those. */
void shm_poll_start(struct shm_peer *p)
{
	struct shm_nic *n = p->n;
	struct shm_peer *oldest = NULL;
	uint32_t i;

	if (p->is_polled)
		return;
	if (n->npolled == SHM_POLLED) {
		oldest = n->polled[0];
		for (i = 1; i < SHM_POLLED; i++)
			if (n->polled[i]->idle > oldest->idle)
				oldest = n->polled[i];
		if (oldest->idle < IDLE)
			return;
		shm_poll_stop(oldest);
	}
	p->is_polled = 1;
	p->idle = 0;
	n->polled[n->npolled++] = p;
	atomic_store_explicit(&p->in.ring->idle, 0, memory_order_relaxed);
}

static int take_idle(struct shm_peer *p)
{
	int did;

	if (!p->up || p->bad)
		return 0;
	shm_poll_start(p);
	did = shm_poll(p, POLL_IDLE);
	if (!p->is_polled && ring_next(&p->in))
		shm_work(p);
	return did;
}

static int take_doorbells(struct shm_nic *n)
{
	uint64_t sum = atomic_exchange(&n->doorbell->sum, 0), bits;
	uint32_t w, i;
	int did = 0;

	while (sum) {
		w = (uint32_t)__builtin_ctzll(sum);
		sum &= sum - 1;
		bits = atomic_exchange(&n->doorbell->word[w], 0);
		while (bits) {
			i = w * 64 + (uint32_t)__builtin_ctzll(bits);
			bits &= bits - 1;
			if (n->slot[i])
				did += take_idle(n->slot[i]);
		}
	}
	return did;
}

static int work_on(struct shm_peer *p)
{
	int did = 0;

	if (p->bad) {
		if (!p->up)
			return 0;
		shm_lose(p, -EPROTO);
		return 1;
	}
	if (!p->up)
		return 0;
	if (!p->is_polled)
		did += take_idle(p);
	if (p->starves && shm_resume(p)) {
		eng_room(p->peer);
		did++;
	}
	if (p->out.bad) {
		shm_lose(p, -EPROTO);
		return did + 1;
	}
	did += shm_pull_work(p);
	if (p->starves || shm_pull_pending(p))
		shm_work(p);
	return did;
}

static int work_on_peers(struct shm_nic *n)
{
	struct shm_peer *p, *list = n->work;
	int did = 0;

	n->work = NULL;
	while ((p = list)) {
		list = p->next_work;
		p->working = 0;
		did += work_on(p);
	}
	return did;
}

/*
 * A peer wakes once for each odd value of `sleeps`. What woke the thread in
 * link_wait() may be taken here before that thread sees it, which then sleeps
 * on: it is woken anew.
 */
static int look_at_link(struct shm_nic *n)
{
	int did = link_progress(n->link);

	if (did && (n->sleeps & 1))
		link_wake(n->link);
	return did;
}

int shm_progress(struct eng_nic *nic, unsigned int budget)
{
	struct shm_nic *n = eng_nic_priv(nic);
	struct shm_peer *p;
	int did = 0;
	uint32_t i;

	n->turn = TURN;
	for (i = 0; i < n->npolled; i++) {
		p = n->polled[i];
		if (!ring_next(&p->in) && !ring_starved(&p->in)) {
			/* fast.c takes packets, too. */
			p->idle = p->seen == p->in.head ? p->idle + 1 : 0;
			p->seen = p->in.head;
			continue;
		}
		if (p->bad)
			continue;
		p->idle = 0;
		did += shm_poll(p, (int)budget);
	}
	if (atomic_load_explicit(&n->doorbell->sum, memory_order_relaxed))
		did += take_doorbells(n);
	if (n->work)
		did += work_on_peers(n);
	if (n->look || ++n->calls >= LINK_TURN) {
		n->look = 0;
		n->calls = 0;
		did += look_at_link(n);
		shm_close_unsent(n);
	}
	return did;
}

/* Idle rings in turn: a peer that spoils the doorbells does no lasting harm. */
static int sweep_rings(struct shm_nic *n)
{
	struct shm_peer *p;
	uint32_t i, found = 0;

	for (i = 0; i < SWEEP && i < n->slots; i++) {
		n->sweep = n->sweep + 1 < n->slots ? n->sweep + 1 : 0;
		p = n->slot[n->sweep];
		if (p && p->up && !p->is_polled && !p->bad &&
		    ring_next(&p->in)) {
			shm_work(p);
			found = 1;
		}
	}
	return found;
}

static int has_arrivals(struct shm_nic *n)
{
	const struct shm_peer *p;
	uint32_t i;

	for (i = 0; i < n->npolled; i++)
		if (ring_next(&n->polled[i]->in) ||
		    ring_starved(&n->polled[i]->in))
			return 1;
	if (atomic_load(&n->doorbell->sum) || sweep_rings(n))
		return 1;
	for (p = n->work; p; p = p->next_work)
		if (!p->starves || p->bad || shm_has_room(p) ||
		    (p->pid && p->pulls))
			return 1;
	return 0;
}

int shm_arm(struct eng_nic *nic)
{
	struct shm_nic *n = eng_nic_priv(nic);

	if (!(n->sleeps & 1)) {
		atomic_store_explicit(&n->status->sleeps, ++n->sleeps,
				      memory_order_relaxed);
		/* Pairs with that of shm_ring_doorbell(). */
		atomic_thread_fence(memory_order_seq_cst);
	}
	if (!has_arrivals(n))
		return 0;
	shm_disarm(nic);
	return 1;
}

void shm_disarm(struct eng_nic *nic)
{
	struct shm_nic *n = eng_nic_priv(nic);

	if (!(n->sleeps & 1))
		return;
	atomic_store_explicit(&n->status->sleeps, ++n->sleeps,
			      memory_order_relaxed);
	n->look = 1;
}

void shm_wait(struct eng_nic *nic, uint64_t ns)
{
	struct shm_nic *n = eng_nic_priv(nic);

	link_wait(n->link, ns);
}

void shm_wake(struct eng_nic *nic)
{
	struct shm_nic *n = eng_nic_priv(nic);

	link_wake(n->link);
}
