# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant in the Ethernet class."""

from layer import Layer

MUTANTS = Layer()

# Seen to be noticed in guests, or by unit tests.
mutant = MUTANTS.guest
# Seen by the simulator alone.
in_sim = MUTANTS.plant

RECV = "devices/ether/recv.c"


CONG = "devices/ether/proto/congestion.c"
CREDIT = "devices/ether/proto/credit.c"
SHARE = "devices/ether/share.c"
CROWD = "devices/ether/proto/incast.c"

# Making and ending connections.
mutant = MUTANTS.plant

CONN = "devices/ether/conn.c"
REQUEST = "devices/ether/request.c"
END = "devices/ether/end.c"
PEER = "devices/ether/peer.c"
CONTROL = "devices/ether/control.c"


# Frames out.
SEND = "devices/ether/send.c"
RTO = "devices/ether/proto/rto.c"
RETRANSMIT = "devices/ether/retransmit.c"

# What is told and answered to hosts that are not known.
LIMIT = "devices/ether/proto/ratelimit.c"

PROOF = "devices/ether/proto/token.c"


AUTH = "devices/ether/proto/auth.c"
ALLOW = "devices/ether/allow.c"
SESSION = "devices/ether/session.c"

SEAL = "devices/ether/seal.c"

# Frames in.


# RDMA Read.
READ = "devices/ether/send_read.c"

# Timers.
TIMER = "devices/ether/timer.c"
OWED = "devices/ether/owed.c"
BEAT = "devices/ether/keepalive.c"
mutant("first-timeouts-doubled", RTO, "unit", "rto",
       "one of many hosts that begin at once waits while the others send",
       ("		doublings -= min(doublings, VIA_RTO_LINEAR);\n", ""),
       sim="share time")
mutant("unknown-way-lost", RTO, "unit", "rto",
       "the first frames on a way of 20 ms are taken for lost",
       ("	u32 probes = path->srtt ? 1 : 1 + VIA_RTO_LINEAR;\n",
        "	u32 probes = 1;\n"), sim="time")
mutant("timeouts-alone", RTO, "unit", "rto",
       "a wire that is away for five seconds breaks the connections on it",
       ("	return r->retries >= now->tries &&\n"
        "	       (long)(now->tick - r->stuck) >= (long)now->dead;",
        "	return r->retries >= now->tries;"), sim="loss time")
mutant("time-alone", RTO, "unit", "rto",
       "a host whose CPU did not run for eight seconds breaks connections",
       ("	return r->retries >= now->tries &&\n"
        "	       (long)", "	return (long)"), sim="jump")
mutant("silence-unasked", BEAT, "sim", "",
       "a host whose CPU did not run for eight seconds has not asked the peer",
       ("	       peer->keepalive.asked_since == heard &&\n"
        "	       peer->keepalive.asked >= least_asked() &&\n"
        "	       time_after_eq(jiffies, peer->keepalive.next);",
        "	       peer->keepalive.asked_since <= heard;"), sim="jump")
mutant("timeout-once", RETRANSMIT, "sim", "",
       "a frame that is lost twice at the end is not sent again",
       ("		via_ether_share_timeout(ev, via_win_timeout(&ev->snd.win));\n",
        ""), sim="loss")
mutant("path-told-by-silence", RTO, "unit", "rto",
       "a peer that was silent is taken for a path that drops long frames",
       ("	return before;\n", "	return before || true;\n"),
       sim="loss time")
mutant("path-never-black", RETRANSMIT, "sim", "",
       "a path that drops long frames and says nothing is not found out",
       ("		check_path(ev);\n		break;\n	case VIA_RTO_FORGET:",
        "		break;\n	case VIA_RTO_FORGET:"), sim="loss time")
mutant("silence-unnoticed", BEAT, "sim", "",
       "a VI that only receives never hears that its peer has died",
       ("	if (unlikely(is_peer_silent(peer)))\n", "	if (false)\n"),
       sim="time loss")
mutant("give-up-unsaid", END, "sim", "",
       "a send that was given up is flushed instead of a transport error",
       ("		via_send_complete(vi, VIA_ST_TRANSPORT_ERROR, 0);",
        "		via_send_complete(vi, VIA_ST_DESC_FLUSHED_ERROR, 0);"),
       sim="loss time")
mutant("cool-with-frames", RETRANSMIT, "sim", "",
       "a frame that is lost after a silence is not sent again",
       ("	if (!via_win_flight(&ev->snd.win)) {\n", "	if (true) {\n"),
       sim="loss")
DELACK = "devices/ether/proto/delack.c"
mutant("ack-never-late", "devices/ether/acks.c", "sim", "",
       "an acknowledgement that no data carries is not sent",
       ("	via_owed_add(ev, false);\n}\n", "}\n"), sim="time")
mutant("full-asked-at-once", DELACK, "unit", "delack",
       "a full transmitter is asked for each connection at each visit",
       ("(d->late == now->next ? full : now->delay)",
        "(full ? VIA_SAMPLE_GAP_NS : 0)"), sim="backlog")
mutant("cool-with-ack", DELACK, "unit", "delack",
       "an acknowledgement that is owed since the last visit is forgotten",
       ("	if (now->next == now->acked) {\n",
        "	if (now->next == now->acked || !owed_before(d, now->acked)) {\n"), sim="time")
mutant("bet-again", DELACK, "unit", "delack",
       "a thread with both ends waits for each fourth acknowledgement",
       ("		d->pingpong = -(s32)d->quick;\n",
        "		d->pingpong = 0;\n"), sim="time")
mutant("bet-as-often", DELACK, "unit", "delack",
       "a bet that is lost again and again is placed as often",
       ("		d->quick = min(2 * d->quick, VIA_DELACK_QUICK_MAX);\n",
        ""), sim="time")
mutant("bet-for-ever", DELACK, "unit", "delack",
       "acknowledgements that wait for data wait two milliseconds",
       ("		due = now->ns + now->delay;	/* what has just come */\n",
        "		due = now->ns + 20 * now->delay;\n"), sim="time")
mutant("bet-whole-again", DELACK, "unit", "delack",
       "an acknowledgement owed just after a visit waits for two bets",
       ("now->ns + now->delay - min(*age, now->ns - d->at);\n",
        "now->ns + now->delay;\n"), sim="time")
mutant("visit-not-earlier", TIMER, "sim", "",
       "an acknowledgement waits for the timeout of a frame",
       ("		if (when == (u64)a->node.expires)\n",
        "		if (when <= (u64)a->node.expires)\n"), sim="time")
