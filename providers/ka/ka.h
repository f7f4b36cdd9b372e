/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef PROVIDERS_KA_H
#define PROVIDERS_KA_H

/*
 * The provider of the kernel agent: VI NICs that are device nodes. The
 * interface and its rules are the comment at the top of uapi/via.h.
 */

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <via.h>

#pragma GCC visibility push(default)
#include <vipl/provider.h>
#pragma GCC visibility pop

#include "../../vipl/list.h"
#include "../../vipl/lock.h"
#include "../attrs.h"

#define KA_MAC_LEN	6
#define KA_IPV4_LEN	4
#define KA_IPV6_LEN	16

/* The library's services for us; set before any operation is called. */
extern const struct vipl_host *ka_host;

/*
 * Locks, from the outside in: those of a VI's send queue and receive queue, of
 * a CQ, of a NIC. The library's nic lock is outside all of them.
 */

/* Ids of VIs and their handles, see ka_id.c. */
#define KA_IDS		65536u
#define KA_IDS_CHUNK	512u

struct ka_id {
	_Atomic(uintptr_t) handle;
	_Atomic uint32_t id;
};

struct ka_nic {
	int fd;
	int wake_fd;			/* an eventfd: ends event_wait */
	int spin;			/* more than one CPU: waits may spin */
	unsigned int ifindex;		/* 0: no network interface */
	void *ctl;			/* the control page */
	uint32_t desc;			/* limit of a work queue */
	uint32_t type;			/* VIA_NIC_* */
	uint32_t addr_len;		/* of every host that it can reach */
	uint8_t addr[VIA_ADDR_MAX];
	struct vipl_mutex lock;
	struct vipl_list cqs;		/* under lock: live ones */
	_Atomic int starts;		/* connections begun, no verdict yet */
	int patience;			/* ms to the next look; event_wait's */
	struct ka_id *_Atomic ids[KA_IDS / KA_IDS_CHUNK];
};

/*
 * One work queue: exactly what a post or a poll needs, in one cache line. The
 * rings are shared with the kernel; they become longer when a post wants that
 * (ka_queue_grow()), under the lock, as are mask, slots, comps and limit.
 */
struct ka_queue {
	struct vipl_mutex lock;
	_Atomic uint32_t tail;		/* posted; written under lock */
	_Atomic uint32_t collected;	/* returned; written under lock */
	uint32_t mask;			/* slots - 1 */
	uintptr_t handle;		/* of the VI; 0 when it is gone */
	struct via_vi_shared *_Atomic shared;
	struct via_slot *slots;
	struct via_completion *comps;
	uint32_t limit;			/* most that may be outstanding now */
	uint32_t id;			/* of the VI, as the kernel knows it */
	int fd;
	_Atomic uint32_t spin_ns;	/* how long a wait has paid to spin */
} __attribute__((aligned(64)));

/*
 * Address space that holds an object's mapped rings. It stays with the object
 * for good: when the rings go, zero pages take their place, so that a poll of
 * an object that is just being destroyed reads something, without a lock.
 */
struct ka_area {
	void *addr;
	size_t size;			/* bytes */
	int mapped;			/* rings are there */
};

struct ka_vi {
	struct ka_queue q[2];
	struct ka_area area;
	_Atomic int started;		/* one of nic->starts is its */
};

struct ka_cq {
	struct vipl_mutex lock;
	_Atomic uint32_t head;		/* written under lock */
	uint32_t mask;			/* under lock */
	uint32_t id;
	uintptr_t handle;		/* written under both locks */
	struct ka_nic *nic;
	struct via_cq_shared *_Atomic shared;	/* stays in a resize */
	struct via_cq_entry *entries;	/* under lock */
	_Atomic uint32_t spin_ns;
	struct ka_area area;
	void *ring, *old;		/* entries outside the area, or NULL; */
	size_t ring_size, old_size;	/* bytes; all under the nic lock */
	struct vipl_list link;		/* in nic->cqs */
} __attribute__((aligned(64)));

static inline struct ka_nic *ka_nic_priv(const struct vipl_nic *nic)
{
	return vipl_priv(nic);
}

static inline struct ka_vi *ka_vi_priv(const struct vipl_vi *vi)
{
	return vipl_priv(vi);
}

static inline struct ka_cq *ka_cq_priv(const struct vipl_cq *cq)
{
	return vipl_priv(cq);
}

/* The NIC of a VI or CQ. */
static inline struct ka_nic *ka_nic_of(const void *object)
{
	return ka_nic_priv(vipl_nic_of(object));
}

