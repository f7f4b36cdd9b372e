// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VIPL's codes in libfabric's words. */
#include <stdio.h>
#include <string.h>

#include "fab.h"

/* A positive code of fi_errno.h. */
int via_err_of(VIP_RETURN r)
{
	switch (r) {
	case VIP_SUCCESS:
		return 0;
	case VIP_NOT_DONE:
		return FI_EAGAIN;
	case VIP_ERROR_RESOURCE:
		return FI_ENOMEM;
	case VIP_TIMEOUT:
		return FI_ETIMEDOUT;
	case VIP_REJECT:
	case VIP_NO_MATCH:
		return FI_ECONNREFUSED;
	case VIP_NOT_REACHABLE:
	case VIP_ERROR_NAMESERVICE:
		return FI_EHOSTUNREACH;
	case VIP_ERROR_NOT_SUPPORTED:
		return FI_ENOSYS;
	case VIP_INVALID_STATE:
		return FI_EOPBADSTATE;
	case VIP_INVALID_RELIABILITY_LEVEL:
	case VIP_INVALID_MTU:
	case VIP_INVALID_QOS:
		return FI_ECONNREFUSED;
	default:
		return FI_EINVAL;
	}
}

/* For via_strerror() in the same thread, which gets the code alone. */
static __thread struct {
	VIP_RETURN code;
	char text[160];
} why;

void via_err_why(VIP_RETURN r)
{
	why.code = r;
	snprintf(why.text, sizeof(why.text), "%s", VipExtLastError());
	/* The fault; its remedy is behind the newline. */
	why.text[strcspn(why.text, "\n")] = '\0';
}

int via_err_of_status(uint32_t status)
{
	if (!(status & VIP_STATUS_ERROR_MASK))
		return 0;
	if (status & VIP_STATUS_LENGTH_ERROR)
		return FI_ETRUNC;
	if (status & VIP_STATUS_RDMA_PROT_ERROR)
		return FI_EACCES;
	if (status & VIP_STATUS_PROTECTION_ERROR)
		return FI_EFAULT;
	if (status & VIP_STATUS_FORMAT_ERROR)
		return FI_EINVAL;
	if (status & VIP_STATUS_REMOTE_DESC_ERROR)
		return FI_EREMOTEIO;
	if (status & VIP_STATUS_TRANSPORT_ERROR)
		return FI_ECONNABORTED;
	return FI_ECANCELED;
}

/*
 * @prov: a status of a descriptor, or the negative of a return code, which an
 * attempt to connect has.
 */
const char *via_strerror(int prov, char *buf, size_t len)
{
	static __thread char text[256];

	if (prov < 0 && (VIP_RETURN)-prov == why.code && *why.text)
		snprintf(text, sizeof(text), "%s: %s",
			 VipExtReturnText(why.code), why.text);
	else if (prov < 0)
		snprintf(text, sizeof(text), "%s",
			 VipExtReturnText((VIP_RETURN)-prov));
	else if (prov)
		VipExtStatusText((VIP_UINT32)prov, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "no error of the VI NIC");
	if (buf && len) {
		snprintf(buf, len, "%s", text);
		return buf;
	}
	return text;
}
