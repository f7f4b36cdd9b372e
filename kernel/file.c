// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An open device node: open, the ioctls, mmap, the trap, teardown.
 *
 * The handle belongs to the mm that opened it.  It ends when the last mapping
 * of its control page goes (exit, exec, munmap), which a forked child or a
 * passed descriptor cannot delay; release() is the backstop.
 */

#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/memcontrol.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>
#include "busy_poll.h"
#include "connect.h"
#include "cq.h"
#include "ends.h"
#include "file.h"
#include "kmem.h"
#include "memory.h"
#include "name.h"
#include "nic.h"
#include "p2p.h"
#include "ptag.h"
#include "queue.h"
#include "quota.h"
#include "stats.h"
#include "vi.h"
#include "wait.h"

/* Kinds of mappings, in the page offset above the object's number. */
#define VIA_MAP_SHIFT	20
#define VIA_MAP_CTL	0
#define VIA_MAP_VI	1
#define VIA_MAP_CQ	2
#define VIA_MAP_CQ_SPARE 3	/* the ring that a resize prepared */

static u64 via_map_offset(u32 kind, u32 number)
{
	return (u64)(kind << VIA_MAP_SHIFT | number) << PAGE_SHIFT;
}

void via_file_kill(struct via_file *f)
{
	lockdep_assert_held(&f->mutex);
	if (f->dead)
		return;
	WRITE_ONCE(f->dead, true);
	WRITE_ONCE(f->ctl->flags, VIA_CTL_DEAD);
	via_busy_poll_end(f);
	via_conn_destroy_all(f);
	via_vi_destroy_all(f);
	via_cq_destroy_all(f);
	via_mem_destroy_all(f);
	via_kmem_destroy_all(f);
	via_ptag_destroy_all(f);
	via_events_close(&f->events);
}

/* The open file is no more, or never was. */
static void via_file_close(struct via_file *f)
{
	/* Now, though ends of VIs may keep the structure for a while. */
	if (f->charged)
		via_quota_uncharge(f->quota, VIA_QUOTA_HANDLES, 1);
	via_file_put(f);
}

static int via_open(struct inode *inode, struct file *filp)
{
	struct via_nic *nic = via_nic_open(iminor(inode));
	struct via_file *f;
	int ret = -ENXIO;

	if (!nic)
		return ret;
	if (nic->netns && !net_eq(nic->netns, current->nsproxy->net_ns))
		goto err;
	ret = -ENOMEM;
	f = via_file_new(nic, via_file_kill);
	if (!f)
		goto err;
	f->uid = current_uid();
	f->pid = get_pid(task_tgid(current));
	f->quota = via_quota_get();
	if (!f->quota)
		goto err_file;
	ret = -EMFILE;
	f->charged = via_quota_charge(f->quota, VIA_QUOTA_HANDLES, 1);
	if (!f->charged)
		goto err_file;
	f->compat = in_compat_syscall();
	f->mm = current->mm;
	mmgrab(f->mm);
	f->memcg = get_mem_cgroup_from_mm(f->mm);

	ret = via_nic_add_file(nic, f);
	if (ret)
		goto err_file;
	filp->private_data = f;
	return 0;
err_file:
	via_file_close(f);
err:
	via_nic_close(nic);
	return ret;
}

static int via_release(struct inode *inode, struct file *filp)
{
	struct via_file *f = filp->private_data;
	struct via_nic *nic = f->nic;

	/* Not flush_work(): it would wait for what runs before this one. */
	if (cancel_work(&f->teardown))
		via_file_put(f);
	/* There is no call under way: only the work item may have the mutex. */
	mutex_lock(&f->mutex);
	via_file_kill(f);
	mutex_unlock(&f->mutex);
	via_nic_remove_file(nic, f);
	via_file_close(f);
	via_nic_close(nic);
	return 0;
}

static void via_ctl_open(struct vm_area_struct *vma)
{
	struct via_file *f = vma->vm_private_data;

	atomic_inc(&f->ctl_maps);
}

/* mmap_lock is held, so the ending is left to a work item. */
static void via_ctl_close(struct vm_area_struct *vma)
{
	struct via_file *f = vma->vm_private_data;

	if (!atomic_dec_and_test(&f->ctl_maps))
		return;
	kref_get(&f->ref);
	if (!via_end_queue(&f->teardown))
		via_file_put(f);
}

