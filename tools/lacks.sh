#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# lacks.sh RELEASE OLDEST NEWEST LOG COMMAND... - build modules by a command of
# make, for a kernel that may lack what they use
#
# For releases from OLDEST to NEWEST it is the command as it stands.  For others
# the output is in LOG, and where the command fails one line says what the kernel
# lacks.
set -u
release=$1 oldest=$2 newest=$3 log=$4
shift 4

# before A B: A is the older one, by the first two numbers
before() { awk -v a="$1" -v b="$2" 'BEGIN { split(a, x, /[^0-9]+/)
	split(b, y, /[^0-9]+/)
	exit !(x[1] < y[1] || x[1] == y[1] && x[2] < y[2]) }'; }

if before "$release" "$oldest"; then
	echo "modules: Linux $release is older than $oldest, the oldest that mvia supports" >&2
	exit 1
fi
before "$newest" "$release" || {
	"$@"
	exit
}

mkdir -p "$(dirname "$log")"
echo "modules: Linux $release is newer than $newest, the newest that mvia is tested on"
LC_ALL=C "$@" -k >"$log" 2>&1 && exit 0
# What gcc, clang and modpost say of a name that is not there or is another thing.
lacks=$(sed -n -E "
/ error: | ERROR: modpost: |^ERROR: modpost: /!d
s/.* error: (call to undeclared|implicit declaration of) function '([^']*)'.*/\2()/p; t
s/.* error: (too few|too many) arguments to function '([^']*)'.*/\2() with these arguments/p; t
s/.* error: (incompatible type for argument|passing argument) [0-9]+ of '([^']*)'.*/\2() with these arguments/p; t
s/.* error: (use of undeclared identifier )?'([^']*)'( undeclared.*)?$/\2/p; t
s/.* error: '([^']*)' has no member named '([^']*)'.*/\2 of \1/p; t
s/.* error: no member named '([^']*)' in '([^']*)'.*/\1 of \2/p; t
s/.* error: unknown type name '([^']*)'.*/\1/p; t
s/.* error: (invalid use of undefined type|invalid application of 'sizeof' to incomplete type|incomplete definition of type) '([^']*)'.*/\2/p; t
s/.* error: ([^ ]*): No such file or directory/<\1>/p; t
s/.* error: '([^']*)' file not found.*/<\1>/p; t
s/.*ERROR: modpost: \"([^\"]*)\" .* undefined!/\1/p; t
" "$log" | awk '!seen[$0]++' | sed ':a; N; $!ba; s/\n/, /g')
[ -n "$lacks" ] || lacks=$(sed -n 's/.* error: //p' "$log" | head -n 1)
echo "modules: Linux $release lacks ${lacks:-something}; mvia is for $oldest to $newest; all that the compiler says is in $log" >&2
exit 1
