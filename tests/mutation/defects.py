# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects that there once were, each brought back into today's code.

`defect` says where the mend is written: "reliability" is a row of the table
"Found this way" in docs/notes/reliability.md, "audit" an item of the agent's audit
(commit 6a998d9 and those after it), else the commit alone.

Not here: what is a card's or a page table's (a card switched off behind its
driver, userfaultfd, pages pinned with mmap_lock held), and what no program can
see (page indexes clamped against speculation, namespaces compared by name).
"""

from layer import Layer

MUTANTS = Layer()


def taken_back(name, path, on, first, defect, why, *edits, sim=""):
    MUTANTS.plant(name, path, on, first, why, *edits, defect=defect, sim=sim)


CONNECT = "kernel/connect.c"
CQ = "kernel/cq.c"
LOOP = "kernel/loop.c"
MEMORY = "kernel/memory.c"
NIC = "kernel/nic.c"
REQUEST = "kernel/request.c"
STATS = "kernel/stats.c"
VI = "kernel/vi.c"
CONN = "devices/ether/conn.c"

# docs/notes/reliability.md, "Found this way".
taken_back("ops-filled-anew", "devices/ether/main.c", "sim", "",
           "reliability: a NIC that came took the others' calls away",
           "a NIC of the same module is opened without a reference to it",
           ("	if (!ka->transport) {", "	if (1) {"), sim="beside")
taken_back("waiters-unbound", REQUEST, "sim", "",
           "reliability: waiters that a signal leaves behind (b397f73)",
           "one process leaves 100,000 waiters in the kernel",
           ("	return f->places < VIA_PLACES_FILE &&\n"
            "	       f->nic->conn.places < VIA_PLACES_NIC;", "	return true;"),
           ("""	if (!via_quota_charge(f->quota, VIA_QUOTA_WAITERS, 1)) {
		kfree(w);
		return NULL;
	}
""", "	via_quota_charge_again(f->quota, VIA_QUOTA_WAITERS, 1);\n"),
           sim="signal many hostile")
taken_back("reset-of-sender", "devices/ether/handshake.c", "sim", "",
           "reliability: a RESET that answered ACCEPT (93ce510)",
           "a server whose client has gone waits for all the client's time",
           ("	via_ether_send_reset(nic, f->src, accept->to, cookie,",
            "	via_ether_send_reset(nic, f->src, c->vi, c->cookie,"),
           sim="loss time")
taken_back("client-unheard", CONN, "sim", "",
           "reliability: a client that was accepted and never heard of "
           "(0d8daa2)",
           "one forged frame keeps VipConnectAccept for ever",
           ("	return ev->conn.phase == VIA_PHASE_ACCEPT &&\n"
            "	       time_after_eq(jiffies, ev->rcv.last_rx + via_ether_dead());",
            "	return false;"), sim="hostile time")
taken_back("group-answered", "devices/ether/control.c", "sim", "",
           "reliability: a frame with a group address for its source "
           "(5e15420)",
           "one forged frame is answered by a broadcast",
           ("	if (unlikely(!nic->ops->host_valid(nic, f->src))) {\n"
            "		via_ether_count(nic, BAD_FIELD);\n		return;\n	}\n"
            "	if (unlikely(!via_ether_allowed(nic, f->src))) {",
            "	if (unlikely(!via_ether_allowed(nic, f->src))) {"),
           sim="hostile")
taken_back("group-reset", "devices/ether/admit.c", "sim", "",
           "reliability: a frame with a group address for its source "
           "(5e15420)",
           "one forged frame on a connection is answered by a broadcast",
           ("	if (unlikely(!nic->ops->host_valid(nic, host)))\n"
            "		return false;\n", ""),
           sim="hostile")
taken_back("old-ring-forgotten", "providers/ka/ka_cq.c", "fault", "",
           "reliability: a resized queue's old ring that could not be "
           "unmapped (4d8369f)",
           "a ring that stays mapped keeps the NIC's file open",
           ("	if (cq->old && munmap(cq->old, cq->old_size))\n"
            "		return -1;\n",
            "	if (cq->old)\n		munmap(cq->old, cq->old_size);\n"),
           sim="alloc")

# Item 1: the list of VIs that look for their peer.
taken_back("peers-raced", CONNECT, "regress", "peers",
           "audit 1, reliability: two handles corrupted the list of peers",
           "two threads of unprivileged programs corrupt a list",
           ("""/*
 * May an attempt begin?  The holder of file->mutex alone begins one, so what is
 * Idle here is Idle or in Error until it does.
 */
