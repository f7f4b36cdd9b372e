/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* viatest fault: the nth allocation of a thread's next call fails. */
#ifndef FAULT_H
#define FAULT_H

/* What was made to fail. */
enum fault {
	FAULT_NONE,		/* the call makes fewer than n */
	FAULT_MEMORY,
	FAULT_COPY,		/* not memory, but a copy from or to the user */
};

extern unsigned int fault_stride, fault_first;

/* One sets up, 0 when the kernel can do it. */
int fault_init(void);
/* From here on the nth of this thread fails; and no more. */
void fault_arm(unsigned int n);
enum fault fault_disarm(void);

/* Each returns the number of things that went wrong. */
unsigned int fault_operations(const char *device, const char *only);
unsigned int fault_module(const char *path, const char *parameters);
unsigned int fault_attach(const char *interface);

#endif