/* The doorbell. Returns VIA_TRAP_MORE, 0, or something negative. */
static inline long ka_trap(int fd, uint32_t op, uint32_t id)
{
#ifdef KA_TRAP
	/* tests/sim: the kernel is a part of the program. */
	return KA_TRAP(fd, op, id);
#elif defined(__x86_64__) && defined(__LP64__)
	long ret;

	__asm__ volatile("syscall"
			 : "=a" (ret)
			 : "0" ((long)SYS_lseek), "D" ((long)fd),
			   "S" (via_trap_arg(op, id)),
			   "d" ((long)VIA_TRAP_WHENCE)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__LP64__)
	return syscall(SYS_lseek, fd, via_trap_arg(op, id), VIA_TRAP_WHENCE);
#else
	struct via_trap trap = { .arg = via_trap_arg(op, id) };

	return ioctl(fd, VIA_IOC_TRAP, &trap);
#endif
}

/* Trap until the kernel has done all that it was asked to. */
static inline void ka_trap_all(int fd, uint32_t op, uint32_t id)
{
	while (ka_trap(fd, op, id) == VIA_TRAP_MORE)
		;
}

/*
 * Looking for frames where the kernel leaves that to programs that spin; see
 * "Polling" in uapi/via.h. Looks that found nothing, of this thread: at LOOKS of
 * them, or when the last trap showed that the kernel waits for them, the next
 * one is a trap.
 */
#define KA_LOOKS	32

extern __thread uint32_t ka_looks
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline int ka_look_due(void)
{
	return ++ka_looks >= KA_LOOKS;
}

void ka_look(const struct ka_nic *nic);

/* Words that the kernel and the program share. */
static inline uint32_t ka_load(const void *p)
{
	return atomic_load_explicit((const _Atomic uint32_t *)p,
				    memory_order_relaxed);
}

static inline uint32_t ka_load_acquire(const void *p)
{
	return atomic_load_explicit((const _Atomic uint32_t *)p,
				    memory_order_acquire);
}

/*
 * A load-acquire without a lock, from an area that may be remapped meanwhile
 * (struct ka_area). That is meant, and ThreadSanitizer, which takes mmap for
 * a store to the whole area, is not told.
 */
#if defined(__SANITIZE_THREAD__)
#define KA_TSAN	1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KA_TSAN	1
#endif
#endif
#ifdef KA_TSAN
__attribute__((noinline, unused, no_sanitize("thread")))
static uint32_t ka_peek(const void *p)
{
	return *(const volatile uint32_t *)p;
}
#else
static inline uint32_t ka_peek(const void *p)
{
	return ka_load_acquire(p);
}
#endif

static inline void ka_store_release(void *p, uint32_t v)
{
	atomic_store_explicit((_Atomic uint32_t *)p, v, memory_order_release);
}

