/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a NIC module sees of the Ethernet device class, and the class of it.
 *
 * The class turns descriptors into frames and frames into completed
 * descriptors; a NIC module moves frames.  Neither sees the other's matter:
 * a NIC module knows no descriptor, tag, VI or address of a program, the class
 * knows no skb, ring or register.
 *
 * What a frame has in front of the wire's own header (wire.h) is the NIC
 * module's, and so are addresses of hosts but for their comparison: a link
 * (link_open()) has all that its frames to one host need.
 *
 * Sending goes in bursts.  tx_begin() takes the transmitter; tx_get() gives
 * room for one frame behind its link header, which the class fills in place, so
 * that payload is copied once; tx_put() sends it; tx_end() lets the transmitter
 * go and rings the hardware's doorbell once for the whole burst.  Lengths are
 * those behind the link header.
 *
 * What functions return: int is 0 or -errno; bool and the ops: see each.
 *
 * The tx ops are called with bottom halves off, under locks of the class and
 * the agent: they may neither sleep nor receive frames.
 */
#ifndef _VIA_ETHER_H
#define _VIA_ETHER_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/timerqueue.h>
#include "../../kernel/via_ka.h"
#include "proto/host.h"
#include "proto/incast.h"
#include "proto/ratelimit.h"
#include "proto/token.h"

struct via_ether_allow;
struct via_ether_counters;
struct via_ether_frame;
struct via_ether_nic;
struct via_owed;
struct via_ready;
struct via_peers;

/**
 * struct via_ether_tx - one burst, on the sender's stack
 * @queue:	the NIC module's: what it has locked
 * @last:	the NIC module's: a frame that waits for those behind it
 */
struct via_ether_tx {
	void *queue;
	void *last;
};

/**
 * struct via_ether_link - how frames get to one host, or to all
 * @header:	a link header as it goes out, if the network has constant ones
 * @priv:	the NIC module's
 */
struct via_ether_link {
	u8 header[16] __aligned(8);
	void *priv;
};

/**
 * struct via_ether_buf - room for one frame
 * @data:	where the wire's header goes
 * @priv:	the NIC module's
 */
struct via_ether_buf {
	u8 *data;
	void *priv;
};

/* Pieces of memory that the payload of a train lies in, at most. */
#define VIA_ETHER_TRAIN_PIECES	32u

/**
 * struct via_ether_train - frames of one message that go out as one
 * @hdr:	bytes of headers: the first frame's, with the flags of the last
 * @seg:	bytes of payload of each frame, but for the last one
 * @off:	of the first of them in the message
 * @plain:	the message has no immediate data
 * @bytes:	of payload of all, more than @seg; lowered to what there is room for,
 *		then a multiple of @seg
 * @pieces:	how many of @piece there are; none with @shared
 * @piece:	where they go, in a row
 * @alone:	the NIC module's, between tx_get_train() and tx_put_train()
 * @shared:	the payload may go as the pages that it lies in; cleared by
 *		tx_get_train() where it is to be copied to @piece instead
 * @pages:	with @shared: these, before tx_put_train() takes their references
 */
struct via_ether_train {
	u32 hdr;
	u32 seg;
	u32 off;
	bool plain;
	bool alone;
	u32 bytes;
	u32 pieces;
	struct {
		u8 *data;
		u32 len;
	} piece[VIA_ETHER_TRAIN_PIECES];
	bool shared;
	struct via_page_frags pages;
};

