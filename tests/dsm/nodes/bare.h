/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A VI between two nodes beside those of libviadsm: what its operations take is
 * the measure of the library's. For nodes of one host. A wait looks as often as
 * VIADSM_SPIN says before it sleeps, as those of the library do.
 */
#ifndef TESTS_DSM_BARE_H
#define TESTS_DSM_BARE_H

void bare_note(void);	/* before dsm_init(): what viadsm has told */
void bare_open(unsigned int rank);

/* 64 bytes from node 0 to node 1 and back. Both call it. */
void bare_round(void);

/* Node 0 alone, while node 1 waits in bare_round(). */
void bare_read_page(void);

#endif
