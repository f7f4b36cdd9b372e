/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_VIA_VIA_H
#define TOOLS_VIA_VIA_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "common/json.h"
#include "nl.h"

/* Where -j writes; without it there is no file. */
extern struct json out;

/* What a command ends with. */
enum { DONE = 0, REFUSED = 1, USAGE = 2 };

/* What is left of the command line. */
struct words {
	int	n;
	char	**word;
};

/* The next one, or NULL. */
const char *next_word(struct words *w);
/* The next one, which must be there; else what it is to be, and USAGE. */
const char *need_word(struct words *w, const char *what);
void no_more_words(struct words *w);

/* Ends with USAGE. */
void usage_error(const char *fmt, ...)
	__attribute__((__noreturn__, __format__(printf, 1, 2)));

struct command {
	const char	*name;
	int		(*run)(struct words *w);
};

/* The next word as a command of the list, its first one without a word. */
int run_command(const struct command *list, const char *what, struct words *w);

/* -s, -o: counters beside objects; one line for each object. */
extern bool show_stats, show_oneline;

/* Reads the counters of that VI NIC or of all (NULL) if -s is set. */
void stats_read(const char *nic, bool vis);
/* Those of a VI NIC (vi: UINT32_MAX) or a VI, behind its line or as a member. */
void stats_show(const char *nic, uint32_t vi);

/* -c: what stands behind it, or NULL. */
void color_option(const char *when);
enum color {
	COLOR_NONE, COLOR_NIC, COLOR_MAC, COLOR_IP4, COLOR_IP6, COLOR_GOOD,
	COLOR_BAD,
};

/* Text in its colour if the output has colours. */
void put(enum color color, const char *text);
/* An address, in the colour of its kind. */
void put_address(const char *text);

void help_all(FILE *to);
/* False: there is no such object. */
bool help_object(const char *object);

/* "52:54:00:00:00:01", "192.0.2.1", "2001:db8::1", and back. */
struct addr {
	uint8_t		byte[VIA_NL_ADDR_MAX];
	uint16_t	len;
	int		prefix;		/* bits of it, or -1: one host */
};

/* IP's may have a prefix: "192.0.2.0/24". */
bool parse_addr(const char *text, struct addr *a);
/* In a buffer of its own, until the next call. */
const char *addr_str(const void *addr, unsigned int len);

/* A VI NIC as the kernel tells it. */
struct nic {
	char		name[VIA_NL_NIC_MAX + 1];
	char		ifname[IF_NAMESIZE];	/* "" if there is none */
	char		driver[VIA_NL_DRIVER_MAX + 1];
	uint32_t	ifindex, type, mtu, vis, peers;
	uint32_t	port, bound;		/* in UDP; 0: not told; none */
	uint32_t	shape;			/* VIA_NL_SHAPE_* */
	bool		listed;
	struct addr	addr;
};

void nic_take(struct nic *nic, struct nlattr **attrs);
/*
 * The VI NIC that is meant: its name, or that of its interface.  False: there
 * is none.
 */
bool nic_find(const char *what, struct nic *nic);
/* The VI NIC in UDP/IP at that address, likewise. */
bool nic_at(const struct addr *a, struct nic *nic);
/* All of them, by malloc(); ends with REFUSED if they cannot be listed. */
struct nic *nic_list(unsigned int *n);
/* Who may talk to it while it has no list. */
const char *peers_unlisted(const struct nic *nic);
/* The same; ends with REFUSED if there is none. */
void nic_need(const char *what, struct nic *nic);

/* A host of a list, and what its key is to be. */
struct host {
	struct addr	addr;
	enum { KEY_KEEP, KEY_SET, KEY_NONE } how;
	uint8_t		key[VIA_NL_KEY_LEN];
};

/* A host of a list as text, from an answer: false without one. */
#define HOST_TEXT	64		/* bytes */
bool host_take(struct nlattr **attrs, char text[HOST_TEXT], bool *keyed);

/* The key in a file ("-": standard input): false, and what is wrong is told. */
bool read_key(const char *file, uint8_t *key);

/* What a line of /etc/mvia and a command line do: 0 or -errno, told. */
int dev_attach(const char *ifname, const char *driver);

/* Beside an address; zero: none is named. */
struct where {
	unsigned long	port;
	uint32_t	shape;			/* VIA_NL_SHAPE_* */
	const char	*ifname;
};

int dev_attach_addr(const char *addr, const struct where *w);
/* A word of "tcp" and "udp". */
bool parse_shape(const char *text, uint32_t *shape);
int peers_set(const struct nic *nic, const struct host *host, unsigned int n,
	      bool replace);
int peers_any(const struct nic *nic);
int limit_change(const char *name, const char *value);
/* Those that the agent of this release has (kernel/quota.c). */
#define LIMIT_NAMES "handles, vi, vi_pages, pages, cq_pages, waiters, queries"
bool limit_known(const char *name);
/* By modprobe, if we are root; what fails then is told by what needs it. */
void module_load(const char *module);
int driver_bind(const char *ifname, const char *how);

/* The name of its verbs device, "" without one; until the next call. */
const char *verbs_of(const struct nic *nic);
/* It is made by via_rdma, with the name of the NIC: 0 or -errno, told. */
int verbs_make(const struct nic *nic);
int verbs_remove(const struct nic *nic);

int do_dev(struct words *w);
int do_peer(struct words *w);
int do_limit(struct words *w);
int do_driver(struct words *w);
int do_stat(struct words *w);
int do_res(struct words *w);
int do_selftest(struct words *w);
int do_monitor(struct words *w);
int do_apply(struct words *w);
int do_save(struct words *w);
int do_top(struct words *w);

#endif
