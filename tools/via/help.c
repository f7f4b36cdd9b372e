// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* via help, and via OBJECT help: each within a screen of 24 lines. */
#include <stdio.h>
#include <string.h>

#include "via.h"

static const struct about {
	const char	*name, *text, *usage;
} abouts[] = {
	{ "dev", "VI NICs: show, attach, detach",
	  "  via dev [show [DEV]]                 VI NICs\n"
	  "  via dev attach INTERFACE [driver MODULE]\n"
	  "  via dev attach ADDRESS [port PORT] [dev INTERFACE] [shape tcp|udp]\n"
	  "                                       in UDP/IP\n"
	  "  via dev detach DEV\n" },
	{ "peer", "hosts that may talk to them: show, allow, deny, key, genkey",
	  "  via peer [show [DEV]]                hosts that may talk to them\n"
	  "  via peer allow DEV HOST...           these, too; \"all\": no list\n"
	  "  via peer deny DEV HOST...            not these; \"all\": an empty list\n"
	  "  via peer key DEV HOST FILE           its key; \"none\": without, \"-\": stdin\n"
	  "  via peer genkey                      a new key, on standard output\n" },
	{ "limit", "limits of a user: show, set",
	  "  via limit [show [NAME]]              limits of a user\n"
	  "  via limit set NAME VALUE             0: no limit\n" },
	{ "driver", "drivers of a network card: show, native, stock",
	  "  via driver show DEV                  drivers of a network card\n"
	  "  via driver native|stock DEV          give it the native one, or back\n" },
	{ "stat", "counters",
	  "  via stat [show] [DEV]                counters\n"
	  "      -i, --interval SECONDS           again and again: for each second\n"
	  "      -c, --count N                    with -i: so many times\n"
	  "      -v, --vis                        counters of each VI, too\n"
	  "          --prometheus                 as text for Prometheus\n" },
	{ "top", "rates and VIs, on a terminal",
	  "  via top [DEV] [-i SECONDS] [-c N]    rates and VIs, on a terminal\n" },
	{ "res", "objects, and whose they are",
	  "  via res [vi|mr|cq|conn|all] [DEV]    objects, and whose they are\n" },
	{ "selftest", "test a card, and the path to another host",
	  "  via selftest DEV [DEV|HOST]          test a card, and the path to another\n" },
	{ "monitor", "events, as they happen",
	  "  via monitor [all|dev|peer]           events, as they happen\n" },
	{ "apply", "configure as the files of /etc/mvia say",
	  "  via apply [FILE] [dev INTERFACE] [check]\n"
	  "                                       configure as /etc/mvia/*.conf say\n" },
	{ "save", "print the settings as such a file",
	  "  via save                             print the settings as such a file\n" },
	{ 0 }
};

void help_all(FILE *to)
{
	fprintf(to, "Usage: via [OPTIONS] OBJECT [COMMAND] [ARGUMENTS]\n"
	       "       via OBJECT help\n\n");
	for (const struct about *a = abouts; a->name; a++)
		fprintf(to, "  %-10s %s\n", a->name, a->text);
	fprintf(to, "\n"
	       "  -j, --json         JSON               -p, --pretty       JSON for people\n"
	       "  -s, --statistics   counters, too      -o, --oneline      an object a line\n"
	       "  -c, --color[=WHEN] WHEN: always, never; auto: on a terminal, the default\n"
	       "  -n, --netns NETNS  in this network namespace\n"
	       "  -V, --version      the release        -h, --help         this text\n\n"
	       "Words may be shortened: via de s.  The status is 0, 1 if it was refused,\n"
	       "2 for a wrong command line.\n");
}

bool help_object(const char *object)
{
	for (const struct about *a = abouts; a->name; a++) {
		if (strcmp(a->name, object))
			continue;
		printf("Usage:\n%s\nDEV is a VI NIC (via_eth0) or its interface (eth0).  See via(8).\n",
		       a->usage);
		return true;
	}
	return false;
}
