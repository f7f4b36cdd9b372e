/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * vipl.h - the Virtual Interface Provider Library
 *
 * The user interface of the Virtual Interface Architecture, versions 0.95 and
 * 1.0: #include <vipl.h>, link with -lvipl -lpthread. vipl(7) is the manual.
 *
 * Both spellings of a descriptor that programs use are members of one
 * structure of 64 bytes: CS/DS[] (0.95) and Control/Data[] (1.0). VIPL095 may
 * be defined and changes nothing. The header compiles alone, as C or C++.
 *
 * What the architecture leaves open, and what this library does:
 *
 * - All time-outs are milliseconds. 0xFFFFFFFF and ~0UL both mean "no limit"
 *   (VIP_INFINITE is all ones of VIP_ULONG). A time-out of 0 polls once, except
 *   that the connect requests, which cannot poll, refuse it with
 *   VIP_INVALID_PARAMETER. Signals never end a wait.
 * - Every call may be made from any thread, on one VI and one CQ too. Handles
 *   belong to the process that made them: in a child made by fork() every call
 *   returns VIP_INVALID_PARAMETER.
 * - A region registered with NULL attributes has the default protection tag of
 *   its NIC handle and no RDMA rights. A NULL Ptag inside non-NULL attributes
 *   means the default tag as well. VipSetMemAttributes takes both in the same
 *   way; VipQueryMem shows the default tag as NULL. A VI created with a NULL Ptag may use every
 *   region of its NIC handle, whatever the region's tag.
 * - VipDestroyVi refuses with VIP_INVALID_STATE a VI that is not Idle, and with
 *   VIP_ERROR_RESOURCE one that still has descriptors posted and not completed.
 *   Completed descriptors that were not collected, such as those that
 *   VipDisconnect flushed, it drops by itself: programs destroy a VI after a
 *   disconnect without draining it. VipCloseNic ends everything that the handle
 *   still owns and always succeeds on a live handle.
 * - VipSetViAttributes looks at the state first: a VI that is not Idle is
 *   VIP_INVALID_STATE whatever the attributes. A call that fails has changed
 *   nothing, and so it is with VipSetMemAttributes, which looks for the region
 *   first. What a region may be used for is decided when bytes move: once
 *   VipSetMemAttributes has returned, no byte moves by a right withdrawn.
 * - Several VipConnectWait calls may wait on one discriminator: requests are
 *   handed to them first come, first served.
 * - A zero-length discriminator matches only a zero-length discriminator.
 * - VipPostSend on an Idle or connecting VI returns VIP_INVALID_STATE; in the
 *   Error state it succeeds and the descriptor completes flushed.
 * - MaxTransferSize binds what is sent, RDMA included, and so what arrives. A
 *   receive may be posted with more: its Length is the sum of its segments and
 *   nothing else.
 * - Status and Length of a posted descriptor are defined once VipSendDone,
 *   VipRecvDone or their Wait or Notify forms have returned it, not before.
 *   The library never writes beyond 32 + 16 * SegCount bytes of a descriptor.
 * - OpCode of an error descriptor is the operation of its Status >> 16.
 * - A 32-bit program fills addresses of descriptors through VIP_PVOID64.Address
 *   and leaves the upper half as it finds it: the library ignores that half, in
 *   data and in address segments. So it names memory of a 64-bit peer by the
 *   lower half of the address. On shm and ofi the peer finds the upper half by
 *   the handle. On NICs of the kernel agent a 32-bit program reaches what its
 *   peer has below 4 GiB, and VIP_STATUS_RDMA_PROT_ERROR tells of the rest.
 * - Asynchronous errors of these NICs: POST_DESC (with the descriptor),
 *   CONN_LOST, VI_OVERRUN (with the descriptor), RECVQ_EMPTY (Unreliable only:
 *   a reliable connection breaks instead), RDMAW_PROT and RDMAR_PROT at the
 *   target of a refused RDMA, CATASTROPHIC when the NIC is gone. The others
 *   cannot happen: see VipErrorCallback(3). CONN_LOST is also the peer's orderly
 *   end; only the default handler, which logs a line, is silent then.
 * - Vendor extensions of other providers (the ACK and DFC services, user data
 *   and CQ tag calls, deferred sends) are not defined here, and a reliability
 *   level with an unknown bit is VIP_INVALID_RELIABILITY_LEVEL.
 */
