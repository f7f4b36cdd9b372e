// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include "common/content.h"

#define WINDOW	8u		/* messages of a stream on their way */

uint32_t length_of(uint32_t id, uint32_t n)
{
	uint64_t s = dice_seed(id, n);

	return 1 + dice_roll(&s) % (n % 4 ? 200 : END_BYTES);
}

void fill(uint8_t *p, uint32_t id, uint32_t n, uint32_t len)
{
	content(p, dice_seed(id, n), len);
}

bool filled(const uint8_t *p, uint32_t id, uint32_t n, uint32_t len)
{
	return content_wrong(p, dice_seed(id, n), len) == len;
}

static enum stream_result why(VIP_RETURN rc)
{
	return rc == VIP_TIMEOUT ? ST_SILENT :
	       rc == VIP_INVALID_STATE ? ST_WRONG : ST_ENDED;
}

int stream_send(struct end *e, uint32_t id, uint32_t n)
{
	uint32_t len = length_of(id, n);
	uint8_t *p = end_tx(e);

	if (!p)
		return -1;
	fill(p, id, n, len);
	return end_send(e, len);
}

/* Credits are messages of one byte: four more are taken. */
enum stream_result stream_push(struct end *e, uint32_t id, uint32_t n)
{
	uint32_t i, len;
	VIP_RETURN rc;
	uint8_t *p;

	for (i = 0; i < n || e->credit < n / 4 * 4; i++) {
		while (i - e->credit >= WINDOW || i >= n) {
			p = end_recv(e, args.limit, &len, &rc);
			if (!p)
				return why(rc);
			if (len != 1)
				return ST_WRONG;
			e->credit += 4;
			if (end_repost(e))
				return ST_ENDED;
			if (i >= n && e->credit >= n / 4 * 4)
				return ST_DONE;
		}
		if (stream_send(e, id, i))
			return ST_ENDED;
	}
	return ST_DONE;
}

enum stream_result stream_pull(struct end *e, uint32_t id, uint32_t n)
{
	uint32_t i, len;
	VIP_RETURN rc;
	uint8_t *p;

	for (i = 0; i < n; i++) {
		p = end_recv(e, args.limit, &len, &rc);
		if (!p)
			return why(rc);
		if (len != length_of(id, i) || !filled(p, id, i, len))
			return ST_WRONG;
		if (end_repost(e))
			return ST_ENDED;
		if (i % 4 == 3 && (!end_tx(e) || end_send(e, 1)))
			return ST_ENDED;
	}
	return ST_DONE;
}

