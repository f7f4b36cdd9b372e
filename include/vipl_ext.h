/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * vipl_ext.h - what this library offers beyond VIPL 1.0
 *
 * #include <vipl_ext.h> beside <vipl.h>, link with -lvipl. The symbols have a
 * version of their own, VIPL_EXT_1.0. What a NIC can do depends on its
 * provider: VipExtQueryFeatures tells, and a call that is not possible returns
 * VIP_ERROR_NOT_SUPPORTED. vipl_ext(7) is the manual.
 */
#ifndef _VIPL_EXT_H
#define _VIPL_EXT_H

#include <stddef.h>
#include <vipl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VIP_EXT_PRIVATE_MAX	64	/* bytes of private data */

/* What a NIC can do, see VipExtQueryFeatures */
#define VIP_FEATURE_CQ_FD	0x0001u	/* VipExtCQGetFd, VipExtCQArm */
#define VIP_FEATURE_NIC_FD	0x0002u	/* VipExtNicGetFd */
#define VIP_FEATURE_NONBLOCKING	0x0004u	/* VipExtConnectRequest and Accept */
#define VIP_FEATURE_LISTEN	0x0008u	/* VipExtConnectListen */
#define VIP_FEATURE_PRIVATE	0x0010u	/* private data of connections */
#define VIP_FEATURE_MEMLOCK	0x0020u	/* regions count as locked memory */
#define VIP_FEATURE_ONE_SIDED	0x0040u	/* RDMA without a thread of the target */
#define VIP_FEATURE_REMOTE	0x0080u	/* reaches other hosts */

/*
 * The VIP_FEATURE_* bits of a NIC.
 *
 * Returns VIP_SUCCESS or VIP_INVALID_PARAMETER. Does not block.
 */
VIP_RETURN VipExtQueryFeatures(VIP_NIC_HANDLE NicHandle, VIP_UINT64 *Features);

/*
 * A file descriptor for poll, select and epoll, which becomes readable when
 * the CQ has a notice, once for each VipExtCQArm. It is the library's: valid
 * until the CQ is destroyed, not to be read, written or closed. Each call
 * returns the same one.
 *
 * Returns VIP_SUCCESS, VIP_INVALID_PARAMETER or VIP_ERROR_RESOURCE.
 */
VIP_RETURN VipExtCQGetFd(VIP_CQ_HANDLE CQHandle, int *Fd);

/*
 * Take readability back, and ask for it once more. A CQ that has a notice now
 * makes the descriptor readable at once, so nothing is missed between the last
 * VipCQDone and this call.
 *
 * Returns VIP_SUCCESS, VIP_INVALID_PARAMETER or VIP_ERROR_RESOURCE.
 */
VIP_RETURN VipExtCQArm(VIP_CQ_HANDLE CQHandle);

/*
 * A file descriptor that becomes readable when a connection request waits for
 * a discriminator of VipExtConnectListen, or when VipExtConnectDone has a
 * verdict. VipExtNicClear takes readability back; look at all that may have
 * come after it, not before.
 *
 * Returns VIP_SUCCESS, VIP_INVALID_PARAMETER or VIP_ERROR_RESOURCE.
 */
VIP_RETURN VipExtNicGetFd(VIP_NIC_HANDLE NicHandle, int *Fd);
VIP_RETURN VipExtNicClear(VIP_NIC_HANDLE NicHandle);

/*
 * Keep up to Backlog connection requests for a discriminator, whether a
 * VipConnectWait is there or not; 0 ends it and rejects those kept.
 *
 * Returns VIP_SUCCESS, VIP_INVALID_PARAMETER, VIP_ERROR_RESOURCE.
 */
VIP_RETURN VipExtConnectListen(VIP_NIC_HANDLE NicHandle,
			       VIP_NET_ADDRESS *LocalAddr, VIP_ULONG Backlog);

/*
 * VipConnectWait that also returns the client's private data. *PrivateLen is
 * the size of the buffer, then the length of the data; a longer one is cut. A
 * NULL Private takes none. A time-out of 0 looks once, as ever.
 */
VIP_RETURN VipExtConnectWait(VIP_NIC_HANDLE NicHandle,
			     VIP_NET_ADDRESS *LocalAddr, VIP_ULONG Timeout,
			     VIP_NET_ADDRESS *RemoteAddr,
			     VIP_VI_ATTRIBUTES *RemoteViAttribs,
			     VIP_PVOID Private, VIP_ULONG *PrivateLen,
			     VIP_CONN_HANDLE *ConnHandle);

/*
 * Begin a connection request (an acceptance) and return at once; the VI is in
 * the connecting state until VipExtConnectDone returns the verdict, which is
 * one of those of VipConnectRequest (VipConnectAccept). Private data reach the
 * other end's VipExtConnectWait (VipExtConnectDone); Private may be NULL where
 * PrivateLen is 0.
 *
 * Returns VIP_SUCCESS (begun), VIP_INVALID_PARAMETER, VIP_INVALID_STATE,
 * VIP_ERROR_RESOURCE, or what the blocking call refuses at once.
 */
