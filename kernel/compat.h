/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every difference between the kernels that are supported, 6.1 to 7.3.
 * Nothing else in the tree looks at the kernel's version.  The tree uses the
 * newest form of an interface; this file gives it to older kernels, newest
 * difference first.
 */
#ifndef _VIA_COMPAT_H
#define _VIA_COMPAT_H

#include <linux/device.h>
#include <linux/mm.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error mvia needs Linux 6.1 or newer
#endif

/* verbs/: memory of a program by its address, among other ways. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)
#define ib_umem_get_va		ib_umem_get
#endif

/* The address that a socket is bound to, as the kernel calls it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define sockaddr_unsized	sockaddr
#endif

/*
 * Since 7.1 (and some of its updates) a tunnel's socket is a struct sock; the
 * functions' types say which.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#include <net/udp_tunnel.h>

#define VIA_TUNNEL_SOCK(sk)						\
	__builtin_choose_expr(__builtin_types_compatible_p(		\
		typeof(udp_tunnel_sock_release), void(struct sock *)),	\
		(sk), (sk)->sk_socket)
#define setup_udp_tunnel_sock(net, sk, cfg)				\
	setup_udp_tunnel_sock(net, VIA_TUNNEL_SOCK(sk), cfg)
#define udp_tunnel_sock_release(sk)					\
	udp_tunnel_sock_release(VIA_TUNNEL_SOCK(sk))
#endif

/* Until 7.1 IPv6 could be a module, which was called through a table. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#include <net/ipv6.h>
#include <net/ipv6_stubs.h>

#define ip6_dst_lookup_flow(net, sk, fl, dst)				\
	(ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl, dst))
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define blake2s_ctx		blake2s_state
#endif

/* verbs/: reg_user_mr() with an object that says how to do DMA. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define VIA_DMAH_ARG
#define VIA_DMAH		NULL
#else
#define VIA_DMAH_ARG		struct ib_dmah *dmah,
#define VIA_DMAH		dmah
#endif

/* Some updates of older kernels have both names; the queues are the same. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_percpu_wq	system_wq
#define system_dfl_wq		system_unbound_wq
#endif

/* verbs/: a counter of the RDMA core is of a port. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define VIA_BIND_ARGS		struct rdma_counter *counter, struct ib_qp *ib
#define VIA_UNBIND_ARGS		struct ib_qp *ib
#else
#define VIA_BIND_ARGS		struct rdma_counter *counter, struct ib_qp *ib,	\
				u32 port
#define VIA_UNBIND_ARGS		struct ib_qp *ib, u32 port
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_container_of(var, timer, member)				\
	container_of(timer, typeof(*(var)), member)
#endif

/* verbs/: a counter of the RDMA core is made with what the driver has of it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define VIA_COUNTER_MAKE(type, member, init)
#else
#define VIA_COUNTER_MAKE(type, member, init)				\
	INIT_RDMA_OBJ_SIZE(rdma_counter, type, member),			\
	.counter_init = (init),
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define hrtimer_setup(timer, f, clock, mode) do {			\
	struct hrtimer *via_timer_ = (timer);				\
									\
	hrtimer_init(via_timer_, clock, mode);				\
	via_timer_->function = (f);					\
} while (0)
#endif

/* verbs/: create_cq() with all attributes of the call. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define VIA_CREATE_CQ_ARG	struct ib_udata
#define VIA_CREATE_CQ_UDATA(a)	(a)
#else
#define VIA_CREATE_CQ_ARG	struct uverbs_attr_bundle
#define VIA_CREATE_CQ_UDATA(a)	((a) ? &(a)->driver_udata : NULL)
#endif

/* The attributes of a generic netlink dump. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define genl_info_dump(cb)	genl_dumpit_info(cb)
#endif

/* pin_user_pages() lost its vmas argument. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define pin_user_pages(start, n, flags, pages)				\
	pin_user_pages(start, n, flags, pages, NULL)
#endif

/* class_create() lost its owner argument. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#undef class_create
#define class_create(name) ({						\
	static struct lock_class_key via_key_;				\
									\
	__class_create(THIS_MODULE, name, &via_key_);			\
})
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define vm_flags_set(vma, flags)	((vma)->vm_flags |= (flags))
#define vm_flags_clear(vma, flags)	((vma)->vm_flags &= ~(flags))
#endif

/* The device argument of class->devnode became const. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define VIA_DEVNODE_DEV		struct device
#else
#define VIA_DEVNODE_DEV		const struct device
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define timer_delete_sync(timer)	del_timer_sync(timer)
#endif

/* Segmentation in software has a header of its own. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
#define VIA_GSO_H
#endif

/* struct netdev_rx_queue has a header of its own. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define VIA_RX_QUEUE_H
#endif

/*
 * Programs and actions of tc that see what a device is to send, or has received,
 * or NULL.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0) && \
	defined(CONFIG_NET_XGRESS)
#define via_tc_egress(dev)	rcu_access_pointer((dev)->tcx_egress)
#define via_tc_ingress(dev)	rcu_access_pointer((dev)->tcx_ingress)
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0) && \
	defined(CONFIG_NET_CLS_ACT)
#define via_tc_egress(dev)	rcu_access_pointer((dev)->miniq_egress)
#define via_tc_ingress(dev)	rcu_access_pointer((dev)->miniq_ingress)
#else
#define via_tc_egress(dev)	NULL
#define via_tc_ingress(dev)	NULL
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
