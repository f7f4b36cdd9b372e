// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "words.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t word_number(const char *s, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(s, &end, 0);
	if (errno || end == s || *end || *s == '-' || n < least || n > most) {
		fprintf(stderr, "viatest: '%s' is no number from %llu to %llu\n",
			s, (unsigned long long)least, (unsigned long long)most);
		exit(2);
	}
	return n;
}

void word_mac(const char *s, uint8_t *mac)
{
	if (sscanf(s, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &mac[0], &mac[1],
		   &mac[2], &mac[3], &mac[4], &mac[5]) != 6) {
		fprintf(stderr, "viatest: '%s' is no hardware address\n", s);
		exit(2);
	}
}
