# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant, one at a time.  The tests have to notice each.

A mutant is a name, a file, (old, new) text pairs of which each old text stands
in that file exactly once, where it is looked for, and why a user would care.
`on` is where: "lo" is viaconform on via_lo, "wire" viaconform between two
nodes, "unit" a program of build/unit.  `first` names the groups (or the unit
program) that should see it; they are run first, then all the others.
"""

from collections import namedtuple

Mutant = namedtuple("Mutant", "name path on first why edits")
MUTANTS = []


def mutant(name, path, on, first, why, *edits):
    MUTANTS.append(Mutant(name, path, on, first.split(), why, edits))


QUEUE = "vipl/providers/ka_queue.c"

mutant("empty-pointer", QUEUE, "lo", "queue.empty",
       "the OUT pointer is not stored on an empty queue: a drain never ends",
       ("""	*out = NULL;
	/* In the cache line that was just looked at. */
""", """	/* In the cache line that was just looked at. */
"""))
mutant("stale-status", QUEUE, "lo", "send.repost",
       "a re-posted descriptor keeps the bits of its last use",
       ("	memcpy(d + 28, &zero, sizeof(zero));\n", "	(void)zero;\n"),
       ("	status = c->status;\n",
        "	memcpy(&status, d + 28, 4);\n	status |= c->status;\n"))
mutant("immediate-overwritten", QUEUE, "lo", "immediate.without",
       "ImmediateData is written without the bit",
       ("if (recv && (status & VIA_ST_IMMEDIATE))", "if (recv)"))
mutant("queue-one-more", QUEUE, "lo", "queue.full queue.depth",
       "off by one in the limit of a queue",
       (">= q->limit", "> q->limit"))
mutant("send-while-idle", QUEUE, "lo", "vi.idle",
       "a send on an Idle VI is accepted",
       ("state == VIA_STATE_IDLE ||\n", "0 ||\n"))
mutant("poll-code", QUEUE, "lo", "wait.timeouts",
       "wrong return code of a wait that only polls",
       ("		return VIP_TIMEOUT;\n	return sleep_queue",
        "		return VIP_NOT_DONE;\n	return sleep_queue"))
mutant("handle-generation", "vipl/handle.c", "lo", "handles.stale",
       "a stale handle names the next object in its place",
       ("	o->gen++;\n", ""))
mutant("which-queue", "vipl/providers/ka_cq.c", "lo", "cqvi.notices",
       "a notice names the wrong queue",
       ("e->recv ? VIP_TRUE : VIP_FALSE", "VIP_TRUE"))
mutant("address-one-more", "vipl/connect.c", "lo", "connect.from_peer",
       "a byte is written behind the peer's address",
       ("memcpy(bytes + a->host_len, a->disc, a->disc_len);",
        "memcpy(bytes + a->host_len, a->disc, a->disc_len + 1);"))
mutant("notify-lost", "vipl/notify.c", "lo", "notify",
       "a handler that was registered is never called",
       ("	s->n->armed = r == VIP_SUCCESS;\n",
        "	s->n->armed = r == VIP_SUCCESS;\n	s->n->first = NULL;\n"))

mutant("wakeup-queue", "kernel/queue.c", "lo", "wait.woken",
       "who sleeps on a queue is not woken",
       ("	via_wake(&q->sleepers);\n", ""))
mutant("wakeup-cq", "kernel/cq.c", "lo", "cqvi.wakes",
       "who sleeps on a completion queue is not woken",
       ("	via_wake(&cq->sleepers);\n	spin_unlock(&cq->lock);\n",
        "	spin_unlock(&cq->lock);\n"))
mutant("notice-lost", "kernel/cq.c", "lo", "cq.overflow cqvi.backlog",
       "a completion that finds the ring full leaves no notice",
       ("		via_cq_hold(cq, q);\n	}\n	via_wake(&cq->sleepers);\n",
        "		q->cq_from = q->head;\n	}\n"
        "	via_wake(&cq->sleepers);\n"))
mutant("notice-early", "kernel/cq.c", "lo", "order.cq_then_done cqvi",
       "a notice comes before its completion is there",
       ("	smp_store_release(&q->kern->done, q->head);\n"
        "	if (!via_cq_overflown(cq)",
        "	smp_store_release(&q->kern->done, q->head - 1);\n"
        "	if (!via_cq_overflown(cq)"))
mutant("flush-order", "kernel/queue.c", "lo", "disconnect.local",
       "sends and receives are flushed, but not to the last one",
       ("	n += q->next - q->head;\n",
        "	n += q->next - q->head;\n	n -= n > 1;\n"))
mutant("flush-unmarked", "kernel/queue.c", "lo", "disconnect.local",
       "a flushed descriptor looks like a good one",
       ("		via_queue_complete(vi, q, via_flush_op(q) |\n"
        "				   VIA_ST_DESC_FLUSHED_ERROR, 0, 0);",
        "		via_queue_complete(vi, q, via_flush_op(q), 0, 0);"))
mutant("ptag", "kernel/engine.h", "lo", "protection.ptag rdmaprot.ptag",
       "the protection tag of a region is not compared",
       ("(!vi->attrs.ptag || vi->attrs.ptag == r->ptag) &&", ""))
mutant("region-end", "kernel/memory.h", "lo", "protection.range",
       "off by one at the end of a region",
       ("len <= r->len - off", "len <= r->len - off + 1"))
mutant("handle-index-only", "kernel/memory.h", "lo", "memory.deregister",
       "a memory handle of old names the next region in its place",
       ("return likely(r && r->handle == handle) ? r : NULL;",
        "return r;"))
mutant("dereg-no-end", "kernel/memory.c", "lo", "protection.deregistered",
       "deregistering does not stop the use of a region",
       ("	via_region_destroy(f, r);\n	return 0;", "	return 0;"))
mutant("vi-rdma-right", "kernel/engine.c", "lo", "rdmaprot.vi",
       "RDMA Write into a VI that does not permit it",
       ("	if (!(vi->attrs.rights & right))\n		return NULL;\n", ""))
mutant("region-rdma-right", "kernel/engine.c", "lo", "rdmaprot.region",
       "RDMA Write into a region that does not permit it",
       ("return r && r->rights & right ? r : NULL;", "return r;"))
mutant("length-disagrees", "kernel/engine.c", "lo", "format.length",
       "Length may disagree with the segments",
       ("if (sum != d->length || (!recv && sum > vi->attrs.max_transfer))",
        "if (!recv && sum > vi->attrs.max_transfer)"))
mutant("send-unbound", "kernel/engine.c", "lo", "format.too_long",
       "a message may be longer than MaxTransferSize",
       (" || (!recv && sum > vi->attrs.max_transfer))", ")"))
mutant("recv-bound", "kernel/engine.c", "lo", "format.long_receive",
       "a receive may not be longer than MaxTransferSize",
       ("(!recv && sum > vi->attrs.max_transfer)",
        "sum > vi->attrs.max_transfer"))
mutant("segment-end", "kernel/engine.c", "lo", "send.segments rdma.gathered",
       "off by one: a byte behind the end of a segment",
       ("			return VIA_ST_LENGTH_ERROR;\n"
        "		n = min(len, seg->len - seg_off);",
        "			return VIA_ST_LENGTH_ERROR;\n"
        "		n = min(len, seg->len - seg_off + 1);"))
mutant("immediate-wrong", "kernel/loop.c", "lo", "immediate.with",
       "the immediate data of a message are wrong",
       ("				  d->immediate);",
        "				  d->immediate ^ 1);"))
mutant("no-match-code", "kernel/loop.c", "lo", "connect.no_match",
       "REJECT where nobody waits: clients do not try again",
       ("ret = VIA_R_NO_MATCH;",
        "ret = VIA_R_REJECT;"))
mutant("late-accept", "kernel/connect.c", "lo", "accept.late",
       "REJECT where a server was late, and nobody has rejected",
       ("		via_conn_put(conn);\n		ret = VIA_R_TIMEOUT;\n"
        "		goto out_vi;",
        "		via_conn_answer_no(conn);\n		ret = VIA_R_TIMEOUT;\n"
        "		goto out_vi;"))
mutant("discriminator-length", "kernel/connect.h", "lo",
       "accept.near_misses",
       "discriminators are compared without their lengths",
       ("	return a->disc_len == b->disc_len &&\n"
        "	       !memcmp(a->disc, b->disc, a->disc_len);",
        "	return !memcmp(a->disc, b->disc,\n"
        "		       min(a->disc_len, b->disc_len));"))
mutant("unequal-mtu", "kernel/connect.c", "lo", "accept.mismatch",
       "VIs of unequal MaxTransferSize are connected",
       ("	if (a->max_transfer != b->max_transfer)\n"
        "		return VIA_R_INVALID_MTU;\n", ""))
mutant("peer-host-only", "kernel/peer.c", "lo", "p2p.crowd",
       "peers match by their hosts, whatever the discriminators",
       ("return via_disc_equal(a, b) && a->host_len", "return a->host_len"))

mutant("end-is-loss", "kernel/loop.c", "lo", "errors.said_of_ends",
       "the normal end of a peer is told as a lost connection",
       ("tell && !via_vi_is_broken(vi) ? VIA_BROKEN_LEFT : 0", "0"))
mutant("loss-is-end", "kernel/loop.c", "lo", "errors.said_of_ends",
       "nothing is said of a lost connection",
       ("tell && !via_vi_is_broken(vi) ? VIA_BROKEN_LEFT : 0", "VIA_BROKEN_LEFT"))

RECV = "devices/ether/recv.c"
mutant("wire-end-is-loss", RECV, "wire", "errors.said_of_ends",
       "the normal end of a peer is told as a lost connection",
       ("h->reason == VIA_WIRE_R_CLOSED ?", "0 ?"))
mutant("wire-loss-is-end", "devices/ether/peer.c", "wire",
       "errors.said_of_ends", "an error of the peer's is told as its end",
       ("		ev->reason = VIA_WIRE_R_TRANSPORT;\n", "		;\n"))

mutant("wire-immediate", RECV, "wire", "immediate.without",
       "a message without immediate data says that it has some",
       ("		via_recv_complete(vi, h->flags & VIA_WIRE_IMMEDIATE ?\n"
        "				  VIA_ST_IMMEDIATE : 0, h->msg_len,",
        "		via_recv_complete(vi, VIA_ST_IMMEDIATE, h->msg_len,"))
mutant("wire-too-long", RECV, "wire", "format.small_buffer reception.too_long",
       "the sender of a message too long for its receive is not told",
       ("		via_recv_complete(vi, st, 0, 0);\n"
        "		return VIA_WIRE_R_RECEIVE;\n	}\n	if (likely(h->offset",
        "		via_recv_complete(vi, st, 0, 0);\n"
        "		return 0;\n	}\n	if (likely(h->offset"))
mutant("wire-empty-queue", RECV, "wire", "errors.recvq_empty",
       "a message dropped without a receive, and nobody told",
       ("		via_vi_event(vi, VIA_ERR_RECVQ_EMPTY,\n"
        "			     VIA_ST_OP_RECEIVE >> 16, 0);\n", ""))
mutant("wire-offender", RECV, "wire", "reception.no_receive",
       "the sender of a refused message is not told why",
       ("			st = VIA_ST_REMOTE_DESC_ERROR;\n",
        "			st = 0;\n"))
mutant("wire-write-length", RECV, "wire", "rdma",
       "RDMA Write with immediate data: the length is not told",
       ("VIA_ST_IMMEDIATE, h->msg_len, h->immediate);",
        "VIA_ST_IMMEDIATE, 0, h->immediate);"))
mutant("wire-lost-completion", "devices/ether/send.c", "wire", "send",
       "the last send that an acknowledgement covers does not complete",
       ("for (seq = ack - n; seq != ack; seq++)",
        "for (seq = ack - n; seq != ack - 1; seq++)"))
mutant("wire-read-place", "devices/ether/read.c", "wire", "read.sizes",
       "RDMA Read answers with the bytes beside those asked for",
       ("	a->raddr = h->raddr;\n", "	a->raddr = h->raddr + 1;\n"))

mutant("loss-not-found", "devices/ether/window.c", "unit", "window",
       "a lost frame is never found lost",
       ("			w->lost |= (u64)1 << i;\n			back_off(w);\n",
        "			back_off(w);\n"))
mutant("timeout-forgets", "devices/ether/window.c", "unit", "window",
       "a time-out forgets what it has to send again",
       ("	w->lost = via_bits(via_win_flight(w)) & ~w->sacked;\n"
        "	w->lossy = w->lost;\n", "	w->lost = 0;\n	w->lossy = 0;\n"))
mutant("window-not-shared", "devices/ether/window.c", "unit", "bottleneck",
       "several senders to one peer grow as if each were alone",
       ("	if (w->grown >= w->cwnd * (w->share > 1 ? 2 * w->share : 1)) {",
        "	if (w->grown >= w->cwnd) {"))
mutant("reordering-is-loss", "devices/ether/window.c", "unit", "window",
       "what was sent again for nothing is never found out",
       ("		w->lost |= (u64)1 << i;\n			back_off(w);\n			r->overtaken = true;\n",
        "		w->lost |= (u64)1 << i;\n			back_off(w);\n"))
mutant("frame-overrun", "devices/ether/wire.c", "unit", "wire",
       "a payload longer than its message is taken",
       ("	if (unlikely(h->offset > h->msg_len ||\n"
        "		     h->len > h->msg_len - h->offset))\n",
        "	if (unlikely(h->offset > h->msg_len))\n"))

# What make check plants: one each in the library, the agent and the class.
QUICK = ("empty-pointer", "ptag", "wire-immediate")
