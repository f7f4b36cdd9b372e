/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Command lines: tables of commands, of their modes and of their options. */
#ifndef TESTS_ARGS_H
#define TESTS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

/* What the command line has given: a mode reads what it needs. */
extern struct args {
	const char *device;		/* NIC, as via_eth0 */
	const char *peer;		/* another NIC of this machine */
	const char *netns;		/* where that one lives */
	const char *group;		/* a control group's folder */
	const char *host;		/* NULL: the device's own address */
	uint32_t count;			/* of what the mode is about */
	uint32_t threads;		/* or processes */
	uint32_t seconds;		/* or rounds */
	uint32_t limit;			/* ms that are too long */
	uint64_t seed;
} args;

/* One option.  The pointer that is set is where its value goes. */
struct option_row {
	const char *name;		/* "-n" or "--messages" */
	const char *value;		/* as the help calls it */
	const char *help;
	bool *flag;
	const char **text;
	uint32_t *number;
	uint64_t *seed;
};

#define FLAG(name, help, to)		{ name, "", help, .flag = &(to) }
#define TEXT(name, value, help, to)	{ name, value, help, .text = &(to) }
#define NUMBER(name, value, help, to)	{ name, value, help, .number = &(to) }
#define SEED(name, help)		{ name, "N", help, .seed = &args.seed }

/* A mode of a command, or a command of viatest.  A table ends with { 0 }. */
struct choice {
	const char *name;
	int (*mode)(void);
	const char *help;
	int (*command)(int argc, char **argv);
	uint32_t count;			/* args.count without -n */
	bool peer, group;		/* it needs args.peer, args.group */
};

#define MODE(text, function, what, ...) \
	{ .name = text, .mode = function, .help = what, ##__VA_ARGS__ }

struct command {
	const char *usage;		/* behind "usage: viatest" */
	const struct choice *choices;	/* NULL: it has none */
	const struct option_row *options;
	bool host;			/* it may have one, behind the mode */
	const char *more;		/* end of the help */
};

const struct choice *choice_of(const struct command *c, const char *name);
void command_help(const struct command *c, bool asked)
	__attribute__((noreturn));
/* Says what is wrong, and how it is right; status 2. */
void command_wrong(const struct command *c, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));
/* Fills args; the mode, where there are modes. */
const struct choice *command_parse(const struct command *c, int argc,
				   char **argv);

#endif
