/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Ends of connections in scenarios that race for them: what threads do with a
 * VI, which verdicts are legal, and how all ends come to rest.
 */
#ifndef SIM_ENDS_H
#define SIM_ENDS_H

#include "prog.h"

#define ENDS_MAX	4
#define END_BUFS	8		/* of each queue */
#define END_BYTES	192
#define END_PATIENCE	(30 * SEC)	/* until every end is told */

/**
 * struct end - a VI that may be one end of a connection
 * @peer:	the host it looks for
 * @open:	its VI was made
 * @gone:	it, its handle, its process or its NIC has ended
 * @settled:	Connected, and a message came back; or not Connected
 * @busy:	a thread is in its queue
 * @deadline:	of the last attempt
 * @forever:	an attempt without one began
 * @number:	of the last message sent; @seen: of the last that came
 * @echoed:	the last that was answered; @owed: to be answered
 * @lost:	CONN_LOST events; @broken: CATASTROPHIC ones
 */
struct end {
	u32 n;
	struct sim_proc *proc;
	struct prog_nic *nic;
	const u8 *peer;
	struct prog_vi vi;
	bool open, gone, settled, closing;
	bool shut;			/* gone, and with it its handle */
	bool busy[2];
	u64 deadline;
	bool forever;
	u32 naps;			/* threads that wait for a queue */
	u64 number, echoed, owed;
	u64 seen[ENDS_MAX];
	u32 lost, broken;
	char *buf[2];
	u32 region;			/* handle of the memory that it uses */
	bool bare;			/* which is registered no more */
};

enum role { SERVER, CLIENT, PEER };

/* Of a run; the scenario clears and fills it. */
extern struct ends {
	struct end end[ENDS_MAX];
	u32 n;
	u32 level;
	bool over;			/* no attempt begins any more */
	bool endings;			/* an ending may have been among the calls */
	bool dead;			/* a NIC, a handle or a process ended */
} ends;

void ends_begin(u32 level);
/* A VI on @nic; false: an allocation failed, the end is gone. */
bool end_open(struct end *e, struct prog_nic *nic, const u8 *peer);
/* Fails the run unless @ret is one of @verdicts, or the handle has ended. */
void end_legal(const struct end *e, const char *call, int ret, u32 verdicts);
#define V(x)	(1u << VIA_R_##x)
#define NO_RESULT	0x80000000u	/* among flags: leave it Pending */

/* Attempts; the verdict, or what the start said. */
int end_accept(struct end *e, const char *disc, u64 wait, u32 flags);
int end_request(struct end *e, const char *disc, u64 timeout, u32 flags);
int end_p2p(struct end *e, u64 timeout, u32 flags);
int end_result(struct end *e, u32 flags);
u32 end_state(struct end *e);
void end_disconnect(struct end *e);
void end_destroy(struct end *e);
void end_set(struct end *e, u32 level);
/* Messages; false: no room. */
bool end_send(struct end *e, u32 kind);
bool end_recv(struct end *e);
/* Takes what is done, checks it and answers probes. */
void end_collect(struct end *e);
void end_sleep(struct end *e, bool recv, u64 ns);
void end_events(struct end *e);
void end_stats(struct end *e, u32 kind);
/* Plays a part until ends.over. */
void end_play(struct end *e, enum role role, bool rude);
/* Connects @e once, to one that plays @role; false: it did not. */
bool end_meet(struct end *e, enum role role);
/* After the storm, in a thread of its process. */
void end_settle(struct end *e);
void end_close(struct end *e);

#endif