static bool via_conn_may_begin(struct via_vi *vi)
{
	bool ok;

	via_vi_lock(vi);
	ok = via_vi_may(vi, VIA_EV_BEGIN);
	via_vi_unlock(vi);
	return ok;
}

""", ""),
           ("	if (!via_conn_may_begin(vi))\n		return false;\n"
            "	/* Not to be found with the addresses that follow. */\n"
            "	via_p2p_unlist(vi);\n", "	via_p2p_over(vi);\n"),
           sim="p2p beside memory")

# Item 2: calls into a device that is gone.
taken_back("stats-beside-end", STATS, "regress", "stats",
           "audit 2, reliability: STATS called into a NIC being detached",
           "counters are read from a device that is freed",
           ("	int idx;\n\n"
            "	if (nic->ops->stats && via_nic_enter(nic, &idx)) {\n"
            "		nic->ops->stats(nic, sink);\n"
            "		via_nic_leave(nic, idx);\n	}",
            "	if (nic->ops->stats && !READ_ONCE(nic->dead))\n"
            "		nic->ops->stats(nic, sink);"),
           sim="gone beside memory")
taken_back("vi-stats-after-end", STATS, "regress", "stats",
           "audit 2, reliability: STATS on a handle that was shut down",
           "counters of a VI are asked of a device that is freed",
           ("		return via_stats_next(nic, index, sink, admin, false);",
            "		return via_stats_next(nic, index, sink, admin, true);"),
           sim="gone memory")
taken_back("reject-beside-end", REQUEST, "regress", "answers",
           "audit 2, reliability: a late REJECT called into a NIC",
           "a request is answered by a device that is freed",
           ("	struct via_nic *nic = conn->nic;\n	int idx;\n\n"
            "	if (conn->client) {",
            "	struct via_nic *nic = conn->nic;\n\n	if (conn->client) {"),
           ("	} else if (nic->ops->reject && via_nic_enter(nic, &idx)) {\n"
            "		nic->ops->reject(conn);\n		via_nic_leave(nic, idx);\n",
            "	} else if (nic->ops->reject && !READ_ONCE(nic->dead)) {\n"
            "		nic->ops->reject(conn);\n"),
           sim="gone beside memory")
taken_back("accept-beside-end", CONNECT, "sim", "",
           "audit 2: one rule for calls into a device",
           "a request is accepted by a device that is freed",
           ("	struct via_nic *nic = conn->nic;\n	int ret, idx;\n\n"
            "	if (!via_nic_enter(nic, &idx))\n"
            "		return VIA_R_NOT_REACHABLE;\n"
            "	ret = nic->ops->accept(conn, vi);\n"
            "	via_nic_leave(nic, idx);\n	return ret;",
            "	return conn->nic->ops->accept(conn, vi);"),
           sim="gone beside memory")
taken_back("connect-beside-end", CONNECT, "sim", "",
           "audit 2: one rule for calls into a device",
           "a request is made by a device that is freed",
           ("	int ret, idx;\n\n"
            "	if (!nic->ops->connect || !via_nic_enter(nic, &idx))\n"
            "		return VIA_R_NOT_REACHABLE;\n"
            "	ret = nic->ops->connect(vi);\n"
            "	via_nic_leave(nic, idx);\n	return ret;",
            "\n	if (!nic->ops->connect || READ_ONCE(nic->dead))\n"
            "		return VIA_R_NOT_REACHABLE;\n"
            "	return nic->ops->connect(vi);"),
           sim="gone beside memory")
taken_back("vi-made-beside-end", VI, "sim", "",
           "audit 2: the device prepares a VI and it is published in one "
           "read side",
           "a VI is made on a NIC that is gone, and stays alive",
           ("	int ret, idx;\n\n	if (!via_nic_enter(nic, &idx))\n"
            "		return VIA_R_ERROR_RESOURCE;\n"
            "	ret = nic->ops->vi_create",
            "	int ret;\n\n	if (READ_ONCE(nic->dead))\n"
            "		return VIA_R_ERROR_RESOURCE;\n"
            "	ret = nic->ops->vi_create"),
           ("		via_nic_publish_vi(nic, vi);\n	}\n"
            "	via_nic_leave(nic, idx);\n",
            "		via_nic_publish_vi(nic, vi);\n	}\n"),
           sim="gone beside memory")
taken_back("mapped-after-end", "kernel/dma.c", "sim", "",
           "audit 2: one rule for calls into a device",
           "memory is mapped for a NIC that is gone, and never unmapped",
           ("	ok = !nic->dma.closed;", "	ok = true;"),
           sim="gone beside frags memory")
taken_back("names-hold-up-end", "devices/ether/name.c", "sim", "",
           "audit 2: questions for names end when the NIC goes (3487693)",
           "the end of a NIC waits, under RTNL, for a query for a name",
           ("					   (one && is_name_answered(q)) ||\n"
            "					   READ_ONCE(nic->leaving),\n",
            "					   one && is_name_answered(q),\n"),
           ("		if ((!all && is_name_answered(q)) || READ_ONCE(nic->leaving))",
            "		if (!all && is_name_answered(q))"), sim="gone time")

# Item 3: memory that never comes.
taken_back("pinned-under-mutex", MEMORY, "regress", "page",
           "audit 3, reliability: a page that a FUSE server never delivers",
           "a page that never comes keeps all calls of the handle",
           ("	ret = via_region_fill(f, r, arg);\n",
            "	mutex_lock(&f->mutex);\n"
            "	ret = via_region_fill(f, r, arg);\n"
            "	mutex_unlock(&f->mutex);\n"), sim="beside time")
taken_back("end-waits-for-mutex", NIC, "regress", "page throttled",
           "audit 3, reliability: taking the NIC away waited under RTNL",
           "a program holds up the end of a NIC, and the host's network",
           ("		via_events_post(&f->events, &ev);\n",
            "		mutex_lock(&f->mutex);\n"
            "		via_events_post(&f->events, &ev);\n"
            "		mutex_unlock(&f->mutex);\n"),
           sim="gone beside")
taken_back("registered-after-end", MEMORY, "regress", "page",
           "audit 3: the handle is looked at twice",
           "memory that comes after the handle has ended is pinned for ever",
           ("	ret = via_file_lock(f);\n	if (!ret) {\n"
            "		if (via_region_publish",
            "	ret = 0;\n	mutex_lock(&f->mutex);\n	if (!ret) {\n"
            "		if (via_region_publish"), sim="end beside ledger")

# Item 4: how long the end of a NIC takes.
taken_back("grace-per-handle", NIC, "regress", "crowd",
           "audit 4, reliability: 900 idle handles kept RTNL for 42 s",
           "a grace period for each handle, under RTNL",
           ("		via_events_post(&f->events, &ev);\n",
            "		via_events_post(&f->events, &ev);\n"
            "		synchronize_rcu();\n"), sim="gone many time")

# Item 5: the control page.
taken_back("control-inherited", "kernel/file.c", "regress", "control",
           "audit 5, reliability: the control page by madvise(MADV_DOFORK)",
           "a child keeps what its parent has pinned",
           ("VM_IO | VM_DONTCOPY", "VM_DONTCOPY"), sim="hostile")

# Item 6: attempts that are over while they are made or accepted.
OVER = "audit 6, reliability: an attempt that expired beside accept or a request"
taken_back("accept-of-expired", LOOP, "regress", "overtaken", OVER,
           "a VI that is over as it accepts is leaked, and its client alone",
           (" &&\n	     via_vi_may(vi, VIA_EV_JOIN);\n	if (ok) {\n"
            "		client->conn = NULL;",
            ";\n	if (ok) {\n		client->conn = NULL;"),
           sim="beside time ledger")
taken_back("request-of-expired", LOOP, "regress", "overtaken", OVER,
           "a request on this host that is over before it is made stays",
           ("	ok = via_vi_may(vi, VIA_EV_JOIN);\n	if (ok) {\n"
            "		via_conn_get(conn);",
            "	ok = true;\n	if (ok) {\n		via_conn_get(conn);"),
           sim="beside time ledger")
taken_back("offer-of-cancelled", REQUEST, "regress", "overtaken", OVER,
           "a server is given the request of a client that gave up",
           ("	if (conn->dead) {\n"
            "		spin_unlock_bh(&nic->conn.lock);\n"
            "		return 0;\n"
            "	}\n", ""), sim="beside end")
taken_back("wire-accept-of-expired", CONN, "regress", "late", OVER,
           "a VI that is Idle again is on the class's lists when it is freed",
           ("has its verdict. */\n	pending = vi->state == VIA_STATE_PENDING;",
            "has its verdict. */\n	pending = true;"),
           sim="beside time memory")
taken_back("wire-request-of-expired", CONN, "regress", "late", OVER,
           "a request goes on in frames after its VI is Idle",
           ("	pending = vi->state == VIA_STATE_PENDING;\n"
            "	if (pending) {\n"
            "		ev->conn.remote = peer",
            "	pending = true;\n"
            "	if (pending) {\n"
            "		ev->conn.remote = peer"),
           ("	if (!ev->attempt.forever &&\n"
            "	    time_after_eq(via_now(), ev->attempt.deadline)) {",
            "	if (!ev->attempt.forever && vi->state == VIA_STATE_PENDING &&\n"
            "	    time_after_eq(via_now(), ev->attempt.deadline)) {"),
           sim="beside time")
taken_back("begin-over-leaving", CONNECT, "regress", "overtaken",
           "audit 6: what another thread has begun to leave comes first",
           "a VI that begins again while it leaves forgets which peer to tell",
           ("	/* Nor what another thread has begun to leave and not finished. */\n"
            "	via_loop_transport.disconnected(vi);\n", ""),
           sim="beside ledger")
taken_back("begin-on-dead-nic", CONNECT, "regress", "answers",
           "audit 6: the state is checked where it is used",
           "an attempt on a NIC that goes has no verdict for ever",
           ("	ok = via_vi_may(vi, VIA_EV_BEGIN);\n	if (ok) {\n"
            "		vi->local", "	ok = true;\n	if (ok) {\n		vi->local"),
           sim="gone beside")

# Item 7: notices left over.
taken_back("refill-unbound", CQ, "regress", "notices",
           "audit 7, reliability: a refill of 2,000 VIs took half a second",
           "a program keeps a CPU with bottom halves off",
           ("#define VIA_CQ_REFILL_MAX 64	/* queues visited by one trap */",
            "#define VIA_CQ_REFILL_MAX (1 << 30)"), sim="many backlog")

# Item 8: several.
taken_back("segments-uncharged", "kernel/engine.c", "regress", "segments",
           "audit 8: segments beyond the slot are charged to the program",
           "16 MiB of the kernel's for each 100 VIs, charged to no user",
           ("	segs = via_vi_memory(vi, array_size(count, sizeof(*segs)));\n",
            "	segs = kmalloc_array(count, sizeof(*segs), "
            "GFP_ATOMIC | __GFP_NOWARN);\n"), sim="rights")
taken_back("commit-unbound", CQ, "regress", "resize",
           "audit 8: a COMMIT counts the program's head once",
           "a program that moves its head keeps a COMMIT going for ever",
           ("		excess -= n;\n		spin_unlock_bh(&cq->lock);\n"
            "		cond_resched();\n		spin_lock_bh(&cq->lock);\n",
            "		spin_unlock_bh(&cq->lock);\n"
            "		cond_resched();\n		spin_lock_bh(&cq->lock);\n"
            "		n = via_cq_used(cq);\n"
            "		excess = n - min(n, cq->spare->entries);\n"),
           sim="hostile backlog")
taken_back("commit-unkillable", CQ, "regress", "resize",
           "audit 8: a COMMIT ends by a fatal signal",
           "SIGKILL does not end a program that resizes",
           ("		if (fatal_signal_pending(current))\n"
            "			return -EINTR;\n", ""), sim="signal backlog")
taken_back("broken-in-parts", "kernel/via_ka.h", "regress", "peers",
           "audit 8: vi->broken is atomic (c371856)",
           "of two reasons that break a VI at once one is lost",
           ("	atomic_or(VIA_BROKEN_LOST | how, &vi->broken);",
            "	atomic_set(&vi->broken, atomic_read(&vi->broken) |\n"
            "				VIA_BROKEN_LOST | how);"),
           sim="beside end")
taken_back("minor-before-node", NIC, "sim", "",
           "audit 8: the node goes before its number",
           "another NIC takes the number while the node has it, and fails",
           ("	device_destroy(via_class, via_devt + nic->minor);\n"
            "	idr_remove(&via_minors, nic->minor);\n"
            "	list_del_init(&nic->link);\n"
            "	via_nics_told(nic, VIA_NL_CMD_NIC_DEL);\n"
            "	mutex_unlock(&via_nics_mutex);\n",
            "	idr_remove(&via_minors, nic->minor);\n"
            "	list_del_init(&nic->link);\n"
            "	via_nics_told(nic, VIA_NL_CMD_NIC_DEL);\n"
            "	mutex_unlock(&via_nics_mutex);\n"
            "	device_destroy(via_class, via_devt + nic->minor);\n"),
           sim="gone beside")
taken_back("capable-under-rcu", STATS, "sim", "",
           "audit 8: capable() is asked once and without RCU",
           "an audited question, which may sleep, for each VI under RCU",
           ("	return admin || uid_eq(vi->file->uid, current_uid());",
            "	return uid_eq(vi->file->uid, current_uid()) ||\n"
            "	       capable(CAP_NET_ADMIN);"), sim="rights")
taken_back("hash-unseeded", "kernel/table.c", "sim", "",
           "audit 8: the hash of peers is seeded",
           "strangers put all VIs that look for a peer into one list",
           ("	t->seed = get_random_u32();\n", ""), sim="p2p hostile")

# Item 9: charges, and how long they last.
taken_back("owners-pay-nothing", "kernel/quota.c", "sim", "",
           "audit 9: quotas are charged to each owner of a user namespace",
           "a user with 65,536 subordinate ids has 65,536 quotas",
           ("	for (; ok && ns->parent; ns = ns->parent)\n"
            "		ok = via_quota_add(quota, ns->owner);\n", ""), sim="rights")
taken_back("rings-unbound", CQ, "sim", "",
           "audit 9: rings of completion queues have a quota",
           "a user has all memory in rings of completion queues",
           ("	if (!via_quota_charge(quota, VIA_QUOTA_CQ_PAGES, "
            "via_cq_ring_pages(r)))\n		goto err_free;\n",
            "	via_quota_charge_again(quota, VIA_QUOTA_CQ_PAGES, "
            "via_cq_ring_pages(r));\n"),
           ("err_free:\n	kfree(r);", "	kfree(r);"), sim="many rights")
taken_back("rings-never-fewer", CQ, "lo", "resize.leak",
           "audit 9: rings of completion queues have a quota",
           "a user that has resized often makes no completion queue again",
           ("	via_quota_uncharge(r->quota, VIA_QUOTA_CQ_PAGES, "
            "via_cq_ring_pages(r));\n	kfree(r);", "	kfree(r);"),
           sim="ledger many")
taken_back("waits-uncounted", REQUEST, "sim", "",
           "audit 9: waits for connections have a quota",
           "one user has all places of a NIC",
           ("""	if (!via_quota_charge(f->quota, VIA_QUOTA_WAITERS, 1)) {
		kfree(w);
		return NULL;
	}
