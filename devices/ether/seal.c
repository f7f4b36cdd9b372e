// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checksums of ours, for what the Ethernet's does not find: bytes that go bad
 * inside a NIC or a switch, where no frame check guards them.
 */

#include <linux/crc32c.h>
#include "ether.h"

/*
 * The frame is complete but for its seal: headers and the seal's room are
 * @size bytes, Ethernet's included, and @len bytes of payload follow.
 */
void via_ether_seal(void *frame, u32 size, u32 len)
{
	struct via_ether_head *h = frame;
	struct via_wire_seal *seal = frame + size - VIA_WIRE_SEAL_LEN;
	u32 crc;

	h->w.flags |= VIA_WIRE_SUM;
	crc = crc32c(~0, &h->w, (u8 *)seal - (u8 *)&h->w);
	crc = crc32c(crc, seal + 1, len);
	seal->crc = cpu_to_be32(~crc);
}

/* Bytes @from to @to of a frame, wherever they lie. */
static u32 crc_range(u32 crc, const struct via_ether_frame *f, u32 from,
		     u32 to)
{
	u32 i, at = 0, skip, end;

	for (i = 0; i < f->nchunks && at < to; i++) {
		end = at + f->chunk[i].len;
		if (end > from) {
			skip = from > at ? from - at : 0;
			crc = crc32c(crc, f->chunk[i].data + skip,
				     min(end, to) - at - skip);
		}
		at = end;
	}
	return crc;
}

/* A frame that via_wire_parse() found to be sealed: is it as it was sent? */
bool via_ether_seal_ok(const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	u32 crc = crc_range(~0, f, 0, h->hdr_len - VIA_WIRE_SEAL_LEN);

	return h->seal == ~crc_range(crc, f, h->hdr_len, h->hdr_len + h->len);
}
