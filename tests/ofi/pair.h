/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef OFI_PAIR_H
#define OFI_PAIR_H

/* Ends of connections, for programs in which whatever fails is the end. */
#include <vipl.h>

#define SIZE		4096
#define PATIENCE_S	20

#define OK(call) must(#call, call, VIP_SUCCESS)

/* One end of a connection, with a NIC handle of its own. */
struct end {
	VIP_NIC_HANDLE nic;
	VIP_NIC_ATTRIBUTES attr;
	VIP_VI_HANDLE vi;
	VIP_MEM_HANDLE mem_h;
	char *mem;			/* SIZE bytes: 64 descriptors */
	unsigned int transfer;		/* longest message; 0: SIZE */
};

extern char *device;

/* End this process, on standard error, unless the code is the wanted one. */
void must(const char *call, VIP_RETURN r, VIP_RETURN want);
void fail(const char *what, long n) __attribute__((noreturn));

void open_end(struct end *e);
void new_vi(struct end *e);
VIP_DESCRIPTOR *descriptor(struct end *e, int i);
/* Wait for a request, for good; and make one, until the other end waits. */
void serve(struct end *e, const char *disc);
void request(struct end *e, const char *disc);
/* The status of a child, 128 and more after a signal, -1: it does not end. */
int wait_for_child(int pid);

#endif /* OFI_PAIR_H */
