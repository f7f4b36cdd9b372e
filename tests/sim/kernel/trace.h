/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tracepoints, as in a kernel without them. */
#ifndef SIM_KERNEL_TRACE_H
#define SIM_KERNEL_TRACE_H

#include "base.h"

#define TP_PROTO(...)		__VA_ARGS__
#define TRACE_EVENT(name, proto, ...) \
	static inline void trace_##name(proto) { } \
	static inline bool trace_##name##_enabled(void) { return false; }
#define DECLARE_EVENT_CLASS(name, ...)
#define DEFINE_EVENT(class, name, proto, ...) \
	static inline void trace_##name(proto) { } \
	static inline bool trace_##name##_enabled(void) { return false; }
#define TRACE_DEFINE_ENUM(name)	extern int sim_trace_enum
#define DECLARE_TRACEPOINT(name) extern int sim_tracepoint
#define tracepoint_enabled(name) false

#endif
