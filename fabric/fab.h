/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * libvia-fi.so: the provider "via" of libfabric, on libvipl.
 *
 * One endpoint is two VIs.  On the data VI a fi_send is a VIA send, a receive
 * is a VIA receive into the program's own buffer, fi_read and fi_write are
 * RDMA.  The control VI carries the provider's own messages (struct
 * via_ctl_msg): they could not share the data VI, since a VIA message takes
 * the first receive of the queue, which is the program's.
 *
 * Credits.  A message that finds no receive breaks a reliable VI.  So each end
 * tells on the control VI how many receives it has posted so far, and the other
 * sends no more messages than that (credit.c); those that wait are at most as
 * many as the transmit queue has room for, then it is -FI_EAGAIN.
 *
 * Progress is made by the calls: reading a CQ or an EQ looks at what the NIC
 * has completed, for every endpoint of that NIC.  A thread that waits sleeps
 * on the library's file descriptors and makes progress as it wakes.  The
 * provider has no threads.
 *
 * Locking.  From the outside in:
 *
 *	nics_lock	(nic.c) the list of open NICs and their references
 *	nic->lock	all of a NIC's endpoints, passive endpoints, requests,
 *			completion queues; every call of libvipl on its VIs and
 *			CQs.  None of these calls blocks.
 *	eq->lock	the events of an EQ
 *
 * Taken without any of them: registration of memory, names of hosts, opening
 * and closing a NIC, and all that sleeps.  References (fabric, domain, cq, eq,
 * pep) are atomic counts; an object that is referred to is not closed, but
 * returns -FI_EBUSY.
 */
#ifndef VIA_FAB_H
#define VIA_FAB_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <vipl.h>
#include <vipl_ext.h>

#include "../vipl/list.h"

#define VIA_TX_SIZE	128	/* operations, default */
#define VIA_RX_SIZE	128
#define VIA_SIZE_MAX	384	/* the most of either */
#define VIA_IOV		4	/* segments of local memory */
#define VIA_INJECT	256	/* bytes */
#define VIA_RMA_MAX	SIZE_MAX	/* as many messages as it takes */
/* Levels of completion: all are served alike. */
#define VIA_LEVELS	(FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
			 FI_DELIVERY_COMPLETE)
#define VIA_CM_DATA	40	/* bytes of private data */
#define VIA_CQ_ENTRIES	4096	/* of the NIC's CQs */
#define VIA_VI_HASH	1024
#define VIA_CTL_DEPTH	16	/* messages on a control VI */
#define VIA_DRY		16	/* reads in vain, then the thread rests */
#define VIA_LONG_NS	1500000	/* a wait that is not for a few bytes */
#define VIA_REST_NS	500000	/* the longest sleep in a read */
#define VIA_NAME_MAX	64
#define VIA_PLACES	64	/* VI NICs that fi_getinfo looks at */

extern struct fi_provider via_prov;

/* Parameters (prov.c), read once by init.c */
struct via_param {
	char	*devices;	/* FI_VIA_DEVICES, or NULL */
	int	connect_ms;	/* FI_VIA_CONNECT_TIMEOUT */
};
extern struct via_param via_param;

#define via_warn(sub, ...)	FI_WARN(&via_prov, sub, __VA_ARGS__)
#define via_info(sub, ...)	FI_INFO(&via_prov, sub, __VA_ARGS__)

/* A VI, found by its handle when a CQ tells of it (nic.c). */
enum via_vi_kind { VIA_VI_DATA, VIA_VI_CTL };

struct via_ctl;
struct via_ep;
struct via_reject;

struct via_vi {
	VIP_VI_HANDLE		h;	/* NULL: none */
	enum via_vi_kind	kind;
	struct via_ep		*ep;	/* its endpoint, or */
	struct via_reject	*reject;	/* its rejection (reject.c) */
	struct via_vi		*next;	/* nic->lock: chain of the hash */
};

enum { VIA_CQ_DATA, VIA_CQ_CTL, VIA_CQS };

/*
 * One open VI NIC, shared by the domains and passive endpoints that name it:
 * a connection request is accepted on the NIC handle that received it.
 */
struct via_nic {
	char			name[VIA_NAME_MAX];
	VIP_NIC_HANDLE		h;
	VIP_NIC_ATTRIBUTES	attr;
	VIP_UINT64		features;
	VIP_CQ_HANDLE		cq[VIA_CQS];
	int			cq_fd[VIA_CQS];
	int			fd;		/* of connections; library's */
	int			timer;		/* timerfd: deadlines */
	bool			alone;		/* the machine has one processor */
	unsigned int		refs;		/* nics_lock */
	struct via_nic		*next;		/* nics_lock */

