# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_delack := devices/ether/proto/delack.c
UNIT_DEP_delack := devices/ether/proto/delack.h devices/ether/proto/sample.h \
	core/portable.h
UNIT_CFLAGS_delack := -Idevices/ether/proto
