#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The man pages as mandoc sees them; a page that is another one by .so names
# one that there is.
cd "$(dirname "$0")/../../docs/man" || exit 1
bad=0 pages=0
for page in *.[1-9]; do
	pages=$((pages + 1))
	other=$(sed -n '1s/^\.so man[1-9]\///p' "$page")
	if [ -n "$other" ]; then
		[ -e "$other" ] || { echo "$page: there is no $other"; bad=1; }
	else
		mandoc -T lint -W warning "$page" || bad=1
	fi
done
[ $bad = 0 ] && echo "man pages: $pages without a warning"
exit $bad
