// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The rules of core/: here the state machine of a VI.  The expectation is
 * written a second time and in another form than the table under test: one line
 * for each move there is, and whatever has no line must be refused.
 */

#include "unit.h"
#include "core.h"
#include "state.h"

struct line {
	unsigned int from;
	enum via_vi_event event;
	unsigned int to;
	int detach, tell, flush, report;
};

#define IDLE	VIA_STATE_IDLE
#define PEND	VIA_STATE_PENDING
#define CONN	VIA_STATE_CONNECTED
#define ERR	VIA_STATE_ERROR

static const struct line lines[] = {
	/*				  detach tell flush report */
	{ IDLE, VIA_EV_BEGIN,		PEND, 0, 0, 0, 0 },
	{ IDLE, VIA_EV_CHANGE,		IDLE, 0, 0, 0, 0 },
	{ IDLE, VIA_EV_DESTROY,		IDLE, 0, 0, 0, 0 },
	{ IDLE, VIA_EV_DISCONNECT,	IDLE, 0, 0, 1, 0 },
	{ IDLE, VIA_EV_NIC_GONE,	ERR,  0, 0, 1, 0 },
	{ PEND, VIA_EV_JOIN,		CONN, 0, 0, 0, 0 },
	{ PEND, VIA_EV_REFUSE,		IDLE, 0, 0, 0, 0 },
	{ PEND, VIA_EV_EXPIRE,		IDLE, 1, 1, 0, 0 },
	{ PEND, VIA_EV_DISCONNECT,	IDLE, 1, 1, 1, 0 },
	{ PEND, VIA_EV_NIC_GONE,	ERR,  1, 0, 1, 0 },
	{ CONN, VIA_EV_DISCONNECT,	IDLE, 1, 1, 1, 0 },
	{ CONN, VIA_EV_LOST,		ERR,  1, 0, 1, 1 },
	{ CONN, VIA_EV_BROKEN,		ERR,  1, 1, 1, 1 },
	{ CONN, VIA_EV_NIC_GONE,	ERR,  1, 0, 1, 1 },
	{ ERR,  VIA_EV_DISCONNECT,	IDLE, 0, 0, 1, 0 },
	{ ERR,  VIA_EV_NIC_GONE,	ERR,  0, 0, 1, 0 },
};

#define N_LINES (sizeof(lines) / sizeof(lines[0]))

static const struct line *find(unsigned int from, unsigned int event)
{
	unsigned int i;

	for (i = 0; i < N_LINES; i++)
		if (lines[i].from == from && lines[i].event == event)
			return &lines[i];
	return NULL;
}

static void every_pair(void)
{
	unsigned int state, event, found = 0;
	const struct line *l;
	struct via_move m;

	for (state = 0; state < VIA_STATES; state++) {
		for (event = 0; event < VIA_EV_COUNT; event++) {
			m = via_state_move(state, event);
			CU_ASSERT_EQUAL(via_state_may(state, event),
					m.to != VIA_STATE_REFUSED);
			l = find(state, event);
			if (!l) {
				CU_ASSERT_EQUAL(m.to, VIA_STATE_REFUSED);
				CU_ASSERT_EQUAL(m.what, 0);
				continue;
			}
			found++;
			CU_ASSERT_EQUAL(m.to, l->to);
			CU_ASSERT_EQUAL(m.what,
					(l->detach ? VIA_DO_DETACH : 0) |
					(l->tell ? VIA_DO_TELL : 0) |
					(l->flush ? VIA_DO_FLUSH : 0) |
					(l->report ? VIA_DO_REPORT : 0));
		}
	}
	CU_ASSERT_EQUAL(found, N_LINES);
}

static void nonsense(void)
{
	CU_ASSERT_EQUAL(via_state_move(VIA_STATES, VIA_EV_DISCONNECT).to,
			VIA_STATE_REFUSED);
	CU_ASSERT_EQUAL(via_state_move(~0u, VIA_EV_DISCONNECT).to,
			VIA_STATE_REFUSED);
	CU_ASSERT_EQUAL(via_state_move(VIA_STATE_IDLE, VIA_EV_COUNT).to,
			VIA_STATE_REFUSED);
	CU_ASSERT_EQUAL(via_state_move(VIA_STATE_IDLE, ~0u).to,
			VIA_STATE_REFUSED);
}

/* What must hold whatever the table becomes. */
static void sense(void)
{
	unsigned int s, e;
	struct via_move m;

	for (s = 0; s < VIA_STATES; s++) {
		/* A program can always get back to Idle, flushed. */
		m = via_state_move(s, VIA_EV_DISCONNECT);
		CU_ASSERT_EQUAL(m.to, VIA_STATE_IDLE);
		CU_ASSERT(m.what & VIA_DO_FLUSH);
		for (e = 0; e < VIA_EV_COUNT; e++) {
			m = via_state_move(s, e);
			if (m.to == VIA_STATE_REFUSED)
				continue;
			CU_ASSERT(m.to < VIA_STATES);
			/* Connected is reached by joining alone. */
			if (m.to == VIA_STATE_CONNECTED)
				CU_ASSERT(s == PEND && e == VIA_EV_JOIN);
			/* Without an attached peer none is told. */
			if (m.what & VIA_DO_TELL)
				CU_ASSERT(m.what & VIA_DO_DETACH);
			/* A lost connection is one that stood. */
			if (m.what & VIA_DO_REPORT)
				CU_ASSERT(s == CONN && m.to == ERR);
			/* What is in Error holds no descriptors. */
			if (m.to == VIA_STATE_ERROR)
				CU_ASSERT(m.what & VIA_DO_FLUSH);
			/* A failed attempt keeps what is posted. */
			if (s == PEND && m.to == IDLE &&
			    e != VIA_EV_DISCONNECT)
				CU_ASSERT(!(m.what & VIA_DO_FLUSH));
		}
	}
}

/* VipPostSend is refused where no connection is or was. */
static void sends(void)
{
	CU_ASSERT(via_state_refuses_sends(IDLE));
	CU_ASSERT(via_state_refuses_sends(PEND));
	CU_ASSERT_FALSE(via_state_refuses_sends(CONN));
	CU_ASSERT_FALSE(via_state_refuses_sends(ERR));
}

UNIT_MAIN("core",
	  { "every state and event", every_pair },
	  { "no such state, no such event", nonsense },
	  { "what every table must obey", sense },
	  { "where sends are refused", sends },
	  { "rules of descriptors", descriptors },
	  { "each Control", every_control },
	  { "plain descriptors", plain_is_plain },
	  { "attributes of two VIs", attributes },
	  { "which of two asks", who_asks });
