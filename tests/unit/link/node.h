/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef LINK_TEST_NODE_H
#define LINK_TEST_NODE_H

/* Links of this process, and what their callbacks have been told. */
#include "private.h"
#include "unit.h"
#include <errno.h>
#include <netinet/in.h>

/* A node's other ends; the callbacks write down what they are told. */
struct pair {
	struct link_peer *lp;
	struct pair *same;
	struct pair *drops;	/* when it is down itself */
	int up, down, err, woken, began, file_ok;
};

struct node {
	struct link *l;
	struct pair pair[64];
	unsigned int pairs;
	int refuse;
};

extern enum link_family family;

/* Tests begin with a space and a port that are not in use. */
void begin(enum link_family f);
void node_open(struct node *n);
/* Begins, and opens both. */
void two_nodes(struct node n[2], enum link_family f);
struct sockaddr_in here(void);
struct link_conf conf_of(struct node *n);
/* maybe: lp is NULL where nothing waits. */
struct pair *node_handshake_maybe(struct node *n, const char *disc);
struct pair *node_handshake(struct node *n, const char *disc);
void finds_none(struct node *n, const char *disc);
int try_wait_at(struct node *n, const char *disc, int now);
void wait_at(struct node *n, const char *disc, int now);
/* All nodes make progress until *p is not 0, or for ms. */
int until(struct node *n, unsigned int count, const int *p, unsigned int ms);
void run(struct node *n, unsigned int count, unsigned int ms);
void kill_it(pid_t pid);
/* The name that the node waits at. */
void name_of(struct node *n, struct sock_addr *a);
/* Garbage, some of it with the form of a frame. */
void stranger_speaks(int fd, unsigned int seed);

/* test_names.c */
void squatters(void);
void foreign_flood(void);
void many_wait(void);
void silent_one(void);
void without_files(void);

#endif /* LINK_TEST_NODE_H */
