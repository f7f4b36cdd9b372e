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
/* A measurement starts now; what comes of it is of messages of this size. */
void report_start(void);
/* That many messages are over: what the processor did for them. */
void report_stop(uint64_t messages);
/* why: NULL, or why the figures are of a part of the run. */
void report_lat(uint32_t size, struct samples *s, uint64_t total_ns,
		const char *why);
void report_bw(uint32_t size, const struct bw_summary *b, const char *why);
/* Of the time between two readings of the clock, while it runs. */
void report_lat_interval(uint32_t size, const struct samples *s, size_t first,
			 uint64_t from, uint64_t to);
void report_bw_interval(uint32_t size, uint64_t messages, uint64_t from,
			uint64_t to);
/* A line aside from the figures. */
void report_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void report_end(void);

double mbps(uint64_t bytes, uint64_t ns);

#endif
