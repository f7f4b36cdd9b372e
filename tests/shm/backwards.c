// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Loaded before a program (LD_PRELOAD): the kernel refuses to copy between
 * processes, as a sandbox does, and memcpy() copies from the end to the start,
 * as no processor does. What holds then needs no processor's habit.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
				 offsetof(struct seccomp_data, field))
#define IS(value, yes)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, 0)
#define END(value)	BPF_STMT(BPF_RET | BPF_K, value)

void *memcpy(void *to, const void *from, size_t n)
{
	volatile unsigned char *t = to;
	const unsigned char *f = from;

	while (n--)
		t[n] = f[n];
	return to;
}

static __attribute__((constructor)) void refuse(void)
{
	struct sock_filter code[] = {
		LOAD(nr),
		IS(SYS_process_vm_readv, 2),
		IS(SYS_process_vm_writev, 1),
		END(SECCOMP_RET_ALLOW),
		END(SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog all = { sizeof(code) / sizeof(code[0]), code };

	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
		return;
	perror("backwards: seccomp");
	exit(77);
}
