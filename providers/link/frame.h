/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef LINK_FRAME_H
#define LINK_FRAME_H

/*
 * Control sockets carry frames of one form, in the byte order of the
 * sender. A head, and unless its length is 0 a body and three byte strings. On
 * UNIX sockets a message is a frame, on TCP frames follow each other.
 */
#include <stddef.h>
#include <stdint.h>
#include <vipl/engine.h>

#define FRAME_MAGIC	0x4c495601u	/* changes with the format */
#define FRAME_ENDPOINT	112		/* bytes of an endpoint address */
#define FRAME_TEXT	64		/* of a discriminator, or a name */
#define FRAME_DATA	sizeof(((struct eng_hello *)0)->data)
#define FRAME_MAX	(sizeof(struct frame_head) + \
			 sizeof(struct frame_body) + FRAME_ENDPOINT + \
			 FRAME_TEXT + FRAME_DATA)

enum frame_type {
	/* a link to the directory's leader */
	FRAME_REGISTER = 1,	/* id, endpoint, text: host name */
	FRAME_WAITING,		/* text: discriminator; code: 1, or 0 no more */
	FRAME_READY,		/* every discriminator has been told */
	/* anybody to the leader, and its answers */
	FRAME_ASK,		/* token, text: discriminator */
	FRAME_ANSWER,		/* token, code: 0 or errno; id, endpoint */
	FRAME_LIST,
	FRAME_NAME,		/* text: host name */
	FRAME_END,		/* of names */
	/* link to link */
	FRAME_HELLO,		/* id, other, version, data, files */
	FRAME_HELLO_ACK,	/* the same, in answer */
	FRAME_REFUSE,		/* code: errno */
	FRAME_WAKE,
	FRAME_DISCONNECT,	/* orderly end */
	FRAME_TYPES
};

struct frame_head {
	uint32_t magic;
	uint16_t type;
	uint16_t len;		/* bytes after the head */
};

struct frame_body {
	uint64_t id;		/* of the sender, or what it answers with */
	uint64_t other;		/* of the receiver */
	uint32_t token;		/* of a question */
	int32_t code;
	uint32_t version;	/* of the data */
	uint16_t endpoint_len;	/* bytes */
	uint16_t text_len;	/* bytes */
	uint16_t data_len;	/* bytes */
	uint16_t files;		/* that come with it */
	uint32_t zero;
};

/* A frame taken apart, or to be put together. Strings point elsewhere. */
struct frame {
	enum frame_type type;
	struct frame_body b;
	const uint8_t *endpoint, *text, *data;
};

/* Bytes written to buf, which has FRAME_MAX. */
size_t frame_build(const struct frame *f, uint8_t *buf);
/*
 * The only parser. Bytes that the frame takes, 0 when it is not all there, or
 * -EPROTO (-EPROTONOSUPPORT: of another version or byte order).
 */
int frame_parse(const uint8_t *buf, size_t len, struct frame *f);

#endif /* LINK_FRAME_H */
