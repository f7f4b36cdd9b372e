/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Objects as JSON (RFC 8259), as the tools and the benchmarks write them. A
 * writer without a file writes nothing, so that its callers need not ask.
 */
enum json_form {
	JSON_LINES,		/* an object a line */
	JSON_ARRAY,		/* one array, in one line */
	JSON_ROWS,		/* one array, an object a line */
	JSON_PRETTY,		/* one array, a member a line */
};

struct json {
	FILE		*file;	/* NULL: write nothing */
	enum json_form	form;
	bool		any;	/* an object came before this one */
	bool		first;	/* the next member or element has none before */
};

/* The array begins and ends; with JSON_LINES there is none. */
void json_begin(struct json *j);
void json_end(struct json *j);

void json_object(struct json *j);
void json_object_end(struct json *j);

/* Members of an object. */
void json_str(struct json *j, const char *name, const char *value);
void json_num(struct json *j, const char *name, uint64_t value);
void json_int(struct json *j, const char *name, int64_t value);
void json_real(struct json *j, const char *name, double value, int decimals);
void json_bool(struct json *j, const char *name, bool value);

/* A member that is an object: the members until its end. */
void json_members(struct json *j, const char *name);
void json_members_end(struct json *j);

/* A member that is an array of strings. */
void json_list(struct json *j, const char *name);
void json_item(struct json *j, const char *value);
void json_list_end(struct json *j);

#endif
