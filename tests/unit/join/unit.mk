# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_join := devices/ether/proto/wire.c
UNIT_DEP_join := devices/ether/proto/join.h devices/ether/proto/wire.h \
	core/portable.h
UNIT_CFLAGS_join := -Idevices/ether/proto
