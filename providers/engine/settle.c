// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Work that was put off while a NIC was locked is done before it is unlocked: what is
 * put off is bits and lists, and what is done for them is the table of work.c.
 */
#include "eng.h"

/*
 * All that was put off. The transport may add to it from inside the operations
 * that are called here; none of those begins this anew.
 */
void eng_settle(struct eng_nic *nic)
{
	struct eng_later *later = &nic->later;
	const struct eng_works *works = later->works;
	struct vipl_list *l;

	if (nic->settling)
		return;
	nic->settling = 1;
	while (nic->dirty) {
		nic->dirty = 0;
		while ((l = vipl_list_pop(&later->peers)))
			works->peer(nic, vipl_container(l, struct eng_peer,
							work));
		l = vipl_list_pop(&later->vis);
		if (l) {
			nic->dirty = 1;
			works->vi(nic, vipl_container(l, struct eng_vi, work));
		}
		while ((l = vipl_list_pop(&later->discs)))
			works->disc(nic, vipl_container(l, struct eng_disc,
							work));
	}
	nic->settling = 0;
}
