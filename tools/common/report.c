// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * perftest's columns, the same as JSON lines, and HdrHistogram's interval log.
 * Where JSON goes to standard output, all else goes to standard error.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "hist.h"
#include "json.h"
#include "msg.h"
#include "report.h"

static FILE *table, *log_file;
static struct json json;
static const struct opts *run;
static const char *run_path, *run_level;
static uint64_t run_start;	/* ns: what a log counts from */
static uint64_t size_start;
static double cpu_start;	/* usec */
static double cpu_each = -1;	/* usec of a message, < 0: not known */
static bool heading_done;

static FILE *open_file(const char *option, const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		die("%s %s: %s", option, path, strerror(errno));
	return f;
}

static void log_begin(void)
{
	struct timespec now;
	char text[64];

	clock_gettime(CLOCK_REALTIME, &now);
	strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Z %Y",
		 localtime(&(time_t){ now.tv_sec }));
	fprintf(log_file, "#[%s, %s, %s: half round trips in ns, Tag=BYTES]\n"
		"#[Histogram log format version 1.3]\n"
		"#[StartTime: %lld.%03ld (seconds since epoch), %s]\n"
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		run->name, run_path, run_level, (long long)now.tv_sec,
		now.tv_nsec / 1000000, text);
}

void report_begin(const struct opts *o, const char *path, const char *level)
{
	bool to_stdout = o->json && !strcmp(o->json, "-");

	run = o;
	run_path = path;
	run_level = level;
	run_start = now_ns();
	table = to_stdout ? stderr : stdout;
	if (o->json)
		json.file = to_stdout ? stdout : open_file("--json", o->json);
	/* A server has no figures. */
	if (!o->histogram)
		return;
	log_file = open_file("--histogram", o->histogram);
	log_begin();
}

/* Of all threads of this process, in microseconds. */
static double cpu_used(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

void report_start(void)
{
	size_start = now_ns();
	cpu_start = cpu_used();
	cpu_each = -1;
}

void report_stop(uint64_t messages)
{
	if (cpu_each < 0 && messages)
		cpu_each = (cpu_used() - cpu_start) / (double)messages;
}

static void heading(const char *line)
{
	if (!heading_done)
		fprintf(table, "%s\n", line);
	heading_done = true;
}

void report_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("# ", table);
	vfprintf(table, fmt, ap);
	fputc('\n', table);
	fflush(table);
	va_end(ap);
}

static void note_partial(const char *why)
{
	if (why)
		report_note("partial, the figures are of what came before: %s",
			    why);
}

static void json_row(uint32_t size, uint64_t iters, const char *why)
{
	json_object(&json);
	json_str(&json, "tool", run->name);
	json_str(&json, "path", run_path);
	json_str(&json, "level", run_level);
	json_str(&json, "op", op_str(run->op));
	json_str(&json, "wait", run->events ? "block" : "poll");
	json_bool(&json, "bidirectional", run->bidir);
	if (run->prog == OPT_BW)
		json_num(&json, "connections", run->conns);
	json_num(&json, "bytes", size);
	json_num(&json, "iterations", iters);
	if (why)
		json_str(&json, "partial", why);
}

static void json_span(uint64_t from, uint64_t to)
{
	json_real(&json, "from_s", (double)(from - size_start) / 1e9, 3);
	json_real(&json, "to_s", (double)(to - size_start) / 1e9, 3);
}

/* Of the samples from the first one on; the caller frees it. */
static struct hist *make_hist(const struct samples *s, size_t first)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	for (size_t i = first; i < s->n; i++)
		hist_add(h, s->v[i] / 2);
	return h;
}

static void log_hist(uint32_t size, const struct hist *h, uint64_t from,
		     uint64_t to)
{
	fprintf(log_file, "Tag=%" PRIu32 ",%.3f,%.3f,%.3f,", size,
		(double)(from - run_start) / 1e9, (double)(to - from) / 1e9,
		(double)h->max / 1e6);
	hist_write(h, log_file);
	fputc('\n', log_file);
	fflush(log_file);
}

static const char *cpu_text(int decimals)
{
	static char text[32];

	if (cpu_each < 0)
		return "-";
	snprintf(text, sizeof(text), "%.*f", decimals, cpu_each);
	return text;
}

static void json_cpu(void)
{
	if (cpu_each >= 0)
		json_real(&json, "cpu_us_per_message", cpu_each, 3);
}

static void print_lat(uint32_t size, const struct samples *s,
		      const struct lat_summary *l)
{
	if (!heading_done)
		report_note("%s in usec; cpu: of this end, for each message",
			    run->op == OP_READ ? "RDMA Reads" :
						 "half round trips");
	heading(" #bytes #iterations t_min    t_max t_typical   t_avg t_stdev"
		"     99%   99.9%     90%  99.99%   cpu");
	fprintf(table, " %-7" PRIu32 " %-9zu %7.2f %8.2f %9.2f %7.2f %7.2f"
		" %7.2f %7.2f %7.2f %7.2f %5s\n",
		size, s->n, l->min, l->max, l->typical, l->avg, l->stdev,
		l->p99, l->p999, l->p90, l->p9999, cpu_text(2));
	fflush(table);
}

