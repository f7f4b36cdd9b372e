# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Defects to plant in the agent."""

from layer import Layer

MUTANTS = Layer()

# Seen to be noticed in guests.
mutant = MUTANTS.guest
in_sim = MUTANTS.plant

mutant("wakeup-queue", "kernel/queue.c", "lo", "wait.woken",
       "a thread that sleeps on a queue is not woken",
       ("	via_wake(&q->sleepers);\n", ""))
mutant("wakeup-cq", "kernel/cq.c", "lo", "cqvi.wakes",
       "a thread that sleeps on a completion queue is not woken",
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
DESC = "core/desc.h"
mutant("length-disagrees", DESC, "unit", "core",
       "Length may disagree with the segments",
       ("if (sum != d->length || (!recv && sum > a->max_transfer))",
        "if (!recv && sum > a->max_transfer)"))
mutant("send-unbound", DESC, "unit", "core",
       "a message may be longer than MaxTransferSize",
       ("(!recv && sum > a->max_transfer))", "(recv && !a && sum))"))
mutant("recv-bound", DESC, "unit", "core",
       "a receive may not be longer than MaxTransferSize",
       ("(!recv && sum > a->max_transfer)", "sum > a->max_transfer"),
       defect="4c76465: MaxTransferSize binds messages")
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
       "REJECT where no server waits: clients do not try again",
       ("ret = VIA_R_NO_MATCH;",
        "ret = VIA_R_REJECT;"))
mutant("late-accept", "kernel/connect.c", "lo", "accept.late",
       "REJECT where a server was late, and did not reject",
       ("		via_conn_put(conn);\n		return VIA_R_TIMEOUT;\n",
        "		if (conn->client)\n"
        "			via_conn_refuse(conn->client, conn, VIA_R_REJECT);\n"
        "		via_conn_put(conn);\n		return VIA_R_TIMEOUT;\n"))
mutant("discriminator-length", "kernel/connect.h", "lo",
       "accept.near_misses",
       "discriminators are compared without their lengths",
       ("	return a->disc_len == b->disc_len &&\n"
        "	       !memcmp(a->disc, b->disc, a->disc_len);",
        "	return !memcmp(a->disc, b->disc,\n"
        "		       min(a->disc_len, b->disc_len));"))
mutant("both-ask", "core/conn.h", "unit", "core",
       "of two that look for each other both ask, and none serves",
       ("memcmp(own, other, len) < 0", "memcmp(own, other, len)"))
mutant("unequal-mtu", "core/conn.h", "unit", "core",
       "VIs of unequal MaxTransferSize are connected",
       ("	if (a->max_transfer != b->max_transfer)\n"
        "		return VIA_R_INVALID_MTU;\n", ""))
mutant("peer-host-only", "kernel/peers.c", "lo", "p2p.crowd",
       "peers match by their hosts, whatever the discriminators",
       ("return via_disc_equal(a, b) && a->host_len", "return a->host_len"))

mutant("end-is-loss", "kernel/loop.c", "lo", "errors.said_of_ends",
       "the normal end of a peer is told as a lost connection",
       ("tell && !via_vi_is_broken(vi) ? VIA_BROKEN_LEFT : 0", "0"))
mutant("loss-is-end", "kernel/loop.c", "lo", "errors.said_of_ends",
       "nothing is said of a lost connection",
       ("tell && !via_vi_is_broken(vi) ? VIA_BROKEN_LEFT : 0", "VIA_BROKEN_LEFT"))


# The state machine, VIs.
mutant = MUTANTS.plant

VI = "kernel/vi.c"
mutant("vi-stale-id", "kernel/vis.c", "lo", "handles.stale",
       "the id of a VI that is gone names the next one in its place",
       ("	if (unlikely(!vi || vi->id != id || vi->file != f))",
        "	if (unlikely(!vi || vi->file != f))"), sim="hostile")
