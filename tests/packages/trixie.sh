#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# trixie.sh DIR SCRIPT - run SCRIPT as root of Debian 13, in a copy of this tree
#
# The system is made once, of packages from MVIA_MIRROR (deb.debian.org), and
# stays in the cache.  What SCRIPT changes there is in DIR and goes with it.
# Status 77: this machine cannot do that; the last line says why.
set -e
dir=$1 script=$2
cache=${MVIA_CACHE:-$HOME/.cache/mvia}
mirror=${MVIA_MIRROR:-http://deb.debian.org/debian}
packages="gcc make libc6-dev dpkg-dev pkg-config python3 git
	libmnl-dev libfabric-dev libcunit1-dev pahole iproute2 procps"

skip()
{
	echo "packages: $*"
	exit 77
}

if [ -z "$3" ]; then
	[ "$(id -u)" = 0 ] || skip "a system of its own needs root"
	mkdir -p "$cache"
	# shellcheck disable=SC2086  # words
	root=$cache/trixie-$(echo $mirror $packages | sha256sum | cut -c 1-12)
	exec 9>"$cache/lock-trixie"
	flock 9
	if [ ! -e "$root/made" ]; then
		/usr/lib/apt/apt-helper download-file \
			"$mirror/dists/trixie/InRelease" "$dir/InRelease" ||
			skip "$mirror has no Debian 13, or cannot be reached"
		rm -rf "$cache"/trixie-*
		# shellcheck disable=SC2086  # words
		mmdebstrap --variant=apt --include="$(echo $packages |
			tr ' ' ,)" trixie "$root" "$mirror"
		touch "$root/made"
	fi
	exec 9>&-
	export root
	exec unshare -m --propagation private sh "$0" "$dir" "$script" in
fi
mkdir -p "$dir/new" "$dir/work" "$dir/own"
mount -t overlay none "$dir/own" \
	-o "lowerdir=$root,upperdir=$dir/new,workdir=$dir/work" ||
	skip "no overlays here"
cd "$dir/own"
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs tmpfs tmp
mkdir mvia
tar -C "$OLDPWD" --exclude=./build --exclude=./debian/build \
	--exclude=./.git -c . | tar -C mvia -x --no-same-owner
cp "$script" tmp/script
unset TMPDIR
LC_ALL=C.UTF-8 chroot . sh -c "cd /mvia && exec sh /tmp/script"
