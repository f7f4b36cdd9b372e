// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The functions of a device for the RDMA core.
 *
 * The device is like one of iWARP, with connections by iw_cm, or has the addressing of
 * RoCE (roce.c); no UD, no atomics.  User space
 * sees the ABI of siw (uapi/rdma/siw-abi.h), so that libsiw, which rdma-core brings with
 * every distribution, drives it: that library goes by the driver's number.
 */

#include <linux/if_arp.h>
#include <linux/utsname.h>
#include <rdma/iw_cm.h>
#include <rdma/uverbs_ioctl.h>
#include "cm.h"
#include "link.h"
#include "roce.h"
#include "verbs.h"

static int vr_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			   struct ib_udata *udata)
{
	/* Newer kernels ask for themselves without one. */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	*attr = (struct ib_device_attr){
		.fw_ver = 1,
		.sys_image_guid = ib->node_guid,
		.max_mr_size = -1,
		.page_size_cap = PAGE_SIZE,
		.vendor_id = 0x626d77,		/* as siw's: libsiw prints it */
		.max_qp = VR_QPS,
		.max_qp_wr = VR_WRS,
		.max_send_sge = SIW_MAX_SGE,
		.max_recv_sge = SIW_MAX_SGE,
		.max_sge_rd = SIW_MAX_SGE,
		.max_cq = VR_CQS,
		.max_cqe = VR_CQ_ENTRIES,
		.max_mr = VR_MRS,
		.max_pd = VR_PDS,
		.max_srq = VR_SRQS,
		.max_srq_wr = VR_SRQ_WRS,
		.max_srq_sge = SIW_MAX_SGE,
		.max_qp_rd_atom = VR_READS,
		.max_qp_init_rd_atom = VR_READS,
		.max_res_rd_atom = VR_QPS * VR_READS,
		.max_fast_reg_page_list_len = VR_FRWR_PAGES,
		.atomic_cap = IB_ATOMIC_NONE,
		.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
		.kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG,
	};
	return 0;
}

static int vr_query_port(struct ib_device *ib, u32 port,
			 struct ib_port_attr *attr)
{
	struct net_device *ndev = vr_dev_netdev(vr_dev_of(ib));
	bool up = ndev && netif_running(ndev) && netif_carrier_ok(ndev);

	attr->max_msg_sz = VR_MESSAGE;
	if (vr_dev_of(ib)->roce) {
		attr->gid_tbl_len = VR_ROCE_GIDS;
		attr->pkey_tbl_len = 1;
		attr->ip_gids = true;
	} else {
		attr->gid_tbl_len = 1;
		attr->port_cap_flags = IB_PORT_CM_SUP;
	}
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = ib_mtu_int_to_enum(ndev ? ndev->mtu : ETH_DATA_LEN);
	attr->active_mtu = attr->max_mtu;
	/* Of the interface where it says so, else as 1 Gb/s. */
	if (!ndev || ib_get_eth_speed(ib, port, &attr->active_speed,
				      &attr->active_width)) {
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}
	dev_put(ndev);
	return 0;
}

