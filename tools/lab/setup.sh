#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# setup.sh [SECTION...] - install what mvia needs on a Debian 12 machine
#
# Sections are those of the file "packages" beside this one; without one it is
# "base".  Costs nothing when everything is there.
set -u
here=$(dirname "$0")

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

[ $# -gt 0 ] || set -- base
wanted=
for section in "$@"; do
	list=$(awk -v s="[$section]" '/^#/ { next } /^\[/ { on = $0 == s; next }
		on' "$here/packages")
	[ -n "$list" ] || die "no section '$section' in $here/packages"
	wanted="$wanted $list"
done

command -v dpkg-query >/dev/null ||
	die "this needs Debian 12 (dpkg, apt); install by hand: $wanted"
[ "$(dpkg --print-architecture)" = amd64 ] ||
	die "the lab runs on amd64 only, this is $(dpkg --print-architecture)"

missing=
have=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
	sed -n 's/^installed //p')
for p in $wanted; do
	case "
$have
" in
	*"
$p
"*) ;;
	*) missing="$missing $p" ;;
	esac
done
[ -n "$missing" ] || exit 0

[ "$(id -u)" = 0 ] ||
	die "missing:$missing; run as root: apt-get install$missing"
log=$(mktemp /tmp/mvia-setup.XXXXXX)
export DEBIAN_FRONTEND=noninteractive
say "installing$missing"
# Lists may be absent or too old to fetch from: update, then install.
if ! apt-get update -q >"$log" 2>&1; then
	say "warning: 'apt-get update' complained, see $log"
fi
# shellcheck disable=SC2086
if ! apt-get install -q -y --no-install-recommends $missing >>"$log" 2>&1; then
	tail -n 5 "$log" >&2
	die "apt-get install failed (no network, or not Debian 12?), see $log"
fi
rm -f "$log"
say "done"