""", "	via_quota_charge_again(f->quota, VIA_QUOTA_WAITERS, 1);\n"),
           sim="many rights")
taken_back("untake-unpaid", REQUEST, "sim", "",
           "audit 9: unanswered requests have a quota",
           "each request that is put back makes the user's quota larger",
           ("		via_quota_charge_again(f->quota, VIA_QUOTA_WAITERS, 1);\n",
            ""), sim="many ledger rights")
taken_back("questions-uncounted", "kernel/name.c", "sim", "",
           "audit 9: questions for names have a quota",
           "one user asks for names until no other can",
           ("	if (!via_quota_charge(f->quota, VIA_QUOTA_QUERIES, 1))\n"
            "		return VIA_R_ERROR_RESOURCE;\n",
            "	via_quota_charge_again(f->quota, VIA_QUOTA_QUERIES, 1);\n"),
           sim="many rights")
taken_back("pages-without-default", "kernel/quota.c", "sim", "",
           "audit 9: a default for pinned pages",
           "a user with no RLIMIT_MEMLOCK pins the whole machine",
           ("	via_quota_limit[VIA_QUOTA_PAGES] = totalram_pages() / 2;",
            "	via_quota_limit[VIA_QUOTA_PAGES] = 0;"),
           sim="rights many")
taken_back("grace-per-vi", VI, "regress", "grace",
           "audit 9: a VI's memory goes by work after a grace period",
           "a program that ends VIs interrupts all CPUs as often as it likes",
           ("	via_reap_queue(&vi->death);",
            "	synchronize_rcu_expedited();\n"
            "	via_vi_reap(&vi->death.work);"), sim="many time")
taken_back("no-room-again", "kernel/file.c", "regress", "again",
           "audit 9: one that is destroyed makes room at once",
           "a user at its quota that ends a VI cannot make another one",
           ("		via_file_unlock(f);\n"
            "	} while (ret == -EDQUOT && via_quota_wait(&look));",
            "		via_file_unlock(f);\n	} while (0);"),
           sim="many rights")
taken_back("vi-never-settled", VI, "lo", "vi.many",
           "audit 9: the memory of a VI stays charged until it is free",
           "a user that has made 2,048 VIs makes none again",
           ("	via_quota_settle(f->quota, VIA_QUOTA_VIS, 1);\n", ""),
           sim="many ledger")
taken_back("wait-looks-late", "kernel/wait.c", "lo", "threads.destroyed",
           "audit 9: what a VI shares is there in a read side only (cecc4f8)",
           "a wait that begins on a VI that goes reads memory that is freed",
           ("	from = seen ? *seen : READ_ONCE(q->prog->collected);\n"
            "	empty = !seen && READ_ONCE(q->prog->tail) == from;\n"
            "	rcu_read_unlock();\n",
            "	rcu_read_unlock();\n"
            "	from = seen ? *seen : READ_ONCE(q->prog->collected);\n"
            "	empty = !seen && READ_ONCE(q->prog->tail) == from;\n"),
           sim="beside end memory")

# Mends that are in neither list.
taken_back("receiver-breaks-alone", LOOP, "sim", "",
           "reliability: a bad receive behind the one that a send fills",
           "a reliable connection goes on for one end until the other traps",
           ("			if (unlikely(via_vi_is_broken(remote)))\n"
            "				via_vi_break_later(vi, 0);\n", ""),
           sim="beside")
taken_back("result-of-before", CONNECT, "sim", "",
           "reliability: CONN_RESULT waits for the attempt whose number it "
           "has read",
           "a wait for an attempt that just begins says NOT_DONE",
           ("""	via_vi_lock(vi);
	attempt = vi->attempt;
	wait =""", """	attempt = vi->attempt;
	wait ="""),
           ("""!(arg->flags & VIA_CONN_NOWAIT);
	via_vi_unlock(vi);
""", "!(arg->flags & VIA_CONN_NOWAIT);\n"), sim="beside")
taken_back("strangers-orderly", "devices/ether/end.c", "sim", "",
           "8ae8a19: the report of a lost connection tells an orderly end",
           "a connection that the list of peers ends looks like a goodbye",
           ("			via_ether_end(ev, VIA_END_OURS, reason);",
            "			via_vi_break_later(vi, fits ? VIA_BROKEN_LEFT :\n"
            "						      VIA_BROKEN_TELL);"))
taken_back("loss-after-goodbye", LOOP, "lo", "errors.said_of_ends",
           "8ae8a19: a send that comes first finds how the peer has left",
           "a peer's goodbye that a send meets is reported as a loss",
           ("			via_vi_break_later(vi, remote->left_how);",
            "			via_vi_break_later(vi, 0);"), sim="beside end")
taken_back("mapped-plain", "kernel/dma.c", "sim", "",
           "c835470: the first look at a mapped region is an acquire",
           "memory is freed with the stores of its last mapping under way",
           ("	if (!smp_load_acquire(&r->mapped))\n		return true;",
            "	if (!r->mapped)\n		return true;"), sim="gone order frags")
