/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hosts, processes and their system calls, for scenarios.
 *
 * A host is a VI NIC on the wire and the processes that use it; the agent below
 * is one, as several NICs of one kernel are, so that any number of hosts is in
 * one run.  All times are virtual.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "engine.h"
#include "kernel/dev.h"
#include "../../include/uapi/via.h"

/* Processes.  Called in any context but a softirq's. */
struct sim_proc *sim_proc_new(const char *name, u32 uid);
/* In a user namespace, where it has no capability of the initial one. */
void sim_proc_in(struct sim_proc *p, struct user_namespace *ns);
/* Another thread; the process ends with the last one. */
struct sim_ctx *sim_thread(struct sim_proc *p, const char *name,
			   void (*fn)(void *arg), void *arg);
/* Until the calling thread is the last one of its process. */
void sim_threads_wait(u64 ns);
/* A thread of the kernel, which may sleep. */
struct sim_ctx *sim_kthread(const char *name, void (*fn)(void *arg), void *arg);
/* madvise(MADV_DOFORK) of the mapping at @p: 0 or -EINVAL. */
int sim_dofork(void *p);
/* fork(): a child with the files and with the mappings that may be copied. */
struct sim_proc *sim_fork(const char *name, void (*fn)(void *arg), void *arg);
/* SIGKILL. */
void sim_kill(struct sim_proc *p);
/* A signal without a handler's effect: waits return -EINTR. */
void sim_signal(struct sim_proc *p);
bool sim_proc_ended(const struct sim_proc *p);
/* Until it has ended; then @p is gone. */
void sim_proc_wait(struct sim_proc *p);
/* Called as its last thread ends, in that thread. */
void sim_proc_at_exit(struct sim_proc *p, void (*fn)(void *arg), void *arg);

/* System calls of the calling thread; results as the kernel returns them. */
struct file *sim_open(const char *node);	/* or ERR_PTR() */
int sim_close(struct file *f);
/* @to has it open, too: as a child does, or what a socket brings. */
void sim_pass_file(struct sim_proc *to, struct file *f);
long sim_ioctl(struct file *f, unsigned int cmd, void *arg);
long sim_trap(struct file *f, u32 op, u32 id);
ssize_t sim_read(struct file *f, void *buf, size_t n);
u32 sim_poll(struct file *f);			/* EPOLL*, at once */
/* At @at, or anywhere when it is NULL; or ERR_PTR(). */
void *sim_mmap(struct file *f, void *at, u64 offset, size_t size, bool write);
int sim_munmap(void *p);
/* A fault that the program itself is to answer: mmap_lock is held meanwhile. */
void sim_fault_until(const bool *answered);
void sim_sleep(u64 ns);
/* The same for a kernel thread. */
void sim_pause(u64 ns);
/* Either: what the calling thread is for. */
void sim_rest(u64 ns);
/* Until @c holds, which is looked at each @ns. */
#define sim_await(c, ns)						\
do {									\
	while (!(c))							\
		sim_rest(ns);						\
} while (0)
/* What a system call that is not here begins and ends with. */
void sim_enter(void);
void sim_leave(void);
/*
 * A mapping goes, all of it or its end; -EINVAL: none is there.  @zeroes: the
 * same step leaves pages that can be read.
 */
int sim_munmap_range(void *p, size_t bytes, bool zeroes);
/* Memory that cannot be pinned any more: unmapped, or not writable. */
void sim_no_memory(void *p, size_t bytes);
/* Given back when the run is over, as sim_memory(). */
void sim_memory_of_run(void *p, size_t bytes);
/* Zeroed memory of a program, given back when the run is over. */
void *sim_memory(size_t bytes);
/* Its pages come when @arrived says so; sim_memory_arrived(): ask again. */
void *sim_memory_late(size_t bytes, bool (*arrived)(void *arg), void *arg);
void sim_memory_arrived(struct sim_proc *p);

/* The wire: a switch with a port for each NIC. */
struct sim_wire {
	u32 loss, dup, corrupt, reorder; /* of 10,000 frames */
	u32 pieces;			/* likewise: received in several pieces */
	u64 delay_ns;
	u64 jitter_ns;			/* of frames that are reordered */
	u64 coalesce_ns;		/* receivers take what came in so long */
	u64 ns_per_byte_x1000;		/* of a port's way out; 0: no time */
	u32 port_frames;		/* queue of a port, 0: endless */
	u32 mark_frames;		/* with so many it marks them; 0: never */
	u32 credit;			/* frames that a NIC takes; 0: 64 */
	bool weigh;			/* answers to hosts that are not there */
	bool lasting;			/* frames go to the NIC that has the address then */
	u64 frames, lost;		/* counted */
	/* What a scenario does to a frame: false drops it.  Optional. */
	bool (*meddle)(void *arg, u8 *frame, u32 *len);
	void *meddle_arg;
	bool meddle_trains;		/* it takes trains as frames, too */
};

extern struct sim_wire sim_wire;

/* Frames that are sent from now on go to that file, too: capture.c. */
void sim_capture_open(const char *path);
void sim_capture(const void *frame, u32 len);
bool sim_capturing(void);

struct sim_nic;
/*
 * NICs that come from here on are in that namespace, where the administrator is
 * (&init_net), and of that interface (NULL), which their lists of hosts belong to.
 */