mutant("alarm-not-earlier", TIMER, "sim", "",
       "the VI that is due first waits for the one that was first before",
       ("	if (nic->stopping || !armed_at(nic) || when == U64_MAX)\n",
        "	if (nic->stopping || armed_at(nic) != U64_MAX || when == U64_MAX)\n"),
       sim="time")
mutant("alarm-of-nobody", TIMER, "sim", "",
       "what is due when programs stop looking waits for the next frame",
       ("	if (step == VIA_BUSY_POLL_END)\n		set_alarm(nic, 0);\n",
        "	if (step == VIA_BUSY_POLL_END)\n		;\n"),
       sim="time")
mutant("pause-judged", RTO, "unit", "rto",
       "a host whose CPU did not run sends again what was answered",
       ("	if (!r->excused && now->ns > ", "	if (false && now->ns > "),
       sim="jump")
mutant("looks-never", "devices/ether/proto/sample.h", "unit", "rto",
       "the alarm goes off each 100 us beside a ping-pong",
       ("	want = div64_u64(want, took + 1);\n",
        "	want += took ? VIA_SAMPLE_MAX : 1;\n"),
       sim="time")
mutant("delay-untold", "devices/ether/acks.c", "sim", "",
       "a round trip that has become longer is not seen to be",
       ("	f.a.delay = min(delay, VIA_WIRE_DELAY_MAX);\n",
        "	f.a.delay = VIA_WIRE_DELAY_MAX;\n"), sim="time")
mutant("delay-unasked", "devices/ether/conn.c", "sim", "",
       "a server whose acknowledgements all ride on data never bets for long",
       ("		ev->snd.odd |= VIA_ODD_ASK;\n", "		;\n"),
       sim="time")
mutant("overtaken-untimed", "devices/ether/peer.c", "sim", "",
       "the same where the first answer to its question is data, too",
       ("	else if (known || asked)\n", "	else if (known)\n"),
       sim="time")
mutant("bet-of-the-shortest", "devices/ether/peer.c", "sim", "",
       "a bet is as long as the shortest round trip makes it",
       ("	if (us < net)\n", "	if (us < net && known)\n		return us;\n"
        "	if (us < net)\n"), sim="time")
mutant("seldom-at-once", DELACK, "unit", "delack",
       "an answer after a pause is acknowledged before its program is woken",
       ("	return nxt != sent && now - last",
        "	return nxt != sent && !now && now - last"), sim="time")
mutant("seldom-of-one-way", DELACK, "unit", "delack",
       "a sender that nothing answers waits for a bet now and then",
       ("	return nxt != sent && now - last",
        "	return sent + 1 && now - last"), sim="time")
mutant("ack-not-behind", "devices/ether/burst.h", "sim", "",
       "an answer that is followed by data of another VI is acknowledged late",
       ("	} else if (unlikely(READ_ONCE(ev->peer->delayed_ack))) {\n"
        "		via_ether_ack_behind(ev);\n",
        "	} else if (unlikely(READ_ONCE(ev->peer->delayed_ack))) {\n"
        "		;\n"), sim="time")
mutant("ack-behind-lost", "devices/ether/acks.c", "sim", "",
       "a bet that data of another VI has won counts as lost",
       ("		if (behind)\n			redeem_delack(ev);\n", ""), sim="time")
mutant("hole-untold", "devices/ether/acks.c", "sim", "",
       "frames beyond a hole are told of when the hole is filled",
       ("ev->rcv.untold || ev->rcv.ce_echo", "ev->rcv.ce_echo"), sim="loss time")
mutant("first-for-ever", TIMER, "sim", "",
       "the VI that is due first keeps its place when it is put off",
       ("	if (next && (u64)next->expires < when)\n		return false;\n",
        "	(void)next;\n"), sim="time")
mutant("probe-unmarked", "devices/ether/send.c", "sim", "",
       "a tail probe is like any frame that is sent again",
       ("		flags = ev->rto.probing ? VIA_WIRE_PROBE : VIA_WIRE_ACK_NOW;\n",
        "		flags = VIA_WIRE_ACK_NOW;\n"),
       sim="time")
mutant("closed-window-asks", "devices/ether/burst.h", "sim", "",
       "in bulk the last frame of a window has an acknowledgement of its own",
       ("(closes_window(b, room) && !ends)", "room == 1"), sim="time")
mutant("promise-forgotten", "devices/ether/acks.c", "sim", "",
       "a program that busy-polls waits for what it promised to ask for",
       ("		via_ether_send_ack_request(ev);\n", "		(void)seq;\n"), sim="time")
mutant("promise-put-off", "devices/ether/acks.c", "sim", "",
       "a push puts the question for the one before it off",
       ("nic->ack_deadline.kept && no_deadline(nic)", "nic->ack_deadline.kept"),
       ("!READ_ONCE(nic->ack_deadline.kept) ||\n	    !no_deadline(nic))",
        "!READ_ONCE(nic->ack_deadline.kept))"), sim="time")
mutant("owed-without-timer", TIMER, "sim", "",
       "a program that busy-polled and computes acknowledges late",
       ("nic->ops->busy_poll || !nic->clock.urgent", "true"), sim="time")
mutant("question-is-lost-bet", DELACK, "unit", "delack",
       "a host that is late once answers each push at once",
       ("	if (next - d->asked_seq <= VIA_DELACK_NEAR)\n",
        "	if (next || true)\n"), sim="time")
mutant("question-is-no-bet", DELACK, "unit", "delack",
       "a program that answers late is waited for each time",
       ("	if (next - d->asked_seq <= VIA_DELACK_NEAR)\n",
        "	if (false)\n"), sim="time")
mutant("acks-as-often", DELACK, "unit", "delack",
       "in bulk each 16 frames are acknowledged for ever",
       ("		d->every = min(2 * d->every, d->most);\n",
        "		;\n"), sim="time")
mutant("acks-rare-for-ever", DELACK, "unit", "delack",
       "a sender with a small window waits for each acknowledgement",
       ("	d->every = max(d->every / 2, d->least);\n",
        ""), sim="time")
mutant("acks-tried-as-soon", DELACK, "unit", "delack",
       "and where that was noticed, soon again",
       ("	d->patience = min(2 * d->patience, VIA_DELACK_PATIENCE_MAX);\n",
        ""), sim="time")
mutant("slow-not-learned", RTO, "unit", "rto",
       "a peer that has become slow is sent each frame many times",
       ("	r->backoff = min(r->backoff + r->spent, VIA_RTO_BACKOFF);\n",
        ""), sim="time")
