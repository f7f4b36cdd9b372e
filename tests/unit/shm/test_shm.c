// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The shm transport below an engine that only counts: packets of all lengths,
 * full rings, sleepers, pulls of both kinds, peers that die, peers that lie.
 */
#include "engine.h"
#include "unit.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sock.h"

static char space[8];
static char disc[32];	/* spaces are few: another test may be in ours */

static void fresh_space(void)
{
	static int n;

	snprintf(space, sizeof(space), "%d",
		 (getpid() * 7 + ++n) % 9000 + 1000);
	snprintf(disc, sizeof(disc), "%d.%d", getpid(), n);
}

static void run(struct eng_nic **n, unsigned int count, const int *until,
		unsigned int ms)
{
	uint64_t end = sock_now() + ms * 1000000ull;
	unsigned int i;

	do {
		for (i = 0; i < count; i++) {
			n[i]->shm.look = 1;
			shm_progress(n[i], 64);
		}
	} while (!*until && sock_now() < end);
}

/* Two NICs of this process that are peers; p[0] is of n[0]. */
static void pair(struct eng_nic **n, struct eng_peer **p)
{
	fresh_space();
	n[0] = nic_new(space);
	n[1] = nic_new(space);
	nic_wait_for(n[0], disc);
	p[1] = nic_handshake(n[1], disc);
	run(n, 2, &p[1]->up, 2000);
	CU_ASSERT_FATAL(p[1]->up == 1);
	p[0] = n[0]->peers;
	CU_ASSERT_FATAL(p[0] && p[0]->up == 1);
}

static void pair_free(struct eng_nic **n)
{
	nic_free(n[1]);
	nic_free(n[0]);
}

static unsigned int length_of(uint64_t i)
{
	uint64_t h = i * 0x9e3779b97f4a7c15u;

	return h >> 60 ? (unsigned int)(h >> 40) % 200 :
			 (unsigned int)(h >> 40) % (RING_EAGER + 1);
}

static void fill(uint64_t i, struct eng_header *h, uint8_t *data)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->bytes, &i, sizeof(i));
	if (i & 1)
		h->bytes[ENG_HEADER - 1] = (uint8_t)i;
	memset(data, (int)i, length_of(i));
}

static unsigned int wrong;

static void check_packet(struct eng_peer *p, const struct eng_header *h,
			 const uint8_t *data, size_t len)
{
	struct eng_header want;
	uint8_t buf[RING_EAGER];
	uint64_t i = p->got - 1;

	fill(i, &want, buf);
	if (len != length_of(i) || memcmp(h, &want, sizeof(want)) ||
	    memcmp(data, buf, len))
		wrong++;
}

static int send_next(struct eng_peer *p)
{
	uint8_t buf[RING_EAGER];
	struct eng_header h;
	unsigned int len = length_of(p->sent);
	struct iovec v[2] = { { buf, len / 3 },
			      { buf + len / 3, len - len / 3 } };
	int err;

	fill(p->sent, &h, buf);
	err = shm_xmit(p, &h, v, 2);
	if (!err)
		p->sent++;
	return err;
}

static void packets(void)
{
	struct eng_nic *n[2];
	struct eng_peer *p[2];
	unsigned int i, full = 0, seed = 1;

	pair(n, p);
	n[0]->rx = n[1]->rx = check_packet;
	for (i = 0; i < 60000; i++) {
		seed = seed * 1103515245u + 12345u;
		if (send_next(p[seed >> 16 & 1]) == -EAGAIN) {
			full++;
			run(n, 1 + (seed >> 20 & 1), &p[0]->up, 1);
		}
		if (!(seed >> 24 & 15))
			shm_progress(n[seed >> 12 & 1], 8);
	}
	for (i = 0; i < 10000; i++)
		shm_progress(n[i & 1], 64);
	CU_ASSERT(!wrong && full);
	CU_ASSERT(p[0]->got == p[1]->sent && p[1]->got == p[0]->sent);
	CU_ASSERT(p[0]->sent > 10000 && p[1]->sent > 10000);
	CU_ASSERT(p[0]->room || p[1]->room);
	pair_free(n);
}

/* A process that answers each packet, asleep in between. */
static void echo(struct eng_peer *p, const struct eng_header *h,
		 const uint8_t *data, size_t len)
{
	struct iovec v = { (void *)data, len };

	p->sent++;
	if (shm_xmit(p, h, &v, 1))
		_exit(3);
}

