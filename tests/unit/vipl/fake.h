/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_UNIT_VIPL_FAKE_H
#define TESTS_UNIT_VIPL_FAKE_H

/*
 * A kernel agent made of nothing: the library is linked with open, mmap and
 * ioctl wrapped, and talks to this. It checks no more than the tests need; it
 * lets a test play the kernel's part, which is to complete descriptors, to
 * fill CQs and to send events. Doorbells go to a socket, which ignores them.
 */

#include <stdint.h>
#include <via.h>
#include <vipl.h>

#define FAKE_NODE	"via_fake"
#define FAKE_ENTRIES	1024u

/* What the agent knows of the newest VI, CQ and NIC handle. */
struct fake {
	int fd;
	int event_fd;
	unsigned int opens;
	unsigned int overruns;
	unsigned int waits;
	uint32_t next_id;
	uint32_t vi_id;
	uint32_t cq_id;
	uint32_t cq_entries;
	uint64_t last_overrun;
	struct via_vi_shared *vi;
	struct via_cq_shared *cq;
	struct via_cq_entry *ring;	/* of that CQ, now in use */
	struct via_cq_entry *spare;	/* and the one to come */
	uint32_t spare_entries;
	int no_spare;			/* mapping it fails */
	uint32_t reason;		/* next registration fails with it */
	int eintr;			/* so many waits end in EINTR */
	uint32_t ifindex;		/* of the NIC */
	uint32_t event_flags;		/* of the next events */
	uint32_t abi;			/* the version it speaks; 0: ours */
	int older;			/* it does not know VIA_IOC_CQ_RESIZE */
	int few;			/* its VIs begin with few slots */
	int no_growth;			/* and get no more for now */
	uint32_t grown;			/* how often they got more */
	uint32_t entries[2];		/* slots of a VI's queues */
	uint64_t request_ns;		/* timeout of the last attempt */
};

extern struct fake fake;

void fake_state(uint32_t state);
struct via_slot *fake_slot(int recv, uint32_t index);
/* Complete the descriptor at the kernel's head of a queue. */
void fake_complete(int recv, uint32_t status, uint32_t length,
		   uint32_t immediate);
void fake_complete_on(struct via_vi_shared *vi, int recv, uint32_t status,
		      uint32_t length, uint32_t immediate);
void fake_cq_put(uint32_t vi, int recv);
void fake_event(uint32_t code, uint32_t vi, uint64_t desc);
/* Events that the library has not taken. */
int fake_unread(void);

#endif /* TESTS_UNIT_VIPL_FAKE_H */
