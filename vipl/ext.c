// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Extensions: what a NIC can do, addresses in writing. */
#include <string.h>

#include "connect.h"
#include "msg.h"

#define TEXT_MAX	128

static VIP_RETURN ext_query_features(VIP_NIC_HANDLE NicHandle,
				     VIP_UINT64 *Features)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (Features) {
		*Features = nic->id.features;
		r = VIP_SUCCESS;
	}
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipExtQueryFeatures(VIP_NIC_HANDLE NicHandle, VIP_UINT64 *Features)
{
	return VIPL_CALL(ext_query_features(NicHandle, Features));
}

static VIP_RETURN ext_reserve(VIP_VI_HANDLE ViHandle, VIP_ULONG Sends,
			      VIP_ULONG Receives)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r = VIP_SUCCESS;
	uint32_t most;

	if (!vi)
		return VIP_INVALID_PARAMETER;
	most = vi->obj.pub.nic->id.desc;
	if (Sends > most || Receives > most)
		r = VIP_INVALID_PARAMETER;
	else if (vipl_ops(&vi->obj)->vi_reserve)
		r = vipl_ops(&vi->obj)->vi_reserve(vi, (uint32_t)Sends,
						   (uint32_t)Receives);
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipExtReserve(VIP_VI_HANDLE ViHandle, VIP_ULONG Sends,
			 VIP_ULONG Receives)
{
	return VIPL_CALL(ext_reserve(ViHandle, Sends, Receives));
}

static VIP_RETURN ext_parse_address(VIP_NIC_HANDLE NicHandle,
				    const VIP_CHAR *Text,
				    VIP_NET_ADDRESS *Address)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	uint8_t host[VIPL_ADDR_MAX] = { 0 };
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (Text && Address && vipl_addr_parse(nic, Text, host)) {
		vipl_reason(MSG_BAD_ADDRESS, Text, nic->id.name);
	} else if (Text && Address) {
		Address->HostAddressLen = (VIP_UINT16)nic->id.addr_len;
		Address->DiscriminatorLen = 0;
		memcpy((char *)Address + offsetof(VIP_NET_ADDRESS, HostAddress),
		       host, nic->id.addr_len);
		r = VIP_SUCCESS;
	}
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipExtParseAddress(VIP_NIC_HANDLE NicHandle, const VIP_CHAR *Text,
			      VIP_NET_ADDRESS *Address)
{
	return VIPL_CALL(ext_parse_address(NicHandle, Text, Address));
}

static VIP_RETURN ext_format_address(VIP_NIC_HANDLE NicHandle,
				     const VIP_NET_ADDRESS *Address,
				     VIP_CHAR *Text, VIP_ULONG TextLen)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_addr addr;
	char text[TEXT_MAX];

	if (!nic)
		return r;
	if (Text && !vipl_addr_in(nic, Address, nic->id.addr_len, &addr)) {
		vipl_addr_format(nic, addr.host, text, sizeof(text));
		if (strlen(text) < TextLen) {
			strcpy(Text, text);
			r = VIP_SUCCESS;
		}
	}
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipExtFormatAddress(VIP_NIC_HANDLE NicHandle,
			       const VIP_NET_ADDRESS *Address, VIP_CHAR *Text,
			       VIP_ULONG TextLen)
{
	return VIPL_CALL(ext_format_address(NicHandle, Address, Text, TextLen));
}
