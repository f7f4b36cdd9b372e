// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * agent - runs commands in a guest of the lab for the host
 *
 * It is process 1 of the guest.  Its port is a virtio-serial device; frames
 * in both directions are
 *
 *	u32 length of what follows, u32 job, u32 type, data
 *
 * in the host's byte order (guest and host are the same machine).
 *
 *	to the guest	RUN	u32 deadline in ms (0: none), u32 flags, command
 *			INPUT	bytes for the job's standard input (none: EOF)
 *			KILL	u32 signal for the job's process group
 *	to the host	HELLO	release of the guest's kernel
 *			OUT	bytes from standard output
 *			ERR	bytes from standard error
 *			EXIT	u32 wait status, u32 1 if the deadline killed it
 *
 * A second port, where there is one, carries a person's terminal: a
 * shell on a pseudo terminal for as long as a client is connected.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUN = 1, INPUT = 2, KILL = 3, HELLO = 16, OUT = 17, ERR = 18,
       EXIT = 19 };

#define MAX_JOBS	64
#define MAX_FRAME	(1 << 20)
#define CHUNK		65536
#define FLAG_STDIN	1

struct job {
	uint32_t id;
	pid_t pid;		/* 0: the slot is free */
	int in;			/* our end of its standard input, or -1 */
	int out[2];		/* standard output and error, or -1 */
	uint64_t deadline;	/* ms of CLOCK_MONOTONIC, 0: none */
	int expired;
};

static struct job jobs[MAX_JOBS];
static int port = -1;
static const char *cwd = "/";
static char inbuf[MAX_FRAME + 16];
static size_t inlen;

static struct {
	int port;
	int pty;
	pid_t pid;
	uint64_t retry;		/* when to look again for a client */
} term = { -1, -1, 0, 0 };

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

static void die(const char *what)
{
	fprintf(stderr, "lab agent: %s: %s\n", what, strerror(errno));
	/* Process 1 must not return; the host sees the silence. */
	for (;;)
		pause();
}

/* The host always reads, so a full port only means "wait a little". */
static void write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n > 0) {
			p += n;
			len -= n;
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd pfd = { .fd = fd, .events = POLLOUT };

			poll(&pfd, 1, 100);
		} else if (n < 0 && errno != EINTR) {
			return;
		}
	}
}

static void tell(uint32_t job, uint32_t type, const void *data, size_t len)
{
	static char frame[CHUNK + 12];
	uint32_t head[3] = { 8 + len, job, type };

	memcpy(frame, head, sizeof(head));
	memcpy(frame + sizeof(head), data, len);
	write_all(port, frame, sizeof(head) + len);
}

static struct job *find_job(uint32_t id)
{
	for (int i = 0; i < MAX_JOBS; i++)
		if (jobs[i].pid && jobs[i].id == id)
			return &jobs[i];
	return NULL;
}

/* Signal handling goes back to what a program expects, then exec. */
static void __attribute__((noreturn)) exec_shell(const char *cmd)
{
	const char *sh = access("/bin/bash", X_OK) ? "/bin/sh" : "/bin/bash";
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (chdir(cwd))
		fprintf(stderr, "lab agent: %s: %s\n", cwd, strerror(errno));
	if (cmd)
		execl(sh, sh, "-c", cmd, NULL);
	else
		execl(sh, sh, "-i", NULL);
	_exit(127);
}

static void start_failed(uint32_t id, const char *why)
{
	uint32_t exit[2] = { 127 << 8, 0 };

	tell(id, ERR, why, strlen(why));
	tell(id, EXIT, exit, sizeof(exit));
}

static void child(int in, int out, int err, const char *cmd)
{
	setsid();
	if (in < 0)
		in = open("/dev/null", O_RDONLY);
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	exec_shell(cmd);
}

