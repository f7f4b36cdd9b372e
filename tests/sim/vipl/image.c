// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The variables of the two images. */
#include "posix.h"

/* Of redirect.h's sections; the copy's have another name, see Makefile.inc. */
extern char __start_sim_data[], __stop_sim_data[];
extern char __start_sim_bss[], __stop_sim_bss[];
extern char __start_sim_tls[], __stop_sim_tls[];
extern char __start_sim_data_b[], __stop_sim_data_b[];
extern char __start_sim_bss_b[], __stop_sim_bss_b[];
extern char __start_sim_tls_b[], __stop_sim_tls_b[];

struct area {
	char *from, *to;
	char *was;
};

static struct area areas[PX_IMAGES][2] = {
	{ { __start_sim_data, __stop_sim_data, NULL },
	  { __start_sim_bss, __stop_sim_bss, NULL } },
	{ { __start_sim_data_b, __stop_sim_data_b, NULL },
	  { __start_sim_bss_b, __stop_sim_bss_b, NULL } },
};

/* Not memcpy(): AddressSanitizer's zones between variables are in it. */
static void copy(char *to, const char *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (n)
			 : : "memory");
}

/* As constructors left them, the first time. */
void px_image_load(int image)
{
	struct area *a;
	size_t n;

	for (a = areas[image]; a < areas[image] + 2; a++) {
		n = a->to - a->from;
		if (a->was) {
			copy(a->from, a->was, n);
			continue;
		}
		a->was = malloc(n);
		if (!a->was)
			abort();
		copy(a->was, a->from, n);
	}
}

void *px_image_tls(int image, size_t *bytes)
{
	char *from = image ? __start_sim_tls_b : __start_sim_tls;
	char *to = image ? __stop_sim_tls_b : __stop_sim_tls;

	*bytes = to - from;
	return from;
}
