# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant in the verbs device: events, limits, queues, SRQs, and queue
pairs that are connected by number."""

from layer import Layer

MUTANTS = Layer()


def mutant(name, path, first, why, *edits):
    """Seen to be noticed by a group of verbsconform."""
    MUTANTS.guest(name, path, "verbs", first, why, *edits)


mutant("vr-no-limit", "verbs/dev.h", "limit.pd",
       "a program makes as many objects as there is memory",
       ("if (atomic_add_unless(&d->objects[kind], 1, most[kind]))",
        "if (atomic_inc_return(&d->objects[kind]) <= most[kind] || 1)"))
mutant("vr-limit-uncounted", "verbs/dev.h", "limit.pd",
       "an administrator does not see that a limit is reached",
       ("	vr_count(d, VR_OVER_LIMIT);\n	return false;",
        "	return false;"))
mutant("vr-cq-kept", "verbs/cq.c", "limit.cq",
       "a completion queue that was destroyed counts for ever",
       ("	vr_buf_free(&cq->buf);\n"
        "	vr_give(vr_dev_of(ib->device), VR_KIND_CQ);\n	return 0;",
        "	vr_buf_free(&cq->buf);\n	return 0;"))
mutant("vr-access-fatal", "verbs/hook.c", "event.write",
       "a peer that was refused looks like a fault of the device",
       ("	case VIA_KERNEL_FAULT_LOCAL_ACCESS:\n		return VR_TODO_ACCESS;\n",
        "	case VIA_KERNEL_FAULT_LOCAL_ACCESS:\n		return VR_TODO_FATAL;\n"))
mutant("vr-left-fatal", "verbs/hook.c", "event.no_fault",
       "a peer that disconnects is a fault",
       ("	case VIA_KERNEL_FAULT_PEER_LEFT:\n		return 0;",
        "	case VIA_KERNEL_FAULT_PEER_LEFT:\n		return VR_TODO_FATAL;"))
mutant("vr-request-none", "verbs/hook.c", "event.read",
       "a request that the peer refused is no event",
       ("		return VR_TODO_REQUEST;", "		return 0;"))
mutant("vr-fatal-none", "verbs/hook.c", "event.send",
       "a request with a wrong key of its own is no event",
       ("	default:\n		return VR_TODO_FATAL;", "	default:\n		return 0;"))
mutant("vr-receive-key-none", "verbs/rq.c", "event.receive",
       "a receive with a wrong key is a fault of the device",
       ("		todo |= VR_TODO_ACCESS;\n	vr_work_add", "		;\n	vr_work_add"))
mutant("vr-overflow-untold", "verbs/cq.c", "event.overflow",
       "nobody hears that a completion queue is full",
       ("			queue_work(vr_dev_of(cq->ib.device)->wq, &cq->overflow);\n",
        ""))
mutant("vr-lost-unbroken", "verbs/sq.h", "event.overflow",
       "who lost a completion waits for it for ever",
       ("		return VR_TODO_BREAK | VR_TODO_FATAL;", "		return 0;"))
mutant("vr-srq-kept", "verbs/srq.c", "limit.srq",
       "a shared receive queue that was destroyed counts for ever",
       ("	vr_buf_free(&srq->buf);\n	vr_give(srq->dev, VR_KIND_SRQ);\n",
        "	vr_buf_free(&srq->buf);\n"))
mutant("vr-srq-limit-late", "verbs/srq.c", "srq.limit",
       "a program hears one receive later that its queue is low",
       ("	u32 last = srq->taken + srq->limit - 1;",
        "	u32 last = srq->taken + srq->limit - 2;"))
mutant("vr-srq-limit-stays", "verbs/srq.c", "srq.limit",
       "a program is told of a low queue with each receive",
       ("	srq->limit = 0;\n	queue_work", "	queue_work"))
mutant("vr-srq-limit-waits", "verbs/srq.c", "srq.limit",
       "a limit that is not reached when it is set is told with the next receive",
       ("	srq->limit = attr->srq_limit;\n	vr_srq_look(srq);",
        "	srq->limit = attr->srq_limit;"))
mutant("vr-srq-used-again", "verbs/srq.c", "srq.full",
       "a receive that was taken is never free",
       ("		smp_store_release(&r->flags, 0);\n		srq->taken++;",
        "		srq->taken++;"))
mutant("vr-srq-one-segment", "verbs/srq.c", "srq.order",
       "segments behind the first are those of the receive before",
       ("	if (to->num_sge > 1)", "	if (to->num_sge > SIW_MAX_SGE)"))
mutant("vr-srq-any-limit", "verbs/srq.c", "srq.limit",
       "any limit is taken, also one above the queue's size",
       ("	if (attr->srq_limit > srq->mask + 1)\n		return -EINVAL;\n", ""))
mutant("vr-srq-any-domain", "verbs/qp.c", "srq.in_use",
       "a queue pair takes receives that name memory of another domain",
       ("	if (attr->srq && attr->srq->pd != pd)\n		return -EINVAL;\n", ""))
mutant("vr-last-untold", "verbs/qp.c", "srq.flush",
       "who waits for the last receive of a queue pair waits for ever",
       ("		todo |= VR_TODO_LAST;\n", "		;\n"))
mutant("vr-last-again", "verbs/qp.c", "srq.empty",
       "the last receive is told each time that the rings are looked at",
       ("		vr_qp_tell(qp, IB_EVENT_QP_LAST_WQE_REACHED, &qp->told_last);",
        "		qp->told_last = false, vr_qp_tell(qp,\n"
        "			IB_EVENT_QP_LAST_WQE_REACHED, &qp->told_last);"))
mutant("vr-srq-left-behind", "verbs/rq.c", "srq.order",
       "a queue pair of a shared queue looks into its own, which is empty",
       ("	if (rq->srq)\n		return vr_rq_scan_shared(rq);\n", ""))
mutant("vr-deep-receives", "verbs/rq.c", "queue.deep",
       "the agent is given more receives of a queue than it takes",
       ("rq->seen - rq->done < min(rq->mask + 1, VR_POSTED)",
        "rq->seen - rq->done <= rq->mask"))
mutant("vr-deep-sends", "verbs/sq.c", "queue.deep",
       "the agent is given more sends of a queue than it takes",
       ("	sq->copies = min(entries, VR_POSTED) - 1;",
        "	sq->copies = entries - 1;"))
mutant("vr-message-short", "verbs/dev.h", "data.longest",
       "messages end at what a program's VI may have, and the port says so",
       ("#define VR_MESSAGE	VIA_KERNEL_TRANSFER", "#define VR_MESSAGE	BIT(20)"))
mutant("vr-early-none", "verbs/cm.c", "refuse.early",
       "a request that comes shortly before its listener is refused",
       ("	if (d->ending || ep->waited", "	if (1 || d->ending || ep->waited"))
mutant("vr-early-any", "verbs/cm.c", "refuse.crowd",
       "requests without a listener take all places of a device",
       (" || d->earlies == VR_EARLY_MAX)", ")"))
mutant("vr-early-ever", "verbs/cm.c", "refuse.port",
       "a request without a listener is never refused",
       ("d->ending || ep->waited ||", "d->ending ||"))


def number(name, path, first, why, *edits):
    """The same on a device without rdma_cm."""
    MUTANTS.guest(name, path, "roce", first, why, *edits)


number("vr-number-early", "verbs/roce.c", "number.early",
       "sends before the peer came are never sent",
       ("err ? VR_TODO_BREAK : VR_TODO_RING);", "err ? VR_TODO_BREAK : 0);"))
number("vr-number-told", "verbs/hook.c", "number.left",
       "a peer that has had all takes away what was not looked at yet",
       ("qp->dev->roce && vr_roce_flushed(qp, recv)) {",
        "qp->dev->roce && vr_roce_flushed(qp, recv) && 0) {"))
number("vr-number-lost", "verbs/rq.c", "number.left",
       "receives that were withheld never come back",
       ("	for (; rq->withheld; rq->withheld--)\n",
        "	for (; 0; rq->withheld--)\n"))
number("vr-number-silent", "verbs/qp.c", "number.left",
       "who sends to a peer that has left waits for ever",
       ("		else if (unlikely(READ_ONCE(qp->roce.alone)))\n",
        "		else if (0)\n"))
number("vr-number-alone", "verbs/roce.c", "number.again",
       "a queue pair that was left once is so at its next connection, too",
       ("	WRITE_ONCE(r->alone, false);\n", ""))
number("vr-number-states", "verbs/roce.c", "number.refused",
       "a queue pair goes from any state to any",
       ("			       IB_QPT_RC, mask) &&", "			       IB_QPT_RC, mask) + 2 &&"))
number("vr-number-reads", "verbs/roce.c", "number.refused",
       "more reads are promised than can be answered",
       ("		 attr->max_dest_rd_atomic > VR_READS) &&",
        "		 !attr) &&"))
number("vr-number-patient", "verbs/roce.c", "number.nobody",
       "who sends to a number that nobody has waits for ever",
       ("	} else if ((qp->roce.waited && vr_qp_sends_wait(qp)) ||",
        "	} else if ((qp->roce.waited && 0) ||"))
number("vr-number-hasty", "verbs/roce.c", "number.nobody",
       "who only waits for its peer is ended",
       ("	} else if ((qp->roce.waited && vr_qp_sends_wait(qp)) ||",
        "	} else if ((1 && READ_ONCE(qp->roce.meeting)) ||"))
number("vr-number-unsolicited", "kernel/p2p.c", "cq.solicited",
       "peers on one host do not hear that a message is solicited",
       ("			via_kernel_join(vi, other);\n", ""))

mutant("vr-unheard-uncounted", "verbs/sq.c", "data.counters",
       "requests without a completion are not among those that were counted",
       ("	vr_work_add(&sq->work, status, done->length);\n	todo = ",
        "	vr_work_add(&sq->work, status ||\n"
        "		    !(s->flags & SIW_WQE_SIGNALLED), done->length);\n	todo = "))
mutant("vr-ended-uncounted", "verbs/stat.c", "data.counters",
       "what a queue pair has done is forgotten when it is destroyed",
       ("	vr_stat_settle(stat);\n	list_del", "	list_del"))
