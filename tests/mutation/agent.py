# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant in the agent."""

from layer import Layer

MUTANTS = Layer()

# Seen to be noticed in guests.
mutant = MUTANTS.guest
in_sim = MUTANTS.plant

DESC = "core/desc.h"


# The state machine, VIs.
mutant = MUTANTS.plant

VI = "kernel/vi.c"

STATE = "core/state.c"

# Queues and the engine.
QUEUE = "kernel/queue.c"
AREA = "kernel/area.c"
ENGINE = "kernel/engine.c"

# Completion queues.
CQ = "kernel/cq.c"

# Registered memory.
MEMORY = "kernel/memory.c"

DMA = "kernel/dma.c"

# The rule of kernel/ends.h.

# Handles and NICs.
FILE = "kernel/file.c"
mutant("control-uncounted", FILE, "lo", "process.killed",
       "nothing of a program ends with it while a child has the node open",
       ("	vma->vm_ops = &via_ctl_vm_ops;\n	via_ctl_open(vma);\n",
        "	vma->vm_ops = &via_ctl_vm_ops;\n"), sim="end")
mutant("child-may-call", FILE, "lo", "process.fork",
       "a child changes and ends what its parent has made",
       ("		return via_stats(f, data);\n	if (current->mm != f->mm)\n"
        "		return -EPERM;\n", "		return via_stats(f, data);\n"),
       sim="hostile")
mutant("child-may-trap", FILE, "lo", "process.fork",
       "a child rings its parent's doorbell",
       ("	if (unlikely(current->mm != f->mm))\n		return -EPERM;\n", ""),
       sim="hostile")
mutant("calls-when-dead", "kernel/handle.c", "lo", "nic.close_live",
       "what a thread makes while another closes the NIC stays for ever",
       ("	if (f->dead || READ_ONCE(f->ending))\n		ret = -ESHUTDOWN;\n"
        "	else if (!f->kernel", "	if (!f->kernel"), sim="beside end ledger")
mutant("open-keeps-nic", FILE, "sim", "",
       "an open that fails for want of memory keeps the NIC and its module",
       ("err:\n	via_nic_close(nic);\n	return ret;", "err:\n	return ret;"),
       sim="alloc ledger")
mutant("events-never-close", FILE, "lo", "nic.close_waited",
       "a reader of events sleeps on after the NIC was closed",
       ("	via_events_close(&f->events);\n", ""), sim="end")
mutant("handles-counted-once", FILE, "sim", "",
       "a user that has opened 1,024 handles may never open one again",
       ("	if (f->charged)\n"
        "		via_quota_uncharge(f->quota, VIA_QUOTA_HANDLES, 1);\n", ""),
       sim="many")

NIC = "kernel/nic.c"
mutant("index-never-free", "kernel/vis.c", "lo", "vi.many limits.vis",
       "a NIC has room for 4,096 VIs in all its life",
       ("	clear_bit(vi->index, nic->vi_taken);\n", ""), sim="many")
mutant("index-never-taken", "kernel/vis.c", "sim", "",
       "a new VI takes the place of one that is there",
       ("	set_bit(index, nic->vi_taken);\n", ""))
mutant("walk-leaves-one-out", "kernel/vis.c", "sim", "",
       "what is done to all VIs leaves out the one where it begins",
       ("find_next_bit(nic->vi_taken, max, *index))",
        "find_next_bit(nic->vi_taken, max, *index + 1))"))
mutant("index-one-beyond", "kernel/vis.c", "sim", "",
       "a made-up number of a VI finds what lies behind the table",
       ("	if (unlikely(index >= nic->limits.max_vi))",
        "	if (unlikely(index > nic->limits.max_vi))"),
       ("	index = array_index_nospec(index, nic->limits.max_vi);",
        "	index = array_index_nospec(index, nic->limits.max_vi + 1);"),
       sim="hostile memory")
