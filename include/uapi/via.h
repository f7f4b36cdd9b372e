/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef _UAPI_VIA_H
#define _UAPI_VIA_H

/*
 * The interface between a VI NIC's device node and the user library.
 *
 * Opening
 * -------
 * Each VI NIC is one character device, /dev/via_lo or /dev/via_<interface>.
 * One open file is one NIC handle.  It belongs to the address space (mm) that
 * opened it: every call from another mm gets EPERM.  After open():
 *
 *   ioctl(VIA_IOC_HELLO)          check the ABI version, learn the limits
 *   mmap(VIA_MMAP_CTL, one page)  the control page: its last unmapping ends
 *                                 every object of the handle, as the exit of
 *                                 the process does; it is neither inherited
 *                                 by fork nor movable.
 *
 * Until the control page is mapped, every call that makes an object gets
 * ENXIO.  After it is unmapped (or VIA_IOC_SHUTDOWN) all calls get ESHUTDOWN.
 *
 * Return values
 * -------------
 * An ioctl returns 0, or a positive VIA_R_* code (equal to the VIP_RETURN of
 * the same name: a verdict about the program's request), or -1 with errno for
 * misuse of this interface and for signals (EINTR: call again).
 * Reserved fields and unknown flags must be zero, else EINVAL.
 *
 * Work queues
 * -----------
 * A VI has one shared area, mapped with the offset and size that
 * VIA_IOC_VI_CREATE returned:
 *
 *   struct via_vi_shared                        one page
 *   struct via_slot       send slots [entries]
 *   struct via_slot       receive slots [entries]
 *   struct via_completion send completions [entries]
 *   struct via_completion receive completions [entries]
 *
 * That is the area of a VI with VIA_VI_MOST entries.  A program that asks for
 * VIA_VI_FEW (VIA_IOC_VI_CREATE) gets an area of the same size, of which one
 * page is there: its rings of VIA_VI_FEW entries lie behind the structure
 * (VIA_VI_FEW_*).  VIA_IOC_VI_GROW gives one queue more: its ring begins where
 * it would with VIA_VI_MOST entries, and more growth leaves it there.  Pages
 * that no ring needs are not there; to touch them is SIGBUS.  Growth takes the
 * completions before done and the slots before tail along, as many as the old
 * ring has: index i is slot i & (entries - 1) before and after.  While a queue
 * grows the program posts nothing to it and takes nothing off it.
 *
 * Indexes run freely as 32 bits; a slot is index & (entries - 1).  For each
 * queue:    collected <= done <= tail,  tail - collected <= entries.
 *
 *   tail       written by the program: descriptors posted
 *   done       written by the kernel: descriptors completed, in order
 *   collected  written by the program: completions it has consumed; a slot
 *              and its completion word may be reused once collected
 *
 * Posting: fill slot[tail], then store-release tail + 1.  The slot is the
 * descriptor's control segment and first two segments; bytes 0..11 carry the
 * descriptor's own address and memory handle (struct via_slot).  The kernel
 * copies a slot once, validates the copy and never reads it again; segments
 * beyond the second it reads from the descriptor.
 *
 * When to trap (both queues: a full barrier stands between the store of tail
 * and these loads; it pairs with the kernel's barrier between its stores of
 * state or of BUSY and its re-read of tail):
 *
 *   state == VIA_STATE_ERROR           trap: the kernel flushes the descriptor
 *   send queue, BUSY clear             trap: VIA_OP_SEND
 *   receive queue                      no trap, unless the library can see
 *                                      that the descriptor is bad (VIA_OP_RECV
 *                                      asks the kernel to check early)
 *
 * A trap that returns VIA_TRAP_MORE did its bounded share of work; call it
 * again.
 *
 * Completions: load-acquire done; while it is ahead of collected, the word of
 * the head holds status, length and immediate data.  No trap is needed.
 *
 * Completion queues
 * -----------------
 *   struct via_cq_shared          one page
 *   struct via_cq_entry [entries]
 *
 * head is the program's, tail the kernel's; both run freely.  When the kernel
 * finds the ring full it sets VIA_CQ_OVERFLOW and leaves the notice in the
 * completion word (cq_seq); a program that finds the ring empty and the flag
 * set traps with VIA_OP_CQ, upon which the kernel refills the ring, in order:
 * 64 notices at most, then the trap returns VIA_TRAP_MORE.
 * A queue's done is always published before the CQ's entry.  A resize
 * (VIA_IOC_CQ_RESIZE) gives a CQ another array of entries; the page before it
 * stays where it is, and with it head and tail.
 *
 * Polling
 * -------
 * Where poll of a queue or CQ is not 0, its NIC lets programs that spin look
 * for frames themselves and does not interrupt meanwhile, or lets them look at
 * the time and starts no timer.  A look that finds nothing, which is to be
 * followed by another at once, may trap with VIA_OP_POLL (id: 0) and look again:
 *
 *   poll of the control page not 0     trap at each such look: no other thread
 *                                      may be looking
 *   else                               trap at one look in 32 or so.  The
 *                                      kernel sees by these traps that the
 *                                      program spins, and sets poll there
 *
 * The kernel clears poll of the control page when the program sleeps in
 * VIA_OP_WAIT_* or VIA_IOC_WAIT, asks for an event, or has not trapped for a
 * time: a millisecond at most, or eight where only timers wait.  Nothing is
 * lost by a look that does not trap, it is only later.
 *
 * The trap
 * --------
 * lseek(fd, via_trap_arg(op, id), VIA_TRAP_WHENCE) on LP64.  It is the
 * cheapest entry into the kernel that a module can own.  Other values of
 * whence do nothing and return 0.  Where off_t has 32 bits, VIA_IOC_TRAP.
 *
 * Events
 * ------
 * read() returns whole struct via_event records and blocks while there are
 * none (O_NONBLOCK: EAGAIN); 0 after shutdown.  poll() shows POLLIN.
 *
 * Asynchronous errors come unasked; when 256 have not been read, further ones
 * are lost.  VIA_ERR_CONN_LOST has the flag VIA_EVENT_F_ORDERLY when the peer
 * has left by itself: its program disconnected or ended, by a kill, too.  It
 * has no flag when the connection broke by an error of either side or of the
 * transport, or when nothing is known but that the peer is gone.
 *
 * VIA_OP_NOTIFY_* asks for one event (VIA_EVENT_*) when done of the queue has
 * passed collected (CQ: when there is something behind head), at once if that
 * is so.  It is only a hint to look: another thread may have collected
 * meanwhile.  Asking again before the event was read changes nothing.  It is
 * never lost; it goes with its queue.
 *
 * VIA_EVENT_CONN comes unasked when a request is kept for an address that the
 * handle listens on (VIA_IOC_CONN_LISTEN), one of each address at a time.  It is
 * a hint as well, and goes with the address.
 */

