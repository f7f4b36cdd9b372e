// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The handles of VIs by their ids: written under the nic lock, read without.
 * The low 16 bits of an id are unique among live VIs, the rest is a
 * generation, so a notice of a VI that is gone finds an entry with another id.
 */
#include "ka.h"

static struct ka_id *id_entry(const struct ka_nic *nic, uint32_t id)
{
	uint32_t i = id & (KA_IDS - 1);
	struct ka_id *chunk;

	chunk = atomic_load_explicit(&nic->ids[i / KA_IDS_CHUNK],
				     memory_order_acquire);
	return chunk ? &chunk[i % KA_IDS_CHUNK] : NULL;
}

int ka_id_room(struct ka_nic *nic, uint32_t id)
{
	uint32_t i = id & (KA_IDS - 1);
	void *chunk;

	if (id_entry(nic, id))
		return 0;
	chunk = ka_host->wiped_alloc(KA_IDS_CHUNK * sizeof(struct ka_id));
	if (!chunk)
		return -1;
	atomic_store_explicit(&nic->ids[i / KA_IDS_CHUNK], chunk,
			      memory_order_release);
	return 0;
}

void ka_id_set(struct ka_nic *nic, uint32_t id, uintptr_t h)
{
	struct ka_id *e = id_entry(nic, id);

	if (!e)
		return;
	/* No reader may see the new handle beside the old id. */
	atomic_store(&e->id, 0);
	atomic_store(&e->handle, h);
	if (h)
		atomic_store(&e->id, id);
}

/* The handle of the VI with that id, or NULL when it is gone. */
VIP_VI_HANDLE ka_vi_by_id(const struct ka_nic *nic, uint32_t id)
{
	struct ka_id *e = id_entry(nic, id);
	uintptr_t h;

	if (!e || atomic_load(&e->id) != id)
		return NULL;
	h = atomic_load(&e->handle);
	return atomic_load(&e->id) == id ? (VIP_VI_HANDLE)h : NULL;
}

void ka_id_free(struct ka_nic *nic)
{
	size_t i;

	for (i = 0; i < KA_IDS / KA_IDS_CHUNK; i++) {
		ka_host->wiped_free(atomic_load(&nic->ids[i]),
				    KA_IDS_CHUNK * sizeof(struct ka_id));
		atomic_store(&nic->ids[i], NULL);
	}
}