mutant("dead-after-wait", NIC, "sim", "",
       "a call that began as the NIC went is in a device that is gone",
       ("	WRITE_ONCE(nic->dead, true);\n	mutex_unlock(&nic->mutex);\n"
        "	via_dma_close(nic);\n"
        "	/* Pairs with via_nic_enter(). */\n"
        "	synchronize_srcu_expedited(&nic->srcu);\n",
        "	mutex_unlock(&nic->mutex);\n"
        "	via_dma_close(nic);\n"
        "	/* Pairs with via_nic_enter(). */\n"
        "	synchronize_srcu_expedited(&nic->srcu);\n"
        "	WRITE_ONCE(nic->dead, true);\n"), sim="gone beside memory")
mutant("some-vis-fail", NIC, "regress", "stats",
       "VIs beyond the first few stay connected over a NIC that is gone",
       ("		i++;\n		cond_resched();\n	} while (vi);",
        "		i++;\n		cond_resched();\n	} while (i < 2);"),
       sim="gone many memory")
mutant("end-without-grace", NIC, "regress", "stats",
       "frames and doorbells are in a device that is gone",
       ("	/* No reader is in the device for a VI or a busy poller any "
        "more. */\n"
        "	synchronize_rcu_expedited();\n", ""), sim="gone beside memory")
mutant("totals-go-back", "kernel/vis.c", "sim", "",
       "the counters of a NIC go back when a VI goes",
       ("	via_totals_add(&nic->gone, vi);\n", ""))
mutant("interface-twice", NIC, "sim", "",
       "two NICs on one interface take each other's frames",
       ("		if (nic->ifindex && other->ifindex == nic->ifindex &&\n"
        "		    net_eq(other->netns, nic->netns))",
        "		if (nic->ifindex && other->ifindex == nic->ifindex &&\n"
        "		    !net_eq(other->netns, nic->netns))"))

mutant("exit-without-barrier", "kernel/ends.c", "sim", "",
       "a module that is unloaded leaves ends of VIs that run in its memory",
       ("	/* VIs end by RCU, then by work. */\n"
        "	rcu_barrier();\n", ""), sim="end memory ledger")

# Attempts to connect.
CONNECT = "kernel/connect.c"
mutant("attempt-too-short", CONNECT, "lo", "connect.timed_out",
       "an attempt ends before its time",
       ("	return min_t(u64, nsecs_to_jiffies64(ns - 1) + 2, "
        "VIA_CONN_FOREVER);",
        "	return min_t(u64, nsecs_to_jiffies64(ns), VIA_CONN_FOREVER);"),
       sim="time")
mutant("mismatch-eats-request", CONNECT, "lo", "accept.mismatch",
       "a server that picked a VI that does not fit cannot pick another",
       ("		if (!via_conn_untake(f, conn)) {\n"
        "			via_conn_put(conn);\n"
        "			ret = VIA_R_TIMEOUT;\n		}\n",
        "		via_conn_put(conn);\n"))
mutant("peer-without-ref", "kernel/attempt.c", "lo", "disconnect.remote",
       "a VI goes while its peer on this host points to it",
       ("		kref_get(&remote_vi->ref);\n		vi->remote_vi = remote_vi;",
        "		vi->remote_vi = remote_vi;"), sim="memory end")
mutant("reject-keeps-request", "kernel/attempt.c", "lo", "connect.rejected",
       "each request that is rejected on this host stays for ever",
       ("	if (own)\n		via_conn_put(own);\n", "	own = NULL;\n"),
       sim="ledger")
mutant("expiry-not-left", "kernel/attempt.c", "lo", "accept.late connect.timed_out",
       "a server on this host has the request of a client that gave up",
       ("	if (late)\n		via_vi_left(vi, left);\n", ""),
       sim="time ledger")
