// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <inttypes.h>
#include <math.h>

#include "json.h"

void json_begin(struct json *j)
{
	j->any = false;
	if (j->file && j->form != JSON_LINES)
		fputc('[', j->file);
}

void json_end(struct json *j)
{
	bool apart = j->any && j->form != JSON_ARRAY;

	if (j->file && j->form != JSON_LINES)
		fprintf(j->file, "%s]\n", apart ? "\n" : "");
}

void json_object(struct json *j)
{
	j->first = true;
	if (!j->file)
		return;
	if (j->any && j->form != JSON_LINES)
		fputc(',', j->file);
	if (j->form == JSON_ROWS || j->form == JSON_PRETTY)
		fputs("\n  ", j->file);
	fputc('{', j->file);
	j->any = true;
}

void json_object_end(struct json *j)
{
	if (!j->file)
		return;
	fprintf(j->file, "%s}", j->form == JSON_PRETTY ? "\n  " : "");
	if (j->form != JSON_LINES)
		return;
	/* A reader at the other end of a pipe has each line at once. */
	fputc('\n', j->file);
	fflush(j->file);
}

static void text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static bool member(struct json *j, const char *name)
{
	if (!j->file)
		return false;
	if (!j->first)
		fputc(',', j->file);
	if (j->form == JSON_PRETTY)
		fputs("\n    ", j->file);
	j->first = false;
	text(j->file, name);
	fputs(j->form == JSON_PRETTY ? ": " : ":", j->file);
	return true;
}

void json_str(struct json *j, const char *name, const char *value)
{
	if (member(j, name))
		text(j->file, value);
}

void json_num(struct json *j, const char *name, uint64_t value)
{
	if (member(j, name))
		fprintf(j->file, "%" PRIu64, value);
}

void json_int(struct json *j, const char *name, int64_t value)
{
	if (member(j, name))
		fprintf(j->file, "%" PRId64, value);
}

/* JSON has neither infinities nor what is no number. */
void json_real(struct json *j, const char *name, double value, int decimals)
{
	if (!member(j, name))
		return;
	if (isfinite(value))
		fprintf(j->file, "%.*f", decimals, value);
	else
		fputs("null", j->file);
}

void json_bool(struct json *j, const char *name, bool value)
{
	if (member(j, name))
		fputs(value ? "true" : "false", j->file);
}

void json_members(struct json *j, const char *name)
{
	if (!member(j, name))
		return;
	fputc('{', j->file);
	j->first = true;
}

void json_members_end(struct json *j)
{
	if (!j->file)
		return;
	fputc('}', j->file);
	j->first = false;
}

void json_list(struct json *j, const char *name)
{
	if (!member(j, name))
		return;
	fputc('[', j->file);
	j->first = true;
}

void json_item(struct json *j, const char *value)
{
	if (!j->file)
		return;
	if (!j->first)
		fputc(',', j->file);
	j->first = false;
	text(j->file, value);
}

void json_list_end(struct json *j)
{
	if (!j->file)
		return;
	fputc(']', j->file);
	j->first = false;
}