struct via_ether_ops {
	struct module *owner;		/* stays while a program has it open */
	struct via_device_ops ka;	/* the class fills it in */
	/**
	 * @host_valid: can @host be the address of one other host?  Any
	 * context.
	 */
	bool (*host_valid)(const struct via_ether_nic *nic, const u8 *host);
	/**
	 * @host_near: where there is no list of hosts, may @host talk to the
	 * NIC?  Softirq or process context, locks of the class may be held.
	 * Optional: all may.
	 */
	bool (*host_near)(struct via_ether_nic *nic, const u8 *host);
	/**
	 * @link_open: fill in @link to @host, NULL: to all hosts on the
	 * network.  False: no memory, or no such thing as all hosts.  Any
	 * context but hard interrupts, locks of the class may be held.  @gfp 0:
	 * for one frame: it takes nothing, and is not closed.
	 */
	bool (*link_open)(struct via_ether_nic *nic,
			  struct via_ether_link *link, const u8 *host,
			  gfp_t gfp);
	/**
	 * @link_close: give back what it has.  Any context but hard
	 * interrupts; the NIC may have gone, the module has not.  Optional.
	 */
	void (*link_close)(struct via_ether_link *link);
	/**
	 * @path_black_hole: a frame of @len bytes towards @link is lost again and
	 * again, while shorter ones get through: the path may have an MTU that
	 * it does not tell.  The NIC module lowers what it takes for the path's
	 * MTU, and calls via_ether_path() when it has.  Softirq or BH off, the
	 * class's locks held.  Optional: the network has no such paths.
	 */
	void (*path_black_hole)(struct via_ether_nic *nic,
				const struct via_ether_link *link, u32 len);
	/**
	 * @tx_begin: start a burst.  @flow picks the hardware queue: frames of
	 * one flow stay in order.  False: cannot send now; via_ether_wake()
	 * or the class's timer tells when to try again.
	 */
	bool (*tx_begin)(struct via_ether_nic *nic, struct via_ether_tx *tx,
			 u32 flow);
	/**
	 * @tx_get: room for @len bytes towards @link, or false: full, end the
	 * burst.  The link is there until tx_end().
	 */
	bool (*tx_get)(struct via_ether_nic *nic, struct via_ether_tx *tx,
		       const struct via_ether_link *link, u32 len,
		       struct via_ether_buf *buf);
	/**
	 * @tx_put: send what tx_get() gave, @len bytes.  False: the frame is
	 * not sent and its room gone; end the burst.
	 */
	bool (*tx_put)(struct via_ether_nic *nic, struct via_ether_tx *tx,
		       u32 len, struct via_ether_buf *buf);
	/**
	 * @tx_put_frags: send what tx_get() gave as far as @len, and behind it
	 * the bytes that @frags name, by DMA.  The frame has its region's
	 * @last remembered until it has left.  False: not this time, the room
	 * stays taken; copy, and tx_put().  Optional: copy always.
	 */
	bool (*tx_put_frags)(struct via_ether_nic *nic,
			     struct via_ether_tx *tx, u32 len,
			     struct via_ether_buf *buf,
			     const struct via_frags *frags);
	/** @mem_map, @mem_unmap: of struct via_device_ops.  With it. */
	void (*mem_map)(struct via_ether_nic *nic, struct via_mem_map *map,
			struct page **pages, u32 npages);
	void (*mem_unmap)(struct via_ether_nic *nic, struct via_mem_map *map,
			  struct page **pages, u32 npages);
	/** @tx_drop: give back what tx_get() gave. */
	void (*tx_drop)(struct via_ether_nic *nic, struct via_ether_tx *tx,
			struct via_ether_buf *buf);
	/**
	 * @tx_get_train: room for a train of frames towards @link, of two at
	 * least, whose headers go to @buf->data.  What takes it apart calls
	 * via_ether_cut().  False: send them one by one.  Called while
	 * @nic->trains is set; tx_drop() gives it back.  Optional.
	 */
	bool (*tx_get_train)(struct via_ether_nic *nic,
			     struct via_ether_tx *tx,
			     const struct via_ether_link *link,
			     struct via_ether_train *train,
			     struct via_ether_buf *buf);
	/**
	 * @tx_copy_train: the pages of what tx_get_train() gave cannot be had: room
	 * for @train->bytes of copies.  False: there is none; tx_drop() follows.
	 * Optional: all payload is copied.
	 */
	bool (*tx_copy_train)(struct via_ether_nic *nic,
			      struct via_ether_train *train,
			      struct via_ether_buf *buf);
	/** @tx_put_train: send it; as tx_put(). */
	bool (*tx_put_train)(struct via_ether_nic *nic, struct via_ether_tx *tx,
			     const struct via_ether_train *train,
			     struct via_ether_buf *buf);
	/**
	 * @resent: a frame of data towards @link is sent again.  Softirq or BH off,
	 * the class's locks held.  Optional.
	 */
	void (*resent)(struct via_ether_nic *nic,
		       const struct via_ether_link *link);
	/**
	 * @rx_other: is this frame, of a type that the class does not know, the NIC
	 * module's own?  As via_ether_rx(), which calls it.  Optional.
	 */
	bool (*rx_other)(struct via_ether_nic *nic,
			 const struct via_ether_frame *frame);
	/** @tx_end: end the burst. */
	void (*tx_end)(struct via_ether_nic *nic, struct via_ether_tx *tx);
	/** @tx_get_one: tx_begin() and tx_get(), for a burst of one frame. */
	bool (*tx_get_one)(struct via_ether_nic *nic, struct via_ether_tx *tx,
			   const struct via_ether_link *link, u32 flow, u32 len,
			   struct via_ether_buf *buf);
	/** @tx_put_one: send the one frame and end the burst. */
	void (*tx_put_one)(struct via_ether_nic *nic, struct via_ether_tx *tx,
			   u32 len, struct via_ether_buf *buf);
	/**
	 * @busy_poll, @busy_poll_mode: see struct via_device_ops.  busy_poll()
	 * may receive frames, and turns bottom halves off for it.  Both or
	 * none: programs that spin look at the class's alarm alone.
	 */
	void (*busy_poll)(struct via_ether_nic *nic);
	bool (*busy_poll_mode)(struct via_ether_nic *nic,
			       enum via_busy_poll_step step);
	/**
	 * @rx_look: receive what the ring holds, as busy_poll() does, for the
	 * class: its timer has run late.  Optional.
	 */
	void (*rx_look)(struct via_ether_nic *nic);
	/** @stats: the NIC module's own counters.  Optional. */
	void (*stats)(struct via_ether_nic *nic, struct via_stats_sink *sink);
};