#ifndef _VIPL_H
#define _VIPL_H
#ifndef _VIPL_
#define _VIPL_
#endif

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define VIP_EXTENSION_ __extension__
#else
#define VIP_EXTENSION_
#endif

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif

/* Basic types */

typedef void			*VIP_PVOID;
typedef int			VIP_BOOLEAN;
typedef char			VIP_CHAR;
typedef unsigned char		VIP_UCHAR;
typedef short			VIP_SHORT;
typedef unsigned short		VIP_USHORT;
typedef long			VIP_LONG;
typedef unsigned long		VIP_ULONG;
typedef uint8_t			VIP_UINT8;
typedef uint16_t		VIP_UINT16;
typedef uint32_t		VIP_UINT32;
typedef uint64_t		VIP_UINT64;
typedef void			*VIP_EVENT_HANDLE;

typedef VIP_PVOID		VIP_QOS;
typedef VIP_PVOID		VIP_NIC_HANDLE;
typedef VIP_PVOID		VIP_VI_HANDLE;
typedef VIP_PVOID		VIP_CQ_HANDLE;
typedef VIP_PVOID		VIP_PROTECTION_HANDLE;
typedef VIP_PVOID		VIP_CONN_HANDLE;
typedef VIP_UINT32		VIP_MEM_HANDLE;		/* 0 is never valid */

#define VIP_TRUE		1
#define VIP_FALSE		0

#ifndef VIP_KERNEL
#define VIP_INFINITE		(~(VIP_ULONG)0)
#endif

#define VIP_DESCRIPTOR_ALIGNMENT	64

/* Reliability: one bit for a VI, a mask for a NIC */

typedef VIP_USHORT		VIP_RELIABILITY_LEVEL;

#define VIP_SERVICE_UNRELIABLE		0x01
#define VIP_SERVICE_RELIABLE_DELIVERY	0x02
#define VIP_SERVICE_RELIABLE_RECEPTION	0x04

/*
 * Codes and states. Vendors had them as enumerators or as macros, and programs
 * ask with #ifndef which of them there are: here each enumerator is a macro of
 * its own name as well.
 */
typedef enum {
	VIP_SUCCESS			= 0,
	VIP_NOT_DONE			= 1,
	VIP_INVALID_PARAMETER		= 2,
	VIP_ERROR_RESOURCE		= 3,
	VIP_TIMEOUT			= 4,
	VIP_REJECT			= 5,
	VIP_INVALID_RELIABILITY_LEVEL	= 6,
	VIP_INVALID_MTU			= 7,
	VIP_INVALID_QOS			= 8,
	VIP_INVALID_PTAG		= 9,
	VIP_INVALID_RDMAREAD		= 10,
	VIP_DESCRIPTOR_ERROR		= 11,
	VIP_INVALID_STATE		= 12,
	VIP_ERROR_NAMESERVICE		= 13,
	VIP_NO_MATCH			= 14,
	VIP_NOT_REACHABLE		= 15,
	VIP_ERROR_NOT_SUPPORTED		= 16,
	VIP_ERROR			= VIP_DESCRIPTOR_ERROR
} VIP_RETURN;

