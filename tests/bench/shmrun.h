/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_SHMRUN_H
#define BENCH_SHMRUN_H

/*
 * A run of bench_shm, bench_shmfab or bench_shmucx: a server and its clients,
 * processes of this machine, exchange messages by the loops of shmloop.h.
 *
 *	PROGRAM lat|stream|rate|fanin WHERE SIZE COUNT CPU CPU
 *
 * WHERE is a VI NIC or a provider of libfabric. The server runs on the first
 * CPU and all clients on the second one. The server prints the figure:
 *
 *	lat	half a round trip in ns, the median over COUNT round trips
 *	stream	Mb/s of COUNT messages of one client
 *	rate	messages/s, likewise
 *	fanin	messages/s of COUNT messages of each of 8 clients
 */
#include <stdbool.h>
#include <stdint.h>

#define SHM_CLIENTS	8	/* of a fan-in */
#define SHM_ANSWER	8u	/* bytes of the answer to a window */
#define SHM_ANSWERS	8u	/* more than are ever in flight */
#define SHM_INJECTED	64u	/* bytes up to which libfabric may copy at once */
#define SHM_ROOM	1024u	/* bytes of an address of libfabric or UCX */

enum shm_kind { SHM_LAT, SHM_STREAM, SHM_RATE, SHM_FANIN };

struct shm_run {
	enum shm_kind	kind;
	const char	*where;
	uint32_t	size;		/* bytes of a message */
	uint32_t	count;		/* round trips or messages of a client */
	uint32_t	warm;		/* those before, which are not timed */
	uint32_t	window;		/* messages that one answer is about */
	uint32_t	clients;
	int		cpu[2];		/* of the server, of the clients */
	int		me;		/* a client's number; -1: the server */
};

/*
 * What a program does at one end. fd[] are sockets: a client's to the server,
 * the server's one to each client. Returns the figure at the server; what it
 * returns at a client is not used.
 */
typedef double (*shm_end_fn)(const struct shm_run *r, const int *fd);

/* The program's main(): its exit status. A run ends after 50 s, with 1. */
int shm_main(int argc, char **argv, shm_end_fn end);

/* Messages that may be in flight to the server, for each client. */
static inline uint32_t shm_ahead(const struct shm_run *r)
{
	return r->kind == SHM_LAT ? SHM_ANSWERS : 2 * r->window;
}

static inline bool shm_server(const struct shm_run *r)
{
	return r->me < 0;
}

/* Other ends of this one. */
static inline uint32_t shm_peers(const struct shm_run *r)
{
	return shm_server(r) ? r->clients : 1;
}

/* Bytes of what this end sends. */
static inline uint32_t shm_sends(const struct shm_run *r)
{
	return shm_server(r) && r->kind != SHM_LAT ? SHM_ANSWER : r->size;
}

/* Messages of this end that may be in flight to each other one. */
static inline uint32_t shm_out(const struct shm_run *r)
{
	return shm_server(r) ? SHM_ANSWERS : shm_ahead(r);
}

/* Receives to post for each other end. */
static inline uint32_t shm_receives(const struct shm_run *r)
{
	return shm_server(r) ? shm_ahead(r) : SHM_ANSWERS;
}

/*
 * Write one byte to every other end and read one from each, with calls of
 * progress(arg) meanwhile: nobody returns before all have come this far.
 */
void shm_meet(const struct shm_run *r, const int *fd, void (*progress)(void *),
	      void *arg);

/* Exchange addresses with the other end; its own one fills `theirs`. */
void shm_swap(int fd, const void *mine, uint32_t len,
	      unsigned char theirs[SHM_ROOM]);

#endif