/**
 * struct via_ether_chunk - bytes of a received frame that lie in a row
 */
struct via_ether_chunk {
	const void *data;
	u32 len;
};

/**
 * struct via_ether_frame - a received frame
 * @src:	sender's address, nic->host.len bytes
 * @hdr:	its first min(@len, VIA_WIRE_HDR_MAX) bytes in a row
 * @len:	bytes behind the link header, padding included
 * @ce:		the network has marked it Congestion Experienced (ECN, of a NIC
 *		module that sends in IP)
 * @train:	it is a train: bytes of payload of each frame but the last; no
 *		padding follows.  0: one frame
 * @nchunks:	where the whole of it lies, headers included
 * @chunk:	at least one
 *
 * Nothing of it is used after via_ether_rx() returns.
 */
struct via_ether_frame {
	const u8 *src;
	const void *hdr;
	u32 len;
	bool ce;
	u32 train;
	u32 nchunks;
	const struct via_ether_chunk *chunk;
};

/**
 * struct via_alarm - something that is to be done at a time
 *
 * nic->lock:
 * @node:	on nic->clock.due, if @queued; expires: ns of ktime_get_ns()
 * @urgent:	other hosts wait for it: the timer is started for it although programs
 *		that busy-poll look at the time
 *
 * Constant:
 * @fire:	do it: off the queue.  BH off, RCU read side
 * @rests:	may it be done some time before?  A hint; NULL: it may not
 */
struct via_alarm {
	struct timerqueue_node node;
	bool queued;
	bool urgent;
	void (*fire)(struct via_alarm *a, u64 now, struct via_work *work);
	bool (*rests)(const struct via_alarm *a);
};

/**
 * struct via_ether_runs - VIs that are to send again (run.c): nic->lock
 * @ops:	constant
 * @tasklet:	calls ops->visits, after a softirq
 * @ready:	constant: per CPU: VIs that have credit (ready.c)
 * @tx_blocked:	VIs that found the NIC full
 * @retry:	@tx_blocked is run then, if the NIC gives no sign
 * @retry_ns:	from a stall to such a wake
 */
struct via_ether_runs {
	const struct via_run_ops *ops;
	struct tasklet_struct tasklet;
	struct via_ready __percpu *ready;
	struct list_head tx_blocked;
	struct via_alarm retry;
	u64 retry_ns;
};

