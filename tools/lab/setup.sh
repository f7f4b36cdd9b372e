#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# setup.sh [SECTION...] - install what mvia needs on a machine with Debian 12 or 13
# setup.sh --list 12|13|here SECTION... - print it, for that release or this one
#
# Sections are those of the file "packages" beside this one; without one it is
# "base".  Costs nothing when everything is there.
set -u
here=$(dirname "$0")

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 1; }

# Of the machine; what has no number is newer than all that have.
# shellcheck source=/dev/null
release=$(. /etc/os-release 2>/dev/null && echo "${VERSION_ID-}")
case $release in 12) ;; *) release=13 ;; esac
print=
if [ "${1-}" = --list ]; then
	print=1
	case ${2-} in
	12 | 13) release=$2 ;;
	here) ;;
	*) die "usage: setup.sh --list 12|13|here SECTION..." ;;
	esac
	shift 2
fi

[ $# -gt 0 ] || set -- base
wanted=
for section in "$@"; do
	list=$(awk -v s="[$section]" -v r="$release:" '/^#/ { next }
		/^\[/ { on = $0 == s; next }
		!on { next }
		$1 ~ /^[0-9]+:$/ { if ($1 != r) next; $1 = "" }
		{ print }' "$here/packages")
	[ -n "$list" ] || die "no section '$section' in $here/packages"
	wanted="$wanted $list"
done

if [ -n "$print" ]; then
	# shellcheck disable=SC2086  # words
	echo $wanted
	exit 0
fi
command -v dpkg-query >/dev/null ||
	die "this needs Debian 12 or 13 (dpkg, apt); install by hand: $wanted"
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
# No service of these packages starts here: what uses them are guests.
export SYSTEMD_OFFLINE=1
say "installing$missing"
# Lists may be absent or too old to fetch from: update, then install.
if ! apt-get update -q >"$log" 2>&1; then
	say "warning: 'apt-get update' complained, see $log"
fi
# shellcheck disable=SC2086
if ! apt-get install -q -y --no-install-recommends $missing >>"$log" 2>&1; then
	tail -n 5 "$log" >&2
	die "apt-get install failed (no network, or neither Debian 12 nor 13?), see $log"
fi
rm -f "$log"
say "done"