mutant("vi-foreign", "kernel/vis.c", "lo", "protection.foreign",
       "a program ends, changes and connects the VIs of others",
       ("	if (unlikely(!vi || vi->id != id || vi->file != f))",
        "	if (unlikely(!vi || vi->id != id))"), sim="hostile")
mutant("trap-foreign", VI, "sim", "",
       "a program rings the doorbell of others",
       ("	if (likely(vi && vi->id == id && vi->file == f))",
        "	if (likely(vi && vi->id == id))"), sim="hostile")
mutant("mmap-foreign", VI, "sim", "",
       "a program maps the queues of others",
       ("	if (vi && vi->file == f)\n		refcount_inc(",
        "	if (vi)\n		refcount_inc("), sim="hostile")
mutant("mmap-dead", VI, "sim", "",
       "the queues of a VI that is gone are mapped: pages of others",
       ("		refcount_inc(&vi->shared_refs);\n	else",
        "		kref_get(&vi->ref);\n	else"),
       ("	ret = via_area_mmap(vi, vma);\n	via_vi_put_shared(vi);",
        "	ret = via_area_mmap(vi, vma);\n	via_vi_put(vi);"),
       ("READ_ONCE(vi->sq.entries);\n	via_vi_put_shared(vi);",
        "READ_ONCE(vi->sq.entries);\n	via_vi_put(vi);"),
       sim="beside memory")
mutant("grow-half-first", VI, "sim", "",
       "a ring that is refused once is made as long as it was, and that is told",
       ("	if (!ret)\n		arg->entries = arg->recv ?",
        "	arg->entries = arg->recv ?"), sim="many rights")
mutant("send-queue-not-dead", VI, "lo", "wait.woken",
       "a sleeper on the sends of a VI that goes is told that one is done",
       ("	vi->sq.dead = true;\n", ""), sim="end beside")
mutant("disconnect-no-wakeup", "kernel/move.c", "lo", "disconnect.wakes",
       "a wait for an attempt that another thread ends goes on",
       ("	via_p2p_over(vi);\n	wake_up_all(&vi->conn_wait);\n",
        "	via_p2p_over(vi);\n"), sim="beside end")
mutant("create-keeps-cq", VI, "lo", "vi.bad_rest",
       "a VI that was not made after all keeps its completion queue in use",
       ("err_vi:\n	via_vi_detach_cqs(f, vi);\n", "err_vi:\n"),
       sim="alloc ledger")
mutant("create-keeps-tag", VI, "lo", "limits.vis ptag.in_use",
       "a VI that was not made after all keeps its protection tag in use",
       ("err_ptag:\n	via_ptag_unuse(f, arg->attrs.ptag);\n	return ret;",
        "err_ptag:\n	return ret;"), sim="alloc")
mutant("set-keeps-tag", VI, "lo", "setvi.tags",
       "a tag that a VI has given up stays in use, and the new one is free",
       ("		drop = vi->attrs.ptag;\n", ""))
mutant("set-not-checked-anew", VI, "lo", "setvi.posted",
       "a receive checked by old attributes counts as checked by the new",
       ("		via_queue_unload(&vi->rq);\n", ""))
mutant("destroy-with-receives", VI, "lo", "vi.destroy_states",
       "a VI with receives that are posted is destroyed",
       (" ||\n		 (via_queue_posted(&vi->sq, &n) && n) ||\n"
        "		 (via_queue_posted(&vi->rq, &n) && n))",
        " ||\n		 (via_queue_posted(&vi->sq, &n) && n))"))
mutant("overrun-unsettled", VI, "lo", "errors.overrun",
       "a connection that an overrun breaks looks whole",
       ("		via_vi_break_later(vi, VIA_BROKEN_TELL);\n"
        "	via_vi_unlock(vi);\n	via_vi_settle(vi);\n",
        "		via_vi_break_later(vi, VIA_BROKEN_TELL);\n"
        "	via_vi_unlock(vi);\n"))
