/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* In place of the kernel's, for unit tests. */
#ifndef UNIT_STRING_H
#define UNIT_STRING_H

#include <string.h>

#define memzero_explicit(p, n)	explicit_bzero(p, n)

#endif
