#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# tree.sh - one word for the files that packages are made of
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
if [ -e .git ]; then
	git -c safe.directory="$PWD" ls-files -co --exclude-standard -z
else
	find . -path ./build -prune -o -type f -print0
fi | sort -z | xargs -0 sha256sum 2>/dev/null | sha256sum | cut -d ' ' -f 1