mutant("flush-before-state", "kernel/move.c", "lo", "states.race_post",
       "what is posted while a connection ends is never completed",
       ("""	vi->state = move.to;
	WRITE_ONCE(vi->shared->state, move.to);
	if (move.what & VIA_DO_FLUSH)
		via_vi_flush(vi);
""", """	if (move.what & VIA_DO_FLUSH)
		via_vi_flush(vi);
	vi->state = move.to;
	WRITE_ONCE(vi->shared->state, move.to);
"""), sim="beside end")
mutant("error-send-stuck", VI, "lo", "states.error",
       "a send posted in Error is never completed",
       ("	else if (!vi->sq.dead && vi->state != VIA_STATE_CONNECTED)\n"
        "		via_queue_flush(vi, &vi->sq);\n", ""))
mutant("query-keeps-vi", VI, "lo", "vi.query",
       "each VipQueryVi keeps the VI for ever",
       ("	arg->recv_cq = vi->rq.cq ? vi->rq.cq->id : 0;\n"
        "	via_vi_put(vi);\n",
        "	arg->recv_cq = vi->rq.cq ? vi->rq.cq->id : 0;\n"), sim="ledger")
mutant("bury-without-file", VI, "lo", "process.exited",
       "the handle goes before the last of its VIs, which looks for it",
       ("	via_vi_put(vi);\n	via_file_put(f);\n}", "	via_vi_put(vi);\n}"),
       ("	via_file_get(f);\n", ""), sim="end memory")
mutant("vi-no-grace", VI, "lo", "threads.destroyed",
       "frames and doorbells that have found a VI use it after it is freed",
       ("	via_reap_queue(&vi->death);",
        "	via_end_queue(&vi->death.work);"), sim="beside end memory")

STATE = "core/state.c"
mutant("error-for-ever", STATE, "unit", "core",
       "a VI in Error cannot be disconnected, and so never be used again",
       ("		ON(DISCONNECT,	IDLE,		VIA_DO_FLUSH),\n"
        "		ON(NIC_GONE,	ERROR,		VIA_DO_FLUSH),\n	},\n};",
        "		ON(NIC_GONE,	ERROR,		VIA_DO_FLUSH),\n	},\n};"))
mutant("expiry-untold", STATE, "unit", "core",
       "a server is not told that its client has given up, and accepts it",
       ("		ON(EXPIRE,	IDLE,		VIA_DO_DETACH | VIA_DO_TELL),",
        "		ON(EXPIRE,	IDLE,		VIA_DO_DETACH),"), sim="time")
mutant("refusal-flushes", STATE, "unit", "core",
       "a request that is refused takes the receives that were posted",
       ("		ON(REFUSE,	IDLE,		0),",
        "		ON(REFUSE,	IDLE,		VIA_DO_FLUSH),"))

# Queues and the engine.
mutant("segments-leak", "kernel/queue.c", "lo", "send.segments",
       "each message of more than two segments leaks their copy",
       ("	if (q->next != q->head)\n"
        "		via_desc_drop(via_queue_entry(q, q->head));\n"
        "	else\n		q->next++;",
        "	if (q->next == q->head)\n		q->next++;"), sim="ledger")
mutant("tail-unbound", "kernel/queue.h", "sim", "",
       "a program's made-up tail keeps a CPU in the kernel",
       ("	return tail - q->head <= q->entries && *n <= q->entries;",
        "	return true;"), sim="hostile")
QUEUE = "kernel/queue.c"
mutant("grow-leaves-slots", QUEUE, "lo", "queue.deeper",
       "what is posted when a ring becomes longer is lost",
       ("		r->slots[(tail - i) & mask] = "
        "q->slots[(tail - i) & q->mask];\n", ""), sim="many")
mutant("grow-leaves-words", QUEUE, "lo", "queue.deeper",
       "completions that are not collected when a ring becomes longer are lost",
       ("		r->comp[(q->head - i) & mask] =\n"
        "			q->comp[(q->head - i) & q->mask];\n", ""),
       sim="many")
