/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_EMIT_H
#define BENCH_EMIT_H

/*
 * One figure on standard output, in the form of build/bench.jsonl. The NIC's
 * model is not known here; bench.py adds it, and turns "ns" into
 * "instructions" where a nanosecond is one.
 */
void emit(const char *bench, const char *path, const char *level,
	  const char *wait, unsigned long size, const char *unit,
	  double value);

#endif
