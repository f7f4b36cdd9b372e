#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What the code is held to beside its tests: checkpatch --strict on kernel
# code, W=1 and sparse on the modules, clang on user space, shellcheck, flake8,
# spelling and words of documents.
# checkpatch.pl comes out of the linux-source package, into the cache.
set -u
cd "$(dirname "$0")/.." || exit 1
cache=${MVIA_CACHE:-$HOME/.cache/mvia}/checkpatch
bad=0

if [ ! -x "$cache/scripts/checkpatch.pl" ]; then
	tarball=$(ls /usr/src/linux-source-*.tar.xz 2>/dev/null | tail -n 1)
	[ -n "$tarball" ] || { echo "lint: apt-get install linux-source" >&2; exit 1; }
	echo "lint: taking checkpatch out of $tarball"
	mkdir -p "$cache"
	top=$(basename "$tarball" .tar.xz)
	tar -C "$cache" --strip-components=1 -xf "$tarball" \
		"$top/scripts/checkpatch.pl" "$top/scripts/spelling.txt" \
		"$top/scripts/const_structs.checkpatch" || exit 1
fi

echo "lint: checkpatch --strict"
# check [OPTION...]: the files of standard input
check()
{
	# shellcheck disable=SC2046  # words
	xargs -n 40 -P 2 "$cache/scripts/checkpatch.pl" --no-tree --strict \
		--terse --no-summary --show-types -f \
		$(sed 's/#.*//' tools/checkpatch.conf) "$@"
}
find core kernel devices verbs include/uapi -name '*.[ch]' ! -name '*_trace.h' \
	! -name trace_fields.h ! -path devices/ether/stats.h | check || bad=1
# Events have the form of the kernel's own, at which checkpatch complains.
find kernel devices -name '*_trace.h' -o -name trace_fields.h |
	check --ignore \
		OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT,COMPLEX_MACRO,TRAILING_SEMICOLON ||
	bad=1
# A list that is one macro: each entry is what another macro makes of it.
echo devices/ether/stats.h | check --ignore COMPLEX_MACRO || bad=1

echo "lint: checkpatch --strict, user space"
out=${B:-build}/lint
mkdir -p "$out"
ctags -x --kinds-C=t --_xformat=%N include/vipl.h include/vipl_ext.h >"$out/types"
# shellcheck disable=SC2046  # words
find vipl providers fabric dsm tools bindings examples include -name '*.[ch]' \
	! -path 'include/uapi/*' |
	check --typedefsfile="$out/types" \
		$(sed 's/#.*//' tools/checkpatch-user.conf) || bad=1

echo "lint: modules with W=1 and sparse"
make -s modules B="$out" KFLAGS="W=1 C=2 VIA_SKELETON=m CHECK='sparse -D__CHECK_ENDIAN__'" \
	>"$out/modules.log" 2>&1 || bad=1
if grep -E 'warning|error' "$out/modules.log"; then
	echo "lint: see $out/modules.log"
	bad=1
fi

echo "lint: user space with clang"
make -s user B="$out/clang" CC=clang WERROR=1 >"$out/clang.log" 2>&1 || {
	bad=1
	echo "lint: clang failed, see $out/clang.log"
}

# scripts WORD NAME: files of the tree whose first line has WORD, or named NAME
scripts()
{
	find . \( -path ./.git -o -path ./build \) -prune -o -type f -print0 |
		xargs -0 awk -v word="$1" -v name="$2" '
			FNR == 1 && ((/^#!/ && $0 ~ word) || FILENAME ~ name) {
				print FILENAME
			}
			{ nextfile }' 2>/dev/null
}

if git rev-parse -q --verify HEAD >/dev/null 2>&1; then
	echo "lint: commits"
	tools/commits.py || bad=1
fi

echo "lint: functions that only their own file uses"
tools/linkage.py || bad=1

echo "lint: shellcheck"
scripts '/(ba|da)?sh( |$)' '[.]sh$' | xargs shellcheck -S warning || bad=1

echo "lint: flake8"
scripts python '[.]py$' | xargs flake8 || bad=1

echo "lint: calls go one way"
tests/floors/floors.py || bad=1

echo "lint: structures have 40 members at most"
tests/floors/members.py || bad=1

echo "lint: words of documents and man pages"
tools/words.py || bad=1

[ $bad = 0 ] && echo "lint: clean"
exit $bad