mutant("grow-leaves-loaded", QUEUE, "sim", "",
       "sends in flight when a ring becomes longer are not known any more",
       ("		r->loaded[i & (VIA_INFLIGHT - 1)] = *via_queue_entry(q, i);\n",
        "		;\n"), sim="many")
mutant("grow-beside-refill", QUEUE, "sim", "",
       "a CQ is refilled from a ring that is just being replaced",
       ("		spin_lock(&q->cq->lock);\n		via_queue_swap(q, r);\n"
        "		spin_unlock(&q->cq->lock);\n", "		via_queue_swap(q, r);\n"),
       sim="beside")
AREA = "kernel/area.c"
mutant("grow-free-of-charge", AREA, "sim", "",
       "a user has as many pages of rings as it likes",
       ("	if (!via_quota_charge(quota, VIA_QUOTA_VI_PAGES, g->fresh)) {",
        "	via_quota_charge_again(quota, VIA_QUOTA_VI_PAGES, g->fresh);\n"
        "	if (0) {"), sim="rights")
mutant("grow-charged-for-good", AREA, "sim", "",
       "rings of VIs that are gone stay charged",
       ("		via_quota_uncharge(vi->file->quota, VIA_QUOTA_VI_PAGES, n);\n",
        ""), sim="many")
mutant("grow-refused-charged", AREA, "sim", "",
       "a ring for which there is no memory stays charged",
       ("		via_quota_uncharge(quota, VIA_QUOTA_VI_PAGES, g->fresh);\n"
        "		via_growth_free(g, vi->area);\n",
        "		via_growth_free(g, vi->area);\n"), sim="alloc")
mutant("grow-maps-freed", AREA, "sim", "",
       "the mapping of a ring that is in use is taken away",
       ("	/* (6) */\n	swap(q->map, g->map);\n", "	q->map = g->map;\n"),
       sim="memory")
mutant("flushed-write-is-send", DESC, "unit", "core",
       "an RDMA Write that has failed completes as a send",
       ("	case VIA_CTL_OP_RDMAWRITE:\n		return VIA_ST_OP_RDMA_WRITE;\n",
        ""))
ENGINE = "kernel/engine.c"
mutant("one-segment-more", DESC, "unit", "core",
       "a descriptor may have one segment more than is told",
       ("d->seg_count > VIA_SEG_MAX", "d->seg_count > VIA_SEG_MAX + 1"))
mutant("write-without-segments", DESC, "unit", "core",
       "an RDMA Write without an address segment moves 1 MiB of the kernel's",
       ("(recv || !d->seg_count || d->seg[0].len)",
        "(recv || d->seg[0].len)"), sim="hostile memory")
mutant("receive-that-writes", DESC, "unit", "core",
       "a receive may say that it is an RDMA Write",
       ("(recv || !d->seg_count || d->seg[0].len)",
        "(!d->seg_count || d->seg[0].len)"))
mutant("read-at-any-level", DESC, "unit", "core",
       "RDMA Read at a level that has none",
       ("VIA_CTL_IMMEDIATE || !may_read ?",
        "VIA_CTL_IMMEDIATE || (may_read && !recv && recv) ?"))
mutant("sleep-without-look", ENGINE, "wire", "send threads.one_vi",
       "what is posted while the last send goes out stays until the next one",
       ("	return via_desc_posted(vi, q, &n) && n;\n}\nEXPORT_SYMBOL_GPL(via_send_sleep)",
        "	return false;\n}\nEXPORT_SYMBOL_GPL(via_send_sleep)"),
       sim="beside backlog")
mutant("one-in-flight-more", ENGINE, "wire", "queue.full_sends",
       "the 65th send in flight takes the place of the first",
       ("vi->sq.next - vi->sq.head >= VIA_INFLIGHT",
        "vi->sq.next - vi->sq.head > VIA_INFLIGHT"), sim="backlog")