#define VIP_SUCCESS VIP_SUCCESS
#define VIP_NOT_DONE VIP_NOT_DONE
#define VIP_INVALID_PARAMETER VIP_INVALID_PARAMETER
#define VIP_ERROR_RESOURCE VIP_ERROR_RESOURCE
#define VIP_TIMEOUT VIP_TIMEOUT
#define VIP_REJECT VIP_REJECT
#define VIP_INVALID_RELIABILITY_LEVEL VIP_INVALID_RELIABILITY_LEVEL
#define VIP_INVALID_MTU VIP_INVALID_MTU
#define VIP_INVALID_QOS VIP_INVALID_QOS
#define VIP_INVALID_PTAG VIP_INVALID_PTAG
#define VIP_INVALID_RDMAREAD VIP_INVALID_RDMAREAD
#define VIP_DESCRIPTOR_ERROR VIP_DESCRIPTOR_ERROR
#define VIP_INVALID_STATE VIP_INVALID_STATE
#define VIP_ERROR_NAMESERVICE VIP_ERROR_NAMESERVICE
#define VIP_NO_MATCH VIP_NO_MATCH
#define VIP_NOT_REACHABLE VIP_NOT_REACHABLE
#define VIP_ERROR_NOT_SUPPORTED VIP_ERROR_NOT_SUPPORTED
#define VIP_ERROR VIP_ERROR

typedef enum {
	VIP_STATE_IDLE			= 0,
	VIP_STATE_CONNECTED		= 1,
	VIP_STATE_CONNECT_PENDING	= 2,
	VIP_STATE_ERROR			= 3
} VIP_VI_STATE;

#define VIP_STATE_IDLE VIP_STATE_IDLE
#define VIP_STATE_CONNECTED VIP_STATE_CONNECTED
#define VIP_STATE_CONNECT_PENDING VIP_STATE_CONNECT_PENDING
#define VIP_STATE_ERROR VIP_STATE_ERROR

typedef enum {
	VIP_RESOURCE_NIC		= 0,
	VIP_RESOURCE_VI			= 1,
	VIP_RESOURCE_CQ			= 2,
	VIP_RESOURCE_DESCRIPTOR		= 3
} VIP_RESOURCE_CODE;

#define VIP_RESOURCE_NIC VIP_RESOURCE_NIC
#define VIP_RESOURCE_VI VIP_RESOURCE_VI
#define VIP_RESOURCE_CQ VIP_RESOURCE_CQ
#define VIP_RESOURCE_DESCRIPTOR VIP_RESOURCE_DESCRIPTOR

/* Asynchronous errors, see VipErrorCallback */
typedef enum {
	VIP_ERROR_POST_DESC		= 0,
	VIP_ERROR_CONN_LOST		= 1,
	VIP_ERROR_RECVQ_EMPTY		= 2,
	VIP_ERROR_VI_OVERRUN		= 3,
	VIP_ERROR_RDMAW_PROT		= 4,
	VIP_ERROR_RDMAW_DATA		= 5,
	VIP_ERROR_RDMAW_ABORT		= 6,
	VIP_ERROR_RDMAR_PROT		= 7,
	VIP_ERROR_COMP_PROT		= 8,
	VIP_ERROR_RDMA_TRANSPORT	= 9,
	VIP_ERROR_CATASTROPHIC		= 10
} VIP_ERROR_CODE;

#define VIP_ERROR_POST_DESC VIP_ERROR_POST_DESC
#define VIP_ERROR_CONN_LOST VIP_ERROR_CONN_LOST
#define VIP_ERROR_RECVQ_EMPTY VIP_ERROR_RECVQ_EMPTY
#define VIP_ERROR_VI_OVERRUN VIP_ERROR_VI_OVERRUN
#define VIP_ERROR_RDMAW_PROT VIP_ERROR_RDMAW_PROT
#define VIP_ERROR_RDMAW_DATA VIP_ERROR_RDMAW_DATA
#define VIP_ERROR_RDMAW_ABORT VIP_ERROR_RDMAW_ABORT
#define VIP_ERROR_RDMAR_PROT VIP_ERROR_RDMAR_PROT
#define VIP_ERROR_COMP_PROT VIP_ERROR_COMP_PROT
#define VIP_ERROR_RDMA_TRANSPORT VIP_ERROR_RDMA_TRANSPORT
#define VIP_ERROR_CATASTROPHIC VIP_ERROR_CATASTROPHIC