static int vr_get_port_immutable(struct ib_device *ib, u32 port,
				 struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

/* As all devices of iWARP: the hardware address. */
static int vr_query_gid(struct ib_device *ib, u32 port, int index,
			union ib_gid *gid)
{
	struct net_device *ndev = vr_dev_netdev(vr_dev_of(ib));

	memset(gid, 0, sizeof(*gid));
	if (ndev && ndev->addr_len <= sizeof(gid->raw))
		memcpy(gid->raw, ndev->dev_addr, ndev->addr_len);
	dev_put(ndev);
	return 0;
}

static struct net_device *vr_get_netdev(struct ib_device *ib, u32 port)
{
	return vr_dev_netdev(vr_dev_of(ib));
}

static void vr_get_dev_fw_str(struct ib_device *ib, char *str)
{
	strscpy(str, VIA_RELEASE, IB_FW_VERSION_NAME_MAX);
}

static int vr_alloc_ucontext(struct ib_ucontext *ctx, struct ib_udata *udata)
{
	struct siw_uresp_alloc_ctx resp = { .dev_id = 1 };

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void vr_dealloc_ucontext(struct ib_ucontext *ctx)
{
}

/*
 * The device goes, and the RDMA core ends what the program has of it, with
 * IB_EVENT_DEVICE_FATAL.  The pages of a ring that is mapped live on with the map.
 */
static void vr_disassociate_ucontext(struct ib_ucontext *ctx)
{
}

static int vr_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			VIA_CREATE_CQ_ARG *arg)
{
	return vr_cq_create(ib, attr, VIA_CREATE_CQ_UDATA(arg));
}

static struct ib_mr *vr_reg_user_mr(struct ib_pd *pd, u64 start, u64 len,
				    u64 virt, int access,
				    VIA_DMAH_ARG struct ib_udata *udata)
{
	if (VIA_DMAH)
		return ERR_PTR(-EOPNOTSUPP);
	return vr_mr_of_user(pd, start, len, virt, access, udata);
}

/* What we have of a counter is found by its number: older kernels have no room. */
struct vr_counter_base {
	struct rdma_counter core;
};

static void __maybe_unused vr_counter_init(struct rdma_counter *counter)
{
}

static int vr_counter_bind_qp(VIA_BIND_ARGS)
{
	return vr_qp_bind(ib, counter);
}

static int vr_counter_unbind_qp(VIA_UNBIND_ARGS)
{
	return vr_qp_unbind(ib);
}

const struct ib_device_ops vr_verbs = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_SIW,
	.uverbs_abi_ver = SIW_ABI_VERSION,

	.alloc_hw_port_stats = vr_alloc_hw_port_stats,
	.alloc_mr = vr_alloc_mr,
	.alloc_pd = vr_alloc_pd,
	.alloc_ucontext = vr_alloc_ucontext,
	.counter_alloc_stats = vr_counter_alloc_stats,
	.counter_bind_qp = vr_counter_bind_qp,
	.counter_dealloc = vr_counter_dealloc,
	.counter_unbind_qp = vr_counter_unbind_qp,
	.counter_update_stats = vr_counter_update_stats,
	.create_cq = vr_create_cq,
	.create_srq = vr_create_srq,
	.dealloc_driver = vr_link_dealloc,
	.dealloc_pd = vr_dealloc_pd,
	.dealloc_ucontext = vr_dealloc_ucontext,
	.dereg_mr = vr_dereg_mr,
	.destroy_cq = vr_destroy_cq,
	.destroy_srq = vr_destroy_srq,
	.disassociate_ucontext = vr_disassociate_ucontext,
	.get_dev_fw_str = vr_get_dev_fw_str,
	.get_dma_mr = vr_get_dma_mr,
	.get_hw_stats = vr_get_hw_stats,
	.get_netdev = vr_get_netdev,
	.map_mr_sg = vr_map_mr_sg,
	.mmap = vr_mmap,
	.mmap_free = vr_mmap_free,
	.modify_srq = vr_modify_srq,
	.poll_cq = vr_poll_cq,
	.post_recv = vr_post_recv,
	.post_send = vr_post_send,
	.post_srq_recv = vr_post_srq_recv,
	.query_device = vr_query_device,
	.query_port = vr_query_port,
	.query_srq = vr_query_srq,
	.reg_user_mr = vr_reg_user_mr,
	.req_notify_cq = vr_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, vr_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, vr_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, vr_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, vr_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, vr_ucontext, ib),
	VIA_COUNTER_MAKE(vr_counter_base, core, vr_counter_init)
};

const struct ib_device_ops vr_iw_ops = {
	.create_qp = vr_create_qp,
	.destroy_qp = vr_destroy_qp,
	.get_port_immutable = vr_get_port_immutable,
	.iw_accept = vr_iw_accept,
	.iw_add_ref = vr_iw_add_ref,
	.iw_connect = vr_iw_connect,
	.iw_create_listen = vr_iw_create_listen,
	.iw_destroy_listen = vr_iw_destroy_listen,
	.iw_get_qp = vr_iw_get_qp,
	.iw_reject = vr_iw_reject,
	.iw_rem_ref = vr_iw_rem_ref,
	.modify_qp = vr_modify_qp,
	.query_gid = vr_query_gid,
	.query_qp = vr_query_qp,
};