	pthread_mutex_t		lock;
	/* all below: lock */
	struct via_vi		*vis[VIA_VI_HASH];
	struct vipl_list	connecting;	/* endpoints with no verdict */
	struct vipl_list	peps;		/* that listen */
	struct vipl_list	owing;		/* endpoints with news of receives */
	struct vipl_list	rejects;	/* rejections under way */
	uint64_t		timer_ns;	/* when it goes off; 0: never */
	bool			starved;	/* an operation found no room */
	bool			has_sent;	/* since a message was taken */
	uint32_t		kicks;		/* when there was some thereafter */
};

/* nic.c */
int via_nic_get(const char *name, struct via_nic **nic);
void via_nic_put(struct via_nic *nic);
bool via_nic_fits(VIP_NIC_HANDLE h, const VIP_NIC_ATTRIBUTES *attr,
		  VIP_UINT64 *features, const char *name);
VIP_RETURN via_vi_open(struct via_nic *nic, struct via_vi *vi,
		       VIP_PROTECTION_HANDLE ptag, uint32_t transfer);
void via_vi_close(struct via_nic *nic, struct via_vi *vi);
void via_nic_alarm(struct via_nic *nic, uint64_t when_ns);
uint64_t via_now(void);

/*
 * progress.c; nic->lock held.  poll: for a caller that does not sleep next, and
 * looks again; messages may be left for that.
 */
void via_progress(struct via_nic *nic);
void via_progress_poll(struct via_nic *nic);
void via_progress_cm(struct via_nic *nic);
void via_arm_cm(struct via_nic *nic);
void via_arm_data(struct via_nic *nic);

/* The wait object of a CQ or an EQ; its user has the locks. */
struct via_wait {
	bool			on;
	int			fd;		/* eventfd, or -1 */
	int			epfd;		/* what GETWAIT returns, or -1 */
};

/*
 * wait.c: 0 or -FI_*.  tell: readable, until clear.  for: sleep until it is
 * readable; false: the time is over, of which end() makes the moment (ns; ms < 0:
 * never).
 */
int via_wait_open(struct via_wait *w, enum fi_wait_obj obj);
int via_wait_watch(struct via_wait *w, int fd);
void via_wait_close(struct via_wait *w);
void via_wait_tell(struct via_wait *w);
void via_wait_clear(struct via_wait *w);
int via_wait_control(const struct via_wait *w, int command, void *arg);
uint64_t via_wait_end(int timeout_ms);
bool via_wait_for(const struct via_wait *w, uint64_t end);

struct via_fabric {
	struct fid_fabric	fid;
	atomic_uint		refs;
};

struct via_domain {
	struct fid_domain	fid;
	struct via_fabric	*fabric;
	struct via_nic		*nic;
	VIP_PROTECTION_HANDLE	ptag;	/* regions and VIs of this domain */
	atomic_uint		refs;
};

struct via_mr {
	struct fid_mr		fid;
	struct via_domain	*domain;
	void			*addr;
	size_t			len;		/* 0: not VIPL's */
	VIP_MEM_HANDLE		h;
};

struct via_comp {
	struct fi_cq_tagged_entry	e;
	size_t				olen;	/* bytes that did not fit */
	int				err;	/* 0, or of fi_errno.h */
	int				prov;	/* VIP_STATUS_* */
};

struct via_cq {
	struct fid_cq		fid;
	struct via_domain	*domain;
	struct via_nic		*nic;
	enum fi_cq_format	format;
	enum fi_cq_wait_cond	cond;
	struct via_wait		wait;
	atomic_uint		refs;		/* endpoints */
	/* nic->lock */
	struct via_comp		*ring;		/* size a power of two */
	size_t			size, head, count;
	size_t			reserved;	/* entries to come */
	unsigned int		dry;		/* reads in vain, in a row */
	uint64_t		dry_ns;		/* when a rest began those */
	bool			armed;		/* a thread sleeps, or may */
	bool			signalled;	/* fi_cq_signal */
	bool			overrun;	/* out of memory */
};

/* comp.c; nic->lock held */
int via_cq_reserve(struct via_cq *cq);
void via_cq_unreserve(struct via_cq *cq);
void via_cq_add(struct via_cq *cq, const struct via_comp *c);
void via_cq_extra(struct via_cq *cq, const struct via_comp *c);
void via_cq_tell(struct via_cq *cq);

/* cq.c */
int via_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		struct fid_cq **cq, void *context);
int via_cq_trywait(struct via_cq *cq);