#define VIP_SMI_AUTODISCOVERY		((VIP_ULONG)1)

/* Descriptors */

/* Control: what the poster asks for */
#define VIP_CONTROL_OP_SENDRECV		0x0000
#define VIP_CONTROL_OP_RDMAWRITE	0x0001
#define VIP_CONTROL_OP_RDMAREAD		0x0002
#define VIP_CONTROL_OP_RESERVED		0x0003
#define VIP_CONTROL_OP_MASK		0x0003
#define VIP_CONTROL_IMMEDIATE		0x0004
#define VIP_CONTROL_QFENCE		0x0008
#define VIP_CONTROL_RESERVED		0xFFF0

/* Status: what became of it */
#define VIP_STATUS_DONE			0x00000001
#define VIP_STATUS_FORMAT_ERROR		0x00000002
#define VIP_STATUS_PROTECTION_ERROR	0x00000004
#define VIP_STATUS_LENGTH_ERROR		0x00000008
#define VIP_STATUS_PARTIAL_ERROR	0x00000010
#define VIP_STATUS_DESC_FLUSHED_ERROR	0x00000020
#define VIP_STATUS_TRANSPORT_ERROR	0x00000040
#define VIP_STATUS_RDMA_PROT_ERROR	0x00000080
#define VIP_STATUS_REMOTE_DESC_ERROR	0x00000100
#define VIP_STATUS_ERROR_MASK		0x000001FE
#define VIP_STATUS_OP_SEND		0x00000000
#define VIP_STATUS_OP_RECEIVE		0x00010000
#define VIP_STATUS_OP_RDMA_WRITE	0x00020000
#define VIP_STATUS_OP_REMOTE_RDMA_WRITE	0x00030000
#define VIP_STATUS_OP_RDMA_READ		0x00040000
#define VIP_STATUS_OP_MASK		0x00070000
#define VIP_STATUS_IMMEDIATE		0x00080000
#define VIP_STATUS_RESERVED		0xFFF0FE00

struct _VIP_DESCRIPTOR;

/* 8 bytes everywhere; a 32-bit program's upper half is ignored. */
typedef union _VIP_PVOID64 {
	VIP_UINT64		AddressBits;
	VIP_PVOID		Address;
	struct _VIP_DESCRIPTOR	*Descriptor;
} VIP_PVOID64;

typedef struct _VIP_CONTROL_SEGMENT {
	VIP_PVOID64	Next;			/* the library's */
	VIP_MEM_HANDLE	NextHandle;		/* the library's */
	VIP_UINT16	SegCount;		/* segments that follow */
	VIP_UINT16	Control;
	VIP_UINT32	Reserved;		/* zero */
	VIP_UINT32	ImmediateData;
	VIP_UINT32	Length;			/* sum of the data segments */
	VIP_UINT32	Status;
} VIP_CONTROL_SEGMENT;

typedef struct _VIP_ADDRESS_SEGMENT {
	VIP_PVOID64	Data;			/* in the peer's memory */
	VIP_MEM_HANDLE	Handle;			/* the peer's handle */
	VIP_UINT32	Reserved;		/* zero */
} VIP_ADDRESS_SEGMENT;

typedef struct _VIP_DATA_SEGMENT {
	VIP_PVOID64	Data;
	VIP_MEM_HANDLE	Handle;
	VIP_UINT32	Length;
} VIP_DATA_SEGMENT;

typedef union _VIP_DESCRIPTOR_SEGMENT {
	VIP_ADDRESS_SEGMENT	Remote;
	VIP_DATA_SEGMENT	Local;
} VIP_DESCRIPTOR_SEGMENT;

