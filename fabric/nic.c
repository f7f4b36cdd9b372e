// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VI NICs: opened once in a process, however many domains name one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "fab.h"

#define NEEDED	(VIP_FEATURE_CQ_FD | VIP_FEATURE_NIC_FD | \
		 VIP_FEATURE_NONBLOCKING | VIP_FEATURE_LISTEN)

static pthread_mutex_t nics_lock = PTHREAD_MUTEX_INITIALIZER;
static struct via_nic *nics;

/*
 * Whether the provider can work on it.  VIPL's provider ofi runs on libfabric:
 * one is not put on the other.
 */
bool via_nic_fits(VIP_NIC_HANDLE h, const VIP_NIC_ATTRIBUTES *attr,
		  VIP_UINT64 *features, const char *name)
{
	if (VipExtQueryFeatures(h, features) != VIP_SUCCESS)
		return false;
	if (!strncmp(name, "ofi", 3) || !strncmp(attr->Name, "ofi", 3)) {
		via_warn(FI_LOG_CORE,
			 "VI NIC %s is libfabric's: use that provider itself\n",
			 name);
		return false;
	}
	if ((*features & NEEDED) != NEEDED) {
		via_warn(FI_LOG_CORE,
			 "VI NIC %s cannot connect without blocking, or keeps no requests, or has no file descriptors\n",
			 name);
		return false;
	}
	if (!(attr->ReliabilityLevelSupport & VIP_SERVICE_RELIABLE_RECEPTION) ||
	    !(attr->RDMAReadSupport & VIP_SERVICE_RELIABLE_RECEPTION) ||
	    attr->MaxDiscriminatorLen < sizeof(struct via_hello) ||
	    attr->NicAddressLen > 32) {
		via_warn(FI_LOG_CORE,
			 "VI NIC %s has no reliable reception, RDMA Read, or room for names\n",
			 name);
		return false;
	}
	return true;
}

/* In a thread of the library.  Completions tell of all that concerns us. */
static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	const struct via_nic *nic = context;

	via_info(FI_LOG_DOMAIN, "VI NIC %s: %s\n", nic->name,
		 VipExtErrorText(e->ErrorCode));
}

static int open_cqs(struct via_nic *nic)
{
	VIP_ULONG entries = VIA_CQ_ENTRIES;
	VIP_RETURN r;
	int i;

	if (entries > nic->attr.MaxCQEntries)
		entries = nic->attr.MaxCQEntries;
	for (i = 0; i < VIA_CQS; i++) {
		r = VipCreateCQ(nic->h, entries, &nic->cq[i]);
		if (r == VIP_SUCCESS)
			r = VipExtCQGetFd(nic->cq[i], &nic->cq_fd[i]);
		if (r != VIP_SUCCESS)
			return -via_err_of(r);
	}
	r = VipExtNicGetFd(nic->h, &nic->fd);
	return -via_err_of(r);
}

static void nic_free(struct via_nic *nic)
{
	/* CQs, files and what else there is go with the handle. */
	if (nic->h)
		VipCloseNic(nic->h);
	if (nic->timer >= 0)
		close(nic->timer);
	pthread_mutex_destroy(&nic->lock);
	free(nic);
}

static int nic_open(const char *name, struct via_nic **out)
{
	struct via_nic *nic = calloc(1, sizeof(*nic));
	VIP_RETURN r;
	int ret;

	if (!nic)
		return -FI_ENOMEM;
	snprintf(nic->name, sizeof(nic->name), "%s", name);
	pthread_mutex_init(&nic->lock, NULL);
	vipl_list_init(&nic->connecting);
	vipl_list_init(&nic->peps);
	vipl_list_init(&nic->owing);
	vipl_list_init(&nic->rejects);
	nic->refs = 1;
	nic->alone = get_nprocs() == 1;
	nic->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = -errno;
	if (nic->timer < 0)
		goto err;
	r = VipOpenNic(name, &nic->h);
	if (r != VIP_SUCCESS)
		via_warn(FI_LOG_DOMAIN, "%s\n", VipExtLastError());
	if (r == VIP_SUCCESS)
		r = VipQueryNic(nic->h, &nic->attr);
	ret = -via_err_of(r);
	if (ret)
		goto err;
	ret = -FI_ENODATA;
	if (!via_nic_fits(nic->h, &nic->attr, &nic->features, name))
		goto err;
	VipErrorCallback(nic->h, nic, on_error);
	ret = open_cqs(nic);
	if (ret)
		goto err;
	*out = nic;
	return 0;
err:
	via_warn(FI_LOG_DOMAIN, "VI NIC %s cannot be used: %s\n", name,
		 fi_strerror(-ret));
	nic_free(nic);
	return ret;
}

int via_nic_get(const char *name, struct via_nic **out)
{
	struct via_nic *nic;
	int ret = 0;

	if (strlen(name) >= VIA_NAME_MAX)
		return -FI_EINVAL;
	pthread_mutex_lock(&nics_lock);
	for (nic = nics; nic; nic = nic->next)
		if (!strcmp(nic->name, name))
			break;
	if (nic)
		nic->refs++;
	else
		ret = nic_open(name, &nic);
	if (!ret && nic->refs == 1) {
		nic->next = nics;
		nics = nic;
	}
	pthread_mutex_unlock(&nics_lock);
	if (!ret)
		*out = nic;
	return ret;
}

void via_nic_put(struct via_nic *nic)
{
	struct via_nic **p;

	pthread_mutex_lock(&nics_lock);
	if (--nic->refs) {
		pthread_mutex_unlock(&nics_lock);
		return;
	}
	for (p = &nics; *p != nic; p = &(*p)->next)
		;
	*p = nic->next;
	pthread_mutex_unlock(&nics_lock);
	/* The NIC is on no list: nothing but its rejections can be left. */
	pthread_mutex_lock(&nic->lock);
	via_reject_end(nic);
	pthread_mutex_unlock(&nic->lock);
	nic_free(nic);
}
