// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Text for codes. */
#include <stdio.h>
#include <string.h>

#include "object.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const char *text_of(const char *const *texts, size_t n, unsigned int i)
{
	return i < n ? texts[i] : "unknown";
}

const VIP_CHAR *VipExtReturnText(VIP_RETURN Code)
{
	static const char *const texts[] = {
		[VIP_SUCCESS] = "success",
		[VIP_NOT_DONE] = "not done yet",
		[VIP_INVALID_PARAMETER] = "invalid parameter",
		[VIP_ERROR_RESOURCE] = "no resources",
		[VIP_TIMEOUT] = "timed out",
		[VIP_REJECT] = "rejected by the peer",
		[VIP_INVALID_RELIABILITY_LEVEL] = "invalid reliability level",
		[VIP_INVALID_MTU] = "invalid transfer size",
		[VIP_INVALID_QOS] = "invalid quality of service",
		[VIP_INVALID_PTAG] = "invalid protection tag",
		[VIP_INVALID_RDMAREAD] = "RDMA Read is not supported",
		[VIP_DESCRIPTOR_ERROR] = "descriptor error",
		[VIP_INVALID_STATE] = "invalid state",
		[VIP_ERROR_NAMESERVICE] = "name not found",
		[VIP_NO_MATCH] = "no match: nothing waits there",
		[VIP_NOT_REACHABLE] = "not reachable",
		[VIP_ERROR_NOT_SUPPORTED] = "not supported",
	};

	return text_of(texts, COUNT(texts), (unsigned int)Code);
}

const VIP_CHAR *VipExtErrorText(VIP_ERROR_CODE Code)
{
	static const char *const texts[] = {
		[VIP_ERROR_POST_DESC] = "bad address or memory of a descriptor",
		[VIP_ERROR_CONN_LOST] = "connection lost",
		[VIP_ERROR_RECVQ_EMPTY] = "no receive posted",
		[VIP_ERROR_VI_OVERRUN] = "work queue overrun",
		[VIP_ERROR_RDMAW_PROT] = "RDMA Write refused",
		[VIP_ERROR_RDMAW_DATA] = "RDMA Write data error",
		[VIP_ERROR_RDMAW_ABORT] = "RDMA Write aborted",
		[VIP_ERROR_RDMAR_PROT] = "RDMA Read refused",
		[VIP_ERROR_COMP_PROT] = "completion protection error",
		[VIP_ERROR_RDMA_TRANSPORT] = "RDMA transport error",
		[VIP_ERROR_CATASTROPHIC] = "NIC gone",
	};

	return text_of(texts, COUNT(texts), (unsigned int)Code);
}

const VIP_CHAR *VipExtStateText(VIP_VI_STATE State)
{
	static const char *const texts[] = {
		[VIP_STATE_IDLE] = "idle",
		[VIP_STATE_CONNECTED] = "connected",
		[VIP_STATE_CONNECT_PENDING] = "connecting",
		[VIP_STATE_ERROR] = "error",
	};

	return text_of(texts, COUNT(texts), (unsigned int)State);
}

/* As much of it as there is room for. */
static void append_word(char *text, size_t size, const char *word)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s%s", n ? ", " : "", word);
}

const VIP_CHAR *VipExtStatusText(VIP_UINT32 Status, VIP_CHAR *Text,
				 VIP_ULONG TextLen)
{
	static const char *const ops[] = {
		"send", "receive", "RDMA write", "RDMA write of the peer",
		"RDMA read",
	};
	static const struct {
		uint32_t bit;
		const char *word;
	} bits[] = {
		{ VIP_STATUS_FORMAT_ERROR, "format error" },
		{ VIP_STATUS_PROTECTION_ERROR, "protection error" },
		{ VIP_STATUS_LENGTH_ERROR, "length error" },
		{ VIP_STATUS_PARTIAL_ERROR, "partial error" },
		{ VIP_STATUS_DESC_FLUSHED_ERROR, "flushed" },
		{ VIP_STATUS_TRANSPORT_ERROR, "transport error" },
		{ VIP_STATUS_RDMA_PROT_ERROR, "RDMA protection error" },
		{ VIP_STATUS_REMOTE_DESC_ERROR, "remote descriptor error" },
		{ VIP_STATUS_IMMEDIATE, "immediate data" },
	};
	size_t i;

	if (!Text || !TextLen)
		return "";
	Text[0] = '\0';
	if (!(Status & VIP_STATUS_DONE)) {
		append_word(Text, TextLen, "not done");
		return Text;
	}
	append_word(Text, TextLen,
		    text_of(ops, COUNT(ops),
			    (Status & VIP_STATUS_OP_MASK) >> 16));
	for (i = 0; i < COUNT(bits); i++)
		if (Status & bits[i].bit)
			append_word(Text, TextLen, bits[i].word);
	return Text;
}