struct via_event {
	struct vipl_list	link;
	uint32_t		event;
	struct fid		*fid;		/* NULL: a program's own */
	struct fi_info		*info;		/* CONNREQ, until it is read */
	int			err, prov;
	size_t			len;		/* bytes of what follows */
	uint8_t			data[VIA_CM_DATA];
	void			*entry;		/* a program's own */
};

#define VIA_EQ_NICS	16

struct via_eq {
	struct fid_eq		fid;
	struct via_fabric	*fabric;
	bool			writes;
	struct via_wait		wait;
	atomic_uint		refs;
	pthread_mutex_t		lock;
	/* lock */
	struct vipl_list	events, errors;
	struct via_nic		*nics[VIA_EQ_NICS];	/* referred to */
	unsigned int		n_nics;
	uint8_t			err_data[VIA_CM_DATA];	/* of the last error */
};

/* event.c */
int via_eq_attach(struct via_eq *eq, struct via_nic *nic);
void via_eq_add(struct via_eq *eq, uint32_t event, struct fid *fid,
		struct fi_info *info, const void *data, size_t len);
void via_eq_add_err(struct via_eq *eq, struct fid *fid, int err, int prov,
		    const void *data, size_t len);
/* Events about an object that is being closed; NULL: all. */
void via_eq_purge(struct via_eq *eq, struct fid *fid);
struct via_event *via_event_new(struct fid *fid, const void *data, size_t len);
void via_event_free(struct via_event *e);
/* list: eq->events or eq->errors.  Takes eq->lock. */
void via_eq_put(struct via_eq *eq, struct vipl_list *list, struct via_event *e);
/* eq->lock held. */
void via_eq_clear_if_empty(struct via_eq *eq);

/* eq.c */
int via_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq, void *context);
int via_eq_trywait(struct via_eq *eq);

/*
 * A client's hello: the discriminator of its own address, which
 * VIPL hands to the server as it is.  Multi-byte fields are in network order.
 */
#define VIA_HELLO_MAGIC	0x56694669	/* "ViFi" */
#define VIA_HELLO_VERSION 1

struct via_hello {
	uint32_t	magic;
	uint8_t		version;
	uint8_t		kind;		/* enum via_vi_kind */
	uint8_t		len;		/* bytes of cm */
	uint8_t		reserved;
	uint64_t	cookie;		/* the same for both VIs */
	uint32_t	ip;
	uint16_t	port;
	uint16_t	reserved2;
	uint8_t		cm[VIA_CM_DATA];
};
_Static_assert(sizeof(struct via_hello) == 64, "a discriminator");

/* Messages of the control VI, in network order. */
enum via_ctl_type {
	VIA_CTL_ACCEPT = 1,	/* first of a server; cm */
	VIA_CTL_REJECT,		/* only one of a server; cm */
	VIA_CTL_CREDIT,		/* counters alone */
	VIA_CTL_WRITTEN,	/* data: a fi_writedata has been placed */
};

struct via_ctl_msg {
	uint8_t		type;
	uint8_t		len;		/* bytes of cm; WRITTEN: 8, of the length */
	uint16_t	reserved;
	uint32_t	posted;		/* receives on the data VI so far */
	uint32_t	seen;		/* control messages so far */
	uint32_t	reserved2;
	uint64_t	data;
	uint8_t		cm[VIA_CM_DATA];
};
_Static_assert(sizeof(struct via_ctl_msg) == 64, "one cache line");

/* Counts wrap, differences do not.  All: nic->lock. */
struct via_ctl {
	struct via_vi		vi;
	VIP_DESCRIPTOR		*rx, *tx;	/* VIA_CTL_DEPTH each */
	struct via_ctl_msg	*rx_msg, *tx_msg;
	VIP_MEM_HANDLE		mem;
	uint32_t		sent, done;	/* ours: posted, completed */
	uint32_t		seen;		/* ours that the peer has taken */
	uint32_t		got, told;	/* its, and what we told of that */
};

/* ctl.c; nic->lock held */
#define VIA_CTL_BYTES	(VIA_CTL_DEPTH * 4 * 64)
int via_ctl_open(struct via_nic *nic, struct via_ctl *c, void *mem,
		 VIP_MEM_HANDLE handle, VIP_PROTECTION_HANDLE ptag,
		 uint32_t transfer);
int via_ctl_send(struct via_ctl *c, struct via_ctl_msg *m);
bool via_ctl_owes(const struct via_ctl *c);
int via_ctl_sent(struct via_ctl *c);
int via_ctl_take(struct via_ctl *c, struct via_ctl_msg *m);