mutant("walk-never-back", ENGINE, "wire", "send.segments",
       "an earlier part of a long message cannot be sent again",
       ("""	if (off < d->cur_off) {
		d->cur_off = 0;
		d->cur_seg = 0;
	}
""", ""), sim="loss")
mutant("write-checked-short", ENGINE, "lo", "rdmaprot.range",
       "off by one in what an RDMA Write is checked for before it begins",
       ("	return likely(via_rdma_region(vi, VIA_RDMA_WRITE, handle, addr, len)) ?",
        "	return likely(via_rdma_region(vi, VIA_RDMA_WRITE, handle, addr,\n"
        "				      len ? len - 1 : 0)) ?"))
mutant("read-needs-write", ENGINE, "lo", "read.rights",
       "a read of memory that may be read, and no more, ends in its middle",
       ("	r = via_rdma_region(vi, VIA_RDMA_READ, handle, addr, len);\n"
        "	if (unlikely(!r))",
        "	r = via_rdma_region(vi, VIA_RDMA_WRITE, handle, addr, len);\n"
        "	if (unlikely(!r))"))

# Completion queues.
CQ = "kernel/cq.c"
mutant("cq-one-more", CQ, "lo", "cq.overflow",
       "a notice is written over the oldest when the ring is full",
       ("	return used < cq->entries ? cq->entries - used : 0;",
        "	return used <= cq->entries ? cq->entries - used + 1 : 0;"))
mutant("notices-overtake", CQ, "lo", "cqvi.backlog cq.stale_order",
       "new notices overtake those for which the ring had no place",
       ("	if (!via_cq_overflown(cq) && !cq->resizing && via_cq_room(cq)) {",
        "	if (!cq->resizing && via_cq_room(cq)) {"), sim="backlog")
mutant("overflow-untold", CQ, "lo", "cq.overflow",
       "the program is not told that notices wait, and never fetches them",
       ("	WRITE_ONCE(cq->shared->flags, VIA_CQ_OVERFLOW);\n", ""))
mutant("cq-detach-waiting", CQ, "lo", "cq.stale_vi",
       "a VI that goes stays among those whose notices wait",
       ("	if (!RB_EMPTY_NODE(&q->cq_node))\n		via_cq_unwait(cq, q);\n"
        "	WRITE_ONCE(q->cq, NULL);", "	WRITE_ONCE(q->cq, NULL);"),
       sim="backlog end memory")
mutant("notices-doubled", CQ, "lo", "cqvi.backlog cq.overflow_rounds",
       "notices that were read come once more",
       ("	if (head - collected <= head - q->cq_from)\n"
        "		q->cq_from = collected;", "	q->cq_from = collected;"),
       sim="backlog")
mutant("resize-loses", CQ, "lo", "resize.overflow resize.no_room",
       "a smaller ring has no place for a notice, and it is lost",
       ("	q->cq_from--;\n	via_cq_hold(cq, q);", "	via_cq_hold(cq, q);"),
       sim="backlog")
mutant("resize-tail-untold", CQ, "lo", "resize.overflow",
       "after a resize the program reads entries that were taken back",
       ("		WRITE_ONCE(cq->shared->tail, cq->tail);\n", ""),
       sim="backlog")
mutant("cq-mmap-no-ref", CQ, "lo", "resize.threads",
       "a ring is mapped while another thread resizes it away",
       ("	if (r)\n		kref_get(&r->ref);\n	spin_unlock_bh(&cq->lock);\n"
        "	if (r)\n		ret",
        "	spin_unlock_bh(&cq->lock);\n	if (r)\n		ret"),
       ("	via_cq_ring_put(r);\n	via_cq_put(cq);\n	return ret;\n}\n\n"
        "/* Free places",
        "	via_cq_put(cq);\n	return ret;\n}\n\n/* Free places"),
       sim="beside memory")
mutant("cq-notice-left", CQ, "lo", "notify.cancelled",
       "the event of a completion queue that is gone is read",
       ("	via_notice_cancel(&cq->notice);\n", ""), sim="end memory")
