/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every difference between the kernels that are supported, 6.1 to 6.12.
 * Nothing else in the tree looks at the kernel's version.
 */
#ifndef _VIA_COMPAT_H
#define _VIA_COMPAT_H

#include <linux/device.h>
#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void via_vm_flags_set(struct vm_area_struct *vma,
				    vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void via_vm_flags_clear(struct vm_area_struct *vma,
				      vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#else
static inline void via_vm_flags_set(struct vm_area_struct *vma,
				    vm_flags_t flags)
{
	vm_flags_set(vma, flags);
}

static inline void via_vm_flags_clear(struct vm_area_struct *vma,
				      vm_flags_t flags)
{
	vm_flags_clear(vma, flags);
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define via_class_create(name)	class_create(THIS_MODULE, name)
#else
#define via_class_create(name)	class_create(name)
#endif

/* The device argument of class->devnode became const. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define VIA_DEVNODE_DEV		struct device
#else
#define VIA_DEVNODE_DEV		const struct device
#endif

/* pin_user_pages() lost its vmas argument. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define via_pin_user_pages(start, n, flags, pages) \
	pin_user_pages(start, n, flags, pages, NULL)
#else
#define via_pin_user_pages(start, n, flags, pages) \
	pin_user_pages(start, n, flags, pages)
#endif

/* The attributes of a generic netlink dump. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define via_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#else
#define via_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#endif

/* Programs and actions of tc that see what a device is to send, or NULL. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#ifdef CONFIG_NET_XGRESS
#define via_tc_egress(dev)	rcu_access_pointer((dev)->tcx_egress)
#else
#define via_tc_egress(dev)	NULL
#endif
#elif defined(CONFIG_NET_CLS_ACT)
#define via_tc_egress(dev)	rcu_access_pointer((dev)->miniq_egress)
#else
#define via_tc_egress(dev)	NULL
#endif

/*
 * Of 6.9: a variable that the kernel's hardening does not fill with zeros, for
 * large ones on the data path that are filled in before they are read.
 */
#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized		__attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

#endif /* _VIA_COMPAT_H */
