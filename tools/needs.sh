#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# needs.sh GOAL... - what these goals of make lack here: one line, or none
#
# The Makefile asks before it builds anything.  CC, LIBMNL, KREL and MPICC are
# its variables.
set -u
cc=${CC:-gcc}
lost="" debs=""

lack()
{
	case " $lost," in *" $1,"*) return ;; esac
	lost="$lost${lost:+,} $1"
	debs="$debs${debs:+ }$2"
}

header()
{
	# shellcheck disable=SC2086  # CC may have options
	echo "#include <$1>" | $cc ${CPPFLAGS-} -E -x c - >/dev/null 2>&1 ||
		lack "$1" "$2"
}

program()
{
	command -v "$1" >/dev/null 2>&1 || lack "$1" "$2"
}

compiler()
{
	# shellcheck disable=SC2086  # CC may have options
	set -- $cc
	case $1 in
	*clang*) package=clang ;;
	musl-gcc) package=musl-tools ;;
	*) package=gcc ;;
	esac
	if command -v "$1" >/dev/null 2>&1; then
		header stdlib.h libc6-dev
	else
		lack "$1" $package
		[ -e /usr/include/stdlib.h ] || lack stdlib.h libc6-dev
	fi
}

mnl() { [ "${LIBMNL-}" = no ] || header libmnl/libmnl.h libmnl-dev; }
cunit() { header CUnit/CUnit.h libcunit1-dev; }
kernel() { [ -n "${KREL-}" ] || lack "a kernel's headers (or KDIR=)" linux-headers-amd64; }

# The sanitizers of clang, as this release of Debian names the package.
clang_rt()
{
	"$(dirname "$0")/lab/setup.sh" --list here base | tr ' ' '\n' |
		grep clang-rt
}

need()
{
	case $1 in
	all) compiler && mnl && cunit && kernel ;;
	user | tests) compiler && mnl && cunit ;;
	install) compiler && mnl && kernel ;;
	modules | install-modules) compiler && kernel ;;
	tools | */tools/via | */viatest) compiler && mnl ;;
	unit | */unit/*-clang | */unit/* | */viaconform*)
		compiler && cunit
		case $1 in *-clang) program clang clang ;; esac ;;
	sim | */viasim) program clang clang && compiler ;;
	fuzz | */fuzz/*) program clang "clang $(clang_rt)" ;;
	verbs | */verbsconform | */verbsfuzz | */verbsmeasure)
		compiler
		header infiniband/verbs.h libibverbs-dev
		header rdma/rdma_cma.h librdmacm-dev ;;
	viampi | */viampi) compiler && program "${MPICC:-mpicc}" libopenmpi-dev ;;
	demo-local | test) compiler && program python3 python3 ;;
	plots | install-python) program python3 python3 ;;
	html)
		program python3 python3
		program cmark-gfm cmark-gfm
		program mandoc mandoc ;;
	lib | local | samples | m32 | insns | install-user | install-lib | \
	install-dev | install-plugins | install-tools | install-vipl | \
	install-fabric | */*.so | */*.so.1 | */*.a | */tools/* | */samples/* | \
	*/tests/bench/* | */viashm | */viafab | */ofi/*)
		compiler ;;
	deb)
		[ ! -e .git ] || program git git
		program dpkg-buildpackage dpkg-dev
		program dh debhelper
		program lintian lintian ;;
	dist)
		program git git
		program xz xz-utils ;;
	rpm)
		[ ! -e .git ] || program git git
		program rpmbuild rpm ;;
	esac
}

for goal; do
	# Of a list with && the status is no verdict: what lacks is in $lost.
	need "$goal" || :
done
[ -n "$lost" ] || exit 0
[ $# = 1 ] && what="make $1" || what="make $*"
case $debs in
*dpkg-dev* | *debhelper* | *lintian* | rpm)
	remedy="as root, Debian 12 or 13: make setup-package" ;;
*)	remedy="as root: apt-get install $debs" ;;
esac
echo "$what needs$lost; $remedy"
