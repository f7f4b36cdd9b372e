// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Calls that the provider does not serve: -FI_ENOSYS.  libfabric and ofi_rxm
 * make some of them without looking whether there is one.
 */
#include "fab.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int via_no_bind(struct fid *fid, struct fid *b, uint64_t flags)
{
	return -FI_ENOSYS;
}

int via_no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int via_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		    void **ops, void *context)
{
	return -FI_ENOSYS;
}

int via_no_tostr(const struct fid *fid, char *buf, size_t len)
{
	return -FI_ENOSYS;
}

int via_no_ops_set(struct fid *fid, const char *name, uint64_t flags,
		   void *ops, void *context)
{
	return -FI_ENOSYS;
}

ssize_t via_no_cancel(fid_t fid, void *context)
{
	return -FI_ENOSYS;
}

int via_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		  struct fid_ep **ep, void *context)
{
	return -FI_ENOSYS;
}

int via_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		  struct fid_ep **ep, void *context)
{
	return -FI_ENOSYS;
}

ssize_t via_no_size_left(struct fid_ep *ep)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_recv(struct fid_ep *ep, void *buf, size_t len, void
		*desc, fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void
		*context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_recvv(struct fid_ep *ep, const struct iovec *iov, void
		**desc, size_t count, fi_addr_t src_addr, uint64_t tag,
		uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged
		*msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_send(struct fid_ep *ep, const void *buf, size_t len,
		void *desc, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void
		**desc, size_t count, fi_addr_t dest_addr, uint64_t tag, void
		*context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged
		*msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *buf, size_t len,
		fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *buf, size_t len,
		void *desc, uint64_t data, fi_addr_t dest_addr, uint64_t tag,
		void *context)
{
	return -FI_ENOSYS;
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *buf, size_t
		len, uint64_t data, fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

struct fi_ops_tagged via_no_tagged = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = tagged_recv,
	.recvv = tagged_recvv,
	.recvmsg = tagged_recvmsg,
	.send = tagged_send,
	.sendv = tagged_sendv,
	.sendmsg = tagged_sendmsg,
	.inject = tagged_inject,
	.senddata = tagged_senddata,
	.injectdata = tagged_injectdata,
};

static ssize_t atomic_write(struct fid_ep *ep, const void *buf, size_t count,
		void *desc, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
		enum fi_datatype datatype, enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void
		**desc, size_t count, fi_addr_t dest_addr, uint64_t addr,
		uint64_t key, enum fi_datatype datatype, enum fi_op op, void
		*context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic
		*msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_inject(struct fid_ep *ep, const void *buf, size_t count,
		fi_addr_t dest_addr, uint64_t addr, uint64_t key, enum
		fi_datatype datatype, enum fi_op op)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_readwrite(struct fid_ep *ep, const void *buf, size_t
		count, void *desc, void *result, void *result_desc, fi_addr_t
		dest_addr, uint64_t addr, uint64_t key, enum fi_datatype
		datatype, enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov,
		void **desc, size_t count, struct fi_ioc *resultv, void
		**result_desc, size_t result_count, fi_addr_t dest_addr,
		uint64_t addr, uint64_t key, enum fi_datatype datatype, enum
		fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_readwritemsg(struct fid_ep *ep, const struct
		fi_msg_atomic *msg, struct fi_ioc *resultv, void
		**result_desc, size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_compwrite(struct fid_ep *ep, const void *buf, size_t
		count, void *desc, const void *compare, void *compare_desc,
		void *result, void *result_desc, fi_addr_t dest_addr, uint64_t
		addr, uint64_t key, enum fi_datatype datatype, enum fi_op op,
		void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov,
		void **desc, size_t count, const struct fi_ioc *comparev, void
		**compare_desc, size_t compare_count, struct fi_ioc *resultv,
		void **result_desc, size_t result_count, fi_addr_t dest_addr,
		uint64_t addr, uint64_t key, enum fi_datatype datatype, enum
		fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t atomic_compwritemsg(struct fid_ep *ep, const struct
		fi_msg_atomic *msg, const struct fi_ioc *comparev, void
		**compare_desc, size_t compare_count, struct fi_ioc *resultv,
		void **result_desc, size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static int atomic_writevalid(struct fid_ep *ep, enum fi_datatype datatype,
		enum fi_op op, size_t *count)
{
	return -FI_ENOSYS;
}

static int atomic_readwritevalid(struct fid_ep *ep, enum fi_datatype datatype,
		enum fi_op op, size_t *count)
{
	return -FI_ENOSYS;
}

static int atomic_compwritevalid(struct fid_ep *ep, enum fi_datatype datatype,
		enum fi_op op, size_t *count)
{
	return -FI_ENOSYS;
}

struct fi_ops_atomic via_no_atomic = {
	.size = sizeof(struct fi_ops_atomic),
	.write = atomic_write,
	.writev = atomic_writev,
	.writemsg = atomic_writemsg,
	.inject = atomic_inject,
	.readwrite = atomic_readwrite,
	.readwritev = atomic_readwritev,
	.readwritemsg = atomic_readwritemsg,
	.compwrite = atomic_compwrite,
	.compwritev = atomic_compwritev,
	.compwritemsg = atomic_compwritemsg,
	.writevalid = atomic_writevalid,
	.readwritevalid = atomic_readwritevalid,
	.compwritevalid = atomic_compwritevalid,
};

static ssize_t collective_barrier(struct fid_ep *ep, fi_addr_t coll_addr, void
		*context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_broadcast(struct fid_ep *ep, void *buf, size_t
		count, void *desc, fi_addr_t coll_addr, fi_addr_t root_addr,
		enum fi_datatype datatype, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_alltoall(struct fid_ep *ep, const void *buf, size_t
		count, void *desc, void *result, void *result_desc, fi_addr_t
		coll_addr, enum fi_datatype datatype, uint64_t flags, void
		*context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_allreduce(struct fid_ep *ep, const void *buf, size_t
		count, void *desc, void *result, void *result_desc, fi_addr_t
		coll_addr, enum fi_datatype datatype, enum fi_op op, uint64_t
		flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_allgather(struct fid_ep *ep, const void *buf, size_t
		count, void *desc, void *result, void *result_desc, fi_addr_t
		coll_addr, enum fi_datatype datatype, uint64_t flags, void
		*context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_reduce_scatter(struct fid_ep *ep, const void *buf,
		size_t count, void *desc, void *result, void *result_desc,
		fi_addr_t coll_addr, enum fi_datatype datatype, enum fi_op op,
		uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_reduce(struct fid_ep *ep, const void *buf, size_t
		count, void *desc, void *result, void *result_desc, fi_addr_t
		coll_addr, fi_addr_t root_addr, enum fi_datatype datatype,
		enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_scatter(struct fid_ep *ep, const void *buf, size_t
		count, void *desc, void *result, void *result_desc, fi_addr_t
		coll_addr, fi_addr_t root_addr, enum fi_datatype datatype,
		uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_gather(struct fid_ep *ep, const void *buf, size_t
		count, void *desc, void *result, void *result_desc, fi_addr_t
		coll_addr, fi_addr_t root_addr, enum fi_datatype datatype,
		uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t collective_msg(struct fid_ep *ep, const struct
		fi_msg_collective *msg, struct fi_ioc *resultv, void
		**result_desc, size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t collective_barrier2(struct fid_ep *ep, fi_addr_t coll_addr,
		uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_collective via_no_collective = {
	.size = sizeof(struct fi_ops_collective),
	.barrier = collective_barrier,
	.broadcast = collective_broadcast,
	.alltoall = collective_alltoall,
	.allreduce = collective_allreduce,
	.allgather = collective_allgather,
	.reduce_scatter = collective_reduce_scatter,
	.reduce = collective_reduce,
	.scatter = collective_scatter,
	.gather = collective_gather,
	.msg = collective_msg,
	.barrier2 = collective_barrier2,
};

static int cm_setname(fid_t fid, void *addr, size_t addrlen)
{
	return -FI_ENOSYS;
}

static int cm_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return -FI_ENOSYS;
}

static int cm_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return -FI_ENOSYS;
}

static int cm_connect(struct fid_ep *ep, const void *addr, const void *param,
		size_t paramlen)
{
	return -FI_ENOSYS;
}

static int cm_listen(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

static int cm_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return -FI_ENOSYS;
}

static int cm_reject(struct fid_pep *pep, fid_t handle, const void *param,
		size_t paramlen)
{
	return -FI_ENOSYS;
}

static int cm_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return -FI_ENOSYS;
}

static int cm_join(struct fid_ep *ep, const void *addr, uint64_t flags, struct
		fid_mc **mc, void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_cm via_no_cm = {
	.size = sizeof(struct fi_ops_cm),
	.setname = cm_setname,
	.getname = cm_getname,
	.getpeer = cm_getpeer,
	.connect = cm_connect,
	.listen = cm_listen,
	.accept = cm_accept,
	.reject = cm_reject,
	.shutdown = cm_shutdown,
	.join = cm_join,
};
