// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * lookup INTERFACE ADDRESS: the hardware address that libvipl finds for a host
 * on the wire of that interface.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>

#include "../../../providers/ka/ka_neigh.h"

int main(int argc, char **argv)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	uint8_t mac[KA_MAC_LEN];
	unsigned int index;
	int i;

	if (argc != 3 || inet_pton(AF_INET, argv[2], &in.sin_addr) != 1)
		return 2;
	index = if_nametoindex(argv[1]);
	if (!index)
		return 2;
	if (ka_neigh_find(index, (struct sockaddr *)&in, sizeof(in), mac))
		return 1;
	for (i = 0; i < KA_MAC_LEN; i++)
		printf("%s%02x", i ? ":" : "", mac[i]);
	printf("\n");
	return 0;
}
