// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What libviadsm is compared with: the calls of viadsm.h that sor and lu use, over
 * TCP, by the shortest protocol that is right. A page is fetched from the server of
 * its home; at a barrier its changed bytes go home, and all pages of other homes are
 * invalid. PAGES_NODE is this node, PAGES_HOST the address of node 0; without them
 * there is one node.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>
#include <viadsm.h>

#define PAGE	4096u
#define PAGES	16384u
#define PORT	5077

enum { GET, PUT, SYNC, BARRIER };
enum { INVALID, CLEAN, DIRTY };

struct msg {
	uint32_t op, page, len;
};

struct run {
	uint16_t off, len;
};

/* The program's view of shared memory, the servers' view, pages as they were. */
static char *view, *own, *twin;
static uint8_t home[PAGES], state[PAGES];
static unsigned int me, nodes = 1, used, ndirty;
static uint32_t dirty[PAGES];
static int ask, serve;		/* sockets: requests of ours and of the other node */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static unsigned int arrived;	/* barriers of node 1 */

static void fail(const char *what)
{
	perror(what);
	_exit(2);
}

static void must_write(int fd, const void *p, size_t len)
{
	if (write(fd, p, len) != (ssize_t)len)
		fail("write");
}

static void must_read(int fd, void *p, size_t len)
{
	if (recv(fd, p, len, MSG_WAITALL) != (ssize_t)len)
		fail("the other node");
}

static void request(uint32_t op, uint32_t page)
{
	const struct msg m = { op, page, 0 };

	must_write(ask, &m, sizeof(m));
}

static void protect(uint32_t page, uint32_t count, int prot)
{
	if (mprotect(view + (size_t)page * PAGE, (size_t)count * PAGE, prot))
		fail("mprotect");
}

static void apply(char *page, const char *p, const char *end)
{
	struct run r;

	for (; p < end; p += r.len) {
		memcpy(&r, p, sizeof(r));
		p += sizeof(r);
		memcpy(page + r.off, p, r.len);
	}
}

static void *server(void *arg)
{
	static char in[2 * PAGE];
	struct msg m;
	char *page;

	while (recv(serve, &m, sizeof(m), MSG_WAITALL) == sizeof(m)) {
		page = own + (size_t)m.page * PAGE;
		if (m.op == GET) {
			must_write(serve, page, PAGE);
		} else if (m.op == PUT) {
			must_read(serve, in, m.len);
			apply(page, in, in + m.len);
		} else if (m.op == SYNC) {
			must_write(serve, &m, 1);
		} else {
			pthread_mutex_lock(&lock);
			arrived++;
			pthread_cond_signal(&come);
			pthread_mutex_unlock(&lock);
		}
	}
	return arg;
}

/* Where the machine does not say, a second fault shows it. */
static int is_write(const ucontext_t *c)
{
#ifdef __x86_64__
	return c->uc_mcontext.gregs[REG_ERR] & 2;
#else
	(void)c;
	return 0;
#endif
}

static void fault(int sig, siginfo_t *info, void *context)
{
	size_t page = ((char *)info->si_addr - view) / PAGE;
	int writes;

	if ((char *)info->si_addr < view || page >= used) {
		signal(sig, SIG_DFL);
		return;
	}
	writes = is_write(context) || state[page] == CLEAN;
	if (state[page] == INVALID) {
		request(GET, page);
		must_read(ask, own + page * PAGE, PAGE);
		state[page] = CLEAN;
	}
	if (writes) {
		memcpy(twin + page * PAGE, own + page * PAGE, PAGE);
		dirty[ndirty++] = page;
		state[page] = DIRTY;
	}
	protect(page, 1, writes ? PROT_READ | PROT_WRITE : PROT_READ);
}

static int meet(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* Node 0 listens; the first connection is of its requests. */
static void join_nodes(const char *host)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int l = socket(AF_INET, SOCK_STREAM, 0), one = 1, fd[2], i;

	inet_pton(AF_INET, host, &at.sin_addr);
	if (!me) {
		setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(l, (void *)&at, sizeof(at)) || listen(l, 2))
			fail("listen");
	}
	for (i = 0; i < 2; i++) {
		fd[i] = me ? socket(AF_INET, SOCK_STREAM, 0) :
			     accept(l, NULL, NULL);
		while (me && connect(fd[i], (void *)&at, sizeof(at)))
			usleep(50000);
		meet(fd[i]);
	}
	ask = fd[me];
	serve = fd[!me];
	close(l);
}

