// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "checks.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct verdicts *verdicts;
static void (*before[32])(void);
static unsigned int n_before;
static __thread char about_text[128];

static const char *const rc_names[] = {
	"SUCCESS", "NOT_DONE", "INVALID_PARAMETER", "ERROR_RESOURCE",
	"TIMEOUT", "REJECT", "INVALID_RELIABILITY_LEVEL", "INVALID_MTU",
	"INVALID_QOS", "INVALID_PTAG", "INVALID_RDMAREAD", "DESCRIPTOR_ERROR",
	"INVALID_STATE", "ERROR_NAMESERVICE", "NO_MATCH", "NOT_REACHABLE",
	"ERROR_NOT_SUPPORTED",
};

const char *rc_name(VIP_RETURN rc)
{
	if ((unsigned int)rc < ARRAY_SIZE(rc_names))
		return rc_names[rc];
	return "a value outside VIP_RETURN";
}

const char *level_name(VIP_RELIABILITY_LEVEL level)
{
	switch (level) {
	case VIP_SERVICE_UNRELIABLE:
		return "unreliable";
	case VIP_SERVICE_RELIABLE_DELIVERY:
		return "rd";
	case VIP_SERVICE_RELIABLE_RECEPTION:
		return "rr";
	}
	return "?";
}

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void pause_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static const char *base(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static bool record(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static bool record(bool ok, const char *file, int line, const char *fmt, ...)
{
	struct failure *f;
	unsigned int n;
	va_list ap;
	int len;

	verdicts->step = line;
	snprintf(verdicts->step_file, sizeof(verdicts->step_file), "%s",
		 base(file));
	if (ok) {
		__atomic_fetch_add(&verdicts->passed, 1, __ATOMIC_RELAXED);
		return true;
	}
	n = __atomic_fetch_add(&verdicts->failed, 1, __ATOMIC_RELAXED);
	if (n >= MAX_FAILURES)
		return false;
	f = &verdicts->failures[n];
	f->line = line;
	snprintf(f->file, sizeof(f->file), "%s", base(file));
	va_start(ap, fmt);
	len = vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	if (about_text[0] && len < (int)sizeof(f->text))
		snprintf(f->text + len, sizeof(f->text) - len, " [%s]",
			 about_text);
	return false;
}

void about(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(about_text, sizeof(about_text), fmt, ap);
	va_end(ap);
}

bool check_(bool ok, const char *text, const char *file, int line)
{
	return record(ok, file, line, "%s", text);
}

bool check_rc_(VIP_RETURN rc, VIP_RETURN want, const char *text,
	       const char *file, int line)
{
	return record(rc == want, file, line, "%s gave %s, wanted %s", text,
		      rc_name(rc), rc_name(want));
}

bool check_rc_any_(VIP_RETURN rc, const int *wanted, const char *text,
		   const char *file, int line)
{
	char names[200] = "";
	bool ok = false;
	int len = 0;

	for (; *wanted >= 0; wanted++) {
		ok |= (int)rc == *wanted;
		if (len < (int)sizeof(names))
			len += snprintf(names + len, sizeof(names) - len,
					"%s%s", len ? " or " : "",
					rc_name(*wanted));
	}
	return record(ok, file, line, "%s gave %s, wanted %s", text,
		      rc_name(rc), names);
}

bool check_eq_(unsigned long long got, unsigned long long want,
	       const char *text, const char *file, int line)
{
	return record(got == want, file, line, "%s: %llu (0x%llx), wanted "
		      "%llu (0x%llx)", text, got, got, want, want);
}

void give_up(void)
{
	verdicts->finished = 1;
	_exit(1);
}

void harness_before_each(void (*fn)(void))
{
	if (n_before == ARRAY_SIZE(before))
		abort();
	before[n_before++] = fn;
}

void checks_about_nothing(void)
{
	about_text[0] = 0;
}

void checks_begin(void)
{
	unsigned int i;

	checks_about_nothing();
	for (i = 0; i < n_before; i++)
		before[i]();
}
