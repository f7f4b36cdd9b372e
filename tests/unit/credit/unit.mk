# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_credit := devices/ether/credit.c devices/ether/congestion.c
UNIT_DEP_credit := devices/ether/credit.h devices/ether/congestion.h \
	devices/ether/window.h devices/ether/portable.h kernel/via_work.h \
	$(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_credit := -Itests/unit/kernel -Idevices/ether
