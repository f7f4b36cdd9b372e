// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * How many other ends a link takes, TCP: any host can connect, and each peer
 * costs this process files and memory. UNIX sockets are those of the own user,
 * which has better ways to harm itself.
 */
#include "../messages.h"
#include "private.h"
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>

#define FILES_OF_PEER	4	/* of all that may be open, one in so many */
#define PEERS_MIN	16
#define PEERS_MAX	4096

/* Half of what there is room for remains for other hosts. */
static uint32_t most_of_one(const struct link *l)
{
	return l->most / 2;
}

void limit_init(struct link *l)
{
	struct rlimit r = { 0, 0 };
	uint64_t most;

	getrlimit(RLIMIT_NOFILE, &r);
	most = (uint64_t)r.rlim_cur / FILES_OF_PEER;
	most = most < PEERS_MAX ? most : PEERS_MAX;
	l->most = most > PEERS_MIN ? (uint32_t)most : PEERS_MIN;
}

/*
 * Where a TCP connection is from; zeroes: unknown, or UNIX. A host has all of
 * an IPv6 /64, and changes its address within it at will; addresses of a link
 * (fe80::) are all in one, and are taken whole.
 */
void limit_source_of(struct limit_source *s, int fd)
{
	struct sock_addr a = { .len = sizeof(a.any) };
	const struct sockaddr_in6 *in6 = (const void *)&a.any;
	const struct sockaddr_in *in = (const void *)&a.any;

	memset(s, 0, sizeof(*s));
	if (getpeername(fd, &a.sa, &a.len))
		return;
	if (a.sa.sa_family == AF_INET) {
		memcpy(s->ip + 12, &in->sin_addr, 4);
	} else if (a.sa.sa_family == AF_INET6 &&
		   IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		memcpy(s->ip + 12, in6->sin6_addr.s6_addr + 12, 4);
	} else if (a.sa.sa_family == AF_INET6) {
		memcpy(s->ip, &in6->sin6_addr,
		       IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) ||
		       IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ? 16 : 8);
		s->six = 1;
	}
}

static unsigned int same_source(const struct limit_source *a,
				const struct limit_source *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* May a stranger become a peer? The person who can change it is told. */
int limit_takes(struct link *l, const struct conn *c)
{
	const struct link_peer *lp;
	uint32_t all = 0, from = 0;

	if (l->conf.family != LINK_TCP)
		return 1;
	for (lp = l->peers; lp; lp = lp->next) {
		all++;
		from += same_source(&lp->from, &c->from);
	}
	if (all < l->most && from < most_of_one(l))
		return 1;
	if (link_may_tell(&l->tell_again))
		l->conf.msg(MSG_LINK_LIMIT, l->conf.provider, all, l->most,
			    from, most_of_one(l));
	return 0;
}

/*
 * The stranger that makes room for another one: the oldest of the source that
 * has most of them. At most STRANGERS_MAX are compared.
 */
struct conn *limit_victim(const struct link *l)
{
	struct conn *victim = l->stranger[0];
	unsigned int i, k, n, most = 0;

	for (i = 0; i < l->strangers; i++) {
		n = 0;
		for (k = i; k < l->strangers; k++)
			n += same_source(&l->stranger[i]->from,
					 &l->stranger[k]->from);
		if (n > most) {
			most = n;
			victim = l->stranger[i];
		}
	}
	return victim;
}
