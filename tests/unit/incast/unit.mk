# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_crowd := devices/ether/proto/incast.c
UNIT_DEP_crowd := devices/ether/proto/incast.h devices/ether/proto/congestion.h \
	devices/ether/proto/window.h devices/ether/proto/portable.h \
	$(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_crowd := -Itests/unit/kernel -Idevices/ether/proto
