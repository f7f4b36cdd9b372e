// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "conn.h"
#include "msg.h"

#define ANSWER_MS	5000	/* longest wait for one answer */
#define RETRY_NS	20000000u

void net_addr_set(union net_addr *n, const void *host, unsigned int host_len,
		  const void *disc, unsigned int disc_len)
{
	if (host_len > NET_ADDR_HOST || disc_len > NET_ADDR_DISC)
		die("address of %u + %u bytes is too long", host_len, disc_len);
	n->a.HostAddressLen = host_len;
	n->a.DiscriminatorLen = disc_len;
	memmove(n->room + 4, host, host_len);
	memcpy(n->room + 4 + host_len, disc, disc_len);
}

void net_addr_local(union net_addr *n, const struct nic *nic,
		    const void *disc, unsigned int disc_len)
{
	net_addr_set(n, nic->attr.LocalNicAddress, nic->attr.NicAddressLen,
		     disc, disc_len);
}

static bool is_ip(const char *host)
{
	unsigned char addr[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, addr) == 1 ||
	       inet_pton(AF_INET6, host, addr) == 1;
}

void net_addr_resolve(union net_addr *n, const struct nic *nic,
		      const char *host)
{
	VIP_RETURN rc;

	memset(n, 0, sizeof(*n));
	rc = VipNSInit(nic->h, NULL);
	if (rc == VIP_SUCCESS) {
		n->a.HostAddressLen = NET_ADDR_HOST;
		rc = VipNSGetHostByName(nic->h, (VIP_CHAR *)host, &n->a, 0);
		VipNSShutdown(nic->h);
	}
	/* An address that no host on the wire claims is no unknown name. */
	if (rc == VIP_ERROR_NAMESERVICE && is_ip(host))
		die("no answer: no host on the network of %s has %s\ncheck the address, and that the host is up",
		    nic->dev, host);
	if (rc != VIP_SUCCESS)
		die("unknown host %s; an address here is such as %s\nadd a line 'ADDRESS NAME' to /etc/vip_hosts",
		    host, nic_addr(nic));
	n->a.DiscriminatorLen = 0;
}

VIP_RETURN conn_wait(const struct nic *nic, const char *disc,
		     uint32_t timeout_ms, struct conn_peer *peer)
{
	union net_addr local;

	net_addr_local(&local, nic, disc, strlen(disc));
	memset(peer, 0, sizeof(*peer));
	return VipConnectWait(nic->h, &local.a, timeout_ms, &peer->addr.a,
			      &peer->attr, &peer->conn);
}

VIP_RETURN conn_accept(const struct nic *nic, const char *disc,
		       VIP_VI_HANDLE vi, uint32_t timeout_ms)
{
	struct conn_peer peer;
	VIP_RETURN rc = conn_wait(nic, disc, timeout_ms, &peer);

	return rc == VIP_SUCCESS ? VipConnectAccept(peer.conn, vi) : rc;
}

VIP_RETURN conn_request(const struct nic *nic, VIP_VI_HANDLE vi,
			const union net_addr *host, const char *disc,
			const void *tag, unsigned int tag_len,
			uint32_t patience_ms)
{
	uint64_t start = now_ns(), waited;
	union net_addr local, remote;
	VIP_VI_ATTRIBUTES attr;
	bool told = false;
	VIP_RETURN rc;

	net_addr_local(&local, nic, tag, tag_len);
	net_addr_set(&remote, host->a.HostAddress, host->a.HostAddressLen,
		     disc, strlen(disc));
	for (;;) {
		rc = VipConnectRequest(vi, &local.a, &remote.a, ANSWER_MS,
				       &attr);
		waited = (now_ns() - start) / 1000000;
		if (rc != VIP_NO_MATCH || waited >= patience_ms)
			return rc;
		if (!told && waited > 1000) {
			warn_msg("no server waits there for '%s' yet, trying for %u s",
				 disc, patience_ms / 1000);
			told = true;
		}
		/* A server does not announce that it is about to wait. */
		sleep_ns(RETRY_NS);
	}
}

void conn_unanswered(const struct nic *nic, const char *host, VIP_RETURN rc)
{
	/*
	 * A host that says so at once speaks, but not as this one does. A
	 * plug-in's NIC (shm:0) has no kernel part, and has told itself.
	 */
	die("%s does not answer (%s)\n%s", host, vip_str(rc),
	    rc == VIP_NOT_REACHABLE &&
	    !strchr((const char *)nic->attr.Name, ':') ?
	    "see dmesg: it may speak another version of the wire" :
	    "check that it is up, and on the same network");
}
