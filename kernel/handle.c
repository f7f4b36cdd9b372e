// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A handle, of a program or of a consumer in the kernel: references, its mutex,
 * and when it ends.  What ends with it is not known here: file->kill() is
 * handed in by what makes it.
 */

#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "ends.h"
#include "file.h"
#include "ledger.h"
#include "quota.h"

/* What the lookups of regions used. */
static void via_file_free_dir(struct via_file *f)
{
	u32 i;

	for (i = 0; i < VIA_REGION_CHUNKS; i++)
		kfree(f->memory.dir[i]);
}

static void via_file_free(struct kref *ref)
{
	struct via_file *f = container_of(ref, struct via_file, ref);

	via_events_free(&f->events);
	via_file_free_dir(f);
	free_page((unsigned long)f->ctl);
	xa_destroy(&f->memory.regions);
	xa_destroy(&f->ptags);
	xa_destroy(&f->cqs);
	kvfree(f->kmem);
	mem_cgroup_put(f->memcg);
	if (f->mm)
		mmdrop(f->mm);
	if (f->quota)
		via_quota_put(f->quota);
	put_pid(f->pid);
	kfree(f);
	atomic_long_inc(&via_gone.files);
}

void via_file_get(struct via_file *f)
{
	kref_get(&f->ref);
}

void via_file_put(struct via_file *f)
{
	kref_put(&f->ref, via_file_free);
}

/*
 * The handle is to end, here or in the context that holds its mutex, which a
 * program can make wait: that one looks at @ending when it has let go of it.
 * Idempotent; any process context.
 */
static void via_file_end(struct via_file *f)
{
	WRITE_ONCE(f->ending, true);
	/*
	 * Pairs with the barrier in via_file_unlock(): either we find the
	 * mutex free, or its holder finds @ending set.
	 */
	smp_mb();
	if (!mutex_trylock(&f->mutex))
		return;
	f->kill(f);
	mutex_unlock(&f->mutex);
}

void via_file_unlock(struct via_file *f)
{
	mutex_unlock(&f->mutex);
	/* Pairs with the barrier in via_file_end(). */
	smp_mb();
	if (unlikely(READ_ONCE(f->ending)) && !READ_ONCE(f->dead))
		via_file_end(f);
}

static void via_file_teardown(struct work_struct *work)
{
	struct via_file *f = container_of(work, struct via_file, teardown);

	via_end_begins();
	via_file_end(f);
	via_file_put(f);
	via_end_is_over();
}

struct via_file *via_file_new(struct via_nic *nic,
			      void (*kill)(struct via_file *f))
{
	struct via_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);

	if (!f)
		return NULL;
	atomic_long_inc(&via_made.files);
	kref_init(&f->ref);
	mutex_init(&f->mutex);
	via_ends_teach(&f->mutex);
	via_order_node_init(&f->by_serial);
	INIT_LIST_HEAD(&f->vis);
	INIT_LIST_HEAD(&f->waiters);
	INIT_LIST_HEAD(&f->conns);
	INIT_LIST_HEAD(&f->busy_poll_link);
	INIT_WORK(&f->teardown, via_file_teardown);
	xa_init_flags(&f->memory.regions, XA_FLAGS_ALLOC1);
	xa_init_flags(&f->ptags, XA_FLAGS_ALLOC1);
	xa_init_flags(&f->cqs, XA_FLAGS_ALLOC1);
	f->nic = nic;
	f->kill = kill;
	f->ctl = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (via_events_init(&f->events) || !f->ctl) {
		via_file_put(f);
		return NULL;
	}
	f->ctl->abi = VIA_ABI_VERSION;
	return f;
}

int via_file_lock_for(struct via_file *f, bool ends)
{
	int ret = 0;

	mutex_lock(&f->mutex);
	if (f->dead || READ_ONCE(f->ending))
		ret = -ESHUTDOWN;
	else if (!f->kernel && !READ_ONCE(f->ctl_mapped))
		ret = -ENXIO;
	else if (READ_ONCE(f->nic->dead) && !ends)
		ret = VIA_R_ERROR_RESOURCE;
	if (ret)
		via_file_unlock(f);
	return ret;
}

int via_file_lock(struct via_file *f)
{
	return via_file_lock_for(f, false);
}
