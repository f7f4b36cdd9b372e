# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_window := devices/ether/proto/window.c
UNIT_DEP_window := devices/ether/proto/window.h core/portable.h
UNIT_CFLAGS_window := -Idevices/ether/proto