#include <linux/types.h>
#include <linux/ioctl.h>

#define VIA_ABI_VERSION		1

/* Verdicts: the values of VIP_RETURN. */
#define VIA_R_SUCCESS			0
#define VIA_R_NOT_DONE			1
#define VIA_R_INVALID_PARAMETER		2
#define VIA_R_ERROR_RESOURCE		3
#define VIA_R_TIMEOUT			4
#define VIA_R_REJECT			5
#define VIA_R_INVALID_RELIABILITY_LEVEL	6
#define VIA_R_INVALID_MTU		7
#define VIA_R_INVALID_QOS		8
#define VIA_R_INVALID_PTAG		9
#define VIA_R_INVALID_RDMAREAD		10
#define VIA_R_DESCRIPTOR_ERROR		11
#define VIA_R_INVALID_STATE		12
#define VIA_R_ERROR_NAMESERVICE		13
#define VIA_R_NO_MATCH			14
#define VIA_R_NOT_REACHABLE		15
#define VIA_R_NOT_SUPPORTED		16

/* VI states: the values of VIP_VI_STATE. */
#define VIA_STATE_IDLE			0
#define VIA_STATE_CONNECTED		1
#define VIA_STATE_PENDING		2
#define VIA_STATE_ERROR			3

/* Reliability levels: the bits of VIP_RELIABILITY_LEVEL. */
#define VIA_UNRELIABLE			0x01
#define VIA_RELIABLE_DELIVERY		0x02
#define VIA_RELIABLE_RECEPTION		0x04

