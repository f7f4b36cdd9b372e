/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * vipl/engine.h - VIA in software, for providers that run in user space
 *
 * libvipl_engine.a implements every operation of struct vipl_provider above a
 * transport: work queues, completion queues, regions and their protection,
 * the states of a VI, the three reliability levels, connections. What remains
 * for a provider is struct eng_transport. The engine is linked into the
 * provider; it has no ABI of its own.
 *
 * Model
 * -----
 * A NIC handle is a node; the other ends of its connections are its peers, a
 * peer being one NIC handle of any process (this one included). A transport
 * moves two kinds of things between a NIC and a peer:
 *
 * - packets: a header and up to transport->eager bytes, delivered in order and
 *   exactly once while the peer is up;
 * - pulls: the target of a transfer fetches bytes that the initiator exported.
 *
 * All checks (a posted descriptor, its length, handle, tag, range, rights, the
 * VI) are made by the target's engine, on arrival. Control messages (connect,
 * accept, disconnect...) are packets too.
 *
 * Threads and locks
 * -----------------
 * A NIC handle has one lock, the "engine lock": it guards the state of VIs,
 * peers, regions, queues and the transport, and posting takes it. Every
 * transport operation is called with it held, except open, close, wait and
 * wake. Only collecting a completion has locks of its own.
 *
 * Progress is made by whichever thread needs it: callers that poll try the
 * engine lock and progress if they get it; a thread that waits becomes the
 * NIC's leader, when there is none, and sleeps in transport->wait itself, so
 * that an arrival wakes the thread that wants it; when the program's threads
 * do neither, the NIC's own progress thread is the leader. It may take a
 * millisecond to notice.
 *
 * What the transport tells the engine (eng_rx and so on) may be told from
 * inside any operation but wait and wake, and no operation is called back from
 * inside of it: what follows from it is done afterwards.
 */
#ifndef _VIPL_ENGINE_H
#define _VIPL_ENGINE_H

#include <sys/uio.h>
#include <vipl/provider.h>

struct eng_nic;
struct eng_peer;
struct eng_pull;

#define ENG_SRC_SEGS	256	/* segments of a transfer, at most */
#define ENG_HEADER	64	/* bytes of a packet's header */
#define ENG_EAGER_MIN	6144	/* least payload that every packet can have */

/* eng_transport.flags */
/*
 * Where xmit has returned 0 the packet has left this process: it arrives
 * though this process ends (a ring in the peer's memory). Reliable Delivery
 * needs no acknowledgements then.
 */
#define ENG_ARRIVED	0x1
/*
 * A host address is that of one NIC: a peer that is up needs no other
 * handshake.
 */
#define ENG_ONE_NIC	0x2
/*
 * A pull fills the places of dst one after the other, each in any order, and one
 * more of them costs little: the last byte of an RDMA Write is one, perhaps the
 * engine's, which puts it in place when all before it are. (A read of its own
 * over a network would double the latency.)
 */
#define ENG_LAST_APART	0x4
/* export_mem() takes a copy: a VI has few of them at a time. */
#define ENG_COPIES	0x8

/*
 * A packet's header, in the byte order of the host (peers of another order or
 * version are refused by the handshake). Opaque to transports.
 */
struct eng_header {
	uint8_t bytes[ENG_HEADER];
} __attribute__((aligned(8)));

/*
 * The header of a plain packet: one that is whole in itself, a SEND of 1 to
 * ENG_PLAIN_MAX bytes without immediate data. A transport that has a form of
 * its own for these (a line of a ring) gives them to eng_rx_plain().
 */
struct eng_plain {
	uint64_t nonce;
	uint32_t dst;
	uint32_t seq;
	uint32_t ack;
	uint32_t zero;
};

#define ENG_PLAIN_MAX	32	/* bytes of payload */

/*
 * Where bytes can be pulled from: what the initiator's transport said of one
 * segment. Travels as payload. key and base mean what the transport wants.
 */
struct eng_src {
	uint64_t base;			/* address, or offset */
	uint64_t key;
	uint64_t len;			/* bytes */
};

/*
 * A pull. The engine fills it in and owns the memory; the transport may keep
 * it until it says eng_pulled(). src and dst describe as many bytes. With
 * ENG_LAST_APART dst need not be registered memory.
 */
