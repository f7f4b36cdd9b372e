# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_wire := devices/ether/proto/wire.c
UNIT_DEP_wire := devices/ether/proto/wire.h core/portable.h
UNIT_CFLAGS_wire := -Idevices/ether/proto