static int via_ctl_refuse(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static int via_ctl_refuse_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct via_ctl_vm_ops = {
	.open		= via_ctl_open,
	.close		= via_ctl_close,
	.mremap		= via_ctl_refuse,
	.may_split	= via_ctl_refuse_split,
};

static int via_ctl_mmap(struct via_file *f, struct vm_area_struct *vma)
{
	int ret;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    vma->vm_flags & VM_WRITE || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* Once only: the first mapping's end is the handle's end. */
	if (cmpxchg(&f->ctl_mapped, false, true))
		return -EBUSY;
	/* Of these VM_IO is what madvise(MADV_DOFORK) respects. */
	vm_flags_set(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND |
			 VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYWRITE);
	ret = vm_insert_page(vma, vma->vm_start, virt_to_page(f->ctl));
	if (ret) {
		WRITE_ONCE(f->ctl_mapped, false);
		return ret;
	}
	vma->vm_private_data = f;
	vma->vm_ops = &via_ctl_vm_ops;
	via_ctl_open(vma);
	return 0;
}

static int via_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct via_file *f = filp->private_data;
	u32 number = vma->vm_pgoff & ((1u << VIA_MAP_SHIFT) - 1);

	if (current->mm != f->mm)
		return -EPERM;
	if (READ_ONCE(f->dead))
		return -ESHUTDOWN;
	switch (vma->vm_pgoff >> VIA_MAP_SHIFT) {
	case VIA_MAP_CTL:
		return number ? -EINVAL : via_ctl_mmap(f, vma);
	case VIA_MAP_VI:
		return via_vi_mmap(f, number, vma);
	case VIA_MAP_CQ:
		return via_cq_mmap(f, number, false, vma);
	case VIA_MAP_CQ_SPARE:
		return via_cq_mmap(f, number, true, vma);
	default:
		return -EINVAL;
	}
}

static __always_inline long via_trap(struct via_file *f, u64 arg)
{
	u32 op = arg >> 32, id = (u32)arg;

	if (unlikely(current->mm != f->mm))
		return -EPERM;
	if (likely(op == VIA_OP_SEND || op == VIA_OP_RECV))
		return via_vi_trap(f, op, id);
	if (likely(op == VIA_OP_POLL))
		return via_busy_poll_trap(f);
	switch (op) {
	case VIA_OP_CQ:
		return via_cq_refill(f, id);
	case VIA_OP_WAIT_SEND:
	case VIA_OP_WAIT_RECV:
	case VIA_OP_WAIT_CQ:
		return via_wait_trap(f, op, id);
	case VIA_OP_NOTIFY_SEND:
	case VIA_OP_NOTIFY_RECV:
	case VIA_OP_NOTIFY_CQ:
		return via_notify_trap(f, op, id);
	case VIA_OP_NOP:
		return 0;
	default:
		return -EINVAL;
	}
}

/* The doorbell; see the comment at the top of include/uapi/via.h. */
static loff_t via_llseek(struct file *filp, loff_t offset, int whence)
{
	/* A stranger's lseek, or VIA_OP_NOP. */
	if (unlikely(whence != VIA_TRAP_WHENCE || !offset))
		return 0;
	return via_trap(filp->private_data, offset);
}

static long via_hello(struct via_file *f, struct via_hello *h)
{
	struct via_nic *nic = f->nic;
	const struct via_limits *lim = &nic->limits;

	if (h->abi != VIA_ABI_VERSION || h->flags)
		return -EINVAL;
	memset(h, 0, sizeof(*h));
	h->abi = VIA_ABI_VERSION;
	strscpy(h->name, nic->name, sizeof(h->name));
	memcpy(h->addr, nic->addr, nic->addr_len);
	h->addr_len = nic->addr_len;
	h->type = nic->type;
	h->ifindex = nic->ifindex;
	h->drv_version = 1;
	h->native_mtu = READ_ONCE(nic->limits.native_mtu);
	h->reliability = lim->reliability;
	h->rdma_read = lim->rdma_read;
	h->max_disc_len = VIA_DISC_MAX;
	h->max_vi = lim->max_vi;
	h->max_desc = VIA_QUEUE_ENTRIES;
	h->max_segs = VIA_SEG_MAX;
	h->max_cq = lim->max_cq;
	h->max_cq_entries = lim->max_cq_entries;
	h->max_transfer = lim->max_transfer;
	h->max_ptags = lim->max_ptags;
	h->max_regions = lim->max_regions;
	h->max_register_bytes = lim->max_register_bytes;
	h->max_block_bytes = lim->max_block_bytes;
	return 0;
}

/*
 * Calls that make or change objects, by the kind of the object: -ENOTTY for a
 * number that is not one of its calls.  f->mutex held, handle alive.
 */
static long via_ptag_call(struct via_file *f, unsigned int cmd,
			  struct via_ptag_arg *a)
{
	if (a->reserved)
		return -EINVAL;
	return cmd == VIA_IOC_PTAG_CREATE ? via_ptag_create(f, &a->ptag) :
					    via_ptag_destroy(f, a->ptag);
}

