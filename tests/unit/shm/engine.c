// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* As much of an engine as the transport needs. */
#include "engine.h"
#include "unit.h"
#include <errno.h>
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned int pulls_ended;
int pull_err;
static struct { const struct eng_pull *pull; int err; } ended[64];
const char *conf_pull;

static int conf(const char *provider, const char *key, char *value,
		size_t size)
{
	if (strcmp(provider, "shm") || strcmp(key, "pull") || !conf_pull)
		return -1;
	snprintf(value, size, "%s", conf_pull);
	return 0;
}

static const struct vipl_host host = { .msg = unit_say, .conf = conf };
const struct vipl_host *shm_host = &host;

void *eng_nic_priv(struct eng_nic *n)
{
	return &n->shm;
}

void *eng_peer_priv(struct eng_peer *p)
{
	return &p->shm;
}

struct eng_nic *eng_peer_nic(struct eng_peer *p)
{
	return p->nic;
}

struct eng_peer *peer_new(struct eng_nic *n)
{
	struct eng_peer *p = calloc(1, sizeof(*p));

	p->nic = n;
	p->next = n->peers;
	n->peers = p;
	return p;
}

struct eng_peer *eng_peer_new(struct eng_nic *n, const uint8_t *addr)
{
	struct eng_peer *p = peer_new(n);

	CU_ASSERT(!memcmp(addr, n->shm.addr, SHM_ADDR_LEN));
	p->came = 1;
	return p;
}

void eng_peer_up(struct eng_peer *p)
{
	p->up++;
}

void eng_peer_same(struct eng_peer *p, struct eng_peer *as)
{
	p->same = as;
}

void eng_peer_down(struct eng_peer *p, int err)
{
	p->down++;
	p->err = err;
}

void eng_rx(struct eng_peer *p, const struct eng_header *h, const void *data,
	    size_t len)
{
	p->got++;
	p->bytes += len;
	if (p->nic->rx)
		p->nic->rx(p, h, data, len);
}

void eng_rx_plain(struct eng_peer *p, const struct eng_plain *plain,
		  const void *data, size_t len)
{
	struct eng_header h;

	memset(&h, 0, sizeof(h));
	memcpy(&h, plain, sizeof(*plain));
	eng_rx(p, &h, data, len);
}

void eng_room(struct eng_peer *p)
{
	p->room++;
}

void eng_pulled(struct eng_peer *p, struct eng_pull *pull, int err)
{
	(void)p;
	CU_ASSERT(!pull->transport);
	ended[pulls_ended % 64].pull = pull;
	ended[pulls_ended % 64].err = err;
	pulls_ended++;
	pull_err = err;
}

int pull_ended(const struct eng_pull *pull)
{
	unsigned int i;

	for (i = 0; i < pulls_ended && i < 64; i++)
		if (ended[i].pull == pull)
			return ended[i].err;
	return 1;
}

struct eng_nic *nic_new(const char *rest)
{
	struct eng_nic *n = calloc(1, sizeof(*n));
	struct vipl_identity id;

	memset(&id, 0, sizeof(id));
	CU_ASSERT_FATAL(shm_open_nic(n, rest, &id) == VIP_SUCCESS);
	CU_ASSERT(id.addr_len == SHM_ADDR_LEN);
	return n;
}

void nic_free(struct eng_nic *n)
{
	struct eng_peer *p;

	while ((p = n->peers)) {
		n->peers = p->next;
		shm_peer_release(p);
		free(p);
	}
	shm_close_nic(n);
	free(n);
}

struct eng_peer *nic_handshake(struct eng_nic *n, const char *disc)
{
	struct eng_peer *p = peer_new(n);
	struct vipl_addr a = {
		.host_len = SHM_ADDR_LEN,
		.disc_len = (uint16_t)strlen(disc),
	};
	int err;

	memcpy(a.host, n->shm.addr, SHM_ADDR_LEN);
	memcpy(a.disc, disc, a.disc_len);
	err = shm_handshake(p, &a);
	CU_ASSERT(!err || err == -ENOENT);
	if (err)
		eng_peer_down(p, err);
	return p;
}

void nic_wait_for(struct eng_nic *n, const char *disc)
{
	CU_ASSERT(!shm_waiting(n, (const uint8_t *)disc,
			       (uint32_t)strlen(disc), 1));
}
