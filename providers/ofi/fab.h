/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef OFI_FAB_H
#define OFI_FAB_H

/*
 * An endpoint of libfabric: messages of a few KiB, received into buffers of
 * this file's own, and reads of the memory that another end exported. Nothing
 * here knows of VIs.
 *
 * One thread at a time (the engine lock), except fab_fd().
 */
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "load.h"

#define FAB_MSG		8448		/* bytes of a message, at most */
#define FAB_NAME_MAX	128		/* bytes of an address */

struct fab;

enum fab_kind {
	FAB_RECV,
	FAB_SEND,
	FAB_READ,
};

/* The context of an operation of libfabric. */
struct fab_op {
	struct fi_context2 context;	/* some providers' own */
	enum fab_kind kind;
};

/* A buffer: posted, or with a message in it, or free. */
struct fab_slot {
	struct fab_op op;
	struct fab_slot *next;		/* of the free ones */
	uint64_t owner;			/* of a send */
	void *desc;			/* of its registration, or NULL */
	uint8_t *data;			/* FAB_MSG bytes */
};

/* A read in flight; the caller's, until done. */
struct fab_read {
	struct fab_op op;
	struct fid_mr *local;		/* where providers want that */
	void *owner;
};

/* A range of memory that other ends can read. */
struct fab_mr {
	struct fid_mr *mr;
	uint64_t base, key;
};

/* Events, from inside fab_progress(). */
struct fab_events {
	/* A message; data is valid until it returns. */
	void (*message)(void *arg, const uint8_t *data, size_t len);
	void (*read_done)(void *arg, struct fab_read *read, int err);
	/* A message could not be sent: the other end is lost. */
	void (*send_failed)(void *arg, uint64_t owner, int err);
};

/* Operations of libfabric at an address: see fab_remove(). */
struct fab_known {
	uint8_t doubt;			/* the last try to send there failed */
	uint32_t kept;			/* insertions that were not taken back */
};

struct fab {
	const struct ofi_lib *lib;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int fd;				/* of the CQ, or -1 */
	const struct fab_events *events;
	void *arg;			/* of events */

	struct fab_known *known;	/* by fi_addr_t; ofi_rxm alone */
	size_t knowns;			/* entries of it */

	struct fab_block *blocks;	/* of slots, all there are */
	struct fab_slot *idle;		/* receive slots not posted */
	struct fab_slot *send;		/* send slots not in use */
	uint32_t posted;		/* receive slots posted */
	uint32_t wanted;		/* that should be posted */
	uint64_t next_key;		/* mixed into keys */
	size_t inject;			/* bytes sent without a completion */
	uint8_t *scratch;		/* FAB_MSG bytes */
};

/* The device to open: libfabric's names of it. */
struct fab_device {
	const char *provider;		/* "tcp;ofi_rxm" */
	const char *node;		/* address in writing, or NULL */
	const char *domain;		/* device or interface, or NULL */
};

/* 0 or a negative errno, with a line in why. */
int fab_open(struct fab *f, const struct ofi_lib *lib,
	     const struct fab_device *device, const struct fab_events *events,
	     void *arg, char *why, size_t size);
void fab_close(struct fab *f);

/* fi_getinfo() as fab_open() asks it; to be freed by lib->freeinfo(). */
int fab_info(const struct ofi_lib *lib, const struct fab_device *device,
	     struct fi_info **info);

/* The address of this end, as other ends insert it; *len in and out. */
int fab_name(struct fab *f, void *name, size_t *len);
int fab_insert(struct fab *f, const void *name, fi_addr_t *addr);
/*
 * Close the connection to that address. reads: some are under way there; that
 * has to be so, and not only that their failure is not taken yet
 * (fab_doubts: progress until there is nothing to take).
 */
void fab_remove(struct fab *f, fi_addr_t addr, int reads);
int fab_doubts(const struct fab *f, fi_addr_t addr);

/* Have n more (fewer) receive buffers: 0 or -ENOMEM. */
int fab_grant(struct fab *f, uint32_t n);
void fab_ungrant(struct fab *f, uint32_t n);

/*
 * Send a message, at most FAB_MSG bytes, copied before it returns: 0, -EAGAIN
 * (again after some progress) or another errno.
 */
int fab_send(struct fab *f, fi_addr_t to, const struct iovec *iov,
	     unsigned int n, uint64_t owner);

/* Does exported memory stay there, whatever the program unmaps? */
int fab_pins(const struct fab *f);
int fab_export_mem(struct fab *f, const void *addr, size_t len,
		   struct fab_mr *mr);
void fab_unexport_mem(struct fab_mr *mr);
/* As fab_send(); read_done follows if it is 0. */
int fab_read_start(struct fab *f, fi_addr_t from, void *to, size_t len,
		   uint64_t base, uint64_t key, struct fab_read *read);
/* Bytes of one read, at most. */
size_t fab_read_max(const struct fab *f);

/* Take at most about that many completions; how many there were. */
unsigned int fab_progress(struct fab *f, unsigned int budget);
/* 0: fd may be waited for; otherwise there may be something to take. */
int fab_trywait(struct fab *f);

#endif /* OFI_FAB_H */
