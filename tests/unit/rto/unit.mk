# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_rto := devices/ether/proto/rto.c
UNIT_DEP_rto := devices/ether/proto/rto.h devices/ether/proto/sample.h \
	core/portable.h
UNIT_CFLAGS_rto := -Idevices/ether/proto
