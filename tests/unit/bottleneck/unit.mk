# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_bottleneck := devices/ether/proto/window.c devices/ether/proto/congestion.c \
	devices/ether/proto/credit.c tests/unit/bottleneck/model.c
UNIT_DEP_bottleneck := devices/ether/proto/credit.h devices/ether/proto/congestion.h \
	devices/ether/proto/window.h core/portable.h kernel/via_work.h \
	$(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_bottleneck := -Itests/unit/kernel -Idevices/ether/proto
UNIT_LIBS_bottleneck := -lm