/**
 * struct via_ether_tick - the coarse timer (timer.c): nic->lock
 * @jobs:	constant: what a tick does
 * @timer:	runs while a job is wanted
 * @armed, @at:	the timer is armed, for these jiffies, or runs
 * @next_live:	jiffies of the next look at peers and requests
 * @peers_left:	peers that this round of looks has not come to
 * @peers_again: the timer's own: one of those before has more to do
 */
struct via_ether_tick {
	const struct via_tick_job *jobs;
	struct timer_list timer;
	bool armed;
	bool peers_again;
	unsigned long at;
	unsigned long next_live;
	u32 peers_left;
};

/**
 * struct via_ether_clock - the alarm (timer.c): nic->lock; ns of ktime_get_ns()
 * @timer:	the high-resolution timer; armed while @due is not empty
 * @armed:	lock to write: for when @timer is armed, U64_MAX: it is not, 0: it
 *		runs and arms itself
 * @started:	for when the timer itself was started; U64_MAX: it was not
 * @polled:	programs that busy-poll look at @armed: programs_look()
 * @urgent:	entries of @due that are
 * @looked_at:	when @timer was last to go off later
 * @due:	what is done, by time
 */
struct via_ether_clock {
	struct hrtimer timer;
	atomic64_t armed;
	u64 started;
	bool polled;
	u32 urgent;
	u64 looked_at;
	struct timerqueue_head due;
};

/**
 * struct via_ack_deadline - the sender's ACK deadline (acks.c): nic->lock
 * @kept:	PUSHes have one, which this end keeps; read without the lock
 * @due:	when it is
 * @asker, @seq: the VI and the number of the PUSH; NULL: none
 */
struct via_ack_deadline {
	bool kept;
	u32 seq;
	struct via_alarm due;
	struct via_ether_vi *asker;
};

/**
 * struct via_ether_nic - a NIC under the class
 * @ops:	constant
 * @host:	constant: its address; changing it needs a new NIC
 * @frame_min:	constant: no frame has fewer bytes behind the link header
 * @prefixes:	constant: its network has prefixes of addresses
 * @mtu:	bytes behind the link header; via_ether_set_mtu()
 * @rx_frames:	constant: frames the NIC takes in a row before it drops
 * @trains:	trains may be sent; the NIC module may change it
 * @priv:	constant: the NIC module's
 *
 * The NIC module fills the fields above; the rest is the class's.
 *
 * @ka:		constant: the agent's side
 * @epoch:	constant: random, new with each registration, not 0
 * @counters:	constant: per CPU
 * @allow:	hosts that may talk to the NIC, NULL: all (RCU to read)
 * @allow_seq:	counts its changes, likewise
 * @nkeyed:	how many of them have a key (WRITE_ONCE(), READ_ONCE(): a writer
 *		of the list)
 * @lock:	guards the lists and tables below; innermost but for those of
 *		@owed, and for the NIC module's own locks, which are never taken
 *		under it
 * @connecting:	lock: attempts, by the tick that looks at them, of get_jiffies_64()
 * @owed:	constant: per CPU: VIs that owe acknowledgements after this batch of
 *		frames
 * @visits:	lock: peers whose VIs are to give back credit
 * @reqs:	lock: connection requests that arrived, by the end of their time
 * @nreqs:	lock: how many
 * @peers:	constant: the hosts that it deals with, see peer.h
 * @stopping:	lock: no timer is armed any more
 * @runs:	VIs that are to send again
 * @tick:	the coarse timer
 * @clock:	the alarm
 * @asked:	the acknowledgement request that is due next
 * @incast:	lock: the hosts that send to the NIC
 * @ooo:	frames held beyond holes, in all VIs
 * @limit:	what is answered to unknown hosts; no lock
 * @token_lock: guards @token; nothing is taken inside it
 * @token:	secrets for tokens of address
 * @asks:	lock: queries for names under way
 * @leaving:	lock to write: the NIC is being unregistered, nothing is waited for
 */
struct via_ether_nic {
	struct via_ether_ops *ops;
	struct via_host host;
	u32 frame_min;
	bool prefixes;
	u32 mtu;
	u32 rx_frames;
	bool trains;
	void *priv;

