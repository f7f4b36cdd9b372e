// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "node.h"
#include <arpa/inet.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum link_family family;
static char space[32];
static uint16_t port;

static void on_hello(void *nic, void *peer, struct eng_hello *mine)
{
	struct node *n = nic;
	uint64_t id = link_id(n->l);

	(void)peer;
	mine->len = 512;
	memset(mine->data, 7, 512);
	memcpy(mine->data, &id, sizeof(id));
	if (family == LINK_TCP)
		return;
	/* Files are left open: a test is short. */
	mine->file[0] = memfd_create("hello", MFD_CLOEXEC);
	mine->files = 1;
	CU_ASSERT(write(mine->file[0], &id, sizeof(id)) == sizeof(id));
}

static void check_hello(struct pair *p, const struct eng_hello *h)
{
	uint64_t id, inside = 0;

	CU_ASSERT(h->len == 512 && h->data[511] == 7);
	memcpy(&id, h->data, sizeof(id));
	if (family == LINK_TCP)
		return;
	CU_ASSERT_FATAL(h->files == 1);
	CU_ASSERT(pread(h->file[0], &inside, sizeof(inside), 0) ==
		  sizeof(inside));
	CU_ASSERT(id == inside);
	p->file_ok = id == inside;
	link_file_close(h->file[0]);
}

static void *on_came(void *nic, void *peer, struct link_peer *lp,
		     const struct eng_hello *theirs, struct eng_hello *mine)
{
	struct node *n = nic;
	struct pair *p = peer;

	if (n->refuse) {
		link_file_close(theirs->file[0]);
		return NULL;
	}
	if (!p)
		p = &n->pair[n->pairs++ % 64];
	p->lp = lp;
	p->up++;
	check_hello(p, theirs);
	on_hello(nic, p, mine);
	if (family == LINK_UNIX)
		CU_ASSERT(link_peer_pid(lp) > 0);
	return p;
}

static int on_answered(void *nic, void *peer, const struct eng_hello *theirs)
{
	struct pair *p = peer;

	(void)nic;
	p->up++;
	check_hello(p, theirs);
	return 0;
}

static void on_same(void *nic, void *peer, void *as)
{
	(void)nic;
	((struct pair *)peer)->same = as;
}

static void on_down(void *nic, void *peer, int err)
{
	struct pair *p = peer;

	(void)nic;
	p->down++;
	p->err = err;
	p->lp = NULL;
	if (!p->drops)
		return;
	link_drop(p->drops->lp);
	p->drops->lp = NULL;
}

static void on_woken(void *nic, void *peer)
{
	(void)nic;
	((struct pair *)peer)->woken++;
}

static const struct link_ops ops = {
	on_hello, on_came, on_answered, on_same, on_down, on_woken,
};

struct sockaddr_in here(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = port,
	};

	return a;
}

struct link_conf conf_of(struct node *n)
{
	struct link_conf c = {
		.family = family, .provider = "test", .space = space,
		.name = "host", .version = 5, .ops = &ops, .nic = n,
		.msg = unit_say,
	};
	struct sockaddr_in a = here();

	if (family == LINK_TCP) {
		memcpy(&c.addr, &a, sizeof(a));
		c.addr_len = sizeof(a);
	}
	return c;
}

/* A port that nothing has, for now. */
static uint16_t free_port(void)
{
	struct sock_addr a = { .len = sizeof(struct sockaddr_in) };
	struct sockaddr_in *in = (struct sockaddr_in *)&a.any;
	int fd = sock_open(AF_INET, SOCK_STREAM);

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CU_ASSERT(!sock_bind_listen(fd, &a));
	a.len = sizeof(a.any);
	CU_ASSERT(!getsockname(fd, &a.sa, &a.len));
	link_file_close(fd);
	return in->sin_port;
}

void begin(enum link_family f)
{
	static int count;

	family = f;
	port = free_port();
	snprintf(space, sizeof(space), "t%d.%d", getpid(), ++count);
}

void node_open(struct node *n)
{
	struct link_conf c = conf_of(n);
	int err;

	memset(n, 0, sizeof(*n));
	n->l = link_open(&c, &err);
	CU_ASSERT_FATAL(n->l != NULL);
}

void two_nodes(struct node n[2], enum link_family f)
{
	begin(f);
	node_open(&n[0]);
	node_open(&n[1]);
}

struct pair *node_handshake_maybe(struct node *n, const char *disc)
{
	struct pair *p = &n->pair[n->pairs++ % 64];
	struct sockaddr_in a = here();
	int err;

	memset(p, 0, sizeof(*p));
	p->began = 1;
	p->lp = link_handshake(n->l, (struct sockaddr *)&a, sizeof(a),
			       (const uint8_t *)disc, (uint32_t)strlen(disc), p,
			       &err);
	return p;
}

struct pair *node_handshake(struct node *n, const char *disc)
{
	struct pair *p = node_handshake_maybe(n, disc);

	CU_ASSERT(p->lp != NULL);
	return p;
}

int try_wait_at(struct node *n, const char *disc, int now)
{
	return link_waiting(n->l, (const uint8_t *)disc,
			    (uint32_t)strlen(disc), now);
}

void wait_at(struct node *n, const char *disc, int now)
{
	CU_ASSERT(!try_wait_at(n, disc, now));
}

int until(struct node *n, unsigned int count, const int *p, unsigned int ms)
{
	uint64_t end = sock_now() + ms * (uint64_t)MS;
	unsigned int i;

	while (!*p && sock_now() < end) {
		for (i = 0; i < count; i++)
			if (n[i].l)
				link_progress(n[i].l);
		usleep(200);
	}
	return *p;
}

void run(struct node *n, unsigned int count, unsigned int ms)
{
	int never = 0;

	until(n, count, &never, ms);
}

/* UNIX: it is said at once. */
void finds_none(struct node *n, const char *disc)
{
	struct sockaddr_in a = here();
	struct pair p = { .up = 0 };
	int err;

	p.lp = link_handshake(n->l, (struct sockaddr *)&a, sizeof(a),
			      (const uint8_t *)disc, (uint32_t)strlen(disc),
			      &p, &err);
	if (family == LINK_UNIX)
		CU_ASSERT(!p.lp && err == -ENOENT);
	if (p.lp)
		CU_ASSERT(until(n, 1, &p.down, 10000) && p.err == -ENOENT);
}

void kill_it(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void stranger_speaks(int fd, unsigned int seed)
{
	struct frame f = { .magic = FRAME_MAGIC };
	uint8_t buf[2048];
	unsigned int i, len;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(seed = seed * 1103515245u + 12345u) >> 3;
	f.type = (uint16_t)(seed >> 8) % (FRAME_TYPES + 1);
	f.len = (uint16_t)(seed >> 16) % 800;
	len = seed % sizeof(buf);
	if (seed & 64)
		memcpy(buf, &f, 8);
	if (seed & 128)
		len = (unsigned int)FRAME_HEAD + f.len;
	send(fd, buf, len < sizeof(buf) ? len : 9, MSG_NOSIGNAL);
}

void name_of(struct node *n, struct sock_addr *a)
{
	a->len = sizeof(a->any);
	CU_ASSERT(!getsockname(n->l->waits->listener->fd, &a->sa, &a->len));
}
