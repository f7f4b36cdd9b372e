# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_crowd := devices/ether/crowd.c
UNIT_DEP_crowd := devices/ether/crowd.h devices/ether/congestion.h \
	devices/ether/window.h devices/ether/portable.h \
	$(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_crowd := -Itests/unit/kernel -Idevices/ether
