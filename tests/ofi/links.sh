#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Two hosts and their link-local addresses; the interface has another number on
# each: hello by NICs at every address and at the interface's, both ways; then
# requests from both ends, each of which is told the other's LocalNicAddress.
# Before that, which of its addresses a host is known by.
#
#	here, x (50)  fe80::a --- fe80::b  y (60), there

[ "$1" = in ] || {
	command -v ip >/dev/null || {
		echo "apt-get install iproute2"
		exit 77
	}
	unshare -rnm true 2>/dev/null || {
		echo "no network namespace of one's own here"
		exit 77
	}
	exec unshare -rnm "$0" in
}
cd "$(dirname "$0")/../.." || exit 1
b=${B:-build}
VIPL_PROVIDERS=$PWD/$b/providers
export VIPL_PROVIDERS
log=$b/ofi-links.$$
bad=0

# $1: the address that the NIC says, $2: why
known_by()
{
	"$b/tools/viainfo" -v -d ofi:tcp | grep -q "LocalNicAddress *$1\$" && return
	"$b/tools/viainfo" -v -d ofi:tcp | grep LocalNicAddress
	echo "links: not $1, $2"
	bad=1
}

# $1: an interface whose other end is up; its state follows in a work item
up()
{
	ip link set "$1" up
	tries=0
	until [ "$(cat "/sys/class/net/$1/operstate")" = up ]; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || {
			echo "links: $1 has no carrier after a minute"
			exit 1
		}
		sleep 0.05
	done
}

# Ports of bridges are there, those of this namespace.
mount -t sysfs sysfs /sys || exit 77
ip link set lo up
known_by 127.0.0.1 "which is all that there is"
ip link add docker0 type bridge || exit 1
ip address add 172.17.0.1/16 dev docker0
ip link set docker0 up
known_by 172.17.0.1 "a bridge's, before the loopback's"
ip link add one type veth peer name one-far
ip link set one-far up
ip address add 198.18.1.1/24 dev one
up one
known_by 198.18.1.1 "before that of a bridge without ports"
ip link add two type veth peer name two-far
ip link set two-far up
ip address add 198.18.2.1/24 dev two
up two
known_by 198.18.1.1 "the first interface's"
ip route add default via 198.18.2.254
known_by 198.18.2.1 "the default route's"
ip link del docker0
ip link del one
ip link del two

unshare -n sleep 300 &
there=$!
trap 'kill $there; rm -f "$log"' EXIT
on_there()
{
	nsenter -t $there -n "$@"
}
# It may not have its namespace yet.
until [ "$(readlink /proc/$there/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do
	sleep 0.05
done
ip link add x index 50 type veth peer name y index 60 netns $there || exit 1
ip link set x addrgenmode none up
ip address add fe80::a/64 dev x nodad
on_there ip link set lo up
on_there ip link set y addrgenmode none up
on_there ip address add fe80::b/64 dev y nodad

# $1: the server's NIC, $2: the client's
hello()
{
	on_there timeout 200 "$b/samples/hello" "$1" >"$log" 2>&1 &
	pid=$!
	tries=0
	# Until the server listens.
	until timeout 100 "$b/samples/hello" "$2" fe80::b%x >"$log.client" 2>&1
	do
		status=$?
		tries=$((tries + 1))
		[ $tries -lt 100 ] && kill -0 $pid 2>/dev/null &&
			grep -q VipConnectRequest "$log.client" &&
			{ sleep 0.1; continue; }
		cat "$log.client"
		echo "links: client $2 of server $1: status $status"
		bad=1
		kill $pid 2>/dev/null
		break
	done
	wait $pid
	status=$?
	[ $status -eq 0 ] || {
		cat "$log"
		echo "links: server $1 of client $2: status $status"
		bad=1
	}
	rm -f "$log.client"
}

for server in ofi:tcp ofi:tcp,y; do
	for client in ofi:tcp ofi:tcp,x; do
		hello $server $client
	done
done
on_there "$b/viaconform" -d ofi:tcp,y --server >"$log" 2>&1 &
pid=$!
timeout 400 "$b/viaconform" -d ofi:tcp,x --stop --timeout-scale 2 \
	-g 'send,connect.from_peer,p2p.*' fe80::b%x >"$log.client" 2>&1 || {
	echo "links: viaconform: status $?"
	tail -n 20 "$log.client" "$log"
	kill $pid
	bad=1
}
tail -n 1 "$log.client"
wait $pid || bad=1
rm -f "$log.client"
[ $bad -eq 0 ] && echo "links: four pairs of NICs"
exit $bad