mutant("rest-unseen", CREDIT, "sim", "",
       "after a rest a large window is sent at once",
       ("	via_cong_rest(&p->cong, now_ms);\n", ""), sim="time")
mutant("probe-late-again", "devices/ether/burst.c", "sim", "",
       "after an outage the next loss waits for the timeout of before",
       ("	via_rto_recovered(&ev->rto);\n	via_ether_watch_tx(ev);\n",
        "	via_rto_recovered(&ev->rto);\n"), sim="loss")
mutant("timer-not-awaited", TIMER, "sim", "",
       "the timer runs on a NIC that is freed",
       ("	timer_delete_sync(&nic->tick.timer);",
        "	sim_timer_delete(&nic->tick.timer);"),
       sim="gone beside memory")
mutant("acker-not-awaited", "devices/ether/run.c", "sim", "",
       "acknowledgements are sent from a NIC that is freed",
       ("	tasklet_kill(&nic->runs.tasklet);\n", ""), sim="gone beside memory")
mutant("payer-not-awaited", OWED, "sim", "",
       "a CPU acknowledges for a NIC that is freed",
       ("		tasklet_kill(&per_cpu_ptr(nic->owed, cpu)->pay);\n",
        "		(void)cpu;\n"), sim="gone beside memory")
mutant("owed-twice", OWED, "sim", "",
       "a VI that two CPUs find to owe is on lists of both",
       ("	first = !cmpxchg(&ev->on.owed, NULL, o);\n",
        "	first = true;\n	ev->on.owed = o;\n"), sim="beside memory many")
mutant("owed-out-of-turn", OWED, "sim", "",
       "a peer whose VIs owe without end is all that is acknowledged",
       ("		o->turn = (n + 1) % VIA_OWED_LISTS;\n", ""), sim="many")
mutant("owed-and-ended", OWED, "sim", "",
       "a VI that ends while it owes stays on the list",
       ("		take_off(ev);\n		look_empty", "		look_empty"), sim="end memory")
mutant("owed-of-two-peers", "devices/ether/acks.c", "sim", "",
       "one frame of acknowledgements is of two hosts' connections",
       ("	if (b->f.count && b->peer != ev->peer)\n		return false;\n", ""),
       sim="many")
mutant("retry-not-awaited", TIMER, "sim", "",
       "the alarm goes off on a NIC that is freed",
       ("	hrtimer_cancel(&nic->clock.timer);\n", ""),
       sim="gone backlog memory")
mutant("reqs-not-visited", "devices/ether/request.c", "sim", "",
       "no request of another host expires",
       ("	return via_order_first(&nic->reqs);\n", "	return false;\n"),
       sim="time")
mutant("path-not-told", "devices/ether/path.c", "sim", "",
       "connections that stand go on with frames too long for the path",
       ("	some = peer->vis.n;\n", "	some = false;\n"), sim="time")
mutant("path-missed", CONN, "sim", "",
       "a connection that stands later goes by what the path was",
       ("since set_remote(). */\n	fit_segments(ev);\n",
        "since set_remote(). */\n"), sim="time")
mutant("tries-early", CONN, "sim", "",
       "each tick looks at each attempt to connect",
       ("	return now + max(left, 1L);\n",
        "	return now + min(max(left, 1L), 1L);\n"), sim="time")
mutant("tries-never", "devices/ether/conn.c", "sim", "",
       "an attempt is looked at once",
       ("	if (via_ether_trying(ev))\n		via_ether_attempt_begin(ev);\n", ""),
       sim="time")

# Silence of peers, and what is left of connections.
mutant("heartbeats-often", BEAT, "sim", "",
       "a peer with many connections is asked at each look",
       ("	hb->next = jiffies + via_ether_heartbeat();\n", ""),
       sim="time")
mutant("heartbeats-twice", BEAT, "sim", "",
       "two hosts with many connections ask one another twice as often",
       ("	if (peer->keepalive.asked_since != heard)\n		at =",
        "	if (false)\n		at ="), sim="time")
mutant("heartbeat-unanswered", BEAT, "sim", "",
       "connections without traffic break after 8 seconds",
       ("	via_ether_send_heartbeat(nic, peer, f->src, VIA_WIRE_HEARTBEAT_ACK,\n"
        "				 theirs->epoch, &b);\n", ""), sim="time")
mutant("heartbeats-alone", BEAT, "sim", "",
       "a host that has lost nothing is not made to look at what it has",
       ("			WRITE_ONCE(peer->keepalive.check, true);\n		spin_unlock",
        "			;\n		spin_unlock"), sim="loss time")
mutant("beat-of-any", BEAT, "sim", "",
       "a BEAT of a host that has seen no HEARTBEAT is believed",
       ("		ours = b->time == peer->keepalive.nonce &&\n", "		ours ="),
       sim="hostile")
mutant("list-any-time", BEAT, "sim", "",
       "a LIST is believed though both hosts have the same connections",
       ("	if (peer->keepalive.differs == VIA_PEER_DIFFERS)\n", "	if (true)\n"),
       sim="hostile")
mutant("list-ends-all", BEAT, "sim", "",
       "a LIST ends connections whose other ends answer",
       ("	if (!ev->conn.asked ||\n"
        "	    !time_after(ev->conn.asked_at, ev->rcv.last_rx)) {",
        "	if (!ev->conn.asked) {"), sim="hostile beside")
mutant("list-asks-only", BEAT, "sim", "",
       "thousands of lost ends wait for as many RESETs",
       ("	} else if (jiffies - ev->conn.asked_at >= interval / 2) {",
        "	} else if (false && interval) {"), sim="many")
mutant("list-one-page", BEAT, "sim", "",
       "only the first page of LIST is sent",
       ("	peer->keepalive.list_from = high + 1;\n",
        "	peer->keepalive.list_from = 0;\n"), sim="many")
mutant("list-of-few", BEAT, "sim", "",
       "a host that has few connections finds few of the peer's",
       ("	hb->list_span = U64_MAX >> fls(b->connections / LIST_OF);",
        "	hb->list_span = U64_MAX;"), sim="many")
mutant("none-untold", BEAT, "sim", "",
       "a host that has no connections any more has no LIST that says so",
       ("		via_peer_ends(peer, VIA_PEER_END_NONE);\n", "		;\n"),
       sim="loss")
mutant("agreed-for-ever", PEER, "sim", "",
       "an end that is lost beside other traffic is not found",
       ("	peer->keepalive.agreed = false;\n	watch_peer(peer);",
        "	watch_peer(peer);"), sim="loss")
