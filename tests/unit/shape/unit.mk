# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_shape := devices/ether/proto/wire.c
UNIT_DEP_shape := devices/ether/proto/shape.h devices/ether/proto/wire.h \
	core/portable.h
UNIT_CFLAGS_shape := -Idevices/ether/proto
