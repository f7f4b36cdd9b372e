# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant in the library."""

from layer import Layer

MUTANTS = Layer()

mutant = MUTANTS.guest

QUEUE = "providers/ka/ka_queue.c"

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
       ("via_state_refuses_sends(state)", "state == VIA_STATE_PENDING"))
mutant("poll-code", QUEUE, "lo", "wait.timeouts",
       "wrong return code of a wait that only polls",
       ("		return VIP_TIMEOUT;\n	return sleep_queue",
        "		return VIP_NOT_DONE;\n	return sleep_queue"))
mutant("handle-generation", "vipl/handle.c", "lo", "handles.stale",
       "a stale handle names the next object in its place",
       ("	o->gen++;\n", ""))
mutant("which-queue", "providers/ka/ka_cq.c", "lo", "cqvi.notices",
       "a notice names the wrong queue",
       ("e->recv ? VIP_TRUE : VIP_FALSE", "VIP_TRUE"))
mutant("address-one-more", "vipl/connect.c", "lo", "connect.from_peer",
       "a byte is written behind the peer's address",
       ("memcpy(bytes + a->host_len, a->disc, a->disc_len);",
        "memcpy(bytes + a->host_len, a->disc, a->disc_len + 1);"))
mutant("notify-lost", "vipl/notify.c", "lo", "notify",
       "a handler that was registered is never called",
       ("	atomic_store(&s->n->armed, 1);\n",
        "	atomic_store(&s->n->armed, 1);\n	s->n->first = NULL;\n"))

# Seen by the simulator, in whose store buffers and turns libvipl runs as well.
mutant = MUTANTS.plant

mutant("post-without-barrier", "providers/ka/ka.h", "sim", "",
       "what is posted while a connection ends is never completed",
       ("	atomic_exchange_explicit((_Atomic uint32_t *)p, v,\n"
        "				 memory_order_seq_cst);\n",
        "	atomic_store_explicit((_Atomic uint32_t *)p, v,\n"
        "			      memory_order_release);\n"),
       sim="order beside end")
mutant("lock-unmarked", "vipl/lock.c", "sim", "",
       "of two threads that sleep on a lock the second is never woken",
       ("	/* From here on unlock must wake: a thread that takes it leaves a 2. */\n"
        "	while (atomic_exchange_explicit(&l->word, 2, "
        "memory_order_acquire))\n",
        "	while ((seen = 0, "
        "!atomic_compare_exchange_strong_explicit(&l->word,\n"
        "			&seen, 1, memory_order_acquire,\n"
        "			memory_order_relaxed)) &&\n"
        "	       atomic_exchange_explicit(&l->word, 2, "
        "memory_order_acquire))\n"),
       sim="beside")
mutant("lock-marked-late", "vipl/lock.c", "sim", "",
       "a thread sleeps on a lock that was let go of as it looked",
       ("	while (atomic_exchange_explicit(&l->word, 2, "
        "memory_order_acquire))\n"
        "		syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, "
        "NULL,\n			0);\n",
        "	while (atomic_exchange_explicit(&l->word, 1, "
        "memory_order_acquire)) {\n"
        "		atomic_store_explicit(&l->word, 2, memory_order_relaxed);\n"
        "		syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, "
        "NULL,\n			0);\n	}\n"),
       sim="beside")
