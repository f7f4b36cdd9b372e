#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The man pages as mandoc sees them, with the examples that `make install' puts
# into them; a page that is another one by .so names one that there is.
cd "$(dirname "$0")/../.." || exit 1
bad=0 pages=0 examples=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
for page in docs/man/*.[1-9]; do
	name=${page##*/}
	pages=$((pages + 1))
	other=$(sed -n '1s/^\.so man[1-9]\///p' "$page")
	if [ -n "$other" ]; then
		[ -e "docs/man/$other" ] ||
			{ echo "$name: there is no $other"; bad=1; }
		continue
	fi
	awk -v dir=examples -f examples/man.awk "$page" >"$dir/$name" || bad=1
	mandoc -T lint -W warning "$dir/$name" || bad=1
	# A terminal shows each example whole, but for spaces.
	shown=$(mandoc -T ascii "$dir/$name" | sed 's/.\x08//g' |
		tr -d '[:space:]')
	for file in $(sed -n 's/^\.\\" example: //p' "$page"); do
		examples=$((examples + 1))
		case $shown in
		*"$(sed 1d "examples/$file" | tr -d '[:space:]')"*) ;;
		*) echo "$name: does not show $file as it is"; bad=1 ;;
		esac
	done
done
# Each bit and each member that the header has is in the page of its structure.
words()
{
	for word in $2; do
		grep -qw -- "$word" "docs/man/$1.3" ||
			{ echo "$1.3: $word of vipl.h is missing"; bad=1; }
	done
}
members()
{
	sed -n "/^\(VIP_EXTENSION_ \)*typedef struct _$1 {/,/^}/p" include/vipl.h |
		sed 1d | sed -n 's/.*[	 *]\([A-Z][A-Za-z]*\)[][0-9]*;.*/\1/p'
}
words VIP_DESCRIPTOR "$(sed -n \
	's/^#define \(VIP_\(CONTROL\|STATUS\)_[A-Z_]*\)	.*/\1/p' include/vipl.h)"
for of in CONTROL_SEGMENT ADDRESS_SEGMENT DATA_SEGMENT; do
	words VIP_DESCRIPTOR "$(members VIP_$of)"
done
words VIP_NET_ADDRESS "$(members VIP_NET_ADDRESS)"
for of in VI MEM NIC; do
	words VIP_VI_ATTRIBUTES "$(members VIP_${of}_ATTRIBUTES)"
done
[ "$(members VIP_NIC_ATTRIBUTES | wc -l)" = 20 ] ||
	{ echo "the members of VIP_NIC_ATTRIBUTES are not found"; bad=1; }
[ $examples -ge 6 ] || { echo "only $examples examples in pages"; bad=1; }
[ $bad = 0 ] && echo "man pages: $pages without a warning, $examples examples"
exit $bad
