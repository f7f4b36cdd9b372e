# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_bottleneck := devices/ether/window.c tests/unit/bottleneck/model.c
UNIT_DEP_bottleneck := devices/ether/window.h devices/ether/portable.h
UNIT_CFLAGS_bottleneck := -Idevices/ether
UNIT_LIBS_bottleneck := -lm