extern struct net *sim_net;
extern struct net_device *sim_netdev;
/* NICs that come from here on can be polled. */
void sim_nics_polled(void);
/* They read frames' bytes by DMA, later, from memory mapped for them. */
void sim_nics_dma(void);
/* Of such a NIC: frames stay in its ring; how many are in it. */
void sim_nic_hold(struct sim_nic *nic, bool held);
u32 sim_nic_ring(const struct sim_nic *nic);
/* The NIC via_NAME with the n-th address; NULL: no memory. */
struct sim_nic *sim_nic_up(const char *name, u8 n);
/* The same on the interface of another one. */
struct sim_nic *sim_nic_up_at(const char *name, u8 n, const struct sim_nic *at);
void sim_nic_down(struct sim_nic *nic);
/* The host is gone without a word: what it sends and what comes is dropped. */
void sim_nic_cut(struct sim_nic *nic, bool cut);
/* The interface goes down, or its transmitter stops. */
void sim_nic_break(struct sim_nic *nic);
void sim_nic_stop(struct sim_nic *nic, bool stopped);
/* How often a stopped transmitter was offered something. */
u32 sim_nic_refused(const struct sim_nic *nic);
/* Frames come in two queues, taken side by side: any may overtake another. */
void sim_nic_queues(struct sim_nic *nic);
void sim_nic_mtu(struct sim_nic *nic, u32 mtu);
/* Frames of so many bytes seem not to get through (0: all do), since asked. */
u32 sim_nic_black_hole(struct sim_nic *nic);
const u8 *sim_nic_mac(const struct sim_nic *nic);
/* An administrator's limit of users; what the last run has set has gone. */
void sim_limit(const char *name, u64 most);
/*
 * An administrator's change of the hosts that may talk to a NIC ("via_a"): what
 * the agent says of VIA_PEERS_@how with the hosts of @text.  The list as text,
 * and whether there is one, or -ENODEV.
 */
int sim_peers(const char *name, int how, const char *text);
int sim_peers_read(const char *name, char *buf);

/* The class is unloaded: has it given back all that NIC modules gave it? */
void sim_nics_over(void);
/* In how many lists are the VIs that look for their peers? */
u32 sim_nic_p2p_lists(const struct sim_nic *nic);
/* How many hosts does it deal with? */
u32 sim_nic_peers(const struct sim_nic *nic);
/* A request gets the token that its sender was told, before its checksum. */
void sim_nic_prove(struct sim_nic *nic, u8 *frame);
/* The same for the epoch that is in it, whoever has the address. */
void sim_nic_prove_epoch(struct sim_nic *nic, u8 *frame);
/* The class's side of it. */
struct via_ether_nic *sim_nic_ether(const struct sim_nic *nic);
/* The checksum of such a frame, as via_ether_seal() computes it. */
void sim_seal(void *frame, u32 size, u32 len);
/* A frame as if it came from the wire, Ethernet header included. */
void sim_nic_inject(struct sim_nic *nic, const void *frame, u32 len);
/* It is a train, or says so: of frames with @train bytes of payload. */
void sim_nic_inject_train(struct sim_nic *nic, const void *frame, u32 len,
			  u32 train);

/* Modules; -errno when one fails to load. */
int sim_load(void);
void sim_unload(void);

/* A scenario: runs as a kernel thread, modules are loaded. */
struct sim_scenario {
	const char *name;
	const char *what;		/* one line */
	void (*run)(void);
	void (*run_as)(u32 as);		/* instead, where several are alike */
	u32 as;
	/* Zeroed before it runs: SIM_STATE(). */
	void *state;
	size_t state_bytes;
	u32 seconds;			/* of virtual time, at most; 0: no limit */
	/* What it is tried with, unless options say otherwise. */
	u32 runs;			/* schedules in `make test' */
	u32 loss;			/* default of the wire, of 10,000 */
	u32 max_vi;			/* of each NIC, 0: 32 */
	bool unloaded;			/* loads and unloads modules itself */
	bool coarse;			/* no turns inside of the kernel */
	bool prompt;			/* a context that can run does, in time */
	struct sim_scenario *next;
};

#define SIM_STATE(v)	.state = &(v), .state_bytes = sizeof(v)

void sim_scenario_add(struct sim_scenario *s);
#define SIM_SCENARIO(...)	SIM_SCENARIO_AT(__LINE__, __VA_ARGS__)
#define SIM_SCENARIO_AT(line, ...)	SIM_SCENARIO_ID(line, __VA_ARGS__)
#define SIM_SCENARIO_ID(id, ...)					\
	static struct sim_scenario scenario_##id = { __VA_ARGS__ };	\
	__attribute__((__constructor__))				\
	static void add_##id(void) { sim_scenario_add(&scenario_##id); }

/* Says what is wrong, and ends the run. */
#define sim_expect(c, fmt, ...)						\
do {									\
	if (!(c))							\
		sim_fail("%s:%d: %s " fmt, __FILE__, __LINE__, #c,	\
			 ##__VA_ARGS__);				\
} while (0)

/* What a call says must be 0. */
#define sim_ok(call)							\
do {									\
	long _said = (call);						\
									\
	if (_said)							\
		sim_fail("%s:%d: %s says %ld", __FILE__, __LINE__,	\
			 #call, _said);					\
} while (0)

#endif
