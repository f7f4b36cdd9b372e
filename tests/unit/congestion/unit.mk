# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_congestion := devices/ether/congestion.c
UNIT_DEP_congestion := devices/ether/congestion.h devices/ether/window.h \
	devices/ether/portable.h
UNIT_CFLAGS_congestion := -Idevices/ether
