// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "msg.h"
#include "netns.h"
#include "pair.h"

#define PATIENCE_MS	10000

/* Pairs of several processes at one NIC do not meet. */
static void pair_disc(char *buf, size_t len)
{
	snprintf(buf, len, "pair.%d", (int)getpid());
}

static void *acceptor(void *arg)
{
	struct pair *p = arg;
	char disc[32];
	VIP_RETURN rc;

	pair_disc(disc, sizeof(disc));
	rc = conn_accept(&p->nic[1], disc, p->ch[1].vi, PATIENCE_MS);
	if (rc != VIP_SUCCESS)
		die("accept on %s: %s", p->nic[1].dev, vip_str(rc));
	return NULL;
}

static int count_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	if (!d)
		return 1;
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

void pair_connect(struct pair *p)
{
	int threads = count_threads();
	union net_addr host;
	char disc[32];
	pthread_t t;
	VIP_RETURN rc;
	int err;

	err = pthread_create(&t, NULL, acceptor, p);
	if (err)
		die("pthread_create: %s", strerror(err));
	net_addr_local(&host, &p->nic[1], "", 0);
	pair_disc(disc, sizeof(disc));
	rc = conn_request(&p->nic[0], p->ch[0].vi, &host, disc, "", 0,
			  PATIENCE_MS);
	if (rc != VIP_SUCCESS)
		die("connect %s to %s: %s", p->nic[0].dev, p->nic[1].dev,
		    vip_str(rc));
	pthread_join(t, NULL);
	/* Joined is not gone: it still holds the file table for a moment. */
	while (count_threads() > threads)
		sleep_ns(1000000);
}

void pair_open_nics(struct pair *p, const struct opts *o)
{
	int cookie;

	nic_open(&p->nic[0], o->dev);
	cookie = netns_enter(o->peer_netns);
	nic_open(&p->nic[1], o->peer_dev ? o->peer_dev : o->dev);
	netns_leave(cookie);
}

void pair_init(struct pair *p, const struct opts *o,
	       const struct chan_config *c)
{
	pair_open_nics(p, o);
	for (int i = 0; i < 2; i++) {
		chan_init(&p->ch[i], &p->nic[i], c);
		chan_fill_recvs(&p->ch[i]);
	}
	pair_connect(p);
}

void pair_fini(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		chan_fini(&p->ch[i]);
	for (int i = 0; i < 2; i++)
		nic_close(&p->nic[i]);
}

struct remote_buf pair_remote(const struct pair *p, int end)
{
	return (struct remote_buf){
		.addr = (uintptr_t)p->ch[end].rbuf,
		.handle = p->ch[end].mem.handle,
	};
}
