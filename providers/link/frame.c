// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Frames of control sockets, built and parsed: see frame.h. */
#include "frame.h"
#include <errno.h>
#include <string.h>

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t len)
{
	if (len)
		memcpy(at, bytes, len);
	return at + len;
}

static int has_body(enum frame_type type)
{
	return type != FRAME_READY && type != FRAME_LIST &&
	       type != FRAME_END && type != FRAME_WAKE &&
	       type != FRAME_DISCONNECT;
}

size_t frame_build(const struct frame *f, uint8_t *buf)
{
	struct frame_head h = { .magic = FRAME_MAGIC, .type = f->type };
	uint8_t *at = buf + sizeof(h);

	if (has_body(f->type)) {
		at = put_bytes(at, &f->b, sizeof(f->b));
		at = put_bytes(at, f->endpoint, f->b.endpoint_len);
		at = put_bytes(at, f->text, f->b.text_len);
		at = put_bytes(at, f->data, f->b.data_len);
	}
	h.len = (uint16_t)((size_t)(at - buf) - sizeof(h));
	memcpy(buf, &h, sizeof(h));
	return (size_t)(at - buf);
}

int frame_parse(const uint8_t *buf, size_t len, struct frame *f)
{
	struct frame_head h;
	size_t rest;

	if (len < sizeof(h))
		return 0;
	memcpy(&h, buf, sizeof(h));
	if (h.magic != FRAME_MAGIC)
		return (h.magic ^ FRAME_MAGIC) < 0x100 ||
		       h.magic == __builtin_bswap32(FRAME_MAGIC) ?
		       -EPROTONOSUPPORT : -EPROTO;
	if (!h.type || h.type >= FRAME_TYPES ||
	    h.len > FRAME_MAX - sizeof(h))
		return -EPROTO;
	memset(f, 0, sizeof(*f));
	f->type = h.type;
	if (!has_body(f->type))
		return h.len ? -EPROTO : (int)sizeof(h);
	if (h.len < sizeof(f->b))
		return -EPROTO;
	if (len - sizeof(h) < h.len)
		return 0;
	memcpy(&f->b, buf + sizeof(h), sizeof(f->b));
	rest = h.len - sizeof(f->b);
	if (f->b.endpoint_len > FRAME_ENDPOINT || f->b.text_len > FRAME_TEXT ||
	    f->b.data_len > FRAME_DATA || f->b.files > 4 ||
	    rest != (size_t)f->b.endpoint_len + f->b.text_len + f->b.data_len)
		return -EPROTO;
	f->endpoint = buf + sizeof(h) + sizeof(f->b);
	f->text = f->endpoint + f->b.endpoint_len;
	f->data = f->text + f->b.text_len;
	return (int)(sizeof(h) + h.len);
}
