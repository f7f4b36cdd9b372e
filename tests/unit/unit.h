/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What every unit test program needs besides CUnit: a table of tests, and a
 * main() whose exit status is the verdict.
 *
 *	static void wraps(void) { CU_ASSERT(...); }
 *	UNIT_MAIN("window", { "sequence numbers wrap", wraps });
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <CUnit/Basic.h>
#include <stdarg.h>
#include <stdio.h>

struct unit_test {
	const char *name;
	void (*fn)(void);
};

static inline int unit_run(const char *suite, const struct unit_test *tests,
			   unsigned int count)
{
	CU_pSuite s;
	unsigned int i;
	int bad = 1;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	s = CU_add_suite(suite, NULL, NULL);
	for (i = 0; s && i < count; i++)
		if (!CU_add_test(s, tests[i].name, tests[i].fn))
			s = NULL;
	if (s) {
		CU_basic_set_mode(CU_BRM_NORMAL);
		CU_basic_run_tests();
		bad = CU_get_number_of_failures() != 0 ||
		      CU_get_number_of_tests_run() != count;
	}
	CU_cleanup_registry();
	fflush(stdout);
	return bad;
}

/* The function for messages of the tested code: prints a line. */
static inline void unit_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* The result of @call while @field is @value; @field is set back. */
#define WITH(field, value, call, want) do {				\
		__typeof__(field) was_ = (field);			\
									\
		(field) = (value);					\
		CU_ASSERT_EQUAL(call, want);				\
		(field) = was_;						\
	} while (0)

#define UNIT_MAIN(suite, ...)						\
int main(void)								\
{									\
	static const struct unit_test tests[] = { __VA_ARGS__ };	\
									\
	return unit_run(suite, tests, sizeof(tests) / sizeof(tests[0]));\
}									\
struct unit_main_needs_a_semicolon

#endif