mutant("verdict-twice", CONNECT, "lo", "p2p.states",
       "the verdict of one attempt is given twice",
       ("		if (ret != VIA_R_NOT_DONE)\n"
        "			vi->verdict = VIA_VERDICT_NONE;\n", ""))
mutant("done-waits", CONNECT, "lo", "p2p.polled",
       "VipConnectPeerDone waits",
       ("	wait = vi->p2p == p2p && !(arg->flags & VIA_CONN_NOWAIT);",
        "	wait = vi->p2p == p2p;"), sim="p2p")
mutant("wrong-kind-of-verdict", CONNECT, "lo", "p2p.not_client_server",
       "a client's call takes the verdict of a p2p request",
       ("	if (vi->attempt == attempt &&\n"
        "	    vi->p2p == !!(arg->flags & VIA_CONN_PEER)) {",
        "	if (vi->attempt == attempt) {"), sim="p2p beside")
mutant("attempts-uncounted", CONNECT, "lo", "states.race_request",
       "a wait for one attempt gets the verdict of the next",
       ("		vi->attempt++;\n", ""), sim="beside")

REQUEST = "kernel/request.c"
mutant("place-never-given", REQUEST, "lo", "limits connect.again",
       "after 1,024 requests a handle takes no more",
       ("	if (conn->file)\n		via_place_give(conn->file);\n", ""),
       sim="many")
mutant("signal-loses-waiter", REQUEST, "lo", "wait.interrupted",
       "a server that a signal has interrupted waits for nothing",
       ("		w->busy = false;\n", ""), sim="signal")
mutant("dead-waiter-lists", REQUEST, "lo", "nic.close_waited",
       "a request that matched as the server closed its NIC stays for ever",
       ("	dead = READ_ONCE(f->dead) || READ_ONCE(nic->dead);",
        "	dead = false;"), sim="beside end ledger memory")
mutant("matched-forgotten", REQUEST, "lo", "process.killed_pending",
       "a client whose server ends before it looks is not rejected",
       ("		if (w->conn)\n			list_add(&w->conn->link, &conns);\n",
        ""), sim="signal end ledger")
mutant("take-foreign", REQUEST, "lo", "accept.bad",
       "a program accepts and rejects the requests of others",
       ("	if (conn && conn->id == id && conn->file == f)",
        "	if (conn && conn->id == id)"), sim="hostile")
mutant("gone-without-wakeup", REQUEST, "regress", "answers",
       "a server that waits sleeps on when its NIC goes",
       ("		wake_up_all(&container_of(n, struct via_waiter, by_id)->wait);",
        "		if (container_of(n, struct via_waiter, by_id)->conn)\n"
        "			wake_up_all(&container_of(n, struct via_waiter,\n"
        "						  by_id)->wait);"),
       sim="gone")
mutant("offered-twice", REQUEST, "lo", "accept.two_waiters",
       "a waiter that has a request is given the next one, and one is lost",
       ("		via_table_del(&nic->conn.waiting, n);\n", ""),
       sim="memory ledger")
mutant("cancel-not-dead", REQUEST, "lo", "accept.late",
       "a server puts the request of a client that gave up back, and keeps it",
       ("	conn->dead = true;\n", ""), sim="beside ledger")

PEER = "kernel/p2p.c"
mutant("peer-itself", "kernel/peers.c", "lo", "p2p.own_address",
       "a VI that looks for its own address finds itself, and the host hangs",
       ("	found = via_p2p_look(nic, &key, vi);\n",
        "	found = via_p2p_look(nic, &key, NULL);\n"), sim="p2p hostile")
mutant("claimed-twice", "kernel/peers.c", "wire", "p2p.crowd",
       "two peers of another host have one VI here",
       ("			via_p2p_insert(found, claim);\n",
        "			via_p2p_insert(found, 0);\n"), sim="p2p")
