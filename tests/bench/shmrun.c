// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The processes of a run, and its command line. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/opts.h"
#include "emit.h"
#include "shmrun.h"

#define LIMIT_S		50
#define LARGE		(200u << 10)	/* bytes; windows are shorter above */

static const char *const kinds[] = { "lat", "stream", "rate", "fanin" };
static const char *const units[] = { "ns", "mbps", "per-second",
				     "per-second" };

static void check(int failed, const char *what)
{
	if (failed)
		die("%s: %s", what, strerror(errno));
}

static void write_all(int fd, const void *p, size_t n)
{
	check(send(fd, p, n, MSG_NOSIGNAL) != (ssize_t)n,
	      "the other end is gone");
}

static void read_all(int fd, void *p, size_t n)
{
	if (recv(fd, p, n, MSG_WAITALL) != (ssize_t)n)
		die("the other end is gone");
}

void shm_meet(const struct shm_run *r, const int *fd, void (*progress)(void *),
	      void *arg)
{
	char c = 'm';

	if (!shm_server(r))
		write_all(fd[0], &c, 1);
	for (uint32_t i = 0; i < shm_peers(r); i++) {
		ssize_t k;

		while ((k = recv(fd[i], &c, 1, MSG_DONTWAIT)) < 0) {
			check(errno != EAGAIN, "recv");
			progress(arg);
		}
		if (!k)
			die("the other end is gone");
	}
	for (uint32_t i = 0; shm_server(r) && i < r->clients; i++)
		write_all(fd[i], &c, 1);
}

void shm_swap(int fd, const void *mine, uint32_t len,
	      unsigned char theirs[SHM_ROOM])
{
	unsigned char room[SHM_ROOM] = { 0 };

	if (len > SHM_ROOM)
		die("an address of %u bytes", len);
	memcpy(room, mine, len);
	write_all(fd, room, SHM_ROOM);
	read_all(fd, theirs, SHM_ROOM);
}

static void parse(struct shm_run *r, int argc, char **argv)
{
	uint32_t n = 0;

	if (argc != 7)
		die_usage("give: lat|stream|rate|fanin WHERE SIZE COUNT CPU CPU");
	while (n < 4 && strcmp(argv[1], kinds[n]))
		n++;
	if (n == 4)
		die_usage("'%s' is none of lat, stream, rate, fanin", argv[1]);
	r->kind = (enum shm_kind)n;
	r->where = argv[2];
	r->size = (uint32_t)parse_number("SIZE", argv[3], 1, 1 << 20);
	r->window = r->size > LARGE ? 16 : 64;
	r->count = (uint32_t)parse_number("COUNT", argv[4], 1, 1 << 28);
	for (int i = 0; i < 2; i++)
		r->cpu[i] = (int)parse_number("CPU", argv[5 + i], 0, 1 << 16);
	/* Whole windows, and batches of round trips. */
	r->count = (r->count + r->window - 1) / r->window * r->window;
	r->warm = (r->count / 10 / r->window + 1) * r->window;
	r->clients = r->kind == SHM_FANIN ? SHM_CLIENTS : 1;
	r->me = -1;
}

/* The socket of a client that is made here. */
static int make_client(struct shm_run *r, int me, shm_end_fn end)
{
	int sv[2];
	pid_t pid;

	check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv),
	      "socketpair");
	pid = fork();
	check(pid < 0, "fork");
	if (pid) {
		close(sv[1]);
		return sv[0];
	}
	close(sv[0]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIMIT_S);
	use_cpu(r->cpu[1]);
	r->me = me;
	end(r, &sv[1]);
	exit(0);
}

static void over(int sig)
{
	static const char text[] = "the run is not over after 50 s\n";

	(void)sig;
	if (write(2, text, sizeof(text) - 1))
		_exit(1);
	_exit(1);
}

/* A client that has failed has said why; the server would wait for it. */
static void ended(int sig)
{
	int status;

	(void)sig;
	while (waitpid(-1, &status, WNOHANG) > 0)
		if (status)
			_exit(1);
}

int shm_main(int argc, char **argv, shm_end_fn end)
{
	struct sigaction child = {
		.sa_handler = ended, .sa_flags = SA_RESTART | SA_NOCLDSTOP,
	};
	struct shm_run r = { 0 };
	int fd[SHM_CLIENTS];
	double figure;
	int status;

	parse(&r, argc, argv);
	signal(SIGALRM, over);
	alarm(LIMIT_S);
	check(sigaction(SIGCHLD, &child, NULL), "sigaction");
	for (uint32_t i = 0; i < r.clients; i++)
		fd[i] = make_client(&r, (int)i, end);
	use_cpu(r.cpu[0]);
	figure = end(&r, fd);
	signal(SIGCHLD, SIG_DFL);
	while (wait(&status) > 0)
		if (status)
			return 1;
	emit(kinds[r.kind], r.where, "-", "poll", r.size, units[r.kind],
	     figure);
	return 0;
}
