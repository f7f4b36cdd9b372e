/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The calls of the device node, without the library.  Each returns 0, a
 * verdict (VIA_R_*), or -errno.
 */
#ifndef TESTS_ABI_H
#define TESTS_ABI_H

#include <stdint.h>
#include <uapi/via.h>

/* A handle, with its control page mapped. */
struct abi {
	int fd;
	void *ctl;
	struct via_hello hello;
};

int abi_open(struct abi *a, const char *path);
void abi_close(struct abi *a);

int abi_call(int fd, unsigned long request, void *arg);
/* What takes the id of a VI, CQ, tag or request alone. */
int abi_id(int fd, unsigned long request, uint32_t id);
/* Its control page; MAP_FAILED without. */
void *abi_ctl(int fd);
/* MAP_FAILED, or what a call has said can be mapped. */
void *abi_map(int fd, uint64_t size, uint64_t offset);

int abi_vi_create(int fd, uint32_t level, uint32_t bytes, uint32_t *vi);
int abi_register(int fd, const void *p, uint64_t len, uint32_t *handle);
int abi_deregister(int fd, const void *p, uint32_t handle);
/* The verdict of an attempt to connect. */
int abi_result(int fd, uint32_t vi, uint32_t flags);

/* host: the address of a NIC like the one that said hello. */
void abi_address(struct via_net_addr *a, const struct via_hello *hello,
		 const uint8_t *host, const char *disc);

#endif