/* A store with a full barrier after it; on x86 one instruction is both. */
static inline void ka_store_mb(void *p, uint32_t v)
{
	atomic_exchange_explicit((_Atomic uint32_t *)p, v,
				 memory_order_seq_cst);
#if !defined(__x86_64__) && !defined(__i386__)
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

VIP_RETURN ka_verdict(int ret);
void ka_event_wake(struct vipl_nic *nic);
/* An ioctl that signals do not end: 0, a verdict, or -1 with errno. */
int ka_ioctl(const struct ka_nic *nic, unsigned long cmd, void *arg);
VIP_RETURN ka_call(const struct ka_nic *nic, unsigned long cmd, void *arg);
void *ka_map(const struct ka_nic *nic, struct ka_area *area,
	     uint64_t offset, size_t size);
void ka_unmap(struct ka_area *area);
void ka_unmap_from(struct ka_area *area, size_t from);

/*
 * Sleep until *word differs from seen: a spin, then the kernel. Returns
 * VIP_SUCCESS (look again), VIP_TIMEOUT or VIP_INVALID_PARAMETER.
 */
struct ka_sleeper {
	const struct ka_nic *nic;
	uint32_t kind;			/* VIA_WAIT_* */
	uint32_t id;
	const void *word;
	uint32_t seen;
	uint64_t deadline;
	_Atomic uint32_t *spin_ns;
	uint32_t poll;			/* spinning includes ka_look() */
};

VIP_RETURN ka_sleep(const struct ka_sleeper *s);

/* ka_id.c */
int ka_id_room(struct ka_nic *nic, uint32_t id);
void ka_id_set(struct ka_nic *nic, uint32_t id, uintptr_t h);
VIP_VI_HANDLE ka_vi_by_id(const struct ka_nic *nic, uint32_t id);
void ka_id_free(struct ka_nic *nic);

/* ka_vi.c */
VIP_RETURN ka_vi_create(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *attrs,
			uint32_t ptag, struct vipl_cq *send_cq,
			struct vipl_cq *recv_cq);
void ka_vi_live(struct vipl_vi *vi, VIP_VI_HANDLE h);
VIP_RETURN ka_vi_retire(struct vipl_vi *vi);
VIP_RETURN ka_vi_destroy(struct vipl_vi *vi);
void ka_vi_release(struct vipl_vi *vi);
VIP_RETURN ka_vi_query(struct vipl_vi *vi, VIP_VI_STATE *state,
		       VIP_VI_ATTRIBUTES *attrs);
VIP_RETURN ka_vi_set(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *attrs,
		     uint32_t ptag);
int ka_queue_empty(struct vipl_vi *vi, int queue);
VIP_RETURN ka_queue_grow(struct vipl_vi *vi, int recv, uint32_t entries);
VIP_RETURN ka_vi_reserve(struct vipl_vi *vi, uint32_t sends,
			 uint32_t receives);

/* ka_queue.c */
VIP_RETURN ka_post_send(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
VIP_RETURN ka_post_recv(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
VIP_RETURN ka_send_done(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_DESCRIPTOR **desc);
VIP_RETURN ka_recv_done(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_DESCRIPTOR **desc);
VIP_RETURN ka_send_wait(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_ULONG timeout, VIP_DESCRIPTOR **desc);
VIP_RETURN ka_recv_wait(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_ULONG timeout, VIP_DESCRIPTOR **desc);
VIP_RETURN ka_vi_notify(struct vipl_vi *vi, int recv);

/* ka_cq.c */
VIP_RETURN ka_cq_create(struct vipl_cq *cq, VIP_ULONG entries);
void ka_cq_live(struct vipl_cq *cq, VIP_CQ_HANDLE h);
VIP_RETURN ka_cq_destroy(struct vipl_cq *cq);
VIP_RETURN ka_cq_resize(struct vipl_cq *cq, VIP_ULONG entries);
void ka_cq_release(struct vipl_cq *cq);
VIP_RETURN ka_cq_done(struct vipl_cq *cq, VIP_CQ_HANDLE h, VIP_VI_HANDLE *vi,
		      VIP_BOOLEAN *recv);
VIP_RETURN ka_cq_wait(struct vipl_cq *cq, VIP_CQ_HANDLE h, VIP_ULONG timeout,
		      VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv);
VIP_RETURN ka_cq_notify(struct vipl_cq *cq);
VIP_CQ_HANDLE ka_cq_by_id(struct ka_nic *nic, uint32_t id);

/* ka_conn.c */
VIP_RETURN ka_conn_wait(struct vipl_nic *nic, const struct vipl_addr *local,
			VIP_ULONG timeout, struct vipl_request *req);
VIP_RETURN ka_conn_accept(struct vipl_nic *nic, uint32_t conn,
			  struct vipl_vi *vi, const struct vipl_private *priv,
			  int *gone);
VIP_RETURN ka_conn_reject(struct vipl_nic *nic, uint32_t conn,
			  const struct vipl_private *priv);
VIP_RETURN ka_conn_request(struct vipl_vi *vi, const struct vipl_addr *local,
			   const struct vipl_addr *remote, VIP_ULONG timeout,
			   VIP_VI_ATTRIBUTES *attrs);
VIP_RETURN ka_peer_request(struct vipl_vi *vi, const struct vipl_addr *local,
			   const struct vipl_addr *remote, VIP_ULONG timeout);
VIP_RETURN ka_peer_result(struct vipl_vi *vi, int wait,
			  VIP_VI_ATTRIBUTES *attrs);
VIP_RETURN ka_disconnect(struct vipl_vi *vi);
VIP_RETURN ka_conn_request_start(struct vipl_vi *vi,
				 const struct vipl_addr *local,
				 const struct vipl_addr *remote,
				 VIP_ULONG timeout,
				 const struct vipl_private *priv);
VIP_RETURN ka_conn_accept_start(struct vipl_nic *nic, uint32_t conn,
				struct vipl_vi *vi,
				const struct vipl_private *priv, int *gone);
VIP_RETURN ka_conn_result(struct vipl_vi *vi, VIP_VI_ATTRIBUTES *attrs,
			  struct vipl_private *priv);
VIP_RETURN ka_conn_listen(struct vipl_nic *nic, const struct vipl_addr *local,
			  uint32_t backlog);
void ka_conn_ended(struct vipl_vi *vi);

/* ka_mac.c: "52:54:00:00:00:01" (or with '-'), nothing else; 0, or -1 */
int ka_mac_parse(const char *s, uint8_t mac[KA_MAC_LEN]);
int ka_addr_parse(struct vipl_nic *nic, const char *text, uint8_t *host);
void ka_addr_format(struct vipl_nic *nic, const uint8_t *host, char *text,
		    size_t size);

/* ka_name.c: names, and those on the wire */
VIP_RETURN ka_resolve(struct vipl_nic *nic, const char *name, VIP_ULONG index,
		      uint8_t *host);
VIP_RETURN ka_name_of(struct vipl_nic *nic, const uint8_t *host, char *name,
		      size_t size);
VIP_RETURN ka_discover(struct vipl_nic *nic, struct vipl_named *out,
		       uint32_t *n);

#endif /* PROVIDERS_KA_H */
