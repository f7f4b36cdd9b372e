// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * via top: VI NICs with their rates, and VIs with their owners, on a terminal,
 * until "q" is pressed.  Built without ncurses it says so.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"

#ifndef VIA_CURSES

int do_top(struct words *w)
{
	(void)w;
	die(MSG_TOP_BUILT);
}

#else

#include <curses.h>

#include "common/counters.h"
#include "common/stat.h"
#include "uapi/via.h"

#define NIC_HEAD "%-12s %-10s %5s %9s %9s %9s %9s %9s"
#define PEER_MIN 18
#define VI_WIDTH 62		/* of a line of a VI without its peer */

/* A line of a VI, but for its peer. */
struct vi {
	char		nic[VIA_NL_NIC_MAX + 1];
	char		peer[48];
	char		process[32];
	uint32_t	id, state, uid, send, recv;
};

struct vis {
	unsigned int	n;
	struct vi	*vi;
};

static struct {
	const char	*what;		/* NIC or interface; NULL: all */
	uint64_t	interval;	/* seconds */
	uint64_t	count;		/* refreshes; 0: until "q" */
	unsigned int	first;		/* VI that is the first one shown */
	bool		agent;		/* it answers: VIs can be listed */
} top = { .interval = 1 };

static void terminal_back(void)
{
	if (!isendwin())
		endwin();
}