static void sleeper(struct eng_nic *n, int *until)
{
	while (!*until) {
		if (shm_progress(n, 64))
			continue;
		if (!shm_arm(n))
			shm_wait(n, UINT64_MAX);
		shm_disarm(n);
	}
}

static pid_t spawn_echo(void)
{
	pid_t pid = fork();
	int never = 0;
	struct eng_nic *n;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	n = nic_new(space);
	n->rx = echo;
	nic_wait_for(n, disc);
	sleeper(n, &never);
	_exit(0);
}

static struct eng_peer *handshake_child(struct eng_nic *n)
{
	struct eng_peer *p;
	unsigned int i;

	for (i = 0; i < 400; i++) {
		p = nic_handshake(n, disc);
		while (!p->up && !p->down)
			run(&n, 1, &p->up, 5);
		if (p->up)
			return p;
		usleep(5000);
	}
	CU_FAIL_FATAL("the child does not wait");
	return NULL;
}

/* Each packet wakes the other process and is answered: none is forgotten. */
static void sleepers(void)
{
	struct eng_header h = { { 1 } };
	struct eng_nic *n;
	struct eng_peer *p;
	pid_t pid;
	unsigned int i;
	uint64_t end;

	fresh_space();
	pid = spawn_echo();
	n = nic_new(space);
	p = handshake_child(n);
	for (i = 0; i < 3000; i++) {
		CU_ASSERT(!shm_xmit(p, &h, NULL, 0));
		end = sock_now() + 2000000000;
		while (p->got == i && sock_now() < end) {
			if (shm_progress(n, 64))
				continue;
			if (i % 3 && !shm_arm(n))
				shm_wait(n, 1000000000);
			shm_disarm(n);
		}
		if (p->got == i)
			break;
	}
	CU_ASSERT(p->got == i && i == 3000);
	kill(pid, SIGKILL);
	run(&n, 1, &p->down, 1000);
	CU_ASSERT(p->down == 1 && p->err == -ECONNRESET);
	waitpid(pid, NULL, 0);
	nic_free(n);
}

/* More rings than are polled; doorbells tell of the others. */
static void incast(void)
{
	enum { COUNT = 40 };
	struct eng_header h = { { 1 } };
	struct eng_nic *n, *m[COUNT];
	struct eng_peer *p[COUNT];
	unsigned int i, round;
	uint64_t total = 0;

	fresh_space();
	n = nic_new(space);
	nic_wait_for(n, disc);
	for (i = 0; i < COUNT; i++) {
		struct eng_nic *both[2] = { n };

		both[1] = m[i] = nic_new(space);
		p[i] = nic_handshake(m[i], disc);
		run(both, 2, &p[i]->up, 2000);
		CU_ASSERT_FATAL(p[i]->up == 1);
	}
	for (round = 0; round < 200; round++) {
		for (i = round % 7; i < COUNT; i += 1 + round % 3) {
			CU_ASSERT(!shm_xmit(p[i], &h, NULL, 0));
			total++;
		}
		for (i = 0; i < round % 100; i++)
			shm_progress(n, 4);
	}
	for (i = 0; i < 300; i++)
		shm_progress(n, 64);
	for (struct eng_peer *q = n->peers; q; q = q->next)
		total -= q->got;
	CU_ASSERT(!total);
	for (i = 0; i < COUNT; i++)
		nic_free(m[i]);
	nic_free(n);
}

static void pull_some(const char *how, uint64_t len, unsigned int pieces)
{
	struct eng_nic *n[2];
	struct eng_peer *p[2];
	uint8_t *from = malloc(len), *to = calloc(1, len);
	struct eng_src src[64];
	struct iovec dst[3] = { { to, len / 5 },
				{ to + len / 5, len - len / 5 } };
	struct eng_pull pull = { .src = src, .dst = dst, .nsrc = pieces,
				 .ndst = 2, .len = len };
	int done = 0, err;
	uint64_t i, at = 0;

	for (i = 0; i < len; i++)
		from[i] = (uint8_t)(i * 2654435761u >> 13);
	conf_pull = how;
	pair(n, p);
	CU_ASSERT(!p[1]->shm.pid == (how != NULL));
	for (i = 0; i < pieces; i++) {
		size_t k = i + 1 < pieces ? len / pieces : len - at;

		CU_ASSERT(!shm_export_mem(p[0], NULL, from + at, k, &src[i]));
		at += k;
	}
	pulls_ended = 0;
	err = shm_pull(p[1], &pull);
	CU_ASSERT(!err);
	for (i = 0; i < 100000 && !pulls_ended; i++)
		run(n, 2, &done, 0);
	CU_ASSERT(pulls_ended == 1 && !pull_err);
	CU_ASSERT(!memcmp(from, to, len));
	for (i = 0; i < pieces; i++)
		shm_unexport_mem(p[0], &src[i]);
	/*
	 * What is not exported any more cannot be had: also when it is still
	 * there to be read, as for a thread that was stopped meanwhile.
	 */
	err = shm_pull(p[1], &pull);
	if (how) {
		CU_ASSERT(!err);
		for (i = 0; i < 100000 && pulls_ended < 2; i++)
			run(n, 2, &done, 0);
		CU_ASSERT(pulls_ended == 2 && pull_err);
	} else {
		CU_ASSERT(err && pulls_ended == 1);
	}
	pair_free(n);
	conf_pull = NULL;
	free(from);
	free(to);
}

