# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_bottleneck := devices/ether/window.c devices/ether/congestion.c \
	devices/ether/credit.c tests/unit/bottleneck/model.c
UNIT_DEP_bottleneck := devices/ether/credit.h devices/ether/congestion.h \
	devices/ether/window.h devices/ether/portable.h kernel/via_work.h \
	$(wildcard tests/unit/kernel/*/*.h)
UNIT_CFLAGS_bottleneck := -Itests/unit/kernel -Idevices/ether
UNIT_LIBS_bottleneck := -lm