/* Descriptor control and status bits: as VIP_CONTROL_*, VIP_STATUS_*. */
#define VIA_CTL_OP_SENDRECV		0x0000
#define VIA_CTL_OP_RDMAWRITE		0x0001
#define VIA_CTL_OP_RDMAREAD		0x0002
#define VIA_CTL_OP_MASK			0x0003
#define VIA_CTL_IMMEDIATE		0x0004
#define VIA_CTL_QFENCE			0x0008
#define VIA_CTL_RESERVED		0xfff0

#define VIA_ST_DONE			0x00000001
#define VIA_ST_FORMAT_ERROR		0x00000002
#define VIA_ST_PROTECTION_ERROR		0x00000004
#define VIA_ST_LENGTH_ERROR		0x00000008
#define VIA_ST_PARTIAL_ERROR		0x00000010
#define VIA_ST_DESC_FLUSHED_ERROR	0x00000020
#define VIA_ST_TRANSPORT_ERROR		0x00000040
#define VIA_ST_RDMA_PROT_ERROR		0x00000080
#define VIA_ST_REMOTE_DESC_ERROR	0x00000100
#define VIA_ST_ERROR_MASK		0x000001fe
#define VIA_ST_OP_SEND			0x00000000
#define VIA_ST_OP_RECEIVE		0x00010000
#define VIA_ST_OP_RDMA_WRITE		0x00020000
#define VIA_ST_OP_REMOTE_RDMA_WRITE	0x00030000
#define VIA_ST_OP_RDMA_READ		0x00040000
#define VIA_ST_OP_MASK			0x00070000
#define VIA_ST_IMMEDIATE		0x00080000

/* Asynchronous errors: the values of VIP_ERROR_CODE, VIP_RESOURCE_CODE. */
#define VIA_ERR_POST_DESC		0
#define VIA_ERR_CONN_LOST		1
#define VIA_ERR_RECVQ_EMPTY		2
#define VIA_ERR_VI_OVERRUN		3
#define VIA_ERR_RDMAW_PROT		4
#define VIA_ERR_RDMAW_DATA		5
#define VIA_ERR_RDMAW_ABORT		6
#define VIA_ERR_RDMAR_PROT		7
#define VIA_ERR_COMP_PROT		8
#define VIA_ERR_RDMA_TRANSPORT		9
#define VIA_ERR_CATASTROPHIC		10

/* Events that are no errors: a queue moved. */
#define VIA_EVENT_SEND			0x100
#define VIA_EVENT_RECV			0x101
#define VIA_EVENT_CQ			0x102
#define VIA_EVENT_CONN			0x103	/* a request is kept */

#define VIA_EVENT_F_ORDERLY		0x1	/* CONN_LOST: the peer left */

#define VIA_RES_NIC			0
#define VIA_RES_VI			1
#define VIA_RES_CQ			2
#define VIA_RES_DESCRIPTOR		3

#define VIA_ADDR_MAX			16	/* bytes of a host address */
#define VIA_DISC_MAX			64	/* bytes of a discriminator */
#define VIA_SEG_MAX			252	/* segments of a descriptor */
#define VIA_DESC_ALIGN			64	/* bytes */

/*
 * One work-queue slot: the first 64 bytes of a descriptor, with the two link
 * fields replaced.
 */
struct via_seg {
	__u64	addr;			/* local or remote virtual address */
	__u32	handle;			/* memory handle */
	__u32	len;			/* bytes; zero in an address segment */
};

struct via_slot {
	__u64	desc;			/* the descriptor's own address */
	__u32	desc_handle;		/* the handle of its memory */
	__u16	seg_count;
	__u16	control;		/* VIA_CTL_* */
	__u32	reserved;		/* zero */
	__u32	immediate;
	__u32	length;			/* bytes, sum of the local segments */
	__u32	status;			/* ignored */
	struct via_seg seg[2];
};

struct via_completion {
	__u32	status;			/* VIA_ST_*, DONE always set */
	__u32	length;			/* bytes moved */
	__u32	immediate;		/* valid with VIA_ST_IMMEDIATE */
	__u32	cq_seq;			/* place in the CQ's order */
};

