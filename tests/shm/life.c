// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Stopped peers, children, signals, strangers, other users. */
#include "tests.h"
#include "end.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS		10000
#define SOCKETS		300

/* Echoes on one connection, then ends; fork first. */
static void echo(const char *disc)
{
	/* Its error handler may run until the process has ended. */
	static struct end e;
	VIP_DESCRIPTOR *d;
	uint32_t i;

	end_serve(&e, disc);
	for (i = 0; VipRecvWait(e.vi, VIP_INFINITE, &d) == VIP_SUCCESS; i++) {
		memcpy(data_of(&e, 1, i), data_of(&e, 0, i),
		       d->Control.Length);
		if (post_send(&e, i, d->Control.Length) != VIP_SUCCESS ||
		    post_recv(&e, i) != VIP_SUCCESS ||
		    VipSendWait(e.vi, VIP_INFINITE, &d) != VIP_SUCCESS)
			break;
	}
}

static pid_t spawn_echo(const char *disc)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	echo(disc);
	_exit(0);
}

static void meet(struct end *e, const char *disc)
{
	uint32_t i;

	end_vi(e);
	for (i = 0; i < SLOTS; i++)
		OK(post_recv(e, i));
	OK(connect_to(e, e->vi, disc, LONG_MS));
}

/* Messages first to first + n - 1, there and back. */
static void talk(struct end *e, uint32_t first, uint32_t n)
{
	VIP_DESCRIPTOR *d;
	uint32_t i, len;

	for (i = first; i < first + n; i++) {
		len = i % 3 ? 100 * (i % 50) + 4 : 50000;
		pattern(data_of(e, 1, i), len, i);
		OK(post_send(e, i, len));
		OK(VipSendWait(e->vi, LONG_MS, &d));
		OK(VipRecvWait(e->vi, LONG_MS, &d));
		if (d->Control.Length != len ||
		    pattern_bad(data_of(e, 0, i), len, i))
			fail("other bytes", (long)i);
		OK(post_recv(e, i));
	}
}

static void ended(struct end *e, uint64_t since)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN r = VipRecvWait(e->vi, LONG_MS, &d);

	if (r == VIP_SUCCESS || r == VIP_TIMEOUT)
		fail("the end of the peer is not seen", r);
	if (now_ns() - since > 2000000000u)
		fail("the end of the peer is seen late, ms",
		     (long)((now_ns() - since) / 1000000));
}

int test_stop(int rounds)
{
	VIP_DESCRIPTOR *d;
	struct end e;
	pid_t pid;
	uint32_t k, seq = 0;
	int i;

	pid = spawn_echo("stop");
	usleep(50000);
	end_open(&e);
	meet(&e, "stop");
	for (i = 0; i < rounds; i++) {
		talk(&e, seq, 50);
		seq += 50;
		kill(pid, SIGSTOP);
		usleep(20000);
		for (k = 0; k < SLOTS / 2; k++) {
			pattern(data_of(&e, 1, seq + k), 50000, k);
			OK(post_send(&e, seq + k, k & 1 ? 50000 : 4));
		}
		if (VipRecvWait(e.vi, 300, &d) != VIP_TIMEOUT)
			fail("a stopped process answers", 0);
		kill(pid, SIGCONT);
		for (k = 0; k < SLOTS / 2; k++) {
			OK(VipSendWait(e.vi, LONG_MS, &d));
			OK(VipRecvWait(e.vi, LONG_MS, &d));
			OK(post_recv(&e, seq + k));
		}
		seq += k;
	}
	kill(pid, SIGSTOP);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ended(&e, now_ns());
	end_close(&e);
	return 0;
}

