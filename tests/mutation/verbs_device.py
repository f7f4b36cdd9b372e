# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant in the verbs device: its events and its limits."""

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
       ("		todo |= VR_TODO_ACCESS;\n	todo |=", "		;\n	todo |="))
mutant("vr-overflow-untold", "verbs/cq.c", "event.overflow",
       "nobody hears that a completion queue is full",
       ("			queue_work(vr_dev_of(cq->ib.device)->wq, &cq->overflow);\n",
        ""))
mutant("vr-lost-unbroken", "verbs/sq.h", "event.overflow",
       "who lost a completion waits for it for ever",
       ("		return VR_TODO_BREAK | VR_TODO_FATAL;", "		return 0;"))
