// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What lies behind the headers of a frame and is of all of it: a checksum, for
 * bytes that go bad inside a NIC or a switch, where no frame check guards them,
 * or an authenticator, for hosts with a key (session.h).  All frames that have
 * one of the two are closed here when they are sent; admit.c opens them.
 */

#include <linux/crc32c.h>
#include "proto/auth.h"
#include "seal.h"
#include "session.h"
#include "stats.h"
#include "vi.h"

void via_ether_seal(void *frame, u32 size, u32 len)
{
	struct via_wire *h = frame;
	struct via_wire_seal *seal = frame + size - VIA_WIRE_SEAL_LEN;
	u32 crc;

	h->flags |= VIA_WIRE_SUM;
	crc = crc32c(~0, h, (u8 *)seal - (u8 *)h);
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
static bool sum_fits(const struct via_ether_frame *f,
		     const struct via_frame_hdr *h)
{
	u32 crc = crc_range(~0, f, 0, h->hdr_len - VIA_WIRE_SEAL_LEN);

	return h->seal == ~crc_range(crc, f, h->hdr_len, h->hdr_len + h->len);
}

/*
 * An authenticator that cannot be made stays zero: the frame is as good as
 * lost.
 */
static void sign_frame(struct via_ether_session *s, void *frame, u32 size,
		       u32 len)
{
	const struct via_auth_piece payload = { frame + size, len };
	struct via_wire *h = frame;

	h->flags |= VIA_WIRE_AUTH;
	if (likely(s))
		via_auth_sign(&s->auth, h, size, &payload, 1);
	else
		memset(frame + size - VIA_WIRE_AUTH_LEN, 0, VIA_WIRE_AUTH_LEN);
}

void via_ether_close(const struct via_seal *seal, void *frame, u32 size,
		     u32 len)
{
	if (seal->flag == VIA_WIRE_AUTH)
		sign_frame(seal->session, frame, size, len);
	else if (seal->flag)
		via_ether_seal(frame, size, len);
}

void via_ether_close_data(const struct via_ether_vi *ev, void *frame, u32 size,
			  u32 len)
{
	struct via_seal seal = { .flag = ev->conn.seal };

	rcu_read_lock();
	if (seal.flag == VIA_WIRE_AUTH)
		seal.session = via_session_of(ev->peer);
	via_ether_close(&seal, frame, size, len);
	rcu_read_unlock();
}

bool via_ether_sum_ok(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h)
{
	if (!(h->flags & VIA_WIRE_SUM) || sum_fits(f, h))
		return true;
	via_ether_count(nic, BAD_SEAL);
	return false;
}