/* Kernel-written part of one queue. */
struct via_queue_kern {
	__u32	done;
	__u32	flags;			/* VIA_Q_* */
	__u32	poll;			/* VIA_OP_POLL may find frames: constant */
	__u32	reserved[13];
};

/* Program-written part of one queue. */
struct via_queue_user {
	__u32	tail;
	__u32	collected;
	__u32	reserved[14];
};

#define VIA_Q_BUSY		0x1	/* kernel re-reads tail: no trap needed */

struct via_vi_shared {
	__u32	state;			/* VIA_STATE_*, kernel-written */
	__u32	entries;		/* per queue, as created; a power of two */
	__u32	reserved[14];
	struct via_queue_user	send_user;
	struct via_queue_kern	send_kern;
	struct via_queue_user	recv_user;
	struct via_queue_kern	recv_kern;
};

/* Byte offsets inside the VI area. */
#define VIA_VI_HDR_SIZE			4096u
#define VIA_VI_SEND_SLOTS		VIA_VI_HDR_SIZE
#define VIA_VI_RECV_SLOTS(n)		(VIA_VI_HDR_SIZE + (n) * 64u)
#define VIA_VI_SEND_COMP(n)		(VIA_VI_HDR_SIZE + (n) * 128u)
#define VIA_VI_RECV_COMP(n)		(VIA_VI_HDR_SIZE + (n) * 144u)
#define VIA_VI_SIZE(n)			(VIA_VI_HDR_SIZE + (n) * 160u)

#define VIA_VI_MOST			1024u	/* entries of a queue */
#define VIA_VI_FEW			16u
/* Where these lie. */
#define VIA_VI_FEW_SEND_SLOTS		512u
#define VIA_VI_FEW_RECV_SLOTS		1536u
#define VIA_VI_FEW_SEND_COMP		2560u
#define VIA_VI_FEW_RECV_COMP		2816u

struct via_cq_entry {
	__u32	vi;			/* VI id */
	__u32	recv;			/* 1: receive queue, 0: send queue */
};

struct via_cq_shared {
	__u32	tail;			/* kernel-written */
	__u32	flags;			/* VIA_CQ_*, kernel-written */
	__u32	entries;		/* a power of two */
	__u32	poll;			/* VIA_OP_POLL may find frames: constant */
	__u32	reserved[12];
	__u32	head;			/* program-written */
	__u32	reserved2[15];
};

#define VIA_CQ_OVERFLOW		0x1

#define VIA_CQ_HDR_SIZE			4096u
#define VIA_CQ_SIZE(n)			(VIA_CQ_HDR_SIZE + (n) * 8u)

/* The control page, read-only for the program. */
struct via_ctl {
	__u32	abi;			/* VIA_ABI_VERSION */
	__u32	flags;			/* VIA_CTL_DEAD */
	__u32	poll;			/* each empty look is to trap */
	__u32	reserved[13];
};

#define VIA_CTL_DEAD		0x1	/* handle shut down, or the NIC is gone */

#define VIA_MMAP_CTL		0	/* file offset of the control page */

/* The trap. */
#define VIA_TRAP_WHENCE		3	/* SEEK_DATA */
#define VIA_OP_NOP		0u
#define VIA_OP_SEND		1u	/* id: VI */
#define VIA_OP_RECV		2u	/* id: VI; flush, or check early */
#define VIA_OP_CQ		3u	/* id: CQ; refill after overflow */
#define VIA_OP_WAIT_SEND	4u	/* id: VI; these three sleep, with no */
#define VIA_OP_WAIT_RECV	5u	/* id: VI; time limit, until done has */
#define VIA_OP_WAIT_CQ		6u	/* id: CQ; passed collected (CQ: head), */
					/* or the queue is empty */
#define VIA_OP_NOTIFY_SEND	7u	/* id: VI; these three return at */
#define VIA_OP_NOTIFY_RECV	8u	/* id: VI; once, and one event */
#define VIA_OP_NOTIFY_CQ	9u	/* id: CQ; follows */
#define VIA_OP_POLL		10u	/* id: 0; look for frames */
#define VIA_TRAP_MORE		1	/* work is left: trap again */

static inline __u64 via_trap_arg(__u32 op, __u32 id)
{
	return ((__u64)op << 32) | id;
}

