/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a group may leave in its process apart from VIPL objects: threads,
 * open files, another standard error, limits.
 */
#ifndef CONFORMANCE_RESIDUE_H
#define CONFORMANCE_RESIDUE_H

#include <stdbool.h>

/* The process as it should be after the next group. */
void residue_mark(void);
/* False when it is not like that. */
bool residue_none(void);

#endif
