# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A cable between two interfaces of one machine: the machine's own addresses are
reached by it, not by the loopback."""

# The routes of each address lead to the other interface.  The table of local
# addresses is for packets that come in by one of them.
JOIN = """
set -e
for i in @near_dev@ @far_dev@; do
  ip addr flush dev $i; ip link set $i up
  c=/proc/sys/net/ipv4/conf/$i
  echo 1 >$c/accept_local; echo 0 >$c/rp_filter
  echo 1 >$c/arp_ignore; echo 1 >$c/arp_announce
done
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
ip link set lo up
ip addr add @near@/24 dev @near_dev@
ip addr add @far@/24 dev @far_dev@
ip rule add pref 5 iif @near_dev@ lookup local
ip rule add pref 6 iif @far_dev@ lookup local
ip rule add pref 10 to @near@ lookup 101
ip rule add pref 11 to @far@ lookup 102
ip rule add pref 20 lookup local
ip rule del pref 0
ip route add @near@ dev @far_dev@ src @far@ table 101
ip route add @far@ dev @near_dev@ src @near@ table 102
ip neigh replace @far@ lladdr $(cat /sys/class/net/@far_dev@/address) dev @near_dev@
ip neigh replace @near@ lladdr $(cat /sys/class/net/@near_dev@/address) dev @far_dev@
"""
# The rules as they were; addresses and routes go with the interfaces.
PART = """
ip rule add pref 0 lookup local
for i in 5 6 10 11 20; do ip rule del pref $i; done
"""


def join(near, far):
    """The commands; each of the two is an interface and its address."""
    text = JOIN
    for end, (dev, address) in (("near", near), ("far", far)):
        text = text.replace(f"@{end}_dev@", dev).replace(f"@{end}@", address)
    return text