/* What VIA_IOC_HELLO tells. */
#define VIA_NIC_LOOPBACK	1
#define VIA_NIC_ETHERNET	2
#define VIA_NIC_UDP		3

struct via_hello {
	__u32	abi;			/* in: VIA_ABI_VERSION */
	__u32	flags;			/* in: zero */
	char	name[64];		/* out from here: node name */
	__u8	addr[VIA_ADDR_MAX];
	__u32	addr_len;		/* bytes */
	__u32	type;			/* VIA_NIC_* */
	__u32	ifindex;		/* of the interface, 0 for loopback */
	__u32	hw_version;
	__u32	drv_version;
	__u32	native_mtu;		/* payload bytes of one frame */
	__u32	reliability;		/* mask of levels */
	__u32	rdma_read;		/* mask of levels */
	__u32	max_disc_len;		/* bytes */
	__u32	max_vi;
	__u32	max_desc;		/* per queue */
	__u32	max_segs;		/* per descriptor */
	__u32	max_cq;
	__u32	max_cq_entries;
	__u32	max_transfer;		/* bytes of one message */
	__u32	max_ptags;
	__u32	max_regions;
	__u32	reserved;
	__u64	max_register_bytes;	/* in all regions of the handle */
	__u64	max_block_bytes;	/* in one region */
};

struct via_ptag_arg {
	__u32	ptag;			/* create: out; destroy: in */
	__u32	reserved;
};

/* Rights of a region or of a VI. */
#define VIA_RDMA_WRITE		0x1
#define VIA_RDMA_READ		0x2

#define VIA_REASON_NONE		0
#define VIA_REASON_MEMLOCK	1	/* RLIMIT_MEMLOCK too low */
#define VIA_REASON_USER_QUOTA	2	/* per-user limit of the module */

struct via_mem_register {
	__u64	addr;
	__u64	len;			/* bytes */
	__u32	ptag;			/* 0: the handle's default tag */
	__u32	rights;			/* VIA_RDMA_* */
	__u32	handle;			/* out, never 0 */
	__u32	reason;			/* out with ERROR_RESOURCE */
};

struct via_mem_deregister {
	__u64	addr;
	__u32	handle;
	__u32	reserved;
};

/* Query: ptag and rights are out; set: in, ptag 0 is the default tag. */
struct via_mem_attrs {
	__u64	addr;			/* in: start of the registration */
	__u32	handle;			/* in */
	__u32	ptag;
	__u32	rights;			/* VIA_RDMA_* */
	__u32	reserved;
};

struct via_vi_attrs {
	__u32	reliability;		/* exactly one level */
	__u32	ptag;			/* 0: the default tag, any region */
	__u32	max_transfer;		/* bytes */
	__u32	rights;			/* VIA_RDMA_* */
};

struct via_vi_create {
	struct via_vi_attrs attrs;	/* in */
	__u32	send_cq;		/* in: CQ id or 0 */
	__u32	recv_cq;		/* in: CQ id or 0 */
	__u32	vi;			/* out: id, never 0; bits 0..15 unique */
	__u32	entries;		/* in: VIA_VI_FEW, else VIA_VI_MOST; */
					/* out: slots per queue */
	__u64	mmap_offset;		/* out */
	__u64	mmap_size;		/* out, bytes */
};

struct via_vi_arg {
	__u32	vi;
	__u32	reserved;
};

/*
 * More slots for one queue of a VI in any state.  SUCCESS, also where it has as
 * many already; INVALID_PARAMETER: no such VI, or more than VIA_VI_MOST;
 * ERROR_RESOURCE: no memory, or the user's quota.  Nothing has changed then.
 */
struct via_vi_grow {
	__u32	vi;
	__u32	recv;			/* 1: receive queue, 0: send queue */
	__u32	entries;		/* in: wanted; out: slots, >= wanted */
	__u32	reserved;
};

struct via_vi_query {
	__u32	vi;			/* in */
	__u32	state;			/* out: VIA_STATE_* */
	struct via_vi_attrs attrs;	/* out */
	__u32	send_cq;		/* out */
	__u32	recv_cq;		/* out */
};