static long via_mem_call(struct via_file *f, unsigned int cmd, void *arg)
{
	switch (cmd) {
	case VIA_IOC_PTAG_CREATE:
	case VIA_IOC_PTAG_DESTROY:
		return via_ptag_call(f, cmd, arg);
	case VIA_IOC_MEM_DEREGISTER: {
		struct via_mem_deregister *a = arg;

		if (a->reserved)
			return -EINVAL;
		return via_mem_deregister(f, a->addr, a->handle);
	}
	case VIA_IOC_MEM_QUERY:
		return via_mem_query(f, arg);
	case VIA_IOC_MEM_SET:
		return via_mem_set(f, arg);
	default:
		return -ENOTTY;
	}
}

static long via_vi_call(struct via_file *f, unsigned int cmd, void *arg)
{
	switch (cmd) {
	case VIA_IOC_VI_DESTROY: {
		struct via_vi_arg *a = arg;

		if (a->reserved)
			return -EINVAL;
		return via_vi_destroy(f, a->vi);
	}
	case VIA_IOC_VI_QUERY:
		return via_vi_query(f, arg);
	case VIA_IOC_VI_SET:
		return via_vi_set(f, arg);
	case VIA_IOC_VI_OVERRUN:
		return via_vi_overrun(f, arg);
	default:
		return -ENOTTY;
	}
}

static long via_cq_call(struct via_file *f, unsigned int cmd, void *arg)
{
	switch (cmd) {
	case VIA_IOC_CQ_CREATE: {
		struct via_cq_create *a = arg;
		long ret = via_cq_create(f, a);

		a->mmap_offset = via_map_offset(VIA_MAP_CQ, a->cq);
		return ret;
	}
	case VIA_IOC_CQ_DESTROY: {
		struct via_cq_arg *a = arg;

		if (a->reserved)
			return -EINVAL;
		return via_cq_destroy(f, a->cq);
	}
	default:
		return -ENOTTY;
	}
}

static long via_disconnect_call(struct via_file *f, struct via_vi_arg *a)
{
	struct via_vi *vi = a->reserved ? NULL : via_vi_get(f, a->vi);

	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	via_vi_disconnect(vi);
	via_vi_put(vi);
	return 0;
}

static long via_conn_call(struct via_file *f, unsigned int cmd, void *arg)
{
	switch (cmd) {
	case VIA_IOC_CONN_ACCEPT:
		return via_conn_accept(f, arg);
	case VIA_IOC_CONN_REJECT: {
		struct via_conn_reject *a = arg;

		return a->reserved ? -EINVAL : via_conn_reject(f, a->conn);
	}
	case VIA_IOC_CONN_LISTEN: {
		struct via_conn_listen *a = arg;

		return a->reserved ? -EINVAL : via_conn_listen(f, a);
	}
	case VIA_IOC_CONN_REQUEST: {
		struct via_conn_request *a = arg;

		return a->reserved ? -EINVAL : via_conn_request(f, a);
	}
	case VIA_IOC_PEER_REQUEST: {
		struct via_conn_request *a = arg;

		return a->reserved ? -EINVAL : via_p2p_request(f, a);
	}
	case VIA_IOC_DISCONNECT:
		return via_disconnect_call(f, arg);
	default:
		return -ENOTTY;
	}
}

/* The kinds of objects have sixteen numbers each: see uapi/via.h. */
static long via_object_call(struct via_file *f, unsigned int cmd, void *arg)
{
	switch (_IOC_NR(cmd) >> 4) {
	case 1:
		return via_mem_call(f, cmd, arg);
	case 2:
		return via_vi_call(f, cmd, arg);
	case 3:
		return via_cq_call(f, cmd, arg);
	case 4:
		return via_conn_call(f, cmd, arg);
	default:
		return -ENOTTY;
	}
}

/* May this call still be made once the NIC is gone?  Only endings may. */
static bool via_call_ends(unsigned int cmd)
{
	switch (cmd) {
	case VIA_IOC_PTAG_DESTROY:
	case VIA_IOC_MEM_DEREGISTER:
	case VIA_IOC_MEM_QUERY:
	case VIA_IOC_VI_DESTROY:
	case VIA_IOC_VI_QUERY:
	case VIA_IOC_VI_OVERRUN:
	case VIA_IOC_CQ_DESTROY:
	case VIA_IOC_DISCONNECT:
		return true;
	default:
		return false;
	}
}

static long via_locked_call(struct via_file *f, unsigned int cmd, void *arg)
{
	long ret = via_file_lock_for(f, via_call_ends(cmd));

	if (ret)
		return ret;
	ret = via_object_call(f, cmd, arg);
	via_file_unlock(f);
	return ret;
}

/*
 * A user at its quota waits for VIs that it has ended: with no lock held, or
 * the end of the handle would wait for that, too.
 */
