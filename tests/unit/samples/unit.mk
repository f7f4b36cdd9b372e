# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
UNIT_SRC_samples := tools/common/samples.c tools/common/hist.c
UNIT_DEP_samples := $(wildcard tools/common/*.h)
UNIT_CFLAGS_samples := -Itools/common
UNIT_LIBS_samples := -lm
