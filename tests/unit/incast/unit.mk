# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_incast := devices/ether/proto/incast.c
UNIT_DEP_incast := devices/ether/proto/incast.h devices/ether/proto/congestion.h \
	devices/ether/proto/window.h core/portable.h \
	$(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_incast := -Itests/unit/kernel -Idevices/ether/proto