mutant("cq-destroyed-in-use", CQ, "lo", "cq.attached",
       "a completion queue goes while VIs are attached to it",
       ("	if (cq->queues)\n		return VIA_R_ERROR_RESOURCE;\n", ""))
mutant("cq-one-beyond", CQ, "lo", "limits.cqs",
       "one completion queue more than the limit",
       ("f->cq_count >= lim->max_cq)", "f->cq_count > lim->max_cq)"),
       sim="many")

# Registered memory.
MEMORY = "kernel/memory.c"
mutant("dereg-no-wait", MEMORY, "lo", "threads.objects",
       "memory is deregistered while a frame is written into it",
       ("	xa_erase(&f->memory.regions, index);\n"
        "	via_region_quiesce(f);\n",
        "	xa_erase(&f->memory.regions, index);\n"), sim="beside memory")
mutant("dereg-still-found", MEMORY, "lo", "protection.deregistered",
       "deregistered memory is found by descriptors",
       ("	WRITE_ONCE(*via_region_place(f, index), NULL);\n", ""),
       sim="memory")
mutant("rights-not-granted", MEMORY, "lo", "memattr.rights",
       "VipSetMemAttributes takes rights and never gives any",
       ("	WRITE_ONCE(r->rights, rights);\n", ""))
mutant("rights-not-taken", MEMORY, "lo", "memattr.rights",
       "a peer that writes just now goes on after VipSetMemAttributes",
       ("		WRITE_ONCE(r->rights, r->rights & rights);\n"
        "		via_region_quiesce(f);\n",
        "		WRITE_ONCE(r->rights, r->rights & rights);\n"),
       sim="beside")
mutant("mem-set-keeps-tag", MEMORY, "lo", "memattr.tags",
       "a tag that memory has given up stays in use, and the new one is free",
       ("	u32 old;\n", ""), ("	old = r->ptag;\n", ""),
       ("	via_ptag_unuse(f, old);\n", "	via_ptag_unuse(f, arg->ptag);\n"))
mutant("failed-pages-charged", "kernel/pin.c", "lo", "limits.user_pages",
       "a registration that fails stays charged to the user",
       ("	via_quota_uncharge(f->quota, VIA_QUOTA_PAGES, r->npages);\n"
        "err_account:", "err_account:"), sim="alloc ledger")
mutant("failed-pages-locked", "kernel/pin.c", "lo", "memory.memlock",
       "a registration that fails stays charged to RLIMIT_MEMLOCK",
       ("err_account:\n	via_pages_uncharge(f->mm, r->npages);\n",
        "err_account:\n"), sim="alloc ledger")
mutant("half-pinned", "kernel/pin.c", "lo", "memory.bad_ranges",
       "the first pages of a registration that fails stay pinned for ever",
       ("	if (done)\n		unpin_user_pages(r->pages, done);\n", ""),
       sim="alloc ledger")
mutant("last-page-missing", MEMORY, "lo", "memory.any_alignment",
       "bytes in the last page of unaligned memory go to its first",
       ("	r->npages = ((a->addr & ~PAGE_MASK) + a->len + PAGE_SIZE - 1) >>",
        "	r->npages = (a->len + PAGE_SIZE - 1) >>"))
mutant("dereg-keeps-place", MEMORY, "lo", "limits.regions limits.bytes",
       "deregistered memory counts towards the limits of the handle",
       ("	via_region_unreserve(f, r->ptag, r->len);\n	if (via_dma",
        "	via_ptag_unuse(f, r->ptag);\n	if (via_dma"),
       sim="many")
mutant("dereg-any-address", MEMORY, "lo", "memory.deregister",
       "memory is deregistered by its handle and any address",
       ("	return r && r->handle == handle && r->start == addr ? r : NULL;",
        "	return r && r->handle == handle ? r : NULL;"))