struct eng_pull {
	const struct eng_src *src;
	const struct iovec *dst;
	uint32_t nsrc, ndst;
	uint64_t len;			/* bytes in all */
	int more;			/* a hint: another pull follows at once */
	void *transport;		/* the transport's, NULL at first */
	struct eng_pull *next;		/* the transport's */
};

/* Data that two transports exchange in the handshake of their NICs. */
struct eng_hello {
	uint32_t len;			/* bytes of data[] */
	uint32_t files;			/* only where the link can pass them */
	int file[4];			/* the receiver's, which closes them */
	uint8_t data[512];
};

struct eng_transport {
	const char *name;		/* of the provider */
	uint32_t nic_size;		/* bytes of eng_nic_priv() */
	uint32_t peer_size;		/* bytes of eng_peer_priv() */
	uint32_t eager;			/* payload of a packet, >= ENG_EAGER_MIN */
	uint32_t region_size;		/* bytes of a region's area, zero */
	uint32_t flags;			/* ENG_ARRIVED... */

	/*
	 * open: no lock. Fill in name, addr, addr_len, mtu, features and any
	 * limit below the engine's own (those are set before). close: after
	 * every peer is down, also when open failed.
	 */
	VIP_RETURN (*open)(struct eng_nic *nic, const char *rest,
			   struct vipl_identity *id);
	void (*close)(struct eng_nic *nic);

	/*
	 * Begin a handshake with the NIC at that address, to make it a peer.
	 * One of eng_peer_up(), eng_peer_same() and eng_peer_down() follows,
	 * perhaps before it returns. Several NICs (of the processes of a host)
	 * may have one host address: disc, the remote discriminator, selects
	 * the one that waits for it. So each connection that is asked for has a
	 * new peer and a handshake of its own; where the NIC that waits turns
	 * out to be a peer already, eng_peer_same() says so. Where this NIC
	 * itself and another one wait for it, it is the other one.
	 * 0, or a negative errno, when none of those is called: -ENOENT no NIC
	 * waits for it (NO_MATCH), -ENOMEM and -ENOBUFS there is no room for
	 * one more (ERROR_RESOURCE; a peer-to-peer request looks again),
	 * -EHOSTUNREACH and others (NOT_REACHABLE).
	 */
	int (*handshake)(struct eng_peer *peer, const struct vipl_addr *remote);
	/*
	 * This NIC waits (now) for a discriminator, or no longer. 0, or a
	 * negative errno: it cannot wait (ERROR_RESOURCE).
	 */
	int (*waiting)(struct eng_nic *nic, const uint8_t *disc, uint32_t len,
		       int now);
	/*
	 * The NIC handle closes: let go of it, after what was transmitted has
	 * left. peer_release follows.
	 */
	void (*part)(struct eng_peer *peer);
	/*
	 * Free what it has; nothing refers to it any more, and the engine
	 * frees the peer. After eng_peer_down(), eng_peer_same(), a handshake
	 * that failed, or at the NIC's close; pulls that were under way are not
	 * reported, and have no effect any more. The engine may also give a
	 * peer up by itself.
	 */
	void (*peer_release)(struct eng_peer *peer);

	/*
	 * Send a packet: 0, -EAGAIN (no room: the engine keeps it and tries
	 * again after eng_room()), or another errno: the peer is lost, say so
	 * by eng_peer_down(). The payload is copied before it returns.
	 */
	int (*xmit)(struct eng_peer *peer, const struct eng_header *h,
		    const struct iovec *payload, unsigned int n);

	/*
	 * Let the peer pull this memory of a registered region, once it learns
	 * src; until unexport_mem, which comes before the region's dereg, and
	 * for a peer that is down as well. 0 or an errno. region_priv is the
	 * area that reg filled. Peers pull, they never push: no right to write
	 * is granted.
	 */
	int (*export_mem)(struct eng_peer *peer, void *region_priv,
			  const void *addr, size_t len, struct eng_src *src);
	void (*unexport_mem)(struct eng_peer *peer, const struct eng_src *src);

	/* Begin a pull: 0 (eng_pulled() follows, perhaps before it returns),
	 * -EAGAIN (again after eng_room()), or another errno: it failed.
	 */
	int (*pull)(struct eng_peer *peer, struct eng_pull *pull);