mutant("digest-of-number", BEAT, "sim", "",
       "two hosts that have as many connections, and others, do not notice",
       ("	return b->connections == peer->vis.n &&\n"
        "	       b->digest == fold_digest(peer->keepalive.sum);",
        "	return b->connections == peer->vis.n;"), sim="loss")
mutant("life-over-again", PEER, "sim", "",
       "a late frame of before a reboot ends what was made since",
       ("	ok = !is_over(peer, epoch);", "	ok = true;"), sim="gone")
mutant("life-unseen", PEER, "sim", "",
       "connections to a host that was started again stand for seconds",
       ("			via_peer_ends(peer, VIA_PEER_END_RESTARTED);\n", ""),
       sim="gone time")
mutant("ends-one-visit", BEAT, "sim", "",
       "of many connections that are to end some do",
       ("		hb->left = ev ? hb->left - 1 : 0;\n",
        "		hb->left = ev && !via_work_over(work) ? hb->left - 1 : 0;\n"),
       sim="many")
mutant("flushes-not-charged", END, "sim", "",
       "VIs with full queues end 256 in one tick, which takes milliseconds",
       ("	via_work_charge(work, (READ_ONCE(vi->sq.head) +\n"
        "			       READ_ONCE(vi->rq.head) - was) / FLUSHES);",
        "	(void)was;"), sim="many")
mutant("walk-keeps-cpu", END, "sim", "",
       "while all VIs of a NIC flush no other thread runs on that CPU",
       ("		if (sleeps)\n			cond_resched();\n",
        "		(void)sleeps;\n"), sim="many")
mutant("stalled-all-tried", "devices/ether/run.c", "sim", "",
       "a NIC that is full is offered a frame of each VI at each retry",
       ("		ok = via_ether_run_now(ev, &work);\n",
        "		via_ether_run_now(ev, &work);\n"), sim="many backlog")
mutant("stalled-rest-forgotten", "devices/ether/run.c", "sim", "",
       "of many VIs that found the NIC full some send no more",
       ("		list_splice_init(list, &nic->runs.tx_blocked);\n",
        "		while (!list_empty(list))\n"
        "			list_del_init(list->next);\n"),
       sim="many backlog")

ACKS = "devices/ether/acks.c"
mutant("acks-of-other-host", "devices/ether/ack.c", "sim", "",
       "a host that has seen a cookie acknowledges for another one",
       ("	ours = ev->conn.cookie == e->cookie &&\n"
        "	       via_host_is(&ev->conn.remote, f->src);",
        "	ours = ev->conn.cookie == e->cookie;"), sim="hostile")
mutant("acks-of-any", "devices/ether/ack.c", "sim", "",
       "an entry of ACKS without the cookie acknowledges",
       ("	ours = ev->conn.cookie == e->cookie &&\n", "	ours ="),
       ("	if (ev->conn.cookie == e->cookie &&\n	    ev->conn.phase",
        "	if (ev->conn.phase"),
       sim="hostile")
mutant("acks-of-old-life", "devices/ether/ack.c", "sim", "",
       "ACKS for a host that was started again is taken",
       ("	if (h->cookie && h->cookie != nic->epoch) {", "	if (false) {"),
       sim="hostile")
mutant("acks-too-long", ACKS, "sim", "",
       "more entries than fit are written into a frame",
       ("	if (size > sizeof(b->f.entries) - b->f.bytes)\n"
        "		return false;\n", ""), sim="memory many")
mutant("alarm-acks-alone", ACKS, "sim", "",
       "what an alarm acknowledges goes in a frame for each connection",
       ("	via_owed_add(ev, false);\n}\n",
        "	via_ether_send_ack(ev, delay_of(age));\n}\n"), sim="many")
mutant("late-told-prompt", "devices/ether/proto/delack.h", "unit", "delack",
       "how long a frame has waited is not told in ACKS",
       ("	return d->late == next ? d->late_by : 0;\n",
        "	return d->late == next ? 0 : 0;\n"), sim="time")
mutant("late-told-unknown", "devices/ether/ack.c", "sim", "",
       "what ACKS tells of the wait of a frame is not heard",
       ("range, e->nranges, e->delay);",
        "range, e->nranges,\n			      VIA_WIRE_DELAY_MAX);"),
       sim="time")
mutant("acks-forgotten", ACKS, "sim", "",
       "what did not fit into a frame of ACKS is not told",
       ("			full = !add_ack(b, ev);", "			add_ack(b, ev);"),
       sim="many")
mutant("acks-unsent", ACKS, "sim", "",
       "what was owed while the transmitter was full is not told",
       ("		owe_unsent_acks(b);\n", "		;\n"), sim="backlog")
mutant("ack-at-once-dropped", "devices/ether/acks.c", "sim", "",
       "a duplicate that meets a full transmitter is not answered",
       ("			WRITE_ONCE(ev->snd.acked, ack - 1);\n", "			;\n"),
       sim="backlog loss")
mutant("acks-each-alone", ACKS, "sim", "",
       "each connection's acknowledgement is a frame",
       ("		if (alone || ev->rcv.dsack_due || ev->rcv.ce_echo)", "		if (true)"),
       sim="many")

mutant("end-told-uncounted", END, "sim", "",
       "why the peer ended a connection is not counted",
       ("	via_ether_count_at(ev->nic, VIA_C_END_TOLD + reason);\n", ""),
       sim="time")
mutant("end-uncounted", "devices/ether/conn.c", "sim", "",
       "why this host ended a connection is not counted",
       ("	via_ether_count_at(ev->nic, VIA_C_END_OURS + ev->conn.reason);\n",
        ""), sim="time")
mutant("control-by-another-queue", "devices/ether/acks.c", "sim", "",
       "an acknowledgement overtakes data of its connection in the NIC",
       ("		.flow = ev->vi->index,\n		.size = size,",
        "		.flow = ev->conn.remote_id,\n"
        "		.size = size,"),
       sim="reorder")
mutant("peer-not-asked", BEAT, "sim", "",
       "a peer whose VIs are all idle is not looked at",
       ("	return !list_empty(&nic->peers->on);\n", "	return false;\n"),
       sim="time")

TOMB = "devices/ether/timewait.c"
mutant("goodbye-once", "devices/ether/conn.c", "sim", "",
       "one of many connections whose DISCONNECT is lost stands at the peer",
       ("	via_timewait_begin(ev, &end);\n", ""), sim="loss time")
mutant("goodbye-for-ever", TOMB, "sim", "",
       "a DISCONNECT is sent again and again",
       ("		if (--tw->left)\n", "		if (true)\n"), sim="time")
