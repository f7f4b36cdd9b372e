// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Waiting: spin as long as that has lately paid, then sleep in the kernel.
 *
 * The time to spin follows what waits really took. One that ended within
 * SPIN_MAX would have been shorter without the kernel, so the next one spins
 * up to twice that; one that took longer halves the spin. With one CPU
 * online a spin only keeps the sender from running: none at all.
 */
#include "../../vipl/timeout.h"
#include "ka.h"

#define SPIN_MAX_NS	100000u
#define SPIN_MIN_NS	1000u
#define SPIN_POLL_NS	10000u		/* shorter: likely to end in a sleep */
#define SPIN_ROUND	64

static int word_moved(const struct ka_sleeper *s)
{
	return ka_load_acquire(s->word) != s->seen;
}

__thread uint32_t ka_looks;

/* One more look, due or not: the NIC is referenced. */
void ka_look(const struct ka_nic *nic)
{
	const struct via_ctl *ctl = nic->ctl;

	ka_trap(nic->fd, VIA_OP_POLL, 0);
	ka_looks = ka_load(&ctl->poll) ? KA_LOOKS - 1 : 0;
}

/* Nonzero when the word moved. */
static int spin_on_word(const struct ka_sleeper *s, uint64_t start)
{
	uint32_t ns = atomic_load_explicit(s->spin_ns, memory_order_relaxed);
	int poll = s->poll && ns >= SPIN_POLL_NS, i;
	uint64_t end = start + ns;

	if (end > s->deadline)
		end = s->deadline;
	do {
		for (i = 0; i < SPIN_ROUND; i++) {
			if (word_moved(s))
				return 1;
			if (poll && ka_look_due())
				ka_look(s->nic);
			else
				vipl_pause();
		}
	} while (vipl_now() < end);
	return 0;
}

static void learn_spin_time(const struct ka_sleeper *s, uint64_t took)
{
	uint32_t ns = atomic_load_explicit(s->spin_ns, memory_order_relaxed);

	if (took <= SPIN_MAX_NS)
		ns = took * 2 < SPIN_MAX_NS ? (uint32_t)took * 2 : SPIN_MAX_NS;
	else
		ns /= 2;
	if (ns < SPIN_MIN_NS)
		ns = SPIN_MIN_NS;
	atomic_store_explicit(s->spin_ns, ns, memory_order_relaxed);
}

/*
 * Without a time limit there is nothing to pass but the queue, so the trap
 * will do; it costs 400 instructions less than the ioctl. What the trap does
 * not bring to an end, such as a signal's coming, the ioctl goes on with.
 */
static VIP_RETURN sleep_in_kernel(const struct ka_sleeper *s)
{
	struct via_wait arg = {
		.kind = s->kind,
		.id = s->id,
		.seen = s->seen,
	};
	int ret;

	if (s->deadline == VIPL_FOREVER &&
	    !ka_trap(s->nic->fd, VIA_OP_WAIT_SEND + s->kind, s->id))
		return VIP_SUCCESS;
	do {
		arg.timeout = vipl_left(s->deadline);
		ret = ioctl(s->nic->fd, VIA_IOC_WAIT, &arg);
	} while (ret < 0 && errno == EINTR);
	if (!ret)
		return VIP_SUCCESS;
	return ret == VIA_R_TIMEOUT ? VIP_TIMEOUT : VIP_INVALID_PARAMETER;
}

VIP_RETURN ka_sleep(const struct ka_sleeper *s)
{
	uint64_t start;
	VIP_RETURN r;

	_Static_assert(VIPL_FOREVER == VIA_FOREVER, "one notion of for ever");
	if (!s->nic->spin)
		return sleep_in_kernel(s);
	start = vipl_now();
	if (spin_on_word(s, start))
		return VIP_SUCCESS;
	r = sleep_in_kernel(s);
	learn_spin_time(s, vipl_now() - start);
	return r;
}
