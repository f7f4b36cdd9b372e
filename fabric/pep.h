/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Passive endpoints, for pep.c and request.c. */
#ifndef VIA_FABRIC_PEP_H
#define VIA_FABRIC_PEP_H

#include "fab.h"

struct via_pep {
	struct fid_pep		fid;
	struct via_fabric	*fabric;
	struct via_nic		*nic;
	struct via_eq		*eq;
	struct fi_info		*info;
	struct sockaddr_in	addr;
	int			port;		/* a socket that holds it, or -1 */
	/* nic->lock */
	bool			listening;
	struct vipl_list	link;		/* nic->peps */
	struct vipl_list	requests;	/* that no endpoint has */
	unsigned int		n_requests;
};

#endif