mutant("goodbye-of-moment", "devices/ether/conn.c", "sim", "",
       "a DISCONNECT has other numbers than those of the end",
       ("		.ack = ev->rcv.win.next,\n", "		.ack = 0,\n"),
       sim="loss end")
mutant("goodbye-unanswered", "devices/ether/control.c", "sim", "",
       "a DISCONNECT that has arrived is sent again",
       ("	else if (phase >= VIA_PHASE_ACCEPT)\n", "	else if (false)\n"),
       sim="loss")
mutant("goodbye-copy-unanswered", "devices/ether/control.c", "sim", "",
       "a DISCONNECT whose answer was lost is sent again and again",
       ("	if (h->dst && !via_ether_lacks_auth(nic, f, h) &&\n"
        "	    via_ether_allowed(nic, f->src))\n",
        "	if (false)\n"), sim="hostile loss")
mutant("goodbye-answers-unbound", "devices/ether/admit.c", "sim", "",
       "any number of DISCONNECTs from made-up addresses is answered",
       ("	if (known || via_ether_may_answer(nic, host, VIA_LIMIT_ANSWER,\n"
        "					  asked, VIA_WIRE_END_LEN))\n",
        "	if (true)\n"),
       sim="hostile many")
mutant("goodbye-heard-by-any", TOMB, "sim", "",
       "a DISCONNECT_ACK with another number ends the copies",
       ("		    tw->end.seq == h->seq && tw->peer",
        "		    tw->peer"), sim="loss")
mutant("goodbye-heard-not", TOMB, "sim", "",
       "a DISCONNECT that was answered is sent again",
       ("			drop_timewait(nic, tw);\n			break;\n",
        "			break;\n"), sim="loss")
mutant("tombs-outlive", "devices/ether/main.c", "sim", "",
       "DISCONNECTs that a NIC would send again outlive it",
       ("	via_timewait_stop(nic);\n", ""), sim="gone ledger")

# Peers.
mutant("peers-unbound", PEER, "sim", "",
       "a flood of requests from made-up addresses takes all memory",
       ("	if (++peers->nidle > VIA_PEERS_IDLE)\n",
        "	if (++peers->nidle > 1u << 20)\n"), sim="hostile many")
mutant("peers-too-few", PEER, "sim", "",
       "refusals of some hosts take the place of another one's",
       ("	if (++peers->nidle > VIA_PEERS_IDLE)\n",
        "	if (++peers->nidle > 64)\n"), sim="hostile many")
mutant("peers-for-ever", PEER, "sim", "",
       "a host that asked once is remembered for ever",
       ("	while (via_work_visit(&work)) {", "	while (false) {"),
       sim="time")
mutant("peer-used-and-idle", PEER, "sim", "",
       "a peer with a connection ends as the oldest idle one",
       ("		list_del_init(&peer->idle_link);\n"
        "		peer->nic->peers->nidle--;\n", ""), sim="end memory")
mutant("peer-freed-at-once", PEER, "sim", "",
       "a peer goes while a frame of its host is looked at",
       ("		kfree_rcu(peer, rcu);", "	kfree(peer);"), sim="beside memory")
mutant("peer-not-given-back", "devices/ether/conn.c", "sim", "",
       "each attempt leaves its peer in use",
       ("		via_peer_drop(ev->peer);\n", "		;\n"), sim="ledger gone")
mutant("accepted-forgotten", REQUEST, "sim", "",
       "a late copy of an accepted request is offered to a server",
       ("		*type = VIA_WIRE_ACCEPT;\n	if (old)",
        "		;\n	if (old)"), sim="dup many")
mutant("requests-of-one", REQUEST, "sim", "",
       "one host takes all places for requests of a NIC",
       ("		   peer->nreqs < VIA_PEER_REQS && !nic->stopping) {",
        "		   !nic->stopping) {"), sim="hostile many")

# The window.
WINDOW = "devices/ether/proto/window.c"
mutant("window-never-grows", CONG, "unit", "congestion",
       "a connection has 16 frames in flight for ever, or 4 after a loss",
       ("		c->cwnd = min(c->cwnd + acked, c->most);",
        "		c->cwnd = min(c->cwnd, c->most);"))
mutant("old-ack-believed", WINDOW, "unit", "window",
       "an acknowledgement that comes late opens the window by millions",
       ("	if (n > via_win_flight(w))\n		return 0;\n	look_for_losses(w);",
        "	look_for_losses(w);"), sim="reorder")
mutant("sack-off-by-one", WINDOW, "unit", "window",
       "the frame that is missing counts as arrived",
       ("		from = range[i].start + 1;", "		from = range[i].start;"),
       sim="loss")
mutant("dup-is-beyond", WINDOW, "unit", "window",
       "a frame that comes again is not acknowledged again",
       ("	if ((s32)d < 0)\n		return VIA_WIN_DUP;\n", ""), sim="loss dup")
mutant("held-taken-twice", WINDOW, "unit", "window",
       "a frame that is held and comes again leaks the first copy",
       ("	return d < w->size && holds_frame(w, seq) ? VIA_WIN_DUP : VIA_WIN_HOLD;",
        "	return VIA_WIN_HOLD;"), sim="loss dup ledger")
mutant("loss-costs-nothing", CONG, "unit", "bottleneck congestion",
       "a sender does not slow down when the wire is full",
       ("	c->cwnd = half_window(c);\n	c->ssthresh", "	c->ssthresh"))
mutant("loss-costs-each", WINDOW, "unit", "window",
       "each frame lost of one burst halves the window",
       ("	if (is_recovering(w))\n		return;\n", ""),
       sim="loss")
mutant("window-stays-short", SEND, "sim", "",
       "no connection has more than 16 frames in flight",
       ("		lengthen_ring(ev);\n", "		;\n"), sim="large")
mutant("held-ring-leaks", "devices/ether/conn.c", "sim", "",
       "the ring of frames beyond a hole stays when the connection ends",
       ("	kfree(ev->rcv.held);\n	ev->rcv.held = NULL;\n",
        "	ev->rcv.held = NULL;\n"), sim="loss end ledger")
mutant("window-leaks", "devices/ether/conn.c", "sim", "",
       "the memory of a window stays when the connection ends",
       ("	kfree(via_win_end(&ev->snd.win));\n", ""), sim="large end ledger")
mutant("again-is-not-lost", WINDOW, "unit", "window",
       "a frame that is lost a second time waits for a time-out",
       ("	while (w->first != VIA_WIN_NONE &&",
        "	while (w->first != VIA_WIN_NONE && 0 &&"))