/* May be longer than two segments: the last member is open-ended. */
VIP_EXTENSION_ typedef struct _VIP_DESCRIPTOR {
	VIP_EXTENSION_ union {
		VIP_CONTROL_SEGMENT	CS;
		VIP_CONTROL_SEGMENT	Control;
	};
	VIP_EXTENSION_ union {
		VIP_DESCRIPTOR_SEGMENT	DS[2];
		VIP_DATA_SEGMENT	Data[2];
	};
} VIP_DESCRIPTOR;

/* Addresses and attributes */

/* The discriminator follows the host address at once, unaligned. */
typedef struct _VIP_NET_ADDRESS {
	VIP_UINT16	HostAddressLen;
	VIP_UINT16	DiscriminatorLen;
	VIP_UINT8	HostAddress[1];
} VIP_NET_ADDRESS;

typedef struct _VIP_NIC_ATTRIBUTES {
	VIP_CHAR	Name[64];
	VIP_ULONG	HardwareVersion;
	VIP_ULONG	ProviderVersion;
	VIP_UINT16	NicAddressLen;
	const VIP_UINT8	*LocalNicAddress;	/* valid while the NIC is open */
	VIP_BOOLEAN	ThreadSafe;
	VIP_UINT16	MaxDiscriminatorLen;
	VIP_ULONG	MaxRegisterBytes;
	VIP_ULONG	MaxRegisterRegions;
	VIP_ULONG	MaxRegisterBlockBytes;
	VIP_ULONG	MaxVI;
	VIP_ULONG	MaxDescriptorsPerQueue;
	VIP_ULONG	MaxSegmentsPerDesc;
	VIP_ULONG	MaxCQ;
	VIP_ULONG	MaxCQEntries;
	VIP_ULONG	MaxTransferSize;
	VIP_ULONG	NativeMTU;
	VIP_ULONG	MaxPtags;
	VIP_RELIABILITY_LEVEL	ReliabilityLevelSupport;
	VIP_RELIABILITY_LEVEL	RDMAReadSupport;
} VIP_NIC_ATTRIBUTES;

typedef struct _VIP_VI_ATTRIBUTES {
	VIP_RELIABILITY_LEVEL	ReliabilityLevel;
	VIP_ULONG		MaxTransferSize;
	VIP_QOS			QoS;
	VIP_PROTECTION_HANDLE	Ptag;
	VIP_BOOLEAN		EnableRdmaWrite;
	VIP_BOOLEAN		EnableRdmaRead;
} VIP_VI_ATTRIBUTES;

typedef struct _VIP_MEM_ATTRIBUTES {
	VIP_PROTECTION_HANDLE	Ptag;
	VIP_BOOLEAN		EnableRdmaWrite;
	VIP_BOOLEAN		EnableRdmaRead;
} VIP_MEM_ATTRIBUTES;

/* Fields that do not apply are NULL. */
typedef struct _VIP_ERROR_DESCRIPTOR {
	VIP_NIC_HANDLE		NicHandle;
	VIP_VI_HANDLE		ViHandle;
	VIP_CQ_HANDLE		CQHandle;
	VIP_DESCRIPTOR		*DescriptorPtr;
	VIP_ULONG		OpCode;
	VIP_RESOURCE_CODE	ResourceCode;
	VIP_ERROR_CODE		ErrorCode;
} VIP_ERROR_DESCRIPTOR;

typedef struct _VIP_AUTODISCOVERY_LIST {
	VIP_ULONG	NumberOfHops;
	VIP_NET_ADDRESS	**ADAddrArray;
	VIP_ULONG	NumAdAddrs;
} VIP_AUTODISCOVERY_LIST;

/* Handlers run in a thread of the library, with none of its locks held. */
typedef void (*VIP_ERROR_HANDLER)(VIP_PVOID Context,
				  VIP_ERROR_DESCRIPTOR *ErrorDesc);
typedef void (*VIP_VI_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle,
				VIP_VI_HANDLE ViHandle,
				VIP_DESCRIPTOR *Descriptor);
