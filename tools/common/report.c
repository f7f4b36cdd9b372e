// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* perftest's columns on standard output, and the same as JSON lines. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "msg.h"
#include "report.h"

static FILE *json;
static const struct opts *run;
static const char *run_path, *run_level;
static bool heading_done;

void report_begin(const struct opts *o, const char *path, const char *level)
{
	run = o;
	run_path = path;
	run_level = level;
	if (!o->json)
		return;
	json = strcmp(o->json, "-") ? fopen(o->json, "we") : stdout;
	if (!json)
		die("--json %s: %s", o->json, strerror(errno));
}

static void heading(const char *line)
{
	if (!heading_done)
		printf("%s\n", line);
	heading_done = true;
}

static void json_begin(uint32_t size, uint64_t iters)
{
	fprintf(json, "{\"tool\":\"%s\",\"path\":\"%s\",\"level\":\"%s\","
		"\"op\":\"%s\",\"wait\":\"%s\",\"bidirectional\":%s,"
		"\"bytes\":%" PRIu32 ",\"iterations\":%" PRIu64,
		run->name, run_path, run_level, op_str(run->op),
		run->events ? "block" : "poll", run->bidir ? "true" : "false",
		size, iters);
}

void report_lat(uint32_t size, struct samples *s, uint64_t total_ns)
{
	struct lat_summary l;

	samples_summary(s, &l);
	heading(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]");
	printf(" %-7" PRIu32 " %-11zu    %-12.2f   %-12.2f %-14.2f     %-12.2f   %-14.2f  %-20.2f   %-20.2f\n",
	       size, s->n, l.min, l.max, l.typical, l.avg, l.stdev, l.p99,
	       l.p999);
	fflush(stdout);
	if (!json)
		return;
	json_begin(size, s->n);
	fprintf(json, ",\"t_min\":%.3f,\"t_max\":%.3f,\"t_typical\":%.3f,"
		"\"t_avg\":%.3f,\"t_stdev\":%.3f,\"p99\":%.3f,\"p999\":%.3f,"
		"\"half_rtt_ns\":%.1f}\n",
		l.min, l.max, l.typical, l.avg, l.stdev, l.p99, l.p999,
		(double)total_ns / 2 / (double)s->n);
	fflush(json);
}

double mbps(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 8000.0 / (double)ns : 0;
}

void report_bw(uint32_t size, const struct bw_summary *b)
{
	double avg = mbps(b->bytes, b->ns);
	double peak = b->peak > avg ? b->peak : avg;
	double mpps = b->ns ? (double)b->messages * 1000.0 / (double)b->ns : 0;

	heading(" #bytes     #iterations    BW peak[Mb/sec]    BW average[Mb/sec]   MsgRate[Mpps]");
	printf(" %-10" PRIu32 " %-14" PRIu64 " %-18.2f %-20.2f %-10.6f\n", size,
	       b->messages + b->lost, peak, avg, mpps);
	if (b->lost)
		printf("# %" PRIu64 " of %" PRIu64 " messages lost (%.2f%%); the average counts what arrived\n",
		       b->lost, b->messages + b->lost, 100.0 * (double)b->lost /
		       (double)(b->messages + b->lost));
	fflush(stdout);
	if (!json)
		return;
	json_begin(size, b->messages + b->lost);
	fprintf(json, ",\"bw_peak_mbps\":%.3f,\"bw_average_mbps\":%.3f,"
		"\"msg_rate_mpps\":%.6f,\"lost\":%" PRIu64
		",\"ns_per_byte\":%.4f}\n", peak, avg, mpps, b->lost,
		b->bytes ? (double)b->ns / (double)b->bytes : 0);
	fflush(json);
}

void report_end(void)
{
	if (!json)
		return;
	if (ferror(json) || (json != stdout && fclose(json)))
		die("--json %s: write failed", run->json);
	json = NULL;
}
