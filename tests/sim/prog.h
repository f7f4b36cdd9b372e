/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What programs in scenarios do: VIs, work queues, connections, by the ABI of
 * include/uapi/via.h.  All of it runs in threads of processes (sim_thread()).
 * Descriptors lie in memory of the NIC handle that is registered as a whole.
 */
#ifndef SIM_PROG_H
#define SIM_PROG_H

#include "hosts.h"

#define PROG_DESCS	64		/* of each queue of a VI */

struct prog_nic {
	struct file *file;		/* or ERR_PTR() */
	struct via_ctl *ctl;
	char *mem;			/* registered; prog_buffer() */
	size_t bytes, used;
	u32 handle;
	struct via_hello hello;
};

/* A descriptor as libvipl hands it to the kernel, and a queue's own words. */
struct prog_queue {
	struct via_queue_user *prog;
	struct via_queue_kern *kern;
	struct via_slot *slots;
	struct via_completion *comp;
	u32 mask;			/* slots - 1 */
	u32 tail, collected;
};

struct prog_vi {
	struct prog_nic *nic;
	u32 id;
	u64 map_at, map_size;		/* what CREATE told */
	struct via_vi_shared *shared;
	struct prog_queue q[2];		/* send, receive */
	u64 sent, received;		/* messages: prog_send(), prog_recv() */
	u32 immediate;			/* of the next descriptor; 0: its number */
	bool halves;			/* sends have two segments */
	bool hold;			/* posts ring no doorbell */
};

struct prog_done {
	u32 status, length, immediate;
	void *desc;
};

/* 0, or what the kernel said first: -errno or VIA_R_*. */
int prog_open(struct prog_nic *n, const char *node, size_t bytes);
/* The same with one VI, or with several more; both must be there. */
void prog_open_vi(struct prog_nic *n, struct prog_vi *v, const char *node,
		  size_t bytes, u32 level);
void prog_vis(struct prog_vi *v, u32 count, struct prog_nic *n, u32 level);
void prog_close(struct prog_nic *n);	/* munmap and close: all of it ends */
/* Room in the registered memory; cleared. */
void *prog_buffer(struct prog_nic *n, size_t bytes);
int prog_register(struct prog_nic *n, void *p, size_t bytes, u32 rights,
		  u32 *handle);
int prog_deregister(struct prog_nic *n, void *p, u32 handle);

/* By the dice: any level, or one of the reliable ones. */
u32 prog_level(void);
u32 prog_reliable(void);
extern u32 prog_max_transfer;		/* of VIs made from now on */
int prog_vi(struct prog_vi *v, struct prog_nic *n, u32 level, u32 send_cq,
	    u32 recv_cq);
int prog_vi_rights(struct prog_vi *v, struct prog_nic *n, u32 level,
		   u32 send_cq, u32 recv_cq, u32 rights);
/* A VI whose queues have VIA_VI_FEW slots, and more of them for one queue. */
int prog_vi_few(struct prog_vi *v, struct prog_nic *n, u32 level, u32 send_cq,
		u32 recv_cq);
long prog_grow(struct prog_vi *v, bool recv, u32 entries);
int prog_vi_destroy(struct prog_vi *v);	/* unmaps when it succeeds */
u32 prog_state(struct prog_vi *v);

/* Posts; the trap is made as libvipl makes it. */
void prog_post_send(struct prog_vi *v, const void *p, u32 n);
void prog_post_write(struct prog_vi *v, const void *p, u32 n, u64 raddr,
		     u32 rhandle);
void prog_post_read(struct prog_vi *v, void *p, u32 n, u64 raddr, u32 rhandle);
void prog_post_recv(struct prog_vi *v, void *p, u32 n);
/* Any control, any segment. */
void prog_post(struct prog_vi *v, bool recv, u16 control, const void *p, u32 n,
	       u32 handle, u64 raddr, u32 rhandle);

/*
 * Its halves, for threads that share a queue: one at a time puts, then any rings
 * the doorbell if the kernel is to hear it.
 */
void prog_put(struct prog_vi *v, bool recv, u16 control, const void *p, u32 n,
	      u32 handle, u64 raddr, u32 rhandle);
void prog_ring(struct prog_vi *v, bool recv);

/* 1: one was taken, 0: none. */
int prog_done(struct prog_vi *v, bool recv, struct prog_done *d);
/* The same, of a program that spins; the @i-th look in vain: as libvipl's. */
int prog_look(struct prog_vi *v, bool recv, u32 i, struct prog_done *d);
/* 0, VIA_R_TIMEOUT, or -errno; @ns may be VIA_FOREVER. */
int prog_wait(struct prog_vi *v, bool recv, u64 ns, struct prog_done *d);

/* The same where nothing else than success will do. */
struct prog_done prog_good(struct prog_vi *v, bool recv, u64 ns);

/* Messages with their number and length in them, checked on arrival. */
void prog_fill(void *p, u32 n, u64 stream, u64 number);
bool prog_filled(const void *p, u32 n, u64 stream, u64 number);

/* A completion queue. */
struct prog_cq {
	struct prog_nic *nic;
	u32 id, entries, head;
	struct via_cq_shared *shared;
	struct via_cq_entry *slots;
};

int prog_cq(struct prog_cq *c, struct prog_nic *n, u32 entries);
int prog_cq_destroy(struct prog_cq *c);
int prog_cq_done(struct prog_cq *c, u32 *vi, bool *recv);
int prog_cq_wait(struct prog_cq *c, u64 ns, u32 *vi, bool *recv);

/* Connections.  Results: 0, VIA_R_* or -errno. */
void prog_addr(struct via_net_addr *a, const void *host, const char *disc);
int prog_request(struct prog_vi *v, const void *host, const char *disc,
		 u64 ns);
int prog_p2p(struct prog_vi *v, const void *host, const char *disc, u64 ns);
/* Halves of them: start, then the verdict. */
int prog_request_start(struct prog_vi *v, const void *host, const char *disc,
		       u64 ns, bool peer);
int prog_result(struct prog_vi *v, u32 flags);
/* Again as long as no server waits there. */
int prog_request_served(struct prog_vi *v, const void *host, const char *disc,
			u64 ns);
/* Asks that server, or is it (@host is NULL), until the two are connected. */
void prog_connect(struct prog_vi *v, const void *host, const char *disc,
		  u64 ns);
/* Joins two VIs of the calling thread. */
int prog_meet(struct prog_vi *a, struct prog_vi *b, const char *disc);
/* Requests are kept, @backlog at once; 0: no more. */
int prog_listen(struct prog_nic *n, const char *disc, u32 backlog);
/* The id of a request that came. */
int prog_conn_wait(struct prog_nic *n, const char *disc, u64 ns, u32 *conn);
/* A wait that a signal leaves behind: its id. */
u32 prog_leave_waiter(struct prog_nic *n, const char *disc);
int prog_accept_start(struct prog_vi *v, u32 conn);
int prog_reject(struct prog_nic *n, u32 conn);
/* Wait, accept, verdict. */
int prog_accept(struct prog_vi *v, const char *disc, u64 ns);
int prog_disconnect(struct prog_vi *v);

/* Asks for counters (VIA_STATS_*), for a name, and looks at no answer. */
void prog_stats(struct prog_nic *n, u32 kind);
void prog_names(struct prog_nic *n);
/* The counter of its NIC that has this name. */
u64 prog_counter(struct prog_nic *n, const char *name);
/* The next event; -EAGAIN: none. */
int prog_event(struct prog_nic *n, struct via_event *ev);

#define MS		1000000ull
#define SEC		1000000000ull

#endif
