// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names: the question of a program, put to the device, and the answers.
 *
 * A host goes by the node name of the initial UTS namespace, whichever
 * network namespace the NIC is in: a frame comes to a NIC, not to a container.
 */

#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>
#include "name.h"
#include "quota.h"

#define VIA_NAME_ANSWERS	64u	/* remembered of one question */
#define VIA_NAME_ASKERS		32	/* threads that ask on one NIC */

void via_name_own(char *name)
{
	/*
	 * Changed under a semaphore that is not for modules and not for
	 * softirqs: in the worst case a name is half new for one answer.  Its
	 * last byte is always zero.
	 */
	BUILD_BUG_ON(__NEW_UTS_LEN > VIA_NAME_MAX);
	strscpy(name, init_utsname()->nodename, VIA_NAME_MAX + 1);
	/* What the kernel calls a host that was given no name. */
	if (!strcmp(name, "(none)"))
		name[0] = '\0';
}
EXPORT_SYMBOL_GPL(via_name_own);

bool via_name_match(const char *want, const char *have)
{
	bool domain = false;
	size_t i;

	/* Hosts that ask make this run: it ends where the two differ. */
	for (i = 0; want[i] && tolower(want[i]) == tolower(have[i]); i++)
		domain |= want[i] == '.';
	if (!want[i] && !have[i])
		return true;
	/* A short name stands for any domain, two full ones must agree. */
	return i && !domain && ((!want[i] && have[i] == '.') ||
				(want[i] == '.' && !have[i]));
}
EXPORT_SYMBOL_GPL(via_name_match);

/* Does this answer the question? */
static bool via_names_fit(const struct via_names *q, const u8 *addr,
			  const char *name)
{
	if (q->addr_len && memcmp(q->addr, addr, q->addr_len))
		return false;
	return !q->name[0] || via_name_match(q->name, name);
}

void via_names_add(struct via_names *q, const u8 *addr, u32 addr_len,
		   const char *name)
{
	struct via_name_answer *a;
	u32 i;

	if (addr_len > VIA_ADDR_MAX || !via_names_fit(q, addr, name))
		return;
	/* A question that was repeated is answered twice. */
	for (i = 0; i < q->count; i++)
		if (!memcmp(q->answer[i].addr, addr, addr_len))
			return;
	if (q->count == q->room)
		return;
	a = &q->answer[q->count];
	memcpy(a->addr, addr, addr_len);
	strscpy(a->name, name, VIA_NAME_MAX + 1);
	/* The asker looks without a lock whether there is one. */
	smp_store_release(&q->count, q->count + 1);
}
EXPORT_SYMBOL_GPL(via_names_add);

/* Of the device; it takes a bounded time, for which the NIC's end waits. */
static int via_names_resolve(struct via_nic *nic, struct via_names *q)
{
	int ret = 0, idx;

	if (!via_nic_enter(nic, &idx))
		return 0;
	if (atomic_inc_return(&nic->askers) > VIA_NAME_ASKERS)
		ret = VIA_R_ERROR_RESOURCE;
	else
		ret = nic->ops->resolve(nic, q);
	atomic_dec(&nic->askers);
	via_nic_leave(nic, idx);
	return ret;
}

static int via_names_ask(struct via_file *f, struct via_names *q)
{
	char own[VIA_NAME_MAX + 1];
	struct via_nic *nic = f->nic;
	int ret;

	via_name_own(own);
	via_names_add(q, nic->addr, nic->addr_len, own);
	if (!nic->ops->resolve ||
	    (q->addr_len && !memcmp(q->addr, nic->addr, q->addr_len)))
		return 0;
	if (!via_quota_charge(f->quota, VIA_QUOTA_QUERIES, 1))
		return VIA_R_ERROR_RESOURCE;
	ret = via_names_resolve(nic, q);
	via_quota_uncharge(f->quota, VIA_QUOTA_QUERIES, 1);
	return ret;
}

static bool via_name_valid(const char *name)
{
	size_t i;

	for (i = 0; i <= VIA_NAME_MAX && name[i]; i++)
		if (!isascii(name[i]) || !isgraph(name[i]))
			return false;
	return i <= VIA_NAME_MAX;
}

long via_name_query(struct via_file *f, struct via_name_query *arg)
{
	struct via_nic *nic = f->nic;
	struct via_names q = { };
	long ret;

	if (!via_name_valid(arg->name) || arg->addr_len > VIA_ADDR_MAX ||
	    (arg->addr_len && arg->addr_len != nic->addr_len))
		return -EINVAL;
	if (READ_ONCE(f->dead))
		return -ESHUTDOWN;
	strscpy(q.name, arg->name, sizeof(q.name));
	memcpy(q.addr, arg->addr, arg->addr_len);
	q.addr_len = arg->addr_len;
	q.room = VIA_NAME_ANSWERS;
	q.answer = kcalloc(q.room, sizeof(*q.answer), GFP_KERNEL_ACCOUNT);
	if (!q.answer)
		return VIA_R_ERROR_RESOURCE;
	ret = via_names_ask(f, &q);
	if (!ret) {
		arg->count = min(arg->count, q.count);
		if (copy_to_user(u64_to_user_ptr(arg->answers), q.answer,
				 arg->count * sizeof(*q.answer)))
			ret = -EFAULT;
	}
	kfree(q.answer);
	return ret;
}