mutant("peer-listed-twice", CONNECT, "lo", "p2p.again p2p.timed_out",
       "a VI that looks again before it has its verdict spoils the list",
       ("	/* Not to be found with the addresses that follow. */\n"
        "	via_p2p_unlist(vi);\n", ""), sim="p2p time memory")
mutant("peer-late", "kernel/peers.c", "lo", "p2p.timed_out",
       "a peer whose time is over is joined",
       (" && !via_conn_overdue(vi);", ";"), sim="p2p time")

# Waiting, events.
WAIT = "kernel/wait.c"
mutant("notice-not-at-once", WAIT, "lo", "notify.already_complete",
       "no event tells of what was done before it was asked for",
       ("	if (moved)\n		via_events_notice(n->events, n);\n"
        "	else if (hlist_unhashed(&n->sleeper.link))",
        "	if (!moved && hlist_unhashed(&n->sleeper.link))"))
mutant("told-before-woken", "kernel/wake.c", "lo", "wait.two threads.one_vi",
       "a sleeper returns before it is woken, and its stack is woken",
       ("		wake_up_process(s->task);\n"
        "		/* Pairs with via_sleep_until(): *s may go from here. */\n"
        "		smp_store_release(&s->told, true);\n",
        "		/* Pairs with via_sleep_until(): *s may go from here. */\n"
        "		smp_store_release(&s->told, true);\n"
        "		wake_up_process(s->task);\n"),
       sim="beside memory")
mutant("wake-all-at-once", "kernel/wake.c", "sim", "",
       "each thread that sleeps on a queue is woken under its lock",
       ("unlikely(via_work_over(&work)) && !hlist_empty(sleepers))", "false)"),
       sim="many")
mutant("wake-rest-forgotten", WAIT, "sim", "",
       "of many threads that sleep on a queue some are not woken",
       ("		via_wake_rest(lock, &_me.rest);				\\\n", "		;						\\\n"),
       sim="many")
mutant("notice-left", "kernel/wake.c", "lo", "notify.cancelled",
       "the event of a VI that is gone is read",
       ("	if (n->events)\n		via_events_forget(n->events, n);\n", ""),
       sim="end memory")
mutant("wait-keeps-vi", WAIT, "lo", "wait.two",
       "a wait on an empty queue keeps the VI for ever",
       ("	if (empty) {\n		via_vi_put(vi);\n		return 1;\n	}",
        "	if (empty)\n		return 1;"), sim="beside ledger")
mutant("notify-dead", WAIT, "lo", "threads.destroyed",
       "a notice is asked of a VI whose memory is gone",
       ("	if (q->dead) {\n		ret = -ENODEV;\n	} else {",
        "	if (q->dead && !q->prog) {\n		ret = -ENODEV;\n	} else {"),
       sim="beside end memory")
mutant("signal-unheard", WAIT, "lo", "wait.interrupted",
       "a program asleep on a queue cannot be interrupted",
       ("		_ret = !_over && signal_pending(current) ? -EINTR :	\\\n"
        "		       _over || _time;					\\\n",
        "		_ret = _over || _time;					\\\n"),
       sim="signal")

EVENT = "kernel/event.c"
mutant("event-overwritten", EVENT, "sim", "",
       "the 257th event that is not read takes the place of the first",
       ("	if (ev->tail - ev->head < VIA_EVENTS)",
        "	if (ev->tail - ev->head <= VIA_EVENTS)"), sim="many")
mutant("event-no-wakeup", EVENT, "lo", "errors.conn_lost",
       "a wait for asynchronous errors is not woken",
       ("		ev->lost++;\n	spin_unlock_bh(&ev->lock);\n"
        "	if (wq_has_sleeper(&ev->wait))\n"
        "		wake_up_interruptible(&ev->wait);\n",
        "		ev->lost++;\n	spin_unlock_bh(&ev->lock);\n"))
