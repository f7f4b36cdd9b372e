// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Connections by the numbers of queue pairs, without librdmacm, as of a RoCE device.  The
 * id of such a connection is no more than a place for the device and the queue pair.
 */
#include "end.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT	1

bool end_is_number(const char *address)
{
	return strchr(address, '#');
}

/* The index of the GID that an address of IPv4 is, or -1. */
static int gid_of(struct ibv_context *v, const struct in_addr *address)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	int i;

	if (ibv_query_port(v, PORT, &port))
		return -1;
	for (i = 0; i < port.gid_tbl_len; i++)
		if (!ibv_query_gid(v, PORT, i, &gid) && !gid.raw[0] &&
		    gid.raw[11] == 0xff && !memcmp(gid.raw + 12, address, 4))
			return i;
	return -1;
}

/* roce0#3, roce0#10.0.0.1 */
static struct ibv_context *device(const char *address, int *gid)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **d;
	struct ibv_context *found = NULL;
	char name[64], index[64];
	struct in_addr ip;

	if (!list || sscanf(address, "%63[^#]#%63s", name, index) != 2)
		return NULL;
	for (d = list; *d && !found; d++)
		if (!strcmp(ibv_get_device_name(*d), name))
			found = ibv_open_device(*d);
	ibv_free_device_list(list);
	if (found)
		*gid = inet_pton(AF_INET, index, &ip) == 1 ?
		       gid_of(found, &ip) : atoi(index);
	return found;
}

/* Entry 0 keeps the device for all. */
static void place(struct end *e, const struct order *o, struct answer *a)
{
	struct conn *c = end_unused(e, a, o->op != OP_OPEN);
	int gid = 0;

	if (!c)
		return;
	c->id = calloc(1, sizeof(*c->id));
	c->number = true;
	if (c->id && o->op == OP_OPEN)
		c->id->verbs = device(o->address, &gid);
	else if (c->id)
		c->id->verbs = e->conn[0].id->verbs;
	a->rc = c->id && c->id->verbs && gid >= 0 ? 0 : -ENODEV;
	if (a->rc) {
		rdma_destroy_event_channel(c->events);
		free(c->id);
		memset(c, 0, sizeof(*c));
		return;
	}
	c->id->port_num = PORT;
	c->gid = o->op == OP_OPEN ? gid : e->conn[0].gid;
}

/* In INIT, as one of librdmacm. */
int number_qp(struct conn *c, struct ibv_pd *pd, struct ibv_qp_init_attr *init,
	      uint8_t *gid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
	};
	union ibv_gid own;
	int rc;

	c->id->qp = ibv_create_qp(pd, init);
	if (!c->id->qp)
		return -errno;
	rc = ibv_modify_qp(c->id->qp, &attr, IBV_QP_STATE | IBV_QP_PORT |
			   IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS);
	if (!rc && ibv_query_gid(c->id->verbs, PORT, c->gid, &own))
		rc = errno;
	memcpy(gid, own.raw, sizeof(own.raw));
	return end_rc(rc);
}

void number_drop(struct conn *c)
{
	free(c->id);
}

/* flags: 0 to RTS, else no further than RTR. */
static void meet(const struct order *o, struct conn *c, struct answer *a)
{
	struct ibv_qp_attr attr = {
		.path_mtu = IBV_MTU_1024, .dest_qp_num = o->n,
		.max_dest_rd_atomic = o->offer.ird,
		.max_rd_atomic = o->offer.ord, .min_rnr_timer = 12,
		.timeout = 14, .retry_cnt = 7,
		.rnr_retry = o->offer.rnr_retry,
		.ah_attr = {
			.is_global = 1, .port_num = PORT,
			.grh = { .hop_limit = 64, .sgid_index = c->gid },
		},
	};
	int rc;

	memcpy(attr.ah_attr.grh.dgid.raw, o->gid, sizeof(o->gid));
	attr.qp_state = IBV_QPS_RTR;
	rc = ibv_modify_qp(c->id->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			   IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	if (!rc && !o->flags)
		rc = ibv_modify_qp(c->id->qp, &attr, IBV_QP_STATE |
				   IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				   IBV_QP_MAX_QP_RD_ATOMIC);
	a->rc = end_rc(rc);
}

static void again(struct conn *c, struct answer *a)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ,
	};

	a->rc = end_rc(ibv_modify_qp(c->id->qp, &attr, IBV_QP_STATE |
				     IBV_QP_PORT | IBV_QP_PKEY_INDEX |
				     IBV_QP_ACCESS_FLAGS));
}

bool end_number(struct end *e, const struct order *o, struct answer *a)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct conn *c = o->conn < MAX_CONNS ? &e->conn[o->conn] : NULL;

	switch (o->op) {
	case OP_OPEN:
	case OP_RESOLVE:
		if (!end_is_number(o->address))
			return false;
		place(e, o, a);
		return true;
	case OP_MEET:
	case OP_INIT:
	case OP_DISCONNECT:
		if (!c || !c->number || !c->id->qp)
			return false;
		if (o->op == OP_MEET)
			meet(o, c, a);
		else if (o->op == OP_INIT)
			again(c, a);
		else
			a->rc = end_rc(ibv_modify_qp(c->id->qp, &error,
						     IBV_QP_STATE));
		return true;
	default:
		return false;
	}
}
