# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_credit := devices/ether/proto/credit.c devices/ether/proto/congestion.c
UNIT_DEP_credit := devices/ether/proto/credit.h devices/ether/proto/congestion.h \
	devices/ether/proto/window.h core/portable.h kernel/via_work.h \
	$(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_credit := -Itests/unit/kernel -Idevices/ether/proto
