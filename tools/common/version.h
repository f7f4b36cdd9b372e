/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_VERSION_H
#define TOOLS_VERSION_H

/* What getopt_long() returns for -V and --version, in every tool. */
#define OPT_VERSION	'V'
#define VERSION_LONG	{ "version", no_argument, NULL, OPT_VERSION }
#define VERSION_HELP	"print the release"

/* The program's name and the release of the tree; exits with 0. */
void print_version(const char *program) __attribute__((noreturn));

#endif
