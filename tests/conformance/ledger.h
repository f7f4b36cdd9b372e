/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What this process has made of VIPL objects and not destroyed.
 *
 * Groups run one after another in one process. So that each begins with
 * nothing open, the calls that make and destroy objects go through here, and
 * what a group leaves is destroyed after it.
 */
#ifndef CONFORMANCE_LEDGER_H
#define CONFORMANCE_LEDGER_H

#include <vipl.h>
#include <stdbool.h>
#include <stddef.h>

/* What is there now is to stay. */
void ledger_mark(void);
/*
 * ledger_clean() - destroy what came since the mark
 *
 * False when that is not possible, when it was too much to remember, or when
 * something from before the mark is gone: then only a new process is clean.
 */
bool ledger_clean(void);

VIP_RETURN ledger_open_nic(const VIP_CHAR *name, VIP_NIC_HANDLE *nic);
VIP_RETURN ledger_close_nic(VIP_NIC_HANDLE nic);
VIP_RETURN ledger_create_vi(VIP_NIC_HANDLE nic, VIP_VI_ATTRIBUTES *a,
			    VIP_CQ_HANDLE send_cq, VIP_CQ_HANDLE recv_cq,
			    VIP_VI_HANDLE *vi);
VIP_RETURN ledger_destroy_vi(VIP_VI_HANDLE vi);
VIP_RETURN ledger_create_ptag(VIP_NIC_HANDLE nic, VIP_PROTECTION_HANDLE *ptag);
VIP_RETURN ledger_destroy_ptag(VIP_NIC_HANDLE nic, VIP_PROTECTION_HANDLE ptag);
VIP_RETURN ledger_register(VIP_NIC_HANDLE nic, VIP_PVOID p, VIP_ULONG len,
			   VIP_MEM_ATTRIBUTES *a, VIP_MEM_HANDLE *h);
VIP_RETURN ledger_deregister(VIP_NIC_HANDLE nic, VIP_PVOID p,
			     VIP_MEM_HANDLE h);
VIP_RETURN ledger_create_cq(VIP_NIC_HANDLE nic, VIP_ULONG entries,
			    VIP_CQ_HANDLE *cq);
VIP_RETURN ledger_destroy_cq(VIP_CQ_HANDLE cq);
VIP_RETURN ledger_connect_wait(VIP_NIC_HANDLE nic, VIP_NET_ADDRESS *local,
			       VIP_ULONG timeout, VIP_NET_ADDRESS *remote,
			       VIP_VI_ATTRIBUTES *theirs,
			       VIP_CONN_HANDLE *conn);
VIP_RETURN ledger_accept(VIP_CONN_HANDLE conn, VIP_VI_HANDLE vi);
VIP_RETURN ledger_reject(VIP_CONN_HANDLE conn);
VIP_RETURN ledger_ns_init(VIP_NIC_HANDLE nic, VIP_PVOID info);
VIP_RETURN ledger_ns_shutdown(VIP_NIC_HANDLE nic);

#ifndef LEDGER_ITSELF
#define VipOpenNic	ledger_open_nic
#define VipCloseNic	ledger_close_nic
#define VipCreateVi	ledger_create_vi
#define VipDestroyVi	ledger_destroy_vi
#define VipCreatePtag	ledger_create_ptag
#define VipDestroyPtag	ledger_destroy_ptag
#define VipRegisterMem	ledger_register
#define VipDeregisterMem ledger_deregister
#define VipCreateCQ	ledger_create_cq
#define VipDestroyCQ	ledger_destroy_cq
#define VipConnectWait	ledger_connect_wait
#define VipConnectAccept ledger_accept
#define VipConnectReject ledger_reject
#define VipNSInit	ledger_ns_init
#define VipNSShutdown	ledger_ns_shutdown
#endif

#endif