DMA = "kernel/dma.c"
mutant("unmap-told-early", DMA, "sim", "",
       "memory is freed while the end of its NIC unmaps it",
       ("	via_dma_undo(nic, r);\n"
        "	spin_lock(&nic->dma.lock);\n"
        "	orphan =",
        "	spin_lock(&nic->dma.lock);\n	orphan ="),
       ("	spin_unlock(&nic->dma.lock);\n	if (orphan) {",
        "	spin_unlock(&nic->dma.lock);\n"
        "	via_dma_undo(nic, r);\n"
        "	if (orphan) {"), sim="gone beside memory frags")
mutant("unmap-not-awaited", DMA, "sim", "",
       "memory is unpinned while the NIC may read it",
       ("	if (!mine)\n		return done;", "	if (!mine)\n		return true;"),
       sim="gone beside memory frags")
mutant("orphan-stays", DMA, "sim", "",
       "memory that is deregistered while its NIC goes stays pinned for ever",
       ("	if (orphan) {", "	if (0) {"), sim="gone beside ledger frags")
mutant("unmap-under-rtnl", "kernel/nic.c", "sim", "",
       "RTNL is held until all programs' memory is unmapped",
       ("	synchronize_rcu_expedited();\n	via_nic_tell_files(nic);",
        "	synchronize_rcu_expedited();\n	via_nic_drain(nic);\n"
        "	via_nic_tell_files(nic);"), sim="gone frags")
mutant("unmap-beside-end", DMA, "sim", "",
       "a device that is gone is asked to unmap memory",
       ("	/* Those that took one off the list before. */\n"
        "	wait_event(nic->dma.unmapped, via_dma_idle(nic));\n", ""),
       sim="gone beside frags")

# The rule of kernel/ends.h.
mutant("end-waits-for-program", "kernel/handle.c", "sim", "",
       "the end of a handle waits for a call on it, and others' behind it",
       ("	if (!mutex_trylock(&f->mutex))\n		return;\n",
        "	mutex_lock(&f->mutex);\n"), sim="end beside many")
mutant("end-left-to-none", "kernel/handle.c", "sim", "",
       "a handle whose end met a call lives as long as its descriptor",
       ("	if (unlikely(READ_ONCE(f->ending)) && !READ_ONCE(f->dead))\n"
        "		via_file_end(f);\n", ""), sim="end beside many")
mutant("end-seen-too-early", "kernel/handle.c", "sim", "",
       "a handle whose end met the end of a call lives on",
       ("	 * mutex free, or its holder finds @ending set.\n	 */\n"
        "	smp_mb();\n",
        "	 * mutex free, or its holder finds @ending set.\n	 */\n"),
       ("	/* Pairs with the barrier in via_file_end(). */\n	smp_mb();\n",
        "	/* Pairs with the barrier in via_file_end(). */\n"),
       sim="end beside many order")
mutant("quota-waits-locked", "kernel/file.c", "sim", "",
       "the end of a handle waits for a call that waits for other VIs' ends",
       ("		via_file_unlock(f);\n"
        "	} while (ret == -EDQUOT && via_quota_wait(&look));",
        "		if (ret == -EDQUOT && !via_quota_wait(&look))\n"
        "			ret = VIA_R_ERROR_RESOURCE;\n"
        "		via_file_unlock(f);\n	} while (ret == -EDQUOT);"),
       sim="end beside many")
mutant("end-takes-mmap-lock", "kernel/pin.c", "sim", "",
       "the end of a handle waits for a page that its program is to bring",
       ("static void via_pages_uncharge(struct mm_struct *mm, u32 npages)\n{\n",
        "static void via_pages_uncharge(struct mm_struct *mm, u32 npages)\n{\n"
        "	mmap_read_lock(mm);\n	mmap_read_unlock(mm);\n"),
       sim="end beside many")

# Handles and NICs.
FILE = "kernel/file.c"
mutant("teardown-without-ref", FILE, "lo", "process.exited",
       "a handle is freed while its last mapping ends it",
       ("	kref_get(&f->ref);\n	if (!via_end_queue(&f->teardown))\n"
        "		via_file_put(f);", "	via_end_queue(&f->teardown);"),
       sim="end memory")
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
