/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <stdint.h>

#include "opts.h"
#include "samples.h"

struct bw_summary {
	uint64_t	messages;	/* that arrived */
	uint64_t	lost;
	uint64_t	bytes;		/* that arrived */
	uint64_t	ns;
	double		peak;		/* Mb/s */
};

/* What is measured over: a NIC and a path, for the heading and JSON. */
void report_begin(const struct opts *o, const char *path, const char *level);
void report_lat(uint32_t size, struct samples *s, uint64_t total_ns);
void report_bw(uint32_t size, const struct bw_summary *b);
void report_end(void);

double mbps(uint64_t bytes, uint64_t ns);

#endif