/* New attributes for a VI in the Idle state: INVALID_STATE in any other. */
struct via_vi_set {
	__u32	vi;
	__u32	reserved;
	struct via_vi_attrs attrs;
};

/* A post that found its queue full; desc is reported with the error. */
struct via_overrun {
	__u32	vi;
	__u32	recv;			/* 1: receive queue */
	__u64	desc;
};

struct via_cq_create {
	__u32	entries;		/* in: wanted; out: granted, >= wanted */
	__u32	cq;			/* out: id, never 0 */
	__u64	mmap_offset;		/* out */
	__u64	mmap_size;		/* out, bytes */
};

/*
 * Another ring for a CQ that is in use.  PREPARE makes it; the program maps
 * it (entries only, nothing before them) and then says COMMIT, at which the
 * kernel moves to it what is unread, or ABANDON.  head, tail and the area made
 * with the CQ stay what they are, its entries are no longer looked at.  While
 * it says COMMIT the program takes nothing off the ring.
 */
#define VIA_CQ_PREPARE		0
#define VIA_CQ_COMMIT		1
#define VIA_CQ_ABANDON		2

struct via_cq_resize {
	__u32	cq;
	__u32	step;			/* VIA_CQ_PREPARE ... */
	__u32	entries;		/* prepare: wanted, granted */
	__u32	reserved;
	__u64	mmap_offset;		/* prepare: out */
	__u64	mmap_size;		/* prepare: out, bytes */
};

struct via_cq_arg {
	__u32	cq;
	__u32	reserved;
};

/*
 * Sleep until the queue or CQ has moved on from what the caller has seen
 * (done of a queue, tail of a CQ).  Verdicts: SUCCESS, TIMEOUT.
 */
#define VIA_WAIT_SEND		0
#define VIA_WAIT_RECV		1
#define VIA_WAIT_CQ		2
#define VIA_FOREVER		(~0ULL)

struct via_wait {
	__u32	kind;			/* VIA_WAIT_* */
	__u32	id;			/* VI or CQ */
	__u32	seen;
	__u32	reserved;
	__u64	timeout;		/* ns, or VIA_FOREVER */
};

struct via_net_addr {
	__u16	host_len;		/* bytes of host[] in use */
	__u16	disc_len;		/* bytes of disc[] in use */
	__u8	host[VIA_ADDR_MAX];
	__u8	disc[VIA_DISC_MAX];
};

/*
 * Wait for a connection request.  waiter is 0 at the first call; with EINTR
 * the kernel stores its id there so that the wait can go on, with no gap in
 * which a request could find no waiter.  SUCCESS, TIMEOUT, INVALID_PARAMETER,
 * ERROR_RESOURCE.
 */
struct via_conn_wait {
	__u32	waiter;			/* in, out */
	__u32	conn;			/* out: id of the request */
	__u64	timeout;		/* in: ns, or VIA_FOREVER */
	struct via_net_addr local;	/* in */
	struct via_net_addr remote;	/* out */
	struct via_vi_attrs attrs;	/* out: the client's VI */
};

/*
 * Listen: up to backlog requests that find no waiter are kept for the handle.
 * VIA_IOC_CONN_WAIT takes the oldest one, also with a timeout of 0; one that its
 * client gives up goes by itself.  Each is charged to the user as a waiter is.
 * Again: another backlog; requests beyond it are rejected, and backlog 0 ends it.
 * More than VIA_BACKLOG_MAX is as much.  INVALID_PARAMETER, ERROR_RESOURCE (also
 * when another handle of the NIC listens on that discriminator).
 */
#define VIA_BACKLOG_MAX		256

struct via_conn_listen {
	__u32	backlog;		/* requests, or 0 */
	__u32	reserved;
	struct via_net_addr local;
};

/* Start to accept: the VI becomes Pending; then VIA_IOC_CONN_RESULT. */
struct via_conn_accept {
	__u32	conn;
	__u32	vi;
};

struct via_conn_reject {
	__u32	conn;
	__u32	reserved;
};

/*
 * Start a request (VIA_IOC_CONN_REQUEST), or a peer request
 * (VIA_IOC_PEER_REQUEST): the VI becomes Pending; then VIA_IOC_CONN_RESULT.
 */
