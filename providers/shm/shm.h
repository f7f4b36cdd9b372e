/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef SHM_SHM_H
#define SHM_SHM_H

/*
 * shm - VIA between processes of one user on one host, without a module
 *
 * Links (providers/link) find the other process and tell of its end. Packets
 * go through rings (ring.h). Bytes that a peer pulls are copied once, from
 * process to process, where the kernel allows it, else through the ring
 * (pull.c). All of it is guarded by the engine's lock, but what two processes
 * share; see ring.h.
 */
#include "link.h"
#include "ring.h"

#define SHM_VERSION	2u		/* of hellos and rings */
#define SHM_ADDR_LEN	16u		/* bytes of a host address */
#define SHM_POLLED	16u		/* rings that are always looked at */
#define SHM_REQUESTS	32u		/* pulls of a peer under way */

struct shm_peer;

/* Bytes that peers may ask for through the ring. */
struct shm_export {
	const void *addr;
	uint64_t len;			/* bytes; 0: free */
	struct shm_peer *peer;
	uint32_t gen;
	uint32_t next;			/* free ones */
};

struct shm_nic {
	struct eng_nic *nic;
	struct link *link;
	struct link_conf conf;
	char space[32], name[VIPL_NAME_MAX + 1];
	uint8_t addr[SHM_ADDR_LEN];
	uint64_t *nonce;		/* two, in a page that no child has */
	int pull;			/* enum shm_pull_mode */

	struct status *status;
	struct doorbell *doorbell;
	int status_file, doorbell_file;
	uint32_t sleeps;		/* status->sleeps */
	int look;			/* sockets may have something */
	uint32_t calls;			/* of progress; the link's turn */
	uint32_t turn;			/* polls until all is looked at */
	uint32_t sweep;			/* the idle ring to look at next */

	struct shm_peer *slot[DOORBELL_SLOTS];
	uint32_t slots;			/* as many as were ever used */
	uint32_t slot_hint;		/* none below it is free */
	struct shm_peer *polled[SHM_POLLED];
	uint32_t npolled;
	struct shm_peer *work;		/* see shm_peer.working */
	struct shm_peer *unsent;	/* whose ring's file can be closed */

	struct shm_export *export;
	uint32_t exports, export_free;	/* export_free: index + 1, or 0 */
};

/* The rest to send of a pull that a peer has asked for. */
struct shm_answer {
	struct shm_answer *next;
	uint64_t id;			/* the peer's */
	uint64_t done, len;		/* bytes */
	uint32_t nsrc;
	struct eng_src src[];
};

struct shm_peer {
	struct eng_peer *peer;
	struct shm_nic *n;
	struct link_peer *lp;		/* NULL: the link has no such peer */
	struct ring_in in;
	struct ring_out out;
	struct status *status;		/* the peer's; read only */
	struct doorbell *doorbell;	/* the peer's */
	uint32_t bit;			/* of out, in the peer's doorbell */
	uint32_t slot;			/* of in, in the NIC's; + 1, or 0 */
	uint32_t woken;			/* status->sleeps of the last wake-up */
	int ring_file;			/* of in, until the hello is sent */
	struct shm_peer *next_unsent;
	uint8_t up;
	uint8_t is_polled;
	uint8_t starves;		/* waits for room in out */
	uint8_t working;		/* on the list nic.work */
	uint8_t bad;			/* broke the rules */
	uint32_t idle;			/* empty polls in a row */
	uint32_t seen;			/* in.head at the last look */
	struct shm_peer *next_work;

	pid_t pid;			/* 0: cannot be read */
	uint64_t nonce_at;		/* address in the peer's memory */
	uint64_t nonce[2];		/* which must be there */
	uint64_t requests;		/* pulls asked for, ever: ids */
	uint32_t asked;			/* of pulls, through the ring */
	struct eng_pull *pulls, **pulls_end;	/* under way, oldest first */
	struct shm_answer *answers, **answers_end;
	uint32_t answering;
};

enum shm_pull_mode {
	SHM_PULL_AUTO,
	SHM_PULL_BOUNCE,		/* never read the other process */
};

extern const struct vipl_host *shm_host;

/* fast.c: what the engine has for any message, for short ones */
VIP_RETURN shm_post_send(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
VIP_RETURN shm_post_recv(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
VIP_RETURN shm_send_done(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **out);
VIP_RETURN shm_recv_done(struct vipl_vi *vi, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **out);

/* nic.c */
void shm_work(struct shm_peer *p);
void shm_poll_start(struct shm_peer *p);
void shm_poll_stop(struct shm_peer *p);

/* peer.c */
extern const struct link_ops shm_link_ops;
int shm_handshake(struct eng_peer *peer, const struct vipl_addr *remote);
void shm_peer_release(struct eng_peer *peer);
int shm_xmit(struct eng_peer *peer, const struct eng_header *h,
	     const struct iovec *payload, unsigned int n);
/* Take what is in its ring; returns how many packets. */
int shm_poll(struct shm_peer *p, int most);
/* Tell the peer that there is something in its ring. */
void shm_ring_doorbell(struct shm_peer *p);
/* There was no room: 1 if there is now, else the peer starves. */
int shm_starve(struct shm_peer *p, uint32_t lines);
/* Is there enough room again? resume: then it starves no more. */
int shm_has_room(const struct shm_peer *p);
int shm_resume(struct shm_peer *p);
void shm_close_unsent(struct shm_nic *n);
/* The peer is lost: drains its ring, ends everything. */
void shm_lose(struct shm_peer *p, int err);

/* pull.c */
int shm_pull(struct eng_peer *peer, struct eng_pull *pull);
int shm_export_mem(struct eng_peer *peer, void *region, const void *addr,
		   size_t len, struct eng_src *src);
void shm_unexport_mem(struct eng_peer *peer, const struct eng_src *src);
/* Go on with pulls and answers; returns how many things it did. */
int shm_pull_work(struct shm_peer *p);
int shm_pull_pending(const struct shm_peer *p);
/* A RING_PULL or RING_DATA; a negative errno: the peer lies. */
int shm_pull_took(struct shm_peer *p, enum ring_type type,
		  const uint8_t *bytes, uint32_t len);
/* May the peer's memory be read? Its hello says where nonces are. */
void shm_probe(struct shm_peer *p, uint64_t at, const uint64_t *nonce);
void shm_pulls_end(struct shm_peer *p, int err);

/* map.c */
/* Memory of that size for others to map: its file, or a negative errno. */
int shm_map_new(const char *name, size_t size, int read_only, void **out);
/* A file of a peer's: NULL if it is not what it should be. */
void *shm_map_theirs(int file, size_t size, int read_only);
void shm_unmap(void *p, size_t size);

/* name.c */
int shm_names(struct shm_nic *n, const char *rest);
void shm_provider_names(struct vipl_provider *p);

#endif /* SHM_SHM_H */
