/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Words of a command line; where one is wrong the program ends, status 2. */
#ifndef TESTS_WORDS_H
#define TESTS_WORDS_H

#include <stdint.h>

uint64_t word_number(const char *s, uint64_t least, uint64_t most);
/* A hardware address: 6 bytes. */
void word_mac(const char *s, uint8_t *mac);

#endif
