/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * vipl/provider.h - what a network brings to libvipl
 *
 * A provider is a shared object <libdir>/vipl/NAME.so with one entry,
 * vipl_provider_init(). A program that opens "NAME:REST" gets it loaded. The
 * library keeps handles and objects, checks what the program passes, and hands
 * the rest to the provider's operations. docs/contribute/provider.md is the guide.
 *
 * Versions
 * --------
 * VIPL_PROVIDER_ABI changes when something that exists changes its meaning;
 * both sides refuse another one by name. New members are added at the end of
 * struct vipl_provider and struct vipl_host. Both say their size: an operation
 * beyond the provider's size, or NULL, does not exist, and its call returns
 * VIP_ERROR_NOT_SUPPORTED where nothing else is said; a service beyond the
 * host's size may not be called (VIPL_HOST_HAS).
 *
 * All other structures below have one layout for as long as VIPL_PROVIDER_ABI
 * is the same; VIPL_LAYOUT checks it in whatever includes this header. The
 * identity, the event and the request get new members out of reserved[]. The
 * side that allocates one of them sets to zero what it does not know, so zero
 * means "not said". What a provider sets there and the library does not know
 * is refused by name: an identity with the NIC, an event or a request alone.
 *
 * Objects
 * -------
 * NICs, VIs and CQs are the library's. Each begins with struct vipl_object and
 * has a private area of the size that the provider states, zero when the slot
 * is new. Slots are never returned to the system and never change their
 * provider: an area may be read at any time, whatever another thread destroys,
 * and is handed to the next object of its kind as its last user left it.
 * fork() replaces all of it by zeroes in the child, where every handle is
 * stale and the provider's operations are not called, except fork_child.
 *
 * An operation that gets an object gets it referenced, with four exceptions:
 * post_*, *_done, *_wait, cq_done and cq_wait get a VI or CQ that was alive a
 * moment ago. They may find a queue empty without a lock, if they can tell
 * without touching what vi_release or cq_release takes away; before they
 * change anything they compare the handle that they are given with the one
 * that vi_live (cq_live) last set, under the lock under which that was set. A
 * mismatch is VIP_INVALID_PARAMETER. Those that sleep take a reference
 * (host->vi_get, host->cq_get) first.
 *
 * Locks
 * -----
 * "nic lock": called under a lock of the library's, one for each NIC handle,
 * so not beside another operation that says so. Such an operation must not
 * block for long and must not call host->vi_get and the like for objects whose
 * last reference it could hold. Operations that say nothing are called with no
 * lock held, from any thread, any number at once. The library takes no lock of
 * its own inside a service, except that host->put may run vi_release,
 * cq_release or close of the object: do not hold a lock they take. close may
 * so run in a thread of the provider's, if that gives back a reference: it
 * does not join that one.
 *
 * Pointers that operations get are not NULL unless said. Time-outs are
 * milliseconds, VIP_INFINITE or 0xffffffff without limit, 0 looks once.
 */
#ifndef _VIPL_PROVIDER_H
#define _VIPL_PROVIDER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <vipl.h>
#include <vipl_ext.h>

#define VIPL_PROVIDER_ABI	1

#define VIPL_ADDR_MAX		32	/* bytes of a host address */
#define VIPL_DISC_MAX		64	/* bytes of a discriminator */
#define VIPL_PRIVATE_MAX	64	/* bytes of a connection's private data */
#define VIPL_NAME_MAX		64	/* bytes of a host's name on the wire */
#define VIPL_NAMED_MAX		64	/* hosts that one question finds */

#define VIPL_SENDQ		0
#define VIPL_RECVQ		1

