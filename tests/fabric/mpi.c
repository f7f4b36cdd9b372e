// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What MPI does with a network, with the data checked: messages of 0 bytes to
 * 4 MiB between all pairs, sent before and after the receive is posted, many at
 * once; every collective; MPI_Put, MPI_Get, MPI_Accumulate.  "MPI: passed"
 * is the last line of rank 0.
 *
 *	viampi [BYTES]			messages to that size, 4 MiB
 *	viampi time BYTES ROUNDS	half a round trip of ranks 0 and 1
 *	viampi long MIB			one message of so many MiB, ranks 0 and 1
 *	viampi die			rank 1 is killed at work
 *	viampi forever			until something else ends it
 */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BURST	300

static int rank, ranks;

static void fail(const char *what, size_t at)
{
	fprintf(stderr, "rank %d: %s: wrong at %zu\n", rank, what, at);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char byte(int from, int to, size_t len, size_t i)
{
	return (unsigned char)(from * 31 + to * 17 + (int)(len % 251) +
			       (int)(i * 7 + (i >> 8)));
}

static void fill(unsigned char *p, int from, int to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = byte(from, to, len, i);
}

static void check(const char *what, const unsigned char *p, int from, int to,
		  size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != byte(from, to, len, i))
			fail(what, i);
}

