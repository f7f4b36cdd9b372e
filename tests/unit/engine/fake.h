/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef UNIT_ENGINE_FAKE_H
#define UNIT_ENGINE_FAKE_H

/*
 * A library and a transport that the test holds both ends of: packets that the
 * engine sends are in fake_sent[], packets for it are given to fake_arrive().
 */
#include "eng.h"

struct object {
	struct vipl_object o;		/* struct vipl_nic, _vi or _cq */
};

#define FAKE_SENT	4096u

struct sent {
	struct eng_wire h;
	uint32_t len;
	unsigned char data[512];	/* the first bytes */
};

extern struct vipl_provider fake;
extern struct sent fake_sent[FAKE_SENT];
extern unsigned int fake_nsent;		/* counts on, modulo FAKE_SENT */
extern unsigned int fake_events[16];	/* by code, of errors */
extern int fake_full;			/* xmit returns -EAGAIN */
extern int fake_slow;			/* pulls stay until fake_pull_end() */
extern int fake_no_files;			/* what is waited for is refused */
extern unsigned int fake_exported;	/* exports that are not ended */
extern struct eng_peer *fake_peer;	/* the one peer, or NULL */

struct object *fake_new(struct vipl_nic *nic, size_t size);
void fake_free(struct object *o);
struct vipl_nic *fake_open(void);
void fake_close(struct vipl_nic *nic);
/* A packet arrives; the engine takes it at once. */
void fake_arrive(struct vipl_nic *nic, const struct eng_wire *h,
		 const void *data, size_t len);
/* All pulls that wait end. */
void fake_pull_end(struct vipl_nic *nic, int err);
/* The last packet of a kind that was sent, or NULL. */
struct sent *fake_last(uint8_t op);

#endif
