# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""libvipl.so.1 by cffi, in ABI mode: nothing is compiled.  What is declared
here is that of vipl.h and vipl_ext.h; tests/python/layout.py compares."""

try:
    import cffi
except ImportError as error:
    raise ImportError("vipl needs cffi: install package python3-cffi, "
                      "or pip install cffi") from error

ffi = cffi.FFI()
ffi.cdef("""
typedef unsigned long VIP_ULONG;
typedef int VIP_BOOLEAN;
typedef int VIP_RETURN;
typedef uint32_t VIP_MEM_HANDLE;

typedef struct {
	uint64_t Next;
	VIP_MEM_HANDLE NextHandle;
	uint16_t SegCount;
	uint16_t Control;
	uint32_t Reserved;
	uint32_t ImmediateData;
	uint32_t Length;
	uint32_t Status;
} VIP_CONTROL_SEGMENT;

/* Address segments, too, whose last member is reserved. */
typedef struct {
	uint64_t Data;
	VIP_MEM_HANDLE Handle;
	uint32_t Length;
} VIP_DATA_SEGMENT;

typedef struct {
	VIP_CONTROL_SEGMENT CS;
	VIP_DATA_SEGMENT DS[2];
} VIP_DESCRIPTOR;

typedef struct {
	uint16_t HostAddressLen;
	uint16_t DiscriminatorLen;
	uint8_t HostAddress[252];
} VIP_NET_ADDRESS;

typedef struct {
	char Name[64];
	VIP_ULONG HardwareVersion;
	VIP_ULONG ProviderVersion;
	uint16_t NicAddressLen;
	const uint8_t *LocalNicAddress;
	VIP_BOOLEAN ThreadSafe;
	uint16_t MaxDiscriminatorLen;
	VIP_ULONG MaxRegisterBytes;
	VIP_ULONG MaxRegisterRegions;
	VIP_ULONG MaxRegisterBlockBytes;
	VIP_ULONG MaxVI;
	VIP_ULONG MaxDescriptorsPerQueue;
	VIP_ULONG MaxSegmentsPerDesc;
	VIP_ULONG MaxCQ;
	VIP_ULONG MaxCQEntries;
	VIP_ULONG MaxTransferSize;
	VIP_ULONG NativeMTU;
	VIP_ULONG MaxPtags;
	uint16_t ReliabilityLevelSupport;
	uint16_t RDMAReadSupport;
} VIP_NIC_ATTRIBUTES;

typedef struct {
	uint16_t ReliabilityLevel;
	VIP_ULONG MaxTransferSize;
	void *QoS;
	void *Ptag;
	VIP_BOOLEAN EnableRdmaWrite;
	VIP_BOOLEAN EnableRdmaRead;
} VIP_VI_ATTRIBUTES;

typedef struct {
	void *Ptag;
	VIP_BOOLEAN EnableRdmaWrite;
	VIP_BOOLEAN EnableRdmaRead;
} VIP_MEM_ATTRIBUTES;

typedef struct {
	void *NicHandle;
	void *ViHandle;
	void *CQHandle;
	VIP_DESCRIPTOR *DescriptorPtr;
	VIP_ULONG OpCode;
	int ResourceCode;
	int ErrorCode;
} VIP_ERROR_DESCRIPTOR;

VIP_RETURN VipOpenNic(const char *, void **);
VIP_RETURN VipCloseNic(void *);
VIP_RETURN VipQueryNic(void *, VIP_NIC_ATTRIBUTES *);
VIP_RETURN VipCreateVi(void *, VIP_VI_ATTRIBUTES *, void *, void *, void **);
VIP_RETURN VipDestroyVi(void *);
VIP_RETURN VipQueryVi(void *, int *, VIP_VI_ATTRIBUTES *, VIP_BOOLEAN *,
		      VIP_BOOLEAN *);
VIP_RETURN VipCreatePtag(void *, void **);
VIP_RETURN VipDestroyPtag(void *, void *);
VIP_RETURN VipRegisterMem(void *, void *, VIP_ULONG, VIP_MEM_ATTRIBUTES *,
			  VIP_MEM_HANDLE *);