static void run(uint32_t id, const char *data, size_t len)
{
	uint32_t arg[2];
	int in[2] = { -1, -1 }, out[2], err[2];
	struct job *j = jobs;
	char *cmd;

	if (len < sizeof(arg))
		return;
	memcpy(arg, data, sizeof(arg));
	cmd = strndup(data + sizeof(arg), len - sizeof(arg));
	while (j < jobs + MAX_JOBS && j->pid)
		j++;
	if (!cmd || j == jobs + MAX_JOBS || pipe2(out, O_CLOEXEC) ||
	    pipe2(err, O_CLOEXEC) ||
	    ((arg[1] & FLAG_STDIN) && pipe2(in, O_CLOEXEC))) {
		start_failed(id, "lab agent: too many jobs on this node\n");
		free(cmd);
		return;
	}
	j->pid = fork();
	if (!j->pid)
		child(in[0], out[1], err[1], cmd);
	free(cmd);
	close(out[1]);
	close(err[1]);
	if (in[0] >= 0)
		close(in[0]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	j->id = id;
	j->in = in[1];
	j->out[0] = out[0];
	j->out[1] = err[0];
	j->deadline = arg[0] ? now_ms() + arg[0] : 0;
	j->expired = 0;
	if (j->pid < 0) {
		j->pid = 0;
		close(out[0]);
		close(err[0]);
		if (in[1] >= 0)
			close(in[1]);
		start_failed(id, "lab agent: cannot fork\n");
	}
}

static void handle(uint32_t id, uint32_t type, const char *data, size_t len)
{
	struct job *j = find_job(id);
	uint32_t sig;

	switch (type) {
	case RUN:
		run(id, data, len);
		break;
	case INPUT:
		if (!j || j->in < 0)
			break;
		write_all(j->in, data, len);
		if (!len) {
			close(j->in);
			j->in = -1;
		}
		break;
	case KILL:
		if (j && len >= sizeof(sig)) {
			memcpy(&sig, data, sizeof(sig));
			kill(-j->pid, sig);
		}
		break;
	}
}

static void read_port(void)
{
	ssize_t n = read(port, inbuf + inlen, sizeof(inbuf) - inlen);
	size_t at = 0;

	if (n <= 0)
		return;
	inlen += n;
	while (inlen - at >= 12) {
		uint32_t head[3];

		memcpy(head, inbuf + at, sizeof(head));
		if (head[0] < 8 || head[0] > MAX_FRAME)
			die("the host sent nonsense");
		if (inlen - at < head[0] + 4)
			break;
		handle(head[1], head[2], inbuf + at + 12, head[0] - 8);
		at += head[0] + 4;
	}
	memmove(inbuf, inbuf + at, inlen - at);
	inlen -= at;
}

/* Returns 0 when the pipe has no more for now. */
static int drain(struct job *j, int which)
{
	static char buf[CHUNK];
	ssize_t n;

	if (j->out[which] < 0)
		return 0;
	n = read(j->out[which], buf, sizeof(buf));
	if (n > 0) {
		tell(j->id, which ? ERR : OUT, buf, n);
		return 1;
	}
	if (n == 0) {
		close(j->out[which]);
		j->out[which] = -1;
	}
	return 0;
}

/*
 * What the job left running may hold its pipes open for ever, so the end of
 * the job is the end of its first process, with all that was written so far.
 */
static void ended(struct job *j, int status)
{
	uint32_t exit[2] = { status, j->expired };

	for (int which = 0; which < 2; which++) {
		for (int i = 0; i < 1024 && drain(j, which); i++)
			;
		if (j->out[which] >= 0)
			close(j->out[which]);
	}
	if (j->in >= 0)
		close(j->in);
	tell(j->id, EXIT, exit, sizeof(exit));
	j->pid = 0;
}

static void term_close(void)
{
	if (term.pty >= 0)
		close(term.pty);
	if (term.pid > 0)
		kill(-term.pid, SIGHUP);
	term.pty = -1;
	term.pid = 0;
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (int i = 0; i < MAX_JOBS; i++)
			if (jobs[i].pid == pid)
				ended(&jobs[i], status);
		if (pid == term.pid) {
			term.pid = 0;
			term_close();
			write_all(term.port, "\r\n[lab: the shell ended, "
				  "Enter starts another]\r\n", 48);
		}
	}
}