/* A connection request that both VIs of a client have made. */
struct via_request {
	struct fid		fid;		/* info->handle */
	struct vipl_list	link;		/* nic->lock: pep->requests */
	struct via_nic		*nic;		/* referred to by its pep or ep */
	struct via_pep		*pep;		/* NULL: an endpoint has it */
	VIP_CONN_HANDLE		conn[2];	/* by via_vi_kind; NULL: none */
	struct via_hello	hello;
	uint8_t			host[32];	/* the client's NIC */
	uint32_t		transfer;	/* bytes: its MaxTransferSize */
	bool			whole;		/* CONNREQ was raised */
	uint64_t		expires_ns;
};

enum via_tx_kind { VIA_TX_SEND, VIA_TX_WRITE, VIA_TX_READ };

/* An operation that was accepted.  nic->lock. */
struct via_tx {
	struct via_tx	*next;		/* free, or ep->txq, or ep->written */
	void		*context;
	uint64_t	flags;		/* of its completion */
	enum via_tx_kind kind;
	bool		silent;		/* no entry if it succeeds */
	bool		mute;		/* nor if it fails: by fi_inject */
	bool		imm;		/* has data */
	bool		posted;		/* all of it */
	unsigned int	inflight;	/* descriptors */
	int		err, prov;
	size_t		left;		/* bytes not posted */
	unsigned int	n, i;		/* iov, and where we are in it */
	size_t		off;
	struct iovec	iov[VIA_IOV];
	VIP_MEM_HANDLE	mem[VIA_IOV];
	uint64_t	raddr, data;
	uint64_t	len;		/* bytes in all */
	uint32_t	rkey;
};

struct via_rx {
	void		*context;
	bool		silent;
};

/* 32 bytes and five segments of 16, aligned to 64. */
#define VIA_DESC_BYTES	128

enum via_ep_state {
	VIA_EP_NEW,		/* not enabled */
	VIA_EP_IDLE,
	VIA_EP_CONNECTING,	/* client, and server after fi_accept */
	VIA_EP_CONNECTED,
	VIA_EP_DOWN,
};

struct via_ep {
	struct fid_ep		fid;
	struct via_domain	*domain;
	struct via_nic		*nic;
	struct via_eq		*eq;
	struct via_cq		*tx_cq, *rx_cq;
	bool			tx_selective, rx_selective;
	uint64_t		tx_flags, rx_flags;	/* defaults */
	uint32_t		tx_size, rx_size;
	struct sockaddr_in	src, dest;
	struct via_request	*request;	/* of a server */
	int			port;		/* as that of a pep, or -1 */

	/* all below: nic->lock */
	enum via_ep_state	state;
	bool			dying;		/* its queues are being emptied */
	struct vipl_list	link;		/* nic->connecting */
	struct vipl_list	owing;		/* nic->owing */
	struct via_vi		data;
	struct via_ctl		ctl;
	uint32_t		transfer;	/* bytes of one VIA message */
	void			*slab;		/* descriptors, inject, control */
	size_t			slab_len;
	VIP_MEM_HANDLE		mem;

	/* connecting */
	bool			up[2];		/* by via_vi_kind */
	bool			asked[2];	/* a verdict is to come */
	bool			welcome;	/* ACCEPT came */
	bool			refused;	/* data VI: its reason follows */
	uint64_t		deadline_ns;
	struct via_hello	hello;
	VIP_UINT8		host[32];
	uint8_t			cm[VIA_CM_DATA];	/* sent or received */
	uint8_t			cm_len;

	/* credits */
	uint32_t		posted, told;	/* our receives */
	uint32_t		taken;		/* of them that messages took */
	uint32_t		credits, used;	/* the peer's; our messages */

	/* transmit */
	struct via_tx		*tx, *tx_free;
	struct via_tx		*txq, **txq_end;	/* not all posted */
	struct via_tx		*written, **written_end; /* wait for ctl */
	uint32_t		ntx;		/* descriptors */
	uint16_t		*tx_idx;	/* free ones: a stack */
	uint32_t		tx_idle;	/* how many */
	struct via_tx		**tx_of;	/* descriptor to operation */
	char			*tx_desc, *inject;

	/* receive */
	struct via_rx		*rx;
	uint16_t		*rx_idx;
	uint32_t		rx_idle;
	char			*rx_desc;
};

static inline struct via_ep *via_ep_of(struct fid *fid)
{
	return vipl_container(fid, struct via_ep, fid.fid);
}

