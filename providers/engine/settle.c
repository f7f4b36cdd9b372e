// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Work that was put off while a NIC was locked, done before it is unlocked. */
#include "eng.h"

static void vi_work(struct eng_nic *nic, struct eng_vi *v)
{
	uint8_t todo = v->todo;

	v->todo = 0;
	if (todo & TODO_DISCONNECT)
		eng_disconnect_work(nic, v);
	else if (v->disconnecting && todo & TODO_IN)
		eng_disconnect_work(nic, v);	/* room for its pulls */
	if (v->state != VIP_STATE_CONNECTED)
		return;
	if (todo & TODO_IN)
		eng_in_work(nic, v);
	if (todo & TODO_SEND) {
		eng_retire(nic, v, 1);
		eng_run(nic, v);
	}
	if (!(todo & TODO_ACK) || v->state != VIP_STATE_CONNECTED ||
	    v->ack_sent == v->rx_done)
		return;
	/* The progress thread sees to it that a ride that fails is short. */
	if (v->replies < ENG_REPLIES || v->rx_done - v->ack_sent > 8 ||
	    nic->leader == &nic->ticker || eng_get(&nic->tick) != TICK_ON)
		eng_send_ack(v);
	else if (vipl_list_empty(&v->late))
		eng_late(nic, v);
}

/*
 * All that was put off. The transport may add to it from inside the operations
 * that are called here; none of those begins this anew.
 */
void eng_settle(struct eng_nic *nic)
{
	struct vipl_list *l;

	if (nic->settling)
		return;
	nic->settling = 1;
	while (nic->dirty) {
		nic->dirty = 0;
		while ((l = vipl_list_pop(&nic->peer_work)))
			eng_peer_work(nic, vipl_container(l, struct eng_peer,
							  work));
		l = vipl_list_pop(&nic->work);
		if (l) {
			nic->dirty = 1;
			vi_work(nic, vipl_container(l, struct eng_vi, work));
		}
		while ((l = vipl_list_pop(&nic->disc_work)))
			eng_disc_work(nic, vipl_container(l, struct eng_disc,
							  work));
	}
	nic->settling = 0;
}
