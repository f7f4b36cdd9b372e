// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via limit: what one user may have, on all VI NICs together. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "messages.h"
#include "via.h"

struct shown {
	const char	*name;		/* this one only, or NULL */
	unsigned int	n;
};

static void show_one(uint8_t cmd, struct nlattr **attrs, void *arg)
{
	struct shown *s = arg;
	const char *name;
	uint64_t value;

	(void)cmd;
	if (!attrs[VIA_NL_A_LIMIT_NAME] || !attrs[VIA_NL_A_LIMIT_VALUE])
		return;
	name = mnl_attr_get_str(attrs[VIA_NL_A_LIMIT_NAME]);
	value = mnl_attr_get_u64(attrs[VIA_NL_A_LIMIT_VALUE]);
	if (s->name && strcmp(s->name, name))
		return;
	s->n++;
	json_object(&out);
	json_str(&out, "limit", name);
	json_num(&out, "value", value);
	json_object_end(&out);
	if (!out.file && value)
		printf("%s %" PRIu64 "\n", name, value);
	else if (!out.file)
		printf("%s none\n", name);
}

static int show(struct words *w)
{
	struct shown s = { .name = next_word(w) };
	int ret;

	no_more_words(w);
	nl_need();
	json_begin(&out);
	ret = nl_call(nl_message(VIA_NL_CMD_LIMIT_GET, NLM_F_DUMP), show_one,
		      &s);
	json_end(&out);
	if (ret)
		die(MSG_VIA_LIMITS, nl_error(ret));
	if (s.name && !s.n)
		die(MSG_VIA_NO_LIMIT, s.name);
	return DONE;
}

bool limit_known(const char *name)
{
	const char *at = LIMIT_NAMES;
	size_t len = strlen(name), n;

	for (; *at; at += n + strspn(at + n, ", ")) {
		n = strcspn(at, ",");
		if (n == len && !memcmp(at, name, n))
			return true;
	}
	return false;
}

int limit_change(const char *name, const char *value)
{
	struct nlmsghdr *nlh;
	uint64_t number;
	char *end;
	int ret;

	errno = 0;
	number = strtoull(value, &end, 0);
	if (errno || end == value || *end || strchr("-+ ", *value) ||
	    !*name || strlen(name) > VIA_NL_LIMIT_MAX)
		return -EINVAL;
	nl_need();
	nlh = nl_message(VIA_NL_CMD_LIMIT_SET, 0);
	mnl_attr_put_strz(nlh, VIA_NL_A_LIMIT_NAME, name);
	mnl_attr_put_u64(nlh, VIA_NL_A_LIMIT_VALUE, number);
	ret = nl_call(nlh, NULL, NULL);
	if (ret)
		warn_msg(MSG_VIA_LIMIT, name, nl_error(ret));
	return ret ? -EPERM : 0;
}

static int set(struct words *w)
{
	const char *name = need_word(w, "the limit");
	const char *value = need_word(w, "its value");
	int ret;

	no_more_words(w);
	ret = limit_change(name, value);
	if (ret == -EINVAL)
		usage_error(MSG_USAGE_LIMIT, name, value);
	return ret ? REFUSED : DONE;
}

int do_limit(struct words *w)
{
	static const struct command list[] = {
		{ "show", show },
		{ "set", set },
		{ 0 }
	};

	return run_command(list, "command of limit", w);
}