static void pulls(void)
{
	static const uint64_t lens[] = { 1, 100, 8192, 70000, 3000001 };
	unsigned int i;

	for (i = 0; i < 5; i++) {
		pull_some(NULL, lens[i], 1);
		pull_some("bounce", lens[i], 1);
		if (lens[i] < 64)
			continue;
		pull_some(NULL, lens[i], 60);
		pull_some("bounce", lens[i], 60);
	}
}

/* One peer's bytes come at once, a MiB; where there is another, in steps. */
static void pull_steps(void)
{
	enum { LEN = 1 << 20 };
	uint8_t *from = malloc(LEN), *to = malloc(LEN);
	struct eng_nic *n, *m[2];
	struct eng_peer *p, *first = NULL;
	struct iovec dst = { to, LEN };
	struct eng_src src;
	struct eng_pull pull = { .src = &src, .dst = &dst, .nsrc = 1,
				 .ndst = 1, .len = LEN };
	unsigned int i, calls;

	memset(from, 7, LEN);
	fresh_space();
	n = nic_new(space);
	nic_wait_for(n, disc);
	for (i = 0; i < 2; i++) {
		struct eng_nic *both[2] = { n };

		both[1] = m[i] = nic_new(space);
		p = nic_handshake(m[i], disc);
		run(both, 2, &p->up, 2000);
		CU_ASSERT_FATAL(p->up == 1);
		if (!i) {
			first = n->peers;
			CU_ASSERT(!shm_export_mem(p, NULL, from, LEN, &src));
		}
		memset(to, 0, LEN);
		pulls_ended = 0;
		CU_ASSERT(!shm_pull(first, &pull));
		for (calls = 1; calls < 100 && !pulls_ended; calls++)
			shm_progress(n, 64);
		CU_ASSERT(calls == (i ? 4 : 1) && pulls_ended == 1);
		CU_ASSERT(!pull_err && !memcmp(from, to, LEN));
	}
	nic_free(m[0]);
	nic_free(m[1]);
	nic_free(n);
	free(from);
	free(to);
}

/*
 * Several by one call, as the hint `more` says: whose source is exported no
 * more, or is not there, fails alone.
 */