	/* A region comes and goes; may be NULL. 0 or a negative errno. */
	int (*reg)(struct eng_nic *nic, void *region_priv, void *addr,
		   size_t len);
	void (*dereg)(struct eng_nic *nic, void *region_priv);

	/*
	 * progress: take what has arrived (eng_rx, eng_pulled, eng_room,
	 * eng_peer_up, eng_peer_down), at most about budget packets; returns
	 * how many things it did.
	 * arm: before wait: 0, or 1 when there is something to do already.
	 * disarm: after every arm, whatever it returned; perhaps while a
	 * thread is in wait still, which wake then ends.
	 * wait: no lock: sleep until something arrives or the time is over
	 * (ns, UINT64_MAX: no limit) or wake; one thread at a time.
	 * wake: from any thread, no lock of the engine's; or with it, from inside
	 * what the transport tells the engine (eng_rx...), so it takes no lock
	 * that is held around these.
	 */
	int (*progress)(struct eng_nic *nic, unsigned int budget);
	int (*arm)(struct eng_nic *nic);
	void (*disarm)(struct eng_nic *nic);
	void (*wait)(struct eng_nic *nic, uint64_t ns);
	void (*wake)(struct eng_nic *nic);

	/*
	 * Does another address than the NIC's lead to it as well? May be NULL:
	 * none does. Any thread, no lock.
	 */
	int (*leads_here)(struct eng_nic *nic, const uint8_t *host);

	/*
	 * Make of an address as another host writes it what it is here. May be
	 * NULL: it is the same everywhere. The engine lock is held.
	 */
	void (*as_here)(struct eng_nic *nic, uint8_t *host);
};

/*
 * The transport's areas, zero at first. The engine's struct eng_nic is the
 * private area of the library's NIC: eng_nic_priv(vipl_priv(nic)) is what the
 * provider's own operations (addr_parse...) use.
 */
void *eng_nic_priv(struct eng_nic *nic);
void *eng_peer_priv(struct eng_peer *peer);
struct eng_nic *eng_peer_nic(struct eng_peer *peer);

/* Events that the transport reports to the engine; engine lock held. */

/*
 * A NIC that wants to be a peer has come: the engine's object for it, which
 * peer_release ends; NULL: no memory, or too many. addr is its host address.
 */
struct eng_peer *eng_peer_new(struct eng_nic *nic, const uint8_t *addr);
/* Packets can be exchanged from now on. */
void eng_peer_up(struct eng_peer *peer);
/*
 * The handshake of peer has led to the NIC of `as`, which is up or about to be:
 * what waits for peer goes on with `as`. peer has ended: peer_release follows.
 */
void eng_peer_same(struct eng_peer *peer, struct eng_peer *as);
/*
 * The peer cannot be reached (err: as handshake) or is lost (its process has
 * ended, its host is silent; 0: it has parted): connections end. Every packet
 * that it sent and that will come has come before. Pulls that have begun end by
 * eng_pulled() with an errno before it, or have no effect any more.
 */
void eng_peer_down(struct eng_peer *peer, int err);
/*
 * A packet arrived. payload is valid until it returns and is never written;
 * it may lie in memory that the peer can write, and is read once.
 */
void eng_rx(struct eng_peer *peer, const struct eng_header *h,
	    const void *payload, size_t len);
void eng_rx_plain(struct eng_peer *peer, const struct eng_plain *h,
		  const void *payload, size_t len);
/* A pull has ended: 0 or an errno. Bytes of a failed one may have moved. */
void eng_pulled(struct eng_peer *peer, struct eng_pull *pull, int err);
/*
 * Into and out of memory of a region, which may not be mapped any more, or not be
 * writable: 0 or -EFAULT; len is not 0. And may it be read?
 */
int eng_copy_in(uint64_t addr, const void *buf, size_t len);
int eng_copy_out(void *buf, uint64_t addr, size_t len);
int eng_readable(uint64_t addr, uint64_t len);
/* There is room for packets or pulls that got -EAGAIN. */
void eng_room(struct eng_peer *peer);

/*
 * A struct vipl_provider whose operations are the engine's, above that
 * transport. name, version, devices, explain, addr_*, resolve, name_of,
 * discover and fork_child are the provider's own to fill in.
 */
void eng_provider(struct vipl_provider *out, const struct eng_transport *t,
		  const struct vipl_host *host);

#endif /* _VIPL_ENGINE_H */