void report_lat(uint32_t size, struct samples *s, uint64_t total_ns,
		const char *why)
{
	struct lat_summary l;

	if (!s->n) {
		report_note("nothing of %" PRIu32 " bytes was measured: %s",
			    size, why);
		return;
	}
	/* With -i each interval has a line of its own in the log. */
	if (log_file && !run->interval_ns) {
		struct hist *h = make_hist(s, 0);

		log_hist(size, h, size_start ? size_start : run_start,
			 now_ns());
		free(h);
	}
	samples_summary(s, &l);
	print_lat(size, s, &l);
	note_partial(why);
	json_row(size, s->n, why);
	json_real(&json, "t_min", l.min, 3);
	json_real(&json, "t_max", l.max, 3);
	json_real(&json, "t_typical", l.typical, 3);
	json_real(&json, "t_avg", l.avg, 3);
	json_real(&json, "t_stdev", l.stdev, 3);
	json_real(&json, "p50", l.typical, 3);
	json_real(&json, "p90", l.p90, 3);
	json_real(&json, "p99", l.p99, 3);
	json_real(&json, "p999", l.p999, 3);
	json_real(&json, "p9999", l.p9999, 3);
	json_real(&json, "half_rtt_ns",
		  (double)total_ns / 2 / (double)s->n, 1);
	json_cpu();
	json_object_end(&json);
}

void report_lat_interval(uint32_t size, const struct samples *s, size_t first,
			 uint64_t from, uint64_t to)
{
	struct hist *h = make_hist(s, first);
	double p50 = (double)hist_at(h, 0.5) / 1000;
	double p99 = (double)hist_at(h, 0.99) / 1000;
	double max = (double)h->max / 1000;

	report_note("%.2f-%.2f s: %" PRIu32 " bytes, %" PRIu64 " samples, 50%% %.2f, 99%% %.2f, max %.2f usec",
		    (double)(from - size_start) / 1e9,
		    (double)(to - size_start) / 1e9, size, h->n, p50, p99,
		    max);
	if (log_file)
		log_hist(size, h, from, to);
	json_row(size, h->n, NULL);
	json_span(from, to);
	json_real(&json, "p50", p50, 3);
	json_real(&json, "p99", p99, 3);
	json_real(&json, "t_max", max, 3);
	json_object_end(&json);
	free(h);
}

double mbps(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 8000.0 / (double)ns : 0;
}

void report_bw(uint32_t size, const struct bw_summary *b, const char *why)
{
	double avg = mbps(b->bytes, b->ns);
	double peak = b->peak > avg ? b->peak : avg;
	double mpps = b->ns ? (double)b->messages * 1000.0 / (double)b->ns : 0;

	heading(" #bytes     #iterations    BW peak[Mb/sec]    BW average[Mb/sec]   MsgRate[Mpps]  cpu[usec/msg]");
	fprintf(table, " %-10" PRIu32 " %-14" PRIu64 " %-18.2f %-20.2f %-14.6f %s\n",
		size, b->messages + b->lost, peak, avg, mpps, cpu_text(3));
	fflush(table);
	if (b->lost)
		report_note("%" PRIu64 " of %" PRIu64 " messages lost (%.2f%%); the average counts what arrived",
			    b->lost, b->messages + b->lost,
			    100.0 * (double)b->lost /
			    (double)(b->messages + b->lost));
	note_partial(why);
	json_row(size, b->messages + b->lost, why);
	json_real(&json, "bw_peak_mbps", peak, 3);
	json_real(&json, "bw_average_mbps", avg, 3);
	json_real(&json, "msg_rate_mpps", mpps, 6);
	json_num(&json, "lost", b->lost);
	json_cpu();
	json_real(&json, "ns_per_byte",
		  b->bytes ? (double)b->ns / (double)b->bytes : 0, 4);
	json_object_end(&json);
}

void report_bw_interval(uint32_t size, uint64_t messages, uint64_t from,
			uint64_t to)
{
	double avg = mbps(messages * size, to - from);

	report_note("%.2f-%.2f s: %" PRIu32 " bytes, %" PRIu64 " messages, %.2f Mb/sec",
		    (double)(from - size_start) / 1e9,
		    (double)(to - size_start) / 1e9, size, messages, avg);
	json_row(size, messages, NULL);
	json_span(from, to);
	json_real(&json, "bw_average_mbps", avg, 3);
	json_object_end(&json);
}

static void close_file(FILE *f, const char *option, const char *path)
{
	if (f && (ferror(f) || (f == stdout ? fflush(f) : fclose(f))))
		die("%s %s: write failed", option, path);
}

void report_end(void)
{
	close_file(json.file, "--json", run->json);
	close_file(log_file, "--histogram", run->histogram);
	json.file = log_file = NULL;
}