/* Around the ring, then back; a rank may be its own neighbour. */
static void sizes(size_t most)
{
	int next = (rank + 1) % ranks, prev = (rank + ranks - 1) % ranks;
	unsigned char *out = malloc(most + 1), *in = malloc(most + 1);
	size_t len = 0;

	while (len <= most) {
		MPI_Request r;

		fill(out, rank, next, len);
		memset(in, 0xee, len);
		/* Expected, then not expected. */
		MPI_Irecv(in, (int)len, MPI_BYTE, prev, 1, MPI_COMM_WORLD, &r);
		MPI_Send(out, (int)len, MPI_BYTE, next, 1, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		check("expected", in, prev, rank, len);
		fill(out, rank, prev, len);
		MPI_Isend(out, (int)len, MPI_BYTE, prev, 2, MPI_COMM_WORLD, &r);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Recv(in, (int)len, MPI_BYTE, next, 2, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		check("unexpected", in, next, rank, len);
		len = len < 16 ? len + 1 : len * 2 - len / 8;
	}
	free(out);
	free(in);
}

/* More messages from each to each than there are credits, before any receive. */
static void burst(void)
{
	MPI_Request *r = malloc(sizeof(*r) * (size_t)(ranks * BURST));
	int *out = malloc(sizeof(*out) * (size_t)(ranks * BURST)), in, n = 0;

	for (int i = 0; i < BURST; i++)
		for (int to = 0; to < ranks; to++, n++) {
			out[n] = rank * 1000000 + to * 10000 + i;
			MPI_Isend(&out[n], 1, MPI_INT, to, 3, MPI_COMM_WORLD,
				  &r[n]);
		}
	for (int i = 0; i < BURST; i++)
		for (int from = 0; from < ranks; from++) {
			MPI_Recv(&in, 1, MPI_INT, from, 3, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			if (in != from * 1000000 + rank * 10000 + i)
				fail("burst", (size_t)i);
		}
	MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
	free(r);
	free(out);
}

static void want(const char *what, const int *p, int i, int value)
{
	if (p[i] != value)
		fail(what, (size_t)i);
}

static void collectives(int n)
{
	int sum = ranks * (ranks - 1) / 2, total = n * ranks;
	int *a = malloc(sizeof(int) * (size_t)total);
	int *b = malloc(sizeof(int) * (size_t)total);
	int *counts = malloc(sizeof(int) * (size_t)ranks);
	int *at = malloc(sizeof(int) * (size_t)ranks), i;

	for (i = 0; i < ranks; i++) {
		counts[i] = n;
		at[i] = i * n;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		a[i] = rank == ranks - 1 ? i * 3 : -1;
	MPI_Bcast(a, n, MPI_INT, ranks - 1, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		want("bcast", a, i, i * 3);

	for (i = 0; i < n; i++)
		a[i] = rank + i;
	MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		want("allreduce", b, i, sum + i * ranks);
	MPI_Reduce(a, b, n, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	for (i = 0; !rank && i < n; i++)
		want("reduce", b, i, ranks - 1 + i);
	MPI_Scan(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		want("scan", b, i, rank * (rank + 1) / 2 + i * (rank + 1));
	MPI_Exscan(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; rank && i < n; i++)
		want("exscan", b, i, rank * (rank - 1) / 2 + i * rank);

	MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, 0, MPI_COMM_WORLD);
	for (i = 0; !rank && i < total; i++)
		want("gather", b, i, i / n + i % n);
	MPI_Gatherv(a, n, MPI_INT, b, counts, at, MPI_INT, ranks - 1,
		    MPI_COMM_WORLD);
	for (i = 0; rank == ranks - 1 && i < total; i++)
		want("gatherv", b, i, i / n + i % n);
	MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD);
	for (i = 0; i < total; i++)
		want("allgather", b, i, i / n + i % n);
	MPI_Allgatherv(a, n, MPI_INT, b, counts, at, MPI_INT, MPI_COMM_WORLD);
	for (i = 0; i < total; i++)
		want("allgatherv", b, i, i / n + i % n);

	for (i = 0; i < total; i++)
		a[i] = i;
	MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, 0, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		want("scatter", b, i, rank * n + i);
	MPI_Scatterv(a, counts, at, MPI_INT, b, n, MPI_INT, 0, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		want("scatterv", b, i, rank * n + i);
	for (i = 0; i < total; i++)
		a[i] = rank * total + i;
	MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, MPI_COMM_WORLD);
	for (i = 0; i < total; i++)
		want("alltoall", b, i, i / n * total + rank * n + i % n);
	MPI_Alltoallv(a, counts, at, MPI_INT, b, counts, at, MPI_INT,
		      MPI_COMM_WORLD);
	for (i = 0; i < total; i++)
		want("alltoallv", b, i, i / n * total + rank * n + i % n);
	for (i = 0; i < total; i++)
		a[i] = i;
	MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		want("reduce_scatter", b, i, (rank * n + i) * ranks);
	MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < n; i++)
		want("reduce_scatter_block", b, i, (rank * n + i) * ranks);
	free(a);
	free(b);
	free(counts);
	free(at);
}

/* Each rank's window has a part for each rank, and one for sums. */
static void one_sided(int n)
{
	int *win_mem, *out = malloc(sizeof(int) * (size_t)n);
	int *in = malloc(sizeof(int) * (size_t)n), i, to;
	MPI_Win win;

	MPI_Win_allocate((MPI_Aint)sizeof(int) * n * (ranks + 1), sizeof(int),
			 MPI_INFO_NULL, MPI_COMM_WORLD, &win_mem, &win);
	memset(win_mem, 0, sizeof(int) * (size_t)(n * (ranks + 1)));
	MPI_Win_fence(0, win);
	for (i = 0; i < n; i++)
		out[i] = rank * 100000 + i;
	for (to = 0; to < ranks; to++)
		MPI_Put(out, n, MPI_INT, to, (MPI_Aint)rank * n, n, MPI_INT,
			win);
	MPI_Win_fence(0, win);
	for (i = 0; i < n * ranks; i++)
		want("put", win_mem, i, i / n * 100000 + i % n);
	MPI_Win_fence(0, win);
	to = (rank + 1) % ranks;
	MPI_Get(in, n, MPI_INT, to, (MPI_Aint)rank * n, n, MPI_INT, win);
	MPI_Win_fence(0, win);
	for (i = 0; i < n; i++)
		want("get", in, i, out[i]);
	for (to = 0; to < ranks; to++)
		MPI_Accumulate(out, n, MPI_INT, to, (MPI_Aint)ranks * n, n,
			       MPI_INT, MPI_SUM, win);
	MPI_Win_fence(0, win);
	for (i = 0; i < n; i++)
		want("accumulate", win_mem + (size_t)ranks * n, i,
		     ranks * (ranks - 1) / 2 * 100000 + i * ranks);
	/* Passive target. */
	to = (rank + 1) % ranks;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
	MPI_Get(in, n, MPI_INT, to, 0, n, MPI_INT, win);
	MPI_Win_unlock(to, win);
	for (i = 0; i < n; i++)
		want("get, locked", in, i, i);
	MPI_Win_free(&win);
	free(out);
	free(in);
}

/*
 * Without an end, but that rank 1 may be killed amid communication: mpirun is
 * to end the job.
 */
static void work(bool die)
{
	int sum, i;

	for (i = 0;; i++) {
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (sum != ranks * (ranks - 1) / 2)
			fail("work", (size_t)i);
		if (i != 500)
			continue;
		if (die && rank == 1)
			kill(getpid(), SIGKILL);
		if (!rank) {
			printf("MPI: at work\n");
			fflush(stdout);
		}
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Between ranks 0 and 1: the median of half a round trip, in us. */
static void ping_pong(int len, int rounds)
{
	char *buf = calloc(1, (size_t)len + 1);
	double *t = malloc(sizeof(*t) * (size_t)rounds), start;
	int i;

	for (i = -rounds / 10; i < rounds && rank < 2; i++) {
		start = MPI_Wtime();
		if (!rank)
			MPI_Send(buf, len, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
		MPI_Recv(buf, len, MPI_BYTE, !rank, 4, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (rank)
			MPI_Send(buf, len, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
		if (i >= 0)
			t[i] = (MPI_Wtime() - start) / 2 * 1e6;
	}
	qsort(t, (size_t)rounds, sizeof(*t), by_value);
	if (!rank)
		printf("MPI: %d bytes, %.2f us\n", len, t[rounds / 2]);
	free(t);
	free(buf);
}

#define PIECE	(1u << 20)

/* One message from rank 0 to 1, of memory that is one MiB over and over. */
static void one_long(int pieces)
{
	int fd = memfd_create("viampi", MFD_CLOEXEC), i;
	size_t len = (size_t)pieces * PIECE;
	unsigned char *p;
	MPI_Datatype piece;

	p = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || ftruncate(fd, PIECE))
		fail("memory", 0);
	for (i = 0; i < pieces; i++)
		if (mmap(p + (size_t)i * PIECE, PIECE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			fail("memory", (size_t)i);
	MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
	MPI_Type_commit(&piece);
	if (!rank) {
		fill(p, 0, 1, PIECE);
		MPI_Send(p, pieces, piece, 1, 5, MPI_COMM_WORLD);
	} else if (rank == 1) {
		MPI_Status st;

		MPI_Recv(p, pieces, piece, 0, 5, MPI_COMM_WORLD, &st);
		MPI_Get_count(&st, piece, &i);
		if (i != pieces)
			fail("long: count", (size_t)i);
		check("long", p, 0, 1, PIECE);
	}
	MPI_Type_free(&piece);
	munmap(p, len);
	close(fd);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("MPI: passed\n");
}

int main(int argc, char **argv)
{
	size_t most = 4u << 20;
	char host[64] = "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc > 1 && !strcmp(argv[1], "die"))
		work(true);
	if (argc > 1 && !strcmp(argv[1], "forever"))
		work(false);
	if (argc > 3 && !strcmp(argv[1], "time")) {
		ping_pong(atoi(argv[2]), atoi(argv[3]));
		MPI_Finalize();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "long")) {
		one_long(atoi(argv[2]));
		MPI_Finalize();
		return 0;
	}
	if (argc > 1)
		most = strtoul(argv[1], NULL, 0);
	gethostname(host, sizeof(host) - 1);
	printf("MPI: rank %d of %d on %s\n", rank, ranks, host);
	fflush(stdout);
	sizes(most);
	burst();
	collectives(1);
	collectives(1000);
	collectives(40000);
	one_sided(1);
	one_sided(5000);
	one_sided(100000);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("MPI: passed\n");
	MPI_Finalize();
	return 0;
}