mutant("ring-without-losses", WINDOW, "unit", "window",
       "what is lost as the window gets memory is never sent again",
       ("			bits_of(w, seq)->lost |= bit_of(w, seq);\n	}",
        "			continue;\n	}"))
mutant("ranges-always-the-first", WINDOW, "unit", "window",
       "of many holes the sender hears of the first ones only",
       ("	w->told = seq;\n	return n;", "	return n;"))
mutant("seen-from-before", WINDOW, "unit", "window",
       "after 2^31 frames without loss a probe has all in flight sent again",
       ("	w->seen = via_win_rec(w, w->una)->order - 1;\n", ""))
mutant("growth-without-cubic", CONG, "unit", "congestion",
       "on a long way a large window comes back a frame a round",
       ("	if (c->cwnd < VIA_CONG_CUBIC)\n", "	if (true)\n"))
mutant("rto-unbound", WINDOW, "unit", "window",
       "one slow round trip makes time-outs of minutes",
       ("	r->rto = min(max(r->srtt / 8 + r->rttvar, rto_min), rto_max);",
        "	r->rto = max(r->srtt / 8 + r->rttvar, rto_min);"), sim="time")
mutant("sequence-no-wrap", "devices/ether/proto/window.h", "unit", "window",
       "a connection hangs after its 2^32nd frame, or its first",
       ("	return (s32)(a - b) < 0;", "	return a < b;"))

# Taking frames apart, lists of peers, names, NICs.
WIRE = "devices/ether/proto/wire.c"
mutant("ack-too-short", WIRE, "unit", "wire",
       "a truncated frame is read beyond its end",
       ("	if (len < VIA_WIRE_END_LEN)", "	if (len < sizeof(*w))"),
       sim="hostile memory")
mutant("ranges-overrun", WIRE, "unit", "wire",
       "an acknowledgement says that it has ranges, and has none",
       ("	    h->nranges * sizeof(*h->range) > len - VIA_WIRE_ACK_LEN)",
        "	    len < VIA_WIRE_ACK_LEN)"), sim="hostile memory")
mutant("ranges-touch", WIRE, "unit", "wire",
       "ranges that are one are taken for two",
       ("		least = start + count + 1;", "		least = start + count;"))
mutant("acks-overrun", WIRE, "unit", "wire",
       "an acknowledgement of several is read beyond its end",
       ("		if (sizeof(*e) > most - at)\n"
        "			return VIA_WIRE_BAD_LENGTH;\n", ""),
       sim="hostile memory")
mutant("list-unordered", WIRE, "unit", "wire",
       "a list names a cookie twice",
       ("		least = cookie + 1;", "		least = cookie;"))
mutant("address-unbound", WIRE, "sim", "",
       "an address that is too long is copied over the stack",
       ("	if (c->client_host_len > VIA_WIRE_HOST_MAX ||\n"
        "	    c->client_disc_len", "	if (c->client_disc_len"),
       sim="hostile memory")
mutant("seal-in-payload", WIRE, "unit", "wire",
       "a sealed frame may be four bytes shorter than it says",
       ("	err = parse_type(w, len - room, h);",
        "	err = parse_type(w, len, h);"), sim="hostile memory")
mutant("handshake-unsealed", WIRE, "unit", "wire",
       "a bit that flips in a handshake is not noticed",
       ("	return !err && via_wire_always_sealed(h->type) ? "
        "VIA_WIRE_BAD_FIELD :\n"
        "							 err;",
        "	return err;"), sim="corrupt hostile")
mutant("cookie-zero", WIRE, "unit", "wire",
       "a peer may have the cookie that means none",
       (" || !c->sender_cookie ||", " ||"),
       sim="hostile")
mutant("mtu-zero", WIRE, "unit", "wire",
       "a peer that says it takes no bytes makes frames of four billion",
       (" || e->mtu < VIA_WIRE_MTU_MIN ||", " ||"), sim="hostile memory")
mutant("name-on-terminal", WIRE, "unit", "wire",
       "a host's name writes control characters on a terminal",
       ("		if (w->name[i] <= ' ' || w->name[i] > '~')",
        "		if (!w->name[i] || w->name[i] > '~')"), sim="hostile")

mutant("list-freed-early", ALLOW, "sim", "",
       "frames are compared with a list of peers that is freed",
       ("	synchronize_net();\n"
        "	via_ether_end_some(nic, is_vi_unwanted, VIA_WIRE_R_TRANSPORT, true);\n"
        "	if (swap_secrets(old, a)) {",
        "	free_list(old);\n	old = NULL;\n"
        "	via_ether_end_some(nic, is_vi_unwanted, VIA_WIRE_R_TRANSPORT, true);\n"
        "	if (swap_secrets(old, a)) {"),
       sim="beside memory")
mutant("strangers-stay", ALLOW, "sim", "",
       "a host that is taken off the list of peers stays connected",
       ("	via_ether_end_some(nic, is_vi_unwanted, VIA_WIRE_R_TRANSPORT, true);\n"
        "	if (swap_secrets(",
        "	if (swap_secrets("))

mutant("key-left", ALLOW, "sim", "",
       "keys stay in memory that is given back",
       ("	memzero_explicit(a, struct_size(a, host, a->room));\n", ""),
       sim="memory")
mutant("key-left-secret", SESSION, "sim", "",
       "a key stays in memory when root removes it",
       ("	kfree_sensitive(secret);", "	kfree(secret);"), sim="memory")
mutant("key-left-at-end", ALLOW, "sim", "",
       "a NIC that goes leaves its keys and its hosts behind",
       ("	forget_secrets(a);\n	free_list(a);\n}\n", "	free_list(a);\n}\n"),
       sim="memory gone")
mutant("key-lost", ALLOW, "sim", "",
       "a host loses its key when another one is added",
       ("	host->keyed = from->keyed;\n	host->key = from->key;\n", ""))
mutant("key-lost-unsaid", ALLOW, "sim", "",
       "a host that is set again without a word of its key loses it",
       ("			host->keyed = was->keyed;\n"
        "			host->key = was->key;\n", ""))
mutant("key-of-two", ALLOW, "sim", "",
       "an address has two keys, or one and none",
       ("		if (!*why && rule_of(a, &like))\n"
        "			*why = VIA_REFUSE_TWICE;\n", ""))
mutant("list-of-none-for-all", ALLOW, "sim", "",
       "an empty list allows all hosts",
       ("	ok = a ? is_listed(a, host, nic->host.len) :",
        "	ok = a && a->count ? is_listed(a, host, nic->host.len) :"))