static void term_input(short revents)
{
	char buf[4096];
	ssize_t n = 0;

	if (revents & POLLIN)
		n = read(term.port, buf, sizeof(buf));
	if (n <= 0) {
		/* No client: POLLHUP would spin, look again later. */
		term_close();
		term.retry = now_ms() + 300;
		return;
	}
	if (term.pty < 0) {
		term.pid = forkpty(&term.pty, NULL, NULL, NULL);
		if (!term.pid) {
			setenv("TERM", "xterm", 1);
			exec_shell(NULL);
		}
		fcntl(term.pty, F_SETFD, FD_CLOEXEC);
		fcntl(term.pty, F_SETFL, O_NONBLOCK);
	}
	write_all(term.pty, buf, n);
}

static void term_output(void)
{
	char buf[4096];
	ssize_t n = read(term.pty, buf, sizeof(buf));

	if (n > 0)
		write_all(term.port, buf, n);
	else if (n == 0 || errno != EAGAIN)
		term_close();
}

/* Kills what is over its time; returns the ms until the next deadline. */
static int check_deadlines(void)
{
	uint64_t now = now_ms();
	int wait = -1;

	for (struct job *j = jobs; j < jobs + MAX_JOBS; j++) {
		if (!j->pid || !j->deadline || j->expired)
			continue;
		if (j->deadline <= now) {
			j->expired = 1;
			kill(-j->pid, SIGKILL);
		} else if (wait < 0 || j->deadline - now < (uint64_t)wait) {
			wait = j->deadline - now;
		}
	}
	if (term.port >= 0 && term.retry > now &&
	    (wait < 0 || term.retry - now < (uint64_t)wait))
		wait = term.retry - now;
	return wait;
}

static void loop(int sigfd)
{
	struct pollfd pfd[MAX_JOBS * 2 + 4];
	struct job *owner[MAX_JOBS * 2 + 4];
	struct signalfd_siginfo info;

	for (;;) {
		int wait = check_deadlines();
		int n = 4;

		pfd[0] = (struct pollfd){ port, POLLIN, 0 };
		pfd[1] = (struct pollfd){ sigfd, POLLIN, 0 };
		pfd[2] = (struct pollfd){ term.port, POLLIN, 0 };
		pfd[3] = (struct pollfd){ term.pty, POLLIN, 0 };
		if (term.retry > now_ms())
			pfd[2].fd = -1;
		for (struct job *j = jobs; j < jobs + MAX_JOBS; j++)
			for (int i = 0; j->pid && i < 2; i++) {
				owner[n] = j;
				pfd[n++] = (struct pollfd){ j->out[i], POLLIN,
							    i };
			}
		for (int i = 4; i < n; i++)
			pfd[i].revents = 0;
		if (poll(pfd, n, wait) < 0)
			continue;
		/* Output first: what a job wrote goes out before its end. */
		for (int i = 4; i < n; i++)
			if (pfd[i].revents)
				drain(owner[i], pfd[i].fd ==
				      owner[i]->out[1]);
		if (pfd[1].revents && read(sigfd, &info, sizeof(info)) > 0)
			reap();
		if (pfd[0].revents & POLLIN)
			read_port();
		else if (pfd[0].revents & POLLHUP)
			usleep(20000);	/* the host reconnects soon */
		if (pfd[3].revents && term.pty == pfd[3].fd)
			term_output();
		if (pfd[2].revents)
			term_input(pfd[2].revents);
	}
}

int main(int argc, char **argv)
{
	struct rlimit nocore = { 0, 0 };
	struct utsname uts;
	sigset_t mask;
	int sigfd;

	if (argc < 2) {
		fprintf(stderr, "usage: agent PORT [CWD [TERMINAL-PORT]]\n");
		return 2;
	}
	if (argc > 2)
		cwd = argv[2];
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_CORE, &nocore);
	sigfd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	port = open(argv[1], O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (sigfd < 0 || port < 0)
		die(argv[1]);
	if (argc > 3)
		term.port = open(argv[3], O_RDWR | O_NONBLOCK | O_CLOEXEC);
	uname(&uts);
	tell(0, HELLO, uts.release, strlen(uts.release));
	loop(sigfd);
}
