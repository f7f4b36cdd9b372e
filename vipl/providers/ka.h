/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_PROVIDERS_KA_H
#define VIPL_PROVIDERS_KA_H

/*
 * The provider of the kernel agent: VI NICs that are device nodes. The
 * interface and its rules are the comment at the top of uapi/via.h.
 */

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <via.h>

#include "../provider.h"

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

void ka_look(const struct vipl_nic *nic);

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
 * (struct vipl_area). That is meant, and ThreadSanitizer, which takes mmap for
 * a store to the whole area, is not told.
 */
#if defined(__SANITIZE_THREAD__)
#define VIPL_TSAN	1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VIPL_TSAN	1
#endif
#endif
#ifdef VIPL_TSAN
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

int ka_ioctl(const struct vipl_nic *nic, unsigned long cmd, void *arg);
VIP_RETURN ka_verdict(int ret);
VIP_RETURN ka_call(const struct vipl_nic *nic, unsigned long cmd, void *arg);
void *ka_map(const struct vipl_nic *nic, struct vipl_area *area,
	     uint64_t offset, size_t size);
void ka_unmap(struct vipl_area *area);
void ka_unmap_from(struct vipl_area *area, size_t from);
uint32_t ka_rights(VIP_BOOLEAN write, VIP_BOOLEAN read);
void ka_attrs(const struct via_vi_attrs *a, VIP_VI_ATTRIBUTES *out);

/*
 * Sleep until *word differs from seen: a spin, then the kernel. Returns
 * VIP_SUCCESS (look again), VIP_TIMEOUT or VIP_INVALID_PARAMETER.
 */
struct ka_sleep {
	const struct vipl_nic *nic;
	uint32_t kind;			/* VIA_WAIT_* */
	uint32_t id;
	const void *word;
	uint32_t seen;
	uint64_t deadline;
	_Atomic uint32_t *spin_ns;
	uint32_t poll;			/* spinning includes ka_look() */
};

VIP_RETURN ka_sleep(const struct ka_sleep *s);

/* ka_vi.c */
VIP_RETURN ka_vi_create(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *attrs,
			uint32_t ptag);
VIP_RETURN ka_vi_destroy(struct vipl_vi *vi);
void ka_vi_release(struct vipl_vi *vi);
VIP_RETURN ka_vi_query(struct vipl_vi *vi, VIP_VI_STATE *state,
		       VIP_VI_ATTRIBUTES *attrs);
VIP_RETURN ka_vi_set(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *attrs,
		     uint32_t ptag);
int ka_vi_outstanding(struct vipl_vi *vi);

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
VIP_RETURN ka_cq_destroy(struct vipl_cq *cq);
VIP_RETURN ka_cq_resize(struct vipl_cq *cq, VIP_ULONG entries);
void ka_cq_release(struct vipl_cq *cq);
VIP_RETURN ka_cq_done(struct vipl_cq *cq, VIP_CQ_HANDLE h, VIP_VI_HANDLE *vi,
		      VIP_BOOLEAN *recv);
VIP_RETURN ka_cq_wait(struct vipl_cq *cq, VIP_CQ_HANDLE h, VIP_ULONG timeout,
		      VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv);

VIP_RETURN ka_cq_notify(struct vipl_cq *cq);

/* ka_name.c */
VIP_RETURN ka_name_query(struct vipl_nic *nic, const char *name,
			 const uint8_t *host, struct vipl_named *out,
			 uint32_t *n);

/* ka_conn.c */
VIP_RETURN ka_conn_wait(struct vipl_nic *nic, const struct vipl_addr *local,
			VIP_ULONG timeout, struct vipl_request *req);
VIP_RETURN ka_conn_accept(struct vipl_nic *nic, uint32_t conn,
			  struct vipl_vi *vi, int *gone);
VIP_RETURN ka_conn_reject(struct vipl_nic *nic, uint32_t conn);
VIP_RETURN ka_conn_request(struct vipl_vi *vi, const struct vipl_addr *local,
			   const struct vipl_addr *remote, VIP_ULONG timeout,
			   VIP_VI_ATTRIBUTES *attrs);
VIP_RETURN ka_peer_request(struct vipl_vi *vi, const struct vipl_addr *local,
			   const struct vipl_addr *remote, VIP_ULONG timeout);
VIP_RETURN ka_peer_result(struct vipl_vi *vi, int wait,
			  VIP_VI_ATTRIBUTES *attrs);
VIP_RETURN ka_disconnect(struct vipl_vi *vi);

#endif /* VIPL_PROVIDERS_KA_H */