static long via_vi_create_call(struct via_file *f, struct via_vi_create *a)
{
	struct via_quota_look look;
	long ret;

	do {
		via_quota_sample(f->quota, &look);
		ret = via_file_lock(f);
		if (ret)
			return ret;
		ret = via_vi_create(f, a);
		via_file_unlock(f);
	} while (ret == -EDQUOT && via_quota_wait(&look));
	a->mmap_offset = via_map_offset(VIA_MAP_VI, a->vi & 0xffff);
	return ret == -EDQUOT ? VIA_R_ERROR_RESOURCE : ret;
}

/* A post waits for it: not under file->mutex, likewise. */
static long via_vi_grow_call(struct via_file *f, struct via_vi_grow *a)
{
	struct via_quota_look look;
	long ret;

	do {
		via_quota_sample(f->quota, &look);
		ret = READ_ONCE(f->dead) ? -ESHUTDOWN : via_vi_grow(f, a);
	} while (ret == -EDQUOT && via_quota_wait(&look));
	return ret == -EDQUOT ? VIA_R_ERROR_RESOURCE : ret;
}

/*
 * Not under file->mutex, which other threads may hold for long: at COMMIT the
 * program keeps all its threads from the CQ.
 */
static long via_cq_resize_call(struct via_file *f, struct via_cq_resize *a)
{
	a->mmap_offset = via_map_offset(VIA_MAP_CQ_SPARE, a->cq);
	return via_cq_resize(f, a);
}

/* Calls that may sleep for long, or need no live handle. */
static long via_free_call(struct via_file *f, unsigned int cmd, void *arg)
{
	switch (cmd) {
	case VIA_IOC_HELLO:
		return via_hello(f, arg);
	case VIA_IOC_SHUTDOWN:
		mutex_lock(&f->mutex);
		via_file_kill(f);
		mutex_unlock(&f->mutex);
		return 0;
	case VIA_IOC_TRAP:
		return via_trap(f, ((struct via_trap *)arg)->arg);
	case VIA_IOC_WAIT:
		return via_wait(f, arg);
	case VIA_IOC_MEM_REGISTER:
		return via_mem_register(f, arg);
	case VIA_IOC_VI_CREATE:
		return via_vi_create_call(f, arg);
	case VIA_IOC_VI_GROW:
		return via_vi_grow_call(f, arg);
	case VIA_IOC_CQ_RESIZE:
		return via_cq_resize_call(f, arg);
	case VIA_IOC_CONN_WAIT:
		return READ_ONCE(f->ctl_mapped) ? via_conn_wait(f, arg) :
						  -ENXIO;
	case VIA_IOC_CONN_RESULT:
		return via_conn_result(f, arg);
	case VIA_IOC_NAME_QUERY:
		return via_name_query(f, arg);
	default:
		return via_locked_call(f, cmd, arg);
	}
}

/* The largest argument of an ioctl. */
union via_ioctl_arg {
	struct via_hello hello;
	struct via_conn_wait conn_wait;
	struct via_conn_request conn_request;
	struct via_vi_create vi_create;
	struct via_mem_register mem_register;
};

static long via_ioctl(struct file *filp, unsigned int cmd, unsigned long uarg)
{
	struct via_file *f = filp->private_data;
	void __user *data = (void __user *)uarg;
	unsigned int size = _IOC_SIZE(cmd);
	union via_ioctl_arg arg;
	long ret;

	if (_IOC_TYPE(cmd) != VIA_IOC_MAGIC || size > sizeof(arg))
		return -ENOTTY;
	if (cmd == VIA_IOC_STATS)
		return via_stats(f, data);
	if (current->mm != f->mm)
		return -EPERM;
	memset(&arg, 0, size);
	if (_IOC_DIR(cmd) & _IOC_WRITE && copy_from_user(&arg, data, size))
		return -EFAULT;
	ret = via_free_call(f, cmd, &arg);
	/* Also with EINTR: via_conn_wait.waiter. */
	if (_IOC_DIR(cmd) & _IOC_READ && (ret >= 0 || ret == -EINTR) &&
	    copy_to_user(data, &arg, size))
		return -EFAULT;
	return ret;
}

static ssize_t via_read(struct file *filp, char __user *buf, size_t len,
			loff_t *pos)
{
	struct via_file *f = filp->private_data;

	if (current->mm != f->mm)
		return -EPERM;
	return via_events_read(&f->events, buf, len,
			       filp->f_flags & O_NONBLOCK);
}

static __poll_t via_poll(struct file *filp, poll_table *pt)
{
	struct via_file *f = filp->private_data;

	return via_events_poll(&f->events, filp, pt);
}

const struct file_operations via_fops = {
	.owner		= THIS_MODULE,
	.open		= via_open,
	.release	= via_release,
	.llseek		= via_llseek,
	.read		= via_read,
	.poll		= via_poll,
	.mmap		= via_mmap,
	.unlocked_ioctl	= via_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};