mutant("notice-queued-twice", EVENT, "lo", "notify.again",
       "a queue that moves twice before its event was read spoils the list",
       ("	if (!n->queued) {\n		n->queued = true;\n"
        "		list_add_tail(&n->link, &ev->notices);\n	}",
        "	n->queued = true;\n	list_add_tail(&n->link, &ev->notices);"),
       sim="memory")
mutant("poll-without-notices", EVENT, "lo", "notify.mixed",
       "poll() does not tell that a queue has moved",
       ("	if (ev->tail != ev->head || !list_empty(&ev->notices))\n"
        "		mask", "	if (ev->tail != ev->head)\n		mask"))
mutant("errors-starve", EVENT, "lo", "notify.mixed",
       "errors are told when no queue moves any more",
       ("	if (ev->tail != ev->head &&\n"
        "	    (ev->noticed || list_empty(&ev->notices))) {",
        "	if (ev->tail != ev->head && list_empty(&ev->notices)) {"))

# Names, polling, tags, counters, users.
NAME = "kernel/name.c"
mutant("answers-overrun", NAME, "sim", "",
       "the 65th host that answers a question writes behind the answers",
       ("	if (q->count == q->room)", "	if (q->count > q->room)"),
       sim="hostile many memory")
mutant("name-by-prefix", NAME, "wire", "names.by_name discover.names",
       "a query for node1 is given node10",
       ("	return i && !domain && ((!want[i] && have[i] == '.') ||",
        "	return i && !domain && (!want[i] ||"))
mutant("askers-never-fewer", NAME, "wire", "discover.nobody",
       "after 32 questions for names a NIC answers none",
       ("	atomic_dec(&nic->askers);\n", ""), sim="many")

POLL = "kernel/busy_poll.c"
mutant("polling-for-ever", POLL, "sim", "",
       "frames wait when the last program has stopped spinning",
       ("		if (list_empty(&nic->polls.pollers))\n"
        "			nic->ops->busy_poll_mode(nic, VIA_BUSY_POLL_END);\n", ""),
       sim="poll")
mutant("polling-tick-once", POLL, "sim", "",
       "frames wait when a program that spun does something else",
       ("		nic->ops->busy_poll_mode(nic, VIA_BUSY_POLL_KEEP);\n"
        "		via_busy_poll_arm(nic);\n",
        "		nic->ops->busy_poll_mode(nic, VIA_BUSY_POLL_KEEP);\n"),
       sim="poll time")
mutant("dead-polls", POLL, "sim", "",
       "a handle that ends while it asks to poll stays on the list",
       ("	    READ_ONCE(f->dead) || READ_ONCE(nic->dead) ||\n"
        "	    !list_empty(&f->busy_poll_link))",
        "	    READ_ONCE(nic->dead) ||\n"
        "	    !list_empty(&f->busy_poll_link))"),
       sim="poll beside end memory")
mutant("poll-beside-end", POLL, "sim", "",
       "a program that spins is in a device that is gone",
       ("		nic->ops->busy_poll(nic);\n		rcu_read_unlock();\n",
        "		rcu_read_unlock();\n		nic->ops->busy_poll(nic);\n"),
       sim="poll gone beside")

mutant("tag-in-use-goes", "kernel/ptag.c", "lo", "ptag.in_use",
       "a protection tag goes while memory carries it",
       ("	if (xa_to_value(entry))\n		return VIA_R_ERROR_RESOURCE;\n", ""))
mutant("tags-never-fewer", "kernel/ptag.c", "lo", "ptag.limit limits.ptags",
       "after 4,096 protection tags a handle makes none",
       ("	xa_erase(&f->ptags, ptag);\n	f->ptag_count--;\n",
        "	xa_erase(&f->ptags, ptag);\n"), sim="many")
mutant("counters-of-others", "kernel/stats.c", "sim", "",
       "any user reads the counters of another's VIs",
       ("	return admin || uid_eq(vi->file->uid, current_uid());",
        "	return true;"), sim="rights")