VIP_RETURN VipExtConnectRequest(VIP_VI_HANDLE ViHandle,
				VIP_NET_ADDRESS *LocalAddr,
				VIP_NET_ADDRESS *RemoteAddr, VIP_ULONG Timeout,
				const void *Private, VIP_ULONG PrivateLen);
VIP_RETURN VipExtConnectAccept(VIP_CONN_HANDLE ConnHandle,
			       VIP_VI_HANDLE ViHandle,
			       const void *Private, VIP_ULONG PrivateLen);

/* VipConnectReject with private data, which VipExtConnectDone returns beside
 * VIP_REJECT.
 */
VIP_RETURN VipExtConnectReject(VIP_CONN_HANDLE ConnHandle,
			       const void *Private, VIP_ULONG PrivateLen);

/*
 * The verdict of what was begun on the VI: VIP_NOT_DONE while there is none,
 * then each verdict once. RemoteViAttribs and Private may be NULL.
 */
VIP_RETURN VipExtConnectDone(VIP_VI_HANDLE ViHandle,
			     VIP_VI_ATTRIBUTES *RemoteViAttribs,
			     VIP_PVOID Private, VIP_ULONG *PrivateLen);

/*
 * Addresses in writing, in the form of the NIC's provider. Address holds a
 * host address without discriminator.
 *
 * Return VIP_SUCCESS or VIP_INVALID_PARAMETER (no such address, no room).
 */
VIP_RETURN VipExtParseAddress(VIP_NIC_HANDLE NicHandle, const VIP_CHAR *Text,
			      VIP_NET_ADDRESS *Address);
VIP_RETURN VipExtFormatAddress(VIP_NIC_HANDLE NicHandle,
			       const VIP_NET_ADDRESS *Address, VIP_CHAR *Text,
			       VIP_ULONG TextLen);

/*
 * Text for codes: constants, never NULL, for any value. A status has
 * several words ("receive, length error"): they go into Text.
 */
const VIP_CHAR *VipExtReturnText(VIP_RETURN Code);
const VIP_CHAR *VipExtErrorText(VIP_ERROR_CODE Code);
const VIP_CHAR *VipExtStateText(VIP_VI_STATE State);
const VIP_CHAR *VipExtStatusText(VIP_UINT32 Status, VIP_CHAR *Text,
				 VIP_ULONG TextLen);

/*
 * The reason of this thread's last call that failed: the fault and, after a
 * newline, what to do about it, where there is more to say than the code's own
 * text. "" where there is not, and in a thread whose calls have succeeded;
 * never NULL. A call that succeeds or returns VIP_NOT_DONE leaves it as it is,
 * and so do VipPost*, Vip*Done and Vip*Wait of queues and completion queues,
 * whose codes have no reason behind them.
 *
 * The text is of the calling thread alone and valid until the thread's next
 * call that fails, or its end: copy what is to stay. Does not block, takes no
 * lock and allocates nothing; not for signal handlers. A child of fork() has
 * the text of the thread that called fork().
 *
 * The library also prints most reasons on standard error ("vipl: " before each
 * line), unless VIPL_LOG=none is in the environment.
 */
const VIP_CHAR *VipExtLastError(void);

/*
 * Room for so many descriptors in the send and the receive queue of a VI, at
 * most MaxDescriptorsPerQueue. A queue gets more room at the post that needs
 * it; after this call posts need none, so that they do not fail for it and make
 * no system call. A queue that has as much stays as it is. May block for
 * memory; any thread.
 *
 * Returns VIP_SUCCESS, VIP_INVALID_PARAMETER, or VIP_ERROR_RESOURCE: no memory,
 * or the user's limit. Posted descriptors stay posted, whatever it returns.
 */
VIP_RETURN VipExtReserve(VIP_VI_HANDLE ViHandle, VIP_ULONG Sends,
			 VIP_ULONG Receives);

/*
 * Devices that can be opened on this host, and the providers that offer none.
 * Each is called once for each device: Device is a name for VipOpenNic, or
 * NULL for a provider without one; What says what it is, or why there is none
 * and, after a newline, what to do. Loads every installed provider. A line on standard error
 * where VIPL_NIC, or the "default" of vipl.conf, names none that can be opened.
 */
VIP_RETURN VipExtEnumDevices(void (*Each)(VIP_PVOID Context,
					  const VIP_CHAR *Provider,
					  const VIP_CHAR *Device,
					  const VIP_CHAR *What),
			     VIP_PVOID Context);

#ifdef __cplusplus
}
#endif

#endif /* _VIPL_EXT_H */