/* The bytes of a structure, where pointers have 8 bytes and where they have 4. */
#define VIPL_LAYOUT(name, lp64, ilp32)					\
	_Static_assert(sizeof(struct name) ==				\
		       (sizeof(void *) == 8 ? (lp64) : (ilp32)),	\
		       #name " differs from that of VIPL_PROVIDER_ABI")

struct vipl_nic;
struct vipl_vi;
struct vipl_cq;

/* How struct vipl_nic, vipl_vi and vipl_cq begin. */
struct vipl_object {
	_Atomic(uintptr_t) handle;	/* 0 unless live */
	void *priv;			/* the provider's area */
	struct vipl_nic *nic;		/* NULL in a NIC */
};

/* The private area of a NIC, VI or CQ. */
static inline void *vipl_priv(const void *object)
{
	return ((const struct vipl_object *)object)->priv;
}

/* The NIC of a VI or CQ; valid while it is referenced. */
static inline struct vipl_nic *vipl_nic_of(const void *object)
{
	return ((const struct vipl_object *)object)->nic;
}

/* Is that its handle, now? */
static inline int vipl_is_live(const void *object, const void *handle)
{
	const struct vipl_object *o = object;

	return atomic_load_explicit(&o->handle, memory_order_acquire) ==
	       (uintptr_t)handle;
}

/* Identity and limits of a NIC, for VipQueryNic and for checks. */
struct vipl_identity {
	char name[64];			/* as VipQueryNic tells it */
	uint8_t addr[VIPL_ADDR_MAX];
	uint32_t addr_len;		/* bytes, at most VIPL_ADDR_MAX */
	uint32_t mtu;			/* bytes of payload in one packet */
	uint64_t register_bytes;	/* all regions together */
	uint64_t block_bytes;		/* one region */
	uint32_t regions;
	uint32_t vi;
	uint32_t desc;			/* descriptors per work queue */
	uint32_t segs;			/* data segments per descriptor */
	uint32_t cq;
	uint32_t cq_entries;
	uint32_t transfer;		/* MaxTransferSize, bytes */
	uint32_t ptags;
	uint32_t disc_len;		/* bytes, at most VIPL_DISC_MAX */
	uint32_t hw_version;
	uint32_t provider_version;
	uint16_t reliability;		/* mask of VIP_SERVICE_* */
	uint16_t rdma_read;		/* mask of levels with RDMA Read */
	uint64_t features;		/* VIP_FEATURE_* of vipl_ext.h */
	/* What the service thread needs to keep: see event_wait. */
	uint32_t files;			/* valid entries of file[] */
	int file[4];
	uint32_t reserved[15];		/* 0 */
};

VIPL_LAYOUT(vipl_identity, 256, 256);

enum vipl_event_kind {
	VIPL_EVENT_ERROR,		/* an asynchronous error */
	VIPL_EVENT_SEND,		/* what vi_notify asked for; vi */
	VIPL_EVENT_RECV,
	VIPL_EVENT_CQ,			/* what cq_notify asked for; cq */
	VIPL_EVENT_CONN,		/* a start operation may have an end */
};

/* 0 or NULL where nothing applies; handles may be stale. */
struct vipl_event {
	enum vipl_event_kind kind;
	uint32_t opcode;		/* operation, as in Status >> 16 */
	uint64_t desc;			/* address of the descriptor */
	uint32_t resource;		/* VIP_RESOURCE_* */
	uint32_t code;			/* VIP_ERROR_* of VIP_ERROR_CODE */
	int orderly;			/* CONN_LOST: the peer has left */
	uint32_t reserved[5];		/* 0 */
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;
};

VIPL_LAYOUT(vipl_event, 64, 56);

/* An address taken apart; a VIP_NET_ADDRESS is unaligned and open-ended. */
struct vipl_addr {
	uint16_t host_len;		/* bytes */
	uint16_t disc_len;		/* bytes */
	uint8_t host[VIPL_ADDR_MAX];
	uint8_t disc[VIPL_DISC_MAX];
};

VIPL_LAYOUT(vipl_addr, 100, 100);

/* A host that answered on the network. */
struct vipl_named {
	uint8_t host[VIPL_ADDR_MAX];
	char name[VIPL_NAME_MAX + 1];	/* may be empty */
};

VIPL_LAYOUT(vipl_named, 97, 97);

/* Private data of a connection's other end, see vipl_ext.h. */
struct vipl_private {
	uint32_t len;			/* bytes, at most VIPL_PRIVATE_MAX */
	uint8_t data[VIPL_PRIVATE_MAX];
};

VIPL_LAYOUT(vipl_private, 68, 68);

/*
 * A connection request that has arrived. The library sets it to zero before
 * conn_wait, and rejects a request whose address is longer than the identity
 * says: programs size their buffers by that.
 */
struct vipl_request {
	uint32_t id;			/* for conn_accept, conn_reject */
	struct vipl_addr remote;
	VIP_VI_ATTRIBUTES attrs;	/* Ptag NULL */
	struct vipl_private priv;
	uint32_t reserved[9];		/* 0 */
};

VIPL_LAYOUT(vipl_request, 248, 232);

/* The library's services for a provider; each has a table of its own. */
struct vipl_host {
	uint32_t abi;			/* VIPL_PROVIDER_ABI */
	uint32_t size;			/* bytes of this structure */

	/*
	 * A live object of the provider whose table self is, referenced, or
	 * NULL.
	 */
	struct vipl_vi *(*vi_get)(const struct vipl_host *self, VIP_VI_HANDLE h);
	struct vipl_cq *(*cq_get)(const struct vipl_host *self, VIP_CQ_HANDLE h);
	/* A further reference of what the caller has one of, or a lock on. */
	void (*ref)(void *object);
	/* Give a reference back; may run the object's release. */
	void (*nic_put)(struct vipl_nic *nic);
	void (*vi_put)(struct vipl_vi *vi);
	void (*cq_put)(struct vipl_cq *cq);

	/* From open: required, before it returns VIP_SUCCESS. */
	void (*identify)(struct vipl_nic *nic, const struct vipl_identity *id);
	/* The NIC's handle; NULL before open has returned. */
	VIP_NIC_HANDLE (*nic_handle)(struct vipl_nic *nic);

	/*
	 * An event for the program's handlers, for providers without
	 * event_wait. From any thread, does not block and takes no lock that
	 * an operation is called under. An event for which there is no memory,
	 * or behind thousands that no handler has taken, is lost, except that
	 * those of vi_notify, cq_notify and CONN are never lost.
	 */
	void (*event)(struct vipl_nic *nic, const struct vipl_event *ev);

	/* An error: one line on standard error, "vipl: " before it; VIPL_LOG. */
	void (*msg)(const char *fmt, ...)
		__attribute__((format(printf, 1, 2)));
	/*
	 * The value of "KEY VALUE" in vipl.conf, where KEY is
	 * "PROVIDER.KEY", or of the environment's VIPL_PROVIDER_KEY in
	 * capitals, which comes first. 0, or -1 when there is none.
	 */
	int (*conf)(const char *provider, const char *key, char *value,
		    size_t size);
	/* Memory that a child of fork() finds zeroed; NULL: none. */
	void *(*wiped_alloc)(size_t size);
	void (*wiped_free)(void *p, size_t size);
	/* More than one CPU, so that waiting may spin. */
	int (*may_spin)(void);
};

/* Has this library that service, a member of struct vipl_host? */
#define VIPL_HOST_HAS(host, member)					\
	((host)->size >= offsetof(struct vipl_host, member) +		\
			 sizeof((host)->member))

struct vipl_provider {
	uint32_t abi;			/* VIPL_PROVIDER_ABI */
	uint32_t size;			/* bytes of this structure */
	const char *name;		/* as in NAME.so: [a-z0-9_]+ */
	/*
	 * Of the provider's release, for messages; NULL: not told. Those of
	 * mvia have the release of mvia, from its file VERSION.
	 */
	const char *version;
	uint32_t nic_size;		/* bytes of private areas */
	uint32_t vi_size;
	uint32_t cq_size;
	uint32_t flags;			/* none yet: 0, others are refused */

	/*
	 * Names. rest is what follows "NAME:", and may be empty.
	 *
	 * devices: call each() for every device that can be opened, with a
	 * full name ("shm:0"), and a line on what it is.
	 * explain: why rest cannot be opened and what to do about it, one line
	 * without a newline; 0, or -1 when nothing stands in the way.
	 */
	void (*devices)(void (*each)(void *arg, const char *device,
				     const char *what), void *arg);
	int (*explain)(const char *rest, char *line, size_t size);

	/*
	 * open: say the identity (host->identify). A failure is explained on
	 * standard error (host->msg). close is called whether it fails or not.
	 * shutdown: nic lock; end every object: threads that sleep in the
	 * provider return, event_wait too. The handle is stale already.
	 * close: the last reference is gone.
	 */
	VIP_RETURN (*open)(struct vipl_nic *nic, const char *rest);
	void (*shutdown)(struct vipl_nic *nic);
	void (*close)(struct vipl_nic *nic);

	/* Protection tags; ids are not 0. Nic lock. Destroying one that a VI
	 * or region has: VIP_ERROR_RESOURCE.
	 */
	VIP_RETURN (*ptag_create)(struct vipl_nic *nic, uint32_t *id);
	VIP_RETURN (*ptag_destroy)(struct vipl_nic *nic, uint32_t id);

	/*
	 * Regions. ptag 0 is the default tag. addr may be any value; what is
	 * not mapped (or not writable, for a region that is to be written) is
	 * VIP_INVALID_PARAMETER where the provider can tell. mem_query and
	 * mem_set find a region by its start and its handle. Once mem_set or
	 * mem_deregister has returned, no byte moves by a right withdrawn.
	 * mem_query: nic lock.
	 */
	VIP_RETURN (*mem_register)(struct vipl_nic *nic, void *addr,
				   VIP_ULONG len, uint32_t ptag,
				   const VIP_MEM_ATTRIBUTES *attrs,
				   VIP_MEM_HANDLE *handle);
	VIP_RETURN (*mem_deregister)(struct vipl_nic *nic, void *addr,
				     VIP_MEM_HANDLE handle);
	VIP_RETURN (*mem_query)(struct vipl_nic *nic, void *addr,
				VIP_MEM_HANDLE handle, uint32_t *ptag,
				VIP_MEM_ATTRIBUTES *attrs);
	VIP_RETURN (*mem_set)(struct vipl_nic *nic, void *addr,
			      VIP_MEM_HANDLE handle, uint32_t ptag,
			      const VIP_MEM_ATTRIBUTES *attrs);

	/*
	 * VIs. All but vi_release: nic lock. attrs are within the identity's
	 * limits. CQs may be NULL; the library keeps them referenced.
	 *
	 * vi_live: the handle that posts and polls compare, NULL at the end
	 * (after vi_retire and vi_destroy, too): no post or poll that runs
	 * later may change anything.
	 * vi_retire: vi_live(vi, NULL), unless descriptors are posted and not
	 * completed: then VIP_ERROR_RESOURCE, and nothing changes.
	 * vi_destroy: VIP_INVALID_STATE unless Idle; may fail after vi_retire,
	 * which the library takes back by vi_live.
	 * vi_release: the last reference is gone; the nic lock is held, or is
	 * not. Also after a vi_create that failed.
	 * vi_query: everything but the tag. vi_set: INVALID_STATE unless Idle.
	 */
	VIP_RETURN (*vi_create)(struct vipl_vi *vi,
				const VIP_VI_ATTRIBUTES *attrs, uint32_t ptag,
				struct vipl_cq *send_cq,
				struct vipl_cq *recv_cq);
	void (*vi_live)(struct vipl_vi *vi, VIP_VI_HANDLE h);
	VIP_RETURN (*vi_retire)(struct vipl_vi *vi);
	VIP_RETURN (*vi_destroy)(struct vipl_vi *vi);
	void (*vi_release)(struct vipl_vi *vi);
	VIP_RETURN (*vi_query)(struct vipl_vi *vi, VIP_VI_STATE *state,
			       VIP_VI_ATTRIBUTES *attrs);
	VIP_RETURN (*vi_set)(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *attrs,
			     uint32_t ptag);
	/* Nothing posted that was not collected; queue is VIPL_SENDQ... */
	int (*queue_empty)(struct vipl_vi *vi, int queue);

	/* CQs: as VIs. cq_destroy: VIP_ERROR_RESOURCE while a VI has it. */
	VIP_RETURN (*cq_create)(struct vipl_cq *cq, VIP_ULONG entries);
	void (*cq_live)(struct vipl_cq *cq, VIP_CQ_HANDLE h);
	VIP_RETURN (*cq_destroy)(struct vipl_cq *cq);
	/* Nothing is lost, and a failure changes nothing. */
	VIP_RETURN (*cq_resize)(struct vipl_cq *cq, VIP_ULONG entries);
	void (*cq_release)(struct vipl_cq *cq);

	/* Posting and collecting: the fast path. See VipPostSend(3) and on. */
	VIP_RETURN (*post_send)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
	VIP_RETURN (*post_recv)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
	VIP_RETURN (*send_done)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR **desc);
	VIP_RETURN (*recv_done)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR **desc);
	VIP_RETURN (*send_wait)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_ULONG timeout, VIP_DESCRIPTOR **desc);
	VIP_RETURN (*recv_wait)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_ULONG timeout, VIP_DESCRIPTOR **desc);

	/* Notices of VIs that are gone are skipped. */
	VIP_RETURN (*cq_done)(struct vipl_cq *cq, VIP_CQ_HANDLE h,
			      VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv);
	VIP_RETURN (*cq_wait)(struct vipl_cq *cq, VIP_CQ_HANDLE h,
			      VIP_ULONG timeout, VIP_VI_HANDLE *vi,
			      VIP_BOOLEAN *recv);

	/*
	 * Ask for one event when the queue (the CQ) has something to take, at
	 * once if it has. Does not sleep; called under a lock of the queue's
	 * handlers. The event is a hint: another thread may have taken it.
	 */
	VIP_RETURN (*vi_notify)(struct vipl_vi *vi, int queue);
	VIP_RETURN (*cq_notify)(struct vipl_cq *cq);

	/*
	 * Connections. *gone: the request exists no longer, whatever the
	 * verdict. conn_accept returns once the verdict of the other end is
	 * known. peer_result: the verdict of a peer request, once; NOT_DONE
	 * unless wait.
	 */
	VIP_RETURN (*conn_wait)(struct vipl_nic *nic,
				const struct vipl_addr *local,
				VIP_ULONG timeout, struct vipl_request *req);
	VIP_RETURN (*conn_accept)(struct vipl_nic *nic, uint32_t conn,
				  struct vipl_vi *vi,
				  const struct vipl_private *priv, int *gone);
	VIP_RETURN (*conn_reject)(struct vipl_nic *nic, uint32_t conn,
				  const struct vipl_private *priv);
	VIP_RETURN (*conn_request)(struct vipl_vi *vi,
				   const struct vipl_addr *local,
				   const struct vipl_addr *remote,
				   VIP_ULONG timeout,
				   VIP_VI_ATTRIBUTES *attrs);
	VIP_RETURN (*peer_request)(struct vipl_vi *vi,
				   const struct vipl_addr *local,
				   const struct vipl_addr *remote,
				   VIP_ULONG timeout);
	VIP_RETURN (*peer_result)(struct vipl_vi *vi, int wait,
				  VIP_VI_ATTRIBUTES *attrs);
	VIP_RETURN (*disconnect)(struct vipl_vi *vi);

	/*
	 * The same without blocking (VIP_FEATURE_NONBLOCKING): start, then
	 * conn_result until it is not NOT_DONE; a CONN event says that it is
	 * worth asking. conn_listen announces that conn_wait with time-out 0
	 * will be used for that discriminator, so that requests are kept for
	 * it (VIP_FEATURE_LISTEN); backlog 0 ends it. In and out, private
	 * data may be NULL.
	 */
	VIP_RETURN (*conn_request_start)(struct vipl_vi *vi,
					 const struct vipl_addr *local,
					 const struct vipl_addr *remote,
					 VIP_ULONG timeout,
					 const struct vipl_private *priv);
	VIP_RETURN (*conn_accept_start)(struct vipl_nic *nic, uint32_t conn,
					struct vipl_vi *vi,
					const struct vipl_private *priv,
					int *gone);
	VIP_RETURN (*conn_result)(struct vipl_vi *vi, VIP_VI_ATTRIBUTES *attrs,
				  struct vipl_private *priv);
	VIP_RETURN (*conn_listen)(struct vipl_nic *nic,
				  const struct vipl_addr *local,
				  uint32_t backlog);

	/*
	 * Addresses. addr_parse: an address in writing; 0 or -1.
	 * addr_format: the reverse; always succeeds, size is at least 64.
	 * resolve: the index-th host address that a name has (from 0):
	 * VIP_SUCCESS or VIP_ERROR_NAMESERVICE; may block for seconds; what
	 * addr_parse takes does not come here. name_of: the reverse. Where
	 * they are NULL the library goes by the hosts file, with addr_parse,
	 * then by the name of this host, then by discover.
	 * discover: hosts that answer now, at most *n, then *n of them; may
	 * block for 200 ms.
	 */
	int (*addr_parse)(struct vipl_nic *nic, const char *text,
			  uint8_t *host);
	void (*addr_format)(struct vipl_nic *nic, const uint8_t *host,
			    char *text, size_t size);
	VIP_RETURN (*resolve)(struct vipl_nic *nic, const char *name,
			      VIP_ULONG index, uint8_t *host);
	VIP_RETURN (*name_of)(struct vipl_nic *nic, const uint8_t *host,
			      char *name, size_t size);
	VIP_RETURN (*discover)(struct vipl_nic *nic, struct vipl_named *out,
			       uint32_t *n);

	/*
	 * For providers with an event source of their own; NULL: host->event.
	 * Blocks for an event: 1 got one, 0 woken for nothing, -1 no more.
	 * One thread of the library calls it. That thread may have a table of
	 * files of its own, with nothing in it but those of the identity.
	 * event_wake makes it return soon.
	 */
	int (*event_wait)(struct vipl_nic *nic, struct vipl_event *ev);
	void (*event_wake)(struct vipl_nic *nic);

	/* In the child of a fork(), once for each fork; async-signal-safe. */
	void (*fork_child)(void);

	/*
	 * Room for so many descriptors in the queues of a live VI, at most the
	 * identity's desc. SUCCESS or ERROR_RESOURCE. NULL: there always is.
	 */
	VIP_RETURN (*vi_reserve)(struct vipl_vi *vi, uint32_t sends,
				 uint32_t receives);
};

/*
 * The entry of a provider's shared object. abi is the library's: one that the
 * provider cannot serve gets NULL, and *why may be set to a line about it.
 * host stays valid for good. Called once, under a lock of the loader's.
 */
typedef const struct vipl_provider *
vipl_provider_entry(uint32_t abi, const struct vipl_host *host,
		    const char **why);

#define VIPL_PROVIDER_ENTRY	"vipl_provider_init"

#ifdef __GNUC__
__attribute__((visibility("default")))
#endif
vipl_provider_entry vipl_provider_init;

#endif /* _VIPL_PROVIDER_H */
