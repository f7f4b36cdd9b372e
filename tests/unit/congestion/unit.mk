# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_congestion := devices/ether/proto/congestion.c
UNIT_DEP_congestion := devices/ether/proto/congestion.h devices/ether/proto/window.h \
	core/portable.h
UNIT_CFLAGS_congestion := -Idevices/ether/proto
