#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# own.sh DIR SCRIPT - run SCRIPT as root of a copy of this system
#
# What it changes in /usr, /etc and /var is seen by its processes alone and ends
# with them; DIR and the working folder are this system's.  What it left in /usr
# and /etc is listed in DIR/left.  OWN_ALSO names more folders of this system, OWN_ROOT another system of
# which it is a copy.  Status 77: this machine cannot do that.
# Without root it has the files of root alone, and no other owner.
set -e
dir=$1 script=$2
root=${OWN_ROOT-}
unshare -Um true || exit 77
if [ -z "$3" ] && [ "$(id -u)" = 0 ]; then
	# All users, which takes a mapping that the new namespace cannot write.
	mkfifo "$dir/go"
	unshare -Um sh -c 'read -r go <"$1/go" && exec sh "$0" "$1" "$2" in' \
		"$0" "$dir" "$script" &
	self=$(readlink /proc/self/ns/user)
	while [ "$(readlink /proc/$!/ns/user)" = "$self" ]; do sleep 0.02; done
	echo 0 0 65536 >"/proc/$!/uid_map"
	echo 0 0 65536 >"/proc/$!/gid_map"
	echo >"$dir/go"
	wait $!
	exit
elif [ -z "$3" ]; then
	exec unshare -rm sh "$0" "$dir" "$script" in || exit 77
fi
mkdir -p "$dir/own"
mount --bind "$dir/own" "$dir/own"
here=$PWD
cd "$dir/own"
mkdir -p tmp run root
cp -d "$root"/bin "$root"/sbin "$root"/lib* . 2>/dev/null || exit 77
for d in usr etc var; do
	mkdir $d .new-$d .work-$d
	mount -t overlay none $d -o "userxattr,lowerdir=$root/$d" \
		-o upperdir=.new-$d,workdir=.work-$d || exit 77
done
for d in /proc /dev /sys "$here" "$dir" ${OWN_ALSO-}; do
	mkdir -p ".$d"
	mount --rbind "$d" ".$d" || exit 77
done
touch "$dir/began"
sleep 0.01
mkdir -p var/cache/ldconfig
unset TMPDIR
status=0
chroot . sh -c "cd '$here' && exec sh '$script'" || status=$?
find .new-usr .new-etc -newer "$dir/began" ! -type d \
	! -name ld.so.cache >"$dir/left"
# Overlays leave folders that only their root can remove.
umount -l usr etc var
rm -rf .new-* .work-*
exit $status
