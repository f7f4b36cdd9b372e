#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# A project of two files, built by CMake against what `make install-dev` puts below a
# DESTDIR; another MAJOR is not taken.
set -e
cd "$(dirname "$0")/../.."
command -v cmake >/dev/null || {
	echo "no cmake: apt-get install cmake"
	exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
version=$(cat VERSION)
# Staged: another PREFIX would compile the library of the build tree again.
make -s install-lib install-dev PREFIX=/usr/local DESTDIR="$dir/inst" >"$dir/log" 2>&1 || {
	cat "$dir/log"
	exit 1
}
mkdir "$dir/project"
cat >"$dir/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(two C)
find_package(vipl \${WANTED} REQUIRED CONFIG)
add_executable(two main.c text.c)
target_link_libraries(two vipl::vipl)
END
cat >"$dir/project/text.c" <<'END'
#include <vipl_ext.h>
const char *text(void);
const char *text(void)
{
	return VipExtReturnText(VIP_TIMEOUT);
}
END
cat >"$dir/project/main.c" <<'END'
#include <stdio.h>
const char *text(void);
int main(void)
{
	return printf("%s\n", text()) < 0;
}
END
configure() {
	cmake -S "$dir/project" -B "$dir/$1" -DWANTED="$1" \
		-DCMAKE_PREFIX_PATH="$dir/inst/usr/local" >"$dir/log" 2>&1
}
for wanted in "$version" "${version%.*}"; do
	configure "$wanted" && cmake --build "$dir/$wanted" >>"$dir/log" 2>&1 || {
		cat "$dir/log"
		exit 1
	}
	said=$("$dir/$wanted/two")
	case $said in
	*time*) ;;
	*)
		echo "the program prints '$said'"
		exit 1
		;;
	esac
done
for wanted in $((${version%%.*} + 1)).0 "${version%%.*}.999"; do
	if configure "$wanted"; then
		echo "release $version is taken for $wanted"
		exit 1
	fi
done
echo "cmake: $said"