static void take_process(struct vi *v, struct nlattr **attrs)
{
	const char *comm = attrs[VIA_NL_A_COMM] ?
			   mnl_attr_get_str(attrs[VIA_NL_A_COMM]) : "";

	if (!attrs[VIA_NL_A_PID])
		return;
	snprintf(v->process, sizeof(v->process), "%u %.16s",
		 mnl_attr_get_u32(attrs[VIA_NL_A_PID]), comm);
	/* A program may have given itself a name that moves a cursor. */
	for (char *c = v->process; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static uint32_t number(struct nlattr **attrs, int which)
{
	return attrs[which] ? mnl_attr_get_u32(attrs[which]) : 0;
}

static void take_vi(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	const struct nlattr *peer = attrs[VIA_NL_A_REMOTE];
	struct vis *all = arg;
	struct vi *v;

	(void)cmd;
	if (!attrs[VIA_NL_A_NIC])
		return;
	all->vi = realloc(all->vi, (all->n + 1) * sizeof(*all->vi));
	if (!all->vi)
		die(MSG_VIA_MEMORY);
	v = &all->vi[all->n++];
	memset(v, 0, sizeof(*v));
	snprintf(v->nic, sizeof(v->nic), "%s",
		 mnl_attr_get_str(attrs[VIA_NL_A_NIC]));
	v->id = number(attrs, VIA_NL_A_VI);
	v->state = number(attrs, VIA_NL_A_STATE);
	v->uid = number(attrs, VIA_NL_A_UID);
	v->send = number(attrs, VIA_NL_A_SEND_POSTED);
	v->recv = number(attrs, VIA_NL_A_RECV_POSTED);
	if (peer && mnl_attr_get_payload_len(peer) <= VIA_NL_ADDR_MAX)
		snprintf(v->peer, sizeof(v->peer), "%s",
			 addr_str(mnl_attr_get_payload(peer),
				  mnl_attr_get_payload_len(peer)));
	take_process(v, attrs);
}

/* Those of the NICs that are shown; what comes and goes meanwhile may be left out. */
static void read_vis(const struct readings *nics, struct vis *all)
{
	struct nlmsghdr *nlh;
	int ret;

	if (!top.agent)
		return;
	nlh = nl_message(VIA_NL_CMD_RES_VI, NLM_F_DUMP);
	if (top.what && nics->n)
		mnl_attr_put_strz(nlh, VIA_NL_A_NIC, nics->of[0]->nic);
	ret = nl_call(nlh, take_vi, all);
	if (ret && ret != -EINTR && ret != -ENODEV)
		top.agent = false;
}

/* "1234.5", or "-" where there is no older reading. */
static const char *rate_text(char *text, const struct reading *r,
			     const struct reading *old, const char *name,
			     double unit)
{
	if (!old)
		return "-";
	snprintf(text, 24, unit > 1 ? "%.2f" : "%.1f",
		 counter_rate(r, old, name) / unit);
	return text;
}

/* Frames dropped, whatever the cause. */
static const char *drops_text(char *text, const struct reading *r,
			      const struct reading *old)
{
	double sum = 0;

	if (!old)
		return "-";
	for (unsigned int i = 0; i < r->n; i++)
		if (!strncmp(r->counter[i].name, "drop_", 5))
			sum += counter_rate(r, old, r->counter[i].name);
	snprintf(text, 24, "%.1f", sum);
	return text;
}

static void show_nic(int line, const struct reading *r,
		     const struct reading *old)
{
	char vis[24], text[5][24];

	snprintf(vis, sizeof(vis), "%" PRIu64, counter_value(r, "vis"));
	mvprintw(line, 0, NIC_HEAD, r->nic, r->ifname, vis,
		 rate_text(text[0], r, old, "send_bytes", 1e6),
		 rate_text(text[1], r, old, "recv_bytes", 1e6),
		 rate_text(text[2], r, old, "tx_frames", 1),
		 rate_text(text[3], r, old, "retransmits", 1),
		 drops_text(text[4], r, old));
}

static const char *state_text(uint32_t state)
{
	static const char *const names[] = {
		[VIA_STATE_IDLE] = "idle", [VIA_STATE_CONNECTED] = "connected",
		[VIA_STATE_PENDING] = "pending", [VIA_STATE_ERROR] = "error",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static void head(int line, const char *text)
{
	attron(A_REVERSE);
	mvprintw(line, 0, "%-*s", COLS, text);
	attroff(A_REVERSE);
}

static void show_vis(int line, const struct vis *all)
{
	int peer = COLS - VI_WIDTH > PEER_MIN ? COLS - VI_WIDTH : PEER_MIN;
	char text[512];

	snprintf(text, sizeof(text), "%-12s %6s %-9s %-*s %5s %5s %6s %s",
		 "NIC", "VI", "STATE", peer < 64 ? peer : 64, "PEER", "SEND",
		 "RECV", "UID", "PROCESS");
	head(line++, text);
	if (!top.agent)
		mvprintw(line, 0, "VIs are not listed: via_ka is not loaded, or is older than this program");
	for (unsigned int i = top.first; i < all->n && line < LINES; i++) {
		const struct vi *v = &all->vi[i];

		mvprintw(line++, 0, "%-12s %6u %-9s %-*s %5u %5u %6u %s",
			 v->nic, v->id, state_text(v->state),
			 peer < 64 ? peer : 64, v->peer, v->send, v->recv,
			 v->uid, v->process);
	}
}

static void draw(const struct readings *nics, const struct readings *old,
		 const struct vis *vis)
{
	time_t now = time(NULL);
	char clock[16], text[512];
	int line = 2;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	erase();
	mvprintw(0, 0, "via top, %s: %u NICs, %u VIs, every %" PRIu64 " s; q: quit, arrows: other VIs",
		 clock, nics->n, vis->n, top.interval);
	snprintf(text, sizeof(text), NIC_HEAD, "NIC", "INTERFACE", "VIS",
		 "SENT MB/s", "RECV MB/s", "FRAMES/s", "RESENT/s", "DROPS/s");
	head(line++, text);
	for (unsigned int i = 0; i < nics->n && line < LINES - 3; i++)
		show_nic(line++, nics->of[i],
			 counters_before(old, nics->of[i]));
	show_vis(line + 1, vis);
	refresh();
}

/* What a key does; false: it ends the program. */
static bool take_key(int key, const struct vis *vis)
{
	unsigned int last = vis->n ? vis->n - 1 : 0;

	switch (key) {
	case 'q':
		return false;
	case KEY_DOWN:
		top.first += top.first < last;
		break;
	case KEY_UP:
		top.first -= top.first > 0;
		break;
	case KEY_NPAGE:
		top.first = top.first + 10 < last ? top.first + 10 : last;
		break;
	case KEY_PPAGE:
		top.first = top.first > 10 ? top.first - 10 : 0;
		break;
	}
	return true;
}

/* The screen stands until the time is over: false, "q" was pressed. */
static bool stand(const struct readings *nics, const struct readings *old,
		  const struct vis *vis)
{
	uint64_t end = now_ns() + top.interval * 1000000000u, now;

	while ((now = now_ns()) < end) {
		int key;

		timeout((end - now) / 1000000 + 1);
		key = getch();
		if (key == ERR)
			continue;
		if (!take_key(key, vis))
			return false;
		draw(nics, old, vis);
	}
	return true;
}

static void run(void)
{
	struct readings old = { 0 };
	bool on = true;

	for (uint64_t n = 0; on && (!top.count || n < top.count); n++) {
		struct readings nics = { 0 };
		struct vis vis = { 0 };

		counters_read(top.what, false, &nics);
		read_vis(&nics, &vis);
		if (top.first >= vis.n)
			top.first = vis.n ? vis.n - 1 : 0;
		draw(&nics, &old, &vis);
		if (n + 1 != top.count)
			on = stand(&nics, &old, &vis);
		free(vis.vi);
		counters_forget(&old);
		old = nics;
	}
	counters_forget(&old);
}

static void take_options(struct words *w)
{
	static const struct option longs[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'c' },
		{ 0 },
	};
	char **argv = w->word - 1;	/* "top", in place of the program */
	int argc = w->n + 1, c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "i:c:", longs, NULL)) != -1) {
		switch (c) {
		case 'i': top.interval = stat_number("-i", optarg); break;
		case 'c': top.count = stat_number("-c", optarg); break;
		default: exit(USAGE);
		}
	}
	w->n = argc - optind;
	w->word = argv + optind;
}

int do_top(struct words *w)
{
	take_options(w);
	top.what = next_word(w);
	no_more_words(w);
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		die(MSG_TOP_TERMINAL);
	top.agent = nl_open();
	if (!newterm(NULL, stdout, stdin))
		die(MSG_TOP_TYPE,
		    getenv("TERM") ? getenv("TERM") : "");
	/* What ends the program gives the terminal back first. */
	msg_before = terminal_back;
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	run();
	terminal_back();
	return DONE;
}

#endif