mutant("counters-overrun", "kernel/stats.c", "sim", "",
       "one counter is written behind the room that a program has given",
       ("	if (sink->count >= sink->room)", "	if (sink->count > sink->room)"),
       sim="many memory")
QUOTA = "kernel/quota.c"
mutant("partly-charged", QUOTA, "sim", "",
       "what a subordinate user may not have stays charged to it",
       ("			via_quota_uncharge_some(quota, i, what, n);\n"
        "			return false;", "			return false;"),
       sim="rights many")
mutant("quota-of-one", QUOTA, "lo", "limits.user_pages",
       "a user has all pages but one, and then as many as it likes",
       ("(n > most || old > most - n)", "old >= (long)most"), sim="many")
mutant("uid-without-ref", QUOTA, "sim", "",
       "two handles of one user: the end of one frees what both pay with",
       ("			u->refs++;\n", ""), sim="memory rights")

# VIs of one host.
LOOP = "kernel/loop.c"
mutant("loop-no-more", LOOP, "lo", "queue.full_sends send.sizes",
       "more than 64 sends in a row stay half done on this host",
       ("	return via_queue_posted(&vi->sq, &n) && !via_send_drained(vi) ?",
        "	return via_queue_posted(&vi->sq, &n) && n > VIA_LOOP_DESCS ?"),
       sim="backlog")
mutant("reception-of-delivery", LOOP, "lo", "reception.no_receive",
       "a send at Reliable Reception is good though no VI received it",
       (" ||\n	       vi->attrs.reliability == VIA_RELIABLE_RECEPTION ? "
        "st : 0;", " ? st : 0;"))
mutant("accept-itself", LOOP, "sim", "",
       "a client that gave up accepts its own request, and the host hangs",
       ("	if (client == vi)\n		return VIA_R_TIMEOUT;\n", ""),
       sim="hostile time")
mutant("exact-fit-refused", LOOP, "lo", "send.sizes",
       "a message as long as the receive that is posted is refused",
       ("d->length > rd->length", "d->length >= rd->length"))
mutant("loop-wrong-peer", LOOP, "lo", "states.race_disconnect",
       "a send comes to the VI that its peer is connected to by now",
       ("		if (likely(remote->remote_vi == vi)) {",
        "		if (likely(remote->remote_vi)) {"), sim="beside end")
mutant("peer-not-settled", LOOP, "lo", "disconnect.remote",
       "a VI is not told that its peer on this host has left",
       ("	via_vi_settle(remote);\n	via_vi_put(remote);",
        "	via_vi_put(remote);"))
mutant("left-peer-kept", LOOP, "lo", "disconnect.remote",
       "each connection on this host keeps its VIs for ever",
       ("	via_vi_settle(remote);\n	via_vi_put(remote);",
        "	via_vi_settle(remote);"), sim="ledger")
mutant("flush-without-barrier", "kernel/queue.c", "sim", "",
       "a flush may pass over what is posted while the connection ends",
       ("	smp_mb();\n	/* (1): a tail out of range",
        "	/* (1): a tail out of range"), sim="order beside end")
mutant("bad-sends-free", "kernel/engine.c", "sim", "",
       "a doorbell trap need not end: sends in error, posted as fast as taken",
       ("	if (!n || unlikely(!via_work_visit(work)))\n		return NULL;",
        "	if (!n)\n		return NULL;"), sim="hostile")
mutant("bad-receives-free", "kernel/engine.c", "sim", "",
       "bad receives behind each of 64 messages hold one trap for milliseconds",
       ("		if (!via_work_visit(work))\n			return true;\n",
        "		(void)work;\n"), sim="hostile")
mutant("scan-rest-forgotten", "kernel/engine.c", "sim", "",
       "of many bad receives behind a message some do not complete",
       ("	if (via_recv_scan(vi, &work))\n		via_vi_scan_later(vi);\n",
        "	via_recv_scan(vi, &work);\n"), sim="hostile")