VIP_RETURN VipDeregisterMem(void *, void *, VIP_MEM_HANDLE);
VIP_RETURN VipPostSend(void *, VIP_DESCRIPTOR *, VIP_MEM_HANDLE);
VIP_RETURN VipPostRecv(void *, VIP_DESCRIPTOR *, VIP_MEM_HANDLE);
VIP_RETURN VipSendDone(void *, VIP_DESCRIPTOR **);
VIP_RETURN VipRecvDone(void *, VIP_DESCRIPTOR **);
VIP_RETURN VipSendWait(void *, VIP_ULONG, VIP_DESCRIPTOR **);
VIP_RETURN VipRecvWait(void *, VIP_ULONG, VIP_DESCRIPTOR **);
VIP_RETURN VipCreateCQ(void *, VIP_ULONG, void **);
VIP_RETURN VipDestroyCQ(void *);
VIP_RETURN VipResizeCQ(void *, VIP_ULONG);
VIP_RETURN VipCQDone(void *, void **, VIP_BOOLEAN *);
VIP_RETURN VipCQWait(void *, VIP_ULONG, void **, VIP_BOOLEAN *);
VIP_RETURN VipConnectWait(void *, VIP_NET_ADDRESS *, VIP_ULONG,
			  VIP_NET_ADDRESS *, VIP_VI_ATTRIBUTES *, void **);
VIP_RETURN VipConnectAccept(void *, void *);
VIP_RETURN VipConnectReject(void *);
VIP_RETURN VipConnectRequest(void *, VIP_NET_ADDRESS *, VIP_NET_ADDRESS *,
			     VIP_ULONG, VIP_VI_ATTRIBUTES *);
VIP_RETURN VipConnectPeerRequest(void *, VIP_NET_ADDRESS *,
				 VIP_NET_ADDRESS *, VIP_ULONG);
VIP_RETURN VipConnectPeerWait(void *, VIP_VI_ATTRIBUTES *);
VIP_RETURN VipDisconnect(void *);
VIP_RETURN VipNSGetHostByName(void *, char *, VIP_NET_ADDRESS *, VIP_ULONG);
VIP_RETURN VipErrorCallback(void *, void *,
			    void (*)(void *, VIP_ERROR_DESCRIPTOR *));

VIP_RETURN VipExtQueryFeatures(void *, uint64_t *);
VIP_RETURN VipExtCQGetFd(void *, int *);
VIP_RETURN VipExtCQArm(void *);
VIP_RETURN VipExtNicGetFd(void *, int *);
VIP_RETURN VipExtNicClear(void *);
VIP_RETURN VipExtReserve(void *, VIP_ULONG, VIP_ULONG);
VIP_RETURN VipExtConnectListen(void *, VIP_NET_ADDRESS *, VIP_ULONG);
VIP_RETURN VipExtConnectWait(void *, VIP_NET_ADDRESS *, VIP_ULONG,
			     VIP_NET_ADDRESS *, VIP_VI_ATTRIBUTES *, void *,
			     VIP_ULONG *, void **);
VIP_RETURN VipExtConnectRequest(void *, VIP_NET_ADDRESS *, VIP_NET_ADDRESS *,
				VIP_ULONG, const void *, VIP_ULONG);
VIP_RETURN VipExtConnectAccept(void *, void *, const void *, VIP_ULONG);
VIP_RETURN VipExtConnectDone(void *, VIP_VI_ATTRIBUTES *, void *,
			     VIP_ULONG *);
VIP_RETURN VipExtFormatAddress(void *, const VIP_NET_ADDRESS *, char *,
			       VIP_ULONG);
const char *VipExtLastError(void);
const char *VipExtReturnText(VIP_RETURN);
const char *VipExtErrorText(int);
const char *VipExtStateText(int);
const char *VipExtStatusText(uint32_t, char *, VIP_ULONG);
""")
try:
    lib = ffi.dlopen("libvipl.so.1")
except OSError as error:
    raise ImportError(
        f"vipl needs the library of mvia, and {error}: install package libvipl1, "
        "or set LD_LIBRARY_PATH to the directory that has it") from error