mutant("list-half-changed", ALLOW, "sim", "",
       "hosts are taken off though one of them is not on the list",
       ("		if (!rule_of(old, &named->host[i])) {",
        "		if (!i && !rule_of(old, &named->host[i])) {"))

ETHER_NAME = "devices/ether/name.c"
mutant("any-name-reply", ETHER_NAME, "sim", "",
       "an answer to no question is taken for the first one's",
       ("		if (ask->nonce != n->nonce)\n			continue;\n", ""),
       sim="hostile")
mutant("ask-left", ETHER_NAME, "sim", "",
       "a late answer is written into the stack of its asker",
       ("	spin_lock_bh(&nic->lock);\n	list_del(&ask.link);\n"
        "	spin_unlock_bh(&nic->lock);\n	return ret;",
        "	return ret;"), sim="memory time")
mutant("names-unbound", ETHER_NAME, "sim", "",
       "a flood of questions for names is answered frame by frame",
       ("	if (via_ether_may_answer(nic, f->src, VIA_LIMIT_NAME, f->len,\n"
        "				 VIA_WIRE_NAME_LEN) &&\n"
        "	    via_ether_send_name(",
        "	if (via_ether_send_name("), sim="hostile many")

ETHER_MAIN = "devices/ether/main.c"
mutant("requests-outlive", ETHER_MAIN, "sim", "",
       "unanswered requests of a NIC that goes stay for ever",
       ("	via_ether_reqs_end(nic);\n", ""), sim="gone ledger")
mutant("link-down-unsaid", ETHER_MAIN, "sim", "",
       "an interface that goes down is told as the end of the programs",
       ("	via_ether_end_some(nic, NULL, VIA_WIRE_R_LINK, true);",
        "	via_ether_end_some(nic, NULL, VIA_WIRE_R_CLOSED, true);"))
mutant("strangers-all", "devices/ether/end.c", "sim", "",
       "a change to the list of peers ends all connections",
       ("		    (!fits || fits(ev))) {",
        "		    (!fits || nic->allow)) {"))
mutant("fragments-unreliable", "devices/ether/param.c", "sim", "",
       "a send at Unreliable is done while the NIC has its bytes to read",
       ("	if (!ev->conn.reliable || ev->conn.seal || !ev->nic->ops->tx_put_frags)",
        "	if (ev->conn.seal || !ev->nic->ops->tx_put_frags)"), sim="frags")
mutant("fragments-again", "devices/ether/send.c", "sim", "",
       "a frame that is sent again has what was written after the completion",
       ("				      U32_MAX);",
        "				      ev->conn.dma_from);"),
       sim="frags")
mutant("fragments-sealed", "devices/ether/param.c", "sim", "",
       "long messages with checksums go without, and are thrown away",
       ("	if (!ev->conn.reliable || ev->conn.seal || !ev->nic->ops->tx_put_frags)",
        "	if (!ev->conn.reliable || !ev->nic->ops->tx_put_frags)"), sim="frags")

# Between consumers in the kernel.
in_sim("refusal-forgets-reply", "devices/ether/reply_cache.c", "sim", "",
       "a refusal that was lost comes again without what the server had to say",
       ("		.reply = copy,\n", ""), sim="kernel")
in_sim("reply-to-any", "devices/ether/xmit.c", "sim", "",
       "REFUSE is longer than a client without the option takes",
       ("	if (reply && c->takes & VIA_TAKES_REPLY) {", "	if (reply) {"),
       sim="kernel")
in_sim("note-of-first-frame", SEND, "sim", "",
       "only messages of one frame have their notes",
       ("	if (unlikely(d->control & VIA_CTL_KERNEL_NOTES))",
        "	if (unlikely(d->control & VIA_CTL_KERNEL_NOTES) && !off)"),
       sim="kernel")
in_sim("note-of-a-stranger", RECV, "sim", "",
       "a program's receive completes with notes that no program knows",
       ("	if (!via_conn_notes(vi))\n		return VIA_WIRE_R_PROTOCOL;\n", ""),
       sim="kernel hostile")
in_sim("fault-of-wrong-end", "devices/ether/end.c", "sim", "",
       "a consumer in the kernel takes the peer's refusal for its own",
       ("	via_conn_fault(ev->vi, faults[reason][1]);",
        "	via_conn_fault(ev->vi, faults[reason][0]);"), sim="kernel")

TRAIN = "devices/ether/train.c"
WIRE = "devices/ether/proto/wire.c"

mutant("train-offset", WIRE, "unit", "wire",
       "frames that are cut from a train have the bytes of the first",
       ("be32_to_cpu(d->offset) + k * seg);", "be32_to_cpu(d->offset) + seg);"))
mutant("train-beyond", WIRE, "unit", "wire",
       "a train is longer than its message",
       (" || all <= seg || all > h->msg_len - h->offset ||\n",
        " || all <= seg ||\n"))
mutant("train-sealed", WIRE, "unit", "wire",
       "a train with a seal is taken, whose frames have none",
       ("	if (!via_wire_data_hdr(h->type) || h->flags & VIA_WIRE_SEALS ||\n",
        "	if (!via_wire_data_hdr(h->type) ||\n"))
mutant("train-held", RECV, "sim", "",
       "a train is taken at once, though frames of it are held",
       ("	if (ev->conn.reliable && h->seq == ev->rcv.win.next &&\n"
        "	    !ev->rcv.win.held)\n",
        "	if (ev->conn.reliable && h->seq == ev->rcv.win.next)\n"),
       sim="train reorder")
mutant("train-one-number", RECV, "sim", "",
       "a train takes one sequence number",
       ("unlikely(via_win_taken_run(&ev->rcv.win, h->frames))) {",
        "unlikely(via_win_taken(&ev->rcv.win))) {"), sim="train")
mutant("train-records", "devices/ether/proto/window.h", "sim", "",
       "what is sent again of a train is its first bytes",
       ("	for (; seq != end; seq++, r.offset += len) {\n",
        "	for (; seq != end; seq++) {\n"), sim="train")
mutant("train-pages-joined", "kernel/memory.c", "sim", "",
       "pieces of one page that a message names apart are sent as a row",
       ("	    page_address(pages->frag[n - 1].page) + pages->frag[n - 1].off +\n"
        "	    pages->frag[n - 1].len == at) {\n",
        "	    at) {\n"), sim="train")
