/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_OPTS_H
#define TOOLS_OPTS_H

#include <stdbool.h>
#include <stdint.h>

/* Which programs an option belongs to. */
#define OPT_LAT		0x1
#define OPT_BW		0x2
#define OPT_SOCK	0x4

enum test_op { OP_SEND, OP_WRITE, OP_WRITE_IMM, OP_READ };
enum sock_proto { PROTO_UDP, PROTO_TCP, PROTO_UNIX, PROTO_PIPE };

struct opts {
	unsigned int	prog;		/* OPT_* of this program */
	const char	*name;		/* of this program */
	const char	*host;		/* NULL: be the server */
	const char	*dev;		/* NULL: the machine's default NIC */
	const char	*peer_dev;	/* --exact: the second NIC */
	const char	*peer_netns;	/* --exact: where the second one lives */
	const char	*json;		/* NULL: none */
	const char	*histogram;	/* NULL: none */
	uint64_t	interval_ns;	/* of lines meanwhile, 0: none */
	uint32_t	size;		/* bytes of a message */
	uint32_t	iters;
	uint32_t	seconds;	/* 0: count iterations instead */
	uint32_t	tx;		/* sends in flight */
	uint32_t	conns;		/* connections, 1 or more */
	uint16_t	port;
	uint16_t	level;		/* VIP_SERVICE_* */
	enum test_op	op;
	enum sock_proto	proto;
	bool		all;		/* all sizes */
	bool		bidir;
	bool		events;		/* block instead of polling */
	bool		persist;
	bool		exact;
	bool		spin;		/* sock_lat: one process, no blocking */
	bool		bw;		/* sock_lat: bandwidth */
	bool		poll;		/* sock_lat: never block */
	int		cpu[2];		/* of both ends, -1: any */
};

/* Fills *o from its defaults; exits on -h and on bad input. */
void opts_parse(struct opts *o, int argc, char **argv);

/* From here on this process runs there; -1: anywhere. */
void use_cpu(int cpu);

/* Both ends are of one parent: no address, no server. */
bool opts_local(const struct opts *o);

const char *op_str(enum test_op op);
const char *proto_str(enum sock_proto proto);

/* Iterate over the sizes of a run: the one size, or with -a 2, 4, ... max. */
uint32_t opts_first_size(const struct opts *o);
uint32_t opts_next_size(const struct opts *o, uint32_t size, uint32_t max);

/* A number with an optional k, M or G (powers of 1,024), or the end. */
uint64_t parse_number(const char *what, const char *s, uint64_t min,
		      uint64_t max);

#endif
