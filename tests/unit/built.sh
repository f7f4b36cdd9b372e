# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=sh
#
# built DIR: what make has compiled with the usual flags, in B or in build, is in
# the build folder DIR, too: a make B=DIR links and installs, and compiles what is
# missing.

built()
{
	mkdir -p "$1" || return 1
	for part in obj gen; do
		[ ! -d "${B:-build}/$part" ] ||
			cp -a "${B:-build}/$part" "$1/" || return 1
	done
}