struct via_conn_request {
	__u32	vi;
	__u32	reserved;
	__u64	timeout;		/* ns, or VIA_FOREVER; not 0 */
	struct via_net_addr local;
	struct via_net_addr remote;
};

/*
 * Wait until the VI is no longer Pending and fetch the verdict of its last
 * accept or request, or with VIA_CONN_PEER of its last peer request, once.
 * INVALID_STATE when there is none of that kind.
 */
#define VIA_CONN_NOWAIT		0x1	/* NOT_DONE instead of sleeping */
#define VIA_CONN_PEER		0x2	/* of a peer request */

struct via_conn_result {
	__u32	vi;
	__u32	flags;
	struct via_vi_attrs attrs;	/* out: the peer's VI, with SUCCESS */
};

/*
 * Hosts on the wire, or the one of that name.  An empty name asks for all, an
 * addr_len of 0 asks all hosts.  The answer may be none; the NIC itself is in
 * it where it fits.  Takes up to some 200 ms.
 */
#define VIA_NAME_MAX		64	/* bytes, without the zero */

struct via_name_answer {
	__u8	addr[VIA_ADDR_MAX];
	char	name[72];		/* zero-terminated, may be empty */
};

struct via_name_query {
	char	name[72];		/* in: zero-terminated */
	__u8	addr[VIA_ADDR_MAX];	/* in */
	__u32	addr_len;		/* in: bytes, or 0 */
	__u32	count;			/* in: room in answers[]; out: filled */
	__u64	answers;		/* pointer to struct via_name_answer[] */
};

/* Self-describing counters. */
#define VIA_STATS_NIC		0	/* id: zero */
#define VIA_STATS_VI		1	/* id: VI index to start at; out: index */

struct via_stat {
	char	name[24];
	__u64	value;
};

struct via_stats {
	__u32	kind;
	__u32	id;			/* in, out */
	__u32	count;			/* in: room in stats[]; out: filled */
	__u32	reserved;
	__u64	stats;			/* pointer to struct via_stat[] */
};

struct via_trap {
	__u64	arg;			/* via_trap_arg() */
};

struct via_event {
	__u32	vi;			/* VI id, or 0 */
	__u32	cq;			/* CQ id, or 0 */
	__u32	resource;		/* VIA_RES_* */
	__u32	code;			/* VIA_ERR_* or VIA_EVENT_* */
	__u32	opcode;			/* status OP value >> 16 */
	__u32	flags;			/* VIA_EVENT_F_* */
	__u64	desc;			/* descriptor address, or 0 */
};

#define VIA_IOC_MAGIC		0xb1

#define VIA_IOC_HELLO		_IOWR(VIA_IOC_MAGIC, 0x00, struct via_hello)
#define VIA_IOC_SHUTDOWN	_IO(VIA_IOC_MAGIC, 0x01)
#define VIA_IOC_TRAP		_IOW(VIA_IOC_MAGIC, 0x02, struct via_trap)
#define VIA_IOC_STATS		_IOWR(VIA_IOC_MAGIC, 0x03, struct via_stats)
#define VIA_IOC_WAIT		_IOW(VIA_IOC_MAGIC, 0x04, struct via_wait)

#define VIA_IOC_PTAG_CREATE	_IOWR(VIA_IOC_MAGIC, 0x10, struct via_ptag_arg)
#define VIA_IOC_PTAG_DESTROY	_IOW(VIA_IOC_MAGIC, 0x11, struct via_ptag_arg)
#define VIA_IOC_MEM_REGISTER	_IOWR(VIA_IOC_MAGIC, 0x12, struct via_mem_register)
#define VIA_IOC_MEM_DEREGISTER	_IOW(VIA_IOC_MAGIC, 0x13, struct via_mem_deregister)
#define VIA_IOC_MEM_QUERY	_IOWR(VIA_IOC_MAGIC, 0x14, struct via_mem_attrs)
#define VIA_IOC_MEM_SET		_IOW(VIA_IOC_MAGIC, 0x15, struct via_mem_attrs)

