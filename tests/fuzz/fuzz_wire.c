// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer's target for the parser of frames: what via_wire_parse() and its
 * two followers promise holds for any bytes, and nothing outside is read.
 *
 * Two bytes say how much longer than its header the frame is (little-endian);
 * the rest is its beginning.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

#define PROMISE(e)	do { if (!(e)) abort(); } while (0)

static void check_data(const struct via_frame_hdr *h)
{
	PROMISE(h->offset <= h->msg_len);
	if (h->type == VIA_WIRE_READ) {
		PROMISE(!h->len && !h->offset);
		return;
	}
	PROMISE(h->len <= h->msg_len - h->offset);
	PROMISE(h->len || !h->msg_len);
}

static void check_conn(const uint8_t *frame)
{
	struct via_conn_hdr c;

	if (via_wire_parse_conn(frame, &c))
		return;
	PROMISE(c.client_host_len <= VIA_WIRE_HOST_MAX);
	PROMISE(c.server_host_len <= VIA_WIRE_HOST_MAX);
	PROMISE(c.client_disc_len <= VIA_WIRE_DISC_MAX);
	PROMISE(c.server_disc_len <= VIA_WIRE_DISC_MAX);
	PROMISE(c.client_disc + VIA_WIRE_DISC_MAX <=
		frame + VIA_WIRE_CONN_LEN);
	PROMISE(c.server_disc + VIA_WIRE_DISC_MAX <=
		frame + VIA_WIRE_CONN_LEN);
	PROMISE(c.mtu >= VIA_WIRE_MTU_MIN && c.mtu <= VIA_WIRE_MTU_MAX);
	PROMISE(c.frames && c.sender_cookie);
}

static void check_name(const uint8_t *frame)
{
	struct via_name_hdr n;
	size_t len, i;

	if (via_wire_parse_name(frame, &n))
		return;
	len = strnlen(n.name, sizeof(n.name));
	PROMISE(len <= VIA_WIRE_NAME_MAX);
	for (i = 0; i < len; i++)
		PROMISE(n.name[i] > ' ' && n.name[i] <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct via_frame_hdr h;
	uint8_t *frame;
	uint32_t len;

	if (size < 2)
		return 0;
	len = size - 2;
	if (len >= VIA_WIRE_HDR_MAX)
		len = VIA_WIRE_HDR_MAX + (data[0] | data[1] << 8);
	/* As long as promised, not a byte more: ASan watches the end. */
	frame = malloc(len < VIA_WIRE_HDR_MAX ? len : VIA_WIRE_HDR_MAX);
	if (!frame)
		return 0;
	memcpy(frame, data + 2,
	       len < VIA_WIRE_HDR_MAX ? len : VIA_WIRE_HDR_MAX);
	if (!via_wire_parse(frame, len, &h)) {
		PROMISE(h.hdr_len <= len && h.len <= len - h.hdr_len);
		PROMISE(h.hdr_len <= VIA_WIRE_HDR_MAX);
		if (h.type <= VIA_WIRE_READ_DATA)
			check_data(&h);
		else if (via_wire_has_conn(h.type))
			check_conn(frame);
		else if (h.type == VIA_WIRE_NAME_QUERY ||
			 h.type == VIA_WIRE_NAME_REPLY)
			check_name(frame);
	}
	free(frame);
	return 0;
}