/* One that waits, the first to come, is stopped: another one is found. */
int test_stopdir(int rounds)
{
	pid_t first, pid;
	struct end e;
	uint64_t start, worst = 0;
	int i;

	first = spawn_echo("stopdir");
	usleep(100000);
	for (i = 0; i < rounds; i++) {
		kill(first, SIGSTOP);
		pid = spawn_echo("stopdir");
		usleep(100000);
		end_open(&e);
		start = now_ns();
		meet(&e, "stopdir");
		start = now_ns() - start;
		worst = start > worst ? start : worst;
		talk(&e, 0, 10);
		kill(first, SIGCONT);
		talk(&e, 10, 10);
		end_close(&e);
		waitpid(pid, NULL, 0);
	}
	if (worst > 1000000000)
		fail("late, ms", (long)(worst / 1000000));
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	printf("connected in %llu ms beside a stopped process\n",
	       (unsigned long long)worst / 1000000);
	return 0;
}

/* A child that lives on, by fork, by exec or by clone, after its parent is killed. */
static void orphan(int how, volatile pid_t *child)
{
	struct end e;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	end_open(&e);
	end_vi(&e);
	OK(post_recv(&e, 0));
	OK(accept_on(&e, e.vi, "forks", VIP_INFINITE));
	/* By clone() alone it keeps the files, and nothing tells the library. */
	pid = how == 2 ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) :
			 fork();
	if (pid) {
		*child = pid;
		for (;;)
			pause();
	}
	if (how == 2)
		for (;;)
			pause();
	if (how)
		execl("/bin/sleep", "sleep", "30", NULL);
	/* Handles are stale here; nothing may crash. */
	if (VipDisconnect(e.vi) == VIP_SUCCESS ||
	    VipCloseNic(e.nic) == VIP_SUCCESS)
		_exit(1);
	/* It may have a NIC of its own. */
	OK(VipOpenNic((VIP_CHAR *)device, &e.nic));
	sleep(30);
	_exit(0);
}

