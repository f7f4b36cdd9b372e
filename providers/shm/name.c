// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Names and addresses. All NIC handles of a user and a space on a host, in a
 * network namespace, have one address; discriminators tell them apart.
 */
#include "../messages.h"
#include "shm.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPACE_MAX	9999ul

static uint64_t mix_bytes(uint64_t h, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	while (len--)
		h = (h ^ *b++) * 0x100000001b3u;
	return h ^ h >> 29;
}

/*
 * The same for all processes that can find each other here, and for no other.
 */
static void make_address(struct shm_nic *n)
{
	struct {
		char boot[40];
		uint64_t dev, ino;
		char space[32];
		uint32_t uid, zero;
	} all;
	struct stat st;
	uint64_t half[2];
	int fd;

	_Static_assert(sizeof(all) == 96, "the same in 32 and in 64 bits");
	memset(&all, 0, sizeof(all));
	fd = (int)syscall(SYS_openat, AT_FDCWD,
			  "/proc/sys/kernel/random/boot_id",
			  O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		syscall(SYS_read, fd, all.boot, sizeof(all.boot) - 1);
		close(fd);
	}
	if (!stat("/proc/self/ns/net", &st)) {
		all.dev = st.st_dev;
		all.ino = st.st_ino;
	}
	all.uid = geteuid();
	memcpy(all.space, n->space, sizeof(all.space));
	half[0] = mix_bytes(0xcbf29ce484222325u, &all, sizeof(all));
	half[1] = mix_bytes(half[0], &all, sizeof(all));
	memcpy(n->addr, half, sizeof(n->addr));
}

static int parse_space(const char *rest, unsigned long *space)
{
	char *end;

	*space = 0;
	if (!*rest)
		return 0;
	if (strspn(rest, "0123456789") != strlen(rest) || strlen(rest) > 4)
		return -1;
	*space = strtoul(rest, &end, 10);
	return *space > SPACE_MAX ? -1 : 0;
}

int shm_names(struct shm_nic *n, const char *rest)
{
	unsigned long space;

	if (parse_space(rest, &space))
		return -1;
	snprintf(n->space, sizeof(n->space), "%lu", space);
	if (gethostname(n->name, sizeof(n->name) - 1))
		strcpy(n->name, "localhost");
	make_address(n);
	return 0;
}

static void list_devices(void (*each)(void *arg, const char *device,
				      const char *what), void *arg)
{
	each(arg, "shm:0", "processes of this user on this host");
}

static int explain_device(const char *rest, char *line, size_t size)
{
	unsigned long space;
	int fd;

	if (parse_space(rest, &space)) {
		snprintf(line, size, "%s", MSG_SHM_NUMBER);
		return 0;
	}
	fd = memfd_create("vipl-explain", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0) {
		close(fd);
		return -1;
	}
	snprintf(line, size, "%s", MSG_SHM_SANDBOX);
	return 0;
}

static struct shm_nic *nic_of(struct vipl_nic *nic)
{
	return eng_nic_priv(vipl_priv(nic));
}

static int addr_parse(struct vipl_nic *nic, const char *text, uint8_t *host)
{
	unsigned int i, byte;
	(void)nic;

	if (strlen(text) != SHM_ADDR_LEN * 2 ||
	    strspn(text, "0123456789abcdefABCDEF") != SHM_ADDR_LEN * 2)
		return -1;
	for (i = 0; i < SHM_ADDR_LEN; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			return -1;
		host[i] = (uint8_t)byte;
	}
	return 0;
}

static void addr_format(struct vipl_nic *nic, const uint8_t *host, char *text,
			size_t size)
{
	unsigned int i;

	(void)nic;
	for (i = 0; i < SHM_ADDR_LEN && 2 * i + 2 < size; i++)
		snprintf(text + 2 * i, size - 2 * i, "%02x", host[i]);
}

/* "shm", "localhost", and the host's name with or without its domain. */
static VIP_RETURN resolve_name(struct vipl_nic *nic, const char *name,
			       VIP_ULONG index, uint8_t *host)
{
	const struct shm_nic *n = nic_of(nic);
	size_t len = strcspn(n->name, ".");

	if (index ||
	    (strcmp(name, "shm") && strcmp(name, "localhost") &&
	     strcmp(name, n->name) &&
	     (strncmp(name, n->name, len) || name[len])))
		return VIP_ERROR_NAMESERVICE;
	memcpy(host, n->addr, SHM_ADDR_LEN);
	return VIP_SUCCESS;
}

static VIP_RETURN name_of(struct vipl_nic *nic, const uint8_t *host,
			  char *name, size_t size)
{
	const struct shm_nic *n = nic_of(nic);

	if (memcmp(host, n->addr, SHM_ADDR_LEN) || strlen(n->name) >= size)
		return VIP_ERROR_NAMESERVICE;
	strcpy(name, n->name);
	return VIP_SUCCESS;
}

/* There is one host; it answers by being asked. */
static VIP_RETURN discover_hosts(struct vipl_nic *nic, struct vipl_named *out,
				 uint32_t *n)
{
	const struct shm_nic *own = nic_of(nic);

	if (!*n)
		return VIP_SUCCESS;
	*n = 1;
	memset(out, 0, sizeof(*out));
	memcpy(out->host, own->addr, SHM_ADDR_LEN);
	strcpy(out->name, own->name);
	return VIP_SUCCESS;
}

void shm_provider_names(struct vipl_provider *p)
{
	p->devices = list_devices;
	p->explain = explain_device;
	p->addr_parse = addr_parse;
	p->addr_format = addr_format;
	p->resolve = resolve_name;
	p->name_of = name_of;
	p->discover = discover_hosts;
}