mutant("train-pages-kept", "kernel/memory.c", "sim", "",
       "pages that were sent are never free again",
       ("	while (pages->n)\n		put_page(pages->frag[--pages->n].page);\n",
        "	while (pages->n)\n		if (--pages->n)\n"
        "			put_page(pages->frag[pages->n].page);\n"),
       sim="train ledger")
mutant("train-complete", TRAIN, "sim", "",
       "each frame of a train completes its message",
       ("			 kind & ~VIA_REC_LAST);\n",
        "			 kind);\n"), sim="train")

JOIN = "devices/ether/proto/join.h"

mutant("join-beyond", JOIN, "unit", "join",
       "a frame that ends beyond its message spoils those before it",
       (" || more > j->left || ", " || "))
mutant("join-seq", JOIN, "unit", "join",
       "a frame joins a train that is not the next one",
       ("	if (be32_to_cpu(d->seq) - be32_to_cpu(f->seq) != j->frames ||\n"
        "	    be32_to_cpu(d->offset)", "	if (be32_to_cpu(d->offset)"))
mutant("join-offset", JOIN, "unit", "join",
       "a frame joins a train whose bytes it does not continue",
       ("	    be32_to_cpu(d->offset) - be32_to_cpu(f->offset) !=\n"
        "	    j->len - j->hdr ||\n", ""))
mutant("join-cookie", JOIN, "unit", "join",
       "a frame of an old connection joins a train",
       ("	if (w->cookie != first->cookie || w->dst", "	if (w->dst"))
mutant("join-rdma", JOIN, "unit", "join",
       "a write to elsewhere joins a train",
       ("	return j->hdr == VIA_WIRE_SEND_HDR ||\n"
        "	       !memcmp(d + 1, f + 1, sizeof(struct via_wire_rdma));\n",
        "	return true;\n"))
mutant("join-flags", JOIN, "unit", "join",
       "a frame with a flag that data cannot have spoils those before it",
       (" || !via_join_flags_ok(w) ||\n	    (w->flags ^", " ||\n	    (w->flags ^"))
mutant("join-seal", JOIN, "unit", "join",
       "frames with seals join, whose headers are longer",
       ("(VIA_WIRE_FLAGS_DATA & ~VIA_WIRE_SEALS));", "VIA_WIRE_FLAGS_DATA);"))
mutant("join-many", JOIN, "unit", "join",
       "a train has more frames than there is room for",
       (" || j->frames == VIA_WIRE_TRAIN || ", " || "))
mutant("join-short", JOIN, "unit", "join",
       "a frame that is shorter than its headers joins",
       (" || len <= j->hdr ||\n	    more > j->seg", " ||\n	    more > j->seg"))
mutant("join-ends", JOIN, "unit", "join",
       "a train goes on behind a frame that asks for an acknowledgement",
       ("	j->open = more == j->seg && !via_join_ends(w);",
        "	j->open = more == j->seg;"))
mutant("join-behind-short", JOIN, "unit", "join",
       "a train goes on behind a shorter frame",
       ("	j->open = more == j->seg && !via_join_ends(w);",
        "	j->open = !via_join_ends(w);"))
mutant("join-ack", JOIN, "unit", "join",
       "what the last frames of a train acknowledge is lost",
       ("	((struct via_wire_data *)(head + 1))->ack =\n"
        "		((const struct via_wire_data *)(w + 1))->ack;\n", ""))
mutant("join-padded", JOIN, "unit", "join",
       "bytes behind the payload of a train's first frame are its payload",
       ("	if (be16_to_cpu(d->len) != j->seg || off > msg || ",
        "	if (off > msg || "))
mutant("join-version", JOIN, "unit", "join",
       "frames of another version are joined",
       ("	if (len < VIA_WIRE_SEND_HDR || w->version != VIA_WIRE_VERSION ||\n",
        "	if (len < VIA_WIRE_SEND_HDR ||\n"))

SHAPE = "devices/ether/proto/shape.h"

mutant("shape-options", SHAPE, "unit", "shape",
       "any packet of TCP's with as many options is taken for a train",
       ("t->option == VIA_SHAPE_OPTION &&\n	       ", ""))
mutant("shape-reset", SHAPE, "unit", "shape",
       "a packet of TCP's that ends a connection is a train",
       ("	       (t->flags & ~VIA_SHAPE_PSH) == VIA_SHAPE_ACK && !t->urgent;",
        "	       t->flags & VIA_SHAPE_ACK && !t->urgent;"))
mutant("shape-beyond", SHAPE, "unit", "shape",
       "a train that ends beyond its message is taken",
       ("	if (off > msg || len > msg - off || ", "	if ("))
mutant("shape-wraps", SHAPE, "unit", "shape",
       "a train that begins beyond its message is taken",
       ("	if (off > msg || len > msg - off", "	if (len > msg - off"))
mutant("shape-many", SHAPE, "unit", "shape",
       "a train has more frames than there is room for",
       ("|| len > VIA_WIRE_TRAIN * seg ||", "||"))
mutant("shape-between", SHAPE, "unit", "shape",
       "a train begins within a frame",
       ("	if (off % seg || k > last", "	if (k > last"))
mutant("shape-behind", SHAPE, "unit", "shape",
       "a train goes on behind its last frame",
       ("	if (off % seg || k > last || n - 1 > last - k ||",
        "	if (off % seg ||"))
mutant("shape-short", SHAPE, "unit", "shape",
       "a frame in the middle of a message is shorter, and those behind it move",
       (" ||\n	    (len % seg && len != msg - off))", ")"))
mutant("shape-joined", SHAPE, "unit", "shape",
       "packets that were joined are of another length than the frames",
       ("	    !seg || (joined && joined != seg))", "	    !seg)"))
mutant("shape-flags", SHAPE, "unit", "shape",
       "a seal that is not there is looked for in the payload",
       ("	    t->wire_flags & ~(VIA_WIRE_PUSH | VIA_WIRE_ACK_NOW | "
        "VIA_WIRE_PROBE) ||\n", ""))
mutant("shape-asks-often", SHAPE, "unit", "shape",
       "each part of a train asks for an acknowledgement",
       ("k + n - 1 == last, s);", "true, s);"))
mutant("shape-probe-moved", SHAPE, "unit", "shape",
       "a probe does not find that sequence numbers are changed on the way",
       ("	return cookie && be32_to_cpu(t->offset) == (u32)cookie &&\n",
        "	return cookie &&\n"))
mutant("shape-far", SHAPE, "unit", "shape",
       "the number of a frame in its message is cut to 16 bits",
       (" && off / seg + n - 1 <= 0xffff;", " && n;"))