#define VIA_IOC_VI_CREATE	_IOWR(VIA_IOC_MAGIC, 0x20, struct via_vi_create)
#define VIA_IOC_VI_DESTROY	_IOW(VIA_IOC_MAGIC, 0x21, struct via_vi_arg)
#define VIA_IOC_VI_QUERY	_IOWR(VIA_IOC_MAGIC, 0x22, struct via_vi_query)
#define VIA_IOC_VI_OVERRUN	_IOW(VIA_IOC_MAGIC, 0x23, struct via_overrun)
#define VIA_IOC_VI_SET		_IOW(VIA_IOC_MAGIC, 0x24, struct via_vi_set)
#define VIA_IOC_VI_GROW		_IOWR(VIA_IOC_MAGIC, 0x25, struct via_vi_grow)

#define VIA_IOC_CQ_CREATE	_IOWR(VIA_IOC_MAGIC, 0x30, struct via_cq_create)
#define VIA_IOC_CQ_DESTROY	_IOW(VIA_IOC_MAGIC, 0x31, struct via_cq_arg)
#define VIA_IOC_CQ_RESIZE	_IOWR(VIA_IOC_MAGIC, 0x32, struct via_cq_resize)

#define VIA_IOC_CONN_WAIT	_IOWR(VIA_IOC_MAGIC, 0x40, struct via_conn_wait)
#define VIA_IOC_CONN_ACCEPT	_IOW(VIA_IOC_MAGIC, 0x41, struct via_conn_accept)
#define VIA_IOC_CONN_REJECT	_IOW(VIA_IOC_MAGIC, 0x42, struct via_conn_reject)
#define VIA_IOC_CONN_REQUEST	_IOW(VIA_IOC_MAGIC, 0x43, struct via_conn_request)
#define VIA_IOC_CONN_RESULT	_IOWR(VIA_IOC_MAGIC, 0x44, struct via_conn_result)
#define VIA_IOC_DISCONNECT	_IOW(VIA_IOC_MAGIC, 0x45, struct via_vi_arg)
#define VIA_IOC_PEER_REQUEST	_IOW(VIA_IOC_MAGIC, 0x46, struct via_conn_request)
#define VIA_IOC_CONN_LISTEN	_IOW(VIA_IOC_MAGIC, 0x47, struct via_conn_listen)

#define VIA_IOC_NAME_QUERY	_IOWR(VIA_IOC_MAGIC, 0x50, struct via_name_query)

#ifdef __cplusplus
#define VIA_ASSERT_SIZE(type, size) \
	static_assert(sizeof(type) == (size), #type " is " #size " bytes")
#else
#define VIA_ASSERT_SIZE(type, size) \
	_Static_assert(sizeof(type) == (size), #type " is " #size " bytes")
#endif

VIA_ASSERT_SIZE(struct via_slot, 64);
VIA_ASSERT_SIZE(struct via_completion, 16);
VIA_ASSERT_SIZE(struct via_vi_shared, 320);
VIA_ASSERT_SIZE(struct via_cq_shared, 128);
VIA_ASSERT_SIZE(struct via_ctl, 64);
VIA_ASSERT_SIZE(struct via_hello, 176);
VIA_ASSERT_SIZE(struct via_mem_register, 32);
VIA_ASSERT_SIZE(struct via_mem_attrs, 24);
VIA_ASSERT_SIZE(struct via_vi_create, 48);
VIA_ASSERT_SIZE(struct via_vi_set, 24);
VIA_ASSERT_SIZE(struct via_vi_grow, 16);
VIA_ASSERT_SIZE(struct via_vi_query, 32);
VIA_ASSERT_SIZE(struct via_cq_resize, 32);
VIA_ASSERT_SIZE(struct via_wait, 24);
VIA_ASSERT_SIZE(struct via_net_addr, 84);
VIA_ASSERT_SIZE(struct via_conn_wait, 200);
VIA_ASSERT_SIZE(struct via_conn_request, 184);
VIA_ASSERT_SIZE(struct via_conn_listen, 92);
VIA_ASSERT_SIZE(struct via_conn_result, 24);
VIA_ASSERT_SIZE(struct via_stats, 24);
VIA_ASSERT_SIZE(struct via_event, 32);
VIA_ASSERT_SIZE(struct via_name_answer, 88);
VIA_ASSERT_SIZE(struct via_name_query, 104);

#endif /* _UAPI_VIA_H */