mutant("sleep-without-barrier", "kernel/engine.c", "sim", "",
       "a post that finds the queue busy may not be sent",
       ("	smp_mb();\n	return via_desc_posted(vi, q, &n) && n;",
        "	return via_desc_posted(vi, q, &n) && n;"), sim="order")

KAPI = "kernel/kapi.c"
KMEM = "kernel/kmem.c"
in_sim("own-host-unsettled", LOOP, "sim", "",
       "a consumer in the kernel does not hear of what comes from its own host",
       ("			if (unlikely(remote->kernel))\n"
        "				via_kernel_settle_later(remote);\n", ""),
       sim="kernel")
in_sim("drained-unscanned", "kernel/via_ka.h", "sim", "",
       "a queue is drained though its consumer would find more",
       ("	       (likely(!vi->kernel) || via_kernel_drained(vi));",
        "	       true;"), sim="kernel")
in_sim("memory-off-usable", KMEM, "sim", "",
       "a peer uses memory by a handle that was turned off",
       ("	return m->on && m->r.handle == handle &&",
        "	return m->on &&"), sim="kernel")
in_sim("memory-any-right", KMEM, "sim", "",
       "a peer writes to what it may read",
       (" &&\n	       (m->r.rights & rights) == rights;", ";"), sim="kernel")
in_sim("listener-busy-twice", "kernel/request.c", "sim", "",
       "two listeners take the same requests",
       ("	if (!via_listener_find(nic, l->disc)) {", "	{"), sim="kernel")
in_sim("backlog-unbounded", REQUEST, "sim", "",
       "strangers have more requests kept than a program has said",
       ("	if (!b || b->count >= b->most || !", "	if (!b || !"), sim="many")
in_sim("kept-untold", REQUEST, "sim", "",
       "a program that listens and sleeps does not learn of a request",
       ("	via_events_notice(&b->w.file->events, &b->notice);\n", ""),
       sim="many")
in_sim("kept-for-all", REQUEST, "sim", "",
       "a program takes, or ends, what is kept for another one",
       ("	return b && b->w.file == f ? b : NULL;", "	return b;"),
       sim="rights")
in_sim("kept-unpaid", REQUEST, "sim", "",
       "kept requests are not charged to the program's user",
       ("	if (!via_place_free(f) ||\n"
        "	    !via_quota_charge_any(f->quota, VIA_QUOTA_WAITERS, 1))\n",
        "	via_quota_charge_again(f->quota, VIA_QUOTA_WAITERS, 1);\n"
        "	if (!via_place_free(f))\n"), sim="many")
in_sim("destroyed-while-called", KAPI, "sim", "",
       "a work item keeps a VI that its consumer in the kernel has ended",
       ("	if (cancel_work_sync(&vi->kernel->settle))\n"
        "		via_vi_put(vi);\n", ""), sim="kernel end")
in_sim("own-host-refuses-mutely", "kernel/attempt.c", "sim", "",
       "what goes with a refusal is lost within one host",
       ("		if (conn && conn->reply)\n"
        "			via_conn_replied(vi, conn->reply);\n", ""), sim="kernel")
in_sim("note-of-any-kind", "kernel/consumer.c", "sim", "",
       "an RDMA Write of a consumer in the kernel has a note, which the wire has not",
       ("	    d->control & VIA_CTL_OP_MASK || ", "	    "), sim="kernel")
in_sim("note-unasked", "kernel/consumer.c", "sim", "",
       "a handle that is to be invalidated goes to a program, which never hears of it",
       ("	if (via_conn_notes(vi))\n		return 0;\n",
        "	if (vi)\n		return 0;\n"), sim="kernel")
in_sim("fault-on-own-host", LOOP, "sim", "",
       "a Write of a consumer in the kernel is good though its own host refused it",
       ("	return read || vi->kernel ||\n", "	return read ||\n"), sim="kernel")