typedef void (*VIP_CQ_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle,
				VIP_VI_HANDLE ViHandle, VIP_BOOLEAN RecvQueue);

/* NIC */

VIP_RETURN VipOpenNic(const VIP_CHAR *DeviceName, VIP_NIC_HANDLE *NicHandle);
VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle);
VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle,
		       VIP_NIC_ATTRIBUTES *NicAttribs);

/* Virtual interfaces */

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES *ViAttribs,
		       VIP_CQ_HANDLE SendCQHandle, VIP_CQ_HANDLE RecvCQHandle,
		       VIP_VI_HANDLE *ViHandle);
VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle);
VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE *State,
		      VIP_VI_ATTRIBUTES *ViAttribs, VIP_BOOLEAN *SendQEmpty,
		      VIP_BOOLEAN *RecvQEmpty);
VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *ViAttribs);

/* Protection and memory */

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle,
			 VIP_PROTECTION_HANDLE *Ptag);
VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle,
			  VIP_PROTECTION_HANDLE Ptag);
VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			  VIP_ULONG Length, VIP_MEM_ATTRIBUTES *MemAttribs,
			  VIP_MEM_HANDLE *MemHandle);
VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			    VIP_MEM_HANDLE MemHandle);
VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
		       VIP_MEM_HANDLE MemHandle,
		       VIP_MEM_ATTRIBUTES *MemAttribs);
VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			       VIP_MEM_HANDLE MemHandle,
			       VIP_MEM_ATTRIBUTES *MemAttribs);

/* Data transfer and completion */

VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR *Descriptor,
		       VIP_MEM_HANDLE MemHandle);
VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR **DescriptorPtr);
VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout,
		       VIP_DESCRIPTOR **DescriptorPtr);
VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			 VIP_VI_CALLBACK Handler);
VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR *Descriptor,
		       VIP_MEM_HANDLE MemHandle);
VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR **DescriptorPtr);
VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout,
		       VIP_DESCRIPTOR **DescriptorPtr);
VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			 VIP_VI_CALLBACK Handler);

/* Completion queues */

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount,
		       VIP_CQ_HANDLE *CQHandle);
VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle);
VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount);
VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE *ViHandle,
		     VIP_BOOLEAN *RecvQueue);
VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout,
		     VIP_VI_HANDLE *ViHandle, VIP_BOOLEAN *RecvQueue);
VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context,
		       VIP_CQ_CALLBACK Handler);

/* Connections, client and server */

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS *LocalAddr,
			  VIP_ULONG Timeout, VIP_NET_ADDRESS *RemoteAddr,
			  VIP_VI_ATTRIBUTES *RemoteViAttribs,
			  VIP_CONN_HANDLE *ConnHandle);
VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle,
			    VIP_VI_HANDLE ViHandle);
VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle);
VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle,
			     VIP_NET_ADDRESS *LocalAddr,
			     VIP_NET_ADDRESS *RemoteAddr, VIP_ULONG Timeout,
			     VIP_VI_ATTRIBUTES *RemoteViAttribs);
VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle);

/* Connections, peer to peer */

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle,
				 VIP_NET_ADDRESS *LocalAddr,
				 VIP_NET_ADDRESS *RemoteAddr,
				 VIP_ULONG Timeout);
VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *RemoteViAttribs);
VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *RemoteViAttribs);

/* Name service */

VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo);
VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR *Name,
			      VIP_NET_ADDRESS *Address, VIP_ULONG NameIndex);
VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle,
			      VIP_NET_ADDRESS *Address, VIP_CHAR *Name,
			      VIP_ULONG *NameLen);
VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle);

/* Management and errors */

VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle,
					VIP_ULONG InfoType,
					VIP_PVOID SysManInfo);
VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
			    VIP_ERROR_HANDLER Handler);

#undef VIP_EXTENSION_

#ifdef __cplusplus
}
#endif

#endif /* _VIPL_H */