	struct via_nic *ka;
	u64 epoch;
	struct via_ether_counters __percpu *counters;
	struct via_ether_allow __rcu *allow;
	u32 allow_seq;
	u32 nkeyed;
	spinlock_t lock;
	struct via_order connecting;
	struct via_owed __percpu *owed;
	struct list_head visits;
	struct via_order reqs;
	u32 nreqs;
	struct via_peers *peers;
	bool stopping;
	struct via_ether_runs runs;
	struct via_ether_tick tick;
	struct via_ether_clock clock;
	struct via_ack_deadline ack_deadline;
	struct via_incast incast;
	atomic_t ooo;
	struct list_head asks;
	bool leaving;
	struct via_limit limit;
	spinlock_t token_lock;
	struct via_token token;
	struct llist_node gone;		/* the NIC module's, until free */
};

/*
 * For NIC modules.  alloc gives a NIC, its agent's side in nic->ka, whose
 * name, ifindex, parent and netns the module fills in; register makes the
 * node (-EEXIST: the name is taken, -EBUSY: the interface is a VI NIC
 * already); unregister breaks all connections and returns when the class
 * calls the module no more, but for mem_map and mem_unmap; free is the last, and
 * waits for these: a module that has them does not call it under RTNL.  All may
 * sleep; the module stops via_ether_rx() before unregister.
 */
struct via_ether_nic *via_ether_alloc(struct via_ether_ops *ops);
int via_ether_register(struct via_ether_nic *nic);
void via_ether_unregister(struct via_ether_nic *nic);
void via_ether_free(struct via_ether_nic *nic);

/*
 * Counters of the class and the agent, for a list of the NIC module's own: how
 * many there are, which is constant; what each is called; and all as they
 * stand, of a NIC that is registered.  Process context.
 */
u32 via_ether_counts(void);
const char *via_ether_count_name(u32 which);
void via_ether_count_read(struct via_ether_nic *nic, u64 *value);

/* For a NIC module that makes interfaces VI NICs: via_attach_register(). */
void via_ether_attach_register(struct via_attach_ops *ops);
void via_ether_attach_unregister(struct via_attach_ops *ops);

/* A frame of the wire arrived.  Softirq or BH off, RCU read side. */
void via_ether_rx(struct via_ether_nic *nic,
		  const struct via_ether_frame *frame);
/* The same, to the broadcast address. */
void via_ether_rx_broadcast(struct via_ether_nic *nic,
			    const struct via_ether_frame *frame);
/*
 * A train is taken apart: @frame is the copy of its headers for the @k-th frame
 * behind the first, which carries @len bytes, each before it @seg.  Any context.
 */
void via_ether_cut(void *frame, u32 k, u32 seg, u32 len, bool last);
/* The bytes of the headers of a train that begins with @size bytes; 0: none. */
u32 via_ether_train_hdr(const void *frame, u32 size);
/* There is room again.  Any context, but not under a NIC module's lock. */
void via_ether_wake(struct via_ether_nic *nic);
/*
 * The NIC is not to be polled any more; its busy_poll_mode() must refuse to
 * begin.  Any context but hard interrupts.  synchronize_rcu() waits for those
 * that poll.
 */
void via_ether_busy_poll_stop(struct via_ether_nic *nic);
/*
 * The interface went down: break every connection.  The first may sleep; the other
 * one keeps the CPU, but for softirqs, until all VIs have flushed.
 */
void via_ether_break(struct via_ether_nic *nic);
void via_ether_break_atomic(struct via_ether_nic *nic);
/* This one may sleep, too. */
void via_ether_set_mtu(struct via_ether_nic *nic, u32 mtu);
/*
 * On the way to a host fit so many bytes behind the link header.  Frames that
 * have a number are sent again as they were, and new ones may be too long until
 * the next ticks: the NIC module finds a way.  Softirq or BH off, RCU read side,
 * no lock held.
 */
void via_ether_path(struct via_ether_nic *nic, const u8 *host, u32 mtu);
/*
 * Are these the first bytes of a frame on a connection with that host?  What
 * they have to name only hosts on the way have seen.  Likewise.
 */
bool via_ether_quotes(struct via_ether_nic *nic, const u8 *host,
		      const void *wire, u32 len);
/* The EtherType on the wire, network order. */
__be16 via_ether_proto(void);

#endif /* _VIA_ETHER_H */