/* ep.c */
int via_ep_open(struct fid_domain *domain, struct fi_info *info,
		struct fid_ep **ep, void *context);
/* nic->lock held */
void via_ep_end(struct via_ep *ep);
int via_getopt(struct fid *fid, int level, int name, void *val, size_t *len);
int via_setopt(struct fid *fid, int level, int name, const void *val,
	       size_t len);

/* cm.c; nic->lock held */
extern struct fi_ops_cm via_ep_cm_ops;
void via_cm_step(struct via_ep *ep);
void via_cm_fail(struct via_ep *ep, int err, int prov, const void *data,
		 size_t len);
void via_cm_welcome(struct via_ep *ep, const struct via_ctl_msg *m);

/* credit.c; nic->lock held */
bool via_credit_take(struct via_ep *ep);
void via_credit_check(struct via_ep *ep);
void via_credit_flush(struct via_ep *ep);
bool via_credit_news(struct via_ep *ep, const struct via_ctl_msg *m);

/* tx.c; nic->lock held */
struct via_tx *via_tx_new(struct via_ep *ep, int *err);
void via_tx_pump(struct via_ep *ep);
/* All there is to do with one that is filled in, @most bytes: 0 or -FI_*. */
int via_tx_submit(struct via_ep *ep, struct via_tx *t, const struct iovec *iov,
		  void **desc, size_t n, bool inject, uint64_t most);
void via_tx_written(struct via_ep *ep);
int via_tx_done(struct via_ep *ep);
void via_tx_cancel(struct via_ep *ep);

/* msg.c, rma.c */
extern struct fi_ops_msg via_msg_ops;
extern struct fi_ops_rma via_rma_ops;
int via_rx_done(struct via_ep *ep);	/* nic->lock held */

/* pep.c */
int via_pep_open(struct fid_fabric *fabric, struct fi_info *info,
		 struct fid_pep **pep, void *context);
struct via_pep;
/* nic->lock held */
void via_pep_look(struct via_nic *nic);
struct via_request *via_request_claim(struct fid *handle);
void via_request_free(struct via_request *r);
void via_request_reject(struct via_request *r, const void *data, size_t len);
/* Without the lock. */
int via_pep_yield(struct fid *handle, struct via_nic *nic,
		  struct sockaddr_in *addr, int *port);

/* reject.c; nic->lock held */
int via_reject_send(struct via_request *r, const void *data, size_t len);
void via_reject_poll(struct via_nic *nic);
void via_reject_event(struct via_reject *b, bool recv);
void via_reject_end(struct via_nic *nic);

/* domain.c, mr.c, fabric.c */
int via_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);
extern struct fi_ops_mr via_mr_ops;
int via_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);

/* info.c, addr.c */
int via_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints,
		struct fi_info **info);

struct via_place {
	char		name[VIA_NAME_MAX];	/* VI NIC */
	struct in_addr	ip, mask;
	bool		remote;			/* reaches other hosts */
};
int via_places(struct via_place *p, int max);
int via_place_ip(const char *name, struct in_addr *ip);
bool via_addr_is_local(struct in_addr ip);
bool via_addr_ok(const void *addr, size_t len);
int via_addr_host(struct via_nic *nic, struct in_addr ip, VIP_UINT8 host[32]);
int via_port_take(struct sockaddr_in *addr, int *fd);
void via_listen_addr(const struct via_nic *nic, const VIP_UINT8 *host,
		     uint16_t port, VIP_NET_ADDRESS *out);
#define VIA_NET_BYTES	128
union via_net {
	VIP_NET_ADDRESS	a;
	VIP_UINT8	room[VIA_NET_BYTES];
};

/* error.c */
int via_err_of(VIP_RETURN r);
/* Keep the reason of that code, of the call that this thread made just now. */
void via_err_why(VIP_RETURN r);
int via_err_of_status(uint32_t status);
const char *via_strerror(int prov, char *buf, size_t len);

/* stub.c: -FI_ENOSYS, for each call that is not served */
ssize_t via_no(void);
#define VIA_NO	((void *)via_no)
#define VIA_FID_OPS(close_, bind_, control_) { \
	.size = sizeof(struct fi_ops), .close = close_, .bind = bind_, \
	.control = control_, .ops_open = VIA_NO, \
	.tostr = VIA_NO, .ops_set = VIA_NO }
extern struct fi_ops_tagged via_no_tagged;
extern struct fi_ops_atomic via_no_atomic;
extern struct fi_ops_collective via_no_collective;
extern struct fi_ops_cm via_no_cm;

#endif /* VIA_FAB_H */
