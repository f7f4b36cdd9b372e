/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef PROVIDERS_KA_NODE_H
#define PROVIDERS_KA_NODE_H

#include <stddef.h>

#define KA_NODE_LEN	64
#define KA_REMEDY_LEN	(KA_NODE_LEN + 64)

/* Can it be a part of a node's name? */
int ka_node_well_formed(const char *s);
/* The node of a name with or without "via_"; nonzero when it is there. */
int ka_node_find(const char *base, char *node);
/* The nth Ethernet VI NIC by interface index; 0, or -1 when there is none. */
int ka_node_nth(int n, char *node);
/* How an interface becomes a VI NIC here, or the package that is missing. */
const char *ka_remedy(const char *iface, char remedy[KA_REMEDY_LEN]);
/* A message where there is no VI NIC at all. */
void ka_none(char *line, size_t size);
/*
 * The node of a VI NIC that this network namespace cannot open (ENXIO): 1, and
 * what to say; 0 if there is no such NIC.
 */
int ka_node_elsewhere(const char *node, char *line, size_t size);

/* A line on a node that is missing, and the remedy. */
int ka_node_missing(const char *node, char *line, size_t size);

/* Operations of struct vipl_provider. */
void ka_devices(void (*each)(void *arg, const char *device, const char *what),
		void *arg);
int ka_explain(const char *rest, char *line, size_t size);

#endif /* PROVIDERS_KA_NODE_H */