int test_forks(int rounds)
{
	volatile pid_t *child = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct end e;
	pid_t pid;
	int i;

	for (i = 0; i < rounds; i++) {
		*child = 0;
		pid = fork();
		if (!pid)
			orphan(i % 3, child);
		end_open(&e);
		meet(&e, "forks");
		while (*child <= 0)
			usleep(1000);
		usleep(100000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		ended(&e, now_ns());
		if (kill(*child, 0))
			fail("the child has ended", errno);
		kill(*child, SIGKILL);
		end_close(&e);
	}
	return 0;
}

static volatile long hits;

static void on_alarm(int signal)
{
	(void)signal;
	hits++;
}

/* Handlers that return disturb no wait, and end none early. */
static void interrupted(struct end *e)
{
	struct sigaction act = { .sa_handler = on_alarm }, before;
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never;
	uint64_t start;
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	memset(&never, 0, sizeof(never));
	sigaction(SIGALRM, &act, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	talk(e, 0, 200);
	start = now_ns();
	r = VipRecvWait(e->vi, 100, &d);
	if (r != VIP_TIMEOUT || now_ns() - start < 99000000)
		fail("a signal ends VipRecvWait", r);
	r = accept_on(e, e->vi, "nobody", 100);
	if (r != VIP_TIMEOUT || now_ns() - start < 198000000)
		fail("a signal ends VipConnectWait", r);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	if (hits < 10)
		fail("too few signals", hits);
}

int test_signals(int rounds)
{
	struct sigaction before[65], after;
	sigset_t mask, mask2;
	struct end e;
	pid_t pid;
	int i;

	(void)rounds;
	for (i = 1; i < 65; i++)
		sigaction(i, NULL, &before[i]);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	pid = spawn_echo("signals");
	end_open(&e);
	meet(&e, "signals");
	talk(&e, 0, 20);
	end_close(&e);
	waitpid(pid, NULL, 0);
	sigprocmask(SIG_BLOCK, NULL, &mask2);
	if (memcmp(&mask, &mask2, sizeof(long)))
		fail("another signal mask", 0);
	for (i = 1; i < 65; i++) {
		memset(&after, 0, sizeof(after));
		if (sigaction(i, NULL, &after))
			continue;
		if (after.sa_handler != before[i].sa_handler ||
		    after.sa_flags != before[i].sa_flags)
			fail("another handler of signal", i);
	}
	pid = spawn_echo("signals");
	end_open(&e);
	meet(&e, "signals");
	interrupted(&e);
	end_close(&e);
	waitpid(pid, NULL, 0);
	return 0;
}

/* Abstract names of this device's sockets; how many. */
static int names(char (*out)[108], int max)
{
	char line[256], want[64];
	FILE *f = fopen("/proc/net/unix", "r");
	int n = 0;

	snprintf(want, sizeof(want), "@vipl/shm/%u/%s/", geteuid(),
		 strchr(device, ':') + 1);
	while (f && n < max && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, want);

		if (!at || !strstr(line, " 00010000 "))
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(out[n++], 108, "%s", at + 1);
	}
	if (f)
		fclose(f);
	return n;
}

static int call(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	memcpy(a.sun_path + 1, name, len);
	if (connect(fd, (struct sockaddr *)&a, (socklen_t)
		    (offsetof(struct sockaddr_un, sun_path) + 1 + len))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Garbage, some of it with the form of a frame; files as well. */
static void speak(int fd, unsigned int seed)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} c;
	uint32_t buf[256];
	struct iovec v = { buf, (seed >> 7) % sizeof(buf) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	unsigned int i, n = seed >> 3 & 7;

	for (i = 0; i < 256; i++)
		buf[i] = (seed = seed * 1103515245u + 12345u) >> 5;
	if (seed & 0x10000) {
		buf[0] = 0x4c495602;
		buf[1] = (seed >> 20) % 12 | (uint32_t)(v.iov_len - 40) << 16;
	}
	if (seed & 0x20000 && n) {
		memset(&c, 0, sizeof(c));
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		c.h.cmsg_len = CMSG_LEN(n * sizeof(int));
		for (i = 0; i < n; i++)
			memcpy(CMSG_DATA(&c.h) + i * sizeof(int), &fd,
			       sizeof(int));
		m.msg_control = &c;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
	}
	sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void pester(int ms)
{
	uint64_t end = now_ns() + (uint64_t)ms * 1000000;
	static char name[16][108];
	static int fd[SOCKETS];
	unsigned int seed = 1;
	int i, n;

	memset(fd, -1, sizeof(fd));
	while (now_ns() < end) {
		n = names(name, 16);
		for (i = 0; i < SOCKETS && n; i++) {
			seed = seed * 1103515245u + 12345u;
			if (fd[i] >= 0 && seed & 0x40000)
				close(fd[i]);
			else if (fd[i] >= 0)
				speak(fd[i], seed);
			if (fd[i] < 0 || seed & 0x40000)
				fd[i] = call(name[(seed >> 9) % n]);
		}
	}
	_exit(0);
}

int test_strangers(int ms)
{
	pid_t pid, echoer = spawn_echo("strangers");
	uint64_t end = now_ns() + (uint64_t)ms * 1000000;
	char disc[16];
	struct end e;
	uint32_t i = 0;

	end_open(&e);
	meet(&e, "strangers");
	pid = fork();
	if (!pid)
		pester(ms);
	do {
		talk(&e, i++ * 20, 20);
	} while (now_ns() < end);
	/* New connections are made beside it as well. */
	OK(VipDisconnect(e.vi));
	snprintf(disc, sizeof(disc), "late");
	waitpid(echoer, NULL, 0);
	echoer = spawn_echo(disc);
	meet(&e, disc);
	talk(&e, 0, 20);
	waitpid(pid, NULL, 0);
	kill(echoer, SIGKILL);
	waitpid(echoer, NULL, 0);
	end_close(&e);
	return 0;
}

static void as_nobody(const char *listener)
{
	struct end e;
	VIP_RETURN r;
	char byte;
	int fd;

	if (setgid(65534) || setuid(65534))
		_exit(77);
	fd = call(listener);
	if (fd >= 0) {
		speak(fd, 0x1234567);
		usleep(100000);
		/* Closed, and nothing said. */
		if (recv(fd, &byte, 1, MSG_DONTWAIT) > 0 ||
		    (errno != ECONNRESET && errno != 0 && errno != EPIPE))
			fail("another user gets an answer", errno);
		close(fd);
	}
	end_open(&e);
	end_vi(&e);
	r = connect_to(&e, e.vi, "uid", 100);
	if (r != VIP_NO_MATCH)
		fail("another user connects", r);
	_exit(0);
}

/* The first name of the one that an echo of its own waits at. */
static pid_t name_of(const char *disc, char name[108])
{
	pid_t pid = spawn_echo(disc);
	char found[1][108];
	int i;

	for (i = 0; i < 5000 && names(found, 1) != 1; i++)
		usleep(1000);
	if (i == 5000)
		fail("it does not wait", 0);
	memcpy(name, found[0], 108);
	return pid;
}

int test_uid(int rounds)
{
	char name[108];
	pid_t pid, echoer;
	int status;

	(void)rounds;
	if (geteuid()) {
		printf("only root can be another user\n");
		return 77;
	}
	echoer = name_of("uid", name);
	pid = fork();
	if (!pid)
		as_nobody(name);
	waitpid(pid, &status, 0);
	if (status)
		fail("the other user", status);
	kill(echoer, SIGKILL);
	waitpid(echoer, NULL, 0);
	return 0;
}

/* As another user, takes count names, of which that is the first. */
static pid_t squat(const char *name, int count)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t stem = (size_t)(strrchr(name, '.') + 1 - name);
	int fd, n, i, up[2];
	pid_t pid;
	char byte;

	if (pipe(up))
		fail("pipe", errno);
	pid = fork();
	if (pid) {
		close(up[1]);
		n = (int)read(up[0], &byte, 1);
		close(up[0]);
		if (n != 1)
			fail("the names cannot be taken", n);
		return pid;
	}
	if (setgid(65534) || setuid(65534))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < count; i++) {
		n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%.*s%d",
			     (int)stem, name, i);
		fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		if (bind(fd, (struct sockaddr *)&a, (socklen_t)
			 (offsetof(struct sockaddr_un, sun_path) + 1 + n)) ||
		    (i & 3 && listen(fd, 1)))
			_exit(1);
	}
	if (write(up[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* No name is left: each end is told so, at once. */
static void all_squatted(struct end *e)
{
	uint64_t start = now_ns();
	VIP_RETURN r;

	end_vi(e);
	r = connect_to(e, e->vi, "squat", 2000);
	if (r != VIP_NO_MATCH)
		fail("nothing waits, and it is", r);
	r = accept_on(e, e->vi, "squat", VIP_INFINITE);
	if (r != VIP_ERROR_RESOURCE)
		fail("there is no name to listen at", r);
	if (now_ns() - start > 5000000000)
		fail("late, ms", (long)((now_ns() - start) / 1000000));
	OK(VipDestroyVi(e->vi));
}

/* Where another user has some names, or all of them for a while. */
int test_squat(int rounds)
{
	pid_t thief, echoer;
	char name[108];
	struct end e;
	int i;

	(void)rounds;
	if (geteuid()) {
		printf("only root can be another user\n");
		return 77;
	}
	echoer = name_of("squat", name);
	kill(echoer, SIGKILL);
	waitpid(echoer, NULL, 0);
	end_open(&e);
	for (i = 0; i < 3; i++) {
		thief = squat(name, i == 1 ? 16 : 15);
		if (i == 1)
			all_squatted(&e);
		if (i == 1)
			kill(thief, SIGKILL);
		echoer = spawn_echo("squat");
		meet(&e, "squat");
		talk(&e, 0, 20);
		OK(VipDisconnect(e.vi));
		waitpid(echoer, NULL, 0);
		kill(thief, SIGKILL);
		waitpid(thief, NULL, 0);
	}
	end_close(&e);
	return 0;
}