void dsm_init(void)
{
	struct sigaction sa = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO };
	const char *node = getenv("PAGES_NODE"), *host = getenv("PAGES_HOST");
	int fd = memfd_create("pages", 0);
	size_t bytes = (size_t)PAGES * PAGE;
	pthread_t thread;

	if (fd < 0 || ftruncate(fd, bytes))
		fail("memfd");
	view = mmap((void *)0x600000000000, bytes, PROT_NONE, MAP_SHARED, fd, 0);
	own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	twin = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (view == MAP_FAILED || own == MAP_FAILED || twin == MAP_FAILED)
		fail("mmap");
	sigaction(SIGSEGV, &sa, NULL);
	if (!node || !host)
		return;
	me = atoi(node);
	nodes = 2;
	join_nodes(host);
	if (pthread_create(&thread, NULL, server, NULL))
		fail("thread");
}

static char *allot(size_t bytes)
{
	size_t pages = (bytes + PAGE - 1) / PAGE;
	char *p = view + (size_t)used * PAGE;

	used += pages;
	return used <= PAGES ? p : NULL;
}

static void at_home(char *p, unsigned int from, unsigned int count,
		    unsigned int node)
{
	unsigned int page = (p - view) / PAGE + from;

	memset(home + page, node, count);
	if (node == me && count)
		protect(page, count, PROT_READ | PROT_WRITE);
}

void *dsm_malloc_at(size_t bytes, unsigned int node)
{
	char *p = allot(bytes);

	if (p)
		at_home(p, 0, (bytes + PAGE - 1) / PAGE, node);
	return p;
}

void *dsm_malloc(size_t bytes)
{
	unsigned int pages = (bytes + PAGE - 1) / PAGE, half = pages / nodes;
	char *p = allot(bytes);

	if (p) {
		at_home(p, 0, half, 0);
		at_home(p, half, pages - half, nodes - 1);
	}
	return p;
}

/* The runs of bytes that have changed since the twin was made. */
static void send_home(uint32_t page)
{
	const char *now = own + (size_t)page * PAGE, *was = twin + (size_t)page * PAGE;
	char out[sizeof(struct msg) + 3 * PAGE], *p = out + sizeof(struct msg);
	struct msg m = { PUT, page, 0 };
	struct run r;
	unsigned int i, end;

	for (i = 0; i < PAGE; i = end) {
		for (end = i; end < PAGE && now[end] == was[end]; end++)
			;
		for (i = end; end < PAGE && now[end] != was[end]; end++)
			;
		r = (struct run){ i, end - i };
		if (end == i)
			break;
		memcpy(p, &r, sizeof(r));
		memcpy(p + sizeof(r), now + i, r.len);
		p += sizeof(r) + r.len;
	}
	m.len = p - out - sizeof(m);
	memcpy(out, &m, sizeof(m));
	must_write(ask, out, p - out);
}

static void wait_for_other(void)
{
	pthread_mutex_lock(&lock);
	while (!arrived)
		pthread_cond_wait(&come, &lock);
	arrived--;
	pthread_mutex_unlock(&lock);
}

void dsm_barrier(void)
{
	unsigned int i, end;
	char byte;

	if (nodes == 1)
		return;
	for (i = 0; i < ndirty; i++)
		send_home(dirty[i]);
	ndirty = 0;
	request(SYNC, 0);
	must_read(ask, &byte, 1);
	request(BARRIER, 0);
	wait_for_other();
	for (i = 0; i < used; i = end) {
		for (end = i + 1; end < used && home[end] == home[i]; end++)
			;
		if (home[i] == me)
			continue;
		protect(i, end - i, PROT_NONE);
		memset(state + i, INVALID, end - i);
	}
}

void dsm_exit(void)
{
	dsm_barrier();
}

unsigned int dsm_rank(void)
{
	return me;
}

unsigned int dsm_size(void)
{
	return nodes;
}

void dsm_share(size_t count, size_t *first, size_t *end)
{
	*first = count * me / nodes;
	*end = count * (me + 1) / nodes;
}

void dsm_acquire(unsigned int number)
{
	(void)number;
	fail("page_server has no locks");
}

void dsm_release(unsigned int number)
{
	dsm_acquire(number);
}