static void pulls_together(void)
{
	enum { COUNT = 40, LEN = 9000, GONE = 7, STALE = 20, LAST = COUNT - 1 };
	uint8_t *from = mmap(NULL, COUNT * 16384, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static uint8_t to[COUNT][LEN];
	struct eng_src src[COUNT];
	struct iovec dst[COUNT][2];
	struct eng_pull pull[COUNT];
	struct eng_nic *n[2];
	struct eng_peer *p[2];
	unsigned int i;
	int err, done = 0;

	CU_ASSERT_FATAL(from != MAP_FAILED);
	pair(n, p);
	for (i = 0; i < COUNT; i++) {
		memset(from + i * 16384, (int)i + 1, LEN);
		CU_ASSERT(!shm_export_mem(p[0], NULL, from + i * 16384, LEN,
					  &src[i]));
		dst[i][0] = (struct iovec){ to[i], i };
		dst[i][1] = (struct iovec){ to[i] + i, LEN - i };
		pull[i] = (struct eng_pull){ .src = &src[i], .dst = dst[i],
					     .nsrc = 1, .ndst = 2, .len = LEN,
					     .more = i != LAST };
	}
	munmap(from + GONE * 16384 + 4096, 8192);
	shm_unexport_mem(p[0], &src[STALE]);
	pulls_ended = 0;
	for (i = 0; i < COUNT; i++)
		CU_ASSERT(!shm_pull(p[1], &pull[i]) || i == LAST);
	for (i = 0; i < 1000 && pulls_ended < COUNT; i++)
		run(n, 2, &done, 0);
	CU_ASSERT(pulls_ended == COUNT);
	for (i = 0; i < COUNT; i++) {
		err = pull_ended(&pull[i]);
		CU_ASSERT(err == (i == GONE ? -EFAULT : i == STALE ? -ESTALE :
				  0));
		if (!err)
			CU_ASSERT(!memcmp(from + i * 16384, to[i], LEN));
	}
	pair_free(n);
	munmap(from, COUNT * 16384);
}

/*
 * Whose memory was read? The nonce behind the bytes says it: not the peer's if
 * it is another; where the copy ends before it, a peer that lives is the peer.
 */
static void whose_memory(void)
{
	uint8_t from[1000], to[1000] = { 0 };
	struct iovec dst = { to, sizeof(to) };
	struct eng_src src;
	struct eng_pull pull = { .src = &src, .dst = &dst, .nsrc = 1,
				 .ndst = 1, .len = sizeof(to) };
	struct eng_nic *n[2];
	struct eng_peer *p[2];
	uint64_t at, *nonce;
	int status;
	pid_t pid;

	memset(from, 7, sizeof(from));
	pair(n, p);
	CU_ASSERT_FATAL(p[1]->shm.pid > 0);
	CU_ASSERT(!shm_export_mem(p[0], NULL, from, sizeof(from), &src));
	nonce = n[0]->shm.nonce;
	pulls_ended = 0;
	nonce[1]++;
	CU_ASSERT(shm_pull(p[1], &pull) == -ECONNRESET && !pulls_ended);
	nonce[1]--;
	CU_ASSERT(!shm_pull(p[1], &pull) && pulls_ended == 1);
	CU_ASSERT(!memcmp(from, to, sizeof(to)));

	pid = fork();
	if (!pid)
		_exit(nonce[0] || nonce[1]);
	CU_ASSERT(waitpid(pid, &status, 0) == pid && !status);

	at = p[1]->shm.nonce_at;
	p[1]->shm.nonce_at = 8;		/* no page is there */
	CU_ASSERT(!shm_pull(p[1], &pull) && pulls_ended == 2);
	shutdown(link_peer_fd(p[0]->shm.lp), SHUT_RDWR);
	CU_ASSERT(shm_pull(p[1], &pull) == -ECONNRESET && pulls_ended == 2);
	p[1]->shm.nonce_at = at;
	pair_free(n);
}

/* Under way when the peer dies: they end, with an error. */
static void pulls_die(void)
{
	struct eng_src src = { .len = 100 };
	struct eng_pull pull[40];
	struct iovec dst;
	uint8_t buf[100];
	struct eng_nic *n;
	struct eng_peer *p;
	unsigned int i;
	pid_t pid;

	conf_pull = "bounce";
	fresh_space();
	pid = spawn_echo();
	n = nic_new(space);
	p = handshake_child(n);
	kill(pid, SIGSTOP);
	dst.iov_base = buf;
	dst.iov_len = sizeof(buf);
	pulls_ended = 0;
	for (i = 0; i < 40; i++) {
		pull[i] = (struct eng_pull){ .src = &src, .dst = &dst,
					     .nsrc = 1, .ndst = 1, .len = 100 };
		CU_ASSERT(!shm_pull(p, &pull[i]));
		shm_progress(n, 64);
	}
	kill(pid, SIGKILL);
	run(&n, 1, &p->down, 1000);
	CU_ASSERT(p->down == 1 && pulls_ended == 40 && pull_err);
	waitpid(pid, NULL, 0);
	nic_free(n);
	conf_pull = NULL;
}

/* What a peer leaves in its ring arrives, though it is dead. */
static void last_words(void)
{
	struct eng_header h = { { 1 } };
	struct eng_nic *n, *m;
	struct eng_peer *p;
	pid_t pid;
	int i;

	fresh_space();
	n = nic_new(space);
	nic_wait_for(n, disc);
	pid = fork();
	if (!pid) {
		link_fork_child();
		m = nic_new(space);
		p = nic_handshake(m, disc);
		run(&m, 1, &p->up, 5000);
		for (i = 0; i < 500; i++)
			shm_xmit(p, &h, NULL, 0);
		kill(getpid(), SIGKILL);
	}
	while (!n->peers || !n->peers->down) {
		shm_wait(n, 5000000);
		n->shm.look = 1;
		shm_progress(n, 1);
	}
	CU_ASSERT(n->peers->got == 500 && n->peers->err == -ECONNRESET);
	waitpid(pid, NULL, 0);
	nic_free(n);
}

/* A peer that writes what it likes where it can. */
static void liar(void)
{
	unsigned int seed, i, k;
	struct eng_nic *n[2];
	struct eng_peer *p[2];
	int never;

	for (seed = 1; seed < 120; seed++) {
		unsigned int s = seed * 7919;
		struct ring *r;

		conf_pull = seed & 1 ? "bounce" : NULL;
		pair(n, p);
		r = p[1]->shm.out.ring;
		for (i = 0; i < 50 && !p[0]->down; i++) {
			s = s * 1103515245u + 12345u;
			k = p[0]->shm.in.head + (s >> 28);
			for (unsigned int j = 0; j < 7; j++)
				ring_at(r, k)->bytes[s >> (j + 8) & 31] =
					(uint8_t)(s >> j);
			atomic_store(&ring_at(r, k)->word,
				     (uint64_t)(s >> 16 & 7) << 32 |
				     (s >> 20) % (s & 64 ? 100 : 9000));
			atomic_store(&p[0]->shm.out.ring->head, s);
			atomic_store(&r->starved, s >> 5);
			atomic_fetch_xor(&p[1]->shm.doorbell->sum, s);
			atomic_fetch_xor(&p[1]->shm.doorbell->word[s & 63], s);
			n[0]->shm.look = 1;
			shm_progress(n[0], 16);
			if (!p[0]->down)
				send_next(p[0]);
			shm_arm(n[0]);
			shm_disarm(n[0]);
		}
		never = 0;
		run(n, 2, &never, 1);
		pair_free(n);
	}
	conf_pull = NULL;
}

/* The sender waits for room, and the peer tells a head that cannot be. */
static void lying_head(void)
{
	static const uint8_t data[RING_EAGER];
	struct iovec iov = { (void *)data, sizeof(data) };
	struct eng_header h;
	struct eng_nic *n[2];
	struct eng_peer *p[2];

	memset(&h, 1, sizeof(h));
	pair(n, p);
	while (!shm_xmit(p[0], &h, &iov, 1))
		;
	CU_ASSERT(p[0]->shm.starves);
	atomic_store(&p[0]->shm.out.ring->head, 0x40000000);
	run(n, 1, &p[0]->down, 1000);
	CU_ASSERT(p[0]->down == 1 && p[0]->err == -EPROTO);
	CU_ASSERT(!p[0]->room);
	pair_free(n);
}

/*
 * A sender fills the ring and sleeps; the receiver takes all of it at once. It
 * rings, whatever the lengths are and however much it told meanwhile.
 */
static void starved(void)
{
	static const uint8_t data[RING_EAGER];
	struct eng_header h;
	struct iovec iov = { (void *)data, 0 };
	struct eng_nic *n[2];
	struct eng_peer *p[2];
	unsigned int len;

	memset(&h, 1, sizeof(h));
	for (len = 4480; len <= 7360; len += 640) {
		pair(n, p);
		iov.iov_len = len;
		while (!shm_xmit(p[0], &h, &iov, 1))
			;
		CU_ASSERT(p[0]->shm.starves && !shm_arm(n[0]));
		while (shm_progress(n[1], 4096) || shm_arm(n[1]))
			;
		if (p[1]->shm.woken != n[0]->shm.sleeps)
			fprintf(stderr, "not woken: packets of %u\n", len);
		CU_ASSERT(p[1]->shm.woken == n[0]->shm.sleeps);
		pair_free(n);
	}
}

UNIT_MAIN("shm",
	{ "packets of all lengths, full rings", packets },
	{ "sleepers are woken", sleepers },
	{ "a sender without room is woken", starved },
	{ "many rings", incast },
	{ "pulls, by reading and through the ring", pulls },
	{ "pulls, at once and in steps", pull_steps },
	{ "several pulls by one call", pulls_together },
	{ "pulls from whose memory", whose_memory },
	{ "pulls of a peer that dies", pulls_die },
	{ "last words of a dead peer", last_words },
	{ "a peer that lies", liar },
	{ "a head that cannot be", lying_head },
);
